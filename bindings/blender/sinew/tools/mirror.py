# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors pose drivers: their joints, poses and shape keys."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from .. import live
from ..character import rest_positions
from ..report import Problem
from ..session import Session
from ..space import Matrix, Points, moved
from . import corrective, graphs, matrices, pose_driver, sides, transforms, weld

# Vertices opposite of each other may be this far from mirrored positions, as a share of the size of the mesh.
PARTNER = 1e-4


def mirrored_motion(bound: Session, index: int, other: int, motion: Matrix) -> Matrix:
    """The motion of the joint on the other side that mirrors a motion from rest.

    With the rest transforms A and B of the two joints and the mirror F: B⁻¹ F A motion A⁻¹ F B, about the joint itself.
    """
    rest = matrices.rest(bound)
    change = (np.linalg.inv(rest[other]) @ matrices.mirror(bound) @ rest[index])[:3, :3]
    made = np.eye(4)
    made[:3, :3] = change @ motion[:3, :3] @ np.linalg.inv(change)
    made[:3, 3] = change @ motion[:3, 3]
    return made


def mirrored_driver(bound: Session, name: str, driver: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Name and keys of the driver of the other side, and the mirrored name of each pose."""
    if driver.get("space", "rest") != "rest":
        raise Problem(f"Driver '{name}' is in space '{driver['space']}'. Only drivers of space 'rest' can be mirrored")
    pairs = [(pose_driver.joint_index(bound, j), _other(bound, j)) for j in driver["joints"]]
    centred = all(a == b for a, b in pairs)
    made = dict(driver)
    made["joints"] = [bound.bones.names[b] for _, b in pairs]
    rest = matrices.rest(bound)
    axis = np.array(driver.get("axis", [1.0, 0.0, 0.0]), np.float64)
    a, b = pairs[0]
    made["axis"] = [float(x) for x in (np.linalg.inv(rest[b]) @ matrices.mirror(bound) @ rest[a])[:3, :3] @ axis]
    kept = list(driver.get("poses", [])) if centred else []
    names = {p["name"] for p in kept}
    poses, partners = [], {}
    for pose in driver.get("poses", []):
        if centred and _is_its_mirror(bound, pairs, pose):
            continue
        new = sides.mirrored_pose(pose["name"], names) if centred else sides.mirrored(pose["name"])
        if new in names:
            continue
        names.add(new)
        partners[pose["name"]] = new
        poses.append({**pose, "name": new, "joints": _mirrored_joints(bound, pairs, pose)})
    if centred:
        made["axis"] = list(driver.get("axis", [1.0, 0.0, 0.0]))
        return name, {**made, "poses": kept + poses}, partners
    return sides.mirrored(name), {**made, "poses": poses}, partners


def _other(bound: Session, joint: str) -> int:
    other = sides.mirrored(joint)
    if other not in bound.bones.names:
        raise Problem(
            f"Bone '{joint}' has no partner: the armature has no bone '{other}'. Name the bones of both sides like 'arm.L' and 'arm.R'"
        )
    return bound.bones.names.index(other)


def _mirrored_joints(bound: Session, pairs: list[tuple[int, int]], pose: dict[str, Any]) -> list[dict[str, Any]]:
    return [transforms.encode(mirrored_motion(bound, a, b, transforms.decode(given))) for (a, b), given in zip(pairs, pose["joints"])]


def _is_its_mirror(bound: Session, pairs: list[tuple[int, int]], pose: dict[str, Any]) -> bool:
    motions = [transforms.decode(given) for given in pose["joints"]]
    return all(np.allclose(mirrored_motion(bound, a, b, m), m, atol=1e-5) for (a, b), m in zip(pairs, motions))


def mirror_keys(
    obj: bpy.types.Object, bound: Session, given: graphs.Document, driver: str, other: str, partners: dict[str, str]
) -> tuple[int, int]:
    """Mirrors the shape keys of a driver's poses for another driver: how many, and how many vertices that they move have no partner."""
    if obj.type != "MESH" or obj.data.shape_keys is None:
        return 0, 0
    found = {pose: corrective.key_of(given, driver, pose) for pose in partners}
    blocks = obj.data.shape_keys.key_blocks
    keys = {pose: blocks[key] for pose, key in found.items() if key is not None and key in blocks}
    if not keys:
        return 0, 0
    change = matrices.to_object(bound) @ matrices.mirror(bound) @ np.linalg.inv(matrices.to_object(bound))
    rest = rest_positions(obj)
    point = weld.twins(bound, rest)
    partner = _partners(bound, rest, moved(rest, change))
    unpaired = np.zeros(len(rest), bool)
    for pose, key in keys.items():
        offsets = corrective.key_offsets(obj, key.name)
        unpaired |= (partner < 0) & (np.linalg.norm(offsets, axis=1) > corrective.DROP_BELOW)
        offsets = weld.mean(point, offsets)[point]
        mirrored = np.where(partner[:, None] >= 0, offsets[partner] @ change[:3, :3].T, 0.0)
        name = corrective.key_of(given, other, partners[pose]) or corrective.key_name(other, partners[pose])
        made = corrective.set_key(obj, name, mirrored)
        corrective.connect(given, other, partners[pose], made.name)
    return len(keys), int(unpaired.sum())


def _partners(bound: Session, rest: Points, mirrored: Points) -> Any:
    """(n,) vertex where the mirrored vertex is, -1 for none. Of several vertices there, the one with the mirrored skin weights."""
    from mathutils import kdtree

    tree = kdtree.KDTree(len(rest))
    for i, position in enumerate(rest):
        tree.insert(position, i)
    tree.balance()
    limit = PARTNER * float(np.ptp(rest, axis=0).max())
    own, other = weld.signatures(bound), weld.signatures(bound, sides.mirrored)

    def partner(i: int) -> int:
        found = tree.find_range(mirrored[i], limit)
        # Vertices at one position are one point: the least index keeps the choice the same for all of them.
        return min(((round(d / limit, 3), round(abs(own[j] - other[i]), 3), j) for _, j, d in found), default=(0, 0, -1))[2]

    return np.array([partner(i) for i in range(len(rest))], np.intp)


class SINEW_OT_driver_mirror(pose_driver.PoseOperator):
    """Make the driver of the other side, with mirrored poses and shape keys. A driver of bones in the middle gets them itself"""

    bl_idname = "sinew.driver_mirror"
    bl_label = "Mirror Driver"

    def work(self, context: bpy.types.Context, obj: bpy.types.Object, given: graphs.Document, name: str) -> str:
        bound = graphs.session(context, obj)
        source = given["nodes"][name]
        other, keys, partners = mirrored_driver(bound, name, source)
        other = _free_driver(given, name, other, keys["joints"])
        keys["pose"] = source["pose"]
        given["nodes"][other] = keys
        pose_driver.check(bound, given, other)
        pose_driver.extend_targets(given, other)
        made, unpaired = mirror_keys(obj, bound, given, name, other, partners)
        live.bind(obj)
        graphs.put(context, obj, given)
        obj.sinew_tools.driver = other
        if unpaired:
            self.report(
                {"WARNING"}, f"{unpaired} vertices that shape keys move have no vertex opposite of them: their offsets are left out"
            )
        return f"Driver '{other}' has {len(keys['poses'])} poses and {made} mirrored shape keys"


def _free_driver(given: graphs.Document, name: str, other: str, joints: list[str]) -> str:
    """The name for a mirrored driver: that of a driver of the same joints, if there is one."""
    if joints == given["nodes"][name]["joints"]:
        return name
    for existing in graphs.of_kind(given, "pose_driver"):
        if existing != name and given["nodes"][existing].get("joints") == joints:
            return existing
    return graphs.free(given, other if other != name else f"{name}_mirrored")


CLASSES = [SINEW_OT_driver_mirror]


def register() -> None:
    """Registers the operators."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Removes them."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
