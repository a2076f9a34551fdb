# SPDX-License-Identifier: GPL-3.0-or-later
"""What all bakes share: the range of frames, checks of the object, files that are complete or not there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from .. import jobs, live, modifier, operators, preferences
from ..core import sd
from ..jobs import JobOperator, Steps
from ..report import Problem, message_of
from ..session import Session
from ..space import Points
from . import places

# Blender warns about relative paths without it; earlier versions do not know it.
PATH_OPTIONS = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (5, 0, 0) else set()

# Custom properties of an object: the kind of its bake, and what the bake changed (JSON).
BAKED, CHANGES = "sinew_baked", "sinew_bake_changes"
POINT_CACHE, SHAPE_KEYS, SKIN_WEIGHTS = "point cache", "shape keys", "skin weights"
CACHE = "Sinew Cache"


class BakeOperator(JobOperator):
    """Base of the bakes: a dialog with the options, then the work with a progress bar. Esc cancels."""

    bl_idname = "sinew.bake"

    scene_range: bpy.props.BoolProperty(name="Scene Range", description="Bake the frames of the scene", default=True)
    first: bpy.props.IntProperty(name="First", description="First frame, without Scene Range", default=1)
    last: bpy.props.IntProperty(name="Last", description="Last frame, without Scene Range", default=250)
    is_confirmed: bpy.props.BoolProperty(description="The options are known: start", default=False, options={"HIDDEN", "SKIP_SAVE"})
    is_asked = False

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for objects with Sinew."""
        obj = context.object
        if obj is None or obj.type not in {"MESH", "CURVES"} or modifier.find(obj) is None:
            cls.poll_message_set("Select an object with Sinew")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Asks for the options, then starts."""
        if self.is_confirmed:
            return JobOperator.invoke(self, context, event)
        self.is_asked = True
        if hasattr(self, "filepath"):
            self.filepath = self.filepath or default_path(context.object, self.filename_ext)
            context.window_manager.fileselect_add(self)
            return {"RUNNING_MODAL"}
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not self.is_asked:
            return super().execute(context)
        # After the dialog: the work gets an operator of its own, which runs while the window stays alive.
        self.is_asked = False
        options = {**self.as_keywords(), "is_confirmed": True}
        getattr(bpy.ops.sinew, type(self).__name__.partition("_OT_")[2])("INVOKE_DEFAULT", **options)
        return {"CANCELLED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The options; first and last frame only where they count."""
        self.layout.use_property_split = True
        for prop in self.rna_type.properties:
            if prop.identifier in {"rna_type", "filepath"} or prop.is_hidden:
                continue
            row = self.layout.row()
            row.active = not (self.scene_range and prop.identifier in {"first", "last"})
            row.prop(self, prop.identifier)

    def range(self, context: bpy.types.Context) -> tuple[int, int]:
        """First and last frame."""
        scene = context.scene
        first, last = (scene.frame_start, scene.frame_end) if self.scene_range else (self.first, self.last)
        if last < first:
            raise Problem(f"The range has no frames: it starts at {first} and ends at {last}. Set the last frame to {first} or later")
        return first, last

    def steps(self, context: bpy.types.Context) -> Steps:
        raise NotImplementedError


def deformed(context: bpy.types.Context, again: str = "") -> bpy.types.Object:
    """The active object, if its graph can be baked. `again`: the kind of bake that may be there already."""
    obj = operators.target(context)
    own = modifier.find(obj)
    if own is None or obj.sinew.tree is None:
        raise Problem(f"'{obj.name}' has no Sinew graph. Press Add Sinew")
    if obj.type != "MESH":
        raise Problem(f"'{obj.name}' is hair. This bake is for meshes: press Export Alembic to keep the motion of hair")
    if obj.mode == "EDIT":
        raise Problem(f"'{obj.name}' is in edit mode. Leave it first")
    if not own.show_viewport:
        button = "Press Back to Live" if active_bake(obj) else "Switch it on in the panel"
        raise Problem(f"Sinew is switched off at '{obj.name}'. {button}")
    if active_bake(obj) not in {"", again}:
        raise Problem(f"'{obj.name}' plays a bake to {active_bake(obj)}. Press Back to Live first")
    mix = own.get(modifier.identifier(own, modifier.MIX), 1.0)
    if mix != 1.0:
        raise Problem(f"Mix of '{obj.name}' is {mix:.3g}. A bake holds the whole deformation: set Mix to 1")
    _has_armature(obj)
    context.view_layer.update()
    _is_live(obj)
    places.check(context, obj)
    return obj


def _has_armature(obj: bpy.types.Object) -> None:
    """Raises if the armature was deleted."""
    armature, replaced = obj.sinew.armature, obj.modifiers.get(obj.sinew.replaced or "")
    if armature is None and replaced is not None and replaced.type == "ARMATURE" and replaced.object is None:
        raise Problem(f"The armature of '{obj.name}' was deleted. Choose another one at Armature in the panel, then press Rebind")
    if armature is not None and not armature.users_scene:
        raise Problem(
            f"Armature '{armature.name}' of '{obj.name}' is in no scene: it was deleted. "
            "Undo that, or choose another one at Armature in the panel, then press Rebind"
        )


def _is_live(obj: bpy.types.Object, where: str = "") -> None:
    """A bake of an object that shows an error would hold something else than it shows."""
    if live.message(obj):
        raise Problem(f"{where}{live.message(obj)}")


def positions(context: bpy.types.Context, obj: bpy.types.Object, first: int, last: int) -> Iterator[tuple[int, Points]]:
    """The frames of an object with a graph: number, and positions in the space of the object. All of them must be deformed."""
    for frame, points in jobs.positions(context, obj, first, last):
        _is_live(obj, f"Frame {frame} of '{obj.name}' fails: ")
        yield frame, points


def bound(context: bpy.types.Context, obj: bpy.types.Object) -> Session:
    """The bound graph of an object, at the current frame."""
    context.view_layer.update()
    if live.session(obj) is None:
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    found = live.session(obj)
    if found is None:
        raise Problem(live.message(obj) or f"'{obj.name}' has no Sinew graph. Press Add Sinew")
    _is_live(obj)
    return found


def mark(obj: bpy.types.Object, kind: str, **changes: Any) -> None:
    """Stores the kind of a bake, and what it changed, for Back to Live."""
    obj[BAKED] = kind
    obj[CHANGES] = json.dumps({"replaced": obj.sinew.replaced, **changes})


def unmark(obj: bpy.types.Object) -> None:
    """Forgets the bake of an object."""
    for name in (BAKED, CHANGES):
        if name in obj:
            del obj[name]


def caches(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """Modifiers that play a point cache of a bake."""
    return [m for m in obj.modifiers if m.type == "MESH_CACHE" and m.name.startswith(CACHE)]


def active_bake(obj: bpy.types.Object) -> str:
    """Kind of the bake that deforms an object in place of Sinew; empty without one, also if a user removed it by hand."""
    kind = obj.get(BAKED, "")
    if kind == POINT_CACHE:
        return kind if caches(obj) else ""
    if kind == SHAPE_KEYS and obj.type == "MESH" and obj.data.shape_keys is not None:
        names = json.loads(obj.get(CHANGES, "{}")).get("keys", [])
        return kind if any(name in obj.data.shape_keys.key_blocks for name in names) else ""
    return ""


def switch_off(obj: bpy.types.Object) -> None:
    """Switches Sinew off. The armature modifier that it replaced stays off."""
    own = modifier.find(obj)
    own.show_viewport = own.show_render = False


def copy_without_sinew(obj: bpy.types.Object, suffix: str) -> bpy.types.Object:
    """A copy of an object, with a mesh of its own and without Sinew, in the same collections."""
    made = obj.copy()
    made.data = obj.data.copy()
    made.name = f"{obj.name}_{suffix}"
    made.modifiers.remove(modifier.find(made))
    unmark(made)
    for name in ("tree", "armature", "output", "replaced", "bind_object", "bind_armature"):
        made.sinew.property_unset(name)
    for collection in obj.users_collection:
        collection.objects.link(made)
    return made


def default_path(obj: bpy.types.Object, ending: str) -> str:
    """A file in the cache folder, named like the object."""
    return os.path.join(preferences.cache(), bpy.path.clean_name(obj.name) + ending)


def absolute(path: str, ending: str = "") -> str:
    """The path that a user gave, absolute and with its ending."""
    if path.startswith("//") and not bpy.data.filepath:
        raise Problem(f"'{path}' is relative to the .blend file, which is not saved yet. Save it, or give a whole path")
    whole = os.path.abspath(bpy.path.abspath(path))
    if ending:
        name = f"for example '{os.path.join(whole, 'bake' + ending)}'"
        if path.endswith(("/", os.sep)) or os.path.isdir(whole):
            raise Problem(f"'{whole}' is a folder. Give the name of a file, {name}")
        whole = whole if whole.lower().endswith(ending) else whole + ending
        if os.path.isdir(whole):
            raise Problem(f"'{whole}' is a folder. Give the name of a file, {name}")
    elif os.path.isfile(whole):
        raise Problem(f"'{whole}' is a file. Choose a folder")
    return whole


def new_folder(path: str) -> str:
    """The end of a report: the folder of a file, if the bake will make it."""
    folder = os.path.dirname(path)
    return "" if os.path.isdir(folder) else f". The folder '{folder}' is new"


def stored(path: str) -> str:
    """The path as a .blend file stores it: relative to the file, as far as that is possible."""
    if not bpy.data.filepath:
        return path
    try:
        return bpy.path.relpath(path)
    except ValueError:  # Another drive.
        return path


@contextmanager
def files(path: str = "") -> Iterator[None]:
    """Errors of files become messages. `path`: the file that the user knows."""
    try:
        yield
    except OSError as error:
        name = path or error.filename or ""
        raise Problem(f"Cannot write '{name}': {error.strerror or error}. Choose another folder") from error


@contextmanager
def complete(path: str) -> Iterator[str]:
    """A temporary file beside `path`, which becomes `path` in the end. After an error or a cancel nothing stays."""
    folder, name = os.path.split(path)
    stem, ending = os.path.splitext(name)
    folders = _new_folders(folder)
    made: str | None = None
    is_done = False
    try:
        with files(path):
            os.makedirs(folder, exist_ok=True)
            handle, made = tempfile.mkstemp(ending, f".{stem}.", folder)
            os.close(handle)
        with _named(made, path):
            yield made
        with files(path):
            os.replace(made, path)
            is_done = True
    finally:
        if not is_done:
            _remove(made, folders)


@contextmanager
def _named(made: str, path: str) -> Iterator[None]:
    """Errors name the file of the user, not the temporary one."""
    try:
        yield
    except (Problem, RuntimeError, sd.SinewError) as error:
        text = message_of(error)
        if os.path.basename(made) not in text:
            raise
        raise Problem(text.replace(made, path).replace(os.path.basename(made), os.path.basename(path))) from error


def _remove(path: str | None, folders: list[str]) -> None:
    if path is not None and os.path.exists(path):
        os.remove(path)
    for folder in folders:
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)


def _new_folders(folder: str) -> list[str]:
    """The folders that do not exist yet, innermost first."""
    out = []
    while folder and not os.path.isdir(folder):
        out.append(folder)
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return out


@contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder inside the cache folder, or in Blender's temporary folder if that cannot be written. It is removed in the end."""
    cache = preferences.cache()
    new = _new_folders(cache)
    try:
        os.makedirs(cache, exist_ok=True)
        made = tempfile.mkdtemp(prefix=".sinew_", dir=cache)
    except OSError:
        with files():
            made = tempfile.mkdtemp(prefix=".sinew_", dir=bpy.app.tempdir)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        _remove(None, new)


@contextmanager
def selected(context: bpy.types.Context, objects: list[bpy.types.Object]) -> Iterator[None]:
    """Selects only these objects, for Blender's exporters."""
    layer = context.view_layer
    kept = [o for o in layer.objects if o.select_get()]
    active = layer.objects.active
    missing = [o.name for o in objects if o.name not in layer.objects]
    if missing:
        raise Problem(f"'{missing[0]}' is not in the current view layer. Switch its collection on")
    hidden = [o for o in objects if o.hide_get()]
    try:
        for obj in hidden:
            obj.hide_set(False)
        for obj in layer.objects:
            obj.select_set(obj in objects)
        layer.objects.active = objects[0]
        yield
    finally:
        for obj in layer.objects:
            obj.select_set(obj in kept)
        for obj in hidden:
            obj.hide_set(True)
        layer.objects.active = active
