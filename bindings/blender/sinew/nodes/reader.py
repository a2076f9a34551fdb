# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents to trees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy

from .. import documents
from . import base, layout, links, names, registry, sockets, special, stack, tree as trees, values



def from_document(document: dict[str, Any], name: str, folder: str | None = None) -> Any:
    """Makes a tree of a document.

    Args:
        document: Keys of the document.
        name: Name of the tree. Nested graphs become trees of their own, `NAME/NODE`.
        folder: Folder of the files that the document names.

    Returns:
        The tree.
    """
    made = _read(document, name, folder)
    made.use_fake_user = True
    return made


def _read(document: dict[str, Any], name: str, folder: str | None) -> Any:
    made = bpy.data.node_groups.new(name, base.TREE)
    Reader(made, document, folder).read()
    trees.refresh(made)
    layout.arrange(made)
    return made


class Reader:
    """Makes the nodes of a document in a tree without nodes."""

    def __init__(self, tree: Any, document: dict[str, Any], folder: str | None) -> None:
        self.tree, self.document, self.folder = tree, document, folder
        self.orders: dict[str, list[str]] = {}
        self.verbatim: dict[str, dict[str, Any]] = {}
        self.entries: dict[str, Any] = {}
        """What the document says about each node, by its name in Blender."""
        self.taken: dict[str, set[str]] = {"node": set(), "parameter": set(), "output": set()}

    def read(self) -> None:
        """Nodes first, then links."""
        self._read_inputs()
        self._each("parameters", "parameter", self._read_parameter)
        self._each("nodes", "node", self._read_node)
        steps = self._read_stack()
        self._each("outputs", "output", self._read_output)
        self._connect(steps)
        kept = {key: None if key in self.orders else value for key, value in self.document.items()}
        self.tree.source = json.dumps({"keys": kept, "orders": self.orders, "verbatim": self.verbatim}, ensure_ascii=False)

    def _connect(self, steps: list[Any]) -> None:
        plan = links.Plan(self.tree)
        for node in list(self.tree.nodes):
            if node.name in self.entries:
                _connect_all(plan, node, self.entries[node.name])
        if steps:
            last = stack.connect(plan, steps, lambda node, name: stack.states(node, self.entries[node.name], name))
            if "outputs" not in self.document:
                self._end_stack(plan, last)
        plan.draw(self.entries)

    def _end_stack(self, plan: Any, last: Any) -> None:
        """The output that a stack implies."""
        main = stack.main_input(self.tree, "mesh")
        node = self._node("SinewOutputNode", "output", main.key if main is not None else "body", {}, _nothing)
        node.implied = True
        socket = links.first_socket(last)
        if socket is not None:
            plan.links.new(socket, node.inputs[0])

    def _node(self, bl_idname: str, space: str, key: str, entry: Any, show: Any) -> Any:
        """The node of an entry, with everything but its links."""
        self.taken[space].add(key)
        node = self._place(bl_idname, space, key, entry, show)
        self.entries[node.name] = as_keys(entry)
        return node

    def _place(self, bl_idname: str, _space: str, key: str, entry: Any, show: Any) -> Any:
        node = self.tree.nodes.new(bl_idname)
        node.key = key
        base.set_source(node, entry)
        if isinstance(entry, dict) and isinstance(entry.get("doc"), str):
            node.doc = entry["doc"]
        show(node, as_keys(entry))
        base.set_source(node, entry)
        return node

    def _each(self, section: str, space: str, make: Any) -> None:
        entries = self.document.get(section)
        if not isinstance(entries, dict):
            return
        self.orders[section] = list(entries)
        for key, entry in entries.items():
            usable = isinstance(entry, str if space == "output" else dict) and names.legal(key, "") == key != ""
            if not usable or key in self.taken[space]:
                self.verbatim.setdefault(section, {})[key] = entry
                continue
            make(key, entry)

    def _read_inputs(self) -> None:
        if "inputs" not in self.document:
            for key, kind in (("body", "mesh"), ("pose", "pose")):
                self._read_input(key, {"type": kind}).implied = True
        self._each("inputs", "node", self._read_input)

    def _read_input(self, key: str, entry: dict[str, Any]) -> Any:
        node = self._node("SinewInputNode", "node", key, entry, show_input)
        node.implied = False
        return node

    def _read_parameter(self, key: str, entry: dict[str, Any]) -> None:
        self._node("SinewParameterNode", "parameter", key, entry, show_parameter)

    def _read_output(self, key: str, entry: str) -> None:
        node = self._node("SinewOutputNode", "output", key, {"link": entry}, _nothing)
        node.implied = False
        node.inputs[0].name = key

    def _read_node(self, key: str, entry: Any, step: int = 0) -> Any:
        bl_idname = special.class_of(as_keys(entry).get("node"))
        show = {"SinewGroupNode": self._show_group, "SinewKernelNode": show_kernel}.get(bl_idname, show_node)
        node = self._node(bl_idname, "node", key, entry, show)
        node.step = step
        return node

    def _show_group(self, node: Any, entry: dict[str, Any]) -> None:
        if isinstance(entry.get("graph"), dict):
            node.tree = _read(entry["graph"], f"{self.tree.name}/{node.key}", self.folder)
        if isinstance(entry.get("file"), str):
            node.p_file = entry["file"]
            inner = _load(self.folder, entry["file"])
            if inner is not None:
                _show_ports(node, inner)
        show_group_values(node, entry)

    def _read_stack(self) -> list[Any]:
        items = self.document.get("stack")
        if not isinstance(items, list) or not all(_is_step(item) for item in items):
            return []
        self.orders["stack"] = []
        steps = []
        for number, item in enumerate(items):
            base_name = stack.base_name(item)
            key = names.free(base_name, self._names())
            steps.append(self._read_node(key, item, number + 1))
        return steps

    def _names(self) -> set[str]:
        return self.taken["node"] | set(self.verbatim.get("nodes", ())) | set(self.verbatim.get("inputs", ()))


def _is_step(item: Any) -> bool:
    kind = item.get("node") if isinstance(item, dict) else item
    name = item.get("name", "node") if isinstance(item, dict) else "node"
    return isinstance(kind, str) and isinstance(name, str) and name != "" and names.legal(name) == name and names.legal(kind) == kind != ""


def as_keys(entry: Any) -> dict[str, Any]:
    """An entry as keys: steps of stacks may be only the name of a kind."""
    return entry if isinstance(entry, dict) else {"node": entry}


def _nothing(_node: Any, _entry: dict[str, Any]) -> None:
    """Outputs have no values."""


def show_input(node: Any, entry: dict[str, Any]) -> None:
    """Values of an input, and its socket."""
    show_parameters(node, entry)
    node.sync()


def show_parameter(node: Any, entry: dict[str, Any]) -> None:
    """Values of a parameter of the graph."""
    show_parameters(node, entry)
    if "default" in entry:
        decoded = values.decode(node.p_type, node.value_prop(), entry["default"])
        if decoded is not None:
            values.write(node, decoded)


def show_kernel(node: Any, _entry: dict[str, Any]) -> None:
    """Ports of the declaration."""
    node.sync()


def show_node(node: Any, entry: dict[str, Any]) -> None:
    """Values of a node of the registry."""
    show_parameters(node, entry)
    preset = entry.get("preset")
    if isinstance(preset, str) and preset in node.kind().presets:
        base.set_source(node, entry)
        node.preset = preset


def show_parameters(node: Any, entry: dict[str, Any]) -> None:
    for key, raw in entry.items():
        param = node.kind().parameter(key)
        if param is not None and not (key == param.name and f"{key}_degrees" in entry and param.is_angle):
            base.set_value(node, param, raw, key != param.name)


def _load(folder: str | None, file: str) -> dict[str, Any] | None:
    if folder is None or ".." in Path(file).parts or Path(file).is_absolute():
        return None
    try:
        loaded = documents.parsed((Path(folder) / file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _declared(document: dict[str, Any], section: str, fallback: dict[str, Any]) -> dict[str, Any]:
    found = document.get(section, fallback)
    return found if isinstance(found, dict) else {}


def _show_ports(node: Any, inner: dict[str, Any]) -> None:
    inputs = _declared(inner, "inputs", {"body": {"type": "mesh"}, "pose": {"type": "pose"}})
    node.sync_ports(
        special.ports({"inputs": inputs}, "inputs"),
        special.ports({"parameters": _declared(inner, "parameters", {})}, "parameters", "json"),
        [],
    )


def show_group_values(node: Any, entry: dict[str, Any]) -> None:
    """Values at the sockets of a group."""
    for socket in node.inputs:
        if socket.bl_idname == "SinewSocket_number" and socket.identifier in entry:
            decoded = values.decode(sockets.value_type(socket), sockets.value_prop(socket), entry[socket.identifier])
            if decoded is None:
                socket.kind = "json"
                decoded = {"v_json": json.dumps(entry[socket.identifier], ensure_ascii=False)}
            values.write(socket, decoded)


def _connect_all(tree: Any, node: Any, source: dict[str, Any]) -> None:
    """Links of a node. Keys whose links lead nowhere are remembered."""
    dangling = []
    if node.bl_idname == "SinewOutputNode":
        if not links.connect(tree, node.inputs[0], source.get("link")):
            dangling.append("link")
    elif node.bl_idname == "SinewKernelNode":
        dangling = _connect_kernel(tree, node, source)
    elif links.is_guessed(node):
        _connect_guessed(tree, node, source)
    else:
        dangling = [key for key, raw in source.items() if not _connect_key(tree, node, key, raw)]
    if node.dangling != json.dumps(dangling):
        node.dangling = json.dumps(dangling)


def _connect_key(tree: Any, node: Any, key: str, raw: Any) -> bool:
    """False if the key is an input whose link leads nowhere."""
    param = node.kind().parameter(key)
    socket = sockets.find(node.inputs, param.name if param else key)
    if socket is None:
        return True
    if socket.bl_idname != "SinewSocket_number":
        return links.connect(tree, socket, raw)
    may_follow = param is None or param.type in registry.NUMBERS
    if (may_follow or (isinstance(raw, str) and raw.startswith("$"))) and links.connect_number(tree, socket, raw) and param is not None:
        _clear_text(node, param)
    return True


def _clear_text(node: Any, param: registry.Param) -> None:
    source = node.source
    prop = base.properties.prop_name(param) if base.is_text(param) else base.properties.text_name(param)
    if getattr(node, prop):
        setattr(node, prop, "")
    if param.type == "text":
        base.set_value(node, param, param.default)
    if node.source != source:
        node.source = source


def _connect_kernel(tree: Any, node: Any, source: dict[str, Any]) -> list[str]:
    dangling = []
    for section, key in (("inputs", "link"), ("parameters", "value")):
        declared = source.get(section)
        for name, entry in declared.items() if isinstance(declared, dict) else ():
            socket = sockets.find(node.inputs, name)
            if socket is None or not isinstance(entry, dict) or key not in entry:
                continue
            if socket.bl_idname == "SinewSocket_number":
                links.connect_number(tree, socket, entry[key])
            elif not links.connect(tree, socket, entry[key]):
                dangling.append(name)
    return dangling


def _connect_guessed(tree: Any, node: Any, source: dict[str, Any]) -> None:
    for key, raw in source.items():
        if key in ("node", "file", "graph", "name", "doc"):
            continue
        socket = sockets.find(node.inputs, key)
        if socket is None and not _may_link(tree, raw):
            continue
        if socket is None:
            is_number = isinstance(raw, dict) or (isinstance(raw, str) and raw.startswith("$"))
            is_list = isinstance(raw, list)
            socket = node.inputs.new("SinewSocket_number" if is_number else "SinewSocket_any", key, identifier=key, use_multi_input=is_list)
            if is_number:
                socket.kind = "json"
        if socket.bl_idname == "SinewSocket_number":
            links.connect_number(tree, socket, raw)
        else:
            links.connect(tree, socket, raw)


def _may_link(tree: Any, raw: Any) -> bool:
    if isinstance(raw, str) and raw.startswith("$"):
        return links.named(tree, raw[1:], "parameter") is not None
    if isinstance(raw, list):
        return bool(raw) and all(isinstance(item, str) and _may_link(tree, item) for item in raw)
    parsed = links.parse_number(raw)
    return parsed is not None and not parsed["index"] and links.named(tree, names.split(parsed["link"])[0]) is not None
