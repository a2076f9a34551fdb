# SPDX-License-Identifier: GPL-3.0-or-later
"""The add menu and the header of the node editor."""

import textwrap
from typing import Any

import bpy

from . import base, properties, registry
from .diagnostics import problems

_SPECIAL = ("SinewInputNode", "SinewParameterNode", "SinewGroupNode", "SinewKernelNode", "SinewOutputNode")
_GROUPS = {"deformer": "Deformers", "driver": "Drivers", "solver": "Solvers", "field": "Fields"}


def is_sinew(context: Any) -> bool:
    """True in a node editor that shows Sinew graphs."""
    return getattr(context.space_data, "tree_type", "") == base.TREE


def _add(layout: Any, bl_idname: str, label: str) -> None:
    operator = layout.operator("node.add_node", text=label)
    operator.type, operator.use_transform = bl_idname, True


def _menu(group: str, label: str) -> type:
    def draw(self: Any, _context: Any) -> None:
        for kind in sorted(registry.kinds().values(), key=lambda k: k.name):
            if kind.group == group:
                _add(self.layout, f"SinewNode_{kind.name}", properties.title(kind.name))

    body = {"bl_idname": f"SINEW_MT_add_{group}", "bl_label": label, "__doc__": f"{label} of Sinew", "__module__": __name__, "draw": draw}
    return type(f"SINEW_MT_add_{group}", (bpy.types.Menu,), body)


class SINEW_MT_add_graph(bpy.types.Menu):
    """Inputs, outputs, parameters, groups and kernels"""

    bl_idname = "SINEW_MT_add_graph"
    bl_label = "Graph"

    def draw(self, _context: Any) -> None:
        for bl_idname in _SPECIAL:
            _add(self.layout, bl_idname, bl_idname.removeprefix("Sinew").removesuffix("Node"))


def classes() -> list[type]:
    """Menus to register."""
    return [SINEW_MT_add_graph, *(_menu(group, _GROUPS.get(group, properties.title(group))) for group in _groups())]


def _groups() -> list[str]:
    """Groups of nodes in the order of the menu; those that it does not know come last."""
    found = dict.fromkeys(kind.group for kind in registry.kinds().values())
    return [*(group for group in _GROUPS if group in found), *(group for group in found if group not in _GROUPS)]


def draw_add(self: Any, context: Any) -> None:
    """Entries of the add menu."""
    if not is_sinew(context):
        return
    self.layout.menu("SINEW_MT_add_graph")
    for group in _groups():
        self.layout.menu(f"SINEW_MT_add_{group}")


def draw_header(self: Any, context: Any) -> None:
    """Check, and the problems that no node has."""
    tree = getattr(context.space_data, "edit_tree", None)
    if not is_sinew(context) or tree is None:
        return
    self.layout.operator("sinew.nodes_check", icon="CHECKMARK")
    found = problems(tree)
    if found:
        self.layout.label(text=textwrap.shorten(found[0]["message"], 80, placeholder=" …"), icon="ERROR")
