# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents for playing: what sliders change becomes parameters of the graph, so that no slider needs a new setup."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..core import sd
from . import places, sockets, values
from .writer import Entry, Live, Writer, declare


_REMEMBERED = 256
_refused: dict[str, frozenset[tuple[str, ...]] | None] = {}
"""Nodes that keep their values as constants, by fingerprint: checks take longer than a frame may."""


class LiveDocument:
    """A document whose plain values come from Blender in each frame."""

    def __init__(self, tree: Any, scene: Any = None) -> None:
        self.notes: list[str] = []
        self.document, self._entries = _document(tree, self.notes, scene)
        self.text, self.places = places.write(self.document)
        self.fingerprint = _fingerprint(self.document, self._entries)
        self._inputs = [(n.key, n.name) for n in tree.nodes if n.bl_idname == "SinewInputNode" and n.p_type == "values"]

    def values(self, tree: Any) -> dict[str, Any]:
        """Values of the parameters, from the evaluated tree: keyframes and drivers count."""
        return {entry.name: values.read(_owner(tree, entry), entry.type, entry.prop) for entry in self._entries}

    def value_inputs(self, tree: Any) -> dict[str, list[float]]:
        """Numbers of the inputs of type `values`, from the evaluated tree."""
        result = {}
        for key, name in self._inputs:
            node = tree.nodes[name]
            numbers = list(node.numbers)
            result[key] = (numbers + [0.0] * node.p_count)[: node.p_count]
        return result


def _owner(tree: Any, entry: Entry) -> Any:
    for name in entry.path:
        tree = tree.nodes[name].tree
    node = tree.nodes[entry.node]
    return sockets.find(node.inputs, entry.socket) if entry.socket else node


def _document(tree: Any, notes: list[str], scene: Any) -> tuple[dict[str, Any], list[Entry]]:
    document, entries = _write(tree, notes, scene, frozenset())
    if sd is None or not entries:
        return document, entries
    key = _fingerprint(document, entries)
    if key not in _refused:
        if len(_refused) >= _REMEMBERED:
            _refused.clear()
        _refused[key] = _find_refused(tree, document, scene)
    skip = _refused[key]
    if skip is None:
        plain = Writer(tree, [], scene=scene).document()
        return plain, [e for e in entries if e.declared and not e.path]
    return _write(tree, [], scene, skip) if skip else (document, entries)


def _write(tree: Any, notes: list[str], scene: Any, skip: frozenset[tuple[str, ...]]) -> tuple[dict[str, Any], list[Entry]]:
    live = Live(skip)
    document = Writer(tree, notes, live, scene).document()
    declare(document, live.entries)
    return document, live.entries


def _find_refused(tree: Any, document: dict[str, Any], scene: Any) -> frozenset[tuple[str, ...]] | None:
    """Nodes that cannot read parameters of the graph although the plain document is right; None if the reason is unknown."""
    text, lines = places.write(document)
    errors = _errors(text)
    if not errors or _errors(places.write(Writer(tree, [], scene=scene).document())[0]):
        return frozenset()
    found = frozenset(_names(tree, places.at(lines, d.line)) for d in errors)
    return None if () in found else found


def _errors(text: str) -> list[Any]:
    return [d for d in sd.Graph.from_text(text).check() if d.severity == "error"]


def _names(tree: Any, path: places.Path) -> tuple[str, ...]:
    """Names in Blender of the group nodes and the node that a path of the document means."""
    chain = places.chain(tree, path)
    return tuple(node.name for node in chain)


def _fingerprint(document: dict[str, Any], entries: list[Entry]) -> str:
    moving = {entry.name for entry in entries}
    parameters = {
        name: {k: v for k, v in keys.items() if not (k == "default" and name in moving)} if isinstance(keys, dict) else keys
        for name, keys in document.get("parameters", {}).items()
    }
    return hashlib.sha1(json.dumps({**document, "parameters": parameters}, sort_keys=True).encode()).hexdigest()
