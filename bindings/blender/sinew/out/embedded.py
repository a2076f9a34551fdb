# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of an object as a document that works outside of Blender."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Mapping
from typing import Any

import bpy

from .. import nodes
from ..core import sd
from ..session import Session, folder


def document(bound: Session, obj: bpy.types.Object, scene: bpy.types.Scene, notes: list[str] | None = None) -> dict[str, Any]:
    """The document of a bound object, with keyframes of its values. `notes` gets what documents cannot hold."""
    out = copy.deepcopy(nodes.to_document(obj.sinew.tree, notes, scene))
    out.setdefault("inputs", {"body": {"type": "mesh"}, "pose": {"type": "pose"}})
    out["inputs"][bound.input]["select"] = obj.name
    for name in bound.extras:
        out["inputs"][name].setdefault("select", name)
    return with_shape_keys(out, bound.input, obj)


def with_shape_keys(out: dict[str, Any], main: str, obj: bpy.types.Object) -> dict[str, Any]:
    """Blender adds shape keys before the graph; outside, a morph node does it."""
    if obj.type == "MESH" and obj.data.shape_keys is not None and not reads_clip_weights(out):
        pose = main_pose(out)
        add_morph(out, main, {} if "stack" in out else {"pose": pose})
    return out


def reads_colors(given: Mapping[str, Any]) -> bool:
    """True if a mask of the document comes from colours."""
    steps = [step for step in [*given.get("nodes", {}).values(), *given.get("stack", [])] if isinstance(step, dict)]
    return any(step.get("source") == "color" or (isinstance(step.get("graph"), dict) and reads_colors(step["graph"])) for step in steps)


def reads_clip_weights(given: Mapping[str, Any]) -> bool:
    """True if a node of the document plays the morph weights of clips, also in nested graphs."""
    in_stack = given.get("stack", [])
    for step in [*given.get("nodes", {}).values(), *in_stack]:
        keys = {"node": step} if isinstance(step, str) else step
        kind = keys.get("node")
        # A step of a stack gets the pose without a link.
        if kind == "morph" and "weights" not in keys and ("pose" in keys or step in in_stack):
            return True
        if kind == "drive_morphs" and "pose" in keys:
            return True
        if isinstance(keys.get("graph"), dict) and reads_clip_weights(keys["graph"]):
            return True
    return False


def names(given: Mapping[str, Any]) -> set[str]:
    """Names of inputs, nodes and steps."""
    counts: dict[str, int] = {}
    out = {*given.get("nodes", {}), *given.get("inputs", {})}
    for step in given.get("stack", []):
        kind = step if isinstance(step, str) else step["node"]
        counts[kind] = counts.get(kind, 0) + 1
        out |= {kind, f"{kind}_{counts[kind]}"}
        if isinstance(step, dict) and "name" in step:
            out.add(step["name"])
    return out


def main_mesh(given: Mapping[str, Any]) -> str:
    """Name of the main mesh input."""
    return _main(given, "mesh", "body")


def main_pose(given: dict[str, Any]) -> str:
    """Name of the main pose input. A document without one gets it."""
    if not any(keys.get("type") == "pose" for keys in given["inputs"].values()):
        given["inputs"]["pose"] = {"type": "pose"}
    return _main(given, "pose", "pose")


def _main(given: Mapping[str, Any], kind: str, usual: str) -> str:
    found = [name for name, keys in given["inputs"].items() if keys.get("type") == kind and "file" not in keys]
    return usual if usual in found or not found else found[0]


def add_morph(out: dict[str, Any], main: str, keys: Mapping[str, Any]) -> None:
    """Puts a morph node behind the main mesh: whatever read the mesh reads the node. `keys`: where its weights come from."""
    name = "morph"
    taken = names(out)
    while name in taken:
        name += "_"
    morph = {"node": "morph", **keys}
    _relink(out, main, name)
    if "stack" in out:
        # The first step of a stack reads the main mesh.
        out["stack"] = [{"name": name, **morph}, *out["stack"]]
    else:
        out["nodes"] = {name: {**morph, "mesh": main}, **out["nodes"]}


def first_of_kind(given: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """The keys of the first node of a kind. A step that is a text becomes keys."""
    for keys in given.get("nodes", {}).values():
        if keys.get("node") == kind:
            return keys
    for i, step in enumerate(given.get("stack", [])):
        if step == kind:
            given["stack"][i] = {"node": kind}
        if given["stack"][i] != step or (isinstance(step, dict) and step.get("node") == kind):
            return given["stack"][i]
    return None


def relink_pose(out: dict[str, Any], pose: str, name: str) -> None:
    """Whatever read the pose reads another node; drivers stay at the pose."""
    for i, step in enumerate(out.get("stack", [])):
        keys = {"node": step} if isinstance(step, str) else step
        if "pose" in _link_keys(keys["node"]) and "pose" not in keys:
            keys = {**keys, "pose": pose}
        out["stack"][i] = keys
    _relink(out, pose, name, stays="pose_driver")


def _relink(out: dict[str, Any], old: str, new: str, stays: str = "") -> None:
    """Replaces links to an input by links to a node."""
    groups = [*out.get("nodes", {}).values(), *(s for s in out.get("stack", []) if isinstance(s, dict)), out.get("outputs", {})]
    for keys in groups:
        links = set(keys) - {"node", "name", "doc", "file", "graph"}
        if keys.get("node") == stays:
            continue
        if isinstance(keys.get("node"), str) and keys["node"] != "graph" and keys is not out.get("outputs"):
            links &= _link_keys(keys["node"])
        for key in links:
            if keys[key] == old:
                keys[key] = new
            elif isinstance(keys[key], list):
                keys[key] = [new if link == old else link for link in keys[key]]


@functools.cache
def _link_keys(kind: str) -> frozenset[str]:
    """Names of the inputs of a kind of node."""
    for node in json.loads(sd.node_list())["nodes"]:
        if node["name"] == kind:
            return frozenset(i["name"] for i in node["inputs"])
    return frozenset({"mesh", "pose"})


def graph(given: dict[str, Any], bound: Session) -> Any:
    """A graph of the package."""
    return sd.Graph.from_dict(given, bound.graph.name, folder())
