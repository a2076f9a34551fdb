# SPDX-License-Identifier: GPL-3.0-or-later
"""Add and remove Sinew, bind again, graphs from and to files."""

from __future__ import annotations

import json

import bpy
from bpy_extras.io_utils import ExportHelper, ImportHelper

from . import documents, live, modifier, nodes, presets
from .report import Operator, Problem
from .space import flat, matrix


def target(context: bpy.types.Context) -> bpy.types.Object:
    """The active object, if Sinew can deform it."""
    obj = context.object
    if obj is None:
        raise Problem("No object is active. Select a mesh or hair curves")
    if obj.type == "ARMATURE":
        raise Problem(f"'{obj.name}' is an armature. Select the mesh that it moves")
    if obj.type not in {"MESH", "CURVES"}:
        raise Problem(f"'{obj.name}' is a {obj.type.lower()}. Select a mesh or hair curves")
    return obj


def add(obj: bpy.types.Object, tree: bpy.types.NodeTree, scene: bpy.types.Scene) -> bpy.types.Modifier:
    """Puts a graph behind an object, at the place of its armature modifier."""
    if obj.mode == "EDIT":
        raise Problem(f"'{obj.name}' is in edit mode. Leave it first")
    if obj.library is not None:
        raise Problem(f"'{obj.name}' is linked from another file. Make a library override first (Object > Library Override > Make)")
    if modifier.find(obj) is not None:
        raise Problem(f"'{obj.name}' has Sinew already. Choose another graph in the panel")
    index, replaced = _place(obj)
    own = obj.sinew
    own.tree = tree
    own.armature = presets.armature_of(obj)
    own.replaced = replaced.name if replaced else ""
    own.bind_object = flat(matrix(obj.matrix_world))
    own.bind_armature = flat(matrix(own.armature.matrix_world)) if own.armature else flat(matrix(obj.matrix_world))
    if replaced is not None:
        replaced.show_viewport = replaced.show_render = False
    made = modifier.add(obj, index)
    # The viewport must not read the scene while a render evaluates it.
    scene.render.use_lock_interface = True
    live.bind(obj)
    return made


def remove(obj: bpy.types.Object) -> None:
    """Takes Sinew off, and switches the armature modifier on again."""
    found = modifier.find(obj)
    if found is not None:
        modifier.release(found)
        obj.modifiers.remove(found)
    replaced = obj.modifiers.get(obj.sinew.replaced) if obj.sinew.replaced else None
    from .out import bake

    # A bake plays in its place.
    if replaced is not None and not bake.active_bake(obj):
        replaced.show_viewport = replaced.show_render = True
    for name in ("tree", "armature", "output", "replaced", "bind_object", "bind_armature"):
        obj.sinew.property_unset(name)
    live.bind(obj)


def _place(obj: bpy.types.Object) -> tuple[int, bpy.types.Modifier | None]:
    """Index for the modifier, and the armature modifier that it replaces."""
    if obj.parent is not None and obj.parent_type == "ARMATURE":
        raise Problem(
            f"'{obj.name}' is deformed by its parent '{obj.parent.name}' without a modifier. "
            "In Object > Parent, clear the parent and parent again with 'Armature Deform'"
        )
    found = [(i, m) for i, m in enumerate(obj.modifiers) if m.type == "ARMATURE" and m.object is not None]
    if len(found) > 1:
        names = ", ".join(f"'{m.name}'" for _, m in found)
        raise Problem(f"'{obj.name}' has several armature modifiers: {names}. Keep one")
    index, armature = found[0] if found else (0, None)
    for other in list(obj.modifiers)[:index]:
        if other.type in modifier.CHANGE_VERTICES:
            raise Problem(
                f"Modifier '{other.name}' before the armature changes the vertices that Sinew deforms. Apply it, or move it after '{armature.name}'"
            )
    return index, armature


def use(context: bpy.types.Context, obj: bpy.types.Object, tree: bpy.types.NodeTree) -> None:
    """Lets a graph deform an object. If it cannot, the object stays as it was."""
    before = obj.sinew.tree if modifier.find(obj) is not None else None
    if before is None:
        add(obj, tree, context.scene)
    else:
        obj.sinew.tree = tree
        live.bind(obj)
    context.view_layer.update()
    text = live.message(obj)
    if not text:
        return
    if before is None:
        remove(obj)
    else:
        obj.sinew.tree = before
        live.bind(obj)
    context.view_layer.update()
    raise Problem(text)


class SINEW_OT_add(Operator):
    """Deform the selected mesh or hair with a Sinew graph. It takes the place of the armature modifier"""

    bl_idname = "sinew.add"
    bl_label = "Add Sinew"

    preset: bpy.props.EnumProperty(name="Start", description="Graph to start with", items=presets.items)

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        tree = presets.tree(obj, self.preset)
        if modifier.find(obj) is not None:
            raise Problem(f"'{obj.name}' has Sinew already. Choose another graph in the panel")
        try:
            use(context, obj, tree)
        except Problem:
            if self.preset.startswith("preset:"):
                bpy.data.node_groups.remove(tree)
            raise
        bound = live.session(obj)
        for warning in bound.warnings if bound else []:
            self.report({"WARNING"}, warning)
        return f"'{obj.name}' is deformed by graph '{tree.name}'"


class SINEW_OT_remove(Operator):
    """Take Sinew off the active object. The graph stays in the file"""

    bl_idname = "sinew.remove"
    bl_label = "Remove Sinew"

    def run(self, context: bpy.types.Context) -> None:
        obj = target(context)
        if obj.sinew.tree is None and modifier.find(obj) is None:
            raise Problem(f"'{obj.name}' has no Sinew graph")
        remove(obj)


class SINEW_OT_rebind(Operator):
    """Read mesh, weights, armature and graph again"""

    bl_idname = "sinew.rebind"
    bl_label = "Rebind"

    move: bpy.props.BoolProperty(name="Take Position", description="The position where the object stands now is the one that it was bound at", default=False)

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        if obj.sinew.tree is None:
            raise Problem(f"'{obj.name}' has no Sinew graph. Press Add Sinew")
        if modifier.find(obj) is None:
            modifier.add(obj, _place(obj)[0])
        if self.move:
            obj.sinew.bind_object = flat(matrix(obj.matrix_world))
            if obj.sinew.armature:
                obj.sinew.bind_armature = flat(matrix(obj.sinew.armature.matrix_world))
        live.bind(obj)
        context.view_layer.update()
        if live.message(obj):
            raise Problem(live.message(obj))
        return f"'{obj.name}' is bound"


class SINEW_OT_restart(Operator):
    """Start simulations of the active object again at the next frame"""

    bl_idname = "sinew.restart"
    bl_label = "Restart Simulation"

    def run(self, context: bpy.types.Context) -> None:
        bound = live.session(target(context))
        if bound is not None:
            bound.restart()


class SINEW_OT_graph_load(Operator, ImportHelper):
    """Read a graph document (JSON) into a node graph for the active object"""

    bl_idname = "sinew.graph_load"
    bl_label = "Load Graph"
    filename_ext = ".json"
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN"})

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        document, name = documents.load(bpy.path.abspath(self.filepath))
        tree = nodes.from_document(document, name)
        try:
            use(context, obj, tree)
        except Problem as problem:
            raise Problem(f"{problem}. '{obj.name}' stays as it was; graph '{tree.name}' is in the file, to be mended") from problem
        return f"Graph '{tree.name}' deforms '{obj.name}'"


class SINEW_OT_graph_save(Operator, ExportHelper):
    """Write the graph of the active object as a document (JSON)"""

    bl_idname = "sinew.graph_save"
    bl_label = "Save Graph"
    filename_ext = ".json"
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN"})

    def run(self, context: bpy.types.Context) -> str:
        tree = target(context).sinew.tree
        if tree is None:
            raise Problem("The object has no Sinew graph. Press Add Sinew")
        from .out import bake

        path = bake.absolute(self.filepath)
        text = json.dumps(nodes.to_document(tree), indent=2, ensure_ascii=False)
        with bake.files(), bake.complete(path) as unfinished, open(unfinished, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        for note in nodes.notes_of(tree):
            self.report({"WARNING"}, note)
        return f"Wrote {path}"


CLASSES = [SINEW_OT_add, SINEW_OT_remove, SINEW_OT_rebind, SINEW_OT_restart, SINEW_OT_graph_load, SINEW_OT_graph_save]


def register() -> None:
    """Registers the operators."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Removes them."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
