# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks: chains whose steps link to the step before without saying so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import base, links, names, sockets

FIND_THEIR_POSE = ("smooth", "delta_mush")
"""Kinds that take the pose of the mesh, not the main pose."""
USUAL = {"mesh": "body", "strands": "hair", "pose": "pose", "values": "values", "vertex_animation": "animation"}


def base_name(item: Any) -> str:
    """What a step is called, before a number is added."""
    return item.get("name", item["node"]) if isinstance(item, dict) else item


def main_input(tree: Any, kind: str) -> Any:
    """The input of a type that stacks start from: the one with the usual name, or else the only one."""
    found = [n for n in tree.nodes if n.bl_idname == "SinewInputNode" and n.p_type == kind]
    usual = next((n for n in found if n.key == USUAL[kind]), None)
    return usual or (found[0] if len(found) == 1 else None)


def steps_of(tree: Any) -> list[Any]:
    """The steps in their order."""
    return sorted((n for n in tree.nodes if getattr(n, "step", 0) > 0), key=lambda n: n.step)


def implied_links(tree: Any, node: Any, before: Any) -> dict[str, Any]:
    """The output that each unstated input of a step is linked to. `before` is the step before, or None."""
    main = {"mesh": main_input(tree, "mesh"), "pose": main_input(tree, "pose"), "strands": main_input(tree, "strands")}
    if before is not None:
        main["mesh"] = before
    result = {}
    for name, source in main.items():
        socket = sockets.find(node.inputs, name)
        if source is None or socket is None or socket.bl_idname == "SinewSocket_number":
            continue
        if name == "pose" and node.kind().name in FIND_THEIR_POSE:
            continue
        output = links.first_socket(source)
        if output is not None:
            result[name] = output
    return result


def is_stated(node: Any, name: str) -> bool:
    """True if the document writes the link of that input."""
    return states(node, base.source_of(node), name)


def states(node: Any, source: dict[str, Any], name: str) -> bool:
    """True if these keys of a node have the link of that input."""
    if node.bl_idname == "SinewKernelNode":
        declared = source.get("inputs")
        entry = declared.get(name) if isinstance(declared, dict) else None
        return isinstance(entry, dict) and "link" in entry
    return name in source


def connect(tree: Any, steps: list[Any], stated: Callable[[Any, str], bool]) -> Any:
    """Draws the links that the stack implies, and returns the last step."""
    before = None
    for node in steps:
        for name, output in implied_links(tree, node, before).items():
            if not stated(node, name):
                tree.links.new(output, sockets.find(node.inputs, name))
        before = node
    return before


def is_still_one(tree: Any) -> bool:
    """True if no step lost a link that the stack would make anyway."""
    before = None
    for node in steps_of(tree):
        for name in implied_links(tree, node, before):
            if not is_stated(node, name) and not links.incoming(sockets.find(node.inputs, name)):
                return False
        before = node
    return True


def implied_names(tree: Any, taken: set[str]) -> dict[str, str]:
    """What each step is called if the document says what it said when it was read."""
    result = {}
    for node in steps_of(tree):
        source = base.source_of(node)
        name = names.free(str(source.get("name", node_kind(node))), taken)
        result[node.name] = name
        taken = taken | {node.key}
    return result


def node_kind(node: Any) -> str:
    """The kind of a node as documents write it."""
    kind = node.kind().name
    return str(base.source_of(node).get("node", kind)) if kind == "unknown" else kind
