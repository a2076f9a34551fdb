"""Normals of corners of a welded mesh, faces weighted by their angle at the vertex."""

import numpy as np

# Edges sharper than this stay hard in bakes.
CREASE_DEGREES = 60


def normals_of(positions, triangles):
    """Of each corner (triangles, 3, 3), and whether the faces around its vertex are smooth; of each face (triangles, 3)."""
    _, welded = np.unique(positions, axis=0, return_inverse=True)
    vertex = welded.reshape(-1)[triangles]
    corners = positions[triangles].astype(np.float64)
    to_next, to_last = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    cross = np.cross(to_next, to_last)
    angle = np.arctan2(np.linalg.norm(cross, axis=2), (to_next * to_last).sum(axis=2))
    face = cross[:, 0] / np.linalg.norm(cross[:, 0], axis=1, keepdims=True)
    total = np.zeros((vertex.max() + 1, 3))
    np.add.at(total, vertex.reshape(-1), (angle[:, :, None] * face[:, None]).reshape(-1, 3))
    total /= np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-30)
    # Half of the crease from the mean: no two faces are farther from each other than it.
    off = np.degrees(np.arccos(np.clip((total[vertex] * face[:, None]).sum(axis=2), -1, 1)))
    widest = np.zeros(len(total))
    np.maximum.at(widest, vertex.reshape(-1), off.reshape(-1))
    return total[vertex], widest[vertex] < CREASE_DEGREES / 2, face
