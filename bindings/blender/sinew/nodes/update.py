# SPDX-License-Identifier: GPL-3.0-or-later
"""New content for trees that exist: only what differs is changed."""

from __future__ import annotations

import json
from typing import Any

from . import animation, base, layout, properties, reader, sockets, stack, tree as trees, values, writer

_SPACES = {"inputs": "node", "nodes": "node", "parameters": "parameter", "outputs": "output"}


def replace(tree: Any, document: dict[str, Any], folder: str | None = None) -> None:
    """Gives a tree new content, in place. Nodes whose entry stays the same are not touched: values, keyframes, drivers, looks.

    Args:
        tree: The tree.
        document: Keys of the document.
        folder: Folder of the files that the document names.
    """
    before = writer.to_document(tree)
    if _same(before, document):
        return
    was_arranged = layout.is_arranged(tree)
    updater = _Updater(tree, before, document, folder)
    updater.read()
    trees.refresh(tree)
    if was_arranged:
        layout.arrange(tree)
    else:
        layout.settle(tree, updater.new)


def _same(left: Any, right: Any) -> bool:
    return json.dumps(left) == json.dumps(right)


class _Updater(reader.Reader):
    """Reads a document into a tree that has nodes."""

    def __init__(self, tree: Any, before: dict[str, Any], document: dict[str, Any], folder: str | None) -> None:
        super().__init__(tree, document, folder)
        self.new: set[str] = set()
        self.pool = {(n.key_space, n.key): n for n in tree.nodes if hasattr(n, "key_space")}
        self.before = {(space, key): entry for section, space in _SPACES.items() for key, entry in _section(before, section)}
        for node, entry in zip(stack.steps_of(tree), before.get("stack", ()), strict=False):
            self.before["node", node.key] = entry

    def _connect(self, steps: list[Any]) -> None:
        for place, node in list(self.pool.items()):
            # An implied output may come back at the end of the stack.
            if place in self.before or (node.implied and place[0] != "output"):
                self._remove(place)
        super()._connect(steps)
        for place, node in list(self.pool.items()):
            if node.implied:
                self._remove(place)

    def _remove(self, place: tuple[str, str]) -> None:
        self.tree.nodes.remove(self.pool.pop(place))

    def _place(self, bl_idname: str, space: str, key: str, entry: Any, show: Any) -> Any:
        node = self.pool.get((space, key))
        if node is None:
            return self._add(bl_idname, space, key, entry, show)
        before = self.before.get((space, key), {"type": node.p_type} if bl_idname == node.bl_idname == "SinewInputNode" else {})
        before = {"link": before} if space == "output" and before != {} else before
        if node.bl_idname != bl_idname or not _may_change(node, reader.as_keys(before), reader.as_keys(entry)):
            looks = (node.location.copy(), node.parent, node.width, node.label, node.mute, node.hide)
            self._remove((space, key))
            node = super()._place(bl_idname, space, key, entry, show)
            node.parent = looks[1]
            node.location, _, node.width, node.label, node.mute, node.hide = looks
            return node
        del self.pool[space, key]
        if not _same(before, entry):
            self._change(node, reader.as_keys(before), entry)
        return node

    def _add(self, bl_idname: str, space: str, key: str, entry: Any, show: Any) -> Any:
        node = super()._place(bl_idname, space, key, entry, show)
        self.new.add(node.name)
        return node

    def _change(self, node: Any, before: dict[str, Any], entry: Any) -> None:
        keys = reader.as_keys(entry)
        doc = keys.get("doc", "")
        if node.bl_idname != "SinewOutputNode" and isinstance(doc, str) and node.doc != doc:
            node.doc = doc
        if node.bl_idname == "SinewGroupNode":
            self._change_group(node, before, keys)
        elif node.bl_idname.startswith("SinewNode_"):
            source = _source(node, before, keys)
            _change_preset(node, before, keys)
            _change_parameters(node, before, keys)
            base.set_source(node, source if isinstance(entry, dict) else entry)
            return
        elif node.bl_idname == "SinewInputNode":
            _change_parameters(node, before, keys)
            node.sync()
        elif node.bl_idname == "SinewParameterNode":
            source = _source(node, before, keys)
            _change_parameters(node, before, keys)
            _change_default(node, before, keys)
            base.set_source(node, source)
            return
        base.set_source(node, entry)

    def _change_group(self, node: Any, before: dict[str, Any], keys: dict[str, Any]) -> None:
        if node.tree is not None and not _same(before.get("graph"), keys["graph"]):
            if any(n.tree == node.tree and n != node for t in trees.trees() for n in t.nodes if n.bl_idname == "SinewGroupNode"):
                node.tree = node.tree.copy()
            replace(node.tree, keys["graph"], self.folder)
            node.sync()
        changed = {key: value for key, value in keys.items() if key not in before or not _same(before[key], value)}
        gone = before.keys() - keys.keys()
        for socket in node.inputs:
            if socket.bl_idname == "SinewSocket_number" and (socket.identifier in changed or socket.identifier in gone):
                animation.forget(socket, [sockets.value_prop(socket)])
        reader.show_group_values(node, changed)


def _section(document: dict[str, Any], section: str) -> list[tuple[str, Any]]:
    found = document.get(section)
    return list(found.items()) if isinstance(found, dict) else []


def _may_change(node: Any, before: dict[str, Any], entry: dict[str, Any]) -> bool:
    """False for nodes whose ports would be others: they are made anew."""
    if node.bl_idname == "SinewUnknownNode" or (node.bl_idname == "SinewGroupNode" and node.tree is None):
        return _same(before, entry)
    if node.bl_idname == "SinewGroupNode":
        return isinstance(entry.get("graph"), dict) and _same(before.get("file"), entry.get("file"))
    return True


def _source(node: Any, before: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """The keys to keep: values that stay are kept as they were read, and those of keyframes are left to the curves."""
    source = base.source_of(node)
    found = {}
    for key, value in entry.items():
        same = key in before and _same(before[key], value)
        if same and key in source:
            found[key] = source[key]
        elif not (same and node.bl_idname == "SinewParameterNode" and key in ("keys", "interpolation")):
            found[key] = value
    return found


def _stated(param: Any, entry: dict[str, Any]) -> tuple[str, Any]:
    """The key of a parameter in an entry, and its value; an empty key if the entry lacks it."""
    for key in (f"{param.name}_degrees", param.name) if param.is_angle else (param.name,):
        if key in entry:
            return key, entry[key]
    return "", None


def _change_preset(node: Any, before: dict[str, Any], entry: dict[str, Any]) -> None:
    presets, preset = node.kind().presets, entry.get("preset")
    wanted = preset if isinstance(preset, str) and preset in presets else "NONE"
    if presets and node.preset != wanted:
        base.set_source(node, entry)
        node.preset = wanted


def _change_parameters(node: Any, before: dict[str, Any], entry: dict[str, Any]) -> None:
    for param in node.kind().parameters:
        key, raw = _stated(param, entry)
        if _same((key, raw), _stated(param, before)):
            continue
        prop = properties.prop_name(param)
        props = values.properties_of(param.type, prop)
        is_plain = not key or base.is_text(param) or values.decode(param.type, prop, raw, key != param.name) is not None
        # Documents have the value of a driver in one frame: the driver stays and gives the next.
        if is_plain and animation.is_driven(node, props):
            continue
        animation.forget(node, props)
        if not key or not is_plain:
            base.set_value(node, param, None if base.is_text(param) else base.default_of(node, param))
        if key:
            base.set_value(node, param, raw, key != param.name)


def _change_default(node: Any, before: dict[str, Any], entry: dict[str, Any]) -> None:
    keys = ("type", "default", "keys", "interpolation")
    if _same([before.get(key) for key in keys], [entry.get(key) for key in keys]):
        return
    prop = node.value_prop()
    props = values.properties_of(node.p_type, prop)
    if "keys" not in entry and animation.is_driven(node, props):
        return
    animation.forget(node, props)
    decoded = values.decode(node.p_type, prop, entry["default"]) if "default" in entry else None
    if decoded is None:
        decoded = values.decode(node.p_type, prop, values.zero(node.p_type)) if prop != "v_json" else {prop: ""}
    if decoded is not None:
        values.write(node, decoded)
