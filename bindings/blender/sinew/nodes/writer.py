# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees to documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import animation, base, links, properties, registry, sockets, stack, values
from .registry import Param

_ORDER = ("sinew", "inputs", "parameters", "nodes", "stack", "outputs")
_SPACES = {"inputs": "SinewInputNode", "parameters": "SinewParameterNode", "outputs": "SinewOutputNode"}
RESERVED = {"node", "name", "doc", "graph", "file", "preset"}


@dataclass
class Entry:
    """A parameter of a live document that is a property in Blender."""

    name: str
    path: tuple[str, ...]
    """Group nodes from the tree to the node, by name in Blender."""
    node: str
    socket: str
    type: str
    prop: str
    default: Any = None
    declared: bool = False
    """The document has the parameter itself."""


@dataclass
class Live:
    """Collects the values that a live document leaves to Blender."""

    skip: frozenset[tuple[str, ...]] = frozenset()
    path: tuple[str, ...] = ()
    taken: set[str] = field(default_factory=set)
    entries: list[Entry] = field(default_factory=list)

    def add(self, base_name: str, entry: Entry) -> str:
        """The text that reads the new parameter."""
        entry.name = base.names.free(base.names.legal(base_name), self.taken)
        self.taken.add(entry.name)
        self.entries.append(entry)
        return f"${entry.name}"


class Writer:
    """Writes one tree; nested trees have writers of their own."""

    def __init__(self, tree: Any, notes: list[str], live: Live | None = None, scene: Any = None, above: tuple[Any, ...] = ()) -> None:
        self.tree, self.notes, self.live, self.scene = tree, notes, live, scene
        self.above = (*above, tree)
        self.curves = animation.curves(tree)
        self.driven = animation.drivers(tree)
        self.incoming = links.index(tree)
        kept = values.parse(tree.source)[0] if tree.source else {}
        kept = kept if isinstance(kept, dict) else {}
        self.keys: dict[str, Any] = kept.get("keys", {"sinew": "1.0"})
        self.orders: dict[str, list[str]] = kept.get("orders", {})
        self.verbatim: dict[str, dict[str, Any]] = kept.get("verbatim", {})
        self.is_stack = "stack" in self.orders and bool(stack.steps_of(tree)) and stack.is_still_one(tree)

    def document(self) -> dict[str, Any]:
        """The document."""
        if animation.has_strips(self.tree):
            self.notes.append(f"graph '{self.tree.name}' has NLA strips; documents cannot hold them, so their values are left out")
        if self.live is not None:
            self.live.taken |= {n.key for n in self.tree.nodes if hasattr(n, "key")} | RESERVED
        made = {
            "nodes": self._section("nodes", self._plain_nodes(), self._node),
            "stack": self._stack(),
            "inputs": self._inputs(),
            "parameters": self._section("parameters", self._of("SinewParameterNode"), self._parameter),
            "outputs": self._outputs(),
        }
        result: dict[str, Any] = {}
        for key in (*self.keys, *(k for k in _ORDER if k not in self.keys)):
            if key in made and (key not in self.keys or key in self.orders):
                if made[key] is not None:
                    result[key] = made[key]
            elif key in self.keys:
                result[key] = self.keys[key]
        return result

    def _of(self, bl_idname: str) -> list[Any]:
        return [n for n in self.tree.nodes if n.bl_idname == bl_idname]

    def _plain_nodes(self) -> list[Any]:
        special = set(_SPACES.values())
        found = [n for n in self.tree.nodes if hasattr(n, "key") and n.bl_idname not in special and not (self.is_stack and n.step > 0)]
        return found if self.live is None else self._needed(found)

    def _needed(self, nodes: list[Any]) -> list[Any]:
        """The nodes that outputs and the panel of pose drivers need. Playing goes on while a new node has no links."""
        ends = self._of("SinewOutputNode") + (stack.steps_of(self.tree) if self.is_stack else [])
        ends += [n for n in nodes if self._has_poses(n)]
        seen: dict[str, Any] = {}
        waiting = list(ends)
        while waiting:
            node = waiting.pop()
            if node.name in seen:
                continue
            seen[node.name] = node
            waiting += [source.node for socket in node.inputs for source in self.incoming(socket)]
            texts = "\n".join(_texts(node))
            waiting += [n for n in nodes if n.name not in seen and _mentions(texts, n.key)]
        return [n for n in nodes if n.name in seen]

    def _has_poses(self, node: Any) -> bool:
        """True for a pose driver that works: the panel shows its weights before a node reads them."""
        pose = sockets.find(node.inputs, "pose")
        return node.bl_idname == "SinewNode_pose_driver" and node.p_poses not in ("", "[]") and pose is not None and bool(self.incoming(pose))

    def _section(self, section: str, nodes: Iterable[Any], write: Any) -> dict[str, Any] | None:
        """The entries in the order of the document, new ones last. None if the document has no such section."""
        by_key = {n.key: n for n in nodes}
        kept = self.verbatim.get(section, {})
        result: dict[str, Any] = {}
        for key in self.orders.get(section, []):
            if key in by_key:
                result[key] = write(by_key.pop(key))
            elif key in kept:
                result[key] = kept[key]
        result.update({key: write(node) for key, node in by_key.items()})
        return result if result or section in self.orders else None

    def _inputs(self) -> dict[str, Any] | None:
        nodes = self._of("SinewInputNode")
        usual = {("body", "mesh"), ("pose", "pose")}
        if "inputs" not in self.keys and all(n.implied and self._input(n) == {"type": n.p_type} for n in nodes):
            if {(n.key, n.p_type) for n in nodes} == usual:
                return None
        return self._section("inputs", nodes, self._input)

    def _outputs(self) -> dict[str, Any] | None:
        nodes = self._of("SinewOutputNode")
        steps = stack.steps_of(self.tree)
        if self.is_stack and "outputs" not in self.keys and len(nodes) == 1 and nodes[0].implied:
            main = stack.main_input(self.tree, "mesh")
            sources = self.incoming(nodes[0].inputs[0])
            if sources and nodes[0].key == (main.key if main else "body") and sources[0].node == steps[-1] and links.first(steps[-1]) == sources[0].identifier:
                return None
        linked = [n for n in nodes if self.incoming(n.inputs[0]) or _is_dangling(n, "link")]
        return self._section("outputs", linked, lambda n: self._link(n, n.inputs[0], "link", base.source_of(n).get("link")))

    def _stack(self) -> list[Any] | None:
        if not self.is_stack:
            return None if self.orders.get("stack") is None or stack.steps_of(self.tree) else []
        inputs = {n.key for n in self._of("SinewInputNode")}
        taken = inputs | {n.key for n in self._plain_nodes()} | set(self.verbatim.get("nodes", ())) | set(self.verbatim.get("inputs", ()))
        implied = stack.implied_names(self.tree, taken)
        result, before = [], None
        for node in stack.steps_of(self.tree):
            result.append(self._step(node, before, implied[node.name]))
            before = node
        return result

    def _step(self, node: Any, before: Any, implied_name: str) -> Any:
        hidden = {
            name
            for name, output in stack.implied_links(self.tree, node, before).items()
            if not stack.is_stated(node, name) and self.incoming(sockets.find(node.inputs, name)) == [output]
        }
        written = self._node(node, hidden)
        if implied_name != node.key:
            written = {"node": written["node"], "name": node.key, **{k: v for k, v in written.items() if k not in ("node", "name")}}
        was_text = isinstance(values.parse(node.source)[0], str)
        return written["node"] if was_text and set(written) == {"node"} else written

    # Nodes.

    def _node(self, node: Any, hidden: Iterable[str] = ()) -> dict[str, Any]:
        written: dict[str, Any] = dict(base.source_of(node))
        if "node" not in written and node.kind() != registry.UNKNOWN:
            written = {"node": stack.node_kind(node) if isinstance(values.parse(node.source)[0], dict) else self._text_kind(node), **written}
        self._doc(node, written)
        if node.step > 0 and not self.is_stack:
            written.pop("name", None)
        if node.bl_idname == "SinewKernelNode":
            self._kernel(node, written, hidden)
        elif node.bl_idname == "SinewGroupNode":
            self._group(node, written, hidden)
        else:
            self._ports(node, written, hidden)
            self._preset(node, written)
            for param in node.kind().parameters:
                self._param(node, param, written)
        return written

    def _text_kind(self, node: Any) -> str:
        parsed = values.parse(node.source)[0]
        return parsed if isinstance(parsed, str) else node.kind().name

    def _doc(self, node: Any, written: dict[str, Any]) -> None:
        current = written.get("doc")
        if isinstance(current, str) or "doc" not in written:
            if node.doc != (current or ""):
                written["doc"] = node.doc
                if not node.doc:
                    del written["doc"]

    def _preset(self, node: Any, written: dict[str, Any]) -> None:
        presets = node.kind().presets
        current = written.get("preset")
        if not presets or ("preset" in written and current not in presets):
            return
        if node.preset != "NONE":
            written["preset"] = node.preset
        else:
            written.pop("preset", None)

    def _ports(self, node: Any, written: dict[str, Any], hidden: Iterable[str]) -> None:
        for socket in node.inputs:
            if socket.bl_idname == "SinewSocket_number" and not links.is_guessed(node):
                continue
            key = socket.identifier
            if not self.incoming(socket):
                if node.kind().input(key) is not None and not _is_dangling(node, key):
                    written.pop(key, None)
                continue
            if key not in hidden:
                number = socket.bl_idname == "SinewSocket_number"
                raw = written.get(key)
                written[key] = links.write_number(self.tree, socket, raw, self.notes) if number else self._link(node, socket, key, raw)

    def _link(self, node: Any, socket: Any, key: str, raw: Any) -> Any:
        if not self.incoming(socket) and _is_dangling(node, key):
            return raw
        return links.write(self.tree, socket, raw)

    def _param(self, node: Any, param: Param, written: dict[str, Any]) -> None:
        degrees = param.is_angle and f"{param.name}_degrees" in written
        key = f"{param.name}_degrees" if degrees else param.name
        value = self._param_value(node, param, key, written, degrees)
        if value is values.MISSING:
            written.pop(key, None)
        elif isinstance(value, _Variable):
            _replace(written, key, param.name, value.text)
        else:
            written[key] = value

    def _param_value(self, node: Any, param: Param, key: str, written: dict[str, Any], degrees: bool) -> Any:
        prop, stated, raw = properties.prop_name(param), key in written, written.get(key)
        socket = sockets.find(node.inputs, param.name)
        if socket is not None and self.incoming(socket):
            return links.write_number(self.tree, socket, raw, self.notes)
        props = values.properties_of(param.type, prop)
        if self._animated(node, props):
            return self._moving(node, param, props, key, written, degrees)
        if base.is_text(param):
            return self._text(node, param, prop, stated, raw)
        if getattr(node, properties.text_name(param)):
            return self._text(node, param, properties.text_name(param), stated, raw)
        decoded = values.decode(param.type, prop, raw, degrees) if stated and raw is not None else None
        was_link = stated and raw is not None and decoded is None
        if not stated and base.shows(node, param, base.default_of(node, param)):
            return self._unstated(node, param, prop, written)
        if was_link and base.shows(node, param, base.default_of(node, param)):
            return values.MISSING
        variable = self._variable(node, param, prop)
        if variable is not None:
            return variable
        if decoded is not None and values.same(node, decoded):
            return raw
        return values.read(node, param.type, prop, degrees)

    def _unstated(self, node: Any, param: Param, prop: str, written: dict[str, Any]) -> Any:
        """Sliders that nobody moved yet are parameters of live documents, too: the first move needs no new setup."""
        # `fit` finds place and size unless the node states them.
        if "fit" in written or not base.has_default(param) or param.type not in registry.NUMBERS:
            return values.MISSING
        variable = self._variable(node, param, prop)
        return values.MISSING if variable is None else variable

    def _text(self, node: Any, param: Param, prop: str, stated: bool, raw: Any) -> Any:
        text = getattr(node, prop)
        if not text:
            return values.MISSING
        parsed, wrong = values.parse_as(param.type, text)
        if wrong:
            self.notes.append(f"node '{node.key}': '{param.name}' is {wrong}. The value before it is kept: mend the text")
            return raw if stated and raw is not None else values.MISSING
        return parsed

    def _animated(self, owner: Any, props: list[str]) -> bool:
        paths = [owner.path_from_id(prop) for prop in props]
        return any(path in self.curves or path in self.driven for path in paths)

    def _moving(self, node: Any, param: Param, props: list[str], key: str, written: dict[str, Any], degrees: bool) -> Any:
        """The value of a parameter with keyframes or a driver."""
        variable = None if param.setup else self._variable(node, param, properties.prop_name(param))
        if variable is not None:
            return variable
        constant = values.read(node, param.type, properties.prop_name(param), degrees)
        return self._over_time(node, node.key, param.name, param.type, props, param.setup, constant, degrees)

    def _over_time(self, owner: Any, name: str, what: str, kind: str, props: list[str], setup: bool, constant: Any, degrees: bool = False) -> Any:
        paths = {prop: owner.path_from_id(prop) for prop in props}
        if any(path in self.driven for path in paths.values()):
            self.notes.append(f"node '{name}': '{what}' has a driver; the document has its value in this frame")
            return values.rounded(constant)
        if setup:
            self.notes.append(f"node '{name}': '{what}' has keyframes, but it is read in setup; the document has its value in this frame")
            return constant
        found = {prop: self.curves[path] for prop, path in paths.items() if path in self.curves}
        return animation.keys(owner, kind, props, found, degrees, self.scene)

    # Live values.

    def _variable(self, node: Any, param: Param, prop: str) -> _Variable | None:
        if self.live is None or param.setup or param.type not in (*registry.NUMBERS, "transform"):
            return None
        # A field that nothing moves is made once; a parameter would make it in each frame.
        if (*self.live.path, node.name) in self.live.skip or node.kind().group == "field":
            return None
        default = values.read(node, param.type, prop)
        entry = Entry("", self.live.path, node.name, "", param.type, prop, default)
        return _Variable(self.live.add(f"{node.key}_{param.name}", entry))

    # Inputs and parameters.

    def _input(self, node: Any) -> dict[str, Any]:
        written = {"type": node.p_type, **base.source_of(node)}
        self._doc(node, written)
        for param in node.kind().parameters:
            if param.name == "type":
                written["type"] = written["type"] if node.j_type else node.p_type
            else:
                self._param(node, param, written)
        if node.p_type == "values" and "count" not in written:
            written["count"] = node.p_count
        return written

    def _parameter(self, node: Any) -> dict[str, Any]:
        written = {"type": node.p_type, **base.source_of(node)}
        self._doc(node, written)
        for param in node.kind().parameters[1:]:
            self._param(node, param, written)
        written["type"] = written["type"] if node.j_type else node.p_type
        self._default(node, written)
        return written

    def _default(self, node: Any, written: dict[str, Any]) -> None:
        prop, raw = node.value_prop(), written.get("default")
        props = values.properties_of(node.p_type, prop)
        is_live = self.live is not None and node.p_type in (*registry.NUMBERS, "transform") and not node.p_setup and "keys" not in written
        if is_live:
            entry = Entry(node.key, self.live.path, node.name, "", node.p_type, prop, values.read(node, node.p_type, prop), True)
            self.live.entries.append(entry)
        elif self._animated(node, props):
            constant = values.read(node, node.p_type, prop)
            moving = self._over_time(node, node.key, "value", node.p_type, props, node.p_setup, constant)
            if isinstance(moving, dict) and "keys" in moving:
                written.update(moving)
                return
        decoded = values.decode(node.p_type, prop, raw) if "default" in written and raw is not None else None
        if decoded is not None and values.same(node, decoded):
            return
        if raw is not None and decoded is None:
            return
        zero = values.decode(node.p_type, prop, values.zero(node.p_type))
        if "default" not in written and (zero is None or values.same(node, zero) or getattr(node, props[0]) == ""):
            return
        value = values.read(node, node.p_type, prop)
        if value is values.MISSING:
            written.pop("default", None)
        else:
            written["default"] = value

    # Groups and kernels.

    def _group(self, node: Any, written: dict[str, Any], hidden: Iterable[str]) -> None:
        inner: list[Entry] = []
        if node.tree is not None and (isinstance(written.get("graph"), dict) or "graph" not in written) and "file" not in written:
            if node.tree in self.above:
                self.notes.append(f"node '{node.key}': graph '{node.tree.name}' contains itself; it is left out")
            else:
                written["graph"], inner = self._nested(node)
        elif node.p_file and written.get("file", "") != node.p_file and isinstance(written.get("file", ""), str):
            written["file"] = node.p_file
        for socket in node.inputs:
            self._group_socket(node, socket, written, hidden)
        for entry in inner:
            if entry.declared and entry.name in written:
                continue
            outer = Entry("", entry.path, entry.node, entry.socket, entry.type, entry.prop, entry.default)
            written[entry.name] = self.live.add(f"{node.key}_{entry.name}", outer)

    def _nested(self, node: Any) -> tuple[dict[str, Any], list[Entry]]:
        live = None
        if self.live is not None:
            live = Live(self.live.skip, (*self.live.path, node.name))
        document = Writer(node.tree, self.notes, live, self.scene, self.above).document()
        if live is None:
            return document, []
        declare(document, live.entries)
        return document, live.entries

    def _group_socket(self, node: Any, socket: Any, written: dict[str, Any], hidden: Iterable[str]) -> None:
        key, raw = socket.identifier, written.get(socket.identifier)
        number = socket.bl_idname == "SinewSocket_number"
        if self.incoming(socket):
            if key not in hidden:
                written[key] = links.write_number(self.tree, socket, raw, self.notes) if number else links.write(self.tree, socket, raw)
            return
        if not number:
            if links.is_guessed(node) or key not in written:
                return
            written.pop(key) if stack_link(self.tree, raw) else None
            return
        self._socket_value(node, socket, written)

    def _socket_value(self, node: Any, socket: Any, written: dict[str, Any]) -> None:
        key, kind, prop = socket.identifier, sockets.value_type(socket), sockets.value_prop(socket)
        animated = self._animated(socket, [prop])
        if key not in written and not animated:
            return
        raw = written.get(key)
        inner = links.named(node.tree, key, "parameter") if node.tree is not None else None
        setup = inner is not None and inner.p_setup
        if kind != "json" and self.live is not None and not setup and (*self.live.path, node.name) not in self.live.skip:
            entry = Entry("", self.live.path, node.name, key, kind, prop, values.read(socket, kind, prop))
            written[key] = self.live.add(f"{node.key}_{key}", entry)
            return
        if animated:
            written[key] = self._over_time(socket, node.key, key, kind, [prop], setup, values.read(socket, kind, prop))
            return
        decoded = values.decode(kind, prop, raw) if raw is not None else None
        if kind == "json":
            decoded = {"v_json": json.dumps(raw, ensure_ascii=False)} if raw is not None else None
        if decoded is not None and values.same(socket, decoded):
            return
        value = values.read(socket, kind, prop)
        if value is not values.MISSING:
            written[key] = value

    def _kernel(self, node: Any, written: dict[str, Any], hidden: Iterable[str]) -> None:
        for section, link_key in (("inputs", "link"), ("parameters", "value")):
            declared = written.get(section)
            if isinstance(declared, dict):
                written[section] = {name: self._kernel_port(node, name, entry, link_key, hidden) for name, entry in declared.items()}

    def _kernel_port(self, node: Any, name: str, entry: Any, key: str, hidden: Iterable[str]) -> Any:
        socket = sockets.find(node.inputs, name)
        if socket is None or not isinstance(entry, dict):
            return entry
        number = socket.bl_idname == "SinewSocket_number"
        if self.incoming(socket):
            if name in hidden:
                return entry
            raw = entry.get(key)
            return {**entry, key: links.write_number(self.tree, socket, raw, self.notes) if number else links.write(self.tree, socket, raw)}
        is_link = number and links.output(self.tree, entry[key]) is not None if isinstance(entry.get(key), str) else False
        if is_link or (not number and key in entry and not _is_dangling(node, name)):
            return {k: v for k, v in entry.items() if k != key}
        return entry


def _mentions(text: str, name: str) -> bool:
    """True if a JSON text has a value that starts with the name of a node."""
    quoted = json.dumps(name, ensure_ascii=False)[:-1]
    return quoted in text and re.search(rf'(?<!"node": ){re.escape(quoted)}(?:"(?!\s*:)|[.\[])', text) is not None


def _texts(node: Any) -> list[str]:
    """JSON texts of a node, which may name other nodes."""
    if not hasattr(node, "source"):
        return []
    source = {key: value for key, value in base.source_of(node).items() if key not in ("node", "link") and node.kind().input(key) is None}
    props = [properties.prop_name(p) if base.is_text(p) else properties.text_name(p) for p in node.kind().parameters]
    return [json.dumps(source, ensure_ascii=False), *(text for prop in props if (text := getattr(node, prop, "")))]


@dataclass
class _Variable:
    """The text that reads a live parameter."""

    text: str


def stack_link(tree: Any, raw: Any) -> bool:
    """True if a value is the text of a link to a node of the tree."""
    return isinstance(raw, str) and links.output(tree, raw) is not None


def _replace(written: dict[str, Any], old: str, new: str, value: Any) -> None:
    """Writes a value at another key, at the same position."""
    items = [(new, value) if key == old else (key, item) for key, item in written.items()]
    if old not in written:
        items.append((new, value))
    written.clear()
    written.update(items)


def _is_dangling(node: Any, key: str) -> bool:
    parsed = values.parse(node.dangling)[0] if node.dangling else []
    return isinstance(parsed, list) and key in parsed


def declare(document: dict[str, Any], entries: list[Entry]) -> None:
    """Adds the parameters of a live document."""
    new = {e.name: {"type": e.type, "default": e.default} for e in entries if not e.declared}
    if new:
        document["parameters"] = {**document.get("parameters", {}), **new}


def to_document(tree: Any, notes: list[str] | None = None, scene: Any = None) -> dict[str, Any]:
    """The document of a tree.

    Args:
        tree: The tree.
        notes: Gets what the document cannot hold, such as drivers.
        scene: Scene whose frame rate counts for keyframes; default: that of the context.
    """
    return Writer(tree, [] if notes is None else notes, scene=scene).document()
