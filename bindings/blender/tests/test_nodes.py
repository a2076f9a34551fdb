# SPDX-License-Identifier: GPL-3.0-or-later
"""Graphs as node trees: documents come back as they were, nodes do what the registry says, Blender's animation counts."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import nodes_documents
import nodes_support as support
import numpy as np
import pytest
import sinew_deform as sd
from nodes_support import ARM, REGISTRY, bent, document

import bpy
from sinew import documents, nodes, report

DOCUMENTS = nodes_documents.everything()


def used(tree: Any) -> None:
    """Lets an object of the scene use a tree, so that Blender evaluates it."""
    bpy.types.Object.sinew_test_tree = bpy.props.PointerProperty(type=bpy.types.NodeTree)
    item = bpy.data.objects.new("user", None)
    bpy.context.collection.objects.link(item)
    item.sinew_test_tree = tree


def evaluated(tree: Any, frame: int) -> Any:
    bpy.context.scene.frame_set(frame)
    return tree.evaluated_get(bpy.context.evaluated_depsgraph_get())


def drawn(node: Any, sidebar: bool = False) -> list[Any]:
    layout, shown = support.Layout(), set(report._shown)
    (node.draw_buttons_ext if sidebar else node.draw_buttons)(bpy.context, layout)
    for socket in node.inputs:
        if not socket.hide:
            socket.draw(bpy.context, layout, node, socket.name)
    assert set(report._shown) == shown, "an error while drawing"
    return layout.log


# Documents.


def test_there_are_documents() -> None:
    assert len(DOCUMENTS) > 100
    assert {Path(name).parts[0] for name in nodes_documents.files()} >= {"examples", "crates", "docs"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_comes_back_as_it_was(name: str) -> None:
    given, folder = DOCUMENTS[name]
    tree = nodes.from_document(given, "graph", folder)
    written = nodes.to_document(tree)
    assert written == given
    assert json.dumps(written) == json.dumps(given), "the order of keys changed"


@pytest.mark.parametrize("name", [n for n in DOCUMENTS if not DOCUMENTS[n][0].get("nodes", {}).get("kernel")])
def test_links_are_links_of_the_tree(name: str) -> None:
    """Without links, the document lacks them: they do not come from text that was kept."""
    given, folder = DOCUMENTS[name]
    tree = nodes.from_document(given, "graph", folder)
    assert not [n for n in tree.nodes if n.bl_idname == "SinewUnknownNode"]
    assert not [n for n in tree.nodes if n.dangling not in ("", "[]")]
    tree.links.clear()
    written = json.dumps(nodes.to_document(tree).get("nodes", {}))
    for key in given.get("nodes", {}):
        for port in ("mesh", "strands"):
            assert f'"{port}": "{key}"' not in written
    assert "outputs" not in nodes.to_document(tree) or not nodes.to_document(tree)["outputs"]


def without_text(tree: Any) -> list[tuple[str, str]]:
    """Removes the values in the kept text of a tree. Gives the kinds and parameters that had some."""
    found = []
    for node in tree.nodes:
        if node.bl_idname.startswith("SinewNode_"):
            read = json.loads(node.source)
            read = read if isinstance(read, dict) else {"node": read}
            keys = {k: None for k in read if node.kind().parameter(k) and not k.endswith("_degrees")}
            node.source = json.dumps({"node": read["node"], **keys})
            found += [(read["node"], key) for key in keys]
    return found


def test_properties_hold_the_values() -> None:
    """Without the kept text, properties alone give the same positions. Each parameter that documents state is there once."""
    seen: set[tuple[str, str]] = set()
    played = 0
    for name, (given, folder) in sorted(DOCUMENTS.items(), key=lambda item: len(json.dumps(item[1][0]))):
        if folder is None or "graphs" in name or "crates/sinew-deform" not in name or "hair" in name:
            continue
        tree = nodes.from_document(given, "graph", folder)
        stated = set(without_text(tree))
        if stated <= seen:
            continue
        written = nodes.to_document(tree)
        try:
            expected = support.positions(given, frames=(2,), folder=folder)
        except sd.SinewError:
            continue
        assert support.equal(expected, support.positions(written, frames=(2,), folder=folder)), name
        seen |= stated
        played += 1
    assert played > 5


def test_a_stack_with_a_new_step_still_gives_the_same() -> None:
    given = {"sinew": "1.0", "stack": ["morph", "skin", {"node": "delta_mush", "iterations": 4}, {"node": "delta_mush", "name": "again"}]}
    tree = nodes.from_document(given, "stack")
    assert nodes.to_document(tree) == given
    assert len([link for link in tree.links if link.to_socket.identifier == "mesh"]) == 4
    by_key = {n.key: n for n in tree.nodes if n.bl_idname.startswith("SinewNode_")}
    noise = tree.nodes.new("SinewNode_noise")
    tree.links.new(by_key["skin"].outputs[0], noise.inputs[0])
    tree.links.new(noise.outputs[0], by_key["delta_mush"].inputs[0])
    written = nodes.to_document(tree)
    hand = {
        **ARM,
        "nodes": {
            "a": {"node": "morph", "mesh": "body", "pose": "pose"},
            "b": {"node": "skin", "mesh": "a", "pose": "pose"},
            "c": {"node": "noise", "mesh": "b"},
            "d": {"node": "delta_mush", "mesh": "c", "iterations": 4},
            "e": {"node": "delta_mush", "mesh": "d"},
        },
        "outputs": {"body": "e"},
    }
    assert support.equal(support.positions(written), support.positions(hand))


def test_a_stack_without_a_link_becomes_nodes() -> None:
    tree = nodes.from_document({"sinew": "1.0", "stack": ["skin", "delta_mush"]}, "stack")
    skin = next(n for n in tree.nodes if n.bl_idname == "SinewNode_skin")
    tree.links.remove(skin.inputs[0].links[0])
    written = nodes.to_document(tree)
    assert "stack" not in written
    assert support.errors(written) == ["node 'skin' (skin) needs the input 'mesh'"]


def test_renaming_a_node_renames_its_links() -> None:
    tree = nodes.from_document(bent(), "graph")
    next(n for n in tree.nodes if n.bl_idname == "SinewNode_skin").key = "posed"
    written = nodes.to_document(tree)
    assert written["nodes"]["bend"]["mesh"] == "posed"
    assert "skin" not in written["nodes"]
    assert support.equal(support.positions(written), support.positions(bent()))


def test_names_are_legal_and_different() -> None:
    tree = bpy.data.node_groups.new("graph", nodes.TREE)
    keys = [tree.nodes.new("SinewNode_skin").key for _ in range(3)]
    assert keys == ["skin", "skin_2", "skin_3"]
    node = tree.nodes[-1]
    node.key = "a.b/c$"
    assert node.key == "a_b_c_"
    node.key = "skin"
    assert node.key == "skin_3"


def test_what_is_wrong_is_kept() -> None:
    wrong = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "odd": 3, "a.b": {"type": "pose"}, "new": {"type": "volume", "x": 1}},
        "future": {"a": [1]},
        "nodes": {
            "a": {"node": "skin", "mesh": "nowhere", "pose": "body.nothing", "what": 7},
            "b": {"node": "smooth", "mesh": "a", "iterations": -3, "weight": "lots", "mask_invert": None},
            "c": {"node": "cloth_2030", "mesh": "b", "stiffness": 4, "deep": {"x": ["b"]}},
            "d": 5,
            "e": {"mesh": "a"},
        },
        "outputs": {"body": "c", "x": 4},
    }
    tree = nodes.from_document(wrong, "wrong")
    assert nodes.to_document(tree) == wrong
    unknown = next(n for n in tree.nodes if n.key == "c")
    assert unknown.bl_idname == "SinewUnknownNode"
    assert any("cloth_2030" in str(entry) for entry in drawn(unknown))
    assert unknown.inputs[0].links[0].from_node.key == "b"


# The registry.


def inputs_of(kind: str) -> dict[str, str]:
    """Required inputs of a kind, and the name of a node that gives each."""
    made = {}
    for port in REGISTRY[kind]["inputs"]:
        if port["required"]:
            needed = "strands" if kind in support.STRAND_KINDS and port["name"] == "strands" else port["type"]
            made[port["name"]] = support.SOURCES[needed][0]
    return made


def by_hand(kind: str, bake: str) -> dict[str, Any]:
    """The document that the test writes itself."""
    links = inputs_of(kind)
    inputs = {"body": {"type": "mesh"}, "pose": {"type": "pose"}}
    if "hair" in links.values():
        inputs["hair"] = {"type": "strands"}
    if "bake" in links.values():
        inputs["bake"] = {"type": "vertex_animation", "file": bake}
    chain = {name: keys for name, keys in support.SOURCES.values() if keys and name in links.values()}
    chain["made"] = {"node": kind, **links, **support.NEEDS.get(kind, {})}
    if kind == "solids":
        # Solids have no grid to read: strands that collide with them are read instead.
        inputs["hair"] = {"type": "strands"}
        chain["after"] = {"node": "collide", "strands": "hair", "colliders": "made"}
    return {"sinew": "1.0", "inputs": inputs, "nodes": chain, "outputs": {"result": list(chain)[-1]}}


def by_nodes(kind: str, bake: str) -> Any:
    """The same, made in Blender."""
    hand = by_hand(kind, bake)
    tree = bpy.data.node_groups.new(kind, nodes.TREE)
    made = {}
    for name, keys in hand["inputs"].items():
        made[name] = tree.nodes.new("SinewInputNode")
        made[name].p_type = keys["type"]
        made[name].key = name
        if "file" in keys:
            made[name].p_file = keys["file"]
    for name, keys in hand["nodes"].items():
        node = made[name] = tree.nodes.new(f"SinewNode_{keys['node']}")
        node.key = name
        for key, value in keys.items():
            socket = next((s for s in node.inputs if s.identifier == key), None)
            if socket is not None and socket.bl_idname != "SinewSocket_number":
                tree.links.new(made[value].outputs[0], socket)
            elif key != "node":
                setattr(node, f"p_{key}", json.dumps(value) if isinstance(value, list) else value)
    output = tree.nodes.new("SinewOutputNode")
    output.key = "result"
    tree.links.new(made[hand["outputs"]["result"]].outputs[0], output.inputs[0])
    return tree


@pytest.fixture(scope="module")
def bake(tmp_path_factory: Any) -> Path:
    """A bake of the head, for `vat_playback`."""
    folder = tmp_path_factory.mktemp("bake")
    sd.bake_vat(sd.Character.sample("head"), output=str(folder), frames=range(2), mesh_output="body")
    return next(folder.rglob("*.vat.json"))


@pytest.mark.parametrize("kind", REGISTRY)
def test_each_kind_is_added_linked_and_evaluated(kind: str, bake: Path) -> None:
    tree = by_nodes(kind, bake.name)
    hand = by_hand(kind, bake.name)
    written = nodes.to_document(tree)
    assert written == hand
    assert all(nodes.sockets.fits(link.from_socket, link.to_socket) for link in tree.links)
    character = sd.load(str(next(bake.parent.glob("*.glb")))) if kind == "vat_playback" else support.SAMPLE_OF.get(kind, "head")
    made, expected = (support.positions(d, character, (0, 3), str(bake.parent)) for d in (written, hand))
    assert made and support.equal(made, expected)


@pytest.mark.parametrize("kind", REGISTRY)
def test_the_class_says_what_the_registry_says(kind: str) -> None:
    cls = bpy.types.Node.bl_rna_get_subclass_py(f"SinewNode_{kind}")
    assert cls.bl_rna.description == REGISTRY[kind]["summary"]
    for param in REGISTRY[kind]["parameters"]:
        if param["type"] not in ("float", "int", "bool", "choice", "vec3", "vec4", "int3", "text"):
            continue
        rna = cls.bl_rna.properties[f"p_{param['name']}"]
        assert param["doc"].rstrip(".") in rna.description
        if param["type"] == "choice":
            assert [(i.identifier, i.description) for i in rna.enum_items] == [(c["name"], c["doc"]) for c in param["choices"]]
        if param["type"] in ("float", "int"):
            if "min" in param:
                assert rna.hard_min == np.float32(param["min"])
            if "max" in param and param["max"] < 2**31:
                assert rna.hard_max == np.float32(param["max"])
            assert rna.default == np.float32(param.get("default", 0))
        assert rna.subtype == "ANGLE" or param.get("unit") != "rad"
        assert rna.subtype == "DISTANCE" or param.get("unit") != "m" or param["type"] != "float"


@pytest.mark.parametrize("kind", REGISTRY)
def test_values_inside_the_range_are_right(kind: str) -> None:
    rng = random.Random(kind)
    tree = bpy.data.node_groups.new(kind, nodes.TREE)
    node = tree.nodes.new(f"SinewNode_{kind}")
    expected = {}
    for param in REGISTRY[kind]["parameters"]:
        value = support.random_value(param, rng)
        if value is not None:
            setattr(node, f"p_{param['name']}", value)
            expected[param["name"]] = list(value) if isinstance(value, tuple) else value
    written = nodes.to_document(tree)
    keys = written["nodes"][node.key]
    assert set(keys) == {"node", *expected}
    for name, value in expected.items():
        assert np.array_equal(np.float32(keys[name]), np.float32(value)) if not isinstance(value, str) else keys[name] == value
    codes = {d.code for d in sd.Graph.from_dict(written).check()}
    assert not {code for code in codes if "range" in code or "type" in code or "choice" in code}, codes


def test_values_outside_the_range_are_clamped() -> None:
    clamped = 0
    for kind, entry in REGISTRY.items():
        node = bpy.data.node_groups.new(kind, nodes.TREE).nodes.new(f"SinewNode_{kind}")
        for param in entry["parameters"]:
            if param["type"] in ("float", "int") and -1e6 < param.get("min", -1e9):
                setattr(node, f"p_{param['name']}", type(param["default"])(param["min"] - 1))
                assert getattr(node, f"p_{param['name']}") == np.float32(param["min"])
                clamped += 1
    assert clamped > 50


def test_all_is_drawn() -> None:
    """Everything that nodes draw exists; each parameter is in the sidebar."""
    for kind, entry in REGISTRY.items():
        node = bpy.data.node_groups.new(kind, nodes.TREE).nodes.new(f"SinewNode_{kind}")
        folded = drawn(node)
        assert len(folded) < 25, f"{kind} is tall: {len(folded)} rows"
        node.show_advanced = True
        shown = {name for what, name in drawn(node) if what == "prop"}
        sidebar = {name for what, name in drawn(node, sidebar=True) if what == "prop"}
        for param in entry["parameters"]:
            names = {f"p_{param['name']}", f"p_{param['name']}_t"}
            assert names & shown and names & sidebar, param["name"]
    tree = bpy.data.node_groups.new("special", nodes.TREE)
    for special in ("Input", "Parameter", "Output", "Group", "Kernel", "Unknown"):
        node = tree.nodes.new(f"Sinew{special}Node")
        assert drawn(node) and drawn(node, sidebar=True)


def test_the_add_menu_has_all_kinds() -> None:
    found = set()
    for cls in nodes.menus.classes():
        if cls.bl_idname.startswith("SINEW_MT_add"):
            layout = support.Layout()
            cls.draw(type("Menu", (), {"layout": layout})(), bpy.context)
            found |= {made.type for what, made in layout.log if what == "operator"}
    assert found >= {f"SinewNode_{kind}" for kind in REGISTRY}
    assert found >= {"SinewInputNode", "SinewOutputNode", "SinewParameterNode", "SinewGroupNode", "SinewKernelNode"}


# Places.


@pytest.mark.parametrize("is_moved", [False, True])
def test_new_nodes_cover_no_others(is_moved: bool) -> None:
    skin = {"node": "skin", "mesh": "body", "pose": "pose"}
    tree = nodes.from_document(document({"skin": skin}, {"body": "skin"}), "grows")
    if is_moved:
        tree.nodes["skin"].location = (310.0, -20.0)
    more = {f"mask_{n}": {"node": "mask", "mesh": "body", "source": "constant"} for n in range(3)}
    nodes.replace(tree, document({**more, "skin": skin}, {"body": "skin"}))
    if is_moved:
        assert tuple(tree.nodes["skin"].location) == (310.0, -20.0)
    found = [(n.location[0], n.location[1]) for n in tree.nodes]
    for i, (x, y) in enumerate(found):
        # No node is less tall than 100 or wider than 240.
        assert all(abs(x - other) >= 240 or abs(y - top) >= 100 for other, top in found[i + 1 :])


# Text.


def test_comments_and_last_commas_are_read() -> None:
    with_all = '// one "\n{ /* two\n*/ "a": "// no, }", "b": [1, 2, /* c */ ], // "x"\n }'
    assert documents.parsed(with_all) == {"a": "// no, }", "b": [1, 2]}
    path = nodes_documents.REPOSITORY / "crates/sinew-deform/src/pose_driver/pose_driver.json"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("//")
    frames = [[support.numbers(player[n]) for n in player.outputs] for player in (arm_player(sd.Graph.load(str(path))), arm_player(read(text)))]
    assert support.equal(*frames)


def read(text: str) -> sd.Graph:
    """The graph that the nodes of a text make."""
    return sd.Graph.from_dict(nodes.to_document(nodes.from_document(documents.parsed(text), "read")), "read")


def arm_player(graph: sd.Graph) -> sd.Player:
    """Plays a graph on the arm of the samples to frame 10."""
    player = sd.Player(sd.Character.sample("arm"), graph)
    player.advance(10)
    return player


# Values.


def test_presets() -> None:
    for kind, entry in REGISTRY.items():
        for preset in entry["presets"]:
            tree = nodes.from_document(document({"n": {"node": kind}}, {}), kind)
            node = next(n for n in tree.nodes if n.key == "n")
            node.preset = preset["name"]
            assert nodes.to_document(tree)["nodes"]["n"] == {"node": kind, "preset": preset["name"]}
            for name, value in preset["values"].items():
                shown = getattr(node, f"p_{name}")
                assert shown == value if isinstance(value, str) else np.allclose(shown, value)
            node.preset = "NONE"
            assert nodes.to_document(tree)["nodes"]["n"] == {"node": kind}


def test_a_preset_does_not_change_what_is_set() -> None:
    tree = nodes.from_document(bent(), "graph")
    mush = tree.nodes.new("SinewNode_delta_mush")
    mush.p_iterations = 33
    mush.preset = "soft"
    keys = nodes.to_document(tree)["nodes"]["delta_mush"]
    assert keys == {"node": "delta_mush", "preset": "soft", "iterations": 33}


def test_a_default_is_stated_when_touched_and_gone_when_reset() -> None:
    tree = nodes.from_document(bent(), "graph")
    bend = next(n for n in tree.nodes if n.key == "bend")
    bend.p_weight = 1.0
    assert nodes.to_document(tree)["nodes"]["bend"]["weight"] == 1.0
    bend.p_length = 0.75
    assert nodes.to_document(tree)["nodes"]["bend"]["length"] == 0.75
    for name in ("weight", "length"):
        bend.reset(bend.kind().parameter(name))
    assert nodes.to_document(tree)["nodes"]["bend"] == {"node": "bend", "mesh": "skin"}


def test_degrees_stay_degrees() -> None:
    tree = nodes.from_document(bent(angle_degrees=60), "graph")
    bend = next(n for n in tree.nodes if n.key == "bend")
    assert bend.p_angle == pytest.approx(math.radians(60), abs=1e-6)
    bend.p_angle = math.radians(45)
    assert nodes.to_document(tree)["nodes"]["bend"]["angle_degrees"] == 45
    other = nodes.from_document(bent(angle=1.5), "other")
    assert nodes.to_document(other)["nodes"]["bend"]["angle"] == 1.5


def test_transforms() -> None:
    given = bent(transform={"translation": [0.1, 0, 0], "rotation_degrees": [0, 0, 30]})
    tree = nodes.from_document(given, "graph")
    bend = next(n for n in tree.nodes if n.key == "bend")
    assert bend.p_transform_r[2] == pytest.approx(math.radians(30))
    bend.p_transform_t = (0.2, 0, 0)
    changed = nodes.to_document(tree)["nodes"]["bend"]["transform"]
    assert changed == {"translation": [0.2, 0, 0], "rotation_degrees": [0, 0, 30]}
    for raw in ({"joint": "forearm", "offset": {"translation": [1, 0, 0]}}, {"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}):
        given = bent(transform=raw)
        tree = nodes.from_document(given, "graph")
        bend = next(n for n in tree.nodes if n.key == "bend")
        assert json.loads(bend.j_transform) == raw
        assert nodes.to_document(tree) == given


def test_links_of_parameters() -> None:
    chain = {
        "elbow": {"node": "joint_transform", "pose": "pose", "joint": "forearm"},
        "bend": {"node": "bend", "mesh": "body", "angle": {"link": "elbow.swing", "remap": [[0, 0], [1, 0.5]]}, "weight": "elbow.rotation[2]"},
    }
    given = document(chain, {"body": "bend"})
    tree = nodes.from_document(given, "graph")
    bend = next(n for n in tree.nodes if n.key == "bend")
    socket = next(s for s in bend.inputs if s.identifier == "weight")
    assert socket.links[0].from_socket.identifier == "rotation" and socket.index == 2
    socket.index = 1
    angle = next(s for s in bend.inputs if s.identifier == "angle")
    angle.remap = "[[0, 0], [1, 0.25]]"
    angle.interpolation = "smooth"
    keys = nodes.to_document(tree)["nodes"]["bend"]
    assert keys["weight"] == "elbow.rotation[1]"
    assert keys["angle"] == {"link": "elbow.swing", "remap": [[0, 0], [1, 0.25]], "interpolation": "smooth"}
    assert support.errors(nodes.to_document(tree)) == []
    tree.links.remove(angle.links[0])
    assert "angle" not in nodes.to_document(tree)["nodes"]["bend"]


def test_lists_are_text_and_mistakes_are_shown() -> None:
    tree = nodes.from_document(document({"m": {"node": "mask", "mesh": "body", "pose": "pose", "joints": ["forearm"]}}, {"m": "m"}), "graph")
    mask = next(n for n in tree.nodes if n.key == "m")
    mask.p_joints = '["hand", '
    assert any("not JSON" in str(text) for what, text in drawn(mask) if what == "label")
    notes: list[str] = []
    assert nodes.to_document(tree, notes)["nodes"]["m"]["joints"] == ["forearm"]
    assert "'joints' is not JSON" in notes[0]
    mask.p_joints = '["hand"]'
    assert nodes.to_document(tree)["nodes"]["m"]["joints"] == ["hand"]


def test_lists_of_links() -> None:
    chain = {
        "a": {"node": "solids"},
        "b": {"node": "solids"},
        "sim": {"node": "hair_sim", "strands": "hair", "colliders": ["b", "a"], "colliders_3": "a"},
    }
    given = document(chain, {"hair": "sim"}, inputs={"body": {"type": "mesh"}, "hair": {"type": "strands"}})
    tree = nodes.from_document(given, "graph")
    sim = next(n for n in tree.nodes if n.key == "sim")
    colliders = next(s for s in sim.inputs if s.identifier == "colliders")
    assert colliders.is_multi_input and len(colliders.links) == 2
    assert nodes.to_document(tree) == given
    third = tree.nodes.new("SinewNode_sdf")
    tree.links.new(third.outputs[0], colliders)
    assert nodes.to_document(tree)["nodes"]["sim"]["colliders"] == ["b", "a", "sdf"]


def test_links_of_wrong_types_are_marked() -> None:
    tree = nodes.from_document(bent(), "graph")
    pose = next(n for n in tree.nodes if n.key == "pose")
    bend = next(n for n in tree.nodes if n.key == "bend")
    tree.links.new(pose.outputs[0], bend.inputs[0])
    nodes.check(tree)
    assert [(link.from_node.key, link.is_valid) for link in tree.links if link.to_node == bend] == [("pose", False)]
    assert all(link.is_valid for link in tree.links if link.to_node != bend)


def test_joint_names_are_found() -> None:
    armature = bpy.data.armatures.new("rig")
    item = bpy.data.objects.new("rig", armature)
    bpy.context.collection.objects.link(item)
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("upper_arm", "forearm", "hand"):
        armature.edit_bones.new(name).tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    node = nodes.from_document(bent(), "graph").nodes["bend"]
    assert nodes.joints.search(node, bpy.context, "ARM") == ["forearm", "upper_arm"]


# Animation.


def interpolated(keys: dict[str, Any], seconds: float) -> float:
    """Keys as the manual defines them."""
    times, numbers = zip(*keys["keys"], strict=True)
    if keys.get("interpolation") == "step":
        return numbers[max(0, sum(t <= seconds + 1e-9 for t in times) - 1)]
    return float(np.interp(seconds, times, numbers))


@pytest.mark.parametrize("mode", ["LINEAR", "CONSTANT", "BEZIER"])
def test_keyframes_become_keys(mode: str, scene: Any) -> None:
    scene.render.fps = 24
    tree = nodes.from_document(bent(angle_degrees=0), "graph")
    bend = tree.nodes["bend"]
    for frame, angle in ((0, 0.0), (7, 60.0), (20, -30.0)):
        bend.p_angle = math.radians(angle)
        bend.keyframe_insert("p_angle", frame=frame)
    curve = nodes.writer.animation.curves(tree)['nodes["bend"].p_angle'][0]
    for point in curve.keyframe_points:
        point.interpolation = mode
    written = nodes.to_document(tree)
    keys = written["nodes"]["bend"]["angle_degrees"]
    for frame in range(-2, 24):
        assert interpolated(keys, frame / 24) == pytest.approx(math.degrees(curve.evaluate(frame)), abs=2e-4)
    if mode == "LINEAR":
        assert len(keys["keys"]) == 3
        halves = support.positions(written, frames=(5,)), support.positions(bent(angle=curve.evaluate(5)), frames=(5,))
        rate = sd.Player(sd.Character.sample("arm"), sd.Graph.from_dict(written)).fps
        if rate == 24:
            assert np.allclose(halves[0], halves[1], atol=1e-5)
    assert support.errors(written) == []


def test_keyframes_of_vectors_and_integers(scene: Any) -> None:
    tree = nodes.from_document(document({"n": {"node": "noise", "mesh": "body"}}, {"body": "n"}), "graph")
    noise = tree.nodes["n"]
    used(tree)
    for frame, offset, octaves in ((1, (0, 0, 0), 1), (11, (1, 2, 3), 6)):
        noise.p_offset, noise.p_octaves = offset, octaves
        noise.keyframe_insert("p_offset", frame=frame)
        noise.keyframe_insert("p_octaves", frame=frame)
    keys = nodes.to_document(tree)["nodes"]["n"]
    rate = scene.render.fps
    for frame in range(1, 12):
        now = evaluated(tree, frame).nodes["n"]
        steps = [value for time, value in keys["octaves"]["keys"] if time <= frame / rate + 1e-9]
        assert steps[-1] == now.p_octaves
        times, points = zip(*keys["offset"]["keys"], strict=True)
        found = [np.interp(frame / rate, times, [p[i] for p in points]) for i in range(3)]
        assert np.allclose(found, now.p_offset, atol=1e-5)


def test_setup_values_and_drivers_are_reported() -> None:
    tree = nodes.from_document(bent(), "graph")
    mush = tree.nodes.new("SinewNode_delta_mush")
    mush.p_iterations = 3
    mush.keyframe_insert("p_iterations", frame=1)
    tree.nodes["bend"].driver_add("p_weight").driver.expression = "0.5"
    notes: list[str] = []
    written = nodes.to_document(tree, notes)
    assert written["nodes"]["delta_mush"]["iterations"] == 3
    assert any("'iterations' has keyframes" in note for note in notes) == any(
        p["name"] == "iterations" and p["setup"] for p in REGISTRY["delta_mush"]["parameters"]
    )
    assert any("'weight' has a driver" in note for note in notes)


# Playing.


def test_live_values_follow_keyframes_and_drivers(scene: Any) -> None:
    tree = nodes.from_document(bent(angle=0.5), "graph")
    used(tree)
    bend = tree.nodes["bend"]
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
    live = nodes.live(tree)
    curve = nodes.writer.animation.curves(tree)['nodes["bend"].p_angle'][0]
    keys = live.document["nodes"]["bend"]
    for frame in (1, 4, 11):
        found = live.values(evaluated(tree, frame))
        assert found[keys["angle"][1:]] == pytest.approx(curve.evaluate(frame), abs=1e-6)
        assert found[keys["weight"][1:]] == pytest.approx(0.25, abs=1e-6)
        assert found[keys["length"][1:]] == 0.5


def test_sliders_need_no_new_setup() -> None:
    tree = nodes.from_document(bent(angle_degrees=30), "graph")
    live = nodes.live(tree)
    assert support.errors(live.document) == []
    bend = tree.nodes["bend"]
    player = sd.Player(sd.Character.sample("arm"), sd.Graph.from_dict(live.document))
    for angle in (0.1, 0.7, -0.4):
        bend.p_angle = angle
        assert nodes.live(tree).fingerprint == live.fingerprint
        player.set(**live.values(tree))
        player.advance(4)
        expected = support.positions(nodes.to_document(tree), frames=(4,))
        assert np.array_equal(player["body"].positions().ravel(), expected[0])
    bend.p_transform_t = (0.1, 0, 0)
    changed = nodes.live(tree)
    assert changed.fingerprint != live.fingerprint, "a newly stated value changes the document"
    bend.p_transform_t = (0.2, 0, 0)
    assert nodes.live(tree).fingerprint == changed.fingerprint
    tree.links.remove(bend.inputs[0].links[0])
    assert nodes.live(tree).fingerprint != changed.fingerprint


def test_playing_goes_on_while_a_node_has_no_links() -> None:
    chain = {"m": {"node": "mask", "mesh": "body", "source": "constant"}, "b": {"node": "bend", "mesh": "body", "fit": {"mask": "m"}}}
    tree = nodes.from_document(document(chain, {"body": "b"}), "graph")
    before = nodes.live(tree)
    assert set(before.document["nodes"]) == {"m", "b"}, "a mask that only a text names"
    bend = tree.nodes.new("SinewNode_bend")
    tree.links.new(tree.nodes.new("SinewNode_mask").outputs[0], next(s for s in bend.inputs if s.identifier == "mask"))
    assert nodes.live(tree).fingerprint == before.fingerprint
    assert "bend" in nodes.to_document(tree)["nodes"]
    nodes.check(tree)
    assert "needs the input" in bend.problems
    tree.links.new(tree.nodes["b"].outputs[0], bend.inputs[0])
    tree.links.new(bend.outputs[0], next(n for n in tree.nodes if n.bl_idname == "SinewOutputNode").inputs[0])
    assert set(nodes.live(tree).document["nodes"]) == {"m", "b", "bend", "mask"}


@pytest.mark.parametrize("name", [n for n in DOCUMENTS if DOCUMENTS[n][1] is None or "sinew-deform" in n])
def test_live_documents_are_right_where_documents_are(name: str) -> None:
    given, folder = DOCUMENTS[name]
    tree = nodes.from_document(given, "graph", folder)
    live = nodes.live(tree)
    options = {"folder": folder} if folder else {}
    before = [d for d in sd.Graph.from_dict(given, "a", **options).check() if d.severity == "error"]
    after = [d for d in sd.Graph.from_dict(live.document, "a", **options).check() if d.severity == "error"]
    assert bool(before) == bool(after), after
    if not before:
        assert set(live.values(tree)) <= set(sd.Graph.from_dict(live.document, "a", **options).parameters)


def test_nested_graphs(scene: Any) -> None:
    inner = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}},
        "parameters": {"amount": {"type": "float", "default": 0.75, "min": 0, "max": 1}},
        "stack": [{"node": "smooth", "iterations": 5, "weight": "$amount"}, {"node": "noise", "amplitude": 0.01}],
    }
    chain = {
        "skin": {"node": "skin", "mesh": "body", "pose": "pose"},
        "soft": {"node": "graph", "graph": inner, "body": "skin", "amount": 0.5},
        "more": {"node": "graph", "graph": inner, "body": "soft"},
    }
    given = document(chain, {"body": "more.body"})
    tree = nodes.from_document(given, "graph")
    assert nodes.to_document(tree) == given
    soft, more = tree.nodes["soft"], tree.nodes["more"]
    assert [s.identifier for s in soft.inputs] == ["body", "amount"] and soft.outputs[0].identifier == "body"
    used(tree)
    live = nodes.live(tree)
    assert support.errors(live.document) == []
    inner_noise = next(n for n in more.tree.nodes if n.key == "noise")
    for frame, amplitude in ((1, 0.0), (11, 0.5)):
        inner_noise.p_amplitude = amplitude
        inner_noise.keyframe_insert("p_amplitude", frame=frame)
    socket = next(s for s in soft.inputs if s.identifier == "amount")
    socket.v_float = 0.25
    live = nodes.live(tree)
    found = live.values(evaluated(tree, 6))
    curve = next(iter(nodes.writer.animation.curves(more.tree).values()))[0]
    assert found[live.document["nodes"]["more"]["noise_amplitude"][1:]] == pytest.approx(curve.evaluate(6), abs=1e-6)
    assert found[live.document["nodes"]["soft"]["amount"][1:]] == 0.25
    assert found[live.document["nodes"]["more"]["amount"][1:]] == 0.75
    assert nodes.to_document(tree)["nodes"]["soft"]["amount"] == 0.25
    player = sd.Player(sd.Character.sample("arm"), sd.Graph.from_dict(live.document))
    player.set(**found)
    player.advance(3)
    hand = json.loads(json.dumps(given))
    hand["nodes"]["soft"]["amount"] = 0.25
    hand["nodes"]["more"]["graph"]["stack"][1]["amplitude"] = float(np.float32(curve.evaluate(6)))
    assert np.array_equal(player["body"].positions().ravel(), support.positions(hand, frames=(3,))[0])


def test_a_group_follows_its_tree() -> None:
    inner = nodes.from_document({"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": ["smooth"]}, "inner")
    tree = nodes.from_document(bent(), "outer")
    group = tree.nodes.new("SinewGroupNode")
    group.tree = inner
    assert [s.identifier for s in group.inputs] == ["body"]
    tree.links.new(tree.nodes["bend"].outputs[0], group.inputs[0])
    inner.nodes.new("SinewParameterNode").key = "amount"
    nodes.tree_module.refresh(tree)
    assert [s.identifier for s in group.inputs] == ["body", "amount"]
    written = nodes.to_document(tree)["nodes"]["graph"]
    assert written["body"] == "bend" and written["graph"] == nodes.to_document(inner)
    recursive = inner.nodes.new("SinewGroupNode")
    recursive.tree = inner
    notes: list[str] = []
    nodes.to_document(tree, notes)
    assert any("contains itself" in note for note in notes)


def test_numbers_of_blender() -> None:
    chain = {"bend": {"node": "bend", "mesh": "body", "angle": "dial[1]"}}
    given = document(chain, {"body": "bend"}, inputs={"body": {"type": "mesh"}, "dial": {"type": "values", "count": 2}})
    tree = nodes.from_document(given, "graph")
    used(tree)
    dial = tree.nodes["dial"]
    for frame, value in ((1, 0.0), (11, 2.0)):
        dial.numbers[1] = value
        dial.keyframe_insert("numbers", index=1, frame=frame)
    live = nodes.live(tree)
    curve = nodes.writer.animation.curves(tree)['nodes["dial"].numbers'][0]
    found = live.value_inputs(evaluated(tree, 4))
    assert found == {"dial": [0.0, pytest.approx(curve.evaluate(4), abs=1e-6)]}
    player = sd.Player(sd.Character.sample("arm"), sd.Graph.from_dict(live.document), values=found)
    player.set(**live.values(tree))
    player.advance(0)
    hand = document({"bend": {"node": "bend", "mesh": "body", "angle": found["dial"][1]}}, {"body": "bend"})
    assert np.array_equal(player["body"].positions().ravel(), support.positions(hand, frames=(0,))[0])


def test_parameters_of_the_graph() -> None:
    given = {
        **bent(angle="$angle", weight="$w"),
        "parameters": {
            "angle": {"type": "float", "default": 0.1, "min": -1, "max": 1, "doc": "How far."},
            "w": {"type": "float", "default": 1, "keys": [[0, 0], [1, 1]], "interpolation": "smooth"},
        },
    }
    tree = nodes.from_document(given, "graph")
    assert nodes.to_document(tree) == given
    knob = next(n for n in tree.nodes if n.bl_idname == "SinewParameterNode" and n.key == "angle")
    before = nodes.live(tree)
    knob.v_float = 0.7
    after = nodes.live(tree)
    assert after.fingerprint == before.fingerprint
    assert after.values(tree)["angle"] == np.float32(0.7) or after.values(tree)["angle"] == 0.7
    assert "w" not in after.values(tree), "its keys would be replaced"
    assert nodes.to_document(tree)["parameters"]["angle"]["default"] == 0.7
