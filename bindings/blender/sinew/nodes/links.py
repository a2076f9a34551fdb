# SPDX-License-Identifier: GPL-3.0-or-later
"""Links between nodes, and how documents write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Container
from typing import Any

from . import names, sockets

FIRST = "first"
"""Identifier of the first output of a node whose outputs are not known."""


def named(tree: Any, name: str, space: str = "node") -> Any:
    """The node (or parameter, or output) of that name, or None."""
    return next((n for n in tree.nodes if getattr(n, "key_space", None) == space and n.key == name), None)


def is_guessed(node: Any) -> bool:
    """True if the ports of the node are only those that links name."""
    return node.bl_idname == "SinewUnknownNode" or (node.bl_idname == "SinewGroupNode" and node.tree is None)


def first(node: Any) -> str:
    """Identifier of the output that the bare name means."""
    if is_guessed(node):
        return FIRST
    return node.outputs[0].identifier if len(node.outputs) else ""


def output(tree: Any, link: str, make: bool = False) -> tuple[Any, int] | None:
    """The output socket and the index that a link text means.

    Args:
        tree: The tree.
        link: Such as `skin`, `skin.mesh` or `elbow.weights[1]`.
        make: Adds the port at nodes whose outputs are not known.
    """
    name, port, index = names.split(link)
    node = named(tree, name)
    if node is None:
        return None
    identifier = port or first(node)
    socket = sockets.find(node.outputs, identifier)
    if socket is None and make and is_guessed(node):
        socket = node.outputs.new("SinewSocket_any", port or "out", identifier=identifier)
    return None if socket is None else (socket, index)


def text_of(socket: Any) -> str:
    """The text of a link from that output."""
    node = socket.node
    if node.bl_idname == "SinewInputNode" or socket.identifier == first(node):
        return node.key
    return f"{node.key}.{socket.identifier}"


def means(tree: Any, link: Any, socket: Any) -> bool:
    """True if the link text names that output, without an index."""
    found = output(tree, link) if isinstance(link, str) else None
    return found is not None and found[0] == socket and not link.endswith("]")


def incoming(socket: Any) -> list[Any]:
    """The outputs that are linked to an input, in the order of a list in the document."""
    return _sources(socket, list(socket.links))


def index(tree: Any) -> Callable[[Any], list[Any]]:
    """`incoming` for many sockets of one tree: `socket.links` looks at all links of the tree each time."""
    by_socket: dict[int, list[Any]] = {}
    for link in tree.links:
        by_socket.setdefault(link.to_socket.as_pointer(), []).append(link)
    return lambda socket: _sources(socket, by_socket.get(socket.as_pointer(), []))


def _sources(socket: Any, found: list[Any]) -> list[Any]:
    found = [link for link in found if not link.is_muted]
    if socket.is_multi_input:
        found.sort(key=lambda link: link.multi_input_sort_id)
    behind = [origin(link.from_socket) for link in found]
    return [source for source in behind if source is not None]


def origin(socket: Any) -> Any:
    """The output behind reroutes and muted nodes. A muted node passes its first input of a type that fits."""
    seen = set()
    while socket is not None and socket not in seen and (socket.node.bl_idname == "NodeReroute" or _passes(socket)):
        seen.add(socket)
        before = socket.node.inputs[0] if socket.node.bl_idname == "NodeReroute" else _passes(socket)
        found = [link for link in before.links if not link.is_muted]
        socket = found[0].from_socket if found else None
    return socket


def _passes(socket: Any) -> Any:
    """The input that a muted node passes to an output, or None."""
    if not socket.node.mute or socket.node.bl_idname == "SinewInputNode":
        return None
    return next((s for s in socket.node.inputs if s.links and s.bl_idname == socket.bl_idname), None)


def parse_number(raw: Any) -> dict[str, Any] | None:
    """Link, index, remap and interpolation of a parameter that follows a number, or None for other values."""
    if isinstance(raw, str):
        return {"link": raw.rpartition("[")[0] if raw.endswith("]") else raw, "index": names.split(raw)[2], "remap": None, "interpolation": "linear"}
    if not isinstance(raw, dict) or not isinstance(raw.get("link"), str) or not set(raw) <= {"link", "index", "remap", "interpolation"}:
        return None
    index, interpolation = raw.get("index", names.split(raw["link"])[2]), raw.get("interpolation", "linear")
    if not isinstance(index, int) or isinstance(index, bool) or index < 0 or interpolation not in ("linear", "smooth", "step"):
        return None
    link = raw["link"].rpartition("[")[0] if raw["link"].endswith("]") else raw["link"]
    return {"link": link, "index": index, "remap": raw.get("remap"), "interpolation": interpolation}


def connect_number(tree: Any, socket: Any, raw: Any) -> bool:
    """Links a parameter to what the document says. False if that is a plain value or leads nowhere."""
    if isinstance(raw, str) and raw.startswith("$"):
        parameter = named(tree, raw[1:], "parameter")
        if parameter is None:
            return False
        _link(tree, parameter.outputs[0], socket)
        return True
    parsed = parse_number(raw)
    found = output(tree, parsed["link"], make=True) if parsed else None
    if parsed is None or found is None:
        return False
    _link(tree, found[0], socket)
    wanted = {"index": parsed["index"], "remap": "" if parsed["remap"] is None else json.dumps(parsed["remap"])}
    for prop, value in {**wanted, "interpolation": parsed["interpolation"]}.items():
        if getattr(socket, prop) != value:
            setattr(socket, prop, value)
    return True


class Plan:
    """Stands for a tree while its links are read. `draw` then changes only links that differ."""

    def __init__(self, tree: Any) -> None:
        self.tree, self.nodes, self.links = tree, tree.nodes, self
        self.wanted: dict[int, list[Any]] = {}

    def new(self, source: Any, target: Any) -> None:
        """Remembers a link."""
        found = self.wanted.setdefault(target.as_pointer(), [])
        if not target.is_multi_input:
            found.clear()
        found.append(source)

    def draw(self, names: Container[str]) -> None:
        """Gives the nodes of these names in Blender the links that were remembered."""
        now, by_socket = index(self.tree), {}
        for link in self.tree.links:
            by_socket.setdefault(link.to_socket.as_pointer(), []).append(link)
        changes = []
        for node in self.nodes:
            for socket in node.inputs if node.name in names else ():
                wanted = self.wanted.get(socket.as_pointer(), [])
                if now(socket) != wanted:
                    changes.append((socket, wanted, by_socket.get(socket.as_pointer(), [])))
        for _, _, old in changes:
            for link in old:
                self.tree.links.remove(link)
        for socket, wanted, _ in changes:
            for source in wanted:
                self.tree.links.new(source, socket)


def first_socket(node: Any) -> Any:
    """The output that the bare name means, or None."""
    found = sockets.find(node.outputs, first(node))
    if found is None and is_guessed(node):
        found = node.outputs.new("SinewSocket_any", "out", identifier=FIRST)
    return found


def _link(tree: Any, source: Any, target: Any) -> None:
    tree.links.new(source, target)
    if target.hide:
        target.hide = False


def connect(tree: Any, socket: Any, raw: Any) -> bool:
    """Links an input to one link text or a list of them. False if one of them leads nowhere."""
    texts = raw if isinstance(raw, list) else [raw]
    found = [output(tree, text, make=True) if isinstance(text, str) and not text.endswith("]") else None for text in texts]
    if any(f is None for f in found) or not found or (len(found) > 1 and not socket.is_multi_input):
        return False
    for source in found:
        _link(tree, source[0], socket)
    return True


def write(tree: Any, socket: Any, raw: Any) -> Any:
    """The link text, or list of link texts, of an input. What says the same stays as it was read."""
    sources = incoming(socket)
    read = raw if isinstance(raw, list) else [raw]
    if len(read) == len(sources) and all(means(tree, text, source) for text, source in zip(read, sources, strict=True)):
        return raw
    written = [text_of(source) for source in sources]
    return written if len(written) > 1 or isinstance(raw, list) else written[0]


def write_number(tree: Any, socket: Any, raw: Any, notes: list[str]) -> Any:
    """What a document writes for a linked parameter."""
    source = incoming(socket)[0]
    if source.node.bl_idname == "SinewParameterNode":
        return f"${source.node.key}"
    remap = None
    if socket.remap:
        try:
            remap = json.loads(socket.remap)
        except ValueError as error:
            notes.append(f"node '{socket.node.key}': the remap of '{socket.identifier}' is not JSON ({error}); it is left out")
    now = {"index": socket.index, "remap": remap, "interpolation": socket.interpolation}
    parsed = parse_number(raw)
    if parsed and means(tree, parsed["link"], source) and {k: parsed[k] for k in now} == now:
        return raw
    text = parsed["link"] if parsed and means(tree, parsed["link"], source) else text_of(source)
    if remap is None and not isinstance(raw, dict):
        return f"{text}[{socket.index}]" if socket.index else text
    long: dict[str, Any] = {"link": text}
    if socket.index:
        long["index"] = socket.index
    if remap is not None:
        long["remap"] = remap
        if socket.interpolation != "linear":
            long["interpolation"] = socket.interpolation
    return long
