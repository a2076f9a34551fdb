# SPDX-License-Identifier: GPL-3.0-or-later
"""Lattice nodes against Blender's own Lattice modifier."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from conftest import activate, add, bend, positions, truth, tube
from sinew.tools import graphs, lattice


def ball() -> bpy.types.Object:
    """A sphere that stands askew."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=12, radius=0.8)
    obj = bpy.context.object
    obj.location, obj.rotation_euler, obj.scale = (0.5, -0.3, 1.0), (0.3, 0.5, -0.2), (1.2, 0.9, 1.0)
    bpy.context.view_layer.update()
    return obj


def cage(points: tuple[int, int, int] = (3, 4, 2), kind: str = "KEY_BSPLINE", seed: int = 1, size: float = 1.3) -> bpy.types.Object:
    """A lattice whose points were moved."""
    made = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    bpy.context.collection.objects.link(made)
    data = made.data
    data.points_u, data.points_v, data.points_w = points
    data.interpolation_type_u = data.interpolation_type_v = data.interpolation_type_w = kind
    made.location, made.rotation_euler = (0.6, -0.2, 1.1), (0.1, -0.4, 0.3)
    made.scale = (size, size * 1.1, size * 0.9)
    rng = np.random.default_rng(seed)
    for point in data.points:
        point.co_deform = np.array(point.co_deform) + rng.uniform(-0.2, 0.2, 3)
    bpy.context.view_layer.update()
    return made


def by_blender(obj: bpy.types.Object, source: bpy.types.Object) -> np.ndarray:
    """What Blender's modifier does."""
    modifier = obj.modifiers.new("Lattice", "LATTICE")
    modifier.object = source
    bpy.context.view_layer.update()
    out = positions(obj).copy()
    obj.modifiers.remove(modifier)
    bpy.context.view_layer.update()
    return out


def take(obj: bpy.types.Object, source: bpy.types.Object, **keys: str) -> None:
    """Selects the lattice and the mesh, and takes the lattice over."""
    activate(obj)
    source.select_set(True)
    assert bpy.ops.sinew.lattice_from_object(**keys) == {"FINISHED"}


@pytest.mark.parametrize("kind", ["KEY_LINEAR", "KEY_CARDINAL", "KEY_CATMULL_ROM", "KEY_BSPLINE"])
@pytest.mark.parametrize("points", [(3, 4, 2), (1, 3, 3), (5, 2, 4)])
@pytest.mark.parametrize("size", [2.6, 1.1])
def test_equals_blenders_modifier(kind: str, points: tuple[int, int, int], size: float) -> None:
    """Also where the mesh reaches out of the box."""
    obj, source = ball(), cage(points, kind, size=size)
    rest = positions(obj).copy()
    wanted = by_blender(obj, source)
    assert np.abs(wanted - rest).max() > 0.02
    add(obj, {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "nodes": {}, "stack": [{"node": "smooth", "weight": 0}]})
    take(obj, source)
    assert not truth(obj)
    assert np.abs(positions(obj) - wanted).max() < 1e-5


def test_behind_an_armature_it_acts_after_the_skin() -> None:
    obj = tube()
    source = cage(size=2.5)
    armature = obj.modifiers["Armature"].object
    armature.location = (0.2, 0.1, -0.3)
    bend(armature, 50)
    wanted = by_blender(obj, source)
    bend(armature, 0)
    add(obj)
    bend(armature, 50)
    take(obj, source)
    assert np.abs(positions(obj) - wanted).max() < 1e-5


def test_an_object_that_moved_since_bind() -> None:
    obj = ball()
    add(obj, {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "nodes": {}, "stack": [{"node": "smooth", "weight": 0}]})
    obj.location.x += 0.4
    obj.rotation_euler.z += 0.7
    source = cage(size=2.5)
    bpy.context.view_layer.update()
    wanted = by_blender(obj, source)
    take(obj, source)
    assert np.abs(positions(obj) - wanted).max() < 1e-5


def test_takes_the_place_of_blenders_modifier() -> None:
    obj, source = ball(), cage(size=2.5)
    modifier = obj.modifiers.new("Lattice", "LATTICE")
    modifier.object = source
    bpy.context.view_layer.update()
    wanted = positions(obj).copy()
    add(obj, {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "nodes": {}, "stack": [{"node": "smooth", "weight": 0}]})
    take(obj, source)
    assert not modifier.show_viewport and np.abs(positions(obj) - wanted).max() < 1e-5


@pytest.mark.parametrize("moves", ["object", "shape key", "hook", "points"])
@pytest.mark.parametrize("skinned", [False, True])
def test_a_live_lattice_moves_the_node(moves: str, skinned: bool) -> None:
    obj = tube() if skinned else ball()
    source = cage((3, 3, 3), size=2.6)
    modifier = obj.modifiers.new("Lattice", "LATTICE")
    modifier.object = source
    empty = bpy.data.objects.new("Handle", None)
    bpy.context.collection.objects.link(empty)
    if moves == "shape key":
        source.shape_key_add(name="Basis")
        key = source.shape_key_add(name="moved")
        for point in key.data:
            point.co.x += 0.2 * point.co.y
    elif moves == "hook":
        hook = source.modifiers.new("Hook", "HOOK")
        hook.object = empty
        hook.vertex_indices_set([0, 1, 2, 13])

    def move(step: int) -> None:
        if skinned:
            bend(obj.parent, 15.0 * step)
        obj.location.y = 0.1 * step
        if moves == "object":
            source.location.x, source.scale.z = 0.6 + 0.2 * step, 2.6 + 0.1 * step
        elif moves == "shape key":
            key.value = 0.4 * step
        elif moves == "hook":
            empty.location = (0.2 * step, 0, 0.1 * step)
        else:
            source.data.points[4].co_deform.x = 0.2 * step
            source.data.update_tag()
        bpy.context.view_layer.update()

    wanted = []
    for step in range(3):
        move(step)
        wanted.append(positions(obj).copy())
    assert np.abs(wanted[2] - wanted[1]).max() > 0.02
    move(0)
    add(
        obj,
        {
            "sinew": "1.0",
            "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
            "stack": ["skin"] if skinned else [{"node": "smooth", "weight": 0}],
        },
    )
    take(obj, source, live=True)
    assert not modifier.show_viewport and not truth(obj)
    for step in (0, 1, 2, 0):
        move(step)
        assert np.abs(positions(obj) - wanted[step]).max() < 1e-5, step
    # Taken again without Live: it stays.
    take(obj, source, node="lattice")
    if not skinned:
        move(2)
        assert np.abs(positions(obj) - wanted[0]).max() < 1e-5
    assert "parameters" not in graphs.document(obj) or not graphs.document(obj)["parameters"]


def test_a_live_lattice_is_in_the_file(tmp_path: Path) -> None:
    obj, source = ball(), cage((3, 3, 3), size=2.6)
    add(obj, {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "nodes": {}, "stack": [{"node": "smooth", "weight": 0}]})
    take(obj, source, live=True)
    name = obj.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "live.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "live.blend"))
    obj, source = bpy.data.objects[name], bpy.data.objects["Cage"]
    source.location.z += 0.3
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(2)
    shown = positions(obj).copy()
    next(m for m in obj.modifiers if m.type == "NODES").show_viewport = False
    assert np.abs(shown - by_blender(obj, source)).max() < 1e-5


def test_a_live_lattice_with_other_points_says_so() -> None:
    obj, source = ball(), cage(size=2.6)
    add(obj, {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "nodes": {}, "stack": [{"node": "smooth", "weight": 0}]})
    take(obj, source, live=True)
    source.data.points_u = 5
    bpy.context.view_layer.update()
    assert "has 40 points, and node 'lattice' has 24" in truth(obj)
    bpy.ops.sinew.lattice_to_object()


def test_there_and_back() -> None:
    obj, source = ball(), cage((3, 4, 2), size=2.6)
    add(obj, {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "nodes": {}, "stack": [{"node": "smooth", "weight": 0}]})
    take(obj, source)
    activate(obj)
    assert bpy.ops.sinew.lattice_to_object() == {"FINISHED"}
    made = next(o for o in bpy.data.objects if o.type == "LATTICE" and o != source)
    bpy.context.view_layer.update()
    for moved in (False, True):
        a, b = ([np.array(o.matrix_world @ (p.co_deform if moved else p.co)) for p in o.data.points] for o in (source, made))
        assert np.allclose(a, b, atol=2e-6)
    assert made.data.interpolation_type_u == source.data.interpolation_type_u
    # Edited and taken back into the same node.
    made.data.points[3].co_deform.x += 0.3
    bpy.context.view_layer.update()
    own = next(m for m in obj.modifiers if m.type == "NODES")
    own.show_viewport = False
    wanted = by_blender(obj, made)
    own.show_viewport = True
    take(obj, made, node="lattice")
    assert np.abs(positions(obj) - wanted).max() < 1e-5
    assert graphs.of_kind(graphs.document(obj), "lattice") == ["lattice"]


@pytest.mark.parametrize(
    "keys",
    [
        {"size": [1.5, 2, 1], "rest_transform": {"translation": [0.1, 0.2, 0.3]}},
        {"size": [1.5, 2, 1], "origin": "corner", "points": "offsets", "resolution": [2, 3, 2]},
        {"fit": "mesh", "resolution": [2, 2, 3]},
    ],
    ids=["box", "corner and offsets", "fit"],
)
def test_a_node_made_by_hand_keeps_its_shape(keys: dict) -> None:
    """The lattice object of a linear node deforms as the node does."""
    obj = ball()
    keys = {"node": "lattice", "interpolation": "linear", "border": "clamp", "outside": "natural", **keys}
    resolution = keys.setdefault("resolution", [4, 4, 4])
    if keys.get("points") == "offsets":
        rng = np.random.default_rng(2)
        keys["points"], keys["points_are"] = rng.uniform(-0.2, 0.2, (int(np.prod(resolution)), 3)).tolist(), "offsets"
    add(obj, {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": [keys]})
    wanted = positions(obj).copy()
    assert bpy.ops.sinew.lattice_to_object() == {"FINISHED"}
    made = next(o for o in bpy.data.objects if o.type == "LATTICE")
    bpy.context.view_layer.update()
    next(m for m in obj.modifiers if m.type == "NODES").show_viewport = False
    assert np.abs(by_blender(obj, made) - wanted).max() < 1e-5


def test_mistakes_say_what_to_do() -> None:
    obj, source = ball(), cage(size=2.5)
    add(obj, {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "nodes": {}, "stack": [{"node": "smooth", "weight": 0}]})
    activate(obj)
    with pytest.raises(RuntimeError, match="No lattice selected"):
        bpy.ops.sinew.lattice_from_object()
    with pytest.raises(RuntimeError, match="no lattice node"):
        bpy.ops.sinew.lattice_to_object()
    activate(source)
    with pytest.raises(RuntimeError, match="'Cage' is a lattice"):
        bpy.ops.sinew.lattice_from_object()
    activate(obj)
    source.select_set(True)
    source.data.interpolation_type_u = "KEY_LINEAR"
    with pytest.raises(RuntimeError, match="different interpolations"):
        bpy.ops.sinew.lattice_from_object()
    with pytest.raises(RuntimeError, match="no lattice node 'nope'"):
        source.data.interpolation_type_u = "KEY_BSPLINE"
        bpy.ops.sinew.lattice_from_object(node="nope")
    assert lattice.INTERPOLATIONS.keys() == {k.identifier for k in bpy.types.Lattice.bl_rna.properties["interpolation_type_u"].enum_items}
