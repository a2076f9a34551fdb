# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps all objects with a graph up to date: in playback, when bones are dragged, in renders, after undo and load."""

from __future__ import annotations

import re
from collections.abc import Iterable

import bpy
from bpy.app.handlers import persistent

from . import character, modifier, nodes, report
from .session import Session, mesh_fingerprint, settings, weight_fingerprint
from .space import Points


class State:
    """What the handlers remember between calls."""

    def __init__(self) -> None:
        self.sessions: dict[int, Session] = {}
        self.failures: dict[int, str] = {}
        self.dirty: dict[int, set[str]] = {}
        self.is_running = False

    def forget(self) -> None:
        """Binds all objects again when they are needed."""
        self.sessions.clear()
        self.failures.clear()
        self.dirty.clear()


STATE = State()


def session(obj: bpy.types.Object) -> Session | None:
    """The bound graph of an object; `None` before its first frame, or if it failed."""
    return STATE.sessions.get(obj.session_uid)


def message(obj: bpy.types.Object) -> str:
    """Why an object is not deformed; empty if it is."""
    return STATE.failures.get(obj.session_uid, "")


def bind(obj: bpy.types.Object) -> None:
    """Binds an object again at its next frame."""
    STATE.sessions.pop(obj.session_uid, None)
    STATE.failures.pop(obj.session_uid, None)
    obj.update_tag()


def update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Evaluates all objects whose inputs changed. True if any did."""
    if STATE.is_running:
        return False
    STATE.is_running = True
    try:
        done: dict[str, Points] = {}
        changed = [_update_object(obj, scene, depsgraph, done) for obj in _in_order(deformed(scene, depsgraph))]
        return any(changed)
    finally:
        STATE.is_running = False


def deformed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Object]:
    """Objects of the scene whose graph is on."""
    shown = "show_render" if depsgraph.mode == "RENDER" else "show_viewport"
    out = []
    for obj in scene.objects:
        # Most objects end here.
        if obj.sinew.tree is None or obj.mode == "EDIT":
            continue
        found = modifier.find(obj)
        if found is not None and getattr(found, shown):
            out.append(obj)
    return out


def _in_order(objects: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Objects that other graphs read come first."""
    by_name = {obj.name: obj for obj in objects}
    out: list[bpy.types.Object] = []

    def visit(obj: bpy.types.Object, above: tuple[str, ...]) -> None:
        if obj in out or obj.name in above:
            return
        bound = session(obj)
        for name in bound.reads() if bound else _surface(obj):
            if name in by_name:
                visit(by_name[name], (*above, obj.name))
        out.append(obj)

    for obj in objects:
        visit(obj, ())
    return out


def _surface(obj: bpy.types.Object) -> list[str]:
    """The surface that hair follows."""
    return [obj.data.surface.name] if obj.type == "CURVES" and obj.data.surface is not None else []


def _update_object(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, done: dict[str, Points]) -> bool:
    key = obj.session_uid
    try:
        _drop_if_stale(obj, scene)
        if key not in STATE.sessions:
            # A binding that failed is tried again after an edit.
            if key in STATE.failures:
                return False
            _separate(obj, scene)
            STATE.sessions[key] = Session(obj, scene)
        bound = STATE.sessions[key]
        changed = bound.evaluate(obj, depsgraph, done)
        done[obj.name] = bound.scene
        if STATE.failures.pop(key, None):
            nodes.show(obj.sinew.tree, ())
        return changed
    except Exception as error:  # noqa: BLE001  The next frame must come.
        _fail(obj, error)
        return False


def _fail(obj: bpy.types.Object, error: Exception) -> None:
    """Keeps the message for the panel. A frame that failed does not fail the frames after it."""
    key = obj.session_uid
    if key in STATE.sessions:
        STATE.sessions[key].last = None
    # Lines of the document that was made of the nodes say nothing in Blender.
    text = re.sub(r"^[^\s:]+:\d+:\d+: ", "", report.show_once(f"object '{obj.name}'", error))
    if STATE.failures.get(key) != text:
        STATE.failures[key] = text
        report.guarded(nodes.show_error)(obj.sinew.tree, error)


def _drop_if_stale(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Forgets a binding that no longer fits, or a failure that may be mended."""
    key = obj.session_uid
    bound = STATE.sessions.get(key)
    edited = STATE.dirty.pop(key, set())
    if bound is None:
        if edited:
            STATE.failures.pop(key, None)
    elif (
        bound.settings != settings(obj, scene)
        or bound.posed != (obj.sinew.armature is not None)
        or any(CHANGED[part](obj, bound) for part in edited)
    ):
        STATE.sessions.pop(key)
        # A message of the last frame must not keep the new binding away.
        STATE.failures.pop(key, None)


def _mesh_changed(obj: bpy.types.Object, bound: Session) -> bool:
    return bound.mesh != mesh_fingerprint(obj) or bound.weights != weight_fingerprint(obj)


def _armature_changed(obj: bpy.types.Object, bound: Session) -> bool:
    return bound.posed and not bound.bones.same(character.bones_of(obj.sinew.armature))


def _graph_changed(obj: bpy.types.Object, bound: Session) -> bool:
    return bound.live.fingerprint != nodes.live(obj.sinew.tree).fingerprint


# Parts of an object that users edit, and whether the edit needs a new binding. Blender reports more edits than there are: a bone that is
# dragged edits the armature.
CHANGED = {"mesh": _mesh_changed, "armature": _armature_changed, "graph": _graph_changed, "object": lambda *_: False}


def _separate(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """A copy of an object gets positions of its own."""
    own = modifier.find(obj)
    carrier = modifier.carrier(own)
    if carrier is None:
        return
    for other in scene.objects:
        if other != obj and other.sinew.tree is not None and other.session_uid in STATE.sessions:
            found = modifier.find(other)
            if found is not None and modifier.carrier(found) == carrier:
                modifier.own_carrier(obj, own)
                return


def _mark(scene: bpy.types.Scene, updates: Iterable[bpy.types.DepsgraphUpdate]) -> None:
    """Marks objects whose mesh, armature or graph may have been edited."""
    edited = {u.id.original for u in updates}
    if any(isinstance(i, bpy.types.Scene) for i in edited):
        _forget_deleted()
    graph = any(isinstance(i, bpy.types.NodeTree) for i in edited)
    for obj in scene.objects:
        own = obj.sinew
        if own.tree is None:
            continue
        parts = STATE.dirty.setdefault(obj.session_uid, set())
        # The value of a shape key edits key and mesh.
        if obj.data in edited and not (obj.type == "MESH" and obj.data.shape_keys in edited):
            parts.add("mesh")
        if own.armature is not None and own.armature.data in edited:
            parts.add("armature")
        if graph:
            parts.add("graph")
        if obj in edited:
            parts.add("object")


def _forget_deleted() -> None:
    alive = {obj.session_uid for obj in bpy.data.objects}
    for kept in (STATE.sessions, STATE.failures, STATE.dirty):
        for key in kept.keys() - alive:
            del kept[key]


@persistent
@report.guarded
def on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After a frame change, also in renders."""
    update(scene, depsgraph)


@persistent
@report.guarded
def on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After a bone was dragged, a slider moved, a mesh edited."""
    if STATE.is_running:
        return
    _mark(scene, depsgraph.updates)
    update(scene, depsgraph)


@persistent
@report.guarded
def on_load(*_: object) -> None:
    """A new file, or another state of it."""
    STATE.forget()
    report.forget()


@persistent
@report.guarded
def on_undo(scene: bpy.types.Scene, _: object = None) -> None:
    """Undo replaces meshes, trees and objects: all of them may differ from what was bound."""
    for obj in scene.objects:
        if obj.sinew.tree is not None:
            STATE.dirty[obj.session_uid] = set(CHANGED)
            bound = session(obj)
            if bound is not None:
                bound.last = None


HANDLERS = {
    "frame_change_post": on_frame,
    "depsgraph_update_post": on_update,
    "load_post": on_load,
    "undo_post": on_undo,
    "redo_post": on_undo,
}


def register() -> None:
    """Adds the handlers."""
    for name, function in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(function)


def unregister() -> None:
    """Removes them."""
    for name, function in HANDLERS.items():
        getattr(bpy.app.handlers, name).remove(function)
    STATE.forget()
