# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes the deformation to plain skin weights and helper bones, which every program plays."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from .. import character, jobs, modifier
from ..core import sd
from ..jobs import Steps
from ..report import Problem
from ..session import Session, fps
from ..space import SCENE_FROM_WORLD, Matrix
from . import bake, curves, embedded
from .clip import Recorder, split
from .words import length


@dataclass
class Skin:
    """What a baked file holds."""

    names: list[str]
    parents: list[str | None]
    offsets: Any
    joints: Any
    weights: Any
    skins: Matrix
    """(frames, j, 4, 4) rest to posed positions, scene space."""
    rest: Matrix
    """(j, 4, 4) rest of the joints, scene space."""


class SINEW_OT_bake_skin(bake.BakeOperator):
    """Bake the deformation to the vertex groups of a copy, with helper bones. The animation of the range is fitted"""

    bl_idname = "sinew.bake_skin"
    bl_label = "Bake to Skin Weights"

    influences: bpy.props.IntProperty(name="Bones per Vertex", description="Largest number of bones of a vertex", default=4, min=1, max=32)
    helpers: bpy.props.IntProperty(name="Helper Bones", description="Bones to add where weights alone are farthest off", min=0, max=256)
    hide: bpy.props.BoolProperty(name="Hide Original", description="Hide the object with Sinew, so that only the copy shows", default=True)

    def steps(self, context: bpy.types.Context) -> Steps:
        obj = bake.deformed(context)
        first, last = self.range(context)
        session = bake.bound(context, obj)
        _check(obj)
        total = last - first + 1
        recorder = Recorder(session)
        for frame, _ in bake.positions(context, obj, first, last):
            recorder.add(session, obj, context.evaluated_depsgraph_get())
            yield frame - first, 2 * total
        rate = fps(context.scene)
        # glTF has no times before 0. Keys of the graph count from there, too.
        start = max(first, 0)
        extras = [bpy.data.objects[n] for names in session.extras.values() for n in names]
        built = character.build(obj, obj.sinew.armature, session.binds, extras, [recorder.clip("scene", rate, start)])
        results: list[Any] = []
        with bake.temporary_folder() as folder:
            path = os.path.join(folder, "skin.glb")
            graph = embedded.graph(embedded.document(session, obj, context.scene), session)
            options = {"fps": rate, "influences": self.influences, "helpers": self.helpers or None, "mesh_output": _output(obj, session)}
            options["frames"] = range(start, start + total)
            for done, of in jobs.threaded(
                lambda progress, cancel: sd.bake_skin(built.character, graph, output=path, progress=progress, cancel=cancel, **options),
                results,
            ):
                yield of + done, 2 * of
            skin = _read(path, obj, rate, range(start, start + total))
        made, helpers, silent = write(context, obj, session, skin, first)
        if self.hide:
            bake.mark(obj, bake.SKIN_WEIGHTS, hidden=True)
            obj.hide_set(True)
            obj.hide_render = True
        self.result = _result(made, helpers, results[0])
        if silent:
            self.result += f". These bones deform now (Deform): {', '.join(silent)}"


def _check(obj: bpy.types.Object) -> None:
    armature = obj.sinew.armature
    if armature is None:
        raise Problem(f"'{obj.name}' has no armature. Skin weights need one: add an armature, then press Rebind")
    if armature.data.library is not None or armature.library is not None:
        raise Problem(f"Armature '{armature.name}' is linked from another file. Helper bones need an armature of this file")
    before = next((m for m in obj.modifiers if m.show_viewport), None)
    if before is not None and before != modifier.find(obj):
        raise Problem(f"Modifier '{before.name}' acts before Sinew. Skin weights cannot hold it: switch it off, or move it after Sinew")


def _output(obj: bpy.types.Object, session: Session) -> str | None:
    return session.output.name if len(session.player.outputs) > 1 else None


def _read(path: str, obj: bpy.types.Object, rate: float, frames: range) -> Skin:
    """Weights of the file, and the motion of its joints."""
    baked = sd.load(path)
    mesh = next(m for m in baked.meshes if m.name == obj.name)
    player = sd.Player(baked, sd.Graph.from_dict({"sinew": "1.0", "stack": [], "outputs": {"pose": "pose"}}), fps=rate)
    rest = np.stack([np.array(joint.rest, np.float64) for joint in baked.joints])
    skins = []
    for frame in frames:
        player.advance(frame)
        skins.append(np.array(player["pose"].pose(), np.float64) @ np.linalg.inv(rest))
    offsets, joints, weights = mesh.influences
    names = [joint.name for joint in baked.joints]
    parents = [None if joint.parent is None else names[joint.parent] for joint in baked.joints]
    return Skin(names, parents, np.array(offsets), np.array(joints), np.array(weights), np.stack(skins), rest)


def write(
    context: bpy.types.Context, obj: bpy.types.Object, session: Session, skin: Skin, first: int
) -> tuple[bpy.types.Object, int, list[str]]:
    """The copy with its vertex groups, and the helper bones with their keys. Returns the copy, the number of helper bones,
    and the bones that deform from now on."""
    armature = obj.sinew.armature
    bones = {bone.name for bone in armature.data.bones}
    carried = {skin.names[j] for j in np.unique(skin.joints[skin.weights > 0.0])}
    helpers = [j for j, name in enumerate(skin.names) if name in carried and name not in bones]
    # Vertices that follow the object alone have no weights.
    helpers = [j for j in helpers if skin.names[j] != session.bones.object_joint or _is_mixed(skin, j)]
    names = _add_bones(context, armature, session, skin, helpers)
    _animate(armature, session, skin, names, first)
    made = bake.copy_without_sinew(obj, "skin")
    silent = sorted(name for name in carried & bones if not armature.data.bones[name].use_deform)
    for name in silent:
        armature.data.bones[name].use_deform = True
    all_names = {**{j: name for j, name in enumerate(skin.names) if name in bones}, **names}
    _vertex_groups(made, skin, all_names, bones | set(names.values()))
    _armature_modifier(made, armature, obj)
    return made, len(names), silent


def _is_mixed(skin: Skin, joint: int) -> bool:
    """True if a vertex follows this joint and another one."""
    return bool(np.any((skin.joints == joint) & (skin.weights > 0.0) & (skin.weights < 0.999999)))


def _add_bones(context: bpy.types.Context, armature: bpy.types.Object, session: Session, skin: Skin, helpers: list[int]) -> dict[int, str]:
    """Adds a bone for each helper joint: below the bone of its parent. Names of the bones by joint."""
    if not helpers:
        return {}
    from mathutils import Matrix as BlenderMatrix

    to_armature = np.linalg.inv(SCENE_FROM_WORLD @ session.binds[1])
    size = float(np.ptp(session.character.meshes[0].positions, axis=0).max()) * 0.03
    names: dict[int, str] = {}
    with _edit_mode(context, armature):
        for j in helpers:
            bone = armature.data.edit_bones.new(skin.names[j])
            bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, size, 0.0)
            rest = to_armature @ skin.rest[j]
            rest[:3, :3] /= np.linalg.norm(rest[:3, :3], axis=0)
            bone.matrix = BlenderMatrix(rest.tolist())
            above = skin.parents[j]
            bone.parent = armature.data.edit_bones.get(above) if above else None
            bone.use_deform = True
            names[j] = bone.name
    return names


class _edit_mode:
    """Edit mode of an armature, and back."""

    def __init__(self, context: bpy.types.Context, armature: bpy.types.Object) -> None:
        self.context, self.armature = context, armature

    def __enter__(self) -> None:
        self.selected = bake.selected(self.context, [self.armature])
        self.selected.__enter__()
        bpy.ops.object.mode_set(mode="EDIT")

    def __exit__(self, *error: Any) -> None:
        bpy.ops.object.mode_set(mode="OBJECT")
        self.selected.__exit__(*error)


def _animate(armature: bpy.types.Object, session: Session, skin: Skin, names: dict[int, str], first: int) -> None:
    """Keys of the helper bones: the motion that the file has, relative to the bone above."""
    if not names:
        return
    index = {name: j for j, name in enumerate(skin.names)}
    to_armature = np.linalg.inv(SCENE_FROM_WORLD @ session.binds[1])
    own = curves.of(armature, f"{armature.name} helpers")
    frames = range(first, first + len(skin.skins))
    for j, name in names.items():
        above = skin.parents[j]
        reference = index[above] if above and above in armature.data.bones else index[session.bones.object_joint]
        moved = np.linalg.inv(skin.skins[:, reference]) @ skin.skins[:, j]
        rest = np.array(armature.data.bones[name].matrix_local, np.float64)
        basis = np.linalg.inv(rest) @ (to_armature @ moved @ np.linalg.inv(to_armature)) @ rest
        _keys(own, armature.pose.bones[name], basis, frames)


def _keys(own: Any, bone: bpy.types.PoseBone, basis: Matrix, frames: range) -> None:
    bone.rotation_mode = "QUATERNION"
    rotations, scales = split(basis[:, :3, :3], bone.name)
    parts = {"location": basis[:, :3, 3], "rotation_quaternion": rotations[:, [3, 0, 1, 2]], "scale": scales}
    for part, rows in parts.items():
        for i in range(rows.shape[1]):
            curves.write(own, bone.path_from_id(part), i, frames, rows[:, i])


def _vertex_groups(made: bpy.types.Object, skin: Skin, names: dict[int, str], bones: set[str]) -> None:
    """Replaces the groups of bones. Masks stay."""
    for old in [g for g in made.vertex_groups if g.name in bones]:
        made.vertex_groups.remove(old)
    vertices = np.repeat(np.arange(len(skin.offsets) - 1), np.diff(skin.offsets.astype(np.int64)))
    for j, name in names.items():
        chosen = (skin.joints == j) & (skin.weights > 0.0)
        if not chosen.any():
            continue
        group = made.vertex_groups.new(name=name)
        for vertex, weight in zip(vertices[chosen].tolist(), skin.weights[chosen].tolist()):
            group.add((vertex,), weight, "REPLACE")


def _armature_modifier(made: bpy.types.Object, armature: bpy.types.Object, obj: bpy.types.Object) -> None:
    """Plain linear skinning."""
    own = made.modifiers.get(obj.sinew.replaced) if obj.sinew.replaced else None
    if own is None:
        own = made.modifiers.new("Armature", "ARMATURE")
        made.modifiers.move(len(made.modifiers) - 1, list(obj.modifiers).index(modifier.find(obj)))
    own.object = armature
    own.use_vertex_groups, own.use_bone_envelopes, own.use_deform_preserve_volume = True, False, False
    own.vertex_group, own.show_viewport, own.show_render = "", True, True


def _result(made: bpy.types.Object, helpers: int, result: Any) -> str:
    row = result.data[0] if isinstance(result.data, list) else result.data
    return (
        f"'{made.name}' has the baked weights and {helpers} helper bones: rms {length(row['rms_mm'])} from the live result, "
        f"at most {length(row['largest_mm'])}. With the weights of the object it is rms {length(row['source_rms_mm'])}"
    )


def register() -> None:
    """Registers the operator."""
    bpy.utils.register_class(SINEW_OT_bake_skin)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_OT_bake_skin)
