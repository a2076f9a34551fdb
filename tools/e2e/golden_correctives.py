"""Compares frames of a character whose correctives are driven by its pose with what Blender made of each corrective at full weight:
golden_correctives.py GOLDEN_FOLDER FRAMES.npz, whose times must hold those of the golden poses."""

import json
import pathlib
import sys

import numpy as np

# The golden files differ from plain skinning in double precision by 1.1e-6 m, single precision here by as much.
TOLERANCE = 1e-5

folder = pathlib.Path(sys.argv[1])
frames = np.load(sys.argv[2])
golden = json.loads((folder / "golden.json").read_text())
failed = False
for pose in golden["poses"]:
    index = int(np.argmin(np.abs(frames["times"] - pose["time"])))
    if abs(frames["times"][index] - pose["time"]) > 1e-4:
        sys.exit(f"no frame at {pose['time']} s")
    expected = np.fromfile(folder / f"{pose['pose']}__lbs_morph1.f32", dtype="<f4").reshape(-1, 3)
    plain = np.fromfile(folder / f"{pose['pose']}__lbs.f32", dtype="<f4").reshape(-1, 3)
    worst = np.linalg.norm(frames["positions"][index] - expected, axis=1).max()
    moved = np.linalg.norm(expected - plain, axis=1).max()
    print(f"{pose['pose']}: worst {worst:.2e} m; the corrective moves {moved:.2e} m")
    failed |= not worst <= TOLERANCE
sys.exit(1 if failed else 0)
