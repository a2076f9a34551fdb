# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose drivers: record poses, go to them, mirror them, watch their weights."""

from __future__ import annotations

import re
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .. import live, report
from ..core import sd
from ..operators import target
from ..report import Operator, Problem
from ..session import Session
from ..space import Matrix, matrix
from . import graphs, matrices, transforms
from .ui import SubPanel

NEUTRAL = "neutral"
METRICS = [
    ("chord", "Any Rotation", "The whole rotation"),
    ("swing_chord", "Swing", "The direction of the bone, without its twist"),
    ("twist_chord", "Twist", "The roll about the bone"),
    ("position", "Position", "Where the bone is: for controls that move"),
]


class Monitor:
    """Weights and distances of the drivers of one object at its last frame."""

    def __init__(self, bound: Session, document: graphs.Document) -> None:
        self.bound, self.document = bound, document
        given = {**document, "nodes": dict(document["nodes"])}
        self.drivers = [n for n in graphs.of_kind(given, "pose_driver") if given["nodes"][n].get("poses")]
        self.weights: dict[str, list[float]] = {}
        self.distances: dict[str, list[float]] = {}
        self.last: Any = None
        for name in self.drivers:
            given["nodes"][f"{name}:distance"] = _distances(given["nodes"][name])
        wanted = [*self.drivers, *(f"{n}:distance" for n in self.drivers)]
        self.player = matrices.player(bound, _renamed(graphs.playable(bound, given, wanted))) if self.drivers else None

    def update(self) -> bool:
        """Evaluates the frame of the session. False if it is the same."""
        last = self.bound.last
        if last is None or last is self.last or self.player is None:
            return False
        matrices.advance(self.bound, self.player)
        for i, name in enumerate(self.drivers):
            self.weights[name] = self.player[f"weights_{i}"].floats().tolist()
            influence = self.player[f"weights_{i + len(self.drivers)}"].floats().astype(np.float64)
            self.distances[name] = np.abs(np.log(np.clip(influence, 1e-38, 1.0))).tolist()
        self.last = last
        return True


def _distances(driver: dict[str, Any]) -> dict[str, Any]:
    """A driver whose weights are exp(-distance)."""
    made = {k: v for k, v in driver.items() if k not in ("rules", "regularization", "threshold", "median", "preset")}
    made.update(solver="additive", kernel="exponential_plain", width=1.0, clamp="none", normalize="none")
    made["poses"] = [{k: p[k] for k in ("name", "joints", "metric") if k in p} for p in driver["poses"]]
    return made


def _renamed(document: graphs.Document) -> graphs.Document:
    """Outputs with names that are legal for any node."""
    names = list(document["outputs"])
    fresh = {n: n.replace(":", "_of_") for n in names}
    document["nodes"] = {fresh.get(n, n): keys for n, keys in document["nodes"].items()}
    document["outputs"] = {f"weights_{i}": fresh[n] for i, n in enumerate(names)}
    return document


MONITORS: dict[int, Monitor] = {}


def monitor(obj: bpy.types.Object) -> Monitor | None:
    """The monitor of an object, if its weights are watched."""
    found = MONITORS.get(obj.session_uid)
    return found if found is not None and found.bound is live.session(obj) and found.document is graphs.shown(obj) else None


@persistent
@report.guarded
def _watch(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    """After each frame: the weights of the object that the panel shows."""
    if depsgraph is None or any(isinstance(u.id, bpy.types.NodeTree) for u in depsgraph.updates):
        graphs.SHOWN.clear()
    manager = bpy.context.window_manager
    if manager is None or not manager.sinew_live_weights or bpy.context.view_layer is None:
        return
    obj = shown(bpy.context)
    if obj is not None:
        watch(obj)


@persistent
def _forget(*_: object) -> None:
    """A new file, or another state of it."""
    MONITORS.clear()
    graphs.SHOWN.clear()


def watch(obj: bpy.types.Object) -> Monitor | None:
    """Brings the weights of an object up to date."""
    bound = live.session(obj)
    if bound is None or not bound.skinned:
        return None
    found = MONITORS.get(obj.session_uid)
    if found is None or found.bound is not bound or found.document is not graphs.shown(obj):
        found = MONITORS[obj.session_uid] = Monitor(bound, graphs.shown(obj))
    found.update()
    return found


def driver_name(obj: bpy.types.Object, given: graphs.Document) -> str:
    """The driver that the panel shows, or the only one."""
    found = graphs.of_kind(given, "pose_driver")
    chosen = obj.sinew_tools.driver
    if chosen in found:
        return chosen  # type: ignore[no-any-return]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Problem(f"The graph of '{obj.name}' has no pose driver. Select bones in pose mode and press Add Driver")
    raise Problem(f"The graph of '{obj.name}' has several pose drivers: {', '.join(found)}. Choose one in the panel")


def pose_index(obj: bpy.types.Object, driver: dict[str, Any], name: str = "") -> int:
    """Index of a pose by name, or of the chosen one."""
    names = [p["name"] for p in driver.get("poses", [])]
    wanted = name or obj.sinew_tools.pose
    if wanted in names:
        return names.index(wanted)
    if not wanted:
        raise Problem("No pose is chosen. Choose one in the list of poses")
    raise Problem(f"The driver has no pose '{wanted}'. It has {', '.join(names) or 'none'}")


def deformed(context: bpy.types.Context) -> bpy.types.Object:
    """The object with the graph: the active one, or the one that the active armature moves."""
    obj = context.object
    if obj is None or obj.type != "ARMATURE":
        found = target(context)
        if found.sinew.tree is None:
            raise Problem(f"'{found.name}' has no Sinew graph. Press Add Sinew")
        return found
    meshes = [o for o in context.scene.objects if o.sinew.tree is not None and o.sinew.armature == obj]
    if not meshes:
        raise Problem(f"No object with a Sinew graph follows armature '{obj.name}'. Select the mesh and press Add Sinew")
    selected = [o for o in meshes if o.select_get()]
    if len(meshes) > 1 and len(selected) != 1:
        raise Problem(f"Armature '{obj.name}' moves several objects: {', '.join(o.name for o in meshes)}. Select one of them, too")
    return (selected or meshes)[0]


def joint_index(bound: Session, name: str) -> int:
    """Index of a driver joint."""
    if name not in bound.bones.names:
        raise Problem(
            f"The driver names joint '{name}', and the armature has no such bone. It was renamed or removed: change it at the node"
        )
    return bound.bones.names.index(name)


def present(bound: Session, driver: dict[str, Any]) -> list[Matrix]:
    """Transforms of the driver joints at the last frame, in the space of the driver."""
    space = driver.get("space", "rest")
    out = []
    for name in driver.get("joints", []):
        index = joint_index(bound, name)
        if space == "rest":
            out.append(matrices.motion(bound, index))
        elif space == "parent":
            out.append(matrices.local(matrices.posed(bound), bound, index))
        else:
            scene = matrices.posed(bound)
            out.append(np.linalg.solve(scene[joint_index(bound, driver.get("reference", ""))], scene[index]))
    return out


def record(bound: Session, driver: dict[str, Any], name: str) -> dict[str, Any]:
    """A pose of a driver, as documents write it."""
    moves = driver.get("metric") == "position"
    joints = []
    for transform in present(bound, driver):
        made = transforms.encode(transform)
        if not moves and driver.get("space", "rest") == "rest":
            made.pop("translation", None)
        joints.append(made)
    return {"name": name, "joints": joints}


def go_to(context: bpy.types.Context, obj: bpy.types.Object, driver: dict[str, Any], pose: dict[str, Any]) -> None:
    """Sets the bones of a driver to a pose."""
    if driver.get("space", "rest") != "rest":
        raise Problem(f"The driver is in space '{driver['space']}'. Poses of space 'rest' can be set; pose the bones by hand")
    bound = graphs.session(context, obj)
    armature = obj.sinew.armature
    order = sorted(range(len(driver["joints"])), key=lambda i: _depth(armature, driver["joints"][i]))
    for i in order:
        bone = armature.pose.bones[joint_index(bound, driver["joints"][i])]
        motion = transforms.decode(pose["joints"][i])
        if "translation" not in pose["joints"][i] and driver.get("metric") != "position":
            motion[:3, 3] = matrices.motion(bound, joint_index(bound, driver["joints"][i]))[:3, 3]
        _set_bone(obj, bound, bone, motion)
        context.view_layer.update()


def _depth(armature: bpy.types.Object, name: str) -> int:
    bone = armature.data.bones.get(name)
    return len(bone.parent_recursive) if bone else 0


def _set_bone(obj: bpy.types.Object, bound: Session, bone: bpy.types.PoseBone, motion: Matrix) -> None:
    """Gives a bone a motion from rest, stated in the axes of its joint."""
    from mathutils import Matrix as BlenderMatrix

    from ..character import _axes

    axes = _axes(bone.bone)
    motion = axes @ motion @ np.linalg.inv(axes)
    rest = matrix(bone.bone.matrix_local)
    if bone.parent is not None:
        wanted = matrix(bone.parent.matrix) @ np.linalg.solve(matrix(bone.parent.bone.matrix_local), rest) @ motion
    else:
        # The joint of a root moves with the armature and the object, too.
        world, bind = matrix(obj.sinew.armature.matrix_world), bound.binds[1]
        since_bind = matrix(obj.matrix_world) @ np.linalg.inv(bound.binds[0])
        joint = bind @ rest @ motion @ np.linalg.inv(bind @ rest)
        wanted = np.linalg.inv(world) @ joint @ np.linalg.inv(since_bind) @ world @ rest
    bone.matrix = BlenderMatrix(wanted.tolist())


class SINEW_OT_driver_add(Operator):
    """Add a pose driver for the selected bones. Its first pose is the rest pose"""

    bl_idname = "sinew.driver_add"
    bl_label = "Add Driver"

    metric: bpy.props.EnumProperty(name="Compare", description="What of a pose counts", items=METRICS)

    def run(self, context: bpy.types.Context) -> str:
        obj = deformed(context)
        if obj.sinew.armature is None:
            raise Problem(f"'{obj.name}' has no armature. Choose one in the Sinew panel")
        joints = [b.name for b in selected_bones(obj.sinew.armature)]
        if not joints:
            raise Problem(f"No bone of armature '{obj.sinew.armature.name}' is selected. Select the bones that drive, in pose mode")
        # Nothing is changed where the graph fails already.
        bound = graphs.session(context, obj)
        given = graphs.document(obj)
        name = graphs.free(given, _driver_of(joints[0]))
        given["nodes"][name] = {
            "node": "pose_driver",
            "pose": graphs.need_input(given, "pose"),
            "joints": joints,
            "metric": self.metric,
            "axis": _along(obj.sinew.armature.data.bones[joints[0]]),
            "poses": [{"name": NEUTRAL, "joints": [{} for _ in joints]}],
        }
        check(bound, given, name)
        graphs.put(context, obj, given)
        obj.sinew_tools.driver, obj.sinew_tools.pose = name, NEUTRAL
        return f"Driver '{name}' with {len(joints)} bone{'s' if len(joints) > 1 else ''}. Pose the bones, then press Record"


def _driver_of(joint: str) -> str:
    """A name for a driver: with the side of its bone at the end, so that the mirrored one is named after the other side."""
    plain = joint.replace(".", "_").replace(" ", "_").replace("-", "_")
    for side in ("_L", "_R", "_l", "_r"):
        if plain.endswith(side):
            return f"{plain[:-2]}_driver{side}"
    return f"{plain}_driver"


def selected_bones(armature: bpy.types.Object) -> list[bpy.types.Bone]:
    """The selected bones. Blender 5 keeps the selection at the pose."""
    bones = armature.data.bones
    if "select" in bpy.types.PoseBone.bl_rna.properties:
        return [b.bone for b in armature.pose.bones if b.select]
    return [b for b in bones if b.select]


def _along(bone: bpy.types.Bone) -> list[float]:
    """The direction of a bone in the axes of its joint."""
    from ..character import _axes

    axis = np.linalg.inv(_axes(bone)[:3, :3]) @ np.array([0.0, 1.0, 0.0])
    return [round(float(x), 9) + 0.0 for x in axis]


class SINEW_OT_driver_select(Operator):
    """Show this driver in the panel"""

    bl_idname = "sinew.driver_select"
    bl_label = "Select Driver"

    driver: bpy.props.StringProperty(name="Driver")
    pose: bpy.props.StringProperty(name="Pose")

    def run(self, context: bpy.types.Context) -> None:
        tools = deformed(context).sinew_tools
        tools.driver, tools.pose = self.driver, self.pose


class PoseOperator(Operator):
    """Base of operators that work on the chosen driver."""

    bl_idname = "sinew.pose_base"
    pose: bpy.props.StringProperty(name="Pose", description="Name of the pose. Empty: the chosen one")

    def run(self, context: bpy.types.Context) -> str | None:
        obj = deformed(context)
        given = graphs.document(obj)
        name = driver_name(obj, given)
        return self.work(context, obj, given, name)

    def work(self, context: bpy.types.Context, obj: bpy.types.Object, given: graphs.Document, name: str) -> str | None:
        """Works on the driver `name` of the document."""
        raise NotImplementedError


def check(bound: Session, given: graphs.Document, driver: str) -> None:
    """Solves a driver, so that wrong poses are refused before they are in the graph."""
    try:
        matrices.player(bound, _renamed(graphs.playable(bound, given, [driver])))
    except sd.SinewError as error:
        # Lines of the document say nothing in Blender.
        text = re.sub(r"^[^\s:]+:\d+:\d+: ", "", report.message_of(error))
        raise Problem(re.sub(r"-?\d+\.\d{4,}(e-?\d+)?|-?\d+e-\d+", lambda found: f"{float(found[0]):.3g}", text)) from error


class SINEW_OT_pose_record(PoseOperator):
    """Record the present pose of the driver's bones under a new name. Without a name, it is called pose_1, pose_2 and so on"""

    bl_idname = "sinew.pose_record"
    bl_label = "Record Pose"

    pose: bpy.props.StringProperty(name="Pose", description="Name of the new pose. Empty: pose_1, pose_2 and so on")

    def work(self, context: bpy.types.Context, obj: bpy.types.Object, given: graphs.Document, name: str) -> str:
        driver = given["nodes"][name]
        taken = {p["name"] for p in driver["poses"]}
        new = self.pose or _free_pose(taken)
        if new in taken:
            raise Problem(f"Driver '{name}' has a pose '{new}' already. Press Update to record it again, or give another name")
        bound = graphs.session(context, obj)
        driver["poses"].append(record(bound, driver, new))
        check(bound, given, name)
        extend_targets(given, name)
        graphs.put(context, obj, given)
        obj.sinew_tools.pose = new
        return f"Pose '{new}' of driver '{name}'"


def _free_pose(taken: set[str]) -> str:
    number = 1
    while f"pose_{number}" in taken:
        number += 1
    return f"pose_{number}"


def extend_targets(given: graphs.Document, driver: str) -> None:
    """Nodes that read the weights of a driver by index get an entry for each pose."""
    count = len(given["nodes"][driver]["poses"])
    for keys in given["nodes"].values():
        if graphs.source(keys.get("weights")) != driver:
            continue
        if keys["node"] == "drive_morphs" and keys.get("targets"):
            keys["targets"] = (keys["targets"] + [""] * count)[:count]
        elif keys["node"] == "drive_joints" and keys.get("poses"):
            empty = [{} for _ in keys.get("joints", [])]
            names = [p["name"] for p in given["nodes"][driver]["poses"]]
            keys["poses"] = keys["poses"][:count] + [{"name": n, "joints": empty} for n in names[len(keys["poses"]) :]]


class SINEW_OT_pose_update(PoseOperator):
    """Record the chosen pose again, from the present pose of the bones"""

    bl_idname = "sinew.pose_update"
    bl_label = "Update Pose"

    def work(self, context: bpy.types.Context, obj: bpy.types.Object, given: graphs.Document, name: str) -> str:
        driver = given["nodes"][name]
        index = pose_index(obj, driver, self.pose)
        old = driver["poses"][index]
        bound = graphs.session(context, obj)
        driver["poses"][index] = {**old, **record(bound, driver, old["name"])}
        check(bound, given, name)
        graphs.put(context, obj, given)
        return f"Pose '{old['name']}' is the present one"


class SINEW_OT_pose_delete(PoseOperator):
    """Delete the chosen pose. Shape keys that it drives stay, without a driver"""

    bl_idname = "sinew.pose_delete"
    bl_label = "Delete Pose"

    def work(self, context: bpy.types.Context, obj: bpy.types.Object, given: graphs.Document, name: str) -> str:
        driver = given["nodes"][name]
        index = pose_index(obj, driver, self.pose)
        if len(driver["poses"]) == 1:
            raise Problem(f"'{driver['poses'][0]['name']}' is the only pose of driver '{name}'. Remove the node instead")
        removed = driver["poses"].pop(index)
        for keys in given["nodes"].values():
            if graphs.source(keys.get("weights")) == name:
                for entries in (keys.get("targets"), keys.get("poses"), *(m.get("weights") for m in keys.get("mix", []))):
                    if isinstance(entries, list) and index < len(entries):
                        entries.pop(index)
        graphs.put(context, obj, given)
        obj.sinew_tools.pose = driver["poses"][min(index, len(driver["poses"]) - 1)]["name"]
        return f"Deleted pose '{removed['name']}'"


class SINEW_OT_pose_go(PoseOperator):
    """Set the bones of the driver to the chosen pose"""

    bl_idname = "sinew.pose_go"
    bl_label = "Go to Pose"

    def work(self, context: bpy.types.Context, obj: bpy.types.Object, given: graphs.Document, name: str) -> None:
        driver = given["nodes"][name]
        go_to(context, obj, driver, driver["poses"][pose_index(obj, driver, self.pose)])


class SINEW_PT_driver(SubPanel, bpy.types.Panel):
    """Drivers and poses of the active object."""

    bl_label = "Pose Driver"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Where a graph follows an armature."""
        obj = shown(context)
        return obj is not None and obj.sinew.armature is not None

    def show(self, context: bpy.types.Context) -> None:
        """List of drivers, list of poses, buttons."""
        obj = shown(context)
        layout = self.layout
        layout.operator_menu_enum("sinew.driver_add", "metric", icon="ADD")
        given = graphs.shown(obj)
        names = graphs.of_kind(given, "pose_driver")
        if not names:
            return
        chosen = obj.sinew_tools.driver if obj.sinew_tools.driver in names else names[0]
        for name in names:
            button = layout.operator("sinew.driver_select", text=name, depress=name == chosen, icon="DRIVER")
            button.driver = name
        _draw_poses(layout, obj, given, chosen)


def shown(context: bpy.types.Context) -> bpy.types.Object | None:
    """The object that panels show: the active one, or the first that the active armature moves."""
    obj = context.view_layer.objects.active
    if obj is not None and obj.type == "ARMATURE":
        return next((o for o in context.scene.objects if o.sinew.tree is not None and o.sinew.armature == obj), None)
    return obj if obj is not None and obj.sinew.tree is not None else None


def _draw_poses(layout: bpy.types.UILayout, obj: bpy.types.Object, given: graphs.Document, driver: str) -> None:
    keys = given["nodes"][driver]
    watched = monitor(obj)
    weights = watched.weights.get(driver, []) if watched else []
    distances = watched.distances.get(driver, []) if watched else []
    unit = "{:.3f} m" if keys.get("metric") == "position" else "{:.3f}"
    if weights:
        name, weight, rest = _columns(layout)
        name.label(text="Pose")
        weight.label(text="Weight")
        rest.label(text="Distance")
    for i, pose in enumerate(keys.get("poses", [])):
        name, weight, rest = _columns(layout) if i < len(weights) else [layout.row(align=True)] * 3
        button = name.operator("sinew.driver_select", text=pose["name"], depress=pose["name"] == obj.sinew_tools.pose)
        button.driver, button.pose = driver, pose["name"]
        if i < len(weights):
            weight.progress(text=f"{weights[i]:.2f}", factor=min(max(weights[i], 0.0), 1.0))
            rest.label(text=unit.format(distances[i]))
        rest.operator("sinew.pose_go", text="", icon="PLAY").pose = pose["name"]
    layout.prop(bpy.context.window_manager, "sinew_live_weights")
    row = layout.row(align=True)
    row.operator("sinew.pose_record", text="Record Pose", icon="REC")
    row.operator("sinew.pose_update", text="Update")
    row.operator("sinew.pose_delete", text="", icon="TRASH")
    column = layout.column(align=True)
    column.operator("sinew.driver_mirror", icon="MOD_MIRROR")
    column.operator("sinew.driver_plot", icon="IMAGE_DATA")
    column.operator("sinew.driver_sphere", icon="SPHERE")


def _columns(layout: bpy.types.UILayout) -> list[bpy.types.UILayout]:
    """A row: name, weight, and the rest."""
    split = layout.split(factor=0.4)
    name, other = split.row(align=True), split.split(factor=0.42)
    return [name, other.row(align=True), other.row(align=True)]


def _switched(_self: bpy.types.WindowManager, context: bpy.types.Context) -> None:
    MONITORS.clear()
    _watch(context.scene, None)


CLASSES = [
    SINEW_OT_driver_add,
    SINEW_OT_driver_select,
    SINEW_OT_pose_record,
    SINEW_OT_pose_update,
    SINEW_OT_pose_delete,
    SINEW_OT_pose_go,
    SINEW_PT_driver,
]
HANDLERS = ("frame_change_post", "depsgraph_update_post")
FORGETTING = ("load_post", "undo_post", "redo_post")


def register() -> None:
    """Registers operators, panel and handlers."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.WindowManager.sinew_live_weights = bpy.props.BoolProperty(
        name="Live Weights", description="Show weights and distances of poses in each frame", default=False, update=_switched
    )
    for name in HANDLERS:
        getattr(bpy.app.handlers, name).append(_watch)
    for name in FORGETTING:
        getattr(bpy.app.handlers, name).append(_forget)


def unregister() -> None:
    """Removes them."""
    for name in HANDLERS:
        getattr(bpy.app.handlers, name).remove(_watch)
    for name in FORGETTING:
        getattr(bpy.app.handlers, name).remove(_forget)
    del bpy.types.WindowManager.sinew_live_weights
    MONITORS.clear()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
