# SPDX-License-Identifier: GPL-3.0-or-later
"""Hair: against the same document in `sinew_deform` with strands from arrays, and against the surface that it grows on."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
import sinew_deform as sd
from conftest import activate, add, bend, positions, truth, tube
from mathutils import Vector
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
    player = sd.Player(by_arrays(obj), sd.Graph.from_dict(document), fps=24)
    rigid = [(i, "lower" if v // 16 <= 5 else "upper") for i, v in enumerate(chosen) if v // 16 <= 5 or v // 16 >= 11]
    assert len(rigid) > 10
    furthest, swing = 0.0, 0.0
    for frame in range(1, 31):
        bpy.context.scene.frame_set(frame)
        shown = positions(obj)
        furthest = max(furthest, np.abs(shown[::POINTS] - positions(surface)[chosen]).max())
        roots = live.session(obj).last.matrices[-COUNT:]
        for i, bone in rigid:
            assert np.abs(roots[i] - bone_motion(armature, bone)).max() < 1e-5, "the surface there moves with one bone"
        player.advance_posed(frame, roots, [f"root{i}" for i in range(COUNT)], space="skin")
        world = moved(shown, SCENE_FROM_WORLD @ np.array(obj.matrix_world))
        assert np.abs(world - player["hair"].positions()).max() < 1e-6, frame
        tips = shown.reshape(COUNT, POINTS, 3)
        swing = max(swing, np.abs((tips[:, -1] - tips[:, 0]) - (tips[:, 1] - tips[:, 0]) * (POINTS - 1)).max())
    assert furthest < 1e-5 and swing > 0.05


def bone_motion(armature: bpy.types.Object, bone: str) -> np.ndarray:
    """Of scene space, since rest."""
    posed = armature.pose.bones[bone]
    frame = SCENE_FROM_WORLD @ np.array(armature.matrix_world)
    return frame @ np.array(posed.matrix) @ np.linalg.inv(np.array(posed.bone.matrix_local)) @ np.linalg.inv(frame)


def by_arrays(obj: bpy.types.Object) -> sd.Character:
    """The hair as arrays, with a joint for each strand."""
    joints = [sd.Joint(f"root{i}", None, np.eye(4)) for i in range(COUNT)]
    points = moved(np.array([p.position for p in obj.data.points], np.float32), SCENE_FROM_WORLD @ np.array(obj.matrix_world))
    radius = np.array([p.radius for p in obj.data.points], np.float32)
    made = sd.Strands(
        "Hair",
        points,
        np.full(COUNT, POINTS),
        thickness=2 * radius,
        joint_indices=np.repeat(np.arange(COUNT, dtype=np.uint32), POINTS)[:, None],
        joint_weights=np.ones((COUNT * POINTS, 1), np.float32),
    )
    return sd.Character.from_arrays("hair", [], joints, strands=[made])


def between_vertices(obj: bpy.types.Object, surface: bpy.types.Object) -> np.ndarray:
    """Moves strands so that they grow on faces, and gives the share of the corners of these faces for each root."""
    rng = np.random.default_rng(7)
    shares = np.zeros((COUNT, len(surface.data.vertices)))
    rest = np.array([v.co for v in surface.data.vertices])
    for i in range(COUNT):
        triangle = surface.data.loop_triangles[90 + 14 * i]
        shares[i, list(triangle.vertices)] = rng.dirichlet((2, 2, 2))
        move = shares[i] @ rest - np.array(obj.data.points[i * POINTS].position)
        for k in range(POINTS):
            obj.data.points[i * POINTS + k].position = np.array(obj.data.points[i * POINTS + k].position) + move
    return shares


@pytest.mark.parametrize("moves", ["delta mush", "shape key", "cloth-like modifier", "the object"])
def test_roots_follow_whatever_moves_the_surface(moves: str) -> None:
    surface = tube()
    armature = surface.modifiers["Armature"].object
    surface.data.calc_loop_triangles()
    obj, _ = strands(surface)
    shares = between_vertices(obj, surface)
    if moves == "shape key":
        surface.modifiers.clear()
        surface.shape_key_add(name="Basis")
        key = surface.shape_key_add(name="wide")
        for point in key.data:
            point.co.x *= 2
    elif moves == "cloth-like modifier":
        surface.modifiers.clear()
        wave = surface.modifiers.new("Wave", "WAVE")
        wave.height, wave.width = 0.2, 0.6
    elif moves == "the object":
        surface.modifiers.clear()
        surface.parent = None
        surface.keyframe_insert("location", frame=1)
        surface.location = (1, 2, 3)
        surface.keyframe_insert("location", frame=10)
        surface.rotation_euler = (1, 0, 1)
    else:
        swinging(armature)
        bpy.context.scene.frame_set(1)
        add(surface, "delta_mush")
    bpy.context.scene.frame_set(1)
    activate(obj)
    assert bpy.ops.sinew.hair_from_curves(style="short") == {"FINISHED"}, truth(obj)
    moved_by = 0.0
    start = None
    for frame in range(1, 13):
        if moves == "shape key":
            key.value = frame / 12
        bpy.context.scene.frame_set(frame)
        roots = [np.array(obj.matrix_world @ v) for v in map(Vector, positions(obj)[::POINTS])]
        wanted = [np.array(surface.matrix_world @ v) for v in map(Vector, shares @ positions(surface))]
        assert np.abs(np.array(roots) - wanted).max() < 1e-5, frame
        start = wanted if start is None else start
        moved_by = max(moved_by, np.abs(np.array(wanted) - start).max())
    assert moved_by > 0.05


def test_a_subdivided_surface_moves_hair_by_its_bones() -> None:
    surface = tube()
    armature = surface.modifiers["Armature"].object
    surface.modifiers.new("Subdivision", "SUBSURF")
    obj, chosen = strands(surface)
    activate(obj)
    assert bpy.ops.sinew.hair_from_curves() == {"FINISHED"}
    assert live.session(obj).roots is None
    bend(armature, 70)
    bpy.context.scene.frame_set(5)
    i = next(i for i, v in enumerate(chosen) if v // 16 >= 11)
    frame = np.array(armature.matrix_world)
    bone = armature.pose.bones["upper"]
    motion = frame @ np.array(bone.matrix) @ np.linalg.inv(np.array(bone.bone.matrix_local)) @ np.linalg.inv(frame)
    root = np.array(obj.matrix_world @ obj.data.points[i * POINTS].position)
    assert np.allclose(np.array(obj.matrix_world @ Vector(positions(obj)[i * POINTS])), (motion @ (*root, 1))[:3], atol=1e-5)


def test_strands_keep_their_angle_and_grow_with_the_character() -> None:
    """On a surface that is rotated and scaled as a whole, the rest shape is, too."""
    surface = tube()
    surface.modifiers.clear()
    surface.parent = None
    obj, _ = strands(surface)
    activate(obj)
    document = {
        "sinew": "1.0",
        "inputs": {"hair": {"type": "strands"}, "pose": {"type": "pose"}},
        "nodes": {"s": {"node": "skin", "mesh": "hair", "pose": "pose"}},
    }
    add(obj, {**document, "outputs": {"hair": "s"}})
    rest = np.array([p.position for p in obj.data.points])
    surface.location, surface.rotation_euler, surface.scale = (3, 2, 1), (0.3, 1.0, 2.0), (2, 2, 2)
    bpy.context.view_layer.update()
    assert np.abs(positions(obj) - rest).max() < 1e-5


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


def beside(surface: bpy.types.Object) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Hair on a surface, and a small block far away as its collider."""
    obj, _ = strands(surface)
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(9, 0, 0))
    block = bpy.context.object
    block.name = "block"
    activate(obj)
    block.select_set(True)
    assert bpy.ops.sinew.hair_from_curves() == {"FINISHED"}
    assert not truth(obj)
    return obj, block


def test_apply_as_rest_with_a_mesh_collider() -> None:
    obj, _ = beside(tube())
    for frame in range(1, 40):
        bpy.context.scene.frame_set(frame)
    hung = positions(obj).copy()
    assert bpy.ops.sinew.hair_rest() == {"FINISHED"}
    rest = np.array([p.position for p in obj.data.points])
    assert np.abs(rest - hung).max() < 1e-5 and rest[7, 2] < rest[0, 2] - 0.05


def test_a_collider_added_again_is_updated() -> None:
    obj, block = beside(tube())
    ball = bpy.data.objects.new("ball", None)
    ball.empty_display_type, ball.empty_display_size, ball.location = "SPHERE", 0.5, (9, 1, 0)
    bpy.context.collection.objects.link(ball)
    for margin, x in ((0.01, 9.0), (0.02, 8.0)):
        ball.location.x = x
        bpy.context.view_layer.update()
        activate(obj)
        block.select_set(True)
        ball.select_set(True)
        assert bpy.ops.sinew.hair_colliders(margin=margin, cells=32) == {"FINISHED"}
    nodes = graphs.document(obj)["nodes"]
    assert nodes["sim"]["colliders"] == ["block_field", "ball_field"] and nodes["sim"]["margins"] == [0.02, 0.02]
    assert set(nodes) == {"sim", "block_field", "ball_field"} and nodes["block_field"]["cells"] == 32
    assert np.isclose(nodes["ball_field"]["capsules"][0]["from"][0], 8.0)


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
    add(
        obj,
        {
            "sinew": "1.0",
            "inputs": {"hair": {"type": "strands"}},
            "nodes": {"t": {"node": "transform", "mesh": "hair"}},
            "outputs": {"hair": "t"},
        },
    )
    surface.select_set(True)
    with pytest.raises(RuntimeError, match="without hair_sim"):
        bpy.ops.sinew.hair_from_curves()


def test_says_that_a_surface_is_missing(capfd: pytest.CaptureFixture[str]) -> None:
    obj, _ = strands()
    activate(obj)
    bpy.ops.sinew.hair_from_curves()
    assert "has no surface" in capfd.readouterr().out
