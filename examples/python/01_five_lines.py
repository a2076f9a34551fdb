"""Skinning and delta mush on a built-in arm, in five lines.

Run: python 01_five_lines.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np

import sinew_deform as sd

folder = Path(sys.argv[1])

arm = sd.Character.sample("arm")  # or sd.load("hero.glb")
graph = sd.Graph.from_nodes("skin", sd.nodes.delta_mush(iterations=10))
player = sd.Player(arm, graph, fps=30)
player.advance(25)
positions = player["body"].positions()

np.save(folder / "positions.npy", positions)
print("vertices:", len(positions))
print(f"highest point: {positions[:, 1].max():.3f} m")
