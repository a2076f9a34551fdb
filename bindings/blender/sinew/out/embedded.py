# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of an object as a document that works outside of Blender."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Mapping
from typing import Any

import bpy

from ..core import sd
from ..session import Session, folder


def document(bound: Session, obj: bpy.types.Object) -> dict[str, Any]:
    """The document of a bound object. Blender adds shape keys before the graph; outside, a morph node does it."""
    out = copy.deepcopy(bound.document)
    if obj.type == "MESH" and obj.data.shape_keys is not None and not reads_clip_weights(out):
        _add_morph(out, bound.input)
    return out


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


def _add_morph(out: dict[str, Any], main: str) -> None:
    """Puts a morph node behind the main mesh: whatever read the mesh reads the node."""
    taken = {*out.get("nodes", {}), *out["inputs"], *(s.get("name", s.get("node")) if isinstance(s, dict) else s for s in out.get("stack", []))}
    name = "morph"
    while name in taken:
        name += "_"
    for step in [*out.get("nodes", {}).values(), *(s for s in out.get("stack", []) if isinstance(s, dict))]:
        _relink(step, main, name)
    if "outputs" in out:
        _relink(out["outputs"], main, name)
    if "stack" in out:
        # The first step of a stack reads the main mesh.
        out["stack"] = [{"node": "morph", "name": name}, *out["stack"]]
    else:
        out["nodes"] = {name: {"node": "morph", "mesh": main, "pose": _pose(out)}, **out["nodes"]}


def _pose(out: dict[str, Any]) -> str:
    """Name of the main pose input. A document without one gets it."""
    found = [name for name, keys in out["inputs"].items() if keys.get("type") == "pose" and "file" not in keys]
    if not found:
        out["inputs"]["pose"] = {"type": "pose"}
        return "pose"
    return "pose" if "pose" in found else found[0]


def _relink(keys: dict[str, Any], main: str, name: str) -> None:
    """Replaces links to the main mesh."""
    links = set(keys) - {"node", "name", "doc", "file", "graph"}
    if "node" in keys and keys["node"] != "graph":
        links &= _link_keys(keys["node"])
    for key in links:
        if keys[key] == main:
            keys[key] = name
        elif isinstance(keys[key], list):
            keys[key] = [name if link == main else link for link in keys[key]]


@functools.cache
def _link_keys(kind: str) -> frozenset[str]:
    """Names of the inputs of a kind of node."""
    for node in json.loads(sd.node_list())["nodes"]:
        if node["name"] == kind:
            return frozenset(i["name"] for i in node["inputs"])
    return frozenset({"mesh"})


class Parameters:
    """The values of the graph's parameters over the frames of a bake."""

    def __init__(self) -> None:
        self.frames: list[int] = []
        self.values: list[dict[str, Any]] = []

    def add(self, frame: int, bound: Session, tree: bpy.types.NodeTree, depsgraph: bpy.types.Depsgraph) -> None:
        """Reads the values of the current frame."""
        self.frames.append(frame)
        self.values.append(dict(bound.live.values(tree.evaluated_get(depsgraph))))

    def write(self, out: dict[str, Any], fps: float) -> None:
        """Writes constant values as defaults, and animated ones as keys in seconds."""
        for name, keys in out.get("parameters", {}).items():
            seen = [values[name] for values in self.values if name in values]
            if not seen:
                continue
            keys["default"] = seen[0]
            if any(value != seen[0] for value in seen) and len(seen) == len(self.frames):
                keys["keys"] = [[frame / fps, value] for frame, value in zip(self.frames, seen)]
                keys["interpolation"] = "linear"


def graph(given: dict[str, Any], bound: Session) -> Any:
    """A graph of the package."""
    return sd.Graph.from_dict(given, bound.graph.name, folder())
