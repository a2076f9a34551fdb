# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives: sculpt the mesh in a pose, and make a shape key of it that the pose drives."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from .. import live
from ..character import rest_positions
from ..jobs import JobOperator, Steps
from ..report import Operator, Problem
from ..session import Session, solvers
from ..space import SCENE_FROM_WORLD, Matrix, Points, matrix, moved
from . import graphs, matrices, pose_driver, solve, weld
from .ui import SubPanel

TOLERANCE = 1e-5
DROP_BELOW = 1e-6
# At a sculpt: the skin matrices of the pose, row after row, and the positions that reached the graph.
MATRICES = "sinew_matrices"


def key_name(driver: str, pose: str) -> str:
    """Name of the shape key of a pose."""
    return f"{driver} {pose}"


def make_sculpt(context: bpy.types.Context, obj: bpy.types.Object, driver: str, pose: str) -> bpy.types.Object:
    """A mesh with the deformed shape of an object, to sculpt on."""
    bound = graphs.session(context, obj)
    mesh = bpy.data.meshes.new_from_object(obj)
    mesh.name = f"{obj.name} {pose}"
    mesh.vertices.foreach_set("co", np.ascontiguousarray(bound.local, np.float32).ravel())
    mesh.update()
    made = bpy.data.objects.new(mesh.name, mesh)
    made.matrix_world = obj.matrix_world
    made.sinew_sculpt.source = obj
    made.sinew_sculpt.driver, made.sinew_sculpt.pose = driver, pose
    made[MATRICES] = [float(x) for x in bound.last.matrices.ravel()]
    for collection in obj.users_collection:
        collection.objects.link(made)
    return made


def extract(bound: Session, skins: Matrix, sculpt: Points, damping: float, before: Matrix, point: Any) -> Any:
    """Offsets at rest (solutions of `solve.offsets`), with the rest of the frame as it is. They replace the offsets `before`, in scene
    space, that the pose has. `point`: the point of each vertex."""
    player = matrices.player(bound, bound.document)
    matrices.give_inputs(bound, player)
    base = np.array(matrices.before_graph(bound), np.float32)
    out = np.empty_like(base)
    output = player[bound.output.name]

    def evaluate(points: Points) -> Points:
        player.set_positions(bound.input, np.ascontiguousarray(points, np.float32))
        matrices.advance(bound, player, skins)
        return output.positions(out=out).copy()  # type: ignore[no-any-return]

    if np.linalg.norm(evaluate(base) - sculpt, axis=1).max() <= TOLERANCE:
        raise Problem("The sculpt has the shape that the pose has already. Sculpt it first")
    return solve.offsets(evaluate, (base - before).astype(np.float32), sculpt, TOLERANCE, damping, point)


def scene_positions(sculpt: bpy.types.Object, bound: Session, obj: bpy.types.Object) -> Points:
    """Vertices of a sculpt in scene space. Where the sculpt was moved to does not matter."""
    flat = np.empty(len(sculpt.data.vertices) * 3, np.float32)
    keys = sculpt.data.shape_keys
    source = sculpt.data.vertices if keys is None else keys.reference_key.data
    source.foreach_get("co", flat)
    now = matrix(obj.matrix_world) if bound.skinned else bound.binds[0]
    return moved(flat.reshape(-1, 3), SCENE_FROM_WORLD @ now)


def set_key(obj: bpy.types.Object, name: str, offsets: Matrix) -> bpy.types.ShapeKey:
    """Gives a shape key, which is made if it is missing, offsets (n, 3) from rest in the space of the object."""
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    key = obj.data.shape_keys.key_blocks.get(name) or obj.shape_key_add(name=name, from_mix=False)
    key.data.foreach_set("co", (rest_positions(obj) + offsets).astype(np.float32).ravel())
    # The graph drives its own copy of the key.
    key.value = 0.0
    return key


def key_offsets(obj: bpy.types.Object, name: str | None) -> Matrix:
    """(n, 3) offsets of a shape key from rest in the space of the object; 0 if it is missing."""
    rest = rest_positions(obj).astype(np.float64)
    blocks = obj.data.shape_keys.key_blocks if obj.data.shape_keys is not None else {}
    if name is None or name not in blocks:
        return np.zeros_like(rest)
    flat = np.empty(rest.size, np.float32)
    blocks[name].data.foreach_get("co", flat)
    return flat.reshape(-1, 3) - rest


def connect(given: graphs.Document, driver: str, pose: str, key: str) -> None:
    """Lets a pose of a driver drive a morph target: drive_morphs, and morph before the skin."""
    main = graphs.main_input(given, "mesh")
    if main is None:
        raise Problem("The graph has no mesh input. Add an input node of type mesh")
    index = [p["name"] for p in given["nodes"][driver]["poses"]].index(pose)
    count = len(given["nodes"][driver]["poses"])
    drive = _drive_morphs(given, driver, main)
    keys = given["nodes"][drive]
    targets = (list(keys.get("targets", [])) + [""] * count)[:count]
    targets[index] = key
    keys["targets"] = targets


def _drive_morphs(given: graphs.Document, driver: str, main: str) -> str:
    """The node that turns the weights of a driver into weights of morph targets."""
    for name in graphs.of_kind(given, "drive_morphs"):
        if graphs.source(given["nodes"][name].get("weights")) == driver:
            _morph(given, main, name)
            return name
    name = graphs.free(given, f"{driver}_morphs")
    keys: dict[str, Any] = {"node": "drive_morphs", "mesh": main, "weights": driver, "targets": []}
    given["nodes"][name] = keys
    morph = _morph(given, main, name)
    before = given["nodes"][morph].get("weights")
    if before is not None and graphs.source(before) != name:
        # Several drivers: a chain.
        keys["base"] = before
    elif "pose" in given["nodes"][morph]:
        keys["pose"] = given["nodes"][morph]["pose"]
    given["nodes"][morph]["weights"] = name
    return name


def _morph(given: graphs.Document, main: str, weights: str) -> str:
    """The node that adds morph targets, before the skin."""
    found = graphs.of_kind(given, "morph")
    if found:
        return found[0]
    name = graphs.free(given, "morph")
    keys = {"node": "morph", "weights": weights}
    for kind in graphs.SKINNING:
        for step in graphs.of_kind(given, kind):
            graphs.insert_before(given, step, name, keys)
            return name
    first = [
        n for n, k in given["nodes"].items() if graphs.source(k.get("mesh")) == main and graphs.kinds()[k["node"]]["kind"] == "deformer"
    ]
    if not first:
        raise Problem("The graph has no node that deforms the mesh. Add a skin node")
    graphs.insert_before(given, first[0], name, keys)
    return name


class SINEW_OT_corrective_sculpt(Operator):
    """Copy the deformed mesh at the chosen pose, to sculpt how it should look. A pose that is not recorded yet is recorded first"""

    bl_idname = "sinew.corrective_sculpt"
    bl_label = "Sculpt Corrective"

    pose: bpy.props.StringProperty(
        name="Pose", description="Name of the pose. Empty: the recorded pose that the bones are in, or a new one"
    )

    def run(self, context: bpy.types.Context) -> str:
        obj = pose_driver.deformed(context)
        if obj.type != "MESH":
            raise Problem(f"'{obj.name}' is hair. Correctives are for meshes")
        given = graphs.document(obj)
        _refuse_simulations(given)
        driver = pose_driver.driver_name(obj, given)
        pose = self._pose(context, obj, given, driver)
        made = make_sculpt(context, obj, driver, pose)
        obj.hide_set(True)
        if context.object is not None and context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.selected_objects:
            other.select_set(False)
        made.select_set(True)
        context.view_layer.objects.active = made
        return f"Sculpt on '{made.name}', then press Apply Corrective. Keep its vertices"

    def _pose(self, context: bpy.types.Context, obj: bpy.types.Object, given: graphs.Document, driver: str) -> str:
        """The pose to correct: goes there if it is named, or finds or records the present one."""
        keys = given["nodes"][driver]
        names = [p["name"] for p in keys["poses"]]
        if self.pose in names:
            pose_driver.go_to(context, obj, keys, keys["poses"][names.index(self.pose)])
            return self.pose
        bound = graphs.session(context, obj)
        found = present_pose(bound, keys)
        if found is not None and (not self.pose or self.pose == found):
            return found
        if found is not None:
            raise Problem(f"The bones are in the pose '{found}' already. Sculpt that one, or pose the bones")
        made = pose_driver.record(bound, keys, self.pose or pose_driver._free_pose(set(names)))
        keys["poses"].append(made)
        pose_driver.extend_targets(given, driver)
        graphs.put(context, obj, given)
        obj.sinew_tools.driver, obj.sinew_tools.pose = driver, made["name"]
        return made["name"]  # type: ignore[no-any-return]


def present_pose(bound: Session, driver: dict[str, Any], tolerance: float = 1e-4) -> str | None:
    """The recorded pose that the joints are in."""
    from . import transforms

    now = pose_driver.present(bound, driver)
    moves = driver.get("metric") == "position"
    for pose in driver["poses"]:
        others = [transforms.decode(j) for j in pose["joints"]]
        part = (slice(0, 3), slice(0, 4) if moves else slice(0, 3))
        if all(np.abs(a[part] - b[part]).max() < tolerance for a, b in zip(now, others)):
            return pose["name"]  # type: ignore[no-any-return]
    return None


def _refuse_simulations(given: graphs.Document) -> None:
    found = solvers(given)
    if found:
        raise Problem(
            f"The graph simulates ({', '.join(found)}): its shape depends on earlier frames. Correctives need a graph without such nodes"
        )


class SINEW_OT_corrective_apply(JobOperator):
    """Make a shape key of the sculpt, and let its pose drive it"""

    bl_idname = "sinew.corrective_apply"
    bl_label = "Apply Corrective"

    damping: bpy.props.FloatProperty(
        name="Damping",
        description="Keeps offsets short where later nodes smooth the sculpt away: a larger value leaves a larger distance. "
        "It does nothing where the sculpt is reached",
        default=0.02,
        min=0.0,
        max=10.0,
        precision=4,
    )
    remove: bpy.props.BoolProperty(
        name="Remove Sculpt", description="Remove the sculpt afterwards. It is kept if the graph does not reach it", default=True
    )

    def steps(self, context: bpy.types.Context) -> Steps:
        sculpt = _active_sculpt(context)
        obj = sculpt.sinew_sculpt.source
        if sculpt.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        driver, pose = sculpt.sinew_sculpt.driver, sculpt.sinew_sculpt.pose
        was_hidden = obj.hide_get()
        obj.hide_set(False)
        try:
            bound, skins = _frame_of(context, obj, sculpt)
            key = _key_of_pose(graphs.document(obj), driver, pose)
            before = key_offsets(obj, key) @ np.linalg.inv(matrices.to_object(bound)[:3, :3]).T
            wanted = scene_positions(sculpt, bound, obj)
            point = weld.twins(bound, rest_positions(obj))
            best = None
            for best in extract(bound, skins, wanted, self.damping, before, point):
                yield best.steps, 600
            if max(np.linalg.norm(x, axis=1).max() for x in (best.offsets, before)) < DROP_BELOW:
                raise Problem(
                    f"No shape key brings the graph nearer to the sculpt, which stays {best.distance.max() * 1000:.3f} mm away: nodes "
                    "after the skin smooth it away. Use the preset Skin, or a mask for these nodes. The sculpt is kept"
                )
            changed = _store(context, obj, bound, best, driver, pose)
        except BaseException:
            obj.hide_set(was_hidden)
            raise
        self._finish(context, obj, sculpt, changed, best, weld.apart(point, wanted.astype(np.float64)))

    def _finish(
        self, context: bpy.types.Context, obj: bpy.types.Object, sculpt: bpy.types.Object, key: str, best: solve.Solution, apart: Matrix
    ) -> None:
        """Reports, and removes the sculpt if the graph reaches it."""
        self.result = f"Shape key '{key}': {_summary(best)}"
        if apart.max() > TOLERANCE:
            self.report({"WARNING"}, _were_apart(apart))
        reached = best.distance.max() <= TOLERANCE
        if not reached:
            self.report({"WARNING"}, f"{_what_stays(best)}. The sculpt '{sculpt.name}' is kept")
        if best.damping > self.damping:
            self.report(
                {"WARNING"},
                f"With the damping {self.damping:g}, offsets are longer than {solve.LONGEST:.0f} times the largest move of the sculpt, and "
                f"deform other poses badly. The damping {best.damping:g} was taken",
            )
        if self.remove and reached:
            bpy.data.meshes.remove(sculpt.data)
        else:
            sculpt.select_set(False)
        context.view_layer.objects.active = obj
        obj.select_set(True)


def _longest(best: solve.Solution) -> float:
    return float(np.linalg.norm(best.offsets, axis=1).max())


def _were_apart(apart: Matrix) -> str:
    count = int((apart > TOLERANCE).sum())
    return (
        f"{count} vertices at seams of the mesh were sculpted apart, by up to {2000 * apart.max():.3f} mm. They got the mean of their "
        "positions, so that the mesh stays closed"
    )


def _what_stays(best: solve.Solution) -> str:
    worst = int(np.argmax(best.distance))
    count = int((best.distance > TOLERANCE).sum())
    return (
        f"{count} vertices stay away from the sculpt, vertex {worst} by {best.distance[worst] * 1000:.3f} mm: "
        "nodes after the skin smooth it. Use fewer iterations, a mask, or the preset Skin"
    )


def _active_sculpt(context: bpy.types.Context) -> bpy.types.Object:
    """The active sculpt, or the only one of the active object."""
    obj = context.object
    if obj is None:
        raise Problem("No object is active. Select the sculpt")
    if obj.sinew_sculpt.source is not None:
        return obj
    found = [o for o in context.scene.objects if o.sinew_sculpt.source == obj]
    if len(found) == 1:
        return found[0]
    if found:
        raise Problem(f"'{obj.name}' has several sculpts: {', '.join(o.name for o in found)}. Select one")
    raise Problem(f"'{obj.name}' is no sculpt. Press Sculpt Corrective first")


def _frame_of(context: bpy.types.Context, obj: bpy.types.Object, sculpt: bpy.types.Object) -> tuple[Session, Matrix]:
    """The session of the object, and the skin matrices at which the sculpt was made."""
    bound = graphs.session(context, obj)
    if len(sculpt.data.vertices) != bound.count:
        raise Problem(
            f"Sculpt '{sculpt.name}' has {len(sculpt.data.vertices)} vertices and '{obj.name}' has {bound.count}. "
            "Sculpt without dynamic topology, remeshing or deleting vertices"
        )
    stored = np.array(sculpt.get(MATRICES, []), np.float64)
    if stored.size != bound.last.matrices.size:
        raise Problem(f"The armature of '{obj.name}' has other bones than when the sculpt was made. Make the sculpt again")
    return bound, stored.reshape(-1, 4, 4)


def _store(context: bpy.types.Context, obj: bpy.types.Object, bound: Session, best: solve.Solution, driver: str, pose: str) -> str:
    """Puts the offsets into a shape key, and connects it."""
    given = graphs.document(obj)
    offsets = best.offsets @ matrices.to_object(bound)[:3, :3].T
    offsets[np.linalg.norm(best.offsets, axis=1) < DROP_BELOW] = 0.0
    name = _key_of_pose(given, driver, pose) or key_name(driver, pose)
    key = set_key(obj, name, offsets)
    connect(given, driver, pose, key.name)
    live.bind(obj)
    graphs.put(context, obj, given)
    return key.name  # type: ignore[no-any-return]


def _key_of_pose(given: graphs.Document, driver: str, pose: str) -> str | None:
    """The shape key that the pose of a sculpt drives already."""
    poses = [p["name"] for p in given["nodes"].get(driver, {}).get("poses", [])]
    if pose not in poses:
        raise Problem(f"The graph has no pose '{pose}' of driver '{driver}' any more. Record it under this name, then apply again")
    return key_of(given, driver, pose)


def key_of(given: graphs.Document, driver: str, pose: str) -> str | None:
    """The shape key that a pose drives already."""
    index = [p["name"] for p in given["nodes"][driver]["poses"]].index(pose)
    for name in graphs.of_kind(given, "drive_morphs"):
        keys = given["nodes"][name]
        targets = keys.get("targets", [])
        if graphs.source(keys.get("weights")) == driver and index < len(targets) and targets[index]:
            return targets[index]  # type: ignore[no-any-return]
    return None


def _summary(best: solve.Solution) -> str:
    moved_count = int((np.linalg.norm(best.offsets, axis=1) >= DROP_BELOW).sum())
    longest = _longest(best)
    return (
        f"{moved_count} vertices move, up to {longest * 1000:.2f} mm; distance to the sculpt {best.distance.max() * 1000:.4f} mm "
        f"after {best.steps} steps"
    )


class SINEW_PT_corrective(SubPanel, bpy.types.Panel):
    """Sculpt and apply."""

    bl_label = "Correctives"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For objects with a graph and an armature, and for sculpts."""
        obj = context.object
        return obj is not None and (obj.sinew_sculpt.source is not None or pose_driver.SINEW_PT_driver.poll(context))

    def show(self, context: bpy.types.Context) -> None:
        """Two buttons, in their order."""
        own = context.object.sinew_sculpt
        column = self.layout.column(align=True)
        if own.source is not None:
            column.label(text=f"{own.driver}: {own.pose}", icon="SCULPTMODE_HLT")
        else:
            shown = pose_driver.shown(context)
            column.operator("sinew.corrective_sculpt", icon="SCULPTMODE_HLT").pose = shown.sinew_tools.pose if shown else ""
        column.operator("sinew.corrective_apply", icon="CHECKMARK")


CLASSES = [SINEW_OT_corrective_sculpt, SINEW_OT_corrective_apply, SINEW_PT_corrective]


def register() -> None:
    """Registers operators and panel."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Removes them."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
