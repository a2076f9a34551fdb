# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes and exports against what Blender shows live, and against the files read by others."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
import sinew_deform as sd
from conftest import shared
from scene_rig import FIRST, LAST, activate, evaluated, frames, fresh, rig, tube, world

from sinew import live, modifier, nodes, operators
from sinew.out import embedded, ply
from sinew.out import shape_keys as out_shape_keys
from sinew.space import SCENE_FROM_WORLD

COUNT = LAST - FIRST + 1


@pytest.fixture(autouse=True)
def _file():
    fresh()


def fails(operator, match: str, **options) -> None:
    """The operator reports an error."""
    with pytest.raises(RuntimeError, match=match):
        operator(**options)


def box(points: np.ndarray) -> float:
    """Longest side of the bounding box."""
    return float(np.ptp(points.reshape(-1, 3), axis=0).max())


# Shape keys.


def test_shape_keys_within_tolerance_and_sparse():
    obj, _ = rig()
    before = frames(obj)
    assert np.ptp(before, axis=0).max() > 0.2
    for tolerance in (0.1, 0.0005):
        assert bpy.ops.sinew.bake_shape_keys(tolerance=tolerance, copy=True) == {"FINISHED"}
    counts = []
    for name, tolerance in (("tube_baked", 0.1), ("tube_baked.001", 0.0005)):
        copy = bpy.data.objects[name]
        assert np.linalg.norm(frames(copy) - before, axis=2).max() <= tolerance + 1e-6
        counts.append(len(copy.data.shape_keys.key_blocks) - 1)
    assert 1 <= counts[0] < counts[1] < COUNT
    assert obj.data.shape_keys is None and np.array_equal(frames(obj), before)


def test_shape_keys_replace_sinew_and_undo():
    obj, _ = rig()
    before = frames(obj)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.sinew.bake_shape_keys(tolerance=0.0) == {"FINISHED"}
    own = modifier.find(obj)
    assert not own.show_viewport and not own.show_render
    assert np.abs(frames(obj) - before).max() <= 1e-6
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["tube"]
    assert obj.data.shape_keys is None and modifier.find(obj).show_viewport
    assert np.abs(frames(obj) - before).max() <= 1e-6


def bulging(obj: bpy.types.Object) -> None:
    """An animated shape key."""
    obj.shape_key_add(name="Basis")
    bulge = obj.shape_key_add(name="bulge")
    for point in bulge.data:
        point.co.x *= 1.5
    for frame, value in ((FIRST, 0.2), (LAST, 1.0)):
        bulge.value = value
        bulge.keyframe_insert("value", frame=frame)


def test_shape_keys_that_the_bake_holds_are_muted():
    obj, _ = rig()
    bulging(obj)
    idle = obj.shape_key_add(name="idle")
    idle.data[0].co.x += 1.0
    idle.value = 0.0
    bpy.context.view_layer.update()
    before = frames(obj)
    assert bpy.ops.sinew.bake_shape_keys(tolerance=0.0) == {"FINISHED"}
    blocks = obj.data.shape_keys.key_blocks
    assert blocks["bulge"].mute and not blocks["idle"].mute
    assert np.abs(frames(obj) - before).max() <= 2e-6


def test_shape_keys_of_shared_meshes_stay_apart():
    obj, _ = rig()
    other = bpy.data.objects.new("other", obj.data)
    bpy.context.collection.objects.link(other)
    assert bpy.ops.sinew.bake_shape_keys() == {"FINISHED"}
    assert other.data.shape_keys is None and obj.data.shape_keys is not None


def test_key_frames_of_known_motion():
    # Piecewise linear in time: the corners are all that is needed.
    values = np.interp(np.arange(9), [0, 3, 8], [0, 3, -2])
    samples = np.zeros((9, 2, 3), np.float32)
    samples[:, 1, 0] = values
    assert out_shape_keys.key_frames(samples, 1e-6) == [0, 3, 8]
    assert out_shape_keys.key_frames(samples, 100.0) == [0, 8]
    assert out_shape_keys.key_frames(samples[:1], 0.0) == [0]


# Point caches.


def test_point_cache_plays_what_was_live(tmp_path):
    obj, _ = rig()
    before = frames(obj)
    path = tmp_path / "new folder" / "tube.pc2"
    assert bpy.ops.sinew.bake_point_cache(filepath=str(path)) == {"FINISHED"}
    assert [m.type for m in obj.modifiers] == ["NODES", "MESH_CACHE", "ARMATURE"]
    assert not modifier.find(obj).show_viewport
    assert np.abs(frames(obj) - before).max() <= 1e-6
    # The file by its published layout.
    data = path.read_bytes()
    assert struct.unpack_from("<12siiffi", data) == (b"POINTCACHE2\0", 1, len(before[0]), FIRST, 1.0, COUNT)
    assert np.array_equal(np.frombuffer(data, "<f4", offset=32).reshape(before.shape), before)
    assert os.listdir(path.parent) == ["tube.pc2"]


def test_point_cache_again_uses_one_modifier(tmp_path):
    obj, _ = rig()
    before = frames(obj)
    path = str(tmp_path / "tube.pc2")
    assert bpy.ops.sinew.bake_point_cache(filepath=path) == {"FINISHED"}
    modifier.find(obj).show_viewport = True
    obj.modifiers["Sinew Cache"].show_viewport = False
    assert bpy.ops.sinew.bake_point_cache(filepath=path) == {"FINISHED"}
    assert sum(m.type == "MESH_CACHE" for m in obj.modifiers) == 1
    assert np.abs(frames(obj) - before).max() <= 1e-6


def test_point_cache_of_a_range(tmp_path):
    obj, _ = rig()
    before = frames(obj)
    assert bpy.ops.sinew.bake_point_cache(filepath=str(tmp_path / "a.pc2"), scene_range=False, first=4, last=6) == {"FINISHED"}
    after = frames(obj)
    assert np.abs(after[3:6] - before[3:6]).max() <= 1e-6


# Back to live.


def stack(obj: bpy.types.Object) -> list[tuple]:
    return [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers]


def test_back_to_live_from_a_point_cache(tmp_path):
    obj, _ = rig()
    before, modifiers = frames(obj), stack(obj)
    assert not bpy.ops.sinew.bake_remove.poll()
    for _ in range(2):
        assert bpy.ops.sinew.bake_point_cache(filepath=str(tmp_path / "a.pc2")) == {"FINISHED"}
        assert obj["sinew_baked"] == "point cache"
        fails(bpy.ops.sinew.bake_shape_keys, "Press Back to Live")
        assert bpy.ops.sinew.bake_remove() == {"FINISHED"}
        assert stack(obj) == modifiers and "sinew_baked" not in obj
        assert np.abs(frames(obj) - before).max() <= 1e-6
    # Live again, not the cache: the pose moves it.
    bpy.data.objects["rig"].animation_data_clear()
    bpy.data.objects["rig"].pose.bones["upper"].rotation_euler.x = -1.0
    bpy.context.view_layer.update()
    assert min(np.abs(evaluated(obj) - points).max() for points in before) > 0.1


def test_back_to_live_from_shape_keys():
    obj, _ = rig()
    bulging(obj)
    cast = obj.modifiers.new("Cast", "CAST")
    cast.factor, cast.show_render = 0.3, False
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    bpy.context.view_layer.update()
    before, modifiers, actions = frames(obj), stack(obj), len(bpy.data.actions)
    assert bpy.ops.sinew.bake_shape_keys(tolerance=0.0) == {"FINISHED"}
    blocks = obj.data.shape_keys.key_blocks
    assert blocks["bulge"].mute and len(blocks) > 3 and obj["sinew_baked"] == "shape keys"
    modifier.find(obj).show_viewport = True
    fails(bpy.ops.sinew.bake_point_cache, "plays a bake to shape keys. Press Back to Live")
    assert bpy.ops.sinew.bake_remove() == {"FINISHED"}
    assert [k.name for k in obj.data.shape_keys.key_blocks] == ["Basis", "bulge"]
    assert not obj.data.shape_keys.key_blocks["bulge"].mute
    assert stack(obj) == modifiers and len(bpy.data.actions) == actions
    assert np.abs(frames(obj) - before).max() <= 1e-6


def test_back_to_live_leaves_no_shape_keys_of_a_bake():
    obj, _ = rig()
    actions = set(bpy.data.actions)
    assert bpy.ops.sinew.bake_shape_keys() == {"FINISHED"}
    assert bpy.ops.sinew.bake_remove() == {"FINISHED"}
    assert obj.data.shape_keys is None and set(bpy.data.actions) == actions


def test_back_to_live_after_sinew_was_removed(tmp_path):
    """Without Sinew the armature modifier moves the mesh again."""
    obj, _ = rig()
    own = modifier.find(obj)
    own.show_viewport, obj.modifiers["Armature"].show_viewport = False, True
    plain = frames(obj)
    own.show_viewport, obj.modifiers["Armature"].show_viewport = True, False
    assert bpy.ops.sinew.bake_point_cache(filepath=str(tmp_path / "a.pc2")) == {"FINISHED"}
    operators.remove(obj)
    assert bpy.ops.sinew.bake_remove() == {"FINISHED"}
    assert stack(obj) == [("Armature", True, True)]
    assert np.abs(frames(obj) - plain).max() <= 1e-6


def test_back_to_live_shows_what_a_skin_bake_hid():
    obj, _ = rig()
    assert bpy.ops.sinew.bake_skin() == {"FINISHED"}
    assert obj.hide_get() and "sinew_baked" not in bpy.data.objects["tube_skin"]
    activate(obj)
    assert bpy.ops.sinew.bake_remove() == {"FINISHED"}
    assert not obj.hide_get() and not obj.hide_render and "tube_skin" in bpy.data.objects


# Alembic.


def test_alembic_reads_back(tmp_path):
    obj, _ = rig()
    before = [world(obj, points) for points in frames(obj)]
    path = tmp_path / "tube.abc"
    assert bpy.ops.sinew.export_alembic(filepath=str(path)) == {"FINISHED"}
    assert os.listdir(tmp_path) == ["tube.abc"]
    assert bpy.context.view_layer.objects.active == obj
    known = set(bpy.data.objects)
    assert bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False) == {"FINISHED"}
    read = next(o for o in bpy.data.objects if o not in known and o.type == "MESH")
    for frame in range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert np.abs(world(read, evaluated(read)) - before[frame - FIRST]).max() <= 2e-6


def test_alembic_of_hair(tmp_path):
    obj = hair_curves()
    bpy.context.scene.frame_set(FIRST)
    assert live.message(obj) == ""
    before = []
    for frame in range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        before.append(curve_points(obj))
    assert np.abs(before[0] - before[-1]).max() > 0.01
    path = tmp_path / "hair.abc"
    assert bpy.ops.sinew.export_alembic(filepath=str(path)) == {"FINISHED"}
    known = set(bpy.data.objects)
    bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    read = next(o for o in bpy.data.objects if o not in known and o.type in {"CURVES", "CURVE"})
    for frame in (FIRST, LAST):
        bpy.context.scene.frame_set(frame)
        assert np.abs(curve_points(read) - before[frame - FIRST]).max() <= 1e-5
    activate(obj)
    fails(bpy.ops.sinew.bake_shape_keys, "is hair")
    fails(bpy.ops.sinew.bake_point_cache, "is hair", filepath=str(tmp_path / "hair.pc2"))


def hair_curves() -> bpy.types.Object:
    """Two curves with an animated wave."""
    data = bpy.data.hair_curves.new("hair")
    data.add_curves([5, 4])
    points = [(0.1 * c, 0.0, 0.2 * i) for c, n in ((0, 5), (1, 4)) for i in range(n)]
    data.attributes["position"].data.foreach_set("vector", np.array(points, np.float32).ravel())
    obj = bpy.data.objects.new("hair", data)
    bpy.context.collection.objects.link(obj)
    activate(obj)
    document = {
        "sinew": "1.0",
        "inputs": {"hair": {"type": "strands"}},
        "nodes": {"bend": {"node": "bend", "mesh": "hair", "length": 1.0, "angle_degrees": {"keys": [[0, 0], [0.5, 60]]}}},
        "outputs": {"hair": "bend"},
    }
    operators.add(obj, nodes.from_document(document, "wave"), bpy.context.scene)
    return obj


def curve_points(obj: bpy.types.Object) -> np.ndarray:
    """Points of evaluated hair, or of a curve object that an importer made."""
    data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    if obj.type == "CURVES":
        flat = np.empty(len(data.points) * 3, np.float32)
        data.points.foreach_get("position", flat)
        return flat.reshape(-1, 3)
    return np.array([p.co[:3] for spline in data.splines for p in spline.points], np.float32)


# GLB.


def live_scene(obj: bpy.types.Object, frame: int) -> np.ndarray:
    """What Blender shows at a frame, scene space."""
    bpy.context.scene.frame_set(frame)
    return world(obj, evaluated(obj)) @ SCENE_FROM_WORLD[:3, :3].T


def assert_plays_like(path: Path, obj: bpy.types.Object, numbers, share: float = 1e-6, own: np.ndarray | None = None) -> None:
    """The file in a player of its own, against what Blender shows."""
    character = sd.load(path)
    player = sd.Player(character, sd.Graph.embedded(character), fps=bpy.context.scene.render.fps)
    rest = character.meshes[0].positions
    own = live.session(obj).character.meshes[0].positions if own is None else own
    # The exporter may split vertices: each one is found by its rest position.
    distance = np.linalg.norm(rest[:, None].astype(np.float64) - own[None], axis=2)
    match = distance.argmin(axis=1)
    assert distance.min(axis=1).max() <= 1e-6 * box(own)
    moved = 0.0
    for frame in numbers:
        wanted = live_scene(obj, frame)[match]
        player.advance(frame)
        got = player[player.outputs[0]].positions()
        off = np.abs(got - wanted).max() / box(wanted)
        print(f"frame {frame}: {off:.2e} of the box")
        assert off <= share, frame
        moved = max(moved, np.abs(got - rest).max())
    assert moved > 0.05 * box(own)


def test_glb_of_the_fox(tmp_path):
    bpy.ops.import_scene.gltf(filepath=shared("characters/fox.glb"))
    obj = bpy.data.objects["fox"]
    activate(obj)
    assert bpy.ops.sinew.add(preset="preset:delta_mush") == {"FINISHED"}
    path = tmp_path / "fox.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    assert_plays_like(path, obj, range(FIRST, LAST + 1, 2))
    assert os.listdir(tmp_path) == ["fox.glb"]


def show_action(armature: bpy.types.Object, strip: bpy.types.NlaStrip) -> None:
    """As the action editor does it."""
    armature.animation_data.action = strip.action
    if hasattr(strip, "action_slot"):
        armature.animation_data.action_slot = strip.action_slot


def test_glb_keeps_all_actions(tmp_path):
    bpy.ops.import_scene.gltf(filepath=shared("characters/fox.glb"))
    obj, armature = bpy.data.objects["fox"], bpy.data.objects["root"]
    activate(obj)
    assert bpy.ops.sinew.add(preset="preset:delta_mush") == {"FINISHED"}
    animation = armature.animation_data
    kept, before = (animation.action, animation.use_nla), live_scene(obj, 3)
    path = tmp_path / "fox.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    assert (animation.action, animation.use_nla) == kept
    assert np.abs(live_scene(obj, 3) - before).max() <= 1e-6 * box(before)
    source = {clip.name: clip for clip in sd.load(shared("characters/fox.glb")).clips}
    character = sd.load(path)
    assert {clip.name for clip in character.clips} == source.keys() == {"Survey", "Walk", "Run"}
    # The clip that Blender shows comes first.
    assert character.clips[0].name == "Survey"
    for clip in character.clips:
        # Whole frames.
        assert abs(clip.end - source[clip.name].end) <= 1 / 24
    strips = {track.name: track.strips[0] for track in armature.animation_data.nla_tracks}
    for name in ("Run", "Walk"):
        show_action(armature, strips[name])
        player = sd.Player(character, sd.Graph.embedded(character), clip=name, fps=24)
        rest, own = character.meshes[0].positions, live.session(obj).character.meshes[0].positions
        match = np.linalg.norm(rest[:, None].astype(np.float64) - own[None], axis=2).argmin(axis=1)
        for frame in (0, 4, 11, 17):
            wanted = live_scene(obj, frame)[match]
            player.advance(frame)
            assert np.abs(player[player.outputs[0]].positions() - wanted).max() <= 1e-6 * box(wanted), (name, frame)


def test_glb_without_stashed_actions_has_the_scene(tmp_path):
    rig()
    path = tmp_path / "tube.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    clips = sd.load(path).clips
    assert len(clips) == 1 and abs(clips[0].end - LAST / 24) <= 1e-6


def test_glb_has_the_mix_of_tracks_and_their_actions(tmp_path):
    """A track that acts is part of what Blender shows, and its action is a clip, too."""
    obj, armature = rig()
    animation = armature.animation_data
    track = animation.nla_tracks.new()
    strip = track.strips.new("Bend", 20, animation.action)
    strip.name = "Bend"
    if hasattr(strip, "action_slot"):
        strip.action_slot = animation.action_slot
    animation.action = None
    bpy.context.scene.frame_end = 31
    path = tmp_path / "tube.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    assert [clip.name for clip in sd.load(path).clips] == ["Scene", "Bend"]
    assert_plays_like(path, obj, (20, 26, 31))


def test_glb_with_shape_keys_and_moved_armature(tmp_path):
    obj, _ = rig()
    bulging(obj)
    path = tmp_path / "tube.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    assert_plays_like(path, obj, (FIRST, 6, LAST))


def test_glb_of_a_moving_armature(tmp_path):
    obj, armature = rig()
    for frame, x in ((FIRST, 0.0), (LAST, 2.0)):
        armature.location.x = armature.rotation_euler.z = x
        armature.keyframe_insert("location", frame=frame)
        armature.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(FIRST)
    path = tmp_path / "tube.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    here = world(obj, np.array([v.co for v in obj.data.vertices])) @ SCENE_FROM_WORLD[:3, :3].T
    assert_plays_like(path, obj, (FIRST, 7, LAST), own=here)


def test_glb_leaves_out_weights_of_bones_that_do_not_deform(tmp_path):
    obj, armature = rig()
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("control")
    bone.head, bone.tail, bone.use_deform = (1, 0, 0), (1, 0, 1), False
    bpy.ops.object.mode_set(mode="OBJECT")
    activate(obj)
    obj.vertex_groups.new(name="control").add(list(range(40)), 0.5, "REPLACE")
    # Vertices without weights follow the object.
    for name in ("lower", "upper"):
        obj.vertex_groups[name].remove(list(range(120, 128)))
    live.bind(obj)
    armature.pose.bones["control"].location = (0.5, 0, 0)
    bpy.context.scene.frame_set(FIRST)
    path = tmp_path / "tube.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    assert "control" in obj.vertex_groups and "control" in [j.name for j in sd.load(path).joints]
    assert_plays_like(path, obj, (FIRST, 7, LAST))
    assert bpy.ops.sinew.bake_skin(helpers=2) == {"FINISHED"}


@pytest.mark.parametrize("source", ["group", "attribute", "color", "active color"])
def test_glb_has_the_masks_of_the_graph(tmp_path, source):
    obj, _ = rig({"sinew": "1.0", "stack": ["skin"]})
    share = np.linspace(0, 1, len(obj.data.vertices)).astype(np.float32)
    if source == "group":
        group = obj.vertex_groups.new(name="Fat Mask")
        for i, weight in enumerate(share.tolist()):
            group.add([i], weight, "REPLACE")
    elif source == "attribute":
        obj.data.attributes.new("Fat Mask", "FLOAT", "POINT").data.foreach_set("value", share)
    else:
        colors = np.repeat(share, 4)
        obj.data.attributes.new("Fat Mask", "FLOAT_COLOR", "POINT").data.foreach_set("color", colors)
    document = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
        "nodes": {
            "fat": {"node": "mask", "mesh": "body", "source": "attribute", "attribute": "Fat Mask"}
            if source != "active color"
            else {"node": "mask", "mesh": "body", "source": "color"},
            "skin": {"node": "skin", "mesh": "body", "pose": "pose"},
            "bend": {"node": "transform", "mesh": "skin", "mask": "fat", "transform": {"translation": [0.3, 0.2, 0]}},
        },
        "outputs": {"body": "bend"},
    }
    nodes.replace(obj.sinew.tree, document)
    live.bind(obj)
    bpy.context.scene.frame_set(FIRST)
    path = tmp_path / "tube.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    assert not [a.name for a in obj.data.attributes if a.name.startswith("_")]
    # Blender writes colours in 16 bits.
    assert_plays_like(path, obj, (FIRST, 7, LAST), 5e-6 if source == "active color" else 1e-6)


TWISTED = {
    "sinew": "1.0",
    "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
    "nodes": {
        "driver": {
            "node": "pose_driver",
            "pose": "pose",
            "joints": ["upper"],
            "metric": "swing_chord",
            "axis": [1, 0, 0],
            "poses": [
                {"name": "rest", "joints": [{"rotation": [0, 0, 0, 1]}]},
                {"name": "bent", "joints": [{"rotation": [0, 0.6, 0, 0.8]}]},
            ],
        },
        "morphs": {"node": "drive_morphs", "mesh": "body", "weights": "driver", "targets": ["", "bulge"]},
        "morph": {"node": "morph", "mesh": "body", "weights": "morphs"},
        "skin": {"node": "skin", "mesh": "morph", "pose": "pose"},
    },
    "outputs": {"body": "skin"},
}


def test_glb_keeps_axes_that_bones_store(tmp_path):
    from mathutils import Euler

    obj, armature = rig({"sinew": "1.0", "stack": ["skin"]})
    obj.shape_key_add(name="Basis")
    bulge = obj.shape_key_add(name="bulge")
    for point in bulge.data:
        point.co.x *= 1.5
    bulge.value = 0.0
    armature.data.bones["upper"]["sinew_axes"] = list(Euler((0.4, 1.1, -0.3)).to_quaternion())
    armature.data.bones["lower"]["sinew_axes"] = list(Euler((1.4, 0.1, 0.3)).to_quaternion())
    nodes.replace(obj.sinew.tree, TWISTED)
    live.bind(obj)
    path = tmp_path / "tube.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    with_axes = live_scene(obj, 7)
    assert_plays_like(path, obj, (FIRST, 4, 7, LAST))
    for bone in armature.data.bones:
        del bone["sinew_axes"]
    live.bind(obj)
    # The axes matter for this graph.
    assert np.abs(live_scene(obj, 7) - with_axes).max() > 1e-3


def test_document_gets_a_morph_node():
    keyed = SimpleNamespace(type="MESH", data=SimpleNamespace(shape_keys=object()))
    given = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
        "nodes": {"skin": {"node": "skin", "mesh": "body", "pose": "pose"}},
        "outputs": {"body": "skin", "rest": "body"},
    }
    made = embedded.with_shape_keys(json.loads(json.dumps(given)), "body", keyed)
    assert made["nodes"]["skin"]["mesh"] == "morph" and made["outputs"] == {"body": "skin", "rest": "morph"}
    arm = sd.Character.sample("arm")
    assert [d for d in sd.Graph.from_dict(made).check(arm) if d.severity == "error"] == []
    unkeyed = SimpleNamespace(type="MESH", data=SimpleNamespace(shape_keys=None))
    assert embedded.with_shape_keys(json.loads(json.dumps(given)), "body", unkeyed) == given


def test_glb_plays_keyframes_of_the_graph(tmp_path):
    obj, _ = rig({"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "name": "mush", "weight": 1.0}]})
    tree = obj.sinew.tree
    node = next(n for n in tree.nodes if "delta_mush" in n.bl_idname.lower() or n.name == "mush")
    owner, prop = animated_weight(node)
    for frame, value in ((FIRST, 1.0), (LAST, 0.0)):
        setattr(owner, prop, value)
        owner.keyframe_insert(prop, frame=frame)
    before = live_scene(obj, 7)
    live_scene(obj, LAST)
    path = tmp_path / "tube.glb"
    assert bpy.ops.sinew.export_glb(filepath=str(path)) == {"FINISHED"}
    text = sd.Graph.embedded(sd.load(path)).text
    assert "keys" in text
    # No parameters that only sliders need.
    assert not sd.Graph.embedded(sd.load(path)).parameters
    assert_plays_like(path, obj, (FIRST, 4, 7, LAST), 2e-6)
    assert np.abs(live_scene(obj, 7) - before).max() <= 1e-6


def animated_weight(node: bpy.types.Node) -> tuple[bpy.types.bpy_struct, str]:
    """Property of the slider of `weight`: of the node or of its socket."""
    for owner in (node, *node.inputs):
        if owner is node or owner.name.lower() == "weight":
            for prop in owner.bl_rna.properties:
                if (
                    prop.type == "FLOAT"
                    and prop.is_animatable
                    and "weight" in (prop.name + prop.identifier).lower()
                    and not prop.is_readonly
                ):
                    return owner, prop.identifier
    socket = next(s for s in node.inputs if s.name.lower() == "weight")
    return socket, next(p.identifier for p in socket.bl_rna.properties if p.type == "FLOAT" and p.identifier.startswith("p_"))


# Vertex textures.


def test_vat_of_a_deformed_character(tmp_path):
    obj, _ = rig()
    obj.data.uv_layers.new(name="uv")
    folder = tmp_path / "vat"
    assert bpy.ops.sinew.bake_vat(folder=str(folder), mode="soft", textures="position:float,normal:unorm8,uv0:half") == {"FINISHED"}
    assert (folder / "tube.glb").exists() and "Folder" in bpy.data.texts["Vertex Textures tube"].as_string()
    assert os.listdir(tmp_path) == ["vat"]
    document = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "animation": {"type": "vertex_animation", "file": "tube.vat.json"}},
        "nodes": {"play": {"node": "vat_playback", "mesh": "body", "animation": "animation"}},
        "outputs": {"body": "play"},
    }
    graph = sd.Graph.from_dict(document, folder=folder)
    player = sd.Player(sd.load(folder / "tube.glb"), graph, fps=bpy.context.scene.render.fps)
    for frame in (FIRST, 7, LAST):
        wanted = live_scene(obj, frame)
        player.advance(frame - FIRST)
        got = player["body"].positions()
        nearest = np.linalg.norm(got[:, None] - wanted[None], axis=2)
        assert nearest.min(axis=1).max() <= 2e-6 and nearest.min(axis=0).max() <= 2e-6


def changing(name: str = "blob") -> bpy.types.Object:
    """An object of geometry nodes whose number of faces changes with the frame."""
    obj = tube(name, rings=3)
    group = bpy.data.node_groups.new("changing", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    time = group.nodes.new("GeometryNodeInputSceneTime")
    sphere = group.nodes.new("GeometryNodeMeshUVSphere")
    add = group.nodes.new("ShaderNodeMath")
    add.inputs[1].default_value = 3.0
    group.links.new(time.outputs["Frame"], add.inputs[0])
    group.links.new(add.outputs[0], sphere.inputs["Segments"])
    out = group.nodes.new("NodeGroupOutput")
    group.links.new(sphere.outputs[0], out.inputs[0])
    obj.modifiers.new("changing", "NODES").node_group = group
    activate(obj)
    return obj


def test_vat_of_changing_faces(tmp_path):
    obj = changing()
    obj.location = (1.0, 2.0, 3.0)
    counts = [len(points) for points in [frames(obj, range(f, f + 1))[0] for f in range(FIRST, LAST + 1)]]
    assert len(set(counts)) == COUNT
    folder = tmp_path / "vat"
    assert bpy.ops.sinew.bake_vat(folder=str(folder)) == {"FINISHED"}
    manifest = json.loads((folder / "blob.vat.json").read_text())
    assert "remesh" in json.dumps(manifest)
    # Blender's (1, 2, 3) is (1, 3, -2) with Y up; the sphere has the radius 1.
    carrier = sd.load(folder / "blob.glb").meshes[0].positions
    assert np.allclose((carrier.min(axis=0) + carrier.max(axis=0)) / 2, (1, 3, -2), atol=0.1)


def test_vat_of_a_sequence_against_its_files(tmp_path):
    """The sequence as Alembic in Blender, the bake against the same frames as PLY files."""
    path, last = Path(shared("sequences/boolean_cut.abc")), 40
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 30, 1, last
    bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    activate(next(o for o in bpy.data.objects if o.type == "MESH"))
    folder = tmp_path / "vat"
    assert bpy.ops.sinew.bake_vat(folder=str(folder), at_end="clamp") == {"FINISHED"}
    assert "triangles change" in bpy.data.texts[0].as_string()
    # It raises if a frame differs by more than the format allows.
    # Blender shades the file smooth.
    report = sd.vat.verify(folder, path.with_suffix(""), up="z", fps=30, crease=180.0)
    assert f"{last} frames" in report.events[-1]["message"]


def test_vat_of_particles(tmp_path):
    obj = changing("dust")
    group = obj.modifiers["changing"].node_group
    to_points = group.nodes.new("GeometryNodeMeshToPoints")
    sphere = next(n for n in group.nodes if n.bl_idname == "GeometryNodeMeshUVSphere")
    out = next(n for n in group.nodes if n.bl_idname == "NodeGroupOutput")
    group.links.new(sphere.outputs[0], to_points.inputs[0])
    group.links.new(to_points.outputs[0], out.inputs[0])
    cloud = bpy.data.pointclouds.new("cloud")
    points = bpy.data.objects.new("points", cloud)
    bpy.context.collection.objects.link(points)
    points.modifiers.new("changing", "NODES").node_group = group
    activate(points)
    folder = tmp_path / "vat"
    assert bpy.ops.sinew.bake_vat(folder=str(folder), mode="particles") == {"FINISHED"}
    assert "particles" in (folder / "points.vat.json").read_text()


def test_ply_of_mirrored_objects_keeps_the_outside(tmp_path):
    obj = tube()
    obj.scale = (-1, 1, 1)
    bpy.context.view_layer.update()
    transform = SCENE_FROM_WORLD @ np.array(obj.matrix_world)
    made = ply.frame(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()), transform, [])
    ply.write(str(tmp_path / "tube.ply"), made)
    mesh = sd.load(tmp_path / "tube.ply").meshes[0]
    a, b, c = (mesh.positions[mesh.triangles[:, k]] for k in range(3))
    normals, middles = np.cross(b - a, c - a), (a + b + c) / 3
    # Faces of the tube look away from its axis, which is Y.
    assert (np.einsum("ij,ij->i", normals, middles * (1, 0, 1)) > 0).all()


def test_ply_of_polygons_reads_back(tmp_path):
    mesh = bpy.data.meshes.new("mixed")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0.5)], [], [(0, 1, 2, 3), (1, 4, 2)])
    layer = mesh.uv_layers.new(name="uv")
    for i, value in enumerate(layer.uv):
        value.vector = (i / 8, 1 - i / 16)
    colors = mesh.color_attributes.new("color", "FLOAT_COLOR", "POINT")
    for i, value in enumerate(colors.data):
        value.color = (i / 8, 0.5, 1.0, 1.0)
    mesh.attributes.new("velocity", "FLOAT_VECTOR", "POINT").data[0].vector = (1, 2, 3)
    obj = bpy.data.objects.new("mixed", mesh)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.update()
    made = ply.frame(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()), SCENE_FROM_WORLD, ["velocity"])
    path = tmp_path / "mixed.ply"
    ply.write(str(path), made)
    read = sd.load(path).meshes[0]
    # Z up to Y up: (x, y, z) becomes (x, z, -y).
    assert {tuple(p) for p in read.positions.tolist()} == {(0, 0, 0), (1, 0, 0), (1, 0, -1), (0, 0, -1), (2, 0.5, 0)}
    assert len(read.triangles) == 3
    # v points down in the package. The corners have the coordinates (i / 8, i / 16) then.
    assert {tuple(uv) for uv in read.uvs[0].tolist()} >= {(i / 8, i / 16) for i in range(7)}
    assert np.unique(read.colors[0][:, 0]).tolist() == [i / 8 for i in range(5)]
    assert [made.attributes[c][0] for c in ("vx", "vy", "vz")] == [1, 3, -2]


# Skin weights.


FADING = {"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "weight": {"keys": [[0.2, 1], [0.5, 0]]}}]}


@pytest.mark.parametrize("helpers, document", [(0, None), (3, None), (3, FADING)])
def test_skin_bake_shows_the_baked_file(tmp_path, helpers, document, monkeypatch):
    obj, armature = rig(document)
    before = np.stack([live_scene(obj, f) for f in range(FIRST, LAST + 1)])
    kept = {}
    real = sd.bake_skin

    def keep(*arguments, **options):
        result = real(*arguments, **options)
        kept["file"] = Path(options["output"]).read_bytes()
        kept["report"] = result.data
        return result

    monkeypatch.setattr(sd, "bake_skin", keep)
    assert bpy.ops.sinew.bake_skin(helpers=helpers, influences=4) == {"FINISHED"}
    copy = bpy.data.objects["tube_skin"]
    assert [(m.type, m.show_viewport) for m in copy.modifiers] == [("ARMATURE", True)]
    assert len(armature.data.bones) == 2 + helpers
    baked = tmp_path / "baked.glb"
    baked.write_bytes(kept["file"])
    player = sd.Player(sd.load(baked), sd.Graph.from_dict({"sinew": "1.0", "stack": ["skin"]}), fps=24)
    errors = []
    for frame in range(FIRST, LAST + 1):
        shown = live_scene(copy, frame)
        player.advance(frame)
        assert np.abs(shown - player["body"].positions()).max() <= 1e-5 * box(before), frame
        errors.append(np.linalg.norm(shown - before[frame - FIRST], axis=1))
    # The report's numbers are those of the shown mesh.
    report = kept["report"][0] if isinstance(kept["report"], list) else kept["report"]
    assert abs(np.max(errors) * 1000.0 - report["largest_mm"]) <= 0.05
    assert report["rms_mm"] < report["source_rms_mm"]
    assert obj.hide_get() and modifier.find(obj).show_viewport


def test_skin_bake_is_one_step_of_undo(tmp_path):
    obj, armature = rig()
    before = frames(obj)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.sinew.bake_skin(helpers=2) == {"FINISHED"}
    assert len(armature.data.bones) == 4
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    obj, armature = bpy.data.objects["tube"], bpy.data.objects["rig"]
    assert len(armature.data.bones) == 2 and "tube_skin" not in bpy.data.objects and not obj.hide_get()
    assert np.abs(frames(obj) - before).max() <= 1e-6


# Mistakes.
