# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a document with one key per line, and which node each line belongs to."""

from __future__ import annotations

import json
from typing import Any

from . import links, stack

Path = tuple[str, ...]
_SECTIONS = ("inputs", "parameters", "nodes", "outputs", "stack")
_SPACES = {"inputs": "node", "nodes": "node", "parameters": "parameter", "outputs": "output"}


def write(document: dict[str, Any]) -> tuple[str, list[Path]]:
    """The text, and for each line the keys that lead to it."""
    lines: list[tuple[str, Path]] = []
    _object(lines, document, (), 0, "", "")
    return "\n".join(text for text, _ in lines) + "\n", [path for _, path in lines]


def _opens(path: Path, value: Any) -> bool:
    """True for objects that get a line for each key: documents, sections, nodes."""
    if not value or not isinstance(value, (dict, list)):
        return False
    tail = path
    while len(tail) >= 3 and tail[0] in ("nodes", "stack") and tail[2] == "graph":
        tail = tail[3:]
    if len(tail) == 0:
        return isinstance(value, dict)
    if len(tail) == 1:
        return tail[0] in _SECTIONS and isinstance(value, list if tail[0] == "stack" else dict)
    return len(tail) == 2 and tail[0] in ("nodes", "stack") and isinstance(value, dict)


def _object(lines: list[tuple[str, Path]], value: Any, path: Path, depth: int, before: str, after: str) -> None:
    indent = "  " * depth
    if not _opens(path, value):
        lines.append((f"{indent}{before}{json.dumps(value, ensure_ascii=False)}{after}", path))
        return
    is_list = isinstance(value, list)
    lines.append((f"{indent}{before}{'[' if is_list else '{'}", path))
    items = list(enumerate(value)) if is_list else list(value.items())
    for number, (key, item) in enumerate(items):
        label = "" if is_list else f"{json.dumps(key, ensure_ascii=False)}: "
        _object(lines, item, (*path, str(key)), depth + 1, label, "," if number + 1 < len(items) else "")
    lines.append((f"{indent}{']' if is_list else '}'}{after}", path))


def at(lines: list[Path], line: int | None) -> Path:
    """The keys that lead to a line, counted from 1."""
    return lines[line - 1] if line and 0 < line <= len(lines) else ()


def chain(tree: Any, path: Path) -> list[Any]:
    """The group nodes and, last, the node that a path means; empty if no node has it."""
    found = []
    while len(path) >= 2:
        node = _node(tree, path[0], path[1])
        if node is None:
            break
        found.append(node)
        if len(path) < 3 or path[2] != "graph" or getattr(node, "tree", None) is None:
            break
        tree, path = node.tree, path[3:]
    return found


def _node(tree: Any, section: str, key: str) -> Any:
    if section == "stack":
        steps = stack.steps_of(tree)
        return steps[int(key)] if int(key) < len(steps) else None
    if section not in _SPACES:
        return None
    return links.named(tree, key, _SPACES[section])
