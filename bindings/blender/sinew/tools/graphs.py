# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of graph documents: new nodes, new links, the chain of a mesh."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterable
from typing import Any

import bpy

from .. import live, nodes
from ..core import sd
from ..report import Problem
from ..session import Session

Document = dict[str, Any]
USUAL_NAMES = {"mesh": "body", "strands": "hair", "pose": "pose"}
# Nodes that take the pose of the mesh before them.
POSE_OF_THE_MESH = {"delta_mush", "smooth"}
SKINNING = ("skin", "direct_delta_mush", "pose_space_deformation")


@functools.cache
def kinds() -> dict[str, dict[str, Any]]:
    """All kinds of nodes by name: inputs, outputs, parameters."""
    return {kind["name"]: kind for kind in json.loads(sd.node_list())["nodes"]}


def document(obj: bpy.types.Object) -> Document:
    """The graph of an object as a document without a stack: each link is stated."""
    if obj.sinew.tree is None:
        raise Problem(f"'{obj.name}' has no Sinew graph. Press Add Sinew")
    return explicit(nodes.to_document(obj.sinew.tree))


# Documents of graphs that panels show, by the graph. A change of any graph empties it.
SHOWN: dict[int, Document] = {}


def shown(obj: bpy.types.Object) -> Document:
    """The graph of an object with its nodes that nothing reads yet, which a bound graph leaves out. Kept until a graph changes."""
    key = obj.sinew.tree.session_uid
    if key not in SHOWN:
        SHOWN[key] = document(obj)
    return SHOWN[key]


def playable(bound: Session, given: Document, names: Iterable[str]) -> Document:
    """The part of a document that some nodes need, for the character of a bound graph."""
    inputs = {**given["inputs"], **bound.document["inputs"]}
    return upstream({**given, "inputs": inputs}, names)


def session(context: bpy.types.Context, obj: bpy.types.Object) -> Session:
    """The bound graph of an object, at the present frame and pose."""
    if obj.sinew.tree is None:
        raise Problem(f"'{obj.name}' has no Sinew graph. Press Add Sinew")
    if obj.mode == "EDIT":
        raise Problem(f"'{obj.name}' is in edit mode. Leave it first")
    obj.update_tag()
    context.view_layer.update()
    bound = live.session(obj)
    if bound is None or bound.last is None:
        raise Problem(live.message(obj) or f"'{obj.name}' is not deformed: switch its Sinew modifier on in the viewport")
    return bound


def put(context: bpy.types.Context, obj: bpy.types.Object, changed: Document) -> None:
    """Gives the graph of an object new content. A content that does not work is taken back.

    If other objects have the graph and do not work with the new content, the object gets a copy of its own.
    """
    tree = obj.sinew.tree
    if tree.library is not None:
        raise Problem(f"Graph '{tree.name}' is linked from another file. Make it local first (Object > Relations > Make Local)")
    failed_before = bool(live.message(obj))
    before = nodes.to_document(tree)
    others = [o for o in context.scene.objects if o != obj and o.sinew.tree == tree and not live.message(o)]
    _replace(context, tree, changed, [obj, *others])
    if any(live.message(o) for o in others) and not live.message(obj):
        obj.sinew.tree = tree.copy()
        nodes.replace(tree, before)
        _replace(context, obj.sinew.tree, changed, [obj, *others])
    text = live.message(obj)
    if text and not failed_before:
        _replace(context, tree, before, [obj, *others])
    if text:
        raise Problem(text)


def _replace(context: bpy.types.Context, tree: bpy.types.NodeTree, content: Document, objects: list[bpy.types.Object]) -> None:
    nodes.replace(tree, content)
    SHOWN.clear()
    for other in objects:
        live.bind(other)
    context.view_layer.update()


def explicit(given: Document) -> Document:
    """The same graph without a stack."""
    made = copy.deepcopy(given)
    made["inputs"] = made.get("inputs") or {"body": {"type": "mesh"}, "pose": {"type": "pose"}}
    steps = made.setdefault("nodes", {})
    before = main_input(made, "mesh")
    for step in made.pop("stack", []):
        keys = {"node": step} if isinstance(step, str) else dict(step)
        name = free(made, keys.pop("name", keys["node"]))
        _link(made, keys, before)
        steps[name] = keys
        before = name
    if not made.get("outputs") and before is not None:
        made["outputs"] = {main_input(made, "mesh") or "body": before}
    return made


def _link(made: Document, keys: dict[str, Any], before: str | None) -> None:
    """States the links of a step of a stack."""
    implied = {"mesh": before, "pose": main_input(made, "pose"), "strands": main_input(made, "strands")}
    if keys["node"] == "graph":
        inner = keys.get("graph")
        for kind in ("mesh", "pose"):
            port = main_input(inner, kind) if isinstance(inner, dict) and inner.get("inputs") else USUAL_NAMES[kind]
            if port is not None and implied[kind] is not None:
                keys.setdefault(port, implied[kind])
        return
    for port in kinds().get(keys["node"], {}).get("inputs", []):
        name = port["name"]
        if name == "pose" and keys["node"] in POSE_OF_THE_MESH:
            continue
        if implied.get(name) is not None:
            keys.setdefault(name, implied[name])


def main_input(given: Document, kind: str) -> str | None:
    """The input of a type with the usual name, or else the only one."""
    found = [name for name, keys in given.get("inputs", {}).items() if keys.get("type") == kind]
    usual = USUAL_NAMES[kind]
    if usual in found:
        return usual
    return found[0] if len(found) == 1 else None


def need_input(given: Document, kind: str) -> str:
    """The main input of a type, which is added if there is none."""
    found = main_input(given, kind)
    if found is None:
        found = free(given, USUAL_NAMES[kind])
        given["inputs"][found] = {"type": kind}
    return found


def free(given: Document, base: str) -> str:
    """A name that nothing in the document has."""
    taken = {name for section in ("inputs", "parameters", "nodes") for name in given.get(section, {})}
    name, number = base, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name


def source(link: Any) -> str | None:
    """The node or input that a link names."""
    if isinstance(link, dict):
        link = link.get("link")
    return link.split(".")[0].split("[")[0] if isinstance(link, str) else None


def of_kind(given: Document, kind: str) -> list[str]:
    """Names of the nodes of a kind."""
    return [name for name, keys in given["nodes"].items() if keys.get("node") == kind]


def chain(given: Document, output: str) -> list[str]:
    """The nodes that deform the mesh of an output, in their order."""
    found: list[str] = []
    name = source(given["outputs"].get(output)) if given.get("outputs") else None
    while name in given["nodes"] and name not in found:
        found.insert(0, name)
        keys = given["nodes"][name]
        name = source(keys.get("mesh", keys.get("strands")))
    return found


def output_of(obj: bpy.types.Object, given: Document) -> str:
    """The output that deforms an object."""
    bound = live.session(obj)
    if bound is not None and bound.output.name in given["outputs"]:
        return bound.output.name  # type: ignore[no-any-return]
    named = obj.sinew.output
    if named in given["outputs"]:
        return named  # type: ignore[no-any-return]
    if not given["outputs"]:
        raise Problem(f"Graph '{obj.sinew.tree.name}' has no output. Link its last node to an output node")
    return next(iter(given["outputs"]))


def append(given: Document, output: str, name: str, keys: dict[str, Any], port: str = "mesh") -> None:
    """Adds a node at the end of an output."""
    keys[port] = given["outputs"][output]
    given["nodes"][name] = keys
    given["outputs"][output] = name


def insert_before(given: Document, name: str, new: str, keys: dict[str, Any]) -> None:
    """Adds a node before another one."""
    keys["mesh"] = given["nodes"][name]["mesh"]
    given["nodes"][new] = keys
    given["nodes"][name]["mesh"] = new


def upstream(given: Document, names: Iterable[str]) -> Document:
    """The part of an explicit document that some nodes need. Its outputs are these nodes."""
    wanted: set[str] = set()
    rest = list(names)
    read: set[str] = set()
    outputs = {name: name for name in rest}
    while rest:
        name = rest.pop()
        if name in wanted or name not in given["nodes"]:
            continue
        wanted.add(name)
        found = _sources(given["nodes"][name])
        read.update(found)
        rest += found
    made = {key: value for key, value in given.items() if key not in ("nodes", "outputs", "stack", "parameters")}
    made["inputs"] = {name: keys for name, keys in given["inputs"].items() if name in read}
    made["nodes"] = {name: keys for name, keys in given["nodes"].items() if name in wanted}
    made["outputs"] = outputs
    text = json.dumps(made["nodes"])
    used = {name: keys for name, keys in given.get("parameters", {}).items() if f'"${name}"' in text}
    if used:
        made["parameters"] = used
    return made


def _sources(keys: Any) -> list[str]:
    """All texts in a node that can be links."""
    if isinstance(keys, str):
        return [keys.split(".")[0].split("[")[0]]
    if isinstance(keys, dict):
        return [name for value in keys.values() for name in _sources(value)]
    if isinstance(keys, list):
        return [name for value in keys for name in _sources(value)]
    return []
