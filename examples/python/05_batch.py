"""Many instances of a graph at once, and many characters on threads.

Run: python 05_batch.py FOLDER
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import sinew_deform as sd

folder = Path(sys.argv[1])
graph = sd.Graph.from_nodes("morph", "skin", sd.nodes.delta_mush(iterations=4))

# A crowd shares setup; each instance has a frame of its own. device="gpu" evaluates all in one batch.
creature = sd.Character.sample("creature")
crowd = sd.Crowd(creature, graph, count=8, device="cpu")
crowd.advance([3 * i for i in range(crowd.count)])
together = crowd.positions("body")
print("instances, vertices, 3:", together.shape)


# Players on threads: each works without the interpreter lock.
def largest_movement(name: str) -> float:
    character = sd.Character.sample(name)
    player = sd.Player(character, graph)
    rest = np.concatenate([mesh.positions for mesh in character.meshes])
    return max(movement(player, rest, n) for n in range(10))


def movement(player: sd.Player, rest: np.ndarray, n: int) -> float:
    player.advance(n)
    return float(np.linalg.norm(player["body"].positions() - rest, axis=1).max())


names = ["arm", "creature", "ball"]
with ThreadPoolExecutor() as pool:
    found = dict(zip(names, pool.map(largest_movement, names)))
for name, metres in found.items():
    print(f"{name}: {metres:.3f} m")
np.save(folder / "crowd.npy", together)
