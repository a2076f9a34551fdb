# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes animations of Blender to vertex textures, with what players must show: `player_bakes.py FOLDER`, then `vat_browser.mjs FOLDER`.

The truth are the evaluated meshes of Blender: a cone by geometry nodes whose vertices change from frame to frame, and cloth.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

# First: it chooses Blender's folder of the user.
from conftest import activate  # isort: skip

import bpy
import numpy as np

FRAMES = 9


def changing(name: str, is_smooth: bool) -> bpy.types.Object:
    """A cone with more sides in each frame, tilted and grown: no frame is its own mirror image."""
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    new, link = group.nodes.new, group.links.new
    time, sides, cone = new("GeometryNodeInputSceneTime"), new("ShaderNodeMath"), new("GeometryNodeMeshCone")
    sides.operation, sides.inputs[1].default_value = "ADD", 5.0
    place, smooth, out = new("GeometryNodeTransform"), new("GeometryNodeSetShadeSmooth"), new("NodeGroupOutput")
    smooth.inputs["Shade Smooth"].default_value = is_smooth
    place.inputs["Translation"].default_value = (0.3, -0.2, 0.1)
    place.inputs["Rotation"].default_value = (0.4, 0.3, 0.2)
    place.inputs["Scale"].default_value = (0.5, 0.7, 0.6)
    link(time.outputs["Frame"], sides.inputs[0])
    link(sides.outputs[0], cone.inputs["Vertices"])
    link(cone.outputs["Mesh"], place.inputs["Geometry"])
    link(place.outputs[0], smooth.inputs["Geometry"])
    link(smooth.outputs[0], out.inputs[0])
    obj = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    bpy.context.collection.objects.link(obj)
    obj.modifiers.new("Cone", "NODES").node_group = group
    return obj


def cloth() -> bpy.types.Object:
    """A cloth that hangs at one corner and falls."""
    count = 12
    verts = [(x / count - 0.3, y / count - 0.6, 0.8 + 0.02 * x) for y in range(count) for x in range(count)]
    faces = [(r * count + c, r * count + c + 1, (r + 1) * count + c + 1, (r + 1) * count + c) for r in range(count - 1) for c in range(count - 1)]
    mesh = bpy.data.meshes.new("Cloth")
    mesh.from_pydata(verts, [], faces)
    mesh.shade_smooth()
    obj = bpy.data.objects.new("blender_cloth", mesh)
    bpy.context.collection.objects.link(obj)
    obj.vertex_groups.new(name="pins").add([0, 1, count, count + 1], 1.0, "REPLACE")
    settings = obj.modifiers.new("Cloth", "CLOTH").settings
    settings.vertex_group_mass = "pins"
    obj.modifiers["Cloth"].point_cache.frame_end = FRAMES + 1
    return obj


def triangles(obj: bpy.types.Object) -> list[float]:
    """What Blender shows in this frame: position and normal of each corner, Y up."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh, world = evaluated.data, np.array(evaluated.matrix_world)
    mesh.calc_loop_triangles()
    vertices, loops = (np.array([getattr(t, name) for t in mesh.loop_triangles]) for name in ("vertices", "loops"))
    places = np.array([v.co for v in mesh.vertices]) @ world[:3, :3].T + world[:3, 3]
    normals = np.array([n.vector for n in mesh.corner_normals]) @ world[:3, :3].T
    both = [np.stack([a[:, 0], a[:, 2], -a[:, 1]], axis=1)[i] for a, i in ((places, vertices), (normals, loops))]
    return np.concatenate(both, axis=2).reshape(-1).round(6).tolist()


def bake(obj: bpy.types.Object, folder: Path, mode: str) -> None:
    """One bake, and what it must show in three frames."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 24, 1, FRAMES
    views = {0: "top", FRAMES // 2: "top", FRAMES - 1: "side"}
    shots = []
    for frame in range(FRAMES):
        scene.frame_set(frame + 1)
        if frame in views:
            shots.append({"query": f"frame={frame}", "view": views[frame], "triangles": triangles(obj), "moment": frame})
    activate(obj)
    folder = folder / obj.name
    bpy.ops.sinew.bake_vat(folder=str(folder), mode=mode, engine="three")
    expected = {"shots": shots, "samples": [], "fields": [], "attributes": []}
    (folder / "expected.json").write_text(json.dumps(expected), encoding="utf-8")


def main(folder: Path) -> None:
    """All bakes."""
    for name, is_smooth in (("blender_cone", True), ("blender_cone_flat", False)):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bake(changing(name, is_smooth), folder, "remesh")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bake(cloth(), folder, "soft")


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
