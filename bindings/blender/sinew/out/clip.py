# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of joints over a range of frames, as a clip of a character."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..core import sd
from ..report import Problem
from ..session import Session
from ..space import Matrix

# A joint may be sheared by this share; a clip has no shear.
SHEAR = 1e-4


class Recorder:
    """Collects the pose of each frame of a bound object."""

    def __init__(self, session: Session) -> None:
        joints = session.character.joints
        self.names = [joint.name for joint in joints]
        self.parents = [joint.parent for joint in joints]
        self.rest: Matrix = np.stack([np.array(joint.rest, np.float64) for joint in joints])
        self.skins: list[Matrix] = []
        self.weights: list[list[float]] = []

    def add(self, session: Session, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
        """Reads the current frame."""
        self.skins.append(session.last.matrices.copy())
        keys = obj.data.shape_keys
        if keys is not None:
            blocks = keys.evaluated_get(depsgraph).key_blocks
            reference = keys.reference_key.name
            self.weights.append([0.0 if b.mute else b.value for b in blocks if b.name != reference])

    def locals(self) -> Matrix:
        """(frames, j, 4, 4) joint space to the space of the parent."""
        scene = np.stack(self.skins) @ self.rest
        out = scene.copy()
        for j, parent in enumerate(self.parents):
            if parent is not None:
                out[:, j] = np.linalg.solve(scene[:, parent], scene[:, j])
        return out

    def clip(self, name: str, fps: float, first: int) -> Any:
        """The clip, whose first frame has the number `first`."""
        translations, rotations, scales = {}, {}, {}
        for j, matrices in enumerate(np.moveaxis(self.locals(), 1, 0)):
            translations[j] = matrices[:, :3, 3]
            rotations[j], scales[j] = split(matrices[:, :3, :3], self.names[j])
        times = (first + np.arange(len(self.skins))) / fps
        weights = {0: np.array(self.weights)} if self.weights and self.weights[0] else {}
        return sd.Clip(name, times=times, translations=translations, rotations=rotations, scales=scales, weights=weights)


def split(linear: Matrix, name: str) -> tuple[Matrix, Matrix]:
    """Quaternions x, y, z, w and scales of (frames, 3, 3) matrices."""
    from mathutils import Matrix as BlenderMatrix

    scales = np.linalg.norm(linear, axis=1)
    scales[np.linalg.det(linear) < 0.0] *= -1.0
    turned = linear / scales[:, None, :]
    shear = np.abs(np.swapaxes(turned, 1, 2) @ turned - np.eye(3)).max()
    if shear > SHEAR:
        raise Problem(
            f"Bone '{name}' is sheared by {shear:.2g}: a bone above it has different scales along its axes. "
            "Clips have no shear: set Inherit Scale of the bone to None, or scale evenly"
        )
    rows = [BlenderMatrix(m.tolist()).to_quaternion() for m in turned]
    quaternions = np.array([[q.x, q.y, q.z, q.w] for q in rows])
    for i in range(1, len(quaternions)):
        # The shorter way between two keys.
        if quaternions[i] @ quaternions[i - 1] < 0.0:
            quaternions[i] *= -1.0
    return quaternions, scales
