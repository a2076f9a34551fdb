# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones and objects that a graph names get other names, or go."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from conftest import activate, add, bend, positions, truth, tube
from sinew import live
from sinew.tools import graphs
from test_tools_hair import beside, strands
from test_tools_pose_driver import select_bones

DOCUMENT = {
    "sinew": "1.0",
    "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
    "nodes": {
        "soft": {"node": "mask", "mesh": "body", "pose": "pose", "source": "joint", "joints": ["upper"]},
        "skin": {"node": "skin", "mesh": "body", "pose": "pose"},
        "twist": {"node": "twist", "mesh": "skin", "mask": "soft", "angle": 40, "follow": "upper"},
    },
    "outputs": {"body": "twist"},
}


def test_a_renamed_bone_is_followed() -> None:
    obj = tube()
    add(obj, DOCUMENT)
    armature = obj.sinew.armature
    select_bones(armature, "upper")
    bpy.ops.sinew.driver_add()
    bend(armature, 50)
    before = positions(obj).copy()
    armature.data.bones["upper"].name = "neck"
    bpy.context.view_layer.update()
    assert not truth(obj)
    made = graphs.document(obj)["nodes"]
    assert made["soft"]["joints"] == ["neck"] and made["twist"]["follow"] == "neck"
    assert made[graphs.of_kind({"nodes": made}, "pose_driver")[0]]["joints"] == ["neck"]
    assert bpy.ops.sinew.rebind() == {"FINISHED"}
    assert np.abs(positions(obj) - before).max() < 1e-6
    bend(armature, 20, "neck")
    assert np.abs(positions(obj) - before).max() > 0.05


def test_names_that_are_exchanged_are_left_alone() -> None:
    """Which bone is meant is not certain, so that nothing is changed."""
    obj = tube()
    add(obj, DOCUMENT)
    bones = obj.sinew.armature.data.bones
    bones["upper"].name = "other"
    bones["lower"].name = "upper"
    bpy.context.view_layer.update()
    assert graphs.document(obj)["nodes"]["soft"]["joints"] == ["upper"]


def test_a_bone_with_another_name_and_rest_is_reported_at_once_and_the_message_goes() -> None:
    obj = tube()
    add(obj, DOCUMENT)
    armature = obj.sinew.armature
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["upper"].name = "neck"
    armature.data.edit_bones["neck"].head.z = 0.9
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert "upper" in truth(obj)
    armature.data.bones["neck"].name = "upper"
    bpy.context.view_layer.update()
    assert not truth(obj)


def test_a_renamed_collider_is_followed() -> None:
    obj, block = beside(tube())
    block.name = "wall 2"
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(3)
    assert not truth(obj)
    assert graphs.document(obj)["inputs"]["block"]["select"] == "wall 2"
    assert bpy.ops.sinew.rebind() == {"FINISHED"} and not truth(obj)
    block.location.x = 5.0
    bpy.context.view_layer.update()
    reached = live.session(obj).last.positions["block"]
    assert np.isclose(reached[:, 0].mean(), 5.0, atol=1e-5)


def test_a_deleted_collider_is_named_and_the_message_goes() -> None:
    obj, block = beside(tube())
    other = block.copy()
    other.name = "other"
    bpy.context.collection.objects.link(other)
    bpy.data.objects.remove(block)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(2)
    assert truth(obj) == "Object 'block' that input 'block' takes is gone. Set the name at the input node, then press Rebind"
    node = next(n for n in obj.sinew.tree.nodes if n.bl_idname == "SinewInputNode" and n.key == "block")
    node.p_select = "other"
    bpy.context.view_layer.update()
    assert not truth(obj)


def test_a_renamed_surface_is_followed_and_a_deleted_one_is_named() -> None:
    surface = tube()
    obj, chosen = strands(surface)
    activate(obj)
    bpy.ops.sinew.hair_from_curves()
    surface.name = "Head"
    bend(surface.modifiers["Armature"].object, 40)
    assert not truth(obj)
    assert np.abs(positions(obj).reshape(len(chosen), -1, 3)[:, 0] - positions(surface)[chosen]).max() < 1e-5
    bpy.data.objects.remove(surface)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(2)
    assert "Surface 'Head' is gone" in truth(obj)


@pytest.mark.parametrize("name", ["12", "a b", "Wand.001"])
def test_names_of_all_sorts(name: str) -> None:
    obj, block = beside(tube())
    block.name = name
    bpy.context.view_layer.update()
    assert graphs.document(obj)["inputs"]["block"]["select"] == name and not truth(obj)
