# SPDX-License-Identifier: GPL-3.0-or-later
"""What an object stores of Sinew. It is part of the file, also without the extension."""

from __future__ import annotations

import bpy
import numpy as np

IDENTITY = tuple(float(x) for x in np.eye(4).ravel())


def _is_graph(_self: bpy.types.PropertyGroup, tree: bpy.types.NodeTree) -> bool:
    return tree.bl_idname == "SinewNodeTree"


def _is_armature(_self: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return obj.type == "ARMATURE"


def _changed(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    self.id_data.update_tag()


class SinewObject(bpy.types.PropertyGroup):
    """The graph of an object, and where the object was when it was bound."""

    tree: bpy.props.PointerProperty(
        type=bpy.types.NodeTree, name="Graph", description="Node graph that deforms the object", poll=_is_graph, update=_changed
    )
    armature: bpy.props.PointerProperty(
        type=bpy.types.Object, name="Armature", description="Armature with the pose", poll=_is_armature, update=_changed
    )
    output: bpy.props.StringProperty(
        name="Output", description="Output of the graph for this object. Empty: the first that has its vertices", update=_changed
    )
    device: bpy.props.EnumProperty(
        name="Device",
        description="Where the graph is evaluated",
        items=[
            ("DEFAULT", "Default", "As the preferences say"),
            ("cpu", "CPU", "The same numbers in every run"),
            ("gpu", "GPU", "The graphics card. Results are equal up to rounding"),
        ],
        update=_changed,
    )
    replaced: bpy.props.StringProperty(name="Replaced", description="Armature modifier that Sinew stands in for")
    bind_object: bpy.props.FloatVectorProperty(
        name="Object at bind", description="World matrix of the object at bind, row after row", size=16, default=IDENTITY
    )
    bind_armature: bpy.props.FloatVectorProperty(
        name="Armature at bind", description="World matrix of the armature at bind, row after row", size=16, default=IDENTITY
    )


def register() -> None:
    """Adds `Object.sinew`."""
    bpy.utils.register_class(SinewObject)
    bpy.types.Object.sinew = bpy.props.PointerProperty(type=SinewObject)


def unregister() -> None:
    """Files keep what they store."""
    del bpy.types.Object.sinew
    bpy.utils.unregister_class(SinewObject)
