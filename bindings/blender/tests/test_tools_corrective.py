# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives: a sculpt in a bent pose comes back at that pose, and only there."""

from __future__ import annotations

import re

import bmesh
import bpy
import numpy as np
import pytest
from conftest import activate, add, bend, positions, truth, tube
from mathutils import Vector
from sinew import live, nodes
from sinew.character import rest_positions
from sinew.tools import graphs, pose_driver, weld
from test_tools_pose_driver import arms, select_bones


def sculpted(stack: list, degrees: float = 90.0) -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """The tube, its armature, and a sculpt of its bent pose."""
    obj = tube()
    add(obj, nodes_document(stack))
    armature = obj.sinew.armature
    select_bones(armature, "upper")
    assert bpy.ops.sinew.driver_add() == {"FINISHED"}
    bend(armature, degrees)
    assert bpy.ops.sinew.corrective_sculpt() == {"FINISHED"}
    return obj, armature, bpy.context.object


def nodes_document(stack: list) -> dict:
    return {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}}, "stack": stack}


def bulge(sculpt: bpy.types.Object, height: float = 0.05) -> np.ndarray:
    """Pushes the vertices around the joint outwards, and gives the new positions."""
    points = np.array([v.co for v in sculpt.data.vertices])
    centre = np.array([0.0, 0.0, 1.0])
    away = points - centre
    distance = np.linalg.norm(away, axis=1)
    points += away / distance[:, None] * (height * np.exp(-((distance / 0.5) ** 2)))[:, None]
    sculpt.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    sculpt.data.update()
    return points


STACKS = {
    "skin": ["skin"],
    "morph, skin": ["morph", "skin"],
    "dual quaternion": [{"node": "skin", "method": "dual_quaternion"}],
}


@pytest.mark.parametrize("stack", STACKS)
def test_the_sculpt_comes_back(stack: str) -> None:
    obj, armature, sculpt = sculpted(STACKS[stack])
    before = {}
    for angle in (90, 0, 45):
        bend(armature, angle)
        before[angle] = live.session(obj).local.copy()
    start = np.array([v.co for v in sculpt.data.vertices])
    assert np.allclose(start, before[90], atol=1e-6), "the sculpt starts as the mesh looks"
    wanted = bulge(sculpt)
    assert np.linalg.norm(wanted - start, axis=1).max() > 0.02
    # The bones may be anywhere when the sculpt is applied.
    bend(armature, 20)
    activate(sculpt)
    assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
    assert not truth(obj) and bpy.context.object == obj and not obj.hide_get()
    bend(armature, 90)
    assert np.linalg.norm(positions(obj) - wanted, axis=1).max() < 1e-5
    bend(armature, 0)
    assert np.linalg.norm(positions(obj) - before[0], axis=1).max() < 1e-6
    # Between: the driver says how much of the key there is, and the key moves the rest mesh.
    bend(armature, 45)
    weight = pose_driver.watch(obj).weights[obj.sinew_tools.driver][1]
    assert 0.1 < weight < 0.9
    if stack == "skin":
        assert np.allclose(positions(obj), by_hand(obj, weight), atol=1e-5)


@pytest.mark.parametrize("iterations", [4, 8])
def test_the_sculpt_comes_back_through_delta_mush(iterations: int) -> None:
    """Of a corrective that exists: delta mush smooths other sculpts away in part."""
    obj, armature, sculpt = sculpted(["skin", {"node": "delta_mush", "iterations": iterations}])
    bend(armature, 90)
    before = {90: live.session(obj).local.copy()}
    wanted = shown_with_key(obj)
    assert np.linalg.norm(wanted - before[90], axis=1).max() > 0.02
    sculpt.data.vertices.foreach_set("co", wanted.astype(np.float32).ravel())
    activate(sculpt)
    assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
    bend(armature, 90)
    assert np.linalg.norm(positions(obj) - wanted, axis=1).max() < 1e-5
    key = obj.data.shape_keys.key_blocks[-1]
    moved = np.array([k.co for k in key.data]) - np.array([v.co for v in obj.data.vertices])
    assert np.linalg.norm(moved, axis=1).max() < 0.2, "offsets stay as long as what they correct"


def shown_with_key(obj: bpy.types.Object) -> np.ndarray:
    """The shape with a bulge at rest that Blender itself adds before the graph."""
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="known")
    for point in key.data:
        out = np.array([point.co.x, point.co.y, 0.0]) / 0.3
        point.co += Vector(out * 0.06 * np.exp(-(((point.co.z - 1.0) / 0.5) ** 2)))
    key.value = 1.0
    bpy.context.view_layer.update()
    out = positions(obj).copy()
    obj.shape_key_clear()
    bpy.context.view_layer.update()
    return out


def test_what_delta_mush_smooths_away_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    obj, armature, sculpt = sculpted(["skin", {"node": "delta_mush", "iterations": 20}])
    points = np.array([v.co for v in sculpt.data.vertices])
    points[::2] *= 1.05
    sculpt.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
    bend(armature, 90)
    left = np.linalg.norm(positions(obj) - points, axis=1).max()
    assert left > 1e-4
    out = capfd.readouterr().out
    said = re.search(r"stay away from the sculpt, vertex \d+ by ([0-9.]+) mm", out)
    assert said and np.isclose(float(said[1]), left * 1000, atol=0.01)


def key_lengths(obj: bpy.types.Object) -> np.ndarray:
    """Lengths of the offsets of the last shape key."""
    blocks = obj.data.shape_keys.key_blocks
    return np.linalg.norm([np.array(a.co) - np.array(b.co) for a, b in zip(blocks[-1].data, blocks[0].data)], axis=1)


def test_damping_shortens_offsets_which_stay_short_without_it(capfd: pytest.CaptureFixture[str]) -> None:
    longest, left = [], []
    for damping in (0.0, 0.5, 1.0, 3.0):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        obj, armature, sculpt = sculpted(["skin", {"node": "delta_mush", "iterations": 8}])
        start = np.array([v.co for v in sculpt.data.vertices])
        wanted = bulge(sculpt)
        assert bpy.ops.sinew.corrective_apply(damping=damping) == {"FINISHED"}
        assert ("The damping" in capfd.readouterr().out) == (damping == 0.0)
        bend(armature, 90)
        longest.append(key_lengths(obj).max())
        left.append(np.sqrt(((positions(obj) - wanted) ** 2).sum(axis=1).mean()))
        assert longest[-1] <= 4.0 * np.linalg.norm(wanted - start, axis=1).max()
        assert left[-1] < np.sqrt(((start - wanted) ** 2).sum(axis=1).mean())
    assert all(a > 1.1 * b for a, b in zip(longest, longest[1:]))
    assert all(a < b for a, b in zip(left, left[1:]))


def test_a_sculpt_that_is_not_reached_is_kept_and_applying_it_again_changes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    obj, _, sculpt = sculpted(["skin", {"node": "delta_mush", "iterations": 8}])
    bulge(sculpt)
    name = sculpt.name
    assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
    assert f"The sculpt '{name}' is kept" in capfd.readouterr().out
    first = key_lengths(obj)
    assert name in bpy.context.scene.objects and first.max() > 0.01
    for _ in range(2):
        assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
        assert name in bpy.context.scene.objects and np.abs(key_lengths(obj) - first).max() < 0.02 * first.max()
    assert bpy.ops.sinew.corrective_apply(damping=1.0) == {"FINISHED"}
    assert name in bpy.context.scene.objects and key_lengths(obj).max() < 0.6 * first.max()


def test_a_sculpt_without_a_change_is_refused_and_kept() -> None:
    obj, _, sculpt = sculpted(["skin"])
    name = sculpt.name
    with pytest.raises(RuntimeError, match="Sculpt it first"):
        bpy.ops.sinew.corrective_apply()
    assert name in bpy.context.scene.objects and obj.data.shape_keys is None and obj.hide_get()


def torn(obj: bpy.types.Object) -> bpy.types.Object:
    """Each face gets vertices of its own, as at seams of an imported file."""
    made = bmesh.new()
    made.from_mesh(obj.data)
    bmesh.ops.split_edges(made, edges=made.edges)
    made.to_mesh(obj.data)
    made.free()
    return obj


def at_rest(obj: bpy.types.Object) -> np.ndarray:
    """Number of the rest position of each vertex."""
    rest = np.array([v.co for v in obj.data.vertices])
    return np.unique(rest.round(5), axis=0, return_inverse=True)[1].reshape(-1)


@pytest.mark.parametrize("stack", [["skin"], ["skin", {"node": "delta_mush", "iterations": 8}]], ids=["skin", "delta mush"])
def test_seams_stay_closed(stack: list, capfd: pytest.CaptureFixture[str]) -> None:
    obj = torn(tube())
    add(obj, nodes_document(stack))
    armature = obj.sinew.armature
    select_bones(armature, "upper")
    bpy.ops.sinew.driver_add()
    bend(armature, 90)
    bpy.ops.sinew.corrective_sculpt()
    sculpt = bpy.context.object
    start = np.array([v.co for v in sculpt.data.vertices])
    near = np.exp(-(((start[:, 2] - 1.0) / 0.3) ** 2))
    wanted = start + 0.03 * near[:, None] * np.array([v.normal for v in sculpt.data.vertices])
    sculpt.data.vertices.foreach_set("co", wanted.astype(np.float32).ravel())
    assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
    said = re.search(r"(\d+) vertices at seams of the mesh were sculpted apart", capfd.readouterr().out)
    assert said and int(said[1]) > 100
    blocks = obj.data.shape_keys.key_blocks
    moves = np.array([np.array(a.co) - np.array(b.co) for a, b in zip(blocks[-1].data, blocks[0].data)])
    point = at_rest(obj)
    mean = np.stack([np.bincount(point, wanted[:, i]) for i in range(3)], axis=1) / np.bincount(point)[:, None]
    for number in range(point.max() + 1):
        assert np.ptp(moves[point == number], axis=0).max() < 1e-6
    assert np.linalg.norm(moves, axis=1).max() < 4.1 * 0.03
    if len(stack) == 1:
        bend(armature, 90)
        assert np.abs(positions(obj) - mean[point]).max() < 1e-5


def test_lips_that_touch_stay_two() -> None:
    obj = torn(tube())
    point = at_rest(obj)
    first = np.array([np.flatnonzero(point == p)[0] for p in range(point.max() + 1)])
    for name, weight in (("lower", 0.25), ("upper", 0.75)):
        obj.vertex_groups[name].add([int(i) for i in first], weight, "REPLACE")
    add(obj)
    made = weld.twins(live.session(obj), rest_positions(obj))
    for number in range(point.max() + 1):
        z = obj.data.vertices[first[number]].co.z
        if not 0.9 < z < 1.1:
            members = np.flatnonzero(point == number)
            assert len(set(made[members[1:]])) <= 1 and made[first[number]] not in made[members[1:]]


def by_hand(obj: bpy.types.Object, weight: float) -> np.ndarray:
    """Blender's own shape key and armature modifier."""
    armature = obj.modifiers["Armature"]
    own = next(m for m in obj.modifiers if m.type == "NODES")
    key = obj.data.shape_keys.key_blocks[-1]
    own.show_viewport, armature.show_viewport, key.value = False, True, weight
    bpy.context.view_layer.update()
    out = positions(obj).copy()
    own.show_viewport, armature.show_viewport, key.value = True, False, 0.0
    bpy.context.view_layer.update()
    return out


def test_a_second_pose_leaves_the_first_alone() -> None:
    obj, armature, sculpt = sculpted(["skin"])
    first = bulge(sculpt)
    assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
    bend(armature, -80)
    assert bpy.ops.sinew.corrective_sculpt() == {"FINISHED"}
    second = bulge(bpy.context.object, -0.04)
    assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
    for angle, wanted in ((90, first), (-80, second)):
        bend(armature, angle)
        assert np.linalg.norm(positions(obj) - wanted, axis=1).max() < 1e-5
    assert len(obj.data.shape_keys.key_blocks) == 3


def test_sculpting_again_adds_to_the_key() -> None:
    obj, armature, sculpt = sculpted(["skin"])
    bulge(sculpt)
    bpy.ops.sinew.corrective_apply()
    bend(armature, 0)
    assert bpy.ops.sinew.corrective_sculpt(pose="pose_1") == {"FINISHED"}
    assert np.isclose(armature.pose.bones["upper"].matrix_basis.to_euler().x, np.radians(90), atol=1e-5), "goes to the pose"
    wanted = bulge(bpy.context.object, 0.03)
    bpy.ops.sinew.corrective_apply()
    bend(armature, 90)
    assert np.linalg.norm(positions(obj) - wanted, axis=1).max() < 1e-5
    assert [k.name for k in obj.data.shape_keys.key_blocks] == ["Basis", "upper_driver pose_1"]


def test_a_moved_and_scaled_object() -> None:
    obj = tube()
    obj.parent.location, obj.parent.scale, obj.parent.rotation_euler = (1, 2, 3), (0.5, 0.5, 0.5), (0.3, 0, 1)
    bpy.context.view_layer.update()
    add(obj)
    armature = obj.sinew.armature
    select_bones(armature, "upper")
    bpy.ops.sinew.driver_add()
    armature.location = (4, 0, 0)
    bend(armature, 90)
    bpy.ops.sinew.corrective_sculpt()
    wanted = bulge(bpy.context.object)
    # A sculpt may be moved aside.
    bpy.context.object.location.x += 5
    bpy.ops.sinew.corrective_apply()
    bend(armature, 90)
    assert np.linalg.norm(positions(obj) - wanted, axis=1).max() < 1e-5


def test_two_drivers_share_the_morph_node() -> None:
    obj, armature, sculpt = sculpted(["skin"])
    first = bulge(sculpt)
    bpy.ops.sinew.corrective_apply()
    bend(armature, 0)
    select_bones(armature, "lower")
    bpy.ops.sinew.driver_add()
    bend(armature, 60, "lower")
    assert bpy.ops.sinew.corrective_sculpt() == {"FINISHED"}
    second = bulge(bpy.context.object, 0.02)
    bpy.ops.sinew.corrective_apply()
    assert len(graphs.of_kind(graphs.document(obj), "morph")) == 1
    bend(armature, 60, "lower")
    assert np.linalg.norm(positions(obj) - second, axis=1).max() < 1e-5
    bend(armature, 0, "lower")
    bend(armature, 90)
    assert np.linalg.norm(positions(obj) - first, axis=1).max() < 1e-5


def test_shape_keys_of_blender_stay_in_the_result() -> None:
    obj = tube()
    obj.shape_key_add(name="Basis")
    wide = obj.shape_key_add(name="wide")
    for point in wide.data:
        point.co.x *= 1.4
    wide.value = 0.5
    add(obj)
    armature = obj.sinew.armature
    select_bones(armature, "upper")
    bpy.ops.sinew.driver_add()
    bend(armature, 90)
    bpy.ops.sinew.corrective_sculpt()
    wanted = bulge(bpy.context.object)
    bpy.ops.sinew.corrective_apply()
    bend(armature, 90)
    assert np.linalg.norm(positions(obj) - wanted, axis=1).max() < 1e-5


def test_mirrored_correctives_mirror_the_mesh() -> None:
    obj, armature = arms(0.4, 0.6)
    select_bones(armature, "arm.L", "hand.L")
    bpy.ops.sinew.driver_add()
    assert obj.sinew_tools.driver == "arm_driver_L"
    for name, turn in (("arm.L", (0.9, 0.2, -0.3, 0.25)), ("hand.L", (0.8, -0.3, 0.3, 0.4))):
        armature.pose.bones[name].rotation_quaternion = turn
    bpy.context.view_layer.update()
    bpy.ops.sinew.pose_record(pose="up.L")
    bpy.ops.sinew.corrective_sculpt(pose="up.L")
    sculpt = bpy.context.object
    points = np.array([v.co for v in sculpt.data.vertices])
    half = len(points) // 2
    points[:half] += np.random.default_rng(1).normal(0, 0.03, (half, 3))
    sculpt.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
    assert bpy.ops.sinew.driver_mirror() == {"FINISHED"}
    assert obj.sinew_tools.driver == "arm_driver_R" and len(obj.data.shape_keys.key_blocks) == 3
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    bpy.ops.sinew.pose_go(pose="up.R")
    bpy.context.view_layer.update()
    shown = positions(obj)
    rest = np.array([v.co for v in obj.data.vertices])
    assert np.abs(shown[half:] - points[:half] * (-1, 1, 1)).max() < 1e-5
    assert np.abs(shown[:half] - rest[:half]).max() < 1e-6, "the left side is at rest"
    # Mirrored again: nothing new.
    names = [k.name for k in obj.data.shape_keys.key_blocks]
    obj.sinew_tools.driver = "arm_driver_L"
    assert bpy.ops.sinew.driver_mirror() == {"FINISHED"}
    assert [k.name for k in obj.data.shape_keys.key_blocks] == names
    assert np.abs(positions(obj)[half:] - points[:half] * (-1, 1, 1)).max() < 1e-5


def test_mirrored_correctives_keep_seams_closed() -> None:
    obj, armature = arms(0.4, 0.6)
    torn(obj)
    bpy.ops.sinew.rebind()
    select_bones(armature, "arm.L")
    bpy.ops.sinew.driver_add()
    armature.pose.bones["arm.L"].rotation_quaternion = (0.9, 0.2, -0.3, 0.25)
    bpy.context.view_layer.update()
    bpy.ops.sinew.pose_record(pose="up.L")
    bpy.ops.sinew.corrective_sculpt(pose="up.L")
    sculpt = bpy.context.object
    rest = np.array([v.co for v in obj.data.vertices])
    point = at_rest(obj)
    shift = np.random.default_rng(1).normal(0, 0.03, (point.max() + 1, 3))[point] * (rest[:, :1] > 0)
    wanted = np.array([v.co for v in sculpt.data.vertices]) + shift
    sculpt.data.vertices.foreach_set("co", wanted.astype(np.float32).ravel())
    assert bpy.ops.sinew.corrective_apply() == {"FINISHED"}
    assert bpy.ops.sinew.driver_mirror() == {"FINISHED"}
    left, right = (np.array([k.co for k in key.data]) - rest for key in obj.data.shape_keys.key_blocks[1:])
    assert np.linalg.norm(left, axis=1).max() > 0.03
    for i in range(len(rest)):
        other = int(np.argmin(np.linalg.norm(rest - rest[i] * (-1, 1, 1), axis=1)))
        assert np.abs(right[i] - left[other] * (-1, 1, 1)).max() < 1e-5, i


def _cut(obj: bpy.types.Object, sculpt: bpy.types.Object) -> None:
    mesh = bmesh.new()
    mesh.from_mesh(sculpt.data)
    bmesh.ops.delete(mesh, geom=mesh.verts[:3])
    mesh.to_mesh(sculpt.data)
    mesh.free()


MISTAKES = [
    ("not the sculpt", lambda o, s: bpy.data.objects.remove(s) or activate(o), "corrective_apply", "is no sculpt"),
    ("vertices are gone", _cut, "corrective_apply", "vertices and"),
    ("another armature", lambda o, s: s.__setitem__("sinew_matrices", [0.0] * 16), "corrective_apply", "other bones"),
    (
        "the pose was deleted",
        lambda o, s: (bend(o.sinew.armature, 10), activate(o), bpy.ops.sinew.pose_delete(), activate(s)),
        "corrective_apply",
        "no pose 'pose_1'",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m[0])
def test_mistakes_say_what_to_do(mistake: tuple) -> None:
    _, prepare, operator, text = mistake
    obj, _, sculpt = sculpted(["skin"])
    prepare(obj, sculpt)
    with pytest.raises(RuntimeError, match=text):
        getattr(bpy.ops.sinew, operator)()
    assert obj.data.shape_keys is None and not truth(obj)


def test_simulations_are_refused() -> None:
    obj = tube()
    document = nodes_document(["skin"])
    document["nodes"] = {"swing": {"node": "spring_joints", "pose": "pose"}}
    document["stack"] = [{"node": "skin", "pose": "swing"}]
    add(obj, document)
    select_bones(obj.sinew.armature, "upper")
    bpy.ops.sinew.driver_add()
    with pytest.raises(RuntimeError, match="spring_joints"):
        bpy.ops.sinew.corrective_sculpt()


def test_undo_takes_a_corrective_back() -> None:
    obj, armature, sculpt = sculpted(["skin"])
    bend(armature, 90)
    before = positions(obj).copy()
    wanted = bulge(sculpt)
    bpy.ops.ed.undo_push(message="sculpt")
    bpy.ops.sinew.corrective_apply()
    bpy.ops.ed.undo_push(message="apply")
    bend(bpy.data.objects["Rig"], 90)
    assert np.linalg.norm(positions(bpy.data.objects["Tube"]) - wanted, axis=1).max() < 1e-5
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    obj = bpy.data.objects["Tube"]
    obj.hide_set(False)
    bend(bpy.data.objects["Rig"], 90)
    assert obj.data.shape_keys is None and np.allclose(positions(obj), before, atol=1e-6)
    assert nodes.to_document(obj.sinew.tree).get("nodes", {}).get("morph") is None
