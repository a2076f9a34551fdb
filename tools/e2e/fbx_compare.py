"""Compares FBX files that Blender writes with their GLB: as Sinew plays both, and as Blender imports the FBX.

usage: python fbx_compare.py SINEW CHARACTER.glb OUT [--fps 30] [--clips 3] [--tolerance 1e-5]

Imports the GLB into Blender, and exports it as FBX with several units, axes and scales. Sinew evaluates both files
at the first, a middle and the last frame of the clips (morph targets, linear skinning). Vertices are matched by
their rest positions, in both directions. Then Blender imports each FBX, and its vertices are compared with Sinew's.
Exit status 1 where a distance exceeds the tolerance, a fraction of the diagonal of the bounding box.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils.kdtree import KDTree

# Name, options of the exporter, size of the result relative to the GLB, scale of the armature before the export.
VARIATIONS = [
    ("plain", {}, 1.0, 1.0),
    ("metres_z_up", {"apply_scale_options": "FBX_SCALE_ALL", "axis_up": "Z", "axis_forward": "Y"}, 1.0, 1.0),
    ("units", {"apply_scale_options": "FBX_SCALE_UNITS", "axis_up": "X", "axis_forward": "Y"}, 1.0, 1.0),
    ("no_units", {"apply_unit_scale": False, "global_scale": 0.01}, 0.01, 1.0),
    ("small_armature", {}, 0.01, 0.01),
    ("large_armature", {"apply_scale_options": "FBX_SCALE_ALL"}, 100.0, 100.0),
]


def load(path, fps):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = fps
    bpy.context.scene.render.fps_base = 1.0
    if path.suffix == ".fbx":
        bpy.ops.wm.fbx_import(filepath=str(path))
    else:
        bpy.ops.import_scene.gltf(filepath=str(path), disable_bone_shape=True)


def export(source, path, fps, clip, frames, options, scale):
    load(source, fps)
    play(clip)
    # Actions of shape keys are not exported one by one: they become the take of the scene.
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = frames
    if scale != 1.0:
        for o in bpy.context.scene.objects:
            if o.parent is None:
                o.scale = [c * scale for c in o.scale]
                o.location = [c * scale for c in o.location]
    bpy.ops.export_scene.fbx(
        filepath=str(path),
        bake_anim_simplify_factor=0.0,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=not bpy.data.shape_keys,
        add_leaf_bones=False,
        **options,
    )


def sinew(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"sinew {' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def clips_of(program, path):
    report = json.loads(sinew(program, "inspect", path, "--json"))
    return {c["name"]: (c["start_secs"], c["end_secs"]) for c in report["clips"]}


def evaluated(program, path, graph, out, clip, frames, fps):
    """Positions [frames, vertices, 3] of all meshes."""
    target = out / "frames.npz"
    arguments = ["run", path, "--graph", graph, "-o", target, "--fps", fps, "--force"]
    arguments += ["--clip", clip] if clip else []
    found = []
    for frame in frames:
        sinew(program, *arguments, "--frames", frame)
        found.append(np.load(target)["positions"][0].astype(np.float64))
    return np.array(found)


def nearest(rest_a, a, rest_b, b, size):
    """Largest distance between each vertex of a and the best vertex of b at the same rest position."""
    tree = KDTree(len(rest_b))
    for i, p in enumerate(rest_b):
        tree.insert(p, i)
    tree.balance()
    worst = 0.0
    for i, p in enumerate(rest_a):
        near = [k for _, k, _ in tree.find_range(p, 2e-6 * size)] or [tree.find(p)[1]]
        off = min(max(np.linalg.norm(a[:, i] - b[:, k], axis=1).max(), np.linalg.norm(p - rest_b[k])) for k in near)
        worst = max(worst, off)
    return worst / size


def blender_positions():
    """All vertices of all meshes as Blender shows them, Y up."""
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for o in sorted((o for o in bpy.context.scene.objects if o.type == "MESH"), key=lambda o: o.name):
        mesh = o.evaluated_get(graph).to_mesh()
        points = np.empty(len(mesh.vertices) * 3, np.float32)
        mesh.vertices.foreach_get("co", points)
        matrix = np.array(o.evaluated_get(graph).matrix_world, np.float64)
        points = points.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        found.append(np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1))
    return np.concatenate(found)


def blender_rest():
    for o in bpy.data.objects:
        if o.type == "ARMATURE":
            o.data.pose_position = "REST"
    keys = [o.data.shape_keys for o in bpy.data.objects if o.type == "MESH" and o.data.shape_keys]
    # The rest mesh is the basis; weights of the file count as a pose.
    muted = [(b, b.mute) for k in keys for b in k.key_blocks]
    for block, _ in muted:
        block.mute = True
    bpy.context.view_layer.update()
    found = blender_positions()
    for block, was in muted:
        block.mute = was
    for o in bpy.data.objects:
        if o.type == "ARMATURE":
            o.data.pose_position = "POSE"
    return found


def play(name):
    """Gives each animated object, and each mesh with shape keys, its action of this name."""
    for action in bpy.data.actions:
        if action.name.split("|")[-1].split(".")[0] != name and action.name != name:
            continue
        for owner in [*bpy.data.objects, *bpy.data.shape_keys]:
            for slot in action.slots:
                kind = "KEY" if isinstance(owner, bpy.types.Key) else "OBJECT"
                if slot.target_id_type == kind and slot.name_display in (owner.name, getattr(owner, "user", owner).name):
                    owner.animation_data_create().action = action
                    owner.animation_data.action_slot = slot


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sinew")
    parser.add_argument("glb", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--clips", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--variations", type=int, default=len(VARIATIONS))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rest_graph, graph = args.out / "rest.json", args.out / "play.json"
    rest_graph.write_text('{"sinew": "1.0", "stack": []}')
    has_targets = b"targetNames" in args.glb.read_bytes()
    nodes = '["morph", {"node": "skin", "method": "linear"}]' if has_targets else '[{"node": "skin", "method": "linear"}]'
    graph.write_text(f'{{"sinew": "1.0", "stack": {nodes}}}')
    clips = clips_of(args.sinew, args.glb)
    names = list(clips)[: args.clips]
    rest = evaluated(args.sinew, args.glb, rest_graph, args.out, None, [0], args.fps)[0]
    wrong = 0
    for variation, options, scale, armature in VARIATIONS[: args.variations]:
        path = args.out / f"{args.glb.stem}_{variation}.fbx"
        frames = [round(c * args.fps) for c in clips[names[0]]]
        export(args.glb, path, args.fps, names[0], frames, options, armature)
        found = clips_of(args.sinew, path)
        fbx_rest = evaluated(args.sinew, path, rest_graph, args.out, None, [0], args.fps)[0]
        size = np.linalg.norm(np.ptp(fbx_rest, axis=0))
        played = {}
        for clip in names:
            # Whole frames: both files have keys there.
            count = int((clips[clip][1] - clips[clip][0]) * args.fps + 1e-3)
            offsets = sorted({0, count // 3 + 1, count // 2, count * 3 // 4, count})
            take = clip if clip in found else "Scene"
            starts = [round(c[0] * args.fps) for c in (clips[clip], found[take])]
            glb = scale * evaluated(args.sinew, args.glb, graph, args.out, clip, [starts[0] + k for k in offsets], args.fps)
            fbx = evaluated(args.sinew, path, graph, args.out, take, [starts[1] + k for k in offsets], args.fps)
            played[take] = (starts[1], offsets, fbx)
            off = max(nearest(scale * rest, glb, fbx_rest, fbx, size), nearest(fbx_rest, fbx, scale * rest, glb, size))
            moved = np.abs(glb - scale * rest).max() / size
            wrong += off > args.tolerance or moved < 1e-3
            print(f"worst {off:.1e} of the box: {path.name}, clip {clip}, FBX against GLB, which moves by {moved:.2f}, frames {offsets}")
        load(path, args.fps)
        import_rest = blender_rest()
        for clip, (start, offsets, fbx) in played.items():
            play(clip)
            shown = []
            for k in offsets:
                # Blender's importer puts the time 0 on frame 1.
                bpy.context.scene.frame_set(start + k + 1)
                shown.append(blender_positions())
            off = nearest(import_rest, np.array(shown), fbx_rest, fbx, size)
            wrong += off > args.tolerance
            print(f"worst {off:.1e} of the box: {path.name}, clip {clip}, Blender's import against Sinew")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
