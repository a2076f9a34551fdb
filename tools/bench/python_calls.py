"""What calls from Python cost: `python python_calls.py CHARACTER.glb`, with the package `sinew_deform` installed.

Prints microseconds, the least of many calls. The graph of the first lines changes nothing: its `advance` is the pose, the checks and the
call itself. The difference of `advance` and `advance_posed` is what matrices from NumPy cost.
"""

import sys
import time
from collections.abc import Callable

import numpy as np

import sinew_deform as sd


def least(work: Callable[[int], object], calls: int = 2000) -> float:
    """Microseconds of the fastest call."""
    best = float("inf")
    for n in range(calls):
        begun = time.perf_counter()
        work(n)
        best = min(best, time.perf_counter() - begun)
    return best * 1e6


def main(path: str) -> None:
    """Prints a line for each call."""
    character = sd.load(path)
    # One mesh alone: the most vertices that there are.
    nothing = sd.Graph.from_dict({"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "outputs": {"body": "body"}})
    player = sd.Player(character, nothing)
    player.advance(0)
    body = player["body"]
    out = body.positions()
    print(f"{len(out)} vertices, {len(character.joints)} joints")
    print(f"{least(player.advance):8.1f}  advance, a graph that changes nothing")
    print(f"{least(lambda n: body.positions(out=out)):8.1f}  positions(out=)")
    print(f"{least(lambda n: np.copyto(out, out.copy())):8.1f}  two copies by NumPy, to compare")
    skin = sd.Player(character, sd.Graph.from_nodes("skin"))
    rest = np.array([joint.rest for joint in character.joints])
    names = [joint.name for joint in character.joints]
    clip, posed, named = (
        least(skin.advance),
        least(lambda n: skin.advance_posed(n, rest)),
        least(lambda n: skin.advance_posed(n, rest, joints=names)),
    )
    print(f"{clip:8.1f}  advance, linear skinning")
    print(f"{posed:8.1f}  advance_posed, linear skinning: {posed - clip:+.1f}")
    print(f"{named:8.1f}  advance_posed with names of joints: {named - clip:+.1f}")


if __name__ == "__main__":
    main(sys.argv[1])
