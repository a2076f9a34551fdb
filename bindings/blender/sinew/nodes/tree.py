# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree type."""

from collections.abc import Iterator
from typing import Any

import bpy

from .. import report
from . import base, links, sockets


class NestedTree(bpy.types.PropertyGroup):
    """A tree that a group node of this tree uses. Trees that only nodes point to are not evaluated."""

    tree: bpy.props.PointerProperty(name="Tree", type=bpy.types.NodeTree)


class SinewTree(bpy.types.NodeTree):
    """A graph of deformers that Sinew plays"""

    bl_idname = base.TREE
    bl_label = "Sinew Graph"
    bl_icon = "MOD_SIMPLEDEFORM"
    bl_use_group_interface = False

    source: bpy.props.StringProperty(description="Keys of the document that no node holds", options={"HIDDEN"})
    problems: bpy.props.StringProperty(description="Problems of the document that no node has", options={"HIDDEN"})
    nested: bpy.props.CollectionProperty(type=NestedTree)

    @classmethod
    def valid_socket_type(cls, idname: str) -> bool:
        return idname.startswith("SinewSocket_")

    def update(self) -> None:
        if not bpy.app.timers.is_registered(_refresh_all):
            bpy.app.timers.register(_refresh_all, first_interval=0.0)


@report.guarded
def _refresh_all() -> None:
    for tree in trees():
        refresh(tree)


def trees() -> Iterator[Any]:
    """All Sinew trees of the file."""
    return (tree for tree in bpy.data.node_groups if tree.bl_idname == base.TREE)


def refresh(tree: Any) -> None:
    """Ports of groups, the list of nested trees, and red links where types do not fit."""
    groups = [node for node in tree.nodes if node.bl_idname == "SinewGroupNode"]
    for node in groups:
        node.sync()
    _list_nested(tree, [node.tree for node in groups if node.tree is not None])
    mark_links(tree)


def mark_links(tree: Any) -> None:
    """Marks links whose types do not fit. Blender forgets the mark at each change of the tree."""
    for link in tree.links:
        source = links.origin(link.from_socket)
        is_reroute = link.to_node.bl_idname == "NodeReroute"
        valid = is_reroute or source is None or sockets.fits(source, link.to_socket)
        if link.is_valid != valid:
            link.is_valid = valid


def _list_nested(tree: Any, wanted: list[Any]) -> None:
    unique = list(dict.fromkeys(wanted))
    if [item.tree for item in tree.nested] == unique:
        return
    tree.nested.clear()
    for inner in unique:
        tree.nested.add().tree = inner


CLASSES = (NestedTree, SinewTree)
