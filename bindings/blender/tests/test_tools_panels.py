# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels draw in every state, with operators and properties that exist, and write nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from conftest import activate, add, bend, tube
from sinew import panels
from sinew.tools import corrective, diagnose, graphs, hair, lattice, mask, pose_driver
from test_tools_hair import strands
from test_tools_pose_driver import select_bones

PANELS = [
    pose_driver.SINEW_PT_driver,
    corrective.SINEW_PT_corrective,
    lattice.SINEW_PT_lattice,
    mask.SINEW_PT_mask,
    hair.SINEW_PT_hair,
    diagnose.SINEW_PT_diagnose,
]


class Layout:
    """Takes the calls of a panel, and checks them against Blender's registry."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def row(self, **_: Any) -> Layout:
        return self

    column = box = split = row

    def label(self, text: str = "", icon: str = "NONE") -> None:
        _icon(icon)
        self.lines.append(text)

    def progress(self, text: str, factor: float) -> None:
        assert 0.0 <= factor <= 1.0
        self.lines.append(text)

    def prop(self, data: Any, name: str) -> None:
        assert name in data.bl_rna.properties
        self.lines.append(name)

    def operator(self, idname: str, text: str | None = None, icon: str = "NONE", depress: bool = False) -> SimpleNamespace:
        _icon(icon)
        kind = _operator(idname)
        self.lines.append(kind.name if text is None else text)
        return _Properties(kind)

    def operator_menu_enum(self, idname: str, prop: str, text: str | None = None, icon: str = "NONE") -> None:
        _icon(icon)
        assert _operator(idname).properties[prop].type == "ENUM"
        self.lines.append(idname)


class _Properties:
    def __init__(self, kind: Any) -> None:
        object.__setattr__(self, "kind", kind)

    def __setattr__(self, name: str, value: Any) -> None:
        assert name in self.kind.properties, f"{self.kind.identifier}.{name}"


def _operator(idname: str) -> Any:
    module, name = idname.split(".")
    return getattr(getattr(bpy.ops, module), name).get_rna_type()


def _icon(name: str) -> None:
    assert name in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items, name


def drawn(panel: Any) -> list[str] | None:
    """What a panel shows; None where it is hidden."""
    if not panel.poll(bpy.context):
        return None
    lines: list[str] = []
    panel.show(SimpleNamespace(layout=Layout(lines)), bpy.context)
    return lines


def nothing() -> None:
    pass


def plain_mesh() -> None:
    tube()


def failed() -> None:
    obj = tube()
    add(obj)
    graphs.nodes.replace(obj.sinew.tree, {"sinew": "1.0", "inputs": {"pose": {"type": "pose"}}, "nodes": {}})
    obj.update_tag()
    bpy.context.view_layer.update()


def driven() -> None:
    obj = tube()
    add(obj)
    select_bones(obj.sinew.armature, "upper")
    bpy.ops.sinew.driver_add()
    bend(obj.sinew.armature, 80)
    bpy.ops.sinew.pose_record(pose="bent")
    bpy.context.window_manager.sinew_live_weights = True
    bend(obj.sinew.armature, 81)
    bend(obj.sinew.armature, 80)
    bpy.ops.sinew.diagnose(measure="STRETCH")


def armature_active() -> None:
    driven()
    activate(bpy.data.objects["Rig"])
    bend(bpy.data.objects["Rig"], 80)


def sculpt() -> None:
    driven()
    bpy.ops.sinew.corrective_sculpt()


def hairy() -> None:
    obj, _ = strands()
    activate(obj)
    bpy.ops.sinew.hair_from_curves()


STATES = [nothing, plain_mesh, failed, driven, armature_active, sculpt, hairy]


@pytest.mark.parametrize("state", STATES, ids=lambda s: s.__name__)
def test_panels_draw(state: Any) -> None:
    state()
    before = {t.name: graphs.nodes.to_document(t) for t in bpy.data.node_groups if t.bl_idname == graphs.nodes.TREE}
    try:
        shown = {panel.__name__ for panel in PANELS if drawn(panel) is not None}
    finally:
        bpy.context.window_manager.sinew_live_weights = False
    assert {t.name: graphs.nodes.to_document(t) for t in bpy.data.node_groups if t.bl_idname == graphs.nodes.TREE} == before
    assert ("SINEW_PT_hair" in shown) == (state is hairy)
    assert ("SINEW_PT_driver" in shown) == (state in (failed, driven, armature_active))
    assert ("SINEW_PT_corrective" in shown) == (state in (failed, driven, armature_active, sculpt))


@pytest.mark.parametrize("state", [driven, armature_active])
def test_poses_have_weights_and_distances(state: Any) -> None:
    state()
    lines = drawn(pose_driver.SINEW_PT_driver)
    bpy.context.window_manager.sinew_live_weights = False
    # 2 sin(40 degrees) from the neutral pose.
    at = lines.index("neutral")
    assert lines[at + 1 : at + 3] == ["0.00", "1.286"]
    at = lines.index("bent")
    assert lines[at + 1 : at + 3] == ["1.00", "0.000"]


def test_panels_follow_edits_in_the_node_editor() -> None:
    driven()
    assert "bent" in drawn(pose_driver.SINEW_PT_driver)
    tree = bpy.data.objects["Tube"].sinew.tree
    given = graphs.nodes.to_document(tree)
    given["nodes"]["upper_driver"]["poses"][1]["name"] = "renamed"
    graphs.nodes.replace(tree, given)
    bpy.context.view_layer.update()
    assert "renamed" in drawn(pose_driver.SINEW_PT_driver)
    bend(bpy.data.objects["Rig"], 30)
    lines = drawn(pose_driver.SINEW_PT_driver)
    # 2 sin(25 degrees) from the pose at 80 degrees.
    assert lines[lines.index("renamed") + 2] == "0.845"
    bpy.context.window_manager.sinew_live_weights = False


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (nothing, ["sinew.add", "Load Graph"]),
        (plain_mesh, ["sinew.add", "Load Graph"]),
        (sculpt, ["Sculpt of 'Tube'", "Apply Corrective"]),
        (armature_active, ["Tube"]),
    ],
)
def test_the_main_panel_fits_what_is_active(state: Any, shown: list[str]) -> None:
    state()
    bpy.context.window_manager.sinew_live_weights = False
    lines: list[str] = []
    panels.SINEW_PT_main.draw(SimpleNamespace(layout=Layout(lines)), bpy.context)
    assert lines == shown


def test_an_error_stays_in_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    driven()
    bpy.context.window_manager.sinew_live_weights = False
    monkeypatch.setattr(graphs, "of_kind", lambda *_: 1 / 0)
    lines: list[str] = []
    panel = SimpleNamespace(layout=Layout(lines), show=lambda context: pose_driver.SINEW_PT_driver.show(panel, context))
    pose_driver.SINEW_PT_driver.draw(panel, bpy.context)
    assert "ZeroDivisionError" in " ".join(lines)


def test_all_panels_are_closed_at_first() -> None:
    for panel in PANELS:
        assert "DEFAULT_CLOSED" in panel.bl_options and panel.bl_category == "Sinew" and len(panel.bl_label) < 16


def test_tools_go_and_come_back() -> None:
    import sinew
    from sinew import session

    handlers = {name: len(getattr(bpy.app.handlers, name)) for name in ("frame_change_post", "depsgraph_update_post", "load_post")}
    sources = len(session.VALUE_SOURCES)
    sinew.unregister()
    try:
        assert not hasattr(bpy.types.Object, "sinew_tools") and not hasattr(bpy.types.WindowManager, "sinew_live_weights")
        assert not session.VALUE_SOURCES
    finally:
        sinew.register()
    assert {name: len(getattr(bpy.app.handlers, name)) for name in handlers} == handlers and len(session.VALUE_SOURCES) == sources
    driven()
    bpy.context.window_manager.sinew_live_weights = False
