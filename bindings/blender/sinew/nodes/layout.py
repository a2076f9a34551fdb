# SPDX-License-Identifier: GPL-3.0-or-later
"""Where nodes lie: one column for each step away from the inputs."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from . import base, sockets

COLUMN = 300.0
ROW = 22.0
GAP = 40.0
_ROWS = {"transform": 12, "vec3": 4, "vec4": 5, "int3": 4}


def depths(tree: Any) -> dict[str, int]:
    """The longest way from a node without links to each node. Loops count once."""
    before: dict[str, set[str]] = {node.name: set() for node in tree.nodes}
    for link in tree.links:
        before[link.to_node.name].add(link.from_node.name)
    depth = dict.fromkeys(before, 0)
    for _ in range(len(before)):
        deeper = {name: max((depth[b] + 1 for b in sources), default=0) for name, sources in before.items()}
        deeper = {name: min(d, len(before)) for name, d in deeper.items()}
        if deeper == depth:
            break
        depth = deeper
    return depth


def height(node: Any) -> float:
    """About how tall a node is drawn."""
    shown = sum(not s.hide for s in node.inputs) + sum(not s.hide for s in node.outputs)
    return ROW * (shown + 4 + _rows_of_parameters(node))


def _rows_of_parameters(node: Any) -> int:
    """Rows that parameters take beyond their sockets."""
    rows = 0
    for param in node.kind().parameters if hasattr(node, "kind") else ():
        own = _ROWS.get(param.type, 1)
        socket = sockets.find(node.inputs, param.name)
        if socket is not None and not socket.hide:
            rows += 0 if socket.is_linked else own - 1
        elif base.stated_key(node, param):
            rows += own if param.type == "transform" else 1
    return rows


def arrange(tree: Any) -> None:
    """Lays the nodes out in columns."""
    for name, location in _columns(tree).items():
        tree.nodes[name].location = location


def is_arranged(tree: Any) -> bool:
    """True if nobody moved a node since `arrange`."""
    return all(abs(tree.nodes[name].location[i] - location[i]) < 0.5 for name, location in _columns(tree).items() for i in (0, 1))


def settle(tree: Any, names: Container[str]) -> None:
    """Puts new nodes, by name in Blender, in their columns, below nodes that they would cover."""
    columns = _columns(tree)
    settled = [node for node in tree.nodes if node.name not in names and node.bl_idname != "NodeFrame"]
    for node in tree.nodes:
        if node.name not in names:
            continue
        if node.parent is None:
            node.location = columns[node.name]
        for other in sorted(settled, key=lambda n: -n.location[1]):
            if _cover(node, other):
                node.location = (node.location[0], other.location[1] - height(other) - GAP)
        settled.append(node)


def _cover(a: Any, b: Any) -> bool:
    beside = abs(a.location[0] - b.location[0]) < COLUMN - GAP
    return beside and a.location[1] - height(a) < b.location[1] and b.location[1] - height(b) < a.location[1]


def _columns(tree: Any) -> dict[str, tuple[float, float]]:
    """Locations of the nodes in columns."""
    found: dict[str, tuple[float, float]] = {}
    depth = depths(tree)
    last = max(depth.values(), default=0)
    tops: dict[int, float] = {}
    for node in tree.nodes:
        column = depth[node.name]
        if node.bl_idname == "SinewOutputNode":
            column = max(column, last)
        if node.bl_idname == "SinewParameterNode":
            column = min((depth[link.to_node.name] for socket in node.outputs for link in socket.links), default=1) - 1
        top = tops.get(column, 0.0)
        found[node.name] = (COLUMN * column, top)
        tops[column] = top - height(node) - GAP
    return found
