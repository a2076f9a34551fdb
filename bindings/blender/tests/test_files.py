# SPDX-License-Identifier: GPL-3.0-or-later
"""Files: saved, opened, appended, linked, overridden, and opened without the extension."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
from conftest import EXTENSION, add, bend, positions, skip, truth, tube
from sinew import live, modifier


def saved(folder: Path, degrees: float = 60) -> tuple[str, np.ndarray, np.ndarray]:
    """A file with a bent tube, its positions, and those at 20 degrees."""
    obj = tube()
    add(obj, "delta_mush")
    bend(obj.sinew.armature, 20)
    less = positions(obj).copy()
    bend(obj.sinew.armature, degrees)
    path = str(folder / "tube.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path, positions(obj).copy(), less


def set_pose(obj: bpy.types.Object, degrees: float) -> None:
    bend(obj.sinew.armature, degrees)
    bpy.context.view_layer.update()


def test_a_file_that_is_opened_again_goes_on(tmp_path: Path) -> None:
    path, bent, less = saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Tube"]
    assert np.array_equal(positions(obj), bent)
    set_pose(obj, 20)
    assert truth(obj) == ""
    assert np.allclose(positions(obj), less, atol=1e-6)


def test_objects_that_are_appended_go_on(tmp_path: Path) -> None:
    path, bent, less = saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path) as (_, wanted):
        wanted.objects = ["Tube", "Rig"]
    for obj in wanted.objects:
        bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.update()
    obj = bpy.data.objects["Tube"]
    assert np.allclose(positions(obj), bent, atol=1e-6)
    set_pose(obj, 20)
    assert np.allclose(positions(obj), less, atol=1e-6)


def linked(path: str, override: bool) -> list[bpy.types.Object]:
    """The tube, linked; with `override` twice, each with a pose of its own."""
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Collection"] if "Collection" in _.collections else _.collections[:1]
        wanted.objects = ["Tube", "Rig"]
    tube_object, rig = wanted.objects
    if not override:
        for obj in (tube_object, rig):
            bpy.context.collection.objects.link(obj)
        return [tube_object]
    out = []
    for _ in range(2):
        own_rig = rig.override_create()
        own = tube_object.override_create()
        own.override_library.reference  # noqa: B018  It is an override.
        own.parent = own_rig
        own.modifiers["Armature"].object = own_rig
        own.sinew.armature = own_rig
        for obj in (own, own_rig):
            bpy.context.collection.objects.link(obj)
        out.append(own)
    return out


def test_a_linked_character_follows_its_armature(tmp_path: Path) -> None:
    path, bent, _ = saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    (obj,) = linked(path, override=False)
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    assert obj.library is not None and truth(obj) == ""
    assert np.allclose(positions(obj), bent, atol=1e-6)


def test_two_overrides_of_one_linked_character_have_poses_of_their_own(tmp_path: Path) -> None:
    path, bent, less = saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    first, second = linked(path, override=True)
    assert first.data == second.data and first.data.library is not None
    set_pose(first, 20)
    set_pose(second, 60)
    bpy.context.view_layer.update()
    assert truth(first) == truth(second) == ""
    assert np.allclose(positions(first), less, atol=1e-6)
    assert np.allclose(positions(second), bent, atol=1e-6)
    other = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=other)
    bpy.ops.wm.open_mainfile(filepath=other)
    shown = sorted((positions(o) for o in bpy.data.objects if o.sinew.tree and o.library is None), key=lambda p: p[:, 2].max())
    assert np.allclose(shown[0], bent, atol=1e-6) or np.allclose(shown[0], less, atol=1e-6)
    assert not np.allclose(shown[0], shown[1], atol=1e-3)


WITHOUT = """
import bpy, sys, numpy as np
bpy.ops.wm.open_mainfile(filepath=sys.argv[-2])
obj = bpy.data.objects["Tube"]
bpy.context.scene.frame_set(5)
data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
flat = np.empty(len(data.vertices) * 3, np.float32)
data.vertices.foreach_get("co", flat)
np.save(sys.argv[-1], flat.reshape(-1, 3))
bpy.ops.wm.save_mainfile()
"""


def test_a_file_without_the_extension_shows_the_last_frame_and_loses_nothing(tmp_path: Path) -> None:
    path, bent, less = saved(tmp_path)
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT, path, str(tmp_path / "shown.npy")], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    assert np.array_equal(np.load(tmp_path / "shown.npy"), bent)
    # Saved there, and opened with the extension again.
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Tube"]
    set_pose(obj, 20)
    assert truth(obj) == ""
    assert np.allclose(positions(obj), less, atol=1e-6)


UNINSTALL = """
import os, sys, tempfile
os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp()
import bpy, numpy as np
archive, path, shown = sys.argv[-3:]
bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
bpy.ops.wm.open_mainfile(filepath=path)
bpy.context.scene.frame_set(5)
repo = next(i for i, r in enumerate(bpy.context.preferences.extensions.repos) if r.module == "user_default")
assert bpy.ops.extensions.package_uninstall(repo_index=repo, pkg_id="sinew") == {"FINISHED"}
assert not hasattr(bpy.types, "SINEW_OT_add")
obj = bpy.data.objects["Tube"]
bpy.context.scene.frame_set(6)
data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
flat = np.empty(len(data.vertices) * 3, np.float32)
data.vertices.foreach_get("co", flat)
np.save(shown, flat.reshape(-1, 3))
bpy.ops.wm.save_mainfile()
"""


def test_a_file_stays_whole_when_the_extension_is_uninstalled(tmp_path: Path) -> None:
    if EXTENSION is None:
        skip("SINEW_EXTENSION names no zip")
    path, bent, less = saved(tmp_path)
    arguments = [sys.executable, "-c", UNINSTALL, EXTENSION, path, str(tmp_path / "shown.npy")]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    assert np.array_equal(np.load(tmp_path / "shown.npy"), bent)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Tube"]
    set_pose(obj, 20)
    assert truth(obj) == "" and np.allclose(positions(obj), less, atol=1e-6)


def test_an_edit_without_the_extension_shows_the_mesh_and_not_garbage(tmp_path: Path) -> None:
    """Another number of vertices than the stored positions: the modifier changes nothing."""
    obj = tube()
    add(obj, "skin")
    bend(obj.sinew.armature, 60)
    handlers = [bpy.app.handlers.depsgraph_update_post, bpy.app.handlers.frame_change_post]
    kept = [list(h) for h in handlers]
    for handler in handlers:
        handler.clear()
    try:
        mesh = bpy.data.meshes.new("other")
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
        obj.data = mesh
        bpy.context.view_layer.update()
        assert np.array_equal(positions(obj), [(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    finally:
        for handler, functions in zip(handlers, kept):
            handler.extend(functions)


def test_removing_gives_the_armature_back(tmp_path: Path) -> None:
    obj = tube()
    bend(obj.modifiers["Armature"].object, 60)
    expected = positions(obj).copy()
    add(obj, "delta_mush")
    assert not np.allclose(positions(obj), expected, atol=1e-3)
    bpy.ops.sinew.remove()
    assert np.array_equal(positions(obj), expected)
    assert [m.type for m in obj.modifiers] == ["ARMATURE"]
    assert modifier.find(obj) is None and live.session(obj) is None
    assert not [o for o in bpy.data.objects if o.name.startswith(".sinew")]
