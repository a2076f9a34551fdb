# SPDX-License-Identifier: GPL-3.0-or-later
"""Worst vertices: against Blender's armature modifier and closed forms."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from conftest import activate, add, bend, positions, truth, tube
from sinew import live
from sinew.tools import diagnose, graphs


def heat(obj: bpy.types.Object) -> np.ndarray:
    """The attribute as Blender has it."""
    attribute = obj.data.attributes["sinew_heat"]
    assert attribute.data_type == "FLOAT" and attribute.domain == "POINT"
    out = np.empty(len(attribute.data), np.float32)
    attribute.data.foreach_get("value", out)
    return out


def test_distance_is_that_to_blenders_armature_modifier() -> None:
    obj = tube()
    armature = obj.modifiers["Armature"].object
    armature.location = (1, 2, 3)
    bend(armature, 80)
    plain = positions(obj).copy()
    bend(armature, 0)
    add(obj, "delta_mush")
    bend(armature, 80)
    wanted = np.linalg.norm(positions(obj) - plain, axis=1)
    assert bpy.ops.sinew.diagnose(measure="SKIN") == {"FINISHED"}
    assert np.abs(heat(obj) - wanted).max() < 2e-6 and wanted.max() > 0.01
    rows = diagnose.FINDINGS[obj.session_uid].rows
    assert len(rows) == 10 and np.allclose([r[1] for r in rows], np.sort(wanted)[::-1][:10], atol=2e-6)
    vertex, _, joints = rows[0]
    height = obj.data.vertices[vertex].co.z
    upper = np.clip((height / 2 - 0.4) / 0.2, 0, 1)
    assert (f"upper {upper:.2f}" in joints) == (upper > 0)
    assert not truth(obj)


def test_shape_keys_are_part_of_the_skinned_shape() -> None:
    obj = tube()
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="wide")
    for point in key.data:
        point.co.x *= 2
    add(obj)
    key.value = 0.7
    bend(obj.sinew.armature, 40)
    assert bpy.ops.sinew.diagnose() == {"FINISHED"}
    assert heat(obj).max() < 1e-6 and not [r for r in diagnose.FINDINGS[obj.session_uid].rows if r[1] > 1e-6]


def test_colours_go_from_blue_to_red() -> None:
    values = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 0.125])
    wanted = [(0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 1, 0), (1, 0, 0), (0, 0.5, 1)]
    assert np.allclose(diagnose.colors(values * 3.0)[:, :3], wanted)
    assert np.allclose(diagnose.colors(np.zeros(3)), (0, 0, 1, 1))
    obj = tube()
    add(obj, "delta_mush")
    bend(obj.sinew.armature, 80)
    bpy.ops.sinew.diagnose()
    shown = obj.data.color_attributes["sinew_heat_color"]
    worst = diagnose.FINDINGS[obj.session_uid].rows[0][0]
    assert np.allclose(shown.data[worst].color, (1, 0, 0, 1), atol=1e-6)


def test_stretch_of_a_scaled_mesh() -> None:
    obj = tube()
    add(obj, {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": [{"node": "transform", "transform": {"scale": [1, 1.5, 1]}}]})
    obj.sinew.armature = None
    bpy.context.view_layer.update()
    assert bpy.ops.sinew.diagnose(measure="STRETCH") == {"FINISHED"}, truth(obj)
    # Scene space has Y up: the edges along the tube become half as long again.
    assert np.allclose(heat(obj), 0.5, atol=1e-4)


def test_inverted_faces() -> None:
    obj = tube()
    add(obj)
    bend(obj.sinew.armature, 30)
    bpy.ops.sinew.diagnose(measure="INVERTED")
    assert heat(obj).max() == 0 and not diagnose.FINDINGS[obj.session_uid].rows
    # A vertex that is pulled through the tube turns the faces around it over.
    group = obj.vertex_groups.new(name="one")
    group.add([100], 1.0, "REPLACE")
    given = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
        "nodes": {"m": {"node": "mask", "mesh": "body", "source": "attribute", "attribute": "one"}},
        "stack": ["skin", {"node": "transform", "mask": "m", "transform": {"translation": pulled(obj)}}],
    }
    graphs.put(bpy.context, obj, given)
    bpy.ops.sinew.diagnose(measure="INVERTED")
    around = {v for p in obj.data.polygons if 100 in p.vertices for v in p.vertices}
    assert set(np.flatnonzero(heat(obj))) == around and diagnose.FINDINGS[obj.session_uid].rows[0][0] == 100
    assert heat(obj)[100] == 4


def pulled(obj: bpy.types.Object) -> list[float]:
    """A motion of vertex 100 to the other side of the tube and beyond."""
    bound = live.session(obj)
    ring = 100 // 16 * 16
    centre = bound.scene[ring : ring + 16].mean(axis=0)
    return [float(x) for x in 4.0 * (centre - bound.scene[100])]


@pytest.mark.parametrize("editing", [False, True])
def test_select_worst(editing: bool) -> None:
    obj = tube()
    add(obj, "delta_mush")
    bend(obj.sinew.armature, 80)
    bpy.ops.sinew.diagnose()
    if editing:
        bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.sinew.select_worst() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    selected = {v.index for v in obj.data.vertices if v.select}
    assert selected == {row[0] for row in diagnose.FINDINGS[obj.session_uid].rows}


def test_node_times() -> None:
    obj = tube()
    add(
        obj,
        {
            "sinew": "1.0",
            "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
            "stack": ["skin", {"node": "delta_mush", "iterations": 40}],
        },
    )
    if not hasattr(type(live.session(obj).player), "node_times"):
        with pytest.raises(RuntimeError, match="does not time nodes"):
            bpy.ops.sinew.node_times()
        return
    assert bpy.ops.sinew.node_times() == {"FINISHED"}
    times = dict(diagnose.TIMES[obj.session_uid])
    assert set(times) >= {"skin", "delta_mush"} and times["delta_mush"] > times["skin"] > 0


MISTAKES = [
    ("nothing active", lambda o: setattr(bpy.context.view_layer.objects, "active", None), "diagnose", "No object is active"),
    ("no graph", lambda o: bpy.ops.sinew.remove(), "diagnose", "has no Sinew graph"),
    ("edit mode", lambda o: bpy.ops.object.mode_set(mode="EDIT"), "diagnose", "is in edit mode"),
    (
        "switched off",
        lambda o: setattr(next(m for m in o.modifiers if m.type == "NODES"), "show_viewport", False) or live.bind(o),
        "diagnose",
        "switch its Sinew modifier on",
    ),
    ("the armature", lambda o: activate(o.sinew.armature), "diagnose", "is an armature"),
    ("nothing listed", lambda o: None, "select_worst", "Nothing is listed"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m[0])
def test_mistakes_say_what_to_do(mistake: tuple) -> None:
    _, prepare, operator, text = mistake
    obj = tube()
    add(obj)
    prepare(obj)
    with pytest.raises(RuntimeError, match=text):
        getattr(bpy.ops.sinew, operator)()
    assert "sinew_heat" not in obj.data.attributes
