# SPDX-License-Identifier: GPL-3.0-or-later
"""Mistakes of newcomers: clear messages, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from conftest import HERE, activate, add, bend, positions, truth, tube, two_bones


def refused(operator: object, **arguments: object) -> str:
    """The message of an operator that refuses."""
    with pytest.raises(RuntimeError) as caught:
        operator(**arguments)
    return str(caught.value)


def test_nothing_is_selected() -> None:
    assert "Select a mesh" in refused(bpy.ops.sinew.add)


def test_the_armature_is_selected_instead_of_the_mesh() -> None:
    two_bones()
    text = refused(bpy.ops.sinew.add)
    assert "'Rig' is an armature" in text and "Select the mesh" in text


@pytest.mark.parametrize("kind", ["light", "camera", "empty"])
def test_an_object_without_vertices(kind: str) -> None:
    data = {"light": lambda: bpy.data.lights.new("x", "SUN"), "camera": lambda: bpy.data.cameras.new("x"), "empty": lambda: None}[kind]()
    obj = bpy.data.objects.new("Thing", data)
    bpy.context.collection.objects.link(obj)
    activate(obj)
    text = refused(bpy.ops.sinew.add)
    assert "'Thing'" in text and kind in text


def test_no_armature() -> None:
    obj = tube()
    obj.modifiers.clear()
    text = refused(bpy.ops.sinew.add, preset="preset:skin")
    assert "has no armature modifier" in text and "Ctrl P" in text and not obj.modifiers
    assert np.array_equal(positions(obj), rest(obj))


def rest(obj: bpy.types.Object) -> np.ndarray:
    flat = np.empty(len(obj.data.vertices) * 3, np.float32)
    obj.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def test_a_mesh_without_vertices() -> None:
    obj = bpy.data.objects.new("Empty", bpy.data.meshes.new("Empty"))
    bpy.context.collection.objects.link(obj)
    activate(obj)
    assert "no vertices" in refused(bpy.ops.sinew.add, preset="preset:smooth")


def test_sinew_twice() -> None:
    obj = tube()
    add(obj, "skin")
    assert "has Sinew already" in refused(bpy.ops.sinew.add, preset="preset:skin")
    assert len(obj.modifiers) == 2


def test_a_mirror_in_front() -> None:
    obj = tube()
    obj.modifiers.new("Mirror", "MIRROR")
    obj.modifiers.move(1, 0)
    text = refused(bpy.ops.sinew.add, preset="preset:skin")
    assert "'Mirror'" in text and "Apply it" in text


def test_two_armatures() -> None:
    obj = tube()
    second = obj.modifiers.new("Second", "ARMATURE")
    second.object = obj.modifiers["Armature"].object
    assert "several armature modifiers: 'Armature', 'Second'" in refused(bpy.ops.sinew.add, preset="preset:skin")


def test_in_edit_mode() -> None:
    tube()
    bpy.ops.object.mode_set(mode="EDIT")
    assert "edit mode" in refused(bpy.ops.sinew.add, preset="preset:skin")
    bpy.ops.object.mode_set(mode="OBJECT")


def _replace_bone(armature: bpy.types.Object, old: str, new: str, move: float) -> None:
    """Another name and another rest pose: the graph does not follow."""
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones[old]
    bone.name, bone.head.x = new, bone.head.x + move
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()


def test_joints_that_are_gone() -> None:
    """The graph names a bone that is gone: the message says which, and the old name mends it."""
    obj = tube()
    graph = {
        "sinew": "1.0",
        "stack": ["skin", {"node": "bend", "name": "curl", "length": 1, "angle_degrees": 20, "follow": "upper"}],
    }
    add(obj, graph)
    assert truth(obj) == ""
    before = positions(obj).copy()
    _replace_bone(obj.sinew.armature, "upper", "forearm", 0.25)
    assert "upper" in truth(obj) and "curl" in truth(obj)
    assert len(positions(obj)) == len(before)
    _replace_bone(obj.sinew.armature, "forearm", "upper", -0.25)
    assert truth(obj) == ""
    assert np.allclose(positions(obj), before, atol=1e-6)


def test_a_graph_with_an_error(tmp_path: Path) -> None:
    tube()
    path = tmp_path / "wrong.json"
    path.write_text('{"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "iteration": 3}]}', encoding="utf-8")
    text = refused(bpy.ops.sinew.graph_load, filepath=str(path))
    assert "iterations" in text
    path.write_text("{ nothing", encoding="utf-8")
    refused(bpy.ops.sinew.graph_load, filepath=str(path))
    assert "no.json" in refused(bpy.ops.sinew.graph_load, filepath=str(tmp_path / "no.json"))


def test_a_graph_that_fails_leaves_the_object_as_it_was(tmp_path: Path) -> None:
    obj = tube()
    graph = add(obj, "delta_mush")
    bend(obj.sinew.armature, 50)
    before = positions(obj).copy()
    path = tmp_path / "missing_joint.json"
    path.write_text('{"sinew": "1.0", "stack": ["skin", {"node": "bend", "follow": "elbow"}]}', encoding="utf-8")
    text = refused(bpy.ops.sinew.graph_load, filepath=str(path))
    assert "elbow" in text and "stays as it was" in text
    assert obj.sinew.tree == graph and truth(obj) == ""
    assert np.array_equal(positions(obj), before)
    wrong = {"list.json": "[1, 2]", "empty.json": "", "kind.json": '{"sinew": "1.0", "stack": ["skim"]}', "no_kind.json": '{"sinew": "1.0", "nodes": {"a": {}}}'}
    count = len(bpy.data.node_groups)
    for name, content in wrong.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        text = refused(bpy.ops.sinew.graph_load, filepath=str(tmp_path / name))
        assert name in text and "Error: Error" not in text and "Traceback" not in text and "KeyError" not in text, text
        assert len(bpy.data.node_groups) == count, name
    assert obj.sinew.tree == graph


def test_documents_with_comments_are_read(tmp_path: Path) -> None:
    obj = tube()
    path = tmp_path / "comments.json"
    path.write_text('{ // a comment\n "sinew": "1.0", /* "x": 1, */ "description": "a // b, }", "stack": ["skin",], }', encoding="utf-8")
    bpy.ops.sinew.graph_load(filepath=str(path))
    assert truth(obj) == "" and obj.sinew.tree.name == "comments"


def test_paths_of_saved_graphs(tmp_path: Path) -> None:
    obj = tube()
    add(obj, "skin")
    assert "Save it" in refused(bpy.ops.sinew.graph_save, filepath="//graph.json")
    assert not Path("/graph.json").exists()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.sinew.graph_save(filepath="//graph.json")
    assert (tmp_path / "graph.json").exists()
    text = refused(bpy.ops.sinew.graph_save, filepath="/proc/none/graph.json")
    assert "/proc/none" in text and "FileNotFoundError" not in text


def test_a_driver_that_a_document_cannot_hold_is_said(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    obj = tube()
    tree = add(obj, "delta_mush")
    tree.nodes["delta_mush"].driver_add("p_weight").driver.expression = "0.3"
    bpy.context.view_layer.update()
    bpy.ops.sinew.graph_save(filepath=str(tmp_path / "driven.json"))
    assert "has a driver" in capfd.readouterr().out
    assert '"weight": 0.3' in (tmp_path / "driven.json").read_text(encoding="utf-8")


def test_a_subdivision_in_front_is_said_and_mended() -> None:
    obj = tube()
    add(obj, "skin")
    bend(obj.sinew.armature, 50)
    expected = positions(obj).copy()
    obj.modifiers.new("Subdivision", "SUBSURF")
    obj.modifiers.move(2, 0)
    bpy.context.view_layer.update()
    bend(obj.sinew.armature, 60)
    assert "'Subdivision'" in truth(obj) and "behind Sinew" in truth(obj)
    assert "'Subdivision'" in refused(bpy.ops.sinew.rebind)
    obj.modifiers.move(0, 2)
    bend(obj.sinew.armature, 50)
    bpy.context.view_layer.update()
    assert truth(obj) == ""
    assert np.allclose(live_local(obj), expected, atol=1e-6)


def live_local(obj: bpy.types.Object) -> np.ndarray:
    from sinew import live

    return live.session(obj).local


def test_a_modifier_that_is_deleted_can_come_back() -> None:
    obj = tube()
    add(obj, "skin")
    bend(obj.sinew.armature, 50)
    expected = positions(obj).copy()
    obj.modifiers.remove(obj.modifiers["Sinew"])
    bpy.context.view_layer.update()
    bpy.ops.sinew.rebind()
    assert np.allclose(positions(obj), expected, atol=1e-6)
    obj.modifiers.remove(obj.modifiers["Sinew"])
    bpy.ops.sinew.remove()
    bpy.context.view_layer.update()
    assert obj.modifiers["Armature"].show_viewport
    assert np.allclose(positions(obj), expected, atol=1e-6)


def test_the_armature_is_deleted() -> None:
    obj = tube()
    add(obj, "skin")
    bend(obj.sinew.armature, 50)
    bpy.data.objects.remove(obj.sinew.armature)
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    assert "armature" in truth(obj) or "weights" in truth(obj)


def test_a_frame_that_fails_does_not_fail_the_next() -> None:
    """An armature that is scaled to nothing for a moment."""
    obj = tube()
    add(obj, "skin")
    rig = obj.sinew.armature
    bend(rig, 40)
    expected = positions(obj).copy()
    rig.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert "scale 0" in truth(obj)
    rig.scale = (1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    assert truth(obj) == ""
    assert np.array_equal(positions(obj), expected)


def test_an_error_is_shown_once(caplog: pytest.LogCaptureFixture) -> None:
    obj = tube()
    add(obj, "skin")
    obj.sinew.output = "nothing"
    for frame in range(1, 8):
        bpy.context.scene.frame_set(frame)
    assert "has no output 'nothing'" in truth(obj)
    assert len([r for r in caplog.records if "nothing" in r.message]) == 1
    obj.sinew.output = ""
    bpy.context.view_layer.update()
    assert truth(obj) == ""


WITHOUT_PACKAGE = """
import sys
sys.modules["sinew_deform"] = None
sys.path.insert(0, sys.argv[-1])
import bpy, sinew
sinew.register()
assert "zip file" in sinew.core.MISSING, sinew.core.MISSING
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
assert not hasattr(bpy.types, "SINEW_OT_add")
sinew.unregister()
print("fine")
"""


def test_an_extension_without_its_package() -> None:
    """The preferences say what to do; nothing else is there."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PACKAGE, str(HERE.parent)], capture_output=True, text=True, check=False
    )
    assert "fine" in done.stdout, done.stderr
