# SPDX-License-Identifier: GPL-3.0-or-later
"""Graphs as node trees: problems at their nodes, files, undo, copies, operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nodes_documents
import nodes_support as support
import pytest
import sinew_deform as sd
from nodes_support import bent, document

import bpy
from sinew import nodes, report

DOCUMENTS = nodes_documents.everything()


def drawn(node: Any, sidebar: bool = False) -> list[Any]:
    layout, shown = support.Layout(), set(report._shown)
    (node.draw_buttons_ext if sidebar else node.draw_buttons)(bpy.context, layout)
    for socket in node.inputs:
        if not socket.hide:
            socket.draw(bpy.context, layout, node, socket.name)
    assert set(report._shown) == shown, "an error while drawing"
    return layout.log


# Problems.


WRONG: list[tuple[dict[str, Any], str]] = [
    (bent(iteration=3), "bend"),
    (bent(length=-1), "bend"),
    (bent(weight="fast"), "bend"),
    (bent(angle="nothing.values"), "bend"),
    (bent(weight="$missing"), "bend"),
    (document({"skin": {"node": "skin", "mesh": "body"}}, {"body": "skin"}), "skin"),
    (document({"skin": {"node": "skin", "mesh": "pose", "pose": "pose"}}, {"body": "skin"}), "skin"),
    (document({"a": {"node": "skim", "mesh": "body"}}, {"body": "a"}), "a"),
    (document({"a": {"node": "smooth", "mesh": "b"}, "b": {"node": "smooth", "mesh": "a"}}, {"body": "a"}), "a|b"),
    (document({"m": {"node": "mask", "mesh": "body", "source": "wrong"}}, {"m": "m"}), "m"),
    (document({"s": {"node": "smooth", "mesh": "body"}}, {"body": "s", "x": "lost"}), "x"),
    ({**bent(), "parameters": {"p": {"type": "flaot"}}}, "p"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors_are_at_their_node(number: int) -> None:
    wrong, where = WRONG[number]
    tree = nodes.from_document(wrong, "graph")
    found = [d for d in nodes.check(tree) if d.severity == "error"]
    expected = [d.message for d in sd.Graph.from_dict(wrong).check() if d.severity == "error"]
    assert sorted(d.message for d in found) == sorted(expected) and expected
    at = {n.key: [p["message"] for p in nodes.base.problems_of(n) if p["severity"] == "error"] for n in tree.nodes if n.problems}
    at = {key: messages for key, messages in at.items() if messages}
    assert set(at) <= set(where.split("|")) and at
    assert sum(map(len, at.values())) == len(expected)
    node = next(n for n in tree.nodes if n.key in at)
    assert node.use_custom_color
    lines = [text for what, text in drawn(node) if what == "label" and len(text) > 8]
    assert any(message.startswith(text) for message in at[node.key] for text in lines)


def test_mended_errors_are_cleared() -> None:
    tree = nodes.from_document(bent(length=-1), "graph")
    bend = tree.nodes["bend"]
    nodes.check(tree)
    assert bend.problems and bend.use_custom_color
    bend.p_length = 0.5
    assert [d for d in nodes.check(tree) if d.severity == "error"] == []
    assert not bend.problems and not bend.use_custom_color


def test_joints_are_checked_with_a_character() -> None:
    tree = nodes.from_document(document({"j": {"node": "joint_transform", "pose": "pose", "joint": "tail"}}, {"x": "j"}), "graph")
    assert nodes.check(tree) == []
    nodes.check(tree, sd.Character.sample("arm"))
    assert "tail" in tree.nodes["j"].problems


def test_errors_in_nested_graphs() -> None:
    inner = {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": ["smooth", {"node": "bend", "wrong": 1}]}
    tree = nodes.from_document(document({"g": {"node": "graph", "graph": inner, "body": "body"}}, {"body": "g"}), "graph")
    nodes.check(tree)
    group = tree.nodes["g"]
    bad = next(n for n in group.tree.nodes if n.key == "bend")
    assert "wrong" in bad.problems and "wrong" in group.problems
    assert not next(n for n in group.tree.nodes if n.key == "smooth").problems


def test_errors_of_playing_are_shown() -> None:
    tree = nodes.from_document(document({"j": {"node": "joint_transform", "pose": "pose", "joint": "tail"}}, {"x": "j"}), "graph")
    with pytest.raises(sd.SinewError) as caught:
        sd.Player(sd.Character.sample("arm"), sd.Graph.from_dict(nodes.live(tree).document))
    nodes.show_error(tree, caught.value)
    assert "tail" in tree.nodes["j"].problems


# Files, undo, copies.


def test_saved_files(tmp_path: Path) -> None:
    names = [n for n in DOCUMENTS if DOCUMENTS[n][1] is None or "sinew-deform" in n]
    for name in names:
        nodes.from_document(DOCUMENTS[name][0], name[-50:], DOCUMENTS[name][1])["test"] = name
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    nodes.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=path)
        bpy.ops.wm.save_as_mainfile(filepath=path)
    finally:
        nodes.register()
    bpy.ops.wm.open_mainfile(filepath=path)
    found = {tree["test"]: nodes.to_document(tree) for tree in bpy.data.node_groups if "test" in tree}
    assert len(found) == len(names)
    for name in names:
        assert found[name] == DOCUMENTS[name][0], name


def test_undo() -> None:
    tree = nodes.from_document(bent(angle_degrees=30), "graph")
    bpy.ops.ed.undo_push(message="made")
    tree.nodes["bend"].p_angle = 1.0
    tree.nodes["skin"].key = "posed"
    tree.links.remove(tree.nodes["bend"].inputs[0].links[0])
    bpy.ops.ed.undo_push(message="changed")
    changed = nodes.to_document(bpy.data.node_groups["graph"])
    bpy.ops.ed.undo()
    assert nodes.to_document(bpy.data.node_groups["graph"]) == bent(angle_degrees=30)
    bpy.ops.ed.redo()
    assert nodes.to_document(bpy.data.node_groups["graph"]) == changed != bent(angle_degrees=30)


@pytest.mark.parametrize("name", [n for n in DOCUMENTS if DOCUMENTS[n][1] is None])
def test_copies_keep_everything(name: str) -> None:
    tree = nodes.from_document(DOCUMENTS[name][0], "graph")
    assert nodes.to_document(tree.copy()) == DOCUMENTS[name][0]


@pytest.fixture
def editor(scene: Any) -> Any:
    """A node editor with a graph."""
    bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True)
    tree = nodes.from_document(bent(angle_degrees=30), "graph")
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    area.type = "NODE_EDITOR"
    area.ui_type = nodes.TREE
    space = area.spaces.active
    space.node_tree = tree
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, screen=window.screen, area=area, region=region, space_data=space):
        yield tree


def test_operators_of_blender(editor: Any) -> None:
    """Add, duplicate, copy and paste."""
    for node in editor.nodes:
        node.select = node.key == "bend"
    editor.nodes.active = editor.nodes["bend"]
    assert bpy.ops.node.duplicate() == {"FINISHED"}
    bpy.ops.node.clipboard_copy()
    bpy.ops.node.clipboard_paste()
    bpy.ops.node.add_node(type="SinewNode_twist", use_transform=False)
    written = nodes.to_document(editor)["nodes"]
    assert list(written) == ["skin", "bend", "bend_2", "bend_3", "twist"]
    values = {"node": "bend", "length": 0.5, "angle_degrees": 30}
    assert {k: v for k, v in written["bend_2"].items() if k != "mesh"} == values
    assert {k: v for k, v in written["bend_3"].items() if k != "mesh"} == values


def test_operators_of_nodes(editor: Any) -> None:
    bend = editor.nodes["bend"]
    assert bpy.ops.sinew.node_reset(node="bend", parameter="angle") == {"FINISHED"}
    assert "angle_degrees" not in nodes.to_document(editor)["nodes"]["bend"] and bend.p_angle == 0
    socket = next(s for s in bend.inputs if s.identifier == "follow")
    was_hidden = socket.hide
    bpy.ops.sinew.node_show_socket(node="bend", parameter="follow")
    assert socket.hide != was_hidden
    bend.p_follow = "tail"
    assert bpy.ops.sinew.nodes_check() == {"FINISHED"}
    bend.j_weight = '"fast"'
    bpy.ops.sinew.nodes_check()
    assert "weight" in bend.problems
    with pytest.raises(RuntimeError, match="is not in this graph"):
        bpy.ops.sinew.node_reset(node="nothing", parameter="angle")


def test_muted_nodes_pass_their_mesh(editor: Any) -> None:
    editor.nodes["bend"].mute = True
    written = nodes.to_document(editor)
    assert written["outputs"] == {"body": "skin"}
    assert "bend" not in nodes.live(editor).document["nodes"]


def test_operators_work_without_a_node_editor(scene: Any) -> None:
    """Scripts have no editor: the graph of the active object counts."""
    armature = bpy.data.armatures.new("rig")
    rig = bpy.data.objects.new("rig", armature)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    armature.edit_bones.new("forearm").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError, match="make an object with one active"):
        bpy.ops.sinew.nodes_check()
    tree = nodes.from_document(bent(length=-1), "graph")
    rig.sinew.tree = tree
    assert bpy.ops.sinew.nodes_check() == {"FINISHED"}
    assert "length" in tree.nodes["bend"].problems
    mask = tree.nodes.new("SinewNode_mask")
    mask.p_joints = "hand, tail"
    assert bpy.ops.sinew.node_add_joint(node=mask.name, parameter="joints", joint="forearm") == {"FINISHED"}
    assert nodes.to_document(tree)["nodes"]["mask"]["joints"] == ["hand", "tail", "forearm"]
