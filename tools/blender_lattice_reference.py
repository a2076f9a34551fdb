"""Writes the table that the lattice tests compare with: what Blender's lattice modifier does.

Run with a Python that has Blender's module (`pip install bpy`):

    python tools/blender_lattice_reference.py > crates/sinew-deform/src/lattice/blender_reference.txt

The box is the cube from -1 to 1 with 4 x 3 x 5 control points. Control point (i, j, k) moves by
`0.3 * (sin(2 j + k + 1), cos(2.5 i) + 0.2 k, sin(3 i - j + k))`. Input points come from a small generator that the
test repeats; a third of them lie outside. Each line: interpolation, then for each point the three output
coordinates in units of 1e-5.
"""
import math
import sys

import bpy

RES = (4, 3, 5)
POINTS = 30


def inputs():
    state, out = 1, []
    for _ in range(POINTS):
        p = []
        for _ in range(3):
            state = (state * 1103515245 + 12345) % 2**31
            p.append((state / 2**31 * 2 - 1) * 1.25)
        out.append(tuple(p))
    return out


def run(kind):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    lattice = bpy.data.lattices.new("lattice")
    lattice.points_u, lattice.points_v, lattice.points_w = RES
    lattice.interpolation_type_u = lattice.interpolation_type_v = lattice.interpolation_type_w = kind
    cage = bpy.data.objects.new("cage", lattice)
    scene.collection.objects.link(cage)
    scale = [2 / (n - 1) for n in RES]
    cage.scale = scale
    for n, point in enumerate(lattice.points):
        i, j, k = n % RES[0], n // RES[0] % RES[1], n // (RES[0] * RES[1])
        move = (math.sin(2 * j + k + 1), math.cos(2.5 * i) + 0.2 * k, math.sin(3 * i - j + k))
        point.co_deform = [point.co[a] + 0.3 * move[a] / scale[a] for a in range(3)]
    mesh = bpy.data.meshes.new("mesh")
    mesh.from_pydata(inputs(), [], [])
    body = bpy.data.objects.new("body", mesh)
    scene.collection.objects.link(body)
    body.modifiers.new("lattice", "LATTICE").object = cage
    graph = bpy.context.evaluated_depsgraph_get()
    graph.update()
    return [tuple(v.co) for v in body.evaluated_get(graph).data.vertices]


sys.stdout.write("# Blender %s, tools/blender_lattice_reference.py\n" % bpy.app.version_string)
for name, kind in (("linear", "KEY_LINEAR"), ("cardinal", "KEY_CARDINAL"),
                   ("catmull_rom", "KEY_CATMULL_ROM"), ("bspline", "KEY_BSPLINE")):
    values = [round(c * 1e5) for p in run(kind) for c in p]
    sys.stdout.write(name + " " + " ".join(map(str, values)) + "\n")
