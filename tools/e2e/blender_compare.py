"""Compares what Blender shows of an animated GLB with the positions in an NPZ.

usage: python blender_compare.py FILE.glb FILE.npz [--fps 30] [--tolerance 1e-5] [--mesh NAME]

Imports the GLB into Blender's Python module, evaluates its meshes at the first, the middle and the last
frame of the NPZ (`positions` [frames, vertices, 3], `times` [frames] in seconds, `indices`) and measures the
largest distance between vertices. Exit status 1 where it exceeds the tolerance, a fraction of the diagonal
of the positions' bounding box.

With --mesh only the node of that name is compared. Strands (`strand_offsets`) must have become as many edges, too.

Blender's importer keeps the order of vertices within a primitive and of primitives within a mesh, but leaves
out vertices that no triangle uses; so do we, with the help of `indices`.
"""

import argparse
import json
import struct
import sys
from pathlib import Path

import bpy
import numpy as np


def mesh_nodes(path):
    """Names of the nodes that carry a mesh, in file order, with the primitive vertex counts."""
    data = Path(path).read_bytes()
    if data[:4] == b"glTF":
        (length,) = struct.unpack_from("<I", data, 12)
        data = data[20 : 20 + length]
    document = json.loads(data)
    found = []
    for node in document.get("nodes", []):
        if "mesh" in node:
            mesh = document["meshes"][node["mesh"]]
            name = node.get("name") or mesh.get("name")
            counts = [
                document["accessors"][p["attributes"]["POSITION"]]["count"] for p in mesh["primitives"]
            ]
            found.append((name, sum(counts)))
    return found


def import_objects(path, fps, only=None):
    """Blender's objects for the mesh nodes, in file order."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # Key times become frames with the rate that is set before importing.
    bpy.context.scene.render.fps = fps
    bpy.context.scene.render.fps_base = 1.0
    bpy.ops.import_scene.gltf(filepath=str(path), merge_vertices=False)
    nodes = [n for n in mesh_nodes(path) if only is None or n[0] == only]
    # Shapes of bones are in a collection of their own.
    own = lambda o: all(c.name != "glTF_not_exported" for c in o.users_collection)
    meshes = [o for o in bpy.context.scene.objects if o.type == "MESH" and own(o)]
    by_name = {o.name: o for o in meshes}
    if len({n for n, _ in nodes}) == len(nodes) and all(n in by_name for n, _ in nodes):
        return [by_name[n] for n, _ in nodes]
    # Unnamed or ambiguous nodes: the importer creates objects in the order of the tree.
    if len(meshes) != len(nodes):
        sys.exit(f"{path}: {len(nodes)} mesh nodes became {len(meshes)} Blender objects")
    return meshes


def evaluate(objects, frame):
    """Vertex positions of all objects at a (fractional) frame, in glTF axes."""
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=float(frame - whole))
    graph = bpy.context.evaluated_depsgraph_get()
    parts = []
    for item in objects:
        shown = item.evaluated_get(graph)
        mesh = shown.to_mesh()
        points = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
        mesh.vertices.foreach_get("co", points)
        matrix = np.array(shown.matrix_world, dtype=np.float64)
        points = points.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        parts.append(np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1))
        shown.to_mesh_clear()
    return np.concatenate(parts)


def used_vertices(archive, count):
    """Which vertices some triangle uses, in rising order."""
    if "indices" not in archive or "strand_offsets" in archive:
        return np.arange(count)
    return np.unique(archive["indices"].reshape(-1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("glb", type=Path)
    parser.add_argument("npz", type=Path)
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--mesh")
    options = parser.parse_args()

    archive = np.load(options.npz)
    positions = archive["positions"].astype(np.float64)
    frames = archive["times"].astype(np.float64) * options.fps
    # Times are stored in single precision; frames are whole where they are meant to be.
    frames = np.where(np.abs(frames - frames.round()) < 1e-3, frames.round(), frames)
    used = used_vertices(archive, positions.shape[1])
    expected = positions[:, used]
    diagonal = float(np.linalg.norm(np.ptp(positions[:, used].reshape(-1, 3), axis=0)))
    objects = import_objects(options.glb, options.fps, options.mesh)
    if "strand_offsets" in archive:
        segments = positions.shape[1] - (len(archive["strand_offsets"]) - 1)
        edges = sum(len(o.data.edges) for o in objects)
        if edges != segments:
            sys.exit(f"{options.glb}: Blender has {edges} edges, the strands {segments} segments")

    worst = 0.0
    for k in sorted({0, len(frames) // 2, len(frames) - 1}):
        found = evaluate(objects, frames[k])
        if found.shape != expected[k].shape:
            sys.exit(
                f"{options.glb}: Blender has {len(found)} vertices, the NPZ {expected.shape[1]}"
            )
        distance = np.linalg.norm(found - expected[k], axis=1)
        vertex = int(np.nanargmax(distance)) if len(distance) else 0
        largest = float(distance.max()) if np.isfinite(distance).all() else float("inf")
        worst = max(worst, largest / diagonal)
        print(
            f"{options.glb.name} frame {frames[k]:g}: {len(found)} vertices, largest difference "
            f"{largest:.3e} m at vertex {used[vertex]} ({largest / diagonal:.2e} of the diagonal)"
        )
    moved = float(np.abs(np.diff(expected, axis=0)).max()) if len(frames) > 1 else 0.0
    print(f"{options.glb.name}: worst {worst:.2e}, allowed {options.tolerance:.0e}, motion {moved:.3f} m")
    sys.exit(0 if worst <= options.tolerance else 1)


if __name__ == "__main__":
    main()
