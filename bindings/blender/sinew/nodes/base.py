# SPDX-License-Identifier: GPL-3.0-or-later
"""What all Sinew nodes share: the keys of the document, parameters as properties, problems.

`source` holds the keys of the node as the document writes them. Properties show them. The document is written from `source` and
from what the properties say differently, so that unknown keys, the order of keys and the digits of numbers are kept.
"""

import json
from typing import Any

import bpy

from .. import labels
from . import guards, names, properties, registry, sockets, values
from .registry import Kind, Param

TREE = "SinewNodeTree"
VISIBLE_SOCKETS = 8
_ICONS = {"error": "ERROR", "warning": "INFO"}
_NAMED_BEFORE = ("choice", "text")


def keys_in_use(tree: Any, space: str, skip: Any = None) -> set[str]:
    """Names of the nodes (or parameters, or outputs) of a tree."""
    return {n.key for n in tree.nodes if getattr(n, "key_space", None) == space and n != skip}


@guards.update
def _renamed(node: Any, _context: Any) -> None:
    wanted = names.free(names.legal(node.key, node.kind().name), keys_in_use(node.id_data, node.key_space, node))
    if wanted != node.key:
        node.key = wanted
    elif node.name != wanted:
        node.name = wanted


def touched(param: Param) -> properties.Update:
    """The update callback of a parameter: the document then states it."""

    @guards.update
    def update(node: Any, _context: Any) -> None:
        node.touch(param.name)

    return update


def moved(param: Param) -> properties.Update:
    """The update callback of a slider: its value counts from now on, not the JSON text that was there before."""

    @guards.update
    def update(node: Any, _context: Any) -> None:
        node.touch(param.name)
        if getattr(node, properties.text_name(param), ""):
            setattr(node, properties.text_name(param), "")

    return update


@guards.update
def preset_changed(node: Any, _context: Any) -> None:
    """Shows the values of the preset at all parameters that are not set."""
    kind, old = node.kind(), node.preset_was
    node.preset_was = node.preset
    for param in kind.parameters:
        if stated_key(node, param) or not shows(node, param, effective(kind, param, old)):
            continue
        set_value(node, param, effective(kind, param, node.preset))
        unstate(node, param)


def effective(kind: Kind, param: Param, preset: str) -> Any:
    """The value of a parameter that the document does not state."""
    value = kind.presets.get(preset, {}).get(param.name, param.default)
    return values.zero(param.type) if value is None else value


def default_of(node: Any, param: Param) -> Any:
    """The value of a parameter if the node does not state it."""
    return effective(node.kind(), param, getattr(node, "preset", "NONE"))


def has_default(param: Param) -> bool:
    """False for parameters such as `time`, which follow the scene unless they are stated."""
    return param.default is not None


def is_text(param: Param) -> bool:
    """True for parameters that are JSON text: lists, records."""
    return param.type not in values.PLAIN


def shows(node: Any, param: Param, raw: Any, degrees: bool = False) -> bool:
    """True if the properties of a parameter show that value."""
    if is_text(param):
        text = getattr(node, properties.prop_name(param))
        return text == "" if raw is None else text != "" and values.parse_as(param.type, text)[0] == raw
    decoded = values.decode(param.type, properties.prop_name(param), raw, degrees)
    return decoded is not None and values.same(node, decoded)


def set_value(node: Any, param: Param, raw: Any, degrees: bool = False) -> None:
    """Shows a value in the properties of a parameter, as JSON text if sliders cannot hold it."""
    prop = properties.prop_name(param)
    if is_text(param):
        shown = values.word(raw) if param.type == "word" else json.dumps(raw, ensure_ascii=False)
        setattr(node, prop, "" if raw is None else shown)
        return
    decoded = values.decode(param.type, prop, raw, degrees)
    fits = decoded is not None and values.write(node, decoded)
    text = "" if fits else json.dumps(raw, ensure_ascii=False)
    if getattr(node, properties.text_name(param)) != text:
        setattr(node, properties.text_name(param), text)


def source_of(node: Any) -> dict[str, Any]:
    """The keys of the node as the document wrote them."""
    parsed = values.parse(node.source)[0] if node.source else {}
    return parsed if isinstance(parsed, dict) else {}


def set_source(node: Any, source: Any) -> None:
    """Keeps the keys of the node."""
    node.source = json.dumps(source, ensure_ascii=False)


def stated_key(node: Any, param: Param) -> str:
    """The key of a parameter that the node states (`angle` or `angle_degrees`), or an empty text."""
    source = source_of(node)
    if param.is_angle and f"{param.name}_degrees" in source:
        return f"{param.name}_degrees"
    return param.name if param.name in source else ""


def unstate(node: Any, param: Param) -> None:
    """Removes the parameter from the keys of the node."""
    source = source_of(node)
    for key in (param.name, f"{param.name}_degrees"):
        if node.kind().parameter(key) == param:
            source.pop(key, None)
    set_source(node, source)


class SinewNode:
    """A node of a Sinew graph."""

    key_space = "node"
    bl_icon = "NONE"
    bl_width_default = 240

    @classmethod
    def poll(cls, tree: Any) -> bool:
        return tree.bl_idname == TREE

    @classmethod
    def kind(cls) -> Kind:
        """The entry of the registry."""
        return cls.sinew_kind

    def init(self, _context: Any) -> None:
        self.key = self.kind().name
        self.make_sockets()

    def copy(self, _original: Any) -> None:
        self.key = names.free_copy(self.key, keys_in_use(self.id_data, self.key_space, self))
        if any(n != self and getattr(n, "step", 0) == self.step for n in self.id_data.nodes):
            self.step = 0

    def make_sockets(self) -> None:
        """The ports of the kind. Sockets of parameters beyond the main ones are hidden until something links to them."""
        kind = self.kind()
        for port in kind.inputs:
            made = self.inputs.new(sockets.id_of(port.type), port.name, identifier=port.name, use_multi_input=port.links > 1)
            made.description = port.doc
            made.hide = bool(port.more_of)
        visible = 0
        for param in kind.parameters:
            made = self.inputs.new("SinewSocket_number", properties.title(param.name), identifier=param.name)
            made.description = param.doc
            made.hide = not param.follows or visible >= VISIBLE_SOCKETS
            visible += not made.hide
        for port in kind.outputs:
            self.outputs.new(sockets.id_of(port.type), port.name, identifier=port.name).description = port.doc

    def touch(self, name: str) -> None:
        """The user changed a parameter: the document states it from now on."""
        param = self.kind().parameter(name)
        if param is None or stated_key(self, param):
            return
        source = source_of(self)
        source[param.name] = None
        set_source(self, source)

    def reset(self, param: Param) -> None:
        """Back to the default; the document no longer states the parameter."""
        if not is_text(param):
            setattr(self, properties.text_name(param), "")
        set_value(self, param, default_of(self, param))
        unstate(self, param)

    # Drawing.

    def draw_label(self) -> str:
        return self.key

    def draw_parameter(self, layout: Any, name: str) -> None:
        """One parameter: its slider, or its JSON text."""
        param = self.kind().parameter(name)
        if param is None:
            return
        if is_text(param):
            _draw_text(self, layout, param, properties.prop_name(param))
        elif getattr(self, properties.text_name(param)):
            _draw_text(self, layout, param, properties.text_name(param))
        else:
            shown = values.properties_of(param.type, properties.prop_name(param))
            column = layout.column(align=True) if len(shown) > 1 else layout
            for prop in shown:
                if param.type in _NAMED_BEFORE:
                    _draw_named(self, column, param, prop)
                else:
                    column.prop(self, prop)

    def draw_problems(self, layout: Any) -> None:
        """Errors and warnings that `check` found at this node."""
        for number, problem in enumerate(problems_of(self)):
            box = layout.box()
            box.alert = problem["severity"] == "error"
            row = box.row()
            labels.draw(row, problem["message"], _ICONS.get(problem["severity"], "INFO"), self.width - 70.0, most=4)
            details = row.operator("sinew.node_problem", text="", icon="QUESTION", emboss=False)
            details.node, details.number = self.name, number

    @guards.draw
    def draw_buttons(self, _context: Any, layout: Any) -> None:
        self.draw_problems(layout)
        if self.kind().presets:
            layout.prop(self, "preset", text="")
        source = source_of(self)
        folded = []
        for param in self.kind().parameters:
            socket = sockets.find(self.inputs, param.name)
            if socket is not None and (not socket.hide or socket.is_linked):
                continue
            if param.setup and not stated_key(self, param) or (not param.setup and param.name not in source):
                folded.append(param)
                continue
            self.draw_parameter(layout, param.name)
        if folded:
            draw_folded(self, layout, folded)

    @guards.draw
    def draw_buttons_ext(self, _context: Any, layout: Any) -> None:
        draw_name(self, layout)
        self.draw_problems(layout)
        if self.kind().presets:
            _draw_field(layout, self, "preset", "Preset")
        for param in self.kind().parameters:
            row = layout.row(align=True)
            socket = sockets.find(self.inputs, param.name)
            if socket is not None and socket.is_linked:
                _draw_linked(row, socket)
            else:
                self.draw_parameter(row.column(), param.name)
            _draw_menu(self, row, param)


def _draw_linked(row: Any, socket: Any) -> None:
    column = row.column(align=True)
    column.label(text=socket.name, icon="LINKED")
    column.prop(socket, "index")
    column.prop(socket, "remap")
    column.prop(socket, "interpolation")


def _draw_menu(node: Any, row: Any, param: Param) -> None:
    if param.type == "texts" and param.names_joints:
        add = row.operator("sinew.node_add_joint", text="", icon="ADD")
        add.node, add.parameter = node.name, param.name
    socket = sockets.find(node.inputs, param.name)
    show = row.operator("sinew.node_show_socket", text="", icon="DECORATE_LINKED", depress=socket is not None and not socket.hide)
    show.node, show.parameter = node.name, param.name
    if stated_key(node, param):
        reset = row.operator("sinew.node_reset", text="", icon="LOOP_BACK")
        reset.node, reset.parameter = node.name, param.name


def _draw_text(node: Any, layout: Any, param: Param, prop: str) -> None:
    text = getattr(node, prop)
    wrong = values.parse_as(param.type, text)[1] if text else ""
    column = layout.column(align=True)
    column.alert = bool(wrong)
    _draw_named(node, column, param, prop)
    if wrong:
        column.label(text=wrong, icon="ERROR")


def _draw_named(node: Any, layout: Any, param: Param, prop: str) -> None:
    _draw_field(layout, node, prop, properties.title(param.name))


def _draw_field(layout: Any, owner: Any, prop: str, text: str) -> None:
    """A field with its name before it. Blender gives names of fields too few pixels."""
    split = layout.split(factor=0.45)
    split.label(text=text)
    split.prop(owner, prop, text="")


def draw_name(node: Any, layout: Any) -> None:
    """Name and note of a node, in the sidebar."""
    _draw_field(layout, node, "key", "Graph Name")
    _draw_field(layout, node, "doc", "Note")


def draw_folded(node: Any, layout: Any, folded: list[Param]) -> None:
    """Parameters behind a triangle."""
    icon = "DISCLOSURE_TRI_DOWN" if node.show_advanced else "DISCLOSURE_TRI_RIGHT"
    row = layout.row()
    row.alignment = "LEFT"
    row.prop(node, "show_advanced", icon=icon, emboss=False)
    if node.show_advanced:
        box = layout.box()
        for param in folded:
            node.draw_parameter(box, param.name)


def problems_of(node: Any) -> list[dict[str, str]]:
    """The problems that are shown at a node."""
    parsed = values.parse(node.problems)[0] if node.problems else []
    return parsed if isinstance(parsed, list) else []


COMMON = {
    "key": bpy.props.StringProperty(name="Graph Name", description="Name of the node in the document", update=_renamed),
    "doc": bpy.props.StringProperty(name="Note", description="Text for people"),
    "source": bpy.props.StringProperty(description="The keys of the node in the document", options={"HIDDEN"}),
    "dangling": bpy.props.StringProperty(description="Keys whose links lead nowhere", options={"HIDDEN"}),
    "step": bpy.props.IntProperty(description="Number of the step in the stack of the document, from 1", options={"HIDDEN"}),
    "implied": bpy.props.BoolProperty(description="The document does not write this node", options={"HIDDEN"}),
    "preset_was": bpy.props.StringProperty(default="NONE", options={"HIDDEN"}),
    "show_advanced": bpy.props.BoolProperty(name="More", description="Show all parameters"),
    "problems": bpy.props.StringProperty(options={"HIDDEN"}),
    "plain_color": bpy.props.StringProperty(description="Colour of the node without problems", options={"HIDDEN"}),
}


def make(kind: Kind, bl_idname: str, label: str, bases: tuple[type, ...] = (), extra: dict[str, Any] | None = None) -> type:
    """A node class for a kind."""
    annotations = {**COMMON, **properties.of_kind(kind, touched, preset_changed, moved), **(extra or {})}
    body = {
        "__annotations__": annotations,
        "__doc__": kind.summary,
        "__module__": __name__,
        "bl_idname": bl_idname,
        "bl_label": label,
        "bl_description": kind.summary,
        "sinew_kind": kind,
    }
    return type(bl_idname, (*bases, SinewNode, bpy.types.Node), body)


def generated() -> list[type]:
    """One class for each kind of the registry."""
    return [make(kind, f"SinewNode_{kind.name}", properties.title(kind.name)) for kind in registry.kinds().values()]
