"""Compares the silhouette of a picture by `sinew render` with what Blender's camera sees.

usage: python blender_silhouette.py FILE.glb PICTURE.png --frame N --eye X,Y,Z --target X,Y,Z --fov DEGREES [--fps 30]

Imports the GLB into Blender's Python module, sets the frame and a camera with the same place, target and vertical angle of view, and
projects all vertices. Each must lie within one pixel of a pixel that the picture covers (alpha at least one half), and the box
around the covered pixels must be that around the vertices within one pixel on every side. Exit status 1 otherwise.
"""

import argparse
import sys
from pathlib import Path

import bpy
import numpy as np
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector

from blender_compare import import_objects


def numbers(text):
    x, y, z = (float(part) for part in text.split(","))
    # glTF has Y up, Blender has Z up.
    return Vector((x, -z, y))


def make_camera(options, width, height):
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = width, height
    scene.render.resolution_percentage = 100
    camera = bpy.data.objects.new("judge", bpy.data.cameras.new("judge"))
    camera.data.sensor_fit = "VERTICAL"
    camera.data.angle = np.radians(options.fov)
    camera.location = options.eye
    camera.rotation_euler = (options.target - options.eye).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    bpy.context.view_layer.update()
    return camera


def projected(objects, camera, width, height):
    """Pixel coordinates of all vertices, x to the right and y down."""
    graph = bpy.context.evaluated_depsgraph_get()
    out = []
    for item in objects:
        shown = item.evaluated_get(graph)
        mesh = shown.to_mesh()
        for vertex in mesh.vertices:
            at = world_to_camera_view(bpy.context.scene, camera, shown.matrix_world @ vertex.co)
            out.append((at.x * width, (1.0 - at.y) * height))
        shown.to_mesh_clear()
    return np.array(out)


def covered_near(mask):
    """Pixels with a covered one among their nine."""
    padded = np.pad(mask, 1)
    height, width = mask.shape
    shifts = [padded[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    return np.any(shifts, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("glb", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--frame", type=int, required=True)
    parser.add_argument("--eye", type=numbers, required=True)
    parser.add_argument("--target", type=numbers, required=True)
    parser.add_argument("--fov", type=float, required=True)
    parser.add_argument("--fps", type=int, default=30)
    options = parser.parse_args()

    objects = import_objects(options.glb, options.fps)
    bpy.context.scene.frame_set(options.frame)
    image = bpy.data.images.load(str(options.picture.resolve()))
    width, height = image.size
    alpha = np.array(image.pixels[:], dtype=np.float32).reshape(height, width, 4)[::-1, :, 3]
    mask = alpha >= 0.5

    points = projected(objects, make_camera(options, width, height), width, height)
    inside = (points > 0).all(axis=1) & (points < [width, height]).all(axis=1)
    pixels = points[inside].astype(int)
    near = covered_near(mask)
    missed = int((~near[pixels[:, 1], pixels[:, 0]]).sum())
    rows, columns = np.nonzero(mask)
    box = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
    expected = np.concatenate([points.min(axis=0), points.max(axis=0)])
    off = float(np.abs(box - expected).max())
    print(
        f"{options.glb.name} frame {options.frame}: {len(points)} vertices, {missed} farther than a pixel "
        f"from the {len(rows)} covered ones, box off by {off:.2f} pixels"
    )
    sys.exit(0 if inside.all() and missed == 0 and off <= 1.0 else 1)


main()
