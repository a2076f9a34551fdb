# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports, against players of the package on the same files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import bpy
import numpy as np
import pytest
import sinew_deform as sd
from conftest import box, shared
from mathutils import Euler
from scene_rig import FIRST, LAST, activate, evaluated, fresh, rig, tube, world

from sinew import live, nodes, operators
from sinew.into import merge
from sinew.space import SCENE_FROM_WORLD

FPS = 24


@pytest.fixture(autouse=True)
def _file():
    fresh()
    bpy.context.scene.render.fps = FPS


def driven(axis: str = "x") -> dict:
    """Drivers that depend on the axes of joints: swing and twist about an axis, a follower, a pose relative to the parent."""
    vector = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}[axis]
    follower = {"joint": "hand", "source": "forearm", "axis": axis, "twist": 0.5, "swing": 0.1}
    return {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
        "nodes": {
            "elbow": {
                "node": "pose_driver",
                "pose": "pose",
                "joints": ["forearm"],
                "metric": "swing_chord",
                "axis": vector,
                "poses": [{"name": "straight", "joints": [{}]}, {"name": "bent", "joints": [{"rotation_degrees": [40, 50, 120]}]}],
            },
            "wrist": {
                "node": "pose_driver",
                "pose": "pose",
                "joints": ["forearm"],
                "space": "parent",
                "metric": "arc",
                "kernel": "linear",
                "width": 3.5,
                "poses": [{"name": "a", "joints": [{}]}, {"name": "b", "joints": [{"rotation_degrees": [30, 60, 120]}]}],
            },
            "roll": {
                "node": "pose_driver",
                "pose": "pose",
                "joints": ["hand"],
                "metric": "twist",
                "axis": vector,
                "poses": [
                    {"name": "straight", "joints": [{}]},
                    {"name": "rolled", "joints": [{"rotation_degrees": [80 * number for number in vector]}]},
                ],
            },
            "bulge": {"node": "drive_morphs", "mesh": "body", "weights": "elbow", "targets": ["", "biceps_bulge"]},
            "more": {"node": "drive_morphs", "mesh": "body", "weights": "wrist", "targets": ["", "biceps_bulge"], "base": "bulge"},
            "most": {"node": "drive_morphs", "mesh": "body", "weights": "roll", "targets": ["", "biceps_bulge"], "base": "more"},
            "lift": {
                "node": "drive_joints",
                "pose": "pose",
                "joints": ["upper_arm"],
                "weights": "elbow",
                "poses": [{"name": "straight", "joints": [{}]}, {"name": "bent", "joints": [{"rotation_degrees": [0, 0, 25]}]}],
                "followers": [follower],
            },
            "morph": {"node": "morph", "mesh": "body", "weights": "most"},
            "skin": {"node": "skin", "mesh": "morph", "pose": "lift"},
        },
        "outputs": {"body": "skin"},
    }


def embedded(tmp_path: Path, document: dict, name: str = "arm.glb") -> Path:
    path = tmp_path / name
    sd.embed("sample:arm", sd.Graph.from_dict(document), output=path)
    return path


def skin_matrices(armature: bpy.types.Object, names: list[str]) -> np.ndarray:
    """Rest to posed positions, scene space: without any axes of joints."""
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    to_scene = SCENE_FROM_WORLD @ np.array(shown.matrix_world)
    out = []
    for name in names:
        pose, rest = np.array(shown.pose.bones[name].matrix), np.array(armature.data.bones[name].matrix_local)
        out.append(to_scene @ pose @ np.linalg.inv(rest) @ np.linalg.inv(to_scene))
    return np.stack(out)


def shown(obj: bpy.types.Object) -> np.ndarray:
    """What Blender shows, scene space."""
    return world(obj, evaluated(obj)) @ SCENE_FROM_WORLD[:3, :3].T


def without_keys(obj: bpy.types.Object) -> None:
    """Clips may animate morph targets, which these graphs do not read. Blender adds them in any case."""
    obj.data.shape_keys.animation_data_clear()
    for block in obj.data.shape_keys.key_blocks:
        block.value = 0.0


def assert_same_rest(obj: bpy.types.Object, rest: np.ndarray) -> None:
    """Blender's importer keeps the vertices of the file."""
    assert len(obj.data.vertices) == len(rest)
    points = np.array([v.co for v in obj.data.vertices])
    assert np.abs(world(obj, points) @ SCENE_FROM_WORLD[:3, :3].T - rest).max() <= 1e-6


def assert_live_is(obj: bpy.types.Object, player: sd.Player, frame: int, share: float = 1e-6) -> None:
    """Live deformation against a player with Blender's pose."""
    assert live.message(obj) == ""
    armature = obj.sinew.armature
    names = [bone.name for bone in armature.data.bones]
    player.advance_posed(frame, skin_matrices(armature, names), names, space="skin")
    wanted = player["body"].positions()
    off = np.abs(shown(obj) - wanted).max() / box(wanted)
    print(f"frame {frame}: {off:.2e} of the box")
    assert off <= share


@pytest.mark.parametrize("bones", ["BLENDER", "TEMPERANCE", "FORTUNE"])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_glb_with_drivers_and_twist(tmp_path, axis, bones):
    path = embedded(tmp_path, driven(axis))
    assert bpy.ops.sinew.import_glb(filepath=str(path), bones=bones) == {"FINISHED"}
    obj = bpy.context.view_layer.objects.active
    without_keys(obj)
    assert obj.type == "MESH" and obj.sinew.tree is not None
    armature = obj.sinew.armature
    character = sd.load(path)
    assert_same_rest(obj, character.meshes[0].positions)
    player = sd.Player(character, fps=FPS)
    rest = character.meshes[0].positions
    poses = [{}, {"forearm": (0.3, 0.8, -0.4)}, {"forearm": (1.4, 0.5, 0.6), "upper_arm": (-0.3, 0.2, 0.9), "hand": (0.9, 0.1, 0.4)}]
    armature.animation_data_clear()
    for frame, pose in enumerate(poses, 1):
        for bone in armature.pose.bones:
            bone.rotation_mode = "QUATERNION"
            bone.rotation_quaternion = Euler(pose.get(bone.name, (0, 0, 0))).to_quaternion()
        bpy.context.scene.frame_set(frame)
        assert_live_is(obj, player, frame)
    assert np.abs(shown(obj) - rest).max() > 0.1 * box(rest)


def test_stored_axes_matter(tmp_path):
    path = embedded(tmp_path, driven())
    assert bpy.ops.sinew.import_glb(filepath=str(path), bones="FORTUNE") == {"FINISHED"}
    obj = bpy.context.view_layer.objects.active
    bones = obj.sinew.armature.data.bones
    assert any("sinew_axes" in bone for bone in bones)
    bpy.context.scene.frame_set(30)
    with_axes = shown(obj)
    for bone in bones:
        if "sinew_axes" in bone:
            del bone["sinew_axes"]
    live.bind(obj)
    bpy.context.scene.frame_set(30)
    assert np.abs(shown(obj) - with_axes).max() > 1e-3


def test_glb_plays_its_clip(tmp_path):
    path = embedded(tmp_path, driven("z"))
    assert bpy.ops.sinew.import_glb(filepath=str(path)) == {"FINISHED"}
    obj = bpy.context.view_layer.objects.active
    without_keys(obj)
    player = sd.Player(sd.load(path), fps=FPS)
    for frame in (0, 20, 40, 60):
        bpy.context.scene.frame_set(frame)
        player.advance(frame)
        wanted = player["body"].positions()
        assert np.abs(shown(obj) - wanted).max() <= 2e-6 * box(wanted), frame


@pytest.mark.parametrize("bones", ["BLENDER", "FORTUNE"])
def test_round_trip_keeps_what_drivers_mean(tmp_path, bones):
    path = embedded(tmp_path, driven("y"))
    assert bpy.ops.sinew.import_glb(filepath=str(path), bones=bones) == {"FINISHED"}
    obj = bpy.context.view_layer.objects.active
    without_keys(obj)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 40
    again = tmp_path / "again.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(again)) == {"FINISHED"}
    first, second = (sd.Player(sd.load(p), fps=FPS) for p in (path, again))
    for frame in (0, 20, 40):
        first.advance(frame)
        second.advance(frame)
        wanted = first["body"].positions()
        got = second[second.outputs[0]].positions()
        # The exporter may order vertices anew.
        if len(got) == len(wanted):
            off = np.abs(got - wanted).max()
        else:
            off = max(np.linalg.norm(wanted - point, axis=1).min() for point in got[::37])
        assert off <= 3e-6 * box(wanted), frame


def test_glb_with_a_mask(tmp_path):
    path = tmp_path / "ball.glb"
    sd.embed("sample:ball", "example:masked_transform", output=path)
    assert bpy.ops.sinew.import_glb(filepath=str(path)) == {"FINISHED"}
    obj = bpy.context.view_layer.objects.active
    assert "mask" in obj.data.attributes
    player = sd.Player(sd.load(path), fps=FPS)
    for frame in (0, 12):
        bpy.context.scene.frame_set(frame)
        assert live.message(obj) == ""
        player.advance(frame)
        wanted = player[player.outputs[0]].positions()
        assert np.abs(shown(obj) - wanted).max() <= 1e-6 * box(wanted)


def test_second_import_gets_names_of_its_own(tmp_path):
    path = embedded(tmp_path, driven())
    for _ in range(2):
        assert bpy.ops.sinew.import_glb(filepath=str(path)) == {"FINISHED"}
    deformed = [o for o in bpy.context.scene.objects if o.sinew.tree is not None]
    assert len(deformed) == 2 and len({o.sinew.armature.name for o in deformed}) == 2
    bpy.context.scene.frame_set(30)
    assert [live.message(o) for o in deformed] == ["", ""]
    assert np.allclose(shown(deformed[0]), shown(deformed[1]), atol=1e-6)


def test_glb_without_graph():
    path = shared("characters/fox.glb")
    assert bpy.ops.sinew.import_glb(filepath=path) == {"FINISHED"}
    assert all(o.sinew.tree is None for o in bpy.data.objects)


def default_times(scene: bpy.types.Scene) -> None:
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 250, 24


def test_import_sets_the_times_of_a_new_scene(tmp_path):
    scene = bpy.context.scene
    path = shared("characters/fox.glb")
    default_times(scene)
    assert bpy.ops.sinew.import_glb(filepath=path) == {"FINISHED"}
    clip = sd.load(path).clips[0]
    # The keys of the fox have 24 frames per second.
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (0, round(clip.end * 24), 24)
    # A scene that has animation keeps its times.
    default_times(scene)
    assert bpy.ops.sinew.import_glb(filepath=path) == {"FINISHED"}
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (1, 250, 24)


@pytest.mark.parametrize("rate", [30, 60, 25])
def test_import_takes_the_rate_of_the_keys(tmp_path, rate):
    """A file that Blender's exporter writes in a scene of this rate."""
    rig({"sinew": "1.0", "stack": ["skin"]})
    scene = bpy.context.scene
    scene.render.fps = rate
    path = tmp_path / "tube.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    fresh()
    default_times(bpy.context.scene)
    assert bpy.ops.sinew.import_glb(filepath=str(path)) == {"FINISHED"}
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (FIRST, LAST, rate)


def test_fbx_has_the_axes_of_its_joints(tmp_path):
    obj, armature = rig({"sinew": "1.0", "stack": ["skin"]})
    obj.data.shade_smooth()
    obj.modifiers["Armature"].show_viewport = True
    for other in (obj, armature):
        other.select_set(True)
    path = tmp_path / "rig.fbx"
    bpy.ops.export_scene.fbx(filepath=str(path), use_selection=True, add_leaf_bones=False)
    fresh()
    assert bpy.ops.sinew.import_glb(filepath=str(path)) == {"FINISHED"}
    obj = next(o for o in bpy.data.objects if o.type == "MESH")
    document = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
        "nodes": {
            "lift": {
                "node": "drive_joints",
                "pose": "pose",
                "joints": ["upper"],
                "weights": "driver",
                "poses": [{"name": "a", "joints": [{}]}, {"name": "b", "joints": [{"rotation_degrees": [10, 40, -20]}]}],
            },
            "driver": {
                "node": "pose_driver",
                "pose": "pose",
                "joints": ["lower"],
                "poses": [{"name": "a", "joints": [{}]}, {"name": "b", "joints": [{"rotation_degrees": [70, 10, 30]}]}],
            },
            "skin": {"node": "skin", "mesh": "body", "pose": "lift"},
        },
        "outputs": {"body": "skin"},
    }
    activate(obj)
    operators.add(obj, nodes.from_document(document, "driven"), bpy.context.scene)
    armature = obj.sinew.armature
    armature.animation_data_clear()
    character = sd.load(path)
    player = sd.Player(character, sd.Graph.from_dict(document), fps=FPS)
    # Vertices in the file are those of Blender: no seams.
    assert character.meshes[0].vertex_count == len(obj.data.vertices)
    for frame, angles in enumerate([(0, 0, 0), (0.5, 0.2, 0.9)], 1):
        for bone in armature.pose.bones:
            bone.rotation_mode = "QUATERNION"
            bone.rotation_quaternion = Euler(angles).to_quaternion()
        bpy.context.scene.frame_set(frame)
        assert_live_is(obj, player, frame, 5e-6)


def test_import_mistakes(tmp_path):
    def fails(operator, match: str, **options) -> None:
        with pytest.raises(RuntimeError, match=match):
            operator(**options)

    (tmp_path / "broken.glb").write_bytes(b"glTF\x02\0\0\0")
    fails(bpy.ops.sinew.import_glb, "broken.glb", filepath=str(tmp_path / "broken.glb"))
    fails(bpy.ops.sinew.import_glb, "no GLB, glTF, VRM or FBX", filepath=str(tmp_path / "hero.blend"))
    fails(bpy.ops.sinew.import_glb, "missing.glb", filepath=str(tmp_path / "missing.glb"))
    assert not bpy.data.objects
    drivers = tmp_path / "drivers.json"
    drivers.write_text(json.dumps(PSD))
    fails(bpy.ops.sinew.import_psd, "No object is active", filepath=str(drivers))
    activate(tube())
    fails(bpy.ops.sinew.import_psd, "no armature", filepath=str(drivers))
    obj, _ = rig()
    before = nodes.to_document(obj.sinew.tree)
    (tmp_path / "other.json").write_text(json.dumps(PSD).replace('"upper"', '"tail"'))
    fails(bpy.ops.sinew.import_psd, "No driver of the file fits 'rig'.*no bone 'tail'", filepath=str(tmp_path / "other.json"))
    (tmp_path / "text.json").write_text("hello")
    fails(bpy.ops.sinew.import_psd, "text.json", filepath=str(tmp_path / "text.json"))
    (tmp_path / "equal.json").write_text(
        json.dumps(PSD).replace("[0, 0, 90]", "[0, 0, 0]").replace("[0, 1, 0, 0], [-1, 0", "[1, 0, 0, 0], [0, 1")
    )
    fails(bpy.ops.sinew.import_psd, "do not fit the graph, which stays", filepath=str(tmp_path / "equal.json"))
    assert nodes.to_document(obj.sinew.tree) == before
    bpy.context.view_layer.update()
    assert live.message(obj) == ""


PSD = {
    "arm": {
        "DriverObject": "upper",
        "DrivenObjects": ["lower"],
        "DrivenJointOrientList": [[0, 0, 0]],
        "PSDType": 1,
        "BasisFunction": 2,
        "GlobalWidth": 120.0,
        "ClampNegativeWeight": True,
        "NormalizeMethod": 1,
        "TwistAxis": 2,
        "IsAutomaticRadius": False,
        "DistanceMethod": 1,
        "Poses": {
            "rest": {
                "RawPoseRotation": [0, 0, 0],
                "outDrivenLocalMatrixList": [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]],
            },
            "bent": {
                "RawPoseRotation": [0, 0, 90],
                "outDriverLocalMatrix": [[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
                "outDrivenLocalMatrixList": [[1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0, 20, 0, 0, 1]],
            },
        },
    }
}
POSES = [(0.0, 0.0, 0.0), (0.0, 0.2, 0.7), (0.4, -0.3, 1.3)]


def posed(armature: bpy.types.Object) -> None:
    """A hand-made pose in each frame, without keys."""
    armature.animation_data_clear()
    for bone in armature.pose.bones:
        bone.rotation_mode, bone.location = "XYZ", (0, 0, 0)


def live_poses(obj: bpy.types.Object, armature: bpy.types.Object) -> np.ndarray:
    out = []
    for frame, pose in enumerate(POSES, 1):
        armature.pose.bones["upper"].rotation_euler = pose
        bpy.context.scene.frame_set(frame)
        assert live.message(obj) == ""
        out.append(shown(obj))
    return np.stack(out)


WRANGLER = {
    "arm": {
        "solver_name": "arm",
        "drivers": ["rig:upper"],
        "driven_transforms": [],
        "controllers": [],
        "mode": "Additive",
        "radius": 70.0,
        "automaticRadius": False,
        "weightThreshold": 0.001,
        "distanceMethod": "Swing",
        "normalizeMethod": 3,
        "functionType": 4,
        "twistAxis": 1,
        "inputMode": "Rotation",
        "driven_attrs": [[], []],
        "poses": {
            "default": {"drivers": [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]]},
            "up": {
                "drivers": [[0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]],
                "blendshape_data": [{"blendshape_mesh": "bulge"}],
            },
        },
    }
}


@pytest.mark.parametrize("document", [PSD, WRANGLER])
def test_psd_against_the_package(tmp_path, document):
    obj, armature = rig({"sinew": "1.0", "stack": ["skin"]}, is_moved=False)
    obj.shape_key_add(name="Basis")
    bulge = obj.shape_key_add(name="bulge")
    bulge.value = 0.0
    for point in bulge.data:
        point.co.y *= 2.0
    posed(armature)
    path = tmp_path / "drivers.json"
    path.write_text(json.dumps(document))
    assert bpy.ops.sinew.import_psd(filepath=str(path)) == {"FINISHED"}
    # The same driver on a character made here, with the package alone.
    path.write_text(json.dumps(document).replace("rig:", ""))
    sd.psd.convert(path, output=tmp_path / "graph.json")
    own = live.session(obj).character
    player = sd.Player(own, sd.Graph.load(tmp_path / "graph.json"), fps=FPS)
    plain = sd.Player(own, sd.Graph.from_dict({"sinew": "1.0", "stack": ["skin"]}), fps=FPS)
    names = [bone.name for bone in armature.data.bones]
    got, moved = live_poses(obj, armature), 0.0
    for frame, pose in enumerate(POSES, 1):
        armature.pose.bones["upper"].rotation_euler = pose
        bpy.context.view_layer.update()
        matrices = skin_matrices(armature, names)
        for p in (player, plain):
            p.advance_posed(frame, matrices, names, space="skin")
        wanted = player["body"].positions()
        assert np.abs(got[frame - 1] - wanted).max() <= 1e-6 * box(wanted)
        moved = max(moved, np.abs(wanted - plain["body"].positions()).max())
    assert moved > 0.05


@pytest.mark.parametrize("document", [{"sinew": "1.0", "stack": ["skin", {"node": "delta_mush"}]}, None])
def test_psd_in_axes_of_bones(tmp_path, document):
    """The axes that bones store do not change what a file in the axes of bones means."""
    path = tmp_path / "drivers.json"
    path.write_text(json.dumps(PSD))
    results = []
    for axes in ([], [(0.4, 1.1, -0.3), (1.4, 0.1, 0.3)]):
        fresh()
        obj, armature = rig(
            document or {"sinew": "1.0", "nodes": {"s": {"node": "skin", "mesh": "body", "pose": "pose"}}, "outputs": {"body": "s"}}
        )
        posed(armature)
        for bone, stored in zip(armature.data.bones, axes):
            bone["sinew_axes"] = list(Euler(stored).to_quaternion())
        assert bpy.ops.sinew.import_psd(filepath=str(path), axes="BONE") == {"FINISHED"}
        results.append(live_poses(obj, armature))
    assert np.abs(results[0] - results[1]).max() <= 2e-6 * box(results[0])
    assert np.abs(results[0][2] - results[0][0]).max() > 0.1


def test_psd_of_a_real_character(tmp_path):
    glb, samples = shared("psd/mh_male_psd.glb"), shared("psd/mh_male_psd_samples.json")
    assert bpy.ops.sinew.import_glb(filepath=glb) == {"FINISHED"}
    obj = next(o for o in bpy.data.objects if o.type == "MESH" and o.modifiers)
    activate(obj)
    without_keys(obj)
    assert bpy.ops.sinew.import_psd(filepath=samples) == {"FINISHED"}
    sd.psd.convert(samples, output=tmp_path / "graph.json")
    player = sd.Player(sd.load(glb), sd.Graph.load(tmp_path / "graph.json"), fps=FPS)
    assert_same_rest(obj, player.character.meshes[0].positions)
    plain = sd.Player(sd.load(glb), sd.Graph.from_dict({"sinew": "1.0", "stack": ["skin"]}), fps=FPS)
    moved = 0.0
    for seconds in (0.36667, 1.03333, 1.7, 2.36667):
        frame = round(seconds * FPS)
        bpy.context.scene.frame_set(frame)
        assert_live_is(obj, player, frame)
        plain.advance(frame)
        player.advance(frame)
        moved = max(moved, np.abs(player["body"].positions() - plain["body"].positions()).max())
    assert moved > 0.005


def test_names_are_matched():
    match = merge.Match(["upperarm_l", "Arm.L", "spine"], ["Elbow_70"])
    assert match.bone("upperarm_l") == "upperarm_l"
    assert match.bone("rig:upperarm_l") == "upperarm_l" and match.bone("|root|rig:arm_l") == "Arm.L"
    assert match.bone("tail") is None and match.key("elbow_70") == "Elbow_70"


def test_drivers_join_those_of_the_graph():
    match = merge.Match(["forearm"], ["biceps_bulge"])
    document = {k: v for k, v in driven().items() if k != "outputs"}
    document["nodes"] = {k: v for k, v in document["nodes"].items() if k in {"elbow", "bulge"}}
    added, notes = merge.take(document, match)
    assert notes == [] and added.drivers == ["elbow"] and added.morphs == ["bulge"]
    arm = sd.Character.sample("arm")
    half = (math.sin(math.radians(70)), math.cos(math.radians(70)))
    forearm = next(j for j in arm.joints if j.name == "forearm")
    quarter = np.eye(4)
    quarter[:2, :2] = [[half[1] ** 2 - half[0] ** 2, -2 * half[0] * half[1]], [2 * half[0] * half[1], half[1] ** 2 - half[0] ** 2]]
    results = []
    for base in ({"sinew": "1.0", "stack": ["skin"]}, {"sinew": "1.0", "stack": ["morph", "skin"]}, driven()):
        graph = sd.Graph.from_dict(merge.insert(base, added))
        assert [d for d in graph.check(arm) if d.severity == "error"] == []
        player = sd.Player(arm, graph)
        player.set_clip(None)
        player.advance_posed(0, (forearm.rest @ quarter)[None], joints=["forearm"])
        results.append(player[player.outputs[0]].positions())
    # A morph node that was there plays the same weights as a new one.
    assert np.abs(results[0] - results[1]).max() <= 1e-6
    own = sd.Player(arm, sd.Graph.from_dict(driven()))
    own.set_clip(None)
    own.advance_posed(0, (forearm.rest @ quarter)[None], joints=["forearm"])
    # On top of the graph's own drivers: the target counts once more.
    assert np.abs(results[2] - own["body"].positions()).max() > 1e-3
