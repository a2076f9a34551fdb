"""A pose of your own in each frame, from NumPy matrices: the way into hosts, trackers and simulations.

Run: python 03_pose_from_numpy.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np

import sinew_deform as sd

folder = Path(sys.argv[1])

arm = sd.Character.sample("arm")
player = sd.Player(arm, sd.Graph.from_nodes("morph", "skin", sd.nodes.delta_mush()))
player.set_clip(None)  # joints that get no matrix stay at rest
forearm = next(joint for joint in arm.joints if joint.name == "forearm")


def about_z(degrees: float) -> np.ndarray:
    a = np.radians(degrees)
    out = np.eye(4)
    out[:2, :2] = [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]
    return out


# `space="scene"`: where the joint is, in scene space. Its children move with it.
body = player["body"]
frames = np.empty((60, body.vertex_count, 3), np.float32)
for n in range(len(frames)):
    swing = 45 * np.sin(2 * np.pi * n / len(frames))
    player.advance_posed(n, (forearm.rest @ about_z(swing))[None], joints=["forearm"], space="scene")
    body.positions(out=frames[n])

np.save(folder / "swing.npy", frames)
travel = np.linalg.norm(frames - frames[0], axis=2).max()
print("frames, vertices, 3:", frames.shape)
print(f"farthest way of a vertex: {travel:.3f} m")
