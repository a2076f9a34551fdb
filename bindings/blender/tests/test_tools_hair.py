# SPDX-License-Identifier: GPL-3.0-or-later
"""Hair: against the same document in `sinew_deform` with strands from arrays, and against the surface that it grows on."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
import sinew_deform as sd
from conftest import activate, add, bend, positions, truth, tube
from sinew import live
from sinew.space import SCENE_FROM_WORLD, moved
from sinew.tools import graphs, hair

COUNT, POINTS, LENGTH = 20, 8, 0.4


def strands(surface: bpy.types.Object | None = None) -> tuple[bpy.types.Object, list[int]]:
    """Hair curves that stick out of vertices of the tube, and these vertices."""
    data = bpy.data.hair_curves.new("Hair")
    data.add_curves([POINTS] * COUNT)
    tube_mesh = surface.data if surface else None
    chosen = [40 + 11 * i for i in range(COUNT)]
    for i, vertex in enumerate(chosen):
        root = np.array(tube_mesh.vertices[vertex].co if tube_mesh else (0.1 * i, 0, 1))
        out = root * (1, 1, 0) / max(np.linalg.norm(root[:2]), 1e-6)
        for k in range(POINTS):
            data.points[i * POINTS + k].position = root + out * LENGTH * k / (POINTS - 1)
            data.points[i * POINTS + k].radius = 0.001 + 0.0001 * k
    obj = bpy.data.objects.new("Hair", data)
    bpy.context.collection.objects.link(obj)
    data.surface = surface
    if surface is not None:
        obj.parent = surface
    bpy.context.view_layer.update()
    return obj, chosen


def swinging(armature: bpy.types.Object, frames: int = 30) -> None:
    """Keys of the upper bone."""
    bone = armature.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0), (10, 60), (20, -40), (frames, 20)):
        bone.rotation_euler.x = np.radians(angle)
        bone.keyframe_insert("rotation_euler", frame=frame)


@pytest.mark.parametrize("bound_surface", [False, True], ids=["armature modifier", "surface with Sinew"])
def test_roots_stay_on_the_surface_and_strands_equal_the_package(bound_surface: bool) -> None:
    surface = tube()
    armature = surface.modifiers["Armature"].object
    swinging(armature)
    bpy.context.scene.frame_set(1)
    if bound_surface:
        add(surface)
    obj, chosen = strands(surface)
    activate(obj)
    assert bpy.ops.sinew.hair_from_curves(style="long_straight") == {"FINISHED"}
    assert not truth(obj)
    document = {
        "sinew": "1.0",
        "inputs": {"hair": {"type": "strands"}, "pose": {"type": "pose"}},
        "nodes": {"sim": {"node": "hair_sim", "preset": "long_straight", "strands": "hair", "pose": "pose"}},
        "outputs": {"hair": "sim"},
    }
    player = sd.Player(by_arrays(surface, armature, obj, chosen), sd.Graph.from_dict(document), fps=24)
    furthest, swing = 0.0, 0.0
    for frame in range(1, 31):
        bpy.context.scene.frame_set(frame)
        shown = positions(obj)
        on_surface = positions(surface)[chosen]
        furthest = max(furthest, np.abs(shown[::POINTS] - on_surface).max())
        player.advance_posed(frame, scene_pose(armature), ["lower", "upper"], space="scene")
        wanted = player["hair"].positions()
        world = moved(shown, SCENE_FROM_WORLD @ np.array(obj.matrix_world))
        assert np.abs(world - wanted).max() < 2e-5, frame
        swing = max(swing, np.abs(np.diff(shown.reshape(COUNT, POINTS, 3), axis=1)[:, -1] - np.diff(shown.reshape(COUNT, POINTS, 3), axis=1)[:, 0]).max())
    assert furthest < 1e-5 and swing > 0.01


def scene_pose(armature: bpy.types.Object) -> np.ndarray:
    return np.array([SCENE_FROM_WORLD @ np.array(armature.matrix_world) @ np.array(armature.pose.bones[b].matrix) for b in ("lower", "upper")])


def by_arrays(surface: bpy.types.Object, armature: bpy.types.Object, obj: bpy.types.Object, chosen: list[int]) -> sd.Character:
    """The hair as arrays, with the weights that the tube's vertices were given."""
    rest = [SCENE_FROM_WORLD @ np.array(armature.matrix_world) @ np.array(b.matrix_local) for b in armature.data.bones]
    joints = [sd.Joint("lower", None, rest[0]), sd.Joint("upper", 0, np.linalg.inv(rest[0]) @ rest[1])]
    heights = np.array([surface.data.vertices[v].co.z for v in chosen])
    upper = np.repeat(np.clip((heights / 2.0 - 0.4) / 0.2, 0, 1), POINTS)
    points = moved(np.array([p.position for p in obj.data.points], np.float32), SCENE_FROM_WORLD @ np.array(obj.matrix_world))
    radius = np.array([p.radius for p in obj.data.points], np.float32)
    made = sd.Strands(
        "Hair",
        points,
        np.full(COUNT, POINTS),
        thickness=2 * radius,
        joint_indices=np.tile(np.array([0, 1], np.uint32), (len(points), 1)),
        joint_weights=np.stack([1 - upper, upper], axis=1).astype(np.float32),
    )
    return sd.Character.from_arrays("hair", [], joints, strands=[made])


def test_radius_and_curves_stay() -> None:
    surface = tube()
    obj, _ = strands(surface)
    activate(obj)
    bpy.ops.sinew.hair_from_curves()
    for frame in (1, 2, 3):
        bpy.context.scene.frame_set(frame)
    data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert len(data.curves) == COUNT and [c.points_length for c in data.curves] == [POINTS] * COUNT
    assert np.allclose([p.radius for p in data.points], [p.radius for p in obj.data.points])
    assert np.abs(positions(obj) - live.session(obj).local).max() == 0.0


def test_hair_stays_out_of_a_moving_mesh_and_of_balls() -> None:
    obj, _ = strands()
    bpy.ops.mesh.primitive_cube_add(size=2, location=(1, 0, -0.6))
    block = bpy.context.object
    block.scale = (2, 1, 0.5)
    block.name = "Block"
    ball = bpy.data.objects.new("Ball", None)
    ball.empty_display_type, ball.empty_display_size = "SPHERE", 0.5
    ball.location, ball.scale = (0.5, 0.2, 0.55), (0.4, 0.4, 0.4)
    bpy.context.collection.objects.link(ball)
    bpy.context.view_layer.update()
    activate(obj)
    block.select_set(True)
    ball.select_set(True)
    assert bpy.ops.sinew.hair_from_curves(margin=0.005) == {"FINISHED"}, truth(obj)
    given = graphs.document(obj)
    assert given["nodes"]["sim"]["margins"] == [0.005, 0.005] and len(given["nodes"]["sim"]["colliders"]) == 2
    centre, inside_ball, inside_block = np.array(ball.location), [], []
    for frame in range(1, 61):
        block.location.z = -0.6 + 0.012 * frame
        bpy.context.scene.frame_set(frame)
        shown = positions(obj).reshape(COUNT, POINTS, 3)[:, 2:]
        inside_ball.append(0.2 - np.linalg.norm(shown - centre, axis=2).min())
        top = block.location.z + 0.5
        over = (np.abs(shown[..., 0] - 1) < 1.9) & (np.abs(shown[..., 1]) < 0.9)
        inside_block.append((top - shown[..., 2])[over].max())
    assert inside_block[0] < 0 < block.location.z + 0.5 - 0.5, "the block rises into the hair"
    assert max(inside_ball) < 0.002
    # The field of a box is off by up to 0.6 cells at its edges; here it is flat.
    assert max(inside_block) < 0.005


def test_a_ball_on_a_bone_follows_it() -> None:
    surface = tube()
    armature = surface.modifiers["Armature"].object
    obj, _ = strands(surface)
    ball = bpy.data.objects.new("Ball", None)
    ball.empty_display_type, ball.empty_display_size = "SPHERE", 0.1
    bpy.context.collection.objects.link(ball)
    ball.parent, ball.parent_type, ball.parent_bone = armature, "BONE", "upper"
    ball.location = (0.2, -0.3, 0.1)
    ball.scale = (1, 3, 1)
    bend(armature, 50)
    activate(obj)
    ball.select_set(True)
    assert bpy.ops.sinew.hair_from_curves() == {"FINISHED"}
    given = graphs.document(obj)
    keys = next(k for k in given["nodes"].values() if k["node"] == "solids")
    assert keys["follow"] == "upper" and np.isclose(keys["capsules"][0]["radius"], 0.1, atol=1e-6)
    bend(armature, 0)
    bpy.context.view_layer.update()
    world = np.array(ball.matrix_world)
    ends = [SCENE_FROM_WORLD @ world @ (0, sign * 2 / 3 * 0.1, 0, 1) for sign in (-1, 1)]
    assert np.allclose([keys["capsules"][0]["from"], keys["capsules"][0]["to"]], np.array(ends)[:, :3], atol=1e-5)


def test_apply_as_rest() -> None:
    surface = tube()
    armature = surface.modifiers["Armature"].object
    obj, chosen = strands(surface)
    activate(obj)
    bpy.ops.sinew.hair_from_curves(style="long_straight")
    for frame in range(1, 40):
        bpy.context.scene.frame_set(frame)
    hung = positions(obj).copy()
    bend(armature, 0)
    assert bpy.ops.sinew.hair_rest() == {"FINISHED"}
    rest = np.array([p.position for p in obj.data.points])
    assert np.abs(rest - hung).max() < 1e-5 and rest[7, 2] < rest[0, 2] - 0.05
    # In a bent pose, the shape goes back with the bone.
    bend(armature, 40)
    before = live.session(obj).local.copy()
    assert bpy.ops.sinew.hair_rest() == {"FINISHED"}
    rest = np.array([p.position for p in obj.data.points])
    last = rest.reshape(COUNT, POINTS, 3)[-1]
    bone = armature.pose.bones["upper"]
    motion = np.array(bone.matrix) @ np.linalg.inv(np.array(bone.bone.matrix_local))
    assert np.allclose(moved(last.astype(np.float32), motion), before.reshape(COUNT, POINTS, 3)[-1], atol=1e-4)
    assert np.allclose(rest[::POINTS], [surface.data.vertices[v].co for v in chosen], atol=1e-6)


@pytest.mark.parametrize("style", [s[0] for s in hair.STYLES])
def test_styles_are_presets_of_the_node(style: str) -> None:
    presets = {p["name"] for p in graphs.kinds()["hair_sim"]["presets"]}
    assert style in presets and len(hair.STYLES) == len(presets)
    obj, _ = strands()
    activate(obj)
    assert bpy.ops.sinew.hair_from_curves(style=style) == {"FINISHED"}
    assert graphs.document(obj)["nodes"]["sim"]["preset"] == style


def test_mistakes_say_what_to_do() -> None:
    surface = tube()
    with pytest.raises(RuntimeError, match="is a mesh. Select hair curves"):
        bpy.ops.sinew.hair_from_curves()
    bpy.ops.curve.primitive_bezier_curve_add()
    with pytest.raises(RuntimeError, match="curve of the older type"):
        bpy.ops.sinew.hair_from_curves()
    obj, _ = strands()
    activate(obj)
    with pytest.raises(RuntimeError, match="has no Sinew graph"):
        bpy.ops.sinew.hair_rest()
    with pytest.raises(RuntimeError, match="Only 'Hair' is selected"):
        bpy.ops.sinew.hair_colliders()
    light = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.collection.objects.link(light)
    light.select_set(True)
    with pytest.raises(RuntimeError, match="'Lamp' is a light"):
        bpy.ops.sinew.hair_from_curves()
    assert obj.sinew.tree is None and not obj.modifiers
    light.select_set(False)
    add(obj, {"sinew": "1.0", "inputs": {"hair": {"type": "strands"}}, "nodes": {"t": {"node": "transform", "mesh": "hair"}}, "outputs": {"hair": "t"}})
    surface.select_set(True)
    with pytest.raises(RuntimeError, match="without hair_sim"):
        bpy.ops.sinew.hair_from_curves()


def test_says_that_a_surface_is_missing(capfd: pytest.CaptureFixture[str]) -> None:
    obj, _ = strands()
    activate(obj)
    bpy.ops.sinew.hair_from_curves()
    assert "has no surface" in capfd.readouterr().out
