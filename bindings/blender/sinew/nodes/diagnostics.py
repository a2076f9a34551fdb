# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors and warnings at the nodes that have them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from ..core import sd
from . import base, places
from .tree import mark_links
from .writer import to_document

_COLORS = {"error": (0.45, 0.08, 0.08), "warning": (0.45, 0.32, 0.05)}


def check(tree: Any, character: Any = None) -> list[Any]:
    """Checks a tree, and shows each problem at the node that has it.

    Args:
        tree: The tree.
        character: Also checks names of joints, indices and counts.

    Returns:
        All problems.
    """
    if sd is None:
        return []
    text, lines = places.write(to_document(tree))
    found = sd.Graph.from_text(text, tree.name).check(character)
    show(tree, found, lines)
    return found


def show(tree: Any, found: Iterable[Any], lines: list[places.Path] | None = None) -> None:
    """Shows problems at their nodes, and removes those that were shown before.

    Args:
        tree: The tree.
        found: Problems, such as those of `sinew_deform.Graph.check`.
        lines: For each line of the checked text, the keys that lead to it. Without it, nodes are found by the names in messages.
    """
    shown: dict[Any, list[dict[str, str]]] = {}
    rest = []
    for problem in found:
        entry = {"severity": problem.severity, "code": problem.code, "message": problem.message, "help": problem.help or ""}
        chain = places.chain(tree, places.at(lines, problem.line)) if lines is not None else []
        chain = chain or _named(tree, problem.message)
        if not chain:
            rest.append(entry)
        for node in chain:
            shown.setdefault(node, []).append(entry)
    for node in _all_nodes(tree, set()):
        _put(node, shown.get(node, []))
    _write(tree, "problems", rest)
    mark_links(tree)


def show_error(tree: Any, error: Exception) -> None:
    """Shows an error of binding or playing at the node that it names.

    Args:
        tree: The tree.
        error: The exception.
    """
    problems = list(getattr(error, "diagnostics", ()))
    if problems and check(tree):
        return
    if not problems and sd is not None:
        message = str(error)
        location = getattr(error, "location", None)
        if location and location not in message:
            message = f"{location}: {message}"
        problems = [sd.Diagnostic("error", getattr(error, "code", None) or "error", message, getattr(error, "help", None))]
    show(tree, problems)


def problems(tree: Any) -> list[dict[str, str]]:
    """The problems of a tree that no node has."""
    return base.problems_of(tree)


def _all_nodes(tree: Any, seen: set[Any]) -> list[Any]:
    if tree is None or tree in seen:
        return []
    seen.add(tree)
    found = [n for n in tree.nodes if hasattr(n, "problems")]
    return found + [inner for n in found for inner in _all_nodes(getattr(n, "tree", None), seen)]


def _named(tree: Any, message: str) -> list[Any]:
    """The nodes on the way to the first name in quotes that is one of a node: `outer/inner`."""
    for name in re.findall(r"[`'\"]([^`'\"]+)[`'\"]", message):
        chain = _chain_of(tree, name.split("/"))
        if chain:
            return chain
    return []


def _chain_of(tree: Any, parts: list[str]) -> list[Any]:
    found = []
    for part in parts:
        node = places.links.named(tree, part) if tree is not None else None
        if node is None or node.bl_idname == "SinewInputNode":
            break
        found.append(node)
        tree = getattr(node, "tree", None)
    return found


def _write(owner: Any, prop: str, entries: list[dict[str, str]]) -> None:
    text = json.dumps(entries, ensure_ascii=False) if entries else ""
    if getattr(owner, prop) != text:
        setattr(owner, prop, text)


def _put(node: Any, entries: list[dict[str, str]]) -> None:
    _write(node, "problems", entries)
    if entries and not node.plain_color:
        node.plain_color = json.dumps([node.use_custom_color, list(node.color)])
    if entries:
        severity = "error" if any(e["severity"] == "error" for e in entries) else "warning"
        node.use_custom_color, node.color = True, _COLORS[severity]
    elif node.plain_color:
        node.use_custom_color, node.color = json.loads(node.plain_color)
        node.plain_color = ""
