"""Times Blender's modifiers on the arm of the benchmarks: 49 922 vertices, four bones, four influences a vertex.

    taskset -c 1 PYTHON tools/bench/blender.py      PYTHON: 3.11 with bpy 5.0.1 and numpy, as .ci/run sets it up

A figure is the median time of `scene.frame_set`: animation, dependency graph and modifiers, without normals, which
Blender computes later. What it costs without any modifier is printed too.
"""

import math
import statistics
import time

import bpy
import numpy as np

AROUND, RINGS, LENGTH = 160, 312, 0.70
HEADS = np.array([0.0, 0.30, 0.45, 0.58])
TAILS = np.append(HEADS[1:], LENGTH)
FRAMES = 30


def arm():
    """Positions, triangles and weights: the arm of crates/sinew-deform/benches/bench/common/arm.rs."""
    s = np.repeat((np.arange(RINGS) + 0.5) / RINGS * LENGTH, AROUND)
    a = np.tile(np.arange(AROUND) / AROUND * 2 * np.pi, RINGS)
    end = np.minimum(np.minimum(s, LENGTH - s) / 0.05, 1)
    cap = np.sqrt(np.maximum(1 - (1 - end) ** 2, 1e-6))
    wrinkle = 0.03 * np.sin(3 * a - 40 * s) + 0.008 * np.sin(11 * a + 130 * s)
    r = 0.05 * cap * (1 + 0.06 * np.cos(2 * a + 5 * s) + wrinkle)
    positions = np.stack([s, r * np.cos(a), r * np.sin(a)], -1)
    positions = np.concatenate([positions, [[0, 0, 0], [LENGTH, 0, 0]]])
    i, j = np.meshgrid(np.arange(RINGS - 1), np.arange(AROUND), indexing="ij")
    a, b = i * AROUND + j, i * AROUND + (j + 1) % AROUND
    c, d = b + AROUND, a + AROUND
    even = ((i + j) % 2 == 0)[..., None]
    first = np.where(even, np.stack([a, b, c], -1), np.stack([a, b, d], -1))
    second = np.where(even, np.stack([a, c, d], -1), np.stack([b, c, d], -1))
    j = np.arange(AROUND)
    k, last, n = (j + 1) % AROUND, (RINGS - 1) * AROUND, AROUND * RINGS
    caps = [np.stack([np.full(AROUND, n), k, j], -1), np.stack([np.full(AROUND, n + 1), last + j, last + k], -1)]
    triangles = np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3), *caps])
    x = positions[:, 0][:, None]
    distance = np.maximum(np.maximum(HEADS - x, x - TAILS), 0)
    weights = (distance**2 + 9e-4) ** -2
    return positions, triangles, weights / weights.sum(1, keepdims=True)


def new_object(positions, triangles):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    mesh = bpy.data.meshes.new("arm")
    mesh.from_pydata(positions.tolist(), [], triangles.tolist())
    mesh.shade_smooth()
    thing = bpy.data.objects.new("arm", mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def add_rig(thing, weights):
    data = bpy.data.armatures.new("rig")
    rig = bpy.data.objects.new("rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for index, (head, tail) in enumerate(zip(HEADS, TAILS)):
        bone = data.edit_bones.new(f"bone_{index}")
        bone.head, bone.tail, bone.parent = (head, 0, 0), (tail, 0, 0), parent
        parent = bone
        group = thing.vertex_groups.new(name=bone.name)
        for vertex, weight in enumerate(weights[:, index].tolist()):
            group.add([vertex], weight, "REPLACE")
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
        for frame in (0, FRAMES):
            bone.rotation_euler = (0.1, 0.05, 0.2 + 0.5 * frame / FRAMES)
            bone.keyframe_insert("rotation_euler", frame=frame)
    return rig


def report(name, count):
    times = []
    for frame in list(range(4)) + list(range(FRAMES)):
        begun = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        times.append(time.perf_counter() - begun)
    median = statistics.median(times[4:])
    print(f"{name:45} {median * 1e3:8.3f} ms {median * 1e9 / count:7.1f} ns a vertex", flush=True)


def rigged(positions, triangles, weights):
    thing = new_object(positions, triangles)
    rig = add_rig(thing, weights)
    skin = thing.modifiers.new("skin", "ARMATURE")
    skin.object = rig
    skin.show_viewport = False
    report("no modifier", len(positions))
    skin.show_viewport = True
    report("armature", len(positions))
    skin.use_deform_preserve_volume = True
    report("armature, preserve volume", len(positions))
    skin.use_deform_preserve_volume = False
    rig.data.pose_position = "REST"
    bpy.context.view_layer.update()
    for kind in ("SIMPLE", "LENGTH_WEIGHTED"):
        smooth = thing.modifiers.new(kind, "CORRECTIVE_SMOOTH")
        smooth.smooth_type, smooth.iterations, smooth.factor = kind, 8, 0.5
        smooth.rest_source = "BIND"
        with bpy.context.temp_override(object=thing, active_object=thing):
            bpy.ops.object.correctivesmooth_bind(modifier=smooth.name)
        smooth.show_viewport = False
    rig.data.pose_position = "POSE"
    for kind in ("SIMPLE", "LENGTH_WEIGHTED"):
        thing.modifiers[kind].show_viewport = True
        report(f"armature + corrective smooth x8, {kind.lower()}", len(positions))
        thing.modifiers[kind].show_viewport = False


def lattice(positions, triangles, resolution):
    thing = new_object(positions, triangles)
    data = bpy.data.lattices.new("cage")
    data.points_u = data.points_v = data.points_w = resolution
    data.interpolation_type_u = data.interpolation_type_v = data.interpolation_type_w = "KEY_BSPLINE"
    cage = bpy.data.objects.new("cage", data)
    bpy.context.scene.collection.objects.link(cage)
    low, high = positions.min(0), positions.max(0)
    cage.location, cage.scale = (low + high) / 2, (high - low) * 1.02
    for index, point in enumerate(data.points):
        point.co_deform.z += 0.1 * math.sin(index)
    for frame in (0, FRAMES):
        cage.location.z = frame * 1e-3
        cage.keyframe_insert("location", index=2, frame=frame)
    thing.modifiers.new("cage", "LATTICE").object = cage
    report(f"lattice {resolution}x{resolution}x{resolution}, B-spline", len(positions))


def stretch(positions, triangles):
    thing = new_object(positions, triangles)
    modifier = thing.modifiers.new("stretch", "SIMPLE_DEFORM")
    modifier.deform_method, modifier.deform_axis = "STRETCH", "X"
    for frame in (0, FRAMES):
        modifier.factor = 0.1 + 0.01 * frame
        thing.keyframe_insert('modifiers["stretch"].factor', frame=frame)
    report("stretch", len(positions))


def main():
    print("Blender", bpy.app.version_string)
    positions, triangles, weights = arm()
    rigged(positions, triangles, weights)
    lattice(positions, triangles, 4)
    lattice(positions, triangles, 8)
    stretch(positions, triangles)


main()
