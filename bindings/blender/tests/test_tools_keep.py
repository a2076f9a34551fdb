# SPDX-License-Identifier: GPL-3.0-or-later
"""Every button that edits a graph leaves the rest of it alone: nodes, keyframes, drivers, colours."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
import pytest
from conftest import activate, add, bend, tube, truth
from test_tools_pose_driver import select_bones

GRAPH = {
    "sinew": "1.0",
    "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
    "stack": ["skin", {"node": "delta_mush", "iterations": 4}],
}


def lattice(obj: bpy.types.Object) -> None:
    """A lattice, selected beside the object."""
    made = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    made.scale = (1, 1, 3)
    bpy.context.collection.objects.link(made)
    made.select_set(True)
    bpy.ops.sinew.lattice_from_object()


def driver(obj: bpy.types.Object) -> None:
    select_bones(obj.sinew.armature, "upper")
    bpy.ops.sinew.driver_add()


def pose(obj: bpy.types.Object) -> None:
    driver(obj)
    bend(obj.sinew.armature, 70)
    bpy.ops.sinew.pose_record()


def corrective(obj: bpy.types.Object) -> None:
    driver(obj)
    bend(obj.sinew.armature, 70)
    bpy.ops.sinew.corrective_sculpt()
    for vertex in bpy.context.object.data.vertices:
        vertex.co.y *= 1.02
    bpy.ops.sinew.corrective_apply()


def group(obj: bpy.types.Object) -> None:
    obj.vertex_groups.new(name="soft").add([0, 1, 2], 1.0, "REPLACE")
    obj.vertex_groups.active = obj.vertex_groups["soft"]
    bpy.ops.sinew.mask_from_group()


def selection(obj: bpy.types.Object) -> None:
    obj.data.vertices[3].select = True
    bpy.ops.sinew.mask_from_selection()


BUTTONS: list[Callable[[bpy.types.Object], None]] = [lattice, driver, pose, corrective, group, selection]


@pytest.mark.parametrize("button", BUTTONS)
def test_a_button_keeps_what_it_does_not_edit(button: Callable[[bpy.types.Object], None]) -> None:
    obj = tube()
    tree = add(obj, GRAPH)
    node = tree.nodes["delta_mush"]
    for frame, weight in ((0, 0.0), (10, 1.0)):
        node.p_weight = weight
        node.keyframe_insert("p_weight", frame=frame)
    node.driver_add("p_displacement").driver.expression = "0.75"
    node.use_custom_color, node.color, node.label, node.location = True, (0.1, 0.2, 0.3), "mine", (123, 45)
    activate(obj)
    bpy.context.scene.frame_set(5)
    half = node.p_weight
    assert 0.2 < half < 0.8
    before = node.as_pointer()
    button(obj)
    assert truth(obj) == ""
    tree = obj.sinew.tree
    assert tree.nodes["delta_mush"].as_pointer() == before
    assert (node.label, tuple(node.location)) == ("mine", (123, 45))
    assert np.allclose(node.color, (0.1, 0.2, 0.3))
    for frame, weight in ((0, 0.0), (5, half), (10, 1.0)):
        bpy.context.scene.frame_set(frame)
        assert abs(node.p_weight - weight) < 1e-6
        assert abs(node.p_displacement - 0.75) < 1e-6
