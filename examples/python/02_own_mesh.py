"""A tube of your own: mesh, joints, weights and a clip from arrays, without a file.

Run: python 02_own_mesh.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np

import sinew_deform as sd

folder = Path(sys.argv[1])
RINGS, SIDES, LENGTH, RADIUS = 40, 24, 2.0, 0.2

# Points ring by ring along Y, and quads between the rings.
height, angle = np.meshgrid(np.linspace(0, LENGTH, RINGS), np.linspace(0, 2 * np.pi, SIDES, endpoint=False), indexing="ij")
positions = np.stack([RADIUS * np.cos(angle), height, RADIUS * np.sin(angle)], axis=-1).reshape(-1, 3)
ring, side = np.meshgrid(np.arange(RINGS - 1), np.arange(SIDES), indexing="ij")
here, beside = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
quads = np.stack([here, here + SIDES, beside + SIDES, beside], axis=-1).reshape(-1, 4)

# Two joints; the weights go over within 10 centimetres around the middle.
upper = np.clip((positions[:, 1] - 0.9) / 0.2, 0, 1)
tube = sd.Mesh(
    "tube",
    positions,
    faces=quads,
    joint_indices=np.tile([0, 1], (len(positions), 1)),
    joint_weights=np.stack([1 - upper, upper], axis=-1),
)
to_middle = np.eye(4)
to_middle[1, 3] = LENGTH / 2
joints = [sd.Joint("lower", None, np.eye(4)), sd.Joint("upper", 0, to_middle)]

# The upper joint bends by 100 degrees about Z in one second.
bend = np.radians(np.array([0, 100]) / 2)
quaternions = np.stack([0 * bend, 0 * bend, np.sin(bend), np.cos(bend)], axis=-1)
clip = sd.Clip("bend", [0, 1], rotations={1: quaternions})

character = sd.Character.from_arrays("tube", [tube], joints, clips=[clip])
plain = sd.Player(character, sd.Graph.from_nodes("skin"))
smooth = sd.Player(character, sd.Graph.from_nodes("skin", sd.nodes.delta_mush(iterations=10)))
for player in (plain, smooth):
    player.advance(30)
difference = np.linalg.norm(smooth["body"].positions() - plain["body"].positions(), axis=1)
print(character)
print(f"delta mush moves the elbow by up to {difference.max() * 1000:.1f} mm")

sd.run(character, sd.Graph.from_nodes("skin", sd.nodes.delta_mush()), output=folder / "tube.glb")
print("wrote tube.glb")
