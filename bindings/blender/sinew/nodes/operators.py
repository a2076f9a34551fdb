# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of nodes."""

import json
from typing import Any

import bpy

from . import base, diagnostics, joints, properties, sockets, values


def _tree(context: Any) -> Any:
    """The tree of the node editor, or else that of the active object."""
    tree = getattr(context.space_data, "edit_tree", None)
    if tree is None or tree.bl_idname != base.TREE:
        tree = getattr(getattr(context.active_object, "sinew", None), "tree", None)
    return tree if tree is not None and tree.bl_idname == base.TREE else None


class _NodeOperator:
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}
    node: bpy.props.StringProperty(name="Node", options={"SKIP_SAVE"})
    parameter: bpy.props.StringProperty(name="Parameter", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        if _tree(context) is None:
            cls.poll_message_set("Open a Sinew graph in a node editor, or make an object with one active")
            return False
        return True

    def found(self, context: Any) -> tuple[Any, Any]:
        """The node and the parameter."""
        node = _tree(context).nodes.get(self.node)
        param = node.kind().parameter(self.parameter) if node is not None and hasattr(node, "kind") else None
        if param is None:
            self.report({"ERROR"}, f"Node '{self.node}' with parameter '{self.parameter}' is not in this graph. Reopen the menu")
        return node, param


class SINEW_OT_node_reset(_NodeOperator, bpy.types.Operator):
    """Back to the default. The document no longer states the parameter"""

    bl_idname = "sinew.node_reset"
    bl_label = "Reset to Default"

    def execute(self, context: Any) -> set[str]:
        node, param = self.found(context)
        if param is None:
            return {"CANCELLED"}
        node.reset(param)
        return {"FINISHED"}


class SINEW_OT_node_show_socket(_NodeOperator, bpy.types.Operator):
    """Show or hide the socket of this parameter, so that you can link a number or a parameter of the graph"""

    bl_idname = "sinew.node_show_socket"
    bl_label = "Show Socket"

    def execute(self, context: Any) -> set[str]:
        node, param = self.found(context)
        socket = sockets.find(node.inputs, param.name) if param is not None else None
        if socket is None:
            return {"CANCELLED"}
        socket.hide = not socket.hide
        return {"FINISHED"}


def _bones(self: Any, context: Any) -> list[tuple[str, str, str]]:
    tree = _tree(context)
    _bones.kept = [(name, name, "") for name in joints.names(tree)] if tree is not None else []
    return _bones.kept


class SINEW_OT_node_add_joint(_NodeOperator, bpy.types.Operator):
    """Add a bone to the list"""

    bl_idname = "sinew.node_add_joint"
    bl_label = "Add Bone"
    bl_property = "joint"
    joint: bpy.props.EnumProperty(name="Bone", items=_bones)

    def invoke(self, context: Any, _event: Any) -> set[str]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        node, param = self.found(context)
        if param is None:
            return {"CANCELLED"}
        prop = properties.prop_name(param)
        text = getattr(node, prop)
        current, wrong = values.parse_as(param.type, text) if text else ([], "")
        if wrong or not isinstance(current, list):
            self.report({"ERROR"}, f"'{param.name}' of node '{node.key}' is not a JSON list: {text}. Mend it, then add the bone")
            return {"CANCELLED"}
        setattr(node, prop, json.dumps([*current, self.joint], ensure_ascii=False))
        return {"FINISHED"}


class SINEW_OT_node_problem(bpy.types.Operator):
    """A problem of this node"""

    bl_idname = "sinew.node_problem"
    bl_label = "Problem"
    bl_options = {"INTERNAL"}
    node: bpy.props.StringProperty(options={"SKIP_SAVE"})
    number: bpy.props.IntProperty(options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: Any, properties: Any) -> str:
        tree = _tree(context)
        node = tree.nodes.get(properties.node) if tree is not None else None
        problems = base.problems_of(node) if node is not None else []
        if properties.number >= len(problems):
            return "The problem is mended"
        problem = problems[properties.number]
        return f"{problem['message']}\n{problem['help']}".strip()

    def execute(self, context: Any) -> set[str]:
        self.report({"INFO"}, self.description(context, self))
        return {"FINISHED"}


class SINEW_OT_nodes_check(bpy.types.Operator):
    """Check the graph, and show each problem at the node that has it"""

    bl_idname = "sinew.nodes_check"
    bl_label = "Check Graph"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if _tree(context) is None:
            cls.poll_message_set("Open a Sinew graph in a node editor, or make an object with one active")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        found = diagnostics.check(_tree(context))
        errors = sum(problem.severity == "error" for problem in found)
        self.report({"WARNING"} if errors else {"INFO"}, f"{errors} errors, {len(found) - errors} warnings")
        return {"FINISHED"}


CLASSES = (SINEW_OT_node_reset, SINEW_OT_node_show_socket, SINEW_OT_node_add_joint, SINEW_OT_node_problem, SINEW_OT_nodes_check)
