"""A bake for game engines, and a picture as an array.

Run: python 04_bake_and_render.py FOLDER
"""

import sys
from pathlib import Path

import sinew_deform as sd

folder = Path(sys.argv[1])

ball = sd.Character.sample("ball")
report = sd.bake_vat(ball, output=folder / "bake", frames=range(24), mode="soft", force=True)
for event in report.events[-1:]:
    print(event["message"])
print("files:", len(list((folder / "bake").iterdir())))

if sd.adapters():
    pixels = sd.render(ball, frames=8, size=(320, 240))
    print("picture:", pixels.shape, "mean", int(pixels[..., :3].mean()))
else:
    print("no GPU: no picture")
