# SPDX-License-Identifier: GPL-3.0-or-later
"""Live deformation against Blender's own armature modifier and against `sinew run`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import bpy
import numpy as np
import pytest
import sinew_deform as sd
from conftest import (
    activate,
    add,
    bend,
    box,
    deformed_by_armature,
    import_glb,
    nodes_of,
    positions,
    shared,
    skip,
    truth,
    tube,
    two_bones,
)
from sinew import live, modifier

CHARACTERS = ["characters/fox.glb", "characters/kaykit_knight.glb", "characters/mh_male_ge53.glb"]
FRAMES = (0, 1, 7, 13, 20)


def blender_frames(obj: bpy.types.Object, frames: tuple[int, ...] = FRAMES) -> dict[int, np.ndarray]:
    """What Blender itself shows at each frame."""
    out = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        out[frame] = positions(obj).copy()
    return out


def run(path: str, graph: dict, frames: tuple[int, ...], folder: Path, clip: str) -> dict[int, np.ndarray]:
    """Frames of `sinew run`, scene space."""
    (folder / "graph.json").write_text(json.dumps(graph), encoding="utf-8")
    fps = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    arguments = [path, "--graph", str(folder / "graph.json"), "--frames", ",".join(map(str, frames)), "--fps", str(fps)]
    arguments += ["--clip", clip, "-o", str(folder / "out.npz")]
    program = os.environ.get("SINEW")
    if program:
        subprocess.run([program, "run", *arguments, "-q"], check=True)
    else:
        sd.run(path, str(folder / "graph.json"), output=str(folder / "out.npz"), frames=list(frames), fps=fps, clip=clip)
    with np.load(folder / "out.npz") as arrays:
        stored = arrays[next(name for name in arrays.files if name.endswith("positions"))]
    return dict(zip(frames, stored))


def world(obj: bpy.types.Object, points: np.ndarray) -> np.ndarray:
    """Scene space (Y up) of points of an object."""
    matrix = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    p = points @ matrix[:3, :3].T + matrix[:3, 3]
    return np.stack([p[:, 0], p[:, 2], -p[:, 1]], axis=1)


@pytest.mark.parametrize("name", CHARACTERS)
def test_linear_skinning_is_that_of_the_armature_modifier(name: str) -> None:
    obj = import_glb(shared(name))
    expected = blender_frames(obj)
    add(obj, "skin")
    for frame, points in blender_frames(obj).items():
        assert truth(obj) == ""
        assert np.abs(points - expected[frame]).max() < 1e-6 * box(expected[frame]), frame
    moved = np.abs(expected[FRAMES[-1]] - expected[FRAMES[0]]).max()
    assert moved > 0.01 * box(expected[0]), "the clip must move"


@pytest.mark.parametrize("name", CHARACTERS)
def test_frames_equal_sinew_run(name: str, tmp_path: Path) -> None:
    """Skin, delta mush and frames. Between keys, Blender's pose differs from that of the file by rounding: what its own armature modifier
    is off by is allowed on top. With the pose of Blender, the package gives the same from the file."""
    path = shared(name)
    obj = import_glb(path)
    by_blender = {frame: world(obj, points) for frame, points in blender_frames(obj).items()}
    mesh = next(m for m in sd.load(path).meshes if m.vertex_count == len(obj.data.vertices))
    inputs = {"body": {"type": "mesh", "select": mesh.name}, "pose": {"type": "pose"}}
    action = obj.find_armature().animation_data.action.name
    clip = next(c.name for c in sd.load(path).clips if action.startswith(c.name))
    linear = run(path, {**nodes_of("skin"), "inputs": inputs}, FRAMES, tmp_path, clip)
    graph = nodes_of("morph", "skin", sd.nodes.delta_mush(iterations=10), sd.nodes.tangent_frames())
    expected = run(path, {**graph, "inputs": inputs}, FRAMES, tmp_path, clip)
    of_file = sd.Player(path, sd.Graph.from_dict({**graph, "inputs": inputs}), clip=clip)
    add(obj, graph)
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found = world(obj, positions(obj))
        assert truth(obj) == ""
        size = box(expected[frame])
        own = np.abs(by_blender[frame] - linear[frame]).max()
        assert own < 1e-5 * size
        assert np.abs(found - expected[frame]).max() < 1e-6 * size + own, frame
        bound = live.session(obj)
        of_file.advance_posed(frame, bound.last.matrices[:-1], bound.bones.names, space="skin")
        assert np.abs(found - of_file["body"].positions()).max() < 1e-6 * size, frame


def test_a_face_with_shape_keys_equals_sinew_run(tmp_path: Path) -> None:
    """Shape keys come before the graph, their values from Blender."""
    path = str(next(iter(sorted(Path(shared("morph")).glob("*.glb")))))
    bpy.ops.import_scene.gltf(filepath=path)
    obj = activate(max((o for o in bpy.data.objects if o.type == "MESH"), key=lambda o: len(o.data.vertices)))
    keys = obj.data.shape_keys.key_blocks
    for i, value in ((1, 0.7), (len(keys) - 1, 0.4)):
        keys[i].value = value
    expected = positions(obj).copy()
    assert np.abs(expected - rest(obj)).max() > 0.0
    add(obj, nodes_of("morph", sd.nodes.smooth(iterations=3)))
    bpy.context.view_layer.update()
    assert truth(obj) == ""
    # The same by the package: the sum of the shape keys, smoothed.
    mesh = sd.Mesh("m", expected, faces=[list(p.vertices) for p in obj.data.polygons])
    base = sd.Mesh("m", rest(obj), faces=[list(p.vertices) for p in obj.data.polygons])
    player = sd.Player(sd.Character.from_arrays("m", [base]), sd.Graph.from_nodes(sd.nodes.smooth(iterations=3)))
    player.set_positions("body", mesh.positions)
    player.advance(0)
    assert np.abs(positions(obj) - player["body"].positions()).max() < 1e-6 * box(expected)


def rest(obj: bpy.types.Object) -> np.ndarray:
    flat = np.empty(len(obj.data.vertices) * 3, np.float32)
    obj.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def test_objects_and_armatures_that_move_scale_and_stand_apart() -> None:
    """Any place of object and armature gives what the armature modifier gives."""
    obj = tube()
    rig = obj.modifiers["Armature"].object
    obj.parent = None
    rig.scale = (0.5, 0.5, 0.5)
    rig.location, rig.rotation_euler = (1, 2, 3), (0.3, 0.2, 0.1)
    obj.location, obj.scale = (0.2, -0.1, 0.4), (0.9, 1.1, 1.2)
    bend(rig, 60)
    before = positions(obj).copy()
    add(obj, "skin")
    assert np.abs(positions(obj) - before).max() < 1e-6 * 2
    # Both move against each other after binding.
    rig.location, obj.rotation_euler = (1.5, 2, 2.5), (0, 0.4, 0)
    bend(rig, 80)
    found = positions(obj).copy()
    own = modifier.find(obj)
    own.show_viewport, obj.modifiers["Armature"].show_viewport = False, True
    bpy.context.view_layer.update()
    assert np.abs(found - positions(obj)).max() < 1e-6 * 2


def test_vertices_without_weights_move_with_the_object() -> None:
    obj = tube()
    obj.vertex_groups["lower"].remove(list(range(16)))
    rig = obj.modifiers["Armature"].object
    rig.location = (0, 0, 1)
    bend(rig, 50)
    expected = positions(obj).copy()
    add(obj, "skin")
    rig.location = (0, 2, 1)
    bpy.context.view_layer.update()
    assert np.abs(positions(obj) - expected).max() < 1e-6 * 2


def test_dragging_a_bone_evaluates_once(monkeypatch: pytest.MonkeyPatch) -> None:
    obj = tube()
    add(obj, "skin")
    rig = obj.sinew.armature
    writes = []
    original = modifier.write
    monkeypatch.setattr(modifier, "write", lambda *a: (writes.append(1), original(*a)))
    for step in range(1, 6):
        bend(rig, step * 10)
        bpy.context.view_layer.update()
    assert len(writes) == 5


def test_mix_and_on_off() -> None:
    obj = tube()
    rig = obj.modifiers["Armature"].object
    bend(rig, 70)
    flat = rest(obj)
    add(obj, "skin")
    bent = positions(obj).copy()
    own = modifier.find(obj)
    own[modifier.identifier(own, modifier.MIX)] = 0.5
    obj.update_tag()
    assert np.abs(positions(obj) - (flat + bent) / 2).max() < 1e-6
    own.show_viewport = False
    bpy.context.view_layer.update()
    assert np.array_equal(positions(obj), flat)
    own.show_viewport = True
    bend(rig, 20)
    assert np.abs(positions(obj) - bent).max() > 0.1
    assert np.array_equal(rest(obj), flat), "the mesh itself is never written"


def test_shape_keys_drivers_and_modifiers_in_front() -> None:
    """A key with a driver and a lattice come before Sinew, as they come before the armature modifier."""
    obj = tube()
    rig = obj.modifiers["Armature"].object
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Fat")
    for i, v in enumerate(obj.data.vertices):
        key.data[i].co = (v.co.x * 1.5, v.co.y * 1.5, v.co.z)
    driver = key.driver_add("value").driver
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = rig, "upper"
    variable.targets[0].transform_type, variable.targets[0].transform_space = "ROT_X", "LOCAL_SPACE"
    lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    bpy.context.collection.objects.link(lattice)
    lattice.scale = (2, 2, 4)
    lattice.data.points[0].co_deform.x -= 0.7
    first = obj.modifiers.new("Lattice", "LATTICE")
    first.object = lattice
    obj.modifiers.move(1, 0)
    expected = {}
    for degrees in (10, 45):
        bend(rig, degrees)
        expected[degrees] = positions(obj).copy()
    add(obj, "skin")
    assert [m.type for m in obj.modifiers] == ["LATTICE", "NODES", "ARMATURE"]
    for degrees in (45, 10):
        bend(rig, degrees)
        bpy.context.view_layer.update()
        assert np.abs(positions(obj) - expected[degrees]).max() < 2e-6, degrees
    # A modifier behind that adds vertices.
    obj.modifiers.new("Subdivision", "SUBSURF")
    bend(rig, 45)
    bpy.context.view_layer.update()
    bound = live.session(obj)
    assert np.abs(bound.local - expected[45]).max() < 2e-6
    assert len(positions(obj)) > len(expected[45])


def test_times_between_frames() -> None:
    obj = tube()
    rig = obj.modifiers["Armature"].object
    for frame, degrees in ((1, 0), (11, 90)):
        bend(rig, degrees)
        rig.pose.bones["upper"].keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(4, subframe=0.5)
    expected = positions(obj).copy()
    add(obj, "skin")
    bpy.context.scene.frame_set(9)
    bpy.context.scene.frame_set(4, subframe=0.5)
    assert np.abs(positions(obj) - expected).max() < 1e-6


def test_several_objects_several_armatures_and_copies() -> None:
    first, second = tube(), tube()
    graph = add(first, "skin")
    activate(second)
    bpy.ops.sinew.add(preset=f"tree:{graph.name}")
    assert second.sinew.tree == graph
    copy = first.copy()  # The mesh has two users now.
    bpy.context.collection.objects.link(copy)
    other_rig = two_bones()
    copy.sinew.armature = other_rig
    for rig, degrees in ((first.sinew.armature, 20), (second.sinew.armature, 50), (other_rig, 80)):
        bend(rig, degrees)
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    for obj in (first, second, copy):
        found = positions(obj).copy()
        own = obj.modifiers["Armature"]
        own.object = obj.sinew.armature
        own.show_viewport, modifier.find(obj).show_viewport = True, False
        bpy.context.view_layer.update()
        assert np.abs(found - positions(obj)).max() < 1e-6, obj.name


def test_undo_and_redo() -> None:
    obj = tube()
    rig_name = obj.modifiers["Armature"].object.name
    add(obj, "delta_mush")
    bend(obj.sinew.armature, 40)
    name = obj.name
    bpy.ops.ed.undo_push(message="bent by 40")
    at_40 = positions(obj).copy()
    bend(obj.sinew.armature, 90)
    bpy.ops.ed.undo_push(message="bent by 90")
    at_90 = positions(obj).copy()
    assert np.abs(at_90 - at_40).max() > 0.1
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    assert np.array_equal(positions(bpy.data.objects[name]), at_40)
    bpy.ops.ed.redo()
    bpy.context.view_layer.update()
    assert np.array_equal(positions(bpy.data.objects[name]), at_90)
    bend(bpy.data.objects[rig_name], 40)
    assert np.allclose(positions(bpy.data.objects[name]), at_40, atol=1e-6)


def test_a_mesh_that_is_edited_is_bound_again() -> None:
    obj = tube()
    add(obj, "skin")
    bend(obj.sinew.armature, 60)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    found = positions(obj).copy()
    assert truth(obj) == "" and len(found) == len(obj.data.vertices)
    own = modifier.find(obj)
    own.show_viewport, obj.modifiers["Armature"].show_viewport = False, True
    bpy.context.view_layer.update()
    assert np.abs(found - positions(obj)).max() < 1e-6


def test_weights_that_are_painted_are_bound_again() -> None:
    obj = tube()
    add(obj, "skin")
    bend(obj.sinew.armature, 60)
    obj.vertex_groups["upper"].add(list(range(len(obj.data.vertices))), 1.0, "REPLACE")
    obj.vertex_groups["lower"].remove(list(range(len(obj.data.vertices))))
    obj.data.update()
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    found = positions(obj).copy()
    own = modifier.find(obj)
    own.show_viewport, obj.modifiers["Armature"].show_viewport = False, True
    bpy.context.view_layer.update()
    assert np.abs(found - positions(obj)).max() < 1e-6


def test_a_simulation_follows_playback_and_starts_again_at_a_jump() -> None:
    """Spring joints: played in Blender as in the package."""
    obj = tube()
    rig = obj.modifiers["Armature"].object
    for frame, degrees in ((1, 0), (6, 90)):
        bend(rig, degrees)
        rig.pose.bones["upper"].keyframe_insert("rotation_euler", frame=frame)
    graph = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
        "nodes": {
            "lag": {"node": "spring_joints", "pose": "pose", "joints": ["upper"]},
            "skin": {"node": "skin", "mesh": "body", "pose": "lag"},
        },
        "outputs": {"body": "skin"},
    }
    scene = bpy.context.scene
    scene.frame_set(1)
    add(obj, graph)
    scene.frame_set(0)
    scene.frame_set(1)
    bound = live.session(obj)
    assert bound.simulates
    player = sd.Player(bound.character, bound.graph, fps=24)
    player.advance_posed(0, bound.last.matrices, bound.bones.joints, space="skin")
    player.restart()
    for frame in range(1, 15):
        scene.frame_set(frame)
        player.advance_posed(frame, bound.last.matrices, bound.bones.joints, space="skin")
        if frame > 1:
            assert np.abs(bound.scene - player["body"].positions()).max() < 1e-6, frame
    played = bound.scene.copy()
    # The same frame again, as when a slider moves: the simulation does not go on.
    bound.last.values["none"] = 0.0
    bpy.context.view_layer.update()
    rig.update_tag()
    bpy.context.view_layer.update()
    assert np.array_equal(bound.scene, played)
    scene.frame_set(3)
    assert np.abs(bound.scene - played).max() > 0.01


def kind_node(tree: bpy.types.NodeTree, kind: str) -> bpy.types.Node:
    """The node of a kind."""
    return next(n for n in tree.nodes if n.bl_idname.endswith(kind))


def test_a_slider_needs_no_new_setup() -> None:
    obj = tube()
    tree = add(obj, nodes_of("skin", {"node": "delta_mush", "name": "mush", "iterations": 20}))
    bend(obj.sinew.armature, 80)
    full = positions(obj).copy()
    bound = live.session(obj)
    node = kind_node(tree, "delta_mush")
    node.p_weight = 0.0
    bpy.context.view_layer.update()
    assert live.session(obj) is bound
    linear = positions(obj).copy()
    node.p_weight = 0.5
    bpy.context.view_layer.update()
    assert live.session(obj) is bound
    assert np.abs(full - linear).max() > 0.005
    assert np.abs(positions(obj) - (full + linear) / 2).max() < 1e-6
    node.p_iterations = 5
    bpy.context.view_layer.update()
    assert live.session(obj) is not bound, "a setup parameter binds again"
    assert truth(obj) == ""


def test_keyframes_on_a_parameter(tmp_path: Path) -> None:
    """In the viewport and in renders; the document gets them as keys."""
    obj = tube()
    tree = add(obj, nodes_of("skin", {"node": "delta_mush", "iterations": 20}))
    bend(obj.sinew.armature, 80)
    node = kind_node(tree, "delta_mush")
    for frame, weight in ((0, 0.0), (10, 1.0)):
        node.p_weight = weight
        node.keyframe_insert("p_weight", frame=frame)
    action = tree.animation_data.action
    curves = action.fcurves if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0].fcurves
    for point in curves[0].keyframe_points:
        point.interpolation = "LINEAR"
    shown = blender_frames(obj, (0, 5, 10))
    assert np.abs(shown[10] - shown[0]).max() > 0.005
    assert np.abs(shown[5] - (shown[0] + shown[10]) / 2).max() < 1e-6
    in_render = []

    def look(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        if depsgraph.mode == "RENDER":
            in_render.append(live.session(obj).local.copy())

    bpy.app.handlers.frame_change_post.append(look)
    scene = bpy.context.scene
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath, scene.frame_start, scene.frame_end = str(tmp_path) + "/", 5, 5
    scene.frame_set(0)
    bpy.ops.render.render(animation=True)
    bpy.app.handlers.frame_change_post.remove(look)
    assert any(np.array_equal(points, shown[5]) for points in in_render)


def test_a_custom_property_drives_a_values_input() -> None:
    """A driver brings the property to the input node; the graph makes a translation of it."""
    obj = activate(cube("Box"))
    obj["lift"] = 0.0
    graph = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "numbers": {"type": "values", "count": 2}},
        "nodes": {"high": {"node": "squash_stretch", "mesh": "body", "fit": "mesh", "axis": "y", "stretch": {"link": "numbers", "index": 1}}},
        "outputs": {"body": "high"},
    }
    tree = add(obj, graph)
    node = next(n for n in tree.nodes if getattr(n, "key", "") == "numbers")
    driver = node.driver_add("numbers", 1).driver
    driver.type = "SCRIPTED"
    variable = driver.variables.new()
    variable.name, variable.targets[0].id, variable.targets[0].data_path = "lift", obj, '["lift"]'
    driver.expression = "1 + lift"
    for lift in (0.0, 0.5):
        obj["lift"] = lift
        obj.update_tag()
        bpy.context.view_layer.update()
        bpy.context.view_layer.update()
        assert truth(obj) == ""
        height = np.ptp(positions(obj)[:, 2])
        assert abs(height - 2 * (1 + lift)) < 1e-4, lift


def test_the_gpu_gives_the_same() -> None:
    if not sd.adapters():
        skip("no GPU adapter")
    obj = tube()
    add(obj, "delta_mush")
    bend(obj.sinew.armature, 70)
    on_cpu = positions(obj).copy()
    obj.sinew.device = "gpu"
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    assert truth(obj) == "" and live.session(obj).player.device == "gpu"
    assert np.abs(positions(obj) - on_cpu).max() < 1e-5


def test_undo_of_adding() -> None:
    obj = tube()
    bend(obj.modifiers["Armature"].object, 40)
    before, name = positions(obj).copy(), obj.name
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.sinew.add(preset="preset:delta_mush")
    bpy.ops.ed.undo_push(message="added")
    after = positions(obj).copy()
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    obj = bpy.data.objects[name]
    assert [m.type for m in obj.modifiers] == ["ARMATURE"] and np.array_equal(positions(obj), before)
    bpy.ops.ed.redo()
    bpy.context.view_layer.update()
    assert np.array_equal(positions(bpy.data.objects[name]), after)


def test_objects_that_are_deleted_are_forgotten() -> None:
    first, second = tube(), tube()
    add(first, "skin")
    add(second, "skin")
    assert len(live.STATE.sessions) == 2
    bpy.data.objects.remove(first)
    bpy.context.view_layer.update()
    bend(second.sinew.armature, 30)
    assert list(live.STATE.sessions) == [second.session_uid]


def cube(name: str, size: float = 1.0) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    verts = [(x * size, y * size, z * size) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(verts, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    return obj


def test_an_object_without_an_armature_keeps_its_deformation_when_it_moves() -> None:
    obj = activate(cube("Box"))
    add(obj, nodes_of({"node": "transform", "transform": {"translation": [0, 1, 0]}}))
    expected = rest(obj) + [0, 0, 1]
    assert np.abs(positions(obj) - expected).max() < 1e-6
    obj.location, obj.rotation_euler = (5, 4, 3), (0, 1, 0)
    bpy.context.view_layer.update()
    assert np.abs(positions(obj) - expected).max() < 1e-6


def test_another_object_moves_this_one() -> None:
    """`wrap` follows a cage that Blender animates."""
    cage, obj = cube("Cage", 1.2), cube("Box")
    graph = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "cage": {"type": "mesh", "select": "Cage"}},
        "nodes": {"follow": {"node": "wrap", "mesh": "body", "driver": "cage"}},
        "outputs": {"body": "follow"},
    }
    add(obj, graph)
    assert truth(obj) == ""
    cage.location = (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    assert np.abs(positions(obj) - (rest(obj) + [0.3, 0.2, 0.1])).max() < 1e-5


def render(folder: Path) -> list[np.ndarray]:
    """Three frames by Cycles."""
    scene = bpy.context.scene
    scene.render.filepath = str(folder) + "/"
    bpy.ops.render.render(animation=True)
    out = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        image = bpy.data.images.load(str(folder / f"{frame:04}.png"))
        out.append(np.array(image.pixels[:]))
    return out


def test_a_render_shows_each_frame_as_it_is(tmp_path: Path) -> None:
    """Cycles renders the same pictures with Sinew's linear skin as with Blender's armature modifier, behind a subdivision."""
    obj = tube()
    rig = obj.modifiers["Armature"].object
    obj.modifiers.new("Subdivision", "SUBSURF")
    for frame, degrees in ((1, 0), (5, 100)):
        bend(rig, degrees)
        rig.pose.bones["upper"].keyframe_insert("rotation_euler", frame=frame)
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (6, 0, 1), (np.pi / 2, 0, np.pi / 2)
    light = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    light.rotation_euler = (0.3, 0.9, 0)
    for thing in (camera, light):
        scene.collection.objects.link(thing)
    scene.camera, scene.frame_start, scene.frame_end = camera, 2, 4
    scene.render.engine, scene.cycles.samples, scene.cycles.seed = "CYCLES", 4, 1
    scene.render.resolution_x = scene.render.resolution_y = 48
    scene.render.image_settings.file_format = "PNG"
    expected = render(tmp_path / "armature")
    add(obj, "skin")
    # The viewport stands elsewhere: what it shows must not be in the pictures.
    scene.frame_set(1)
    found = render(tmp_path / "sinew")
    assert np.abs(expected[0] - expected[2]).mean() > 0.01
    for a, b in zip(expected, found):
        assert np.abs(a - b).max() < 0.02
    assert scene.frame_current == 1
    assert np.abs(positions(obj)[: len(rest(obj))] - live.session(obj).local).max() < 0.2


def test_undo_of_an_edit_of_the_mesh() -> None:
    """Undo brings another mesh: the binding must be that of the mesh that is shown."""
    obj = tube()
    add(obj, "skin")
    bend(obj.sinew.armature, 60)
    name = obj.name
    bpy.ops.ed.undo_push(message="plain")
    plain = positions(obj).copy()
    for vertex in obj.data.vertices:
        vertex.co.x *= 2.0
    obj.data.update()
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="wide")
    wide = positions(obj).copy()
    assert np.abs(wide - plain).max() > 0.1
    for step, expected in ((bpy.ops.ed.undo, plain), (bpy.ops.ed.redo, wide)):
        step()
        bpy.context.view_layer.update()
        bend(bpy.data.objects[name].sinew.armature, 61)
        bend(bpy.data.objects[name].sinew.armature, 60)
        assert np.abs(positions(bpy.data.objects[name]) - expected).max() < 1e-6
