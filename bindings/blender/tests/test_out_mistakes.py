# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes and exports: mistakes, messages, cancelling, dialogs."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from scene_rig import FIRST, LAST, activate, fresh, rig, tube
from test_out import COUNT, _file, changing, fails  # noqa: F401  A fixture.

from sinew import live, modifier, nodes, operators
from sinew.out import bake


def test_mistakes_are_reported(tmp_path):
    activate(tube("plain"))
    assert not bpy.ops.sinew.bake_shape_keys.poll()
    obj, _ = rig()
    fails(bpy.ops.sinew.bake_shape_keys, "no frames: it starts at 9 and ends at 3", scene_range=False, first=9, last=3)
    fails(bpy.ops.sinew.export_glb, "no frames", scene_range=False, first=9, last=3)
    fails(bpy.ops.sinew.export_glb, "no times before 0", scene_range=False, first=-2, last=3)
    fails(bpy.ops.sinew.bake_point_cache, "Cannot write .*Choose another folder", filepath="/proc/sinew/tube.pc2")
    fails(bpy.ops.sinew.export_alembic, "Cannot write", filepath="/proc/sinew/tube.abc")
    fails(bpy.ops.sinew.export_glb, "Cannot write", filepath="/proc/sinew/tube.glb")
    fails(bpy.ops.sinew.bake_vat, "/proc/sinew", folder="/proc/sinew/vat")
    fails(bpy.ops.sinew.bake_point_cache, "not saved yet", filepath="//tube.pc2")
    own = modifier.find(obj)
    own[modifier.identifier(own, modifier.MIX)] = 0.5
    fails(bpy.ops.sinew.bake_shape_keys, "Mix of 'tube' is 0.5")
    own[modifier.identifier(own, modifier.MIX)] = 1.0
    own.show_viewport = False
    fails(bpy.ops.sinew.bake_point_cache, "switched off", filepath=str(tmp_path / "a.pc2"))
    own.show_viewport = True
    nodes.replace(obj.sinew.tree, {"sinew": "1.0", "stack": ["skin"], "outputs": {"body": "skim"}})
    live.bind(obj)
    bpy.context.view_layer.update()
    fails(bpy.ops.sinew.bake_point_cache, "skim", filepath=str(tmp_path / "a.pc2"))
    fails(bpy.ops.sinew.bake_shape_keys, "skim")
    assert os.listdir(tmp_path) == [] and obj.data.shape_keys is None


def test_bakes_refuse_modifiers_that_add_vertices_before_sinew(tmp_path):
    obj, _ = rig()
    count = len(obj.data.vertices)
    smooth = obj.modifiers.new("Subdivision", "SUBSURF")
    obj.modifiers.move(list(obj.modifiers).index(smooth), 0)
    kept = [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers]
    match = "'Subdivision'|vertices"
    fails(bpy.ops.sinew.bake_point_cache, match, filepath=str(tmp_path / "a.pc2"))
    fails(bpy.ops.sinew.bake_shape_keys, match)
    fails(bpy.ops.sinew.export_alembic, match, filepath=str(tmp_path / "a.abc"))
    # In renders only: the cache would not play in these.
    smooth.show_viewport = False
    fails(bpy.ops.sinew.bake_point_cache, f"'Subdivision' before Sinew .* from {count} to", filepath=str(tmp_path / "a.pc2"))
    smooth.show_viewport = True
    assert os.listdir(tmp_path) == [] and obj.data.shape_keys is None
    assert [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers] == kept


def test_bakes_refuse_objects_with_a_message(tmp_path, monkeypatch):
    """Also where only one frame of the range fails."""
    obj, _ = rig()
    bpy.context.scene.frame_set(FIRST)
    real = live.Session.evaluate

    def broken(self, *arguments):
        if bpy.context.scene.frame_current == 5:
            raise ValueError("the lattice folds")
        return real(self, *arguments)

    monkeypatch.setattr(live.Session, "evaluate", broken)
    fails(bpy.ops.sinew.bake_point_cache, "Frame 5 of 'tube' fails: .*folds", filepath=str(tmp_path / "a.pc2"))
    fails(bpy.ops.sinew.bake_shape_keys, "Frame 5 of 'tube' fails")
    bpy.context.scene.frame_set(5)
    fails(bpy.ops.sinew.export_alembic, "folds", filepath=str(tmp_path / "a.abc"))
    fails(bpy.ops.sinew.export_glb, "folds", filepath=str(tmp_path / "a.glb"))
    assert os.listdir(tmp_path) == [] and modifier.find(obj).show_viewport


def test_skin_bake_refuses_what_weights_cannot_hold():
    obj = tube()
    activate(obj)
    operators.add(obj, nodes.from_document({"sinew": "1.0", "stack": ["smooth"]}, "graph"), bpy.context.scene)
    bpy.context.scene.frame_set(FIRST)
    fails(bpy.ops.sinew.bake_skin, "no armature")
    obj, _ = rig()
    wave = obj.modifiers.new("Wave", "WAVE")
    obj.modifiers.move(list(obj.modifiers).index(wave), 0)
    fails(bpy.ops.sinew.bake_skin, "Modifier 'Wave' acts before Sinew")


def says(capfd, operator, **options) -> str:
    """What a finished operator reports."""
    capfd.readouterr()
    assert operator(**options) == {"FINISHED"}
    out = capfd.readouterr()
    return out.out + out.err


def fault(operator, **options) -> str:
    """The error that an operator reports."""
    with pytest.raises(RuntimeError) as found:
        operator(**options)
    return str(found.value)


def test_messages_of_vertex_textures_name_the_options_of_the_dialog(tmp_path):
    changing()
    bake_vat = bpy.ops.sinew.bake_vat
    folder = str(tmp_path / "vat")
    texts = {
        "Textures: 'foo:half' is not a texture": {"textures": "foo:half"},
        "Textures has normal twice": {"textures": "normal:unorm8,normal:unorm8"},
        "no attribute 'heat'": {"textures": "attribute=heat:half"},
        "Mode 'Changing Faces' takes": {"mode": "soft"},
    }
    for wanted, options in texts.items():
        text = fault(bake_vat, folder=folder, **options)
        assert wanted in text and "--" not in text and "sinew_" not in text, text
    assert os.listdir(tmp_path) == []


def test_words_of_the_package():
    """Messages as the package writes them."""
    from sinew.out import vat, words

    given = {
        "frame 3: piece 1 bends: a vertex is 2.0 mm from it, 0.1 mm are allowed; use --mode soft, or a larger --rigid-tolerance": (
            "frame 3: piece 1 bends: a vertex is 2.0 mm from it, 0.1 mm are allowed; use Mode 'Soft'"
        ),
        "velocity: the largest number is 7e4, halves hold 65504 at most; `--texture velocity:float` holds it": (
            "velocity: the largest number is 7e4, halves hold 65504 at most; 'velocity:float' in Textures holds it"
        ),
        "the carrier has 8 triangles, 3 were asked for: one grows; --order file needs no more than frames have": (
            "the carrier has 8 triangles, 3 were asked for: one grows"
        ),
        "simplification left nothing of pieces; a larger --faces keeps them": (
            "simplification left nothing of pieces; a larger number of Faces keeps them"
        ),
        "pieces for Unity alone (--for unity): mode soft takes pieces, too": "pieces for Unity alone (For 'Unity'): Mode 'Soft' takes pieces, too",
    }
    for text, wanted in given.items():
        assert words.translated(text, vat.MENUS) == wanted
    lengths = {0.0: "0 mm", 2e-5: "less than 0.001 mm", 0.25: "0.25 mm", 12.34: "12.3 mm", 1110.0: "1.11 m", 3.2e6: "3200 m"}
    assert {mm: words.length(mm) for mm in lengths} == lengths


def test_messages_name_the_file_of_the_user(tmp_path):
    rig()
    for operator, ending in (
        (bpy.ops.sinew.bake_point_cache, ".pc2"),
        (bpy.ops.sinew.export_alembic, ".abc"),
        (bpy.ops.sinew.export_glb, ".glb"),
    ):
        assert f"'/proc/tube{ending}'" in fault(operator, filepath=f"/proc/tube{ending}")
        folder = tmp_path / f"folder{ending}"
        folder.mkdir()
        for given in (str(folder), f"{tmp_path}/", str(tmp_path), str(folder)[: -len(ending)]):
            assert "is a folder. Give the name of a file" in fault(operator, filepath=given)
    (tmp_path / "file").write_text("")
    assert "is a file. Choose a folder" in fault(bpy.ops.sinew.bake_vat, folder=str(tmp_path / "file"))
    with pytest.raises(bake.Problem, match=r"^'[^']*/a\.bin' is wrong$"), bake.complete(str(tmp_path / "a.bin")) as temporary:
        raise RuntimeError(f"'{temporary}' is wrong")


def test_new_folders_are_reported(tmp_path, capfd):
    obj, _ = rig()
    for operator, ending in (
        (bpy.ops.sinew.export_alembic, ".abc"),
        (bpy.ops.sinew.export_glb, ".glb"),
        (bpy.ops.sinew.bake_point_cache, ".pc2"),
    ):
        folder = tmp_path / ending[1:] / "sub"
        assert f"The folder '{folder}' is new" in says(capfd, operator, filepath=str(folder / f"a{ending}"))
        if obj.get("sinew_baked"):
            bpy.ops.sinew.bake_remove()
        assert "is new" not in says(capfd, operator, filepath=str(folder / f"b{ending}"))


def test_bakes_without_their_armature():
    for deletes in (lambda armature: bpy.data.objects.remove(armature), lambda armature: bpy.context.collection.objects.unlink(armature)):
        fresh()
        obj, armature = rig()
        bpy.context.scene.frame_set(FIRST)
        deletes(armature)
        bpy.context.scene.frame_set(3)
        activate(obj)
        for operator in (bpy.ops.sinew.bake_skin, bpy.ops.sinew.bake_shape_keys, bpy.ops.sinew.export_glb):
            text = fault(operator)
            assert "rmature" in text and "deleted" in text and "Armature in the panel" in text and "JOINTS" not in text


def job(cls, **options) -> SimpleNamespace:
    """An operator's work without Blender's operator around it, to stop it half-way."""
    made = SimpleNamespace(result=None, filepath="", report=lambda *_: None, range=lambda _: (FIRST, LAST), **options)
    for name in ("_frame", "_named", "_textures", "_arguments"):
        if hasattr(cls, name):
            setattr(made, name, getattr(cls, name).__get__(made))
    return made


CANCELLED = [
    ("point_cache", "SINEW_OT_bake_point_cache", {}),
    ("shape_keys", "SINEW_OT_bake_shape_keys", {"tolerance": 0.0, "copy": False}),
    ("skin", "SINEW_OT_bake_skin", {"helpers": 2, "influences": 4, "hide": True}),
    ("alembic", "SINEW_OT_export_alembic", {}),
    ("glb", "SINEW_OT_export_glb", {}),
    ("vat", "SINEW_OT_bake_vat", {"space": "WORLD", "mode": "auto", "engine": "gltf", "at_end": "loop", "faces": 0, "textures": ""}),
]


@pytest.mark.parametrize("after", [1, 2, 3, COUNT - 1, COUNT + 1])
@pytest.mark.parametrize("module, name, options", CANCELLED)
def test_cancelled_bakes_leave_nothing(tmp_path, module, name, options, after):
    import importlib

    cls = getattr(importlib.import_module(f"sinew.out.{module}"), name)
    obj, armature = rig()
    made = job(cls, **options)
    made.filepath = str(tmp_path / "sub" / "file.out")
    made.folder = str(tmp_path / "vat")
    steps = cls.steps(made, bpy.context)
    for _ in range(after):
        if next(steps, None) is None:
            # It has fewer steps.
            assert module in {"alembic", "glb"} or after > COUNT
            return
    steps.close()
    assert os.listdir(tmp_path) == []
    assert obj.data.shape_keys is None and modifier.find(obj).show_viewport
    assert [m.type for m in obj.modifiers] == ["NODES", "ARMATURE"] and len(armature.data.bones) == 2
    assert not [f for f in os.listdir(bpy.app.tempdir) if f.startswith(".sinew_")]
    assert "tube_skin" not in bpy.data.objects and not bpy.data.texts


def test_complete_replaces_only_at_the_end(tmp_path):
    path = tmp_path / "a" / "b" / "c.bin"
    with pytest.raises(ValueError), bake.complete(str(path)):
        raise ValueError
    assert os.listdir(tmp_path) == []
    with bake.complete(str(path)) as temporary:
        Path(temporary).write_bytes(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new" and os.listdir(path.parent) == ["c.bin"]


def test_dialog_hands_its_options_on():
    """After the dialog a second operator does the work; without a window Blender runs it at once."""
    obj, _ = rig()

    class SINEW_OT_bake_shape_keys:
        is_asked = True

        def as_keywords(self) -> dict:
            return {"scene_range": False, "first": 3, "last": 6, "tolerance": 0.0, "copy": True, "is_confirmed": False}

    asked = SINEW_OT_bake_shape_keys()
    assert bake.BakeOperator.execute(asked, bpy.context) == {"CANCELLED"}
    assert [k.name for k in bpy.data.objects["tube_baked"].data.shape_keys.key_blocks][1:] == [f"frame_{n}" for n in range(3, 7)]
    assert not asked.is_asked and modifier.find(obj).show_viewport


def test_window_stays_alive_and_escape_cancels(tmp_path):
    """The steps of a bake between events, with a window manager that only counts."""
    from sinew.jobs import JobOperator

    rig()
    calls: list[str] = []
    status: list[Any] = []
    manager = SimpleNamespace(
        event_timer_add=lambda *_, **__: "timer",
        event_timer_remove=lambda _: calls.append("removed"),
        progress_begin=lambda *_: calls.append("begin"),
        progress_update=lambda _: calls.append("update"),
        progress_end=lambda: calls.append("end"),
        modal_handler_add=lambda _: None,
    )
    scene_context = SimpleNamespace(
        window_manager=manager,
        window=None,
        workspace=SimpleNamespace(status_text_set=status.append),
        **{k: getattr(bpy.context, k) for k in ("object", "scene", "view_layer")},
    )
    scene_context.evaluated_depsgraph_get = bpy.context.evaluated_depsgraph_get
    from sinew.out import point_cache

    made = job(point_cache.SINEW_OT_bake_point_cache)
    made.filepath = str(tmp_path / "a.pc2")
    made.steps = lambda context: point_cache.SINEW_OT_bake_point_cache.steps(made, context)
    made._end = lambda context: JobOperator._end(made, context)
    made.bl_label = point_cache.SINEW_OT_bake_point_cache.bl_label
    made._show = lambda *arguments: JobOperator._show(made, *arguments)
    assert JobOperator.invoke(made, scene_context, None) == {"RUNNING_MODAL"}
    for _ in range(4):
        assert JobOperator.modal(made, scene_context, SimpleNamespace(type="TIMER")) == {"RUNNING_MODAL"}
    assert len(os.listdir(tmp_path)) == 1
    assert JobOperator.modal(made, scene_context, SimpleNamespace(type="ESC")) == {"CANCELLED"}
    assert os.listdir(tmp_path) == [] and calls == ["begin", *["update"] * 5, "removed", "end"]
    # The status bar shows the frame, and is Blender's own again in the end.
    assert len(status) == 6 and status[-1] is None
    lines: list[str] = []
    row = SimpleNamespace(progress=lambda text, factor: lines.append(text))
    status[-2](SimpleNamespace(layout=SimpleNamespace(row=lambda: row, label=lambda **_: None)), bpy.context)
    assert lines == [f"Bake to Point Cache: 3 of {bpy.context.scene.frame_end - bpy.context.scene.frame_start + 1}"]
