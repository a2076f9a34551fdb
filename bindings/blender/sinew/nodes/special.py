# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are not in the registry: inputs, outputs, parameters, groups, kernels, and nodes of newer versions."""

from typing import Any

import bpy

from . import base, guards, properties, registry, sockets, tree as trees, values

NUMBERS = 32
"""Floats of a `values` input that Blender can give."""
DEFAULT_KERNEL = {
    "node": "kernel",
    "domain": "vertex",
    "inputs": {"mesh": {"type": "mesh"}},
    "outputs": {"mesh": {"type": "mesh", "writes": ["positions"]}},
    "text": ["write_mesh_positions(index, read_mesh_positions(index));"],
}


@guards.update
def _input_type_changed(node: Any, context: Any) -> None:
    base.touched(registry.INPUT.parameters[0])(node, context)
    node.sync()


class _InputNode:
    def make_sockets(self) -> None:
        self.outputs.new("SinewSocket_mesh", "mesh", identifier="out")
        self.key = {"mesh": "body"}.get(self.p_type, self.p_type)

    def sync(self) -> None:
        """The socket has the type of the input."""
        wanted = sockets.id_of(self.p_type)
        if len(self.outputs) == 1 and self.outputs[0].bl_idname == wanted:
            return
        targets = [link.to_socket for socket in self.outputs for link in socket.links]
        self.outputs.clear()
        made = self.outputs.new(wanted, self.p_type, identifier="out")
        for target in targets:
            self.id_data.links.new(target, made)

    def _shown(self) -> list[str]:
        return {
            "mesh": ["select", "file", "point_cache", "joints"],
            "strands": ["select", "file", "point_cache", "joints", "followers", "thickness"],
            "values": ["count"],
        }.get(self.p_type, ["file"])

    @guards.draw
    def draw_buttons(self, _context: Any, layout: Any) -> None:
        self.draw_problems(layout)
        layout.prop(self, "p_type", text="")
        stated = base.source_of(self)
        main = [name for name in self._shown() if name in {"select", "count"} or name in stated]
        for name in main:
            self.draw_parameter(layout, name)
        folded = [self.kind().parameter(name) for name in self._shown() if name not in main]
        if folded:
            base.draw_folded(self, layout, folded)
        if self.p_type == "values":
            column = layout.column(align=True)
            for number in range(min(self.p_count, NUMBERS)):
                column.prop(self, "numbers", index=number, text=f"{self.key}[{number}]")

    @guards.draw
    def draw_buttons_ext(self, context: Any, layout: Any) -> None:
        base.draw_name(self, layout)
        self.draw_buttons(context, layout)


class _ParameterNode:
    key_space = "parameter"

    def make_sockets(self) -> None:
        self.outputs.new("SinewSocket_parameter", "value", identifier="out")

    def touch(self, name: str) -> None:
        if name != "default":
            super().touch(name)
        elif "default" not in base.source_of(self):
            base.set_source(self, {**base.source_of(self), "default": None})

    def value_prop(self) -> str:
        """The property with the value."""
        return f"v_{self.p_type}" if self.p_type in values.PLAIN else "v_json"

    @guards.draw
    def draw_buttons(self, _context: Any, layout: Any) -> None:
        self.draw_problems(layout)
        layout.prop(self, "p_type", text="")
        column = layout.column(align=True)
        for prop in values.properties_of(self.p_type, self.value_prop()):
            column.prop(self, prop)
        wrong = values.parse(self.v_json)[1] if self.v_json and self.value_prop() == "v_json" else ""
        if wrong:
            layout.label(text=wrong, icon="ERROR")

    @guards.draw
    def draw_buttons_ext(self, context: Any, layout: Any) -> None:
        base.draw_name(self, layout)
        self.draw_buttons(context, layout)
        for param in registry.PARAMETER.parameters[1:]:
            self.draw_parameter(layout, param.name)


@guards.update
def _default_touched(node: Any, _context: Any) -> None:
    node.touch("default")


def _parameter_values() -> dict[str, Any]:
    common = {"name": "Value", "description": "Value of the parameter", "update": _default_touched}
    props = bpy.props
    return {
        "v_float": props.FloatProperty(precision=4, **common),
        "v_int": props.IntProperty(**common),
        "v_bool": props.BoolProperty(**common),
        "v_text": props.StringProperty(**common),
        "v_vec3": props.FloatVectorProperty(size=3, subtype="XYZ", **common),
        "v_vec4": props.FloatVectorProperty(size=4, subtype="XYZ", **common),
        "v_int3": props.IntVectorProperty(size=3, **common),
        "v_json": props.StringProperty(**{**common, "name": "Value (JSON)"}),
        **properties.transform("v_transform", "Value", _default_touched),
    }


class _OutputNode:
    key_space = "output"

    def make_sockets(self) -> None:
        self.inputs.new("SinewSocket_any", "value", identifier="in")
        self.key = "body"

    @guards.draw
    def draw_buttons(self, _context: Any, layout: Any) -> None:
        self.draw_problems(layout)
        layout.prop(self, "key", text="")

    @guards.draw
    def draw_buttons_ext(self, _context: Any, layout: Any) -> None:
        layout.prop(self, "key")


class _DynamicNode:
    """A node whose ports come from its declaration."""

    def make_sockets(self) -> None:
        pass

    def touch(self, name: str) -> None:
        source = base.source_of(self)
        if name not in source and self.bl_idname != "SinewKernelNode":
            base.set_source(self, {**source, name: None})

    def sync_ports(self, inputs: list[tuple[str, str]], parameters: list[tuple[str, str]], outputs: list[tuple[str, str]]) -> None:
        """Makes the sockets those of the declaration. Links of sockets that stay are kept."""
        wanted = [(name, sockets.id_of(kind), "") for name, kind in inputs]
        wanted += [(name, "SinewSocket_number", kind) for name, kind in parameters]
        _sync(self.inputs, wanted)
        _sync(self.outputs, [(name, sockets.id_of(kind), "") for name, kind in outputs])

    @guards.draw
    def draw_buttons_ext(self, context: Any, layout: Any) -> None:
        base.draw_name(self, layout)
        self.draw_buttons(context, layout)


def _sync(collection: Any, wanted: list[tuple[str, str, str]]) -> None:
    kept = {identifier: bl_idname for identifier, bl_idname, _ in wanted}
    for socket in list(collection):
        if kept.get(socket.identifier) != socket.bl_idname:
            collection.remove(socket)
    for position, (identifier, bl_idname, kind) in enumerate(wanted):
        socket = sockets.find(collection, identifier)
        if socket is None:
            socket = collection.new(bl_idname, identifier, identifier=identifier)
        if bl_idname == "SinewSocket_number":
            socket.kind = kind or "json"
        current = next(i for i, s in enumerate(collection) if s.identifier == identifier)
        if current != position:
            collection.move(current, position)


@guards.update
def _tree_changed(node: Any, _context: Any) -> None:
    trees.refresh(node.id_data)


class _GroupNode(_DynamicNode):
    def sync(self) -> None:
        """Ports of the nested tree."""
        if self.tree is None:
            return
        inner = self.tree.nodes
        found = {space: [n for n in inner if n.bl_idname == space] for space in ("SinewInputNode", "SinewParameterNode", "SinewOutputNode")}
        self.sync_ports(
            [(n.key, n.p_type) for n in found["SinewInputNode"]],
            [(n.key, n.p_type) for n in found["SinewParameterNode"]],
            [(n.key, _type_behind(n)) for n in found["SinewOutputNode"]],
        )

    @guards.draw
    def draw_buttons(self, _context: Any, layout: Any) -> None:
        self.draw_problems(layout)
        layout.prop(self, "tree", text="")
        if self.tree is None:
            layout.prop(self, "p_file")


def _type_behind(output: Any) -> str:
    links = output.inputs[0].links if output.inputs else ()
    return sockets.type_of(links[0].from_socket) if links else "any"


def _own_kind(_node: Any, tree: Any) -> bool:
    return tree.bl_idname == base.TREE


class _KernelNode(_DynamicNode):
    def init(self, _context: Any) -> None:
        self.key = "kernel"
        base.set_source(self, DEFAULT_KERNEL)

    def sync(self) -> None:
        """Ports of the declaration."""
        source = base.source_of(self)
        self.sync_ports(ports(source, "inputs"), ports(source, "parameters", "json"), ports(source, "outputs"))

    @guards.draw
    def draw_buttons(self, _context: Any, layout: Any) -> None:
        self.draw_problems(layout)
        wrong = values.parse(self.source)[1]
        column = layout.column()
        column.alert = bool(wrong)
        column.prop(self, "source", text="")
        if wrong:
            column.label(text=wrong, icon="ERROR")


def ports(source: dict[str, Any], section: str, fallback: str = "any") -> list[tuple[str, str]]:
    declared = source.get(section)
    if not isinstance(declared, dict):
        return []
    return [(name, str(d.get("type", fallback)) if isinstance(d, dict) else fallback) for name, d in declared.items()]


@guards.update
def _declaration_changed(node: Any, _context: Any) -> None:
    if not values.parse(node.source)[1]:
        node.sync()


class _UnknownNode(_DynamicNode):
    @guards.draw
    def draw_buttons(self, _context: Any, layout: Any) -> None:
        self.draw_problems(layout)
        kind = base.source_of(self).get("node", "?")
        layout.label(text=f"This Sinew does not know '{kind}'", icon="ERROR")
        layout.prop(self, "source", text="")


def _source(update: Any = None) -> dict[str, Any]:
    return {"source": bpy.props.StringProperty(name="Declaration (JSON)", description="The keys of the node in the document", update=update)}


def classes() -> list[type]:
    """Node classes to register."""
    numbers = bpy.props.FloatVectorProperty(name="Numbers", description="Numbers that Blender gives: keyframes and drivers count", size=NUMBERS)
    tree = bpy.props.PointerProperty(name="Tree", description="The nested graph", type=bpy.types.NodeTree, poll=_own_kind, update=_tree_changed)
    kind = properties.of_param(registry.INPUT.parameters[0], lambda _: _input_type_changed)
    return [
        base.make(registry.INPUT, "SinewInputNode", "Input", (_InputNode,), {**kind, "numbers": numbers}),
        base.make(registry.PARAMETER, "SinewParameterNode", "Parameter", (_ParameterNode,), _parameter_values()),
        base.make(registry.OUTPUT, "SinewOutputNode", "Output", (_OutputNode,)),
        base.make(registry.GROUP, "SinewGroupNode", "Group", (_GroupNode,), {"tree": tree}),
        base.make(registry.KERNEL, "SinewKernelNode", "Kernel", (_KernelNode,), _source(_declaration_changed)),
        base.make(registry.UNKNOWN, "SinewUnknownNode", "Unknown", (_UnknownNode,), _source()),
    ]


CLASS_OF = {"graph": "SinewGroupNode", "kernel": "SinewKernelNode"}


def class_of(kind: Any) -> str:
    """bl_idname of the node class for the `node` key of a document."""
    if isinstance(kind, str) and kind in registry.kinds():
        return f"SinewNode_{kind}"
    return CLASS_OF.get(kind, "SinewUnknownNode") if isinstance(kind, str) else "SinewUnknownNode"
