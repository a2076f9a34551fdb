# SPDX-License-Identifier: GPL-3.0-or-later
"""Where nodes lie: one column for each step away from the inputs."""

from __future__ import annotations

from typing import Any

COLUMN = 300.0
ROW = 22.0
GAP = 40.0


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
    sockets = sum(not s.hide for s in node.inputs) + sum(not s.hide for s in node.outputs)
    return ROW * (sockets + 5)


def arrange(tree: Any) -> None:
    """Lays the nodes out in columns."""
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
        node.location = (COLUMN * column, top)
        tops[column] = top - height(node) - GAP
