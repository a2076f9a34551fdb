# SPDX-License-Identifier: GPL-3.0-or-later
"""New content for trees that exist: what stays the same is not touched."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import nodes_documents
import pytest
from nodes_support import bent

import bpy
from sinew import nodes

DOCUMENTS = nodes_documents.everything()
NAMES = sorted(DOCUMENTS)


def used(tree: Any) -> None:
    """Lets an object of the scene use a tree, so that Blender evaluates it."""
    bpy.types.Object.sinew_test_tree = bpy.props.PointerProperty(type=bpy.types.NodeTree)
    item = bpy.data.objects.new("user", None)
    bpy.context.collection.objects.link(item)
    item.sinew_test_tree = tree


def evaluated(tree: Any, frame: int) -> Any:
    bpy.context.scene.frame_set(frame)
    return tree.evaluated_get(bpy.context.evaluated_depsgraph_get())


def state(tree: Any) -> list[Any]:
    """Each node and each link, by its place in memory and what it holds."""
    found: list[Any] = []
    for node in tree.nodes:
        props = {p.identifier: str(getattr(node, p.identifier)) for p in node.bl_rna.properties if p.type in ("STRING", "INT", "FLOAT", "BOOLEAN", "ENUM")}
        found.append((node.as_pointer(), props, tuple(node.location), [s.as_pointer() for s in (*node.inputs, *node.outputs)]))
    found += [link.as_pointer() for link in tree.links]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_same_document_changes_nothing(name: str) -> None:
    given, folder = DOCUMENTS[name]
    tree = nodes.from_document(given, "graph", folder)
    before = state(tree)
    nodes.replace(tree, copy.deepcopy(given), folder)
    assert state(tree) == before


@pytest.mark.parametrize("name", NAMES)
def test_one_more_node_leaves_the_others_alone(name: str) -> None:
    given, folder = DOCUMENTS[name]
    tree = nodes.from_document(given, "graph", folder)
    held = [(n, n.as_pointer(), n.source) for n in tree.nodes]
    tree.nodes[0].location[0] -= 50.0
    places = [tuple(n.location) for n in tree.nodes]
    more = copy.deepcopy(given)
    more.setdefault("nodes", {})["one_more"] = {"node": "mask", "source": "constant"}
    nodes.replace(tree, more, folder)
    assert nodes.to_document(tree) == more
    assert [(n.as_pointer(), n.source) for n, _, _ in held] == [(pointer, source) for _, pointer, source in held]
    assert [tuple(n.location) for n, _, _ in held] == places


@pytest.mark.parametrize("name", NAMES)
def test_another_document_is_there_whole(name: str) -> None:
    given, folder = DOCUMENTS[name]
    rng = random.Random(name)
    for other in rng.sample(NAMES, 2):
        wanted, other_folder = DOCUMENTS[other]
        tree = nodes.from_document(given, "graph", folder)
        nodes.replace(tree, wanted, other_folder)
        written = nodes.to_document(tree)
        assert written == wanted, other
        assert json.dumps(written) == json.dumps(wanted), "the order of keys changed"
        nodes.replace(tree, given, folder)
        assert nodes.to_document(tree) == given, other


def test_values_of_nodes_with_the_same_names() -> None:
    """Each change of one key, there and back."""
    variants = [
        bent(),
        bent(angle=0.5),
        bent(angle_degrees=40),
        bent(angle="$turn"),
        bent(weight={"keys": [[0, 0], [1, 1]], "interpolation": "smooth"}),
        bent(weight="skin.nothing"),
        bent(transform={"translation": [1, 2, 3]}),
        bent(transform={"joint": "forearm"}),
        bent(follow="hand", doc="A note."),
        bent(fit={"mask": "skin"}),
    ]
    for left in variants:
        for right in variants:
            tree = nodes.from_document(left, "graph")
            bend = tree.nodes["bend"]
            nodes.replace(tree, right)
            assert nodes.to_document(tree) == right
            assert bend == tree.nodes["bend"]
            plain = nodes.from_document(right, "plain").nodes["bend"]
            for prop in ("p_angle", "p_weight", "j_weight", "j_transform", "p_follow", "doc"):
                assert getattr(bend, prop) == getattr(plain, prop), (prop, left, right)


def test_keyframes_drivers_and_looks_stay(scene: Any) -> None:
    tree = nodes.from_document(bent(angle=0.5), "graph")
    used(tree)
    bend, skin = tree.nodes["bend"], tree.nodes["skin"]
    for frame, angle in ((1, 0.0), (11, 1.0)):
        bend.p_angle = angle
        bend.keyframe_insert("p_angle", frame=frame)
    scene["strength"] = 0.25
    driver = bend.driver_add("p_weight").driver
    variable = driver.variables.new()
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id = scene
    variable.targets[0].data_path = '["strength"]'
    driver.expression = variable.name
    frame_node = tree.nodes.new("NodeFrame")
    frame_node.label = "Arm"
    skin.parent = frame_node
    bend.use_custom_color, bend.color, bend.label, bend.width = True, (1, 0, 0), "Elbow", 333
    bend.location = (77, 88)
    changed = nodes.to_document(tree)
    changed["nodes"]["soft"] = {"node": "smooth", "mesh": "bend", "iterations": 3}
    changed["outputs"]["body"] = "soft"
    changed["nodes"]["bend"]["length"] = 0.75
    nodes.replace(tree, changed)
    assert nodes.to_document(tree) == changed
    assert bend == tree.nodes["bend"] and skin == tree.nodes["skin"]
    assert skin.parent == frame_node and frame_node.label == "Arm"
    assert (bend.use_custom_color, tuple(bend.color), bend.label, bend.width) == (True, (1, 0, 0), "Elbow", 333)
    assert tuple(bend.location) == (77, 88) and bend.p_length == 0.75 and bend.j_angle == ""
    scene["strength"] = 0.75
    now = evaluated(tree, 11).nodes["bend"]
    assert now.p_angle == pytest.approx(1.0) and now.p_weight == pytest.approx(0.75)
    assert evaluated(tree, 1).nodes["bend"].p_angle == pytest.approx(0.0)
    changed["nodes"]["bend"]["angle"] = 0.125
    nodes.replace(tree, changed)
    assert nodes.to_document(tree)["nodes"]["bend"]["angle"] == 0.125
    assert len(tree.animation_data.drivers) == 1, "only the keyframes of the changed value are gone"


def test_a_stack_becomes_nodes_in_place() -> None:
    stack = {"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "iterations": 4}]}
    tree = nodes.from_document(stack, "stack")
    held = {n.key: n for n in tree.nodes if n.bl_idname.startswith("SinewNode_")}
    chain = {"skin": {"node": "skin", "mesh": "body", "pose": "pose"}, "delta_mush": {"node": "delta_mush", "iterations": 4, "mesh": "skin"}}
    explicit = {"sinew": "1.0", "inputs": bent()["inputs"], "nodes": chain, "outputs": {"body": "delta_mush"}}
    links = [link.as_pointer() for link in tree.links]
    nodes.replace(tree, explicit)
    assert nodes.to_document(tree) == explicit
    assert {n.key: n for n in tree.nodes if n.bl_idname.startswith("SinewNode_")} == held
    assert [link.as_pointer() for link in tree.links] == links
    nodes.replace(tree, stack)
    assert nodes.to_document(tree) == stack


def test_removed_nodes_take_their_animation() -> None:
    tree = nodes.from_document(bent(), "graph")
    tree.nodes["bend"].keyframe_insert("p_angle", frame=1)
    tree.nodes["bend"].driver_add("p_weight")
    less = bent()
    del less["nodes"]["bend"]
    less["outputs"]["body"] = "skin"
    nodes.replace(tree, less)
    assert nodes.to_document(tree) == less
    assert not nodes.writer.animation.curves(tree) and not nodes.writer.animation.drivers(tree)


# Sliders, lists and notes.


def test_a_slider_that_moves_replaces_a_text() -> None:
    tree = nodes.from_document(bent(weight={"keys": [[0, 0], [1, 1]], "interpolation": "smooth"}), "graph")
    bend = tree.nodes["bend"]
    assert bend.j_weight
    bend.p_weight = 0.5
    assert not bend.j_weight and nodes.to_document(tree)["nodes"]["bend"]["weight"] == 0.5
    bend.j_transform = '{"joint": "forearm"}'
    bend.p_transform_t = (1, 0, 0)
    assert nodes.to_document(tree)["nodes"]["bend"]["transform"] == {"translation": [1, 0, 0]}


def test_lists_of_words() -> None:
    tree = nodes.from_document(bent(), "graph")
    mask = tree.nodes.new("SinewNode_mask")
    mask.p_joints = "upper arm, hand"
    assert nodes.to_document(tree)["nodes"]["mask"]["joints"] == ["upper arm", "hand"]
    mask.p_joints = '["hand", '
    assert any("not JSON" in note for note in nodes.notes_of(tree))


def test_notes_say_what_documents_cannot_hold(scene: Any) -> None:
    tree = nodes.from_document(bent(), "graph")
    used(tree)
    assert nodes.notes_of(tree) == []
    scene["strength"] = 0.1
    driver = tree.nodes["bend"].driver_add("p_weight").driver
    variable = driver.variables.new()
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id = scene
    variable.targets[0].data_path = '["strength"]'
    driver.expression = f"{variable.name} * 3 - 2e-8"
    evaluated(tree, 2)
    assert ["has a driver" in note for note in nodes.notes_of(tree)] == [True]
    assert nodes.to_document(tree)["nodes"]["bend"]["weight"] == 0.3
    mush = tree.nodes.new("SinewNode_direct_delta_mush")
    setup = next(p for p in mush.kind().parameters if p.setup and p.type in ("int", "float"))
    mush.keyframe_insert(f"p_{setup.name}", frame=1)
    assert any(f"'{setup.name}' has keyframes, but it is read in setup" in note for note in nodes.notes_of(tree))
