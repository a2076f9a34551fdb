# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose drivers: against closed forms, and against Blender's own mirrored paste."""

from __future__ import annotations

import re

import bpy
import numpy as np
import pytest
from conftest import activate, add, bend, truth, tube
from mathutils import Quaternion, Vector
from sinew import live, nodes
from sinew.tools import graphs, pose_driver, sides, sphere, transforms


def select_bones(armature: bpy.types.Object, *names: str) -> None:
    """Selects bones for operators."""
    for bone in armature.pose.bones:
        owner = bone if "select" in bpy.types.PoseBone.bl_rna.properties else bone.bone
        owner.select = bone.name in names


def driven_tube(metric: str = "chord") -> tuple[bpy.types.Object, bpy.types.Object]:
    """The tube with a driver of its upper bone."""
    obj = tube()
    add(obj)
    armature = obj.sinew.armature
    select_bones(armature, "upper")
    bpy.ops.sinew.driver_add(metric=metric)
    return obj, armature


def numbers(obj: bpy.types.Object) -> tuple[list[float], list[float]]:
    """Weights and distances at the present pose."""
    bpy.context.view_layer.update()
    watched = pose_driver.watch(obj)
    name = obj.sinew_tools.driver
    return watched.weights[name], watched.distances[name]


def arms(roll: float = 0.0, lean: float = 0.0) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two cones as arms, on bones arm.L and arm.R with hands. `roll` makes the axes of the right side differ."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    spine = bones.new("spine")
    spine.head, spine.tail = (0, 0, 0), (0, 0, 1)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        arm = bones.new(f"arm.{side}")
        arm.head, arm.tail, arm.parent = (0.2 * sign, 0, 1), (1.0 * sign, 0.1, 0.8), spine
        hand = bones.new(f"hand.{side}")
        hand.head, hand.tail, hand.parent = arm.tail, (1.3 * sign, 0.1, 0.7), arm
        arm.roll, hand.roll = 0.3 * sign, -0.2 * sign
        if side == "R":
            arm.roll += roll
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.rotation_euler = (lean, 0.2 * lean, -lean)
    bpy.context.view_layer.update()
    points, groups = [], []
    for name, sign in (("L", 1.0), ("R", -1.0)):
        for t in np.linspace(0.0, 1.0, 9):
            for a in np.linspace(0, 2 * np.pi, 6, endpoint=False):
                points.append((sign * (0.2 + 1.1 * t), 0.1 * t + 0.1 * np.cos(a), 1.0 - 0.3 * t + 0.1 * np.sin(a)))
                groups.append((name, float(np.clip((t - 0.6) / 0.3, 0, 1))))
    mesh = bpy.data.meshes.new("arms")
    mesh.from_pydata(points, [], [(i, i + 1, i + 7, i + 6) for i in range(0, len(points) - 7, 6) if i % 54 < 48])
    obj = bpy.data.objects.new("Arms", mesh)
    bpy.context.collection.objects.link(obj)
    obj.parent = armature
    for side in "LR":
        for bone in ("arm", "hand"):
            group = obj.vertex_groups.new(name=f"{bone}.{side}")
            for i, (own, hand) in enumerate(groups):
                if own == side:
                    group.add([i], hand if bone == "hand" else 1.0 - hand, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    activate(obj)
    add(obj)
    return obj, armature


def test_weights_are_one_at_their_pose_and_zero_at_the_others() -> None:
    obj, armature = driven_tube()
    for name, angle in (("half", 45), ("bent", 90)):
        bend(armature, angle)
        assert bpy.ops.sinew.pose_record(pose=name) == {"FINISHED"}
    for index, angle in enumerate((0, 45, 90)):
        bend(armature, angle)
        weights, distances = numbers(obj)
        assert np.allclose(weights, np.eye(3)[index], atol=1e-5)
        # The chord of an angle: 2 sin(angle / 2).
        wanted = [2 * np.sin(np.radians(abs(angle - other)) / 2) for other in (0, 45, 90)]
        assert np.allclose(distances, wanted, atol=2e-6)


@pytest.mark.parametrize("metric", ["swing_chord", "twist_chord", "position"])
def test_metrics_measure_what_they_say(metric: str) -> None:
    obj, armature = driven_tube(metric)
    bone = armature.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    # Blender's bones point along their y axis.
    turn = {"swing_chord": (0, 0, 0.8), "twist_chord": (0, 0.8, 0), "position": (0, 0, 0)}[metric]
    free = {"swing_chord": (0, 1.1, 0), "twist_chord": (0.4, 0, 0), "position": (0.7, 0, 0)}[metric]
    bone.rotation_euler = turn
    if metric == "position":
        # `upper` is connected to nothing: it may move.
        bone.location = (0.3, 0.0, 0.4)
    bpy.context.view_layer.update()
    assert bpy.ops.sinew.pose_record(pose="away") == {"FINISHED"}
    weights, distances = numbers(obj)
    wanted = 0.5 if metric == "position" else 2 * np.sin(0.4)
    assert np.allclose(distances, [wanted, 0.0], atol=1e-5) and np.allclose(weights, [0, 1], atol=1e-5)
    bone.rotation_euler = free
    bone.location = (0, 0, 0)
    bpy.context.view_layer.update()
    weights, distances = numbers(obj)
    assert abs(distances[0]) < 2e-6, "a motion that does not count"


@pytest.mark.parametrize("axes", [None, (0.5, 0.5, -0.5, 0.5)])
@pytest.mark.parametrize("bone", ["lower", "upper"])
def test_go_to_pose_brings_the_bones_back(bone: str, axes: tuple[float, ...] | None) -> None:
    obj = tube()
    armature = obj.parent
    if axes:
        for other in armature.data.bones:
            other["sinew_axes"] = axes
    armature.location, armature.rotation_euler = (0.3, -1.0, 0.5), (0.2, 0.4, 0.9)
    bpy.context.view_layer.update()
    add(obj)
    # The character walked away since it was bound.
    armature.location, armature.rotation_euler = (2.0, 1.0, 0.0), (0.0, 0.0, 0.7)
    bpy.context.view_layer.update()
    select_bones(armature, bone)
    assert bpy.ops.sinew.driver_add() == {"FINISHED"}
    posed = armature.pose.bones[bone]
    posed.rotation_mode = "QUATERNION"
    posed.rotation_quaternion = (0.8, 0.3, -0.4, 0.2)
    bpy.context.view_layer.update()
    wanted = np.array(posed.matrix)
    assert bpy.ops.sinew.pose_record(pose="there") == {"FINISHED"}
    posed.rotation_quaternion = (1, 0, 0, 0)
    bpy.context.view_layer.update()
    assert not np.allclose(posed.matrix, wanted, atol=0.1)
    assert bpy.ops.sinew.pose_go(pose="there") == {"FINISHED"}
    assert np.allclose(posed.matrix, wanted, atol=2e-6)
    weights, distances = numbers(obj)
    assert np.allclose(weights[-1], 1.0, atol=1e-5) and distances[-1] < 1e-5


def test_axis_of_a_driver_points_along_the_bone() -> None:
    obj = tube()
    turn = Quaternion((0.5, 0.5, -0.5, 0.5))
    obj.parent.data.bones["upper"]["sinew_axes"] = tuple(turn)
    add(obj)
    select_bones(obj.parent, "upper")
    bpy.ops.sinew.driver_add()
    driver = graphs.document(obj)["nodes"][obj.sinew_tools.driver]
    assert np.allclose(turn @ Vector(driver["axis"]), (0, 1, 0), atol=1e-6)


def pasted_flipped(armature: bpy.types.Object, bone: str) -> None:
    """Blender's own mirror: copy the pose, paste it flipped."""
    activate(armature)
    bpy.ops.object.mode_set(mode="POSE")
    select_bones(armature, *[b.name for b in armature.pose.bones])
    bpy.ops.pose.copy()
    assert bpy.ops.pose.paste(flipped=True) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()


def test_mirror_equals_blenders_flipped_paste() -> None:
    obj, armature = arms()
    select_bones(armature, "arm.L", "hand.L")
    assert bpy.ops.sinew.driver_add() == {"FINISHED"}
    for name, turn in (("arm.L", (0.9, 0.2, -0.3, 0.25)), ("hand.L", (0.8, -0.3, 0.3, 0.4))):
        armature.pose.bones[name].rotation_quaternion = turn
    bpy.context.view_layer.update()
    assert bpy.ops.sinew.pose_record(pose="up.L") == {"FINISHED"}
    assert bpy.ops.sinew.driver_mirror() == {"FINISHED"}
    driver = graphs.document(obj)["nodes"][obj.sinew_tools.driver]
    assert driver["joints"] == ["arm.R", "hand.R"] and [p["name"] for p in driver["poses"]] == ["neutral", "up.R"]
    pasted_flipped(armature, "arm.L")
    wanted = {b: np.array(armature.pose.bones[b].matrix_basis) for b in ("arm.R", "hand.R")}
    assert not np.allclose(wanted["hand.R"], np.eye(4), atol=0.1)
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    activate(obj)
    assert bpy.ops.sinew.pose_go(pose="up.R") == {"FINISHED"}
    for name, matrix in wanted.items():
        assert np.allclose(armature.pose.bones[name].matrix_basis, matrix, atol=3e-6)


@pytest.mark.parametrize(("roll", "lean"), [(0.0, 0.0), (1.3, 0.0), (0.4, 0.6)])
def test_mirrored_pose_mirrors_the_mesh(roll: float, lean: float) -> None:
    """Also where the axes of both sides differ, which Blender's paste does not take into account, and for a leaning armature."""
    obj, armature = arms(roll, lean)
    select_bones(armature, "arm.L", "hand.L")
    bpy.ops.sinew.driver_add()
    for name, turn in (("arm.L", (0.9, 0.2, -0.3, 0.25)), ("hand.L", (0.8, -0.3, 0.3, 0.4))):
        armature.pose.bones[name].rotation_quaternion = turn
    bpy.context.view_layer.update()
    bpy.ops.sinew.pose_record(pose="up.L")
    left = live.session(obj).local.copy()
    assert bpy.ops.sinew.driver_mirror() == {"FINISHED"}
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    bpy.ops.sinew.pose_go(pose="up.R")
    bpy.context.view_layer.update()
    right = live.session(obj).local
    half = len(left) // 2
    # The points of the right side mirror those of the left, ring by ring, at rest.
    rest = np.array([v.co for v in obj.data.vertices])
    assert np.allclose(rest[half:], rest[:half] * (-1, 1, 1), atol=1e-6)
    assert np.abs(left[:half] - rest[:half]).max() > 0.3
    assert np.allclose(right[half:], left[:half] * (-1, 1, 1), atol=1e-5)


def test_a_driver_in_the_middle_gets_the_mirrored_poses() -> None:
    obj, armature = arms()
    select_bones(armature, "spine")
    bpy.ops.sinew.driver_add()
    bone = armature.pose.bones["spine"]
    bone.rotation_mode = "XYZ"
    for name, turn in (("lean.L", (0, 0, 0.5)), ("forward", (0.5, 0, 0))):
        bone.rotation_euler = turn
        bpy.context.view_layer.update()
        bpy.ops.sinew.pose_record(pose=name)
    assert bpy.ops.sinew.driver_mirror() == {"FINISHED"}
    driver = graphs.document(obj)["nodes"][obj.sinew_tools.driver]
    # Leaning forward is its own mirror.
    assert [p["name"] for p in driver["poses"]] == ["neutral", "lean.L", "forward", "lean.R"]
    bpy.ops.sinew.pose_go(pose="lean.R")
    assert np.allclose(bone.matrix_basis.to_euler(), (0, 0, -0.5), atol=1e-6)


NAMES = [
    "arm.L",
    "arm_r",
    "L.arm",
    "r_arm",
    "LeftArm",
    "armRight",
    "arm.L.001",
    "arm-l",
    "Bip L",
    "RIGHT_hand",
    "spine",
    "tail",
    "all",
    "arml",
]


def test_names_flip_as_blender_flips_them() -> None:
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    for name in NAMES:
        activate(armature)
        bpy.ops.object.mode_set(mode="EDIT")
        armature.data.edit_bones.new(name).tail = (0, 0, 1)
        bpy.ops.armature.select_all(action="SELECT")
        bpy.ops.armature.flip_names(do_strip_numbers=False)
        flipped = armature.data.edit_bones[0].name
        armature.data.edit_bones.remove(armature.data.edit_bones[0])
        bpy.ops.object.mode_set(mode="OBJECT")
        assert sides.mirrored(name) == flipped, name


def test_update_and_delete_keep_indices_of_morphs() -> None:
    obj, armature = driven_tube()
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="bulge")
    for name, angle in (("half", 45), ("bent", 90)):
        bend(armature, angle)
        bpy.ops.sinew.pose_record(pose=name)
    given = graphs.document(obj)
    from sinew.tools import corrective

    corrective.connect(given, obj.sinew_tools.driver, "bent", "bulge")
    graphs.put(bpy.context, obj, given)
    assert bpy.ops.sinew.pose_delete(pose="half") == {"FINISHED"}
    given = graphs.document(obj)
    drive = given["nodes"][graphs.of_kind(given, "drive_morphs")[0]]
    assert drive["targets"] == ["", "bulge"]
    bend(armature, 70)
    assert bpy.ops.sinew.pose_update(pose="bent") == {"FINISHED"}
    pose = graphs.document(obj)["nodes"][obj.sinew_tools.driver]["poses"][1]
    assert np.isclose(2 * np.arccos(abs(pose["joints"][0]["rotation"][3])), np.radians(70), atol=1e-5)
    assert not truth(obj)


def test_sphere_shows_directions_and_weights() -> None:
    obj, armature = driven_tube("swing_chord")
    bend(armature, 90)
    bpy.ops.sinew.pose_record(pose="bent")
    assert bpy.ops.sinew.driver_sphere() == {"FINISHED"}
    made = next(o for o in bpy.context.scene.objects if o.get(sphere.SPHERE))
    bpy.context.view_layer.update()
    world = np.array([made.matrix_world @ v.co for v in made.data.vertices])
    bone = armature.pose.bones["upper"]
    head = np.array(armature.matrix_world @ bone.head)
    # Bones of length 1: the neutral pose points up, the bent one where the bone points now.
    assert np.allclose(world[-3:-1], [head + (0, 0, 1), np.array(armature.matrix_world @ bone.tail)], atol=1e-5)
    assert np.allclose(world[-1], head + 1.1 * (np.array(armature.matrix_world @ bone.tail) - head), atol=1e-5)
    count = len(made.data.vertices)
    bend(armature, 0)
    bpy.ops.sinew.driver_sphere()
    assert len([o for o in bpy.context.scene.objects if o.get(sphere.SPHERE)]) == 1 and len(made.data.vertices) == count


def test_plot_becomes_an_image() -> None:
    obj, armature = driven_tube("swing_chord")
    bend(armature, 90)
    bpy.ops.sinew.pose_record(pose="bent")
    bend(armature, -60)
    bpy.ops.sinew.pose_record(pose="back")
    assert bpy.ops.sinew.driver_plot() == {"FINISHED"}
    image = bpy.data.images[f"{obj.sinew_tools.driver} directions"]
    assert image.packed_file is not None and image.size[0] > 100
    pixels = np.array(image.pixels[:]).reshape(-1, 4)
    assert len(np.unique(pixels[::37].round(2), axis=0)) > 5


def test_live_weights_follow_the_pose() -> None:
    obj, armature = driven_tube()
    bend(armature, 90)
    bpy.ops.sinew.pose_record(pose="bent")
    bpy.context.window_manager.sinew_live_weights = True
    for angle in (0, 90):
        bend(armature, angle)
        assert np.allclose(pose_driver.monitor(obj).weights[obj.sinew_tools.driver], [angle == 0, angle == 90], atol=1e-5)
    bpy.context.window_manager.sinew_live_weights = False


MISTAKES = [
    ("nothing is active", lambda o, a: setattr(bpy.context.view_layer.objects, "active", None), "driver_add", {}, "No object is active"),
    ("no bone is selected", lambda o, a: select_bones(a), "driver_add", {}, "Select the bones that drive"),
    ("no driver", lambda o, a: None, "pose_record", {}, "press Add Driver"),
    (
        "no partner",
        lambda o, a: (
            select_bones(a, "upper"),
            bpy.ops.sinew.driver_add(),
            bpy.data.armatures[0].bones["upper"].__setattr__("name", "upper.L"),
            bpy.ops.sinew.rebind(),
            _rename(o),
        ),
        "driver_mirror",
        {},
        "has no partner",
    ),
    (
        "the same name twice",
        lambda o, a: (select_bones(a, "upper"), bpy.ops.sinew.driver_add()),
        "pose_record",
        {"pose": "neutral"},
        "already",
    ),
    ("the same pose twice", lambda o, a: (select_bones(a, "upper"), bpy.ops.sinew.driver_add()), "pose_record", {"pose": "again"}, "again"),
    ("an unknown pose", lambda o, a: (select_bones(a, "upper"), bpy.ops.sinew.driver_add()), "pose_go", {"pose": "nope"}, "no pose 'nope'"),
    ("the last pose", lambda o, a: (select_bones(a, "upper"), bpy.ops.sinew.driver_add()), "pose_delete", {"pose": "neutral"}, "only pose"),
]


def _rename(obj: bpy.types.Object) -> None:
    given = graphs.document(obj)
    given["nodes"][graphs.of_kind(given, "pose_driver")[0]]["joints"] = ["upper.L"]
    nodes.replace(obj.sinew.tree, given)
    live.bind(obj)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m[0])
def test_mistakes_say_what_to_do(mistake: tuple) -> None:
    _, prepare, operator, arguments, text = mistake
    obj = tube()
    add(obj)
    prepare(obj, obj.sinew.armature)
    before = nodes.to_document(obj.sinew.tree)
    with pytest.raises(RuntimeError, match=text):
        getattr(bpy.ops.sinew, operator)(**arguments)
    assert nodes.to_document(obj.sinew.tree) == before, "a mistake changes nothing"
    assert not truth(obj)


def test_a_driver_that_fails_leaves_graph_and_animation() -> None:
    obj = tube()
    tree = add(obj, {"sinew": "1.0", "stack": ["skin", {"node": "smooth", "iterations": 2}]})
    select_bones(obj.sinew.armature, "upper")
    tree["kept"] = 1.0
    tree.keyframe_insert('["kept"]', frame=1)
    obj.sinew.output = "nothing"
    with pytest.raises(RuntimeError, match="no output 'nothing'"):
        bpy.ops.sinew.rebind()
    before = nodes.to_document(tree)
    with pytest.raises(RuntimeError, match="no output 'nothing'"):
        bpy.ops.sinew.driver_add()
    assert nodes.to_document(tree) == before and tree.animation_data.action is not None and obj.sinew.tree == tree


def test_the_same_pose_is_said_with_short_numbers() -> None:
    _, armature = driven_tube()
    bend(armature, 40)
    bpy.ops.sinew.pose_record(pose="one")
    bend(armature, 40.00001)
    with pytest.raises(RuntimeError) as error:
        bpy.ops.sinew.pose_record(pose="two")
    text = str(error.value)
    assert "poses 'one' and 'two' are the same" in text and "graph:" not in text
    assert not re.search(r"\d\.\d{4,}", text), text


def test_decoded_transforms_are_encoded_ones() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        quaternion = rng.normal(size=4)
        made = transforms.decode({"rotation": list(quaternion), "translation": [1, 2, 3], "scale": [1, 2, 0.5]})
        assert np.allclose(transforms.decode(transforms.encode(made)), made, atol=1e-6)
    # The example of docs/graph.md.
    order = transforms.decode({"translation": [1, 0, 0], "rotation_degrees": [90, 0, 90], "scale": [2, 1, 1]})
    assert np.allclose(order @ (1, 0, 0, 1), (1, 2, 0, 1)) and np.allclose(order @ (0, 1, 0, 1), (1, 0, 1, 1))
