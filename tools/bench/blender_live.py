"""What a frame costs in Blender: `PYTHON_WITH_BPY tools/bench/blender_live.py CHARACTER.glb`, with `sinew_deform` (a release build) installed.

Sets the scene to frame after frame, as playback does, and waits for the deformed mesh: first with Blender's armature modifier, then with
Sinew's linear skin, then with skin, delta mush (10 passes) and tangent frames. Prints medians of one run; compare them as ratios. Also
prints the time of one event while a bone is dragged.
"""

from __future__ import annotations

import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / "bindings" / "blender"))
import bpy
import sinew
import sinew_deform as sd
from mathutils import Euler
from sinew import live, modifier, nodes, operators

FRAMES = 120
GRAPHS = {
    "linear skin": sd.Graph.from_nodes("skin"),
    "skin, delta mush (10), tangent frames": sd.Graph.from_nodes("skin", sd.nodes.delta_mush(iterations=10), "tangent_frames"),
}


def frame_times(obj: bpy.types.Object) -> list[float]:
    """Milliseconds of each frame."""
    scene, out = bpy.context.scene, []
    for frame in range(FRAMES):
        start = time.perf_counter()
        scene.frame_set(frame % 60)
        obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append((time.perf_counter() - start) * 1e3)
    return out[10:]


def drag_times(armature: bpy.types.Object) -> list[float]:
    """Milliseconds of each event while a bone rotates."""
    bone, out = armature.pose.bones[len(armature.pose.bones) // 2], []
    bone.rotation_mode = "XYZ"
    for step in range(FRAMES):
        bone.rotation_euler = Euler((step * 0.01, 0.0, 0.0))
        start = time.perf_counter()
        bpy.context.view_layer.update()
        bpy.context.view_layer.update()
        out.append((time.perf_counter() - start) * 1e3)
    return out[10:]


def main(path: str) -> None:
    """Measures one character."""
    sinew.register()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_scene.gltf(filepath=path)
    skinned = [o for o in bpy.data.objects if o.type == "MESH" and any(m.type == "ARMATURE" for m in o.modifiers)]
    obj = max(skinned, key=lambda o: len(o.data.vertices))
    bpy.context.view_layer.objects.active = obj
    print(f"{pathlib.Path(path).name}: {len(obj.data.vertices)} vertices, {len(obj.find_armature().data.bones)} bones")
    own = statistics.median(frame_times(obj))
    print(f"  {own:6.2f} ms  Blender's armature modifier")
    for name, graph in GRAPHS.items():
        tree = nodes.from_document(__import__("json").loads(graph.text), name)
        if modifier.find(obj) is None:
            operators.add(obj, tree, bpy.context.scene)
        else:
            obj.sinew.tree = tree
        bpy.context.view_layer.update()
        assert not live.message(obj), live.message(obj)
        found = statistics.median(frame_times(obj))
        bound = live.session(obj)
        start = time.perf_counter()
        for tick in range(FRAMES):
            bound.player.advance_posed(tick, bound.last.matrices, bound.bones.joints, space="skin")
        engine = (time.perf_counter() - start) / FRAMES * 1e3
        print(f"  {found:6.2f} ms  {name} ({found / own:.2f} x); Sinew alone {engine:.2f} ms")
    print(f"  {statistics.median(drag_times(obj.sinew.armature)):6.2f} ms  an event while a bone is dragged")


if __name__ == "__main__":
    main(sys.argv[-1])
