# SPDX-License-Identifier: GPL-3.0-or-later
"""Masks: the weights of the node are those of Blender."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from conftest import activate, add, positions, truth, tube
from sinew import live
from sinew.tools import graphs, mask, matrices


def smoothed() -> bpy.types.Object:
    """The tube with skin, two nodes with masks, and one without."""
    obj = tube()
    add(
        obj,
        {
            "sinew": "1.0",
            "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
            "stack": ["skin", "smooth", "delta_mush", "tangent_frames"],
        },
    )
    return obj


def weights_of(obj: bpy.types.Object, node: str) -> np.ndarray:
    """The mask that a node gets."""
    bpy.context.view_layer.update()
    bound = live.session(obj)
    given = graphs.explicit(bound.document)
    name = given["nodes"][node]["mask"]
    player = matrices.player(bound, graphs.upstream(given, [name]))
    matrices.advance(bound, player)
    return player[name].floats()


def painted(obj: bpy.types.Object, name: str) -> np.ndarray:
    """A vertex group with random weights; some vertices are not in it."""
    rng = np.random.default_rng(3)
    wanted = rng.uniform(0, 1, len(obj.data.vertices)).astype(np.float32)
    wanted[::5] = 0.0
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    for i, weight in enumerate(wanted):
        if weight:
            group.add([i], float(weight), "REPLACE")
        else:
            group.remove([i])
    obj.vertex_groups.active = group
    return wanted


def test_vertex_group() -> None:
    obj = smoothed()
    wanted = painted(obj, "soft")
    assert bpy.ops.sinew.mask_from_group() == {"FINISHED"}
    assert np.allclose(weights_of(obj, "delta_mush"), wanted, atol=1e-6), "of the last node that takes a mask"
    assert "mask" not in graphs.document(obj)["nodes"]["smooth"]
    assert bpy.ops.sinew.mask_from_group(node="smooth", invert=True) == {"FINISHED"}
    assert np.allclose(weights_of(obj, "smooth"), 1 - wanted, atol=1e-6)


def test_vertex_group_of_a_bone_is_its_skin_weight() -> None:
    obj = smoothed()
    painted(obj, "upper")
    bpy.ops.sinew.rebind()
    attributes = {a.name for a in obj.data.attributes}
    assert bpy.ops.sinew.mask_from_group(group="upper") == {"FINISHED"}
    given = graphs.document(obj)
    made = given["nodes"][given["nodes"]["delta_mush"]["mask"]]
    assert made["source"] == "joint" and made["joints"] == ["upper"]
    assert {a.name for a in obj.data.attributes} == attributes, "no copy of the group"
    by_group = {g.index: g.name for g in obj.vertex_groups}
    wanted = []
    for vertex in obj.data.vertices:
        weights = {by_group[g.group]: g.weight for g in vertex.groups}
        total = sum(weights.values())
        wanted.append(weights.get("upper", 0.0) / total if total > 0 else 0.0)
    assert np.allclose(weights_of(obj, "delta_mush"), wanted, atol=1e-6)


def test_vertex_group_of_a_bone_that_does_not_deform_is_taken_as_painted() -> None:
    obj = smoothed()
    wanted = painted(obj, "upper")
    obj.sinew.armature.data.bones["upper"].use_deform = False
    bpy.ops.sinew.rebind()
    assert bpy.ops.sinew.mask_from_group(group="upper") == {"FINISHED"}
    assert np.allclose(weights_of(obj, "delta_mush"), wanted, atol=1e-6)


@pytest.mark.parametrize("domain", ["POINT", "CORNER"])
@pytest.mark.parametrize("kind", ["FLOAT_COLOR", "BYTE_COLOR"])
def test_colour_channel(domain: str, kind: str) -> None:
    obj = smoothed()
    attribute = obj.data.color_attributes.new("paint", kind, domain)
    rng = np.random.default_rng(4)
    by_vertex = rng.uniform(0, 1, (len(obj.data.vertices), 4)).astype(np.float32)
    corners = [loop.vertex_index for loop in obj.data.loops]
    for i, item in enumerate(attribute.data):
        item.color = by_vertex[i if domain == "POINT" else corners[i]]
    # What Blender kept of it.
    stored = np.array([item.color[2] for item in attribute.data])
    wanted = np.zeros(len(by_vertex))
    wanted[range(len(by_vertex)) if domain == "POINT" else corners] = stored
    obj.data.color_attributes.active_color = attribute
    assert bpy.ops.sinew.mask_from_color(channel="2") == {"FINISHED"}
    assert np.allclose(weights_of(obj, "delta_mush"), wanted, atol=1e-6)


@pytest.mark.parametrize("editing", [False, True])
def test_selection(editing: bool) -> None:
    obj = smoothed()
    wanted = np.zeros(len(obj.data.vertices), bool)
    wanted[20:90] = True
    mask.select(obj.data, wanted)
    if editing:
        bpy.context.tool_settings.mesh_select_mode = (True, False, False)
        bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.sinew.mask_from_selection() == {"FINISHED"}
    assert obj.mode == ("EDIT" if editing else "OBJECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.array_equal(weights_of(obj, "delta_mush"), wanted.astype(np.float32))


def test_the_active_node_gets_the_mask() -> None:
    obj = smoothed()
    wanted = painted(obj, "soft")
    tree = obj.sinew.tree
    tree.nodes.active = next(n for n in tree.nodes if getattr(n, "key", None) == "smooth")
    assert bpy.ops.sinew.mask_from_group() == {"FINISHED"}
    assert np.allclose(weights_of(obj, "smooth"), wanted, atol=1e-6)
    assert "mask" not in graphs.document(obj)["nodes"]["delta_mush"]


def test_another_object_with_the_graph_keeps_working() -> None:
    obj = smoothed()
    copy = obj.copy()
    copy.data = obj.data.copy()
    bpy.context.collection.objects.link(copy)
    bpy.context.view_layer.update()
    before, shared = positions(copy).copy(), obj.sinew.tree
    wanted = painted(obj, "soft")
    assert copy.sinew.tree == shared and not truth(copy)
    assert bpy.ops.sinew.mask_from_group() == {"FINISHED"}
    assert np.allclose(weights_of(obj, "delta_mush"), wanted, atol=1e-6)
    assert copy.sinew.tree == shared and obj.sinew.tree != shared, "the copy has no such group"
    assert not truth(copy) and np.array_equal(positions(copy), before)
    # What works for both stays shared.
    bpy.ops.object.select_all(action="DESELECT")
    obj.sinew.tree = shared
    live.bind(obj)
    copy.vertex_groups.new(name="soft")
    bpy.context.view_layer.update()
    assert bpy.ops.sinew.mask_from_group() == {"FINISHED"}
    assert obj.sinew.tree == shared and not truth(copy)


def test_masks_combine_or_replace() -> None:
    obj = smoothed()
    soft = painted(obj, "soft")
    bpy.ops.sinew.mask_from_group()
    half = obj.vertex_groups.new(name="half")
    half.add(range(len(obj.data.vertices)), 0.5, "REPLACE")
    bpy.ops.sinew.mask_from_group(group="half", combine="multiply")
    assert np.allclose(weights_of(obj, "delta_mush"), soft * 0.5, atol=1e-6)
    assert len(graphs.of_kind(graphs.document(obj), "mask")) == 2
    bpy.ops.sinew.mask_from_group(group="half")
    assert np.allclose(weights_of(obj, "delta_mush"), 0.5, atol=1e-6)


def test_a_mask_limits_the_node() -> None:
    obj = smoothed()
    points = np.array([v.co for v in obj.data.vertices]) * (1, 1, 1)
    rough = points + np.random.default_rng(1).normal(0, 0.02, points.shape)
    obj.data.vertices.foreach_set("co", rough.astype(np.float32).ravel())
    obj.data.update()
    add_nothing_but_smooth(obj)
    everywhere = live.session(obj).local.copy()
    group = obj.vertex_groups.new(name="upper half")
    upper = points[:, 2] > 1
    group.add(np.flatnonzero(upper).tolist(), 1.0, "REPLACE")
    assert bpy.ops.sinew.mask_from_group(group="upper half", node="smooth") == {"FINISHED"}
    bpy.context.view_layer.update()
    now = live.session(obj).local
    assert np.allclose(now[~upper], rough[~upper], atol=1e-6) and np.abs(everywhere - rough)[~upper].max() > 0.01
    far = points[:, 2] > 1.5
    assert np.abs(now - rough)[far].max() > 0.01 and not truth(obj)


def add_nothing_but_smooth(obj: bpy.types.Object) -> None:
    """Replaces the graph."""
    given = {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}}, "stack": ["skin", "smooth"]}
    graphs.put(bpy.context, obj, given)


MISTAKES = [
    ("no graph", lambda o: bpy.ops.sinew.remove(), "mask_from_group", {}, "has no Sinew graph"),
    ("no such group", lambda o: None, "mask_from_group", {"group": "nope"}, "no vertex group 'nope'. It has lower, upper"),
    ("no groups", lambda o: o.vertex_groups.clear(), "mask_from_group", {}, "no active vertex group"),
    ("no colours", lambda o: None, "mask_from_color", {}, "no colour attribute"),
    ("nothing selected", lambda o: mask.select(o.data, np.zeros(len(o.data.vertices), bool)), "mask_from_selection", {}, "No vertex"),
    ("a node without a mask", lambda o: None, "mask_from_group", {"node": "skin"}, "has no mask input"),
    ("no such node", lambda o: None, "mask_from_group", {"node": "nope"}, "no node 'nope'"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m[0])
def test_mistakes_say_what_to_do(mistake: tuple) -> None:
    _, prepare, operator, keys, text = mistake
    obj = smoothed()
    activate(obj)
    prepare(obj)
    with pytest.raises(RuntimeError, match=text):
        getattr(bpy.ops.sinew, operator)(**keys)


def test_no_node_takes_a_mask() -> None:
    obj = tube()
    add(obj)
    with pytest.raises(RuntimeError, match="No node of the graph"):
        bpy.ops.sinew.mask_from_group(group="upper")
