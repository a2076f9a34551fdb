# SPDX-License-Identifier: GPL-3.0-or-later
"""What several tests use. They run in Blender's Python module. SINEW_EXTENSION names the zip of the extension; without it, the source
folder is used, with the package `sinew_deform` from the path."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Before Blender starts: no file of the user is read or written.
os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="blender_user_")

import bpy
import numpy as np
import numpy.typing as npt
import pytest

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
SHARED = REPOSITORY.parent / "shared" / "data"
EXTENSION = os.environ.get("SINEW_EXTENSION")
MODULE = "bl_ext.user_default.sinew" if EXTENSION else "sinew"


def _install() -> None:
    if EXTENSION:
        bpy.ops.extensions.package_install_files(filepath=EXTENSION, repo="user_default", enable_on_install=True)
        # Tests say `import sinew` in both cases.
        sys.modules["sinew"] = sys.modules[MODULE]
        for name, module in list(sys.modules.items()):
            if name.startswith(MODULE + "."):
                sys.modules["sinew" + name[len(MODULE) :]] = module
    else:
        sys.path.insert(0, str(HERE.parent))
        import sinew

        sinew.register()


_install()
import sinew_deform as sd


@pytest.fixture(scope="session", autouse=True)
def taken_back() -> Iterator[None]:
    """Blender 4.2 crashes at its end while classes are registered."""
    yield
    if EXTENSION:
        bpy.ops.preferences.addon_disable(module=MODULE)
    else:
        sys.modules["sinew"].unregister()


def skip(reason: str) -> None:
    """Skips the test; the checks look for the word."""
    print(f"skipped: {reason}")
    pytest.skip(reason)


def shared(name: str) -> str:
    """A real asset."""
    path = SHARED / name
    if not path.exists():
        skip(f"{path} is not there")
    return str(path)


@pytest.fixture(autouse=True)
def empty_file() -> Iterator[None]:
    """Each test starts with an empty file."""
    from sinew import live

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.preferences.edit.use_global_undo = True
    live.on_load()
    yield


@pytest.fixture
def scene() -> bpy.types.Scene:
    """The scene of the empty file."""
    return bpy.context.scene


def activate(obj: bpy.types.Object) -> bpy.types.Object:
    """Makes an object the only selected and active one."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
    return obj


def positions(obj: bpy.types.Object) -> npt.NDArray[np.float32]:
    """(n, 3) vertices as Blender shows them, in the space of the object."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    data = obj.evaluated_get(depsgraph).data
    points, key = (data.points, "position") if obj.type == "CURVES" else (data.vertices, "co")
    flat = np.empty(len(points) * 3, np.float32)
    points.foreach_get(key, flat)
    return flat.reshape(-1, 3)


def box(points: npt.NDArray[np.float32]) -> float:
    """Longest side of the bounding box."""
    return float(np.ptp(points, axis=0).max())


def deformed_by_armature() -> bpy.types.Object:
    """The mesh of an imported character."""
    found = [o for o in bpy.data.objects if o.type == "MESH" and any(m.type == "ARMATURE" for m in o.modifiers)]
    return activate(max(found, key=lambda o: len(o.data.vertices)))


def import_glb(path: str) -> bpy.types.Object:
    """Imports a character, and gives its largest mesh."""
    bpy.ops.import_scene.gltf(filepath=path)
    return deformed_by_armature()


def tube(rings: int = 17, sides: int = 16, length: float = 2.0, radius: float = 0.3) -> bpy.types.Object:
    """A tube along z with two bones that share the middle, as a user would make it."""
    angles = np.arange(sides) / sides * 2 * np.pi
    heights = np.linspace(0, length, rings)
    verts = [(radius * np.cos(a), radius * np.sin(a), h) for h in heights for a in angles]
    faces = [
        (r * sides + s, r * sides + (s + 1) % sides, (r + 1) * sides + (s + 1) % sides, (r + 1) * sides + s)
        for r in range(rings - 1)
        for s in range(sides)
    ]
    mesh = bpy.data.meshes.new("tube")
    mesh.from_pydata(verts, [], faces)
    obj = bpy.data.objects.new("Tube", mesh)
    bpy.context.collection.objects.link(obj)
    armature = two_bones(length)
    for name in ("lower", "upper"):
        obj.vertex_groups.new(name=name)
    for i, v in enumerate(verts):
        upper = float(np.clip((v[2] / length - 0.4) / 0.2, 0, 1))
        obj.vertex_groups["lower"].add([i], 1 - upper, "REPLACE")
        obj.vertex_groups["upper"].add([i], upper, "REPLACE")
    obj.parent = armature
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    return activate(obj)


def two_bones(length: float = 2.0) -> bpy.types.Object:
    """An armature of two bones along z."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    lower = armature.data.edit_bones.new("lower")
    lower.head, lower.tail = (0, 0, 0), (0, 0, length / 2)
    upper = armature.data.edit_bones.new("upper")
    upper.head, upper.tail, upper.parent = lower.tail, (0, 0, length), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def bend(armature: bpy.types.Object, degrees: float, bone: str = "upper") -> None:
    """Rotates a bone about its x axis."""
    pose = armature.pose.bones[bone]
    pose.rotation_mode = "XYZ"
    pose.rotation_euler = (np.radians(degrees), 0.0, 0.0)
    bpy.context.view_layer.update()


def add(obj: bpy.types.Object, document: dict | str = "skin") -> bpy.types.NodeTree:
    """Adds Sinew with a preset or a document."""
    activate(obj)
    if isinstance(document, str):
        bpy.ops.sinew.add(preset=f"preset:{document}")
    else:
        from sinew import nodes, operators

        operators.add(obj, nodes.from_document(document, "test"), bpy.context.scene)
        bpy.context.view_layer.update()
    return obj.sinew.tree


def nodes_of(*stack: object) -> dict:
    """A document with a stack."""
    return json.loads(sd.Graph.from_nodes(*stack).text)


def truth(obj: bpy.types.Object) -> str:
    """Why an object is not deformed; empty if it is."""
    from sinew import live

    return live.message(obj)
