# SPDX-License-Identifier: GPL-3.0-or-later
"""Sockets: one class for each type of port, and one for parameters."""

from typing import Any

import bpy

from . import guards, properties, values

COLORS = {
    "mesh": (0.0, 0.84, 0.64, 1.0),
    "strands": (0.55, 0.45, 0.25, 1.0),
    "pose": (0.93, 0.62, 0.36, 1.0),
    "mask": (0.55, 0.55, 0.55, 1.0),
    "values": (0.39, 0.39, 0.78, 1.0),
    "field": (0.39, 0.78, 0.39, 1.0),
    "lines": (0.78, 0.78, 0.16, 1.0),
    "vertex_animation": (0.61, 0.31, 0.64, 1.0),
    "buffer": (0.78, 0.31, 0.39, 1.0),
    "any": (0.2, 0.2, 0.2, 1.0),
    "parameter": (0.35, 0.55, 0.36, 1.0),
    "number": (0.63, 0.63, 0.63, 1.0),
}
_FITS = {
    "mesh": {"mesh", "strands"},
    "strands": {"mesh", "strands"},
    "mask": {"mask", "buffer"},
    "values": {"values", "buffer"},
    "buffer": {"buffer", "mask", "values"},
    "number": {"parameter", "values", "buffer"},
}


def id_of(port_type: str) -> str:
    """bl_idname of the sockets of a port type."""
    return f"SinewSocket_{port_type if port_type in COLORS else 'any'}"


def type_of(socket: Any) -> str:
    """Port type of a socket."""
    return socket.bl_idname.partition("_")[2]


def fits(source: Any, target: Any) -> bool:
    """True if an output of that type may go into that input."""
    start, end = type_of(source), type_of(target)
    if "any" in (start, end):
        return start != "parameter"
    return start in _FITS.get(end, {end})


def find(collection: Any, identifier: str) -> Any:
    """The socket with that identifier, or None."""
    return next((s for s in collection if s.identifier == identifier), None)


class _Socket:
    """A port of a node."""

    def draw(self, context: Any, layout: Any, _node: Any, text: str) -> None:
        if not in_sidebar(context):
            layout.label(text=text)

    def draw_color(self, _context: Any, _node: Any) -> tuple[float, ...]:
        return COLORS[type_of(self)]


@guards.update
def _changed(socket: Any, _context: Any) -> None:
    node = socket.node
    if node is not None and hasattr(node, "touch"):
        node.touch(socket.identifier)


INTERPOLATIONS = [("linear", "Linear", "Straight lines"), ("smooth", "Smooth", "Flat at each point"), ("step", "Step", "Holds the value of the point before")]


class NumberSocket(_Socket, bpy.types.NodeSocket):
    """A parameter: follows a number of another node, or reads a parameter of the graph."""

    bl_idname = "SinewSocket_number"
    bl_label = "Parameter"

    index: bpy.props.IntProperty(name="Index", description="Which number of the output, from 0", min=0)
    remap: bpy.props.StringProperty(name="Remap", description="Curve of points [from, to] as JSON, such as [[0, 0], [1, 0.5]]")
    interpolation: bpy.props.EnumProperty(name="Interpolation", description="Interpolation of the curve", items=INTERPOLATIONS)
    # Values of nodes whose parameters are known only from their graph or kernel.
    kind: bpy.props.StringProperty(description="Type of the value, empty if the node has a property for it")
    v_float: bpy.props.FloatProperty(name="Value", update=_changed)
    v_int: bpy.props.IntProperty(name="Value", update=_changed)
    v_bool: bpy.props.BoolProperty(name="Value", update=_changed)
    v_json: bpy.props.StringProperty(name="Value (JSON)", update=_changed)

    def draw(self, context: Any, layout: Any, node: Any, text: str) -> None:
        if in_sidebar(context) and not self.kind:
            return
        if self.is_linked:
            self._draw_link(layout, text)
        elif self.kind:
            layout.prop(self, value_prop(self), text=text)
        elif hasattr(node, "draw_parameter"):
            node.draw_parameter(layout, self.identifier)
        else:
            layout.label(text=text)

    def _draw_link(self, layout: Any, text: str) -> None:
        layout.label(text=text)
        if any(type_of(link.from_socket) != "parameter" for link in self.links):
            layout.prop(self, "index", text="")
            if self.remap and values.parse(self.remap)[1]:
                layout.label(text="remap is not JSON", icon="ERROR")


def in_sidebar(context: Any) -> bool:
    """True in the sidebar, where Blender draws all sockets again below the parameters of the node."""
    region = getattr(context, "region", None)
    return region is not None and region.type == "UI"


def value_prop(socket: Any) -> str:
    """The property of a socket that holds its value."""
    return f"v_{socket.kind}" if socket.kind in ("float", "int", "bool") else "v_json"


def value_type(socket: Any) -> str:
    """Type of that value for `values.read`."""
    return socket.kind if socket.kind in ("float", "int", "bool") else "json"


def _simple(port_type: str) -> type:
    color = COLORS[port_type]
    body = {
        "bl_idname": id_of(port_type),
        "bl_label": properties.title(port_type),
        "__doc__": f"A port of type {port_type}.",
        "__module__": __name__,
        "draw_color_simple": classmethod(lambda cls: color),
    }
    return type(f"SinewSocket_{port_type}", (_Socket, bpy.types.NodeSocket), body)


def classes() -> list[type]:
    """Socket classes to register."""
    NumberSocket.draw_color_simple = classmethod(lambda cls: COLORS["number"])
    return [_simple(port_type) for port_type in COLORS if port_type != "number"] + [NumberSocket]
