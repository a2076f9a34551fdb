# SPDX-License-Identifier: GPL-3.0-or-later
"""The node kinds of the installed wheel, and the kinds that only documents have: inputs, parameters, outputs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..core import sd

NUMBERS = ("float", "int", "bool", "vec3", "vec4", "int3")
"""Types that Blender has sliders for."""


@dataclass(frozen=True)
class Port:
    """An input or output of a node kind."""

    name: str
    type: str
    doc: str = ""
    required: bool = False
    links: int = 1
    more_of: str = ""
    """For `colliders_2`: `colliders`, the input that takes the list."""


@dataclass(frozen=True)
class Param:
    """A parameter of a node kind."""

    name: str
    type: str
    doc: str = ""
    default: Any = None
    min: float | None = None
    max: float | None = None
    unit: str = ""
    setup: bool = True
    follows: str = ""
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def is_angle(self) -> bool:
        """True if documents may write this value in degrees."""
        return self.type == "float" and self.unit == "rad"

    @property
    def names_joints(self) -> bool:
        """True for the name of a joint and lists of them."""
        return self.type in ("text", "texts") and "joint" in f"{self.name} {self.doc}".lower()


@dataclass(frozen=True)
class Kind:
    """A node kind."""

    name: str
    group: str
    summary: str
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    parameters: tuple[Param, ...] = ()
    presets: dict[str, dict[str, Any]] = field(default_factory=dict, hash=False)
    preset_docs: dict[str, str] = field(default_factory=dict, hash=False)

    def parameter(self, key: str) -> Param | None:
        """The parameter that a key of a document means; `angle_degrees` means `angle`."""
        for p in self.parameters:
            if key == p.name or (p.is_angle and key == f"{p.name}_degrees"):
                return p
        return None

    def input(self, key: str) -> Port | None:
        """The input of that name."""
        return next((port for port in self.inputs if port.name == key), None)


def _param(entry: dict[str, Any]) -> Param:
    choices = tuple((c["name"], c.get("doc", "")) for c in entry.get("choices", ()))
    kept = {k: entry[k] for k in ("name", "type", "doc", "default", "min", "max", "unit", "setup", "follows") if k in entry}
    return Param(**kept, choices=choices)


def _inputs(entries: list[dict[str, Any]]) -> tuple[Port, ...]:
    lists = [e["name"] for e in entries if e.get("links")]

    def port(entry: dict[str, Any]) -> Port:
        base = entry["name"].rpartition("_")[0]
        more = base if base in lists else ""
        return Port(entry["name"], entry["type"], entry.get("doc", ""), entry.get("required", False), entry.get("links") or 1, more)

    return tuple(port(entry) for entry in entries)


def _kind(entry: dict[str, Any]) -> Kind:
    presets = entry.get("presets", [])
    return Kind(
        entry["name"],
        entry["kind"],
        entry.get("summary", ""),
        _inputs(entry["inputs"]),
        tuple(Port(o["name"], o["type"], o.get("doc", "")) for o in entry["outputs"]),
        tuple(_param(p) for p in entry["parameters"]),
        {p["name"]: p["values"] for p in presets},
        {p["name"]: p.get("doc", "") for p in presets},
    )


@lru_cache(maxsize=1)
def kinds() -> dict[str, Kind]:
    """The node kinds of the wheel by name; empty without the wheel."""
    if sd is None:
        return {}
    return {entry["name"]: _kind(entry) for entry in json.loads(sd.node_list())["nodes"]}


INPUT_TYPES = (
    ("mesh", "A mesh at rest, with skin weights, morph targets and attributes."),
    ("strands", "Strands of hair at rest."),
    ("pose", "The pose of the skeleton in each frame."),
    ("values", "Floats in each frame."),
    ("vertex_animation", "A bake."),
)
PARAMETER_TYPES = ("float", "int", "bool", "text", "vec3", "vec4", "int3", "transform", "floats", "points", "texts")

INPUT = Kind(
    "input",
    "input",
    "What comes into the graph: a mesh, strands, a pose, numbers or a bake.",
    parameters=(
        Param("type", "choice", "What comes in.", "mesh", choices=INPUT_TYPES),
        Param("select", "word", "For meshes and strands: a name, or a list of names, of the meshes to take. * matches any characters.", None),
        Param("file", "text", "Reads this file, relative to the document, instead of the character.", ""),
        Param("point_cache", "text", "For meshes and strands: point cache that moves the mesh.", ""),
        Param("joints", "text", "For meshes and strands: name of the pose input that moves the mesh.", ""),
        Param("count", "int", "For values: floats in each frame.", 1, 1, 16777216),
        Param("followers", "json", "For strands: count, radius, tip_separation, length_variation, curl, curl_length, frizz, frizz_length, seed, skin.", None),
        Param("thickness", "json", "For strands: diameters at root and tip in metres.", None),
    ),
)
PARAMETER = Kind(
    "parameter",
    "input",
    "A parameter of the graph. Nodes that link to it share its value.",
    parameters=(
        Param("type", "choice", "Type of the value.", "float", choices=tuple((t, "") for t in PARAMETER_TYPES)),
        Param("min", "json", "Smallest value.", None),
        Param("max", "json", "Largest value.", None),
        Param("setup", "bool", "Nodes read the value in setup. A new value then needs a new setup.", False),
        Param("keys", "json", "A value over time: a list of [seconds, value].", None),
        Param("interpolation", "word", "Interpolation of the keys: linear, smooth or step.", None),
    ),
)
OUTPUT = Kind("output", "output", "An output of the graph.")
GROUP = Kind("graph", "group", "Runs another graph: a node tree of its own, or a file.", parameters=(Param("file", "text", "File of the document.", ""),))
KERNEL = Kind("kernel", "kernel", "Runs a program in WGSL for each vertex, triangle, strand or joint.")
UNKNOWN = Kind("unknown", "unknown", "A node that this version of Sinew does not know. Its keys are kept.")
