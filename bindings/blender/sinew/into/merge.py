# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose drivers of a document, fitted to the bones and shape keys of an object, and put into its graph."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..out import embedded
from .axes import some

Document = dict[str, Any]


class Match:
    """Finds bones and shape keys by the names of a file: as they are, then without namespace, then without case and punctuation."""

    def __init__(self, bones: Sequence[str], keys: Sequence[str]) -> None:
        self._bones, self._keys = _by_name(bones), _by_name(keys)

    def bone(self, name: str) -> str | None:
        """Name of the bone."""
        return _find(self._bones, name)

    def key(self, name: str) -> str | None:
        """Name of the shape key."""
        return _find(self._keys, name)


def _spellings(name: str) -> list[str]:
    bare = name.replace("|", ":").rpartition(":")[2]
    return [name, bare, "".join(c for c in bare.lower() if c.isalnum())]


def _by_name(names: Sequence[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for i in range(3):
        for name in names:
            # A better match stays.
            out.setdefault(_spellings(name)[i], name)
    return out


def _find(known: dict[str, str], name: str) -> str | None:
    return next((known[spelling] for spelling in _spellings(name) if spelling in known), None)


@dataclass
class Drivers:
    """Nodes to put into a graph. They read the inputs `body` and `pose`."""

    nodes: dict[str, Document] = field(default_factory=dict)
    drivers: list[str] = field(default_factory=list)
    """Names of the nodes pose_driver."""
    morphs: list[str] = field(default_factory=list)
    """Chain of nodes drive_morphs: each starts from the one before."""
    joints: list[str] = field(default_factory=list)
    """Chain of nodes drive_joints: each starts from the one before."""


def take(document: Document, match: Match) -> tuple[Drivers, list[str]]:
    """The drivers that fit, and what does not."""
    out, notes, missing_keys = Drivers(), [], []
    for name, keys in copy.deepcopy(document.get("nodes", {})).items():
        if keys["node"] == "pose_driver":
            wanted = [*keys["joints"], *([keys["reference"]] if keys.get("reference") else [])]
            missing = [joint for joint in wanted if match.bone(joint) is None]
            if missing:
                notes.append(f"Driver '{name}' is left out: the armature has no bone {some(missing)}")
                continue
            keys["joints"] = [match.bone(joint) for joint in keys["joints"]]
            if keys.get("reference"):
                keys["reference"] = match.bone(keys["reference"])
            out.nodes[name] = keys
            out.drivers.append(name)
        elif keys.get("weights") in out.drivers and keys["node"] == "drive_morphs":
            missing_keys += _take_morphs(out, name, keys, match)
        elif keys.get("weights") in out.drivers and keys["node"] == "drive_joints":
            notes += _take_joints(out, name, keys, match)
    if missing_keys:
        notes.append(f"The object has no shape keys {some(missing_keys)}: nothing is driven in these poses")
    return out, notes


def _take_morphs(out: Drivers, name: str, keys: Document, match: Match) -> list[str]:
    """Adds a node drive_morphs. Returns the targets without a shape key."""
    missing = [target for target in keys.get("targets", []) if target and match.key(target) is None]
    keys["targets"] = [match.key(target) or "" if target else "" for target in keys.get("targets", [])]
    keys.pop("base", None)
    if any(keys["targets"]):
        if out.morphs:
            keys["base"] = out.morphs[-1]
        out.nodes[name] = keys
        out.morphs.append(name)
    return missing


def _take_joints(out: Drivers, name: str, keys: Document, match: Match) -> list[str]:
    """Adds a node drive_joints. Returns what is left out."""
    found = [(i, match.bone(joint)) for i, joint in enumerate(keys["joints"])]
    missing = [keys["joints"][i] for i, bone in found if bone is None]
    kept = [i for i, bone in found if bone is not None]
    if kept:
        keys["joints"] = [bone for _, bone in found if bone is not None]
        for pose in keys.get("poses", []):
            pose["joints"] = [pose["joints"][i] for i in kept]
        if keys.get("neutral"):
            keys["neutral"] = [keys["neutral"][i] for i in kept]
        keys["pose"] = out.joints[-1] if out.joints else "pose"
        out.nodes[name] = keys
        out.joints.append(name)
    return [f"'{name}' does not move {some(missing)}: the armature has no such bones"] if missing else []


def insert(document: Document, added: Drivers) -> Document:
    """A document with the drivers in it."""
    out = copy.deepcopy(document)
    out.setdefault("inputs", {"body": {"type": "mesh"}, "pose": {"type": "pose"}})
    main, pose = embedded.main_mesh(out), embedded.main_pose(out)
    names = _free_names(out, added)
    made = {}
    for name, keys in added.nodes.items():
        keys = copy.deepcopy(keys)
        if "mesh" in keys:
            keys["mesh"] = main
        for link in ("weights", "base", "pose"):
            if link in keys:
                keys[link] = names.get(keys[link], pose if link == "pose" else keys[link])
        made[names[name]] = keys
    if added.joints:
        embedded.relink_pose(out, pose, names[added.joints[-1]])
    if added.morphs:
        _drive(out, main, pose, made[names[added.morphs[0]]], names[added.morphs[-1]])
    out["nodes"] = {**made, **out.get("nodes", {})}
    return out


def _free_names(out: Document, added: Drivers) -> dict[str, str]:
    """New names for the nodes, where the graph has them already."""
    taken = embedded.names(out)
    names = {}
    for name in added.nodes:
        # No characters that separate links.
        base = "".join("_" if c in "./$" else c for c in name) or "driver"
        free, number = base, 2
        while free in taken:
            free, number = f"{base}_{number}", number + 1
        names[name] = free
        taken.add(free)
    return names


def _drive(out: Document, main: str, pose: str, first: Document, last: str) -> None:
    """Gives the weights to the morph node of the graph; adds one if it has none."""
    morph = embedded.first_of_kind(out, "morph")
    if morph is None:
        first["pose"] = pose
        embedded.add_morph(out, main, {"weights": last})
        return
    if "weights" in morph:
        # The new weights come on top of those that the graph has.
        first["base"] = morph["weights"]
    else:
        first["pose"] = morph.get("pose", pose)
    morph.pop("pose", None)
    morph["weights"] = last
