# SPDX-License-Identifier: GPL-3.0-or-later
"""One object with its graph: binds them, and evaluates frames."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from . import character, modifier, nodes, preferences, surface
from .core import sd
from .report import Problem
from .space import SCENE_FROM_WORLD, WORLD_FROM_SCENE, Matrix, Points, inverse, matrix, moved

# The player counts thousandths of frames, so that motion blur gets the times between frames.
TICKS = 1000
# A simulation that jumps farther starts again.
LONGEST_STEP_SECS = 0.25
USUAL_NAMES = {"MESH": ("mesh", "body"), "CURVES": ("strands", "hair")}

# Functions of (session, object, depsgraph) that give parameters of the graph for a frame. Tools add theirs.
VALUE_SOURCES: list[Callable[..., dict[str, Any]]] = []


@dataclass
class Request:
    """All that a frame depends on."""

    tick: int
    matrices: Matrix
    values: dict[str, Any]
    value_inputs: dict[str, list[float]]
    positions: dict[str, Points]

    def same(self, other: Request | None) -> bool:
        """True if the frame would be the same."""
        if other is None or self.tick != other.tick or self.value_inputs != other.value_inputs:
            return False
        if self.values != other.values or self.positions.keys() != other.positions.keys():
            return False
        if not np.array_equal(self.matrices, other.matrices):
            return False
        return all(np.array_equal(points, other.positions[name]) for name, points in self.positions.items())


class Session:
    """A bound graph. It holds no references to data of Blender, which undo replaces."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        self.live = nodes.live(obj.sinew.tree)
        self.extras: dict[str, list[str]]
        self.document, self.input, extra_inputs = _document(self.live.document, obj, scene)
        self.binds = binds(obj)
        self.posed = obj.sinew.armature is not None
        self.roots = _roots(obj, self.binds[0])
        self.skinned = self.posed or self.roots is not None
        others = {o for objects in extra_inputs.values() for o in objects if o != obj}
        extras = [o for o in scene.objects if o in others]
        built = character.build(obj, obj.sinew.armature, self.binds, extras, follows_surface=self.roots is not None)
        self.extra_counts = {o.name: _point_count(o) for o in extras}
        self.extra_uids = {o.name: o.session_uid for o in extras}
        # An input that takes the object itself too has its rest shape.
        self.extras = {name: [o.name for o in objects] for name, objects in extra_inputs.items() if obj not in objects}
        self.character, self.bones, self.count = built.character, built.bones, built.count
        self.warnings = built.warnings
        self.settings = settings(obj, scene)
        self.graph = sd.Graph.from_dict(self.document, obj.sinew.tree.name, folder())
        numbers = self.live.value_inputs(obj.sinew.tree)
        self.player = sd.Player(self.character, self.graph, fps=fps(scene) * TICKS, device=self.settings[0], values=numbers, normals=False)
        self.output = _output(self.player, obj, self.count, self.input)
        self.simulates = bool(solvers(self.document))
        self.mesh = mesh_fingerprint(obj)
        self.weights = weight_fingerprint(obj)
        self.last: Request | None = None
        self.before: bytes | None = None
        self.values_set: dict[str, Any] = {}
        self.scene: Points = np.empty((self.count, 3), np.float32)
        self.local: Points = np.empty((self.count, 3), np.float32)

    def evaluate(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, others: dict[str, Points]) -> bool:
        """Evaluates the frame of the depsgraph, and gives the modifier its positions. False if nothing changed.

        `others`: positions in scene space of objects that were evaluated before.
        """
        evaluated = obj.evaluated_get(depsgraph)
        request = self._request(obj, evaluated, depsgraph, others)
        if request.same(self.last):
            return False
        self._set(request)
        self._advance(request)
        self.last = request
        self.output.positions(out=self.scene)
        now = matrix(evaluated.matrix_world) if self.skinned else self.binds[0]
        self.output.positions(out=self.local, transform=inverse(now) @ WORLD_FROM_SCENE)
        modifier.write(obj, modifier.find(obj), self.local)
        return True

    def reads(self) -> list[str]:
        """Names of the objects that must be evaluated before this one."""
        now = self.renamed()
        names = [now.get(name, name) for objects in self.extras.values() for name in objects]
        return names + ([self.roots.present_name()] if self.roots is not None else [])

    def renamed(self) -> dict[str, str]:
        """New names of the objects of other inputs, by their names at the binding."""
        found = {name: surface.object_of(name, uid) for name, uid in self.extra_uids.items()}
        return {name: other.name for name, other in found.items() if other is not None and other.name != name}

    def restart(self) -> None:
        """Simulations start again at the next frame."""
        self.player.restart()
        self.last = None
        self.before = None

    def _request(
        self, obj: bpy.types.Object, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph, others: dict[str, Points]
    ) -> Request:
        scene = depsgraph.scene
        tree = obj.sinew.tree.evaluated_get(depsgraph)
        return Request(
            round((scene.frame_current + scene.frame_subframe) * TICKS),
            self._matrices(obj, evaluated, depsgraph, others),
            {**self.live.values(tree), **self._more_values(obj, depsgraph)},
            self.live.value_inputs(tree),
            self._positions(obj, evaluated, depsgraph, others),
        )

    def _more_values(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> dict[str, Any]:
        """Parameters of the graph that objects of the scene move."""
        return {name: value for source in VALUE_SOURCES for name, value in source(self, obj, depsgraph).items()}

    def _matrices(
        self, obj: bpy.types.Object, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph, others: dict[str, Points]
    ) -> Matrix:
        """(j, 4, 4) from rest positions to posed positions, in scene space."""
        joints = self._bone_matrices(obj, evaluated, depsgraph) if self.posed else np.zeros((0, 4, 4))
        if self.roots is None:
            return joints
        return np.concatenate([joints, self.roots.matrices(*surface.positions(self.roots, depsgraph, others))])

    def _bone_matrices(self, obj: bpy.types.Object, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Matrix:
        """Matrices of the bones, and of the joint of the object."""
        armature = obj.sinew.armature.evaluated_get(depsgraph)
        bones = armature.pose.bones
        if len(bones) != len(self.bones.names):
            raise Problem(f"Armature '{armature.name}' has {len(bones)} bones; {len(self.bones.names)} were bound. Press Rebind")
        flat = np.empty(len(bones) * 16, np.float32)
        bones.foreach_get("matrix", flat)
        pose = flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)
        world = matrix(armature.matrix_world)
        # The object may move against the armature, as behind an armature modifier.
        since_bind = matrix(evaluated.matrix_world) @ inverse(self.binds[0])
        before = inverse(world) @ since_bind @ WORLD_FROM_SCENE
        skins = (SCENE_FROM_WORLD @ world) @ pose @ (self.bones.inverse_rest @ before)
        whole = SCENE_FROM_WORLD @ since_bind @ WORLD_FROM_SCENE
        return np.concatenate([skins, whole[None]])

    def _positions(
        self, obj: bpy.types.Object, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph, others: dict[str, Points]
    ) -> dict[str, Points]:
        """Positions of inputs that Blender moves, in scene space."""
        out = {}
        front = _modifiers_in_front(obj, depsgraph)
        has_keys = obj.type == "MESH" and obj.data.shape_keys is not None
        modifier.set_capture(modifier.find(obj), bool(front) or has_keys)
        if front or has_keys:
            before = modifier.captured(evaluated, self.count)
            if before is None and has_keys:
                before = _with_shape_keys(obj, depsgraph)
            if before is not None:
                out[self.input] = moved(before, SCENE_FROM_WORLD @ self.binds[0])
        for name, objects in self.extras.items():
            out[name] = np.concatenate([self._extra(name, other, depsgraph, others) for other in objects])
        return out

    def _extra(self, given: str, name: str, depsgraph: bpy.types.Depsgraph, others: dict[str, Points]) -> Points:
        other = surface.object_of(name, self.extra_uids[name])
        if other is None or other.name not in depsgraph.scene.objects:
            raise Problem(f"Object '{name}' that input '{given}' takes is gone. Set the name at the input node, then press Rebind")
        if other.name in others:
            return others[other.name]
        evaluated = other.evaluated_get(depsgraph)
        points = _points(evaluated)
        if len(points) != self.extra_counts[name]:
            raise Problem(
                f"Object '{name}' has {len(points)} vertices in this frame and {self.extra_counts[name]} in its mesh. "
                "The graph reads it: switch off the modifiers that add or remove vertices"
            )
        return moved(points, SCENE_FROM_WORLD @ matrix(evaluated.matrix_world))

    def _set(self, request: Request) -> None:
        changed = {k: v for k, v in request.values.items() if k not in self.values_set or self.values_set[k] != v}
        if changed:
            self.player.set(**changed)
            self.values_set.update(changed)
        for name, numbers in request.value_inputs.items():
            self.player.set_values(name, numbers)
        for name, points in request.positions.items():
            self.player.set_positions(name, points)
        if self.last is not None:
            for name in self.last.positions.keys() - request.positions.keys():
                self.player.set_positions(name, None)

    def _advance(self, request: Request) -> None:
        if self.simulates:
            self._prepare_simulation(request.tick)
        if self.skinned:
            self.player.advance_posed(request.tick, request.matrices, self.bones.joints, space="skin")
        else:
            self.player.advance(request.tick)

    def _prepare_simulation(self, tick: int) -> None:
        """The same frame again starts from the state before it; a jump starts again."""
        last = None if self.last is None else self.last.tick
        longest = LONGEST_STEP_SECS * self.player.fps
        if last is not None and last < tick <= last + longest:
            self.before = self.player.save_state()
        elif last == tick and self.before is not None:
            self.player.restore_state(self.before)
        else:
            self.player.restart()
            self.before = None


def _roots(obj: bpy.types.Object, bind: Matrix) -> surface.Roots | None:
    """Roots of hair that follows its surface."""
    if obj.type != "CURVES" or obj.data.surface is None or obj.data.surface.type != "MESH":
        return None
    points = character.rest_positions(obj)
    first = [c.first_point_index for c in obj.data.curves]
    return surface.roots_of(obj, bind, character.rest_positions(obj.data.surface), points[first])


def fps(scene: bpy.types.Scene) -> float:
    """Frames per second."""
    return float(scene.render.fps / scene.render.fps_base)


def folder() -> str:
    """Folder of the files that graphs name: that of the .blend file."""
    return bpy.path.abspath("//") or bpy.app.tempdir


def settings(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[str, float, str]:
    """What needs a new binding if it changes."""
    device = obj.sinew.device
    return (preferences.device() if device == "DEFAULT" else device, fps(scene), obj.sinew.output)


def binds(obj: bpy.types.Object) -> tuple[Matrix, Matrix]:
    """World matrices of object and armature at bind."""
    stored = (obj.sinew.bind_object, obj.sinew.bind_armature)
    return tuple(np.array(m, np.float64).reshape(4, 4) for m in stored)  # type: ignore[return-value]


def mesh_fingerprint(obj: bpy.types.Object) -> tuple[int, ...]:
    """Changes when vertices or faces change."""
    points = zlib.crc32(character.rest_positions(obj).tobytes())
    if obj.type != "MESH":
        return (points, len(obj.data.curves))
    corners = np.empty(len(obj.data.loops), np.int32)
    obj.data.loops.foreach_get("vertex_index", corners)
    return (points, zlib.crc32(corners.tobytes()), len(obj.data.polygons))


def weight_fingerprint(obj: bpy.types.Object) -> int:
    """Changes when weights of bones, names of groups or masks change."""
    if obj.type != "MESH":
        return 0
    crc = zlib.crc32("\n".join(g.name for g in obj.vertex_groups).encode())
    for vertex in obj.data.vertices:
        for group in vertex.groups:
            crc = (crc * 31 + hash((group.group, group.weight))) & 0xFFFFFFFF
    return crc


def solvers(document: dict[str, Any]) -> list[str]:
    """Kinds of nodes in a document that remember frames, also in nested graphs."""
    kinds = nodes.kinds_that_remember()
    found = []
    steps = list(document.get("nodes", {}).values()) + list(document.get("stack", []))
    for step in steps:
        kind = step if isinstance(step, str) else step.get("node")
        if kind in kinds:
            found.append(kind)
        if isinstance(step, dict) and isinstance(step.get("graph"), dict):
            found += solvers(step["graph"])
    return found


def _document(given: dict[str, Any], obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[dict[str, Any], str, dict[str, list[Any]]]:
    """The document for this object, the input that the object is, and the objects of the other inputs."""
    document = dict(given)
    inputs = {name: dict(keys) for name, keys in (document.get("inputs") or {"body": {"type": "mesh"}, "pose": {"type": "pose"}}).items()}
    document["inputs"] = inputs
    kind, usual = USUAL_NAMES.get(obj.type, ("mesh", "body"))
    of_kind = [name for name, keys in inputs.items() if keys.get("type") == kind and "file" not in keys]
    if not of_kind:
        raise Problem(f"Graph '{obj.sinew.tree.name}' has no input of type {kind} for '{obj.name}'. Add an input node")
    main = usual if usual in of_kind else of_kind[0]
    inputs[main]["select"] = obj.name
    extras: dict[str, list[Any]] = {}
    for name, keys in inputs.items():
        if name != main and keys.get("type") in ("mesh", "strands") and "file" not in keys:
            keys.setdefault("select", name)
            extras[name] = _selected(obj, name, keys, scene)
    return document, main, extras


def _selected(obj: bpy.types.Object, name: str, keys: dict[str, Any], scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Objects that an input names."""
    kind = "MESH" if keys["type"] == "mesh" else "CURVES"
    pattern = re.compile(".*".join(re.escape(part) for part in keys["select"].split("*")))
    found = [o for o in scene.objects if o.type == kind and pattern.fullmatch(o.name)]
    if not found:
        raise Problem(
            f"Input '{name}' of graph '{obj.sinew.tree.name}' takes {kind.lower()} objects named '{keys['select']}', "
            "and the scene has none. Set the name at the input node"
        )
    return found


def _output(player: Any, obj: bpy.types.Object, count: int, main: str) -> Any:
    named = obj.sinew.output
    if named:
        if named not in player.outputs:
            raise Problem(f"Graph '{obj.sinew.tree.name}' has no output '{named}'. It has {', '.join(player.outputs)}")
        output = player[named]
        if output.input != main:
            raise Problem(f"Output '{named}' does not have the vertices of '{obj.name}'. Name one that starts at the input '{main}'")
        return output
    for name in player.outputs:
        if player[name].input == main and player[name].vertex_count == count:
            return player[name]
    raise Problem(f"Graph '{obj.sinew.tree.name}' has no output with the {count} vertices of '{obj.name}'. Link its last node to an output node")


def _modifiers_in_front(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Modifier]:
    """Modifiers that deform the mesh before Sinew."""
    own, out = modifier.find(obj), []
    shown = "show_render" if depsgraph.mode == "RENDER" else "show_viewport"
    for other in obj.modifiers:
        if other == own:
            break
        if not getattr(other, shown):
            continue
        if other.type in modifier.CHANGE_VERTICES:
            raise Problem(f"Modifier '{other.name}' stands before Sinew and changes the vertices of '{obj.name}'. Move it behind Sinew, or apply it")
        out.append(other)
    return out


def _with_shape_keys(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Points:
    """The mesh with its relative shape keys, where modifiers after Sinew hide the mesh before it."""
    keys = obj.data.shape_keys.evaluated_get(depsgraph)
    count = len(obj.data.vertices)

    def points(block: bpy.types.ShapeKey) -> Points:
        flat = np.empty(count * 3, np.float32)
        block.data.foreach_get("co", flat)
        return flat.reshape(-1, 3)

    out = points(keys.reference_key)
    for block in keys.key_blocks:
        if block == keys.reference_key or block.mute or block.value == 0.0:
            continue
        delta = (points(block) - points(block.relative_key)) * block.value
        if block.vertex_group:
            index = obj.vertex_groups[block.vertex_group].index
            mask = [next((g.weight for g in v.groups if g.group == index), 0.0) for v in obj.data.vertices]
            delta *= np.array(mask, np.float32)[:, None]
        out += delta
    return out


def _point_count(obj: bpy.types.Object) -> int:
    return len(obj.data.points if obj.type == "CURVES" else obj.data.vertices)


def _points(evaluated: bpy.types.Object) -> Points:
    data = evaluated.data
    points, what = (data.points, "position") if evaluated.type == "CURVES" else (data.vertices, "co")
    flat = np.empty(len(points) * 3, np.float32)
    points.foreach_get(what, flat)
    return flat.reshape(-1, 3)
