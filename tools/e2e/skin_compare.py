"""Holds the claims of a baked skin against Blender: its own linear skinning of the imported file, compared with the graph's frames.

usage: python skin_compare.py BAKED.glb ALTERED.glb FRAMES.npz REPORT.json --clip NAME [--fps 30] [--slack 0.002]

Imports the GLB into Blender's Python module, plays the clip frame by frame, and measures root mean square and largest distance between Blender's
vertices and `positions` of the NPZ (frames of the graph, `times` in seconds). Exit status 1 where they differ from what REPORT.json says of the clip by
more than the slack (a share, plus what single precision loses at the size of the character: all of it of the largest distance, and of the root mean square
what noise of that size adds in square). Claims of a tenth less, and the file with altered weights (`skin_tamper.py`), must not fit.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from blender_compare import evaluate, used_vertices

import bpy


def import_skinned(path, fps):
    """Blender's objects that an armature deforms, in the order of their creation: what it makes for bones is left out."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = fps
    bpy.context.scene.render.fps_base = 1.0
    bpy.ops.import_scene.gltf(filepath=str(path), merge_vertices=False)
    meshes = [o for o in bpy.context.scene.objects if o.type == "MESH"]
    return [o for o in meshes if any(m.type == "ARMATURE" for m in o.modifiers)]


def holders():
    """All that has animation data: objects and shape keys."""
    for item in bpy.data.objects:
        if item.animation_data:
            yield item.animation_data
    for keys in bpy.data.shape_keys:
        if keys.animation_data:
            yield keys.animation_data


def play(clip):
    """Plays one clip alone. Strips begin at frame 1 whatever their first key is, so the clip's action plays by itself."""
    found = 0
    for data in holders():
        strips = [(t.name, s) for t in data.nla_tracks for s in t.strips]
        for track in data.nla_tracks:
            track.mute = True
        data.action = None
        for name, strip in strips:
            if name == clip:
                data.action = strip.action
                data.action_slot = strip.action_slot
                found += 1
    if not found:
        names = sorted({t.name for d in holders() for t in d.nla_tracks})
        sys.exit(f"Blender has no clip '{clip}'; it has {names}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("glb", type=Path)
    parser.add_argument("altered", type=Path)
    parser.add_argument("npz", type=Path)
    parser.add_argument("report", type=Path)
    parser.add_argument("--clip", required=True)
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--slack", type=float, default=0.002)
    options = parser.parse_args()

    clips = json.loads(options.report.read_text())["clips"]
    claims = [c for c in clips if c["name"] == options.clip and c["clip"] is not None and not c["held_out"]]
    if len(claims) != 1:
        sys.exit(f"{options.report} has {len(claims)} entries of clip '{options.clip}', expected 1")
    claim = claims[0]
    archive = np.load(options.npz)
    positions = archive["positions"].astype(np.float64)
    frames = (archive["times"].astype(np.float64) * options.fps).round().astype(int)
    used = used_vertices(archive, positions.shape[1])
    diagonal = float(np.linalg.norm(np.ptp(positions.reshape(-1, 3), axis=0)))
    # Blender computes in single precision.
    rounding = 1e-3 + 1e3 * 4e-6 * diagonal

    def measured(glb):
        objects = import_skinned(glb, options.fps)
        play(options.clip)
        squares, largest, count = 0.0, 0.0, 0
        for frame, expected in zip(frames, positions[:, used]):
            found = evaluate(objects, float(frame))
            if found.shape != expected.shape:
                sys.exit(f"{glb}: Blender has {len(found)} vertices, the NPZ {len(expected)}")
            distance = ((found - expected) ** 2).sum(axis=1)
            squares += float(distance.sum())
            count += len(distance)
            largest = max(largest, float(np.sqrt(distance.max())))
        return 1e3 * np.sqrt(squares / count), 1e3 * largest

    def fits(found, share=1.0):
        (rms, largest), (said_rms, said_largest) = found, (share * claim["rms_mm"], share * claim["largest_mm"])
        noise = np.hypot(said_rms, rounding) - said_rms
        return abs(largest - said_largest) <= said_largest * options.slack + rounding and abs(rms - said_rms) <= said_rms * options.slack + noise

    rms, largest = found = measured(options.glb)
    print(
        f"{options.glb.name} clip {options.clip}: Blender's skinning is off by {rms:.4f} mm rms, {largest:.4f} mm at most; "
        f"claimed {claim['rms_mm']:.4f} and {claim['largest_mm']:.4f} (source: {claim['source_rms_mm']:.4f} and {claim['source_largest_mm']:.4f})"
    )
    if not fits(found):
        sys.exit("Error: the claims do not hold")
    if fits(found, 0.9):
        sys.exit("Error: claims of a tenth less are not noticed")
    if fits(measured(options.altered)):
        sys.exit("Error: altered weights are not noticed")


if __name__ == "__main__":
    main()
