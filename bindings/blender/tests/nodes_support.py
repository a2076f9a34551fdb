# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers for the tests of nodes: the registry as the wheel gives it, a layout that records, hand-made documents."""

from __future__ import annotations

import functools
import json
import random
from typing import Any

import numpy as np
import sinew_deform as sd

REGISTRY = {entry["name"]: entry for entry in json.loads(sd.node_list())["nodes"]}
STRAND_KINDS = ("collide", "hair_sim", "tressfx_hair")

ARM: dict[str, Any] = {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}}}

# Nodes that give each type of port, as documents write them.
SOURCES: dict[str, tuple[str, dict[str, Any] | None]] = {
    "mesh": ("body", None),
    "strands": ("hair", None),
    "pose": ("pose", None),
    "values": ("numbers", {"node": "joint_transform", "pose": "pose"}),
    "field": ("solid", {"node": "solids", "capsules": [{"from": [0, 0, 0], "to": [0, 1, 0], "radius": 0.1}]}),
    "vertex_animation": ("bake", None),
}
# What a kind needs beyond its required inputs.
NEEDS: dict[str, dict[str, Any]] = {
    "pose_driver": {"joints": ["head"], "poses": [{"name": "rest", "joints": [{}]}]},
    "drive_joints": {"joints": ["head"]},
    "spring_joints": {"joints": ["head"]},
    "expression": {"expressions": ["1 + time"]},
    "mask": {"source": "constant"},
    "morph": {"pose": "pose"},
    "solids": {"planes": [{"point": [0, 0, 0], "normal": [0, 1, 0]}]},
    "drive_morphs": {"targets": ["", "", ""]},
}
# The head has no morph targets.
SAMPLE_OF = {"morph": "creature", "drive_morphs": "creature"}


@functools.cache
def _sample(name: str) -> sd.Character:
    """Samples take long to load, and nothing changes them."""
    return sd.Character.sample(name)


def positions(document: dict[str, Any], sample: str | sd.Character = "arm", frames: tuple[int, ...] = (0, 5, 10), folder: str | None = None) -> list[np.ndarray]:
    """What an independent player makes of a document: all numbers of all outputs at some frames."""
    character = _sample(sample) if isinstance(sample, str) else sample
    graph = sd.Graph.from_dict(document, "test", **({"folder": folder} if folder else {}))
    player = sd.Player(character, graph)
    found = []
    for frame in frames:
        player.advance(frame)
        for name in player.outputs:
            found.append(numbers(player[name]))
    return found


def numbers(output: Any) -> np.ndarray:
    """All numbers of an output."""
    if output.kind in ("mesh", "strands"):
        return output.positions().ravel().copy()
    if output.kind in ("mask", "values", "buffer"):
        return output.floats().copy()
    if output.kind == "pose":
        return output.pose().ravel().copy()
    if output.kind == "lines":
        return output.lines()[0].ravel().copy()
    return output.field()[0].ravel().copy()


def equal(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    """True if all numbers have the same bits."""
    return len(left) == len(right) and all(a.tobytes() == b.tobytes() for a, b in zip(left, right, strict=True))


def errors(document: dict[str, Any], character: Any = None) -> list[str]:
    """Errors of a document."""
    return [d.message for d in sd.Graph.from_dict(document).check(character) if d.severity == "error"]


def random_value(param: dict[str, Any], rng: random.Random) -> Any:
    """A value inside the range of a parameter; None for types without sliders."""
    low, high = param.get("min", -100), param.get("max", 100)
    kind = param["type"]
    if kind == "float":
        return float(np.float32(rng.uniform(low, min(high, low + 1000))))
    if kind == "int":
        return rng.randint(int(low), int(min(high, low + 1000)))
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "choice":
        return rng.choice(param["choices"])["name"]
    if kind in ("vec3", "vec4"):
        return tuple(float(np.float32(rng.uniform(max(low, -10), min(high, 10)))) for _ in range(int(kind[3])))
    if kind == "int3":
        return tuple(rng.randint(int(low), int(min(high, low + 8))) for _ in range(3))
    return None


class Layout:
    """A layout that records what is drawn, and refuses what Blender would refuse."""

    def __init__(self, log: list[tuple[str, Any]] | None = None) -> None:
        self.log = [] if log is None else log
        self.alert = False

    def _child(self, *_args: Any, **_keys: Any) -> Layout:
        return Layout(self.log)

    row = column = box = split = _child

    def prop(self, owner: Any, name: str, **keys: Any) -> None:
        assert name in owner.bl_rna.properties, f"{owner} has no property {name}"
        self.log.append(("prop", name if "index" not in keys else f"{name}[{keys['index']}]"))

    def label(self, text: str = "", **_keys: Any) -> None:
        self.log.append(("label", text))

    def menu(self, name: str, **_keys: Any) -> None:
        self.log.append(("menu", name))

    def operator(self, name: str, **_keys: Any) -> Any:
        class Properties:
            pass

        made = Properties()
        self.log.append(("operator", made))
        return made


def document(nodes: dict[str, Any], outputs: dict[str, str], **more: Any) -> dict[str, Any]:
    """A document with body and pose."""
    return {**ARM, **more, "nodes": nodes, "outputs": outputs}


def bent(**keys: Any) -> dict[str, Any]:
    """Skinning and a bend."""
    chain = {"skin": {"node": "skin", "mesh": "body", "pose": "pose"}, "bend": {"node": "bend", "mesh": "skin", "length": 0.5, **keys}}
    return document(chain, {"body": "bend"})
