# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tools store at an object: the driver and the pose that panels show."""

from __future__ import annotations

import bpy


class SinewLattice(bpy.types.PropertyGroup):
    """A lattice of the scene that moves a lattice node."""

    node: bpy.props.StringProperty(name="Node", description="Lattice node of the graph")
    lattice: bpy.props.PointerProperty(type=bpy.types.Object, name="Lattice", description="Lattice that moves the node")


class SinewTools(bpy.types.PropertyGroup):
    """Choices of the panels."""

    driver: bpy.props.StringProperty(name="Driver", description="Node of the pose driver that the panel shows")
    pose: bpy.props.StringProperty(name="Pose", description="Pose that operators use")
    lattices: bpy.props.CollectionProperty(type=SinewLattice, name="Lattices", description="Lattices that move nodes of the graph")


class SinewSculpt(bpy.types.PropertyGroup):
    """At a sculpt: what it was made of."""

    source: bpy.props.PointerProperty(type=bpy.types.Object, name="Object", description="Object that the sculpt corrects")
    driver: bpy.props.StringProperty(name="Driver", description="Pose driver of the corrective")
    pose: bpy.props.StringProperty(name="Pose", description="Pose of the corrective")


def register() -> None:
    """Adds `Object.sinew_tools` and `Object.sinew_sculpt`."""
    bpy.utils.register_class(SinewLattice)
    bpy.utils.register_class(SinewTools)
    bpy.utils.register_class(SinewSculpt)
    bpy.types.Object.sinew_tools = bpy.props.PointerProperty(type=SinewTools)
    bpy.types.Object.sinew_sculpt = bpy.props.PointerProperty(type=SinewSculpt)


def unregister() -> None:
    """Files keep what they store."""
    del bpy.types.Object.sinew_tools
    del bpy.types.Object.sinew_sculpt
    bpy.utils.unregister_class(SinewSculpt)
    bpy.utils.unregister_class(SinewTools)
    bpy.utils.unregister_class(SinewLattice)
