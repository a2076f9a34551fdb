# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports a character with Blender's importers, and its graph with it."""

from __future__ import annotations

import os
import re
from typing import Any

import bpy
from bpy_extras.io_utils import ImportHelper

from .. import documents, live, nodes, operators, presets
from ..core import sd
from ..report import Operator, Problem
from . import axes, times

ENDINGS = {".glb", ".gltf", ".vrm", ".fbx"}
BONES = [
    ("BLENDER", "As in the File", "Bones have the axes of the file's joints"),
    ("TEMPERANCE", "Temperance", "Bones point at their children, where that is a rotation by right angles"),
    ("FORTUNE", "Fortune", "Bones point at their children"),
]


class SINEW_OT_import_glb(Operator, ImportHelper):
    """Import a character (GLB, glTF, VRM, FBX). A graph in the file deforms it as in Sinew"""

    bl_idname = "sinew.import_glb"
    bl_label = "Import Character with Graph"
    filename_ext = ".glb"
    filter_glob: bpy.props.StringProperty(default="*.glb;*.gltf;*.vrm;*.fbx", options={"HIDDEN"})
    bones: bpy.props.EnumProperty(
        name="Bones", description="Directions of bones. Twist axes and poses of drivers keep their meaning with all of them", items=BONES
    )

    def run(self, context: bpy.types.Context) -> str:
        path = bpy.path.abspath(self.filepath)
        if os.path.splitext(path)[1].lower() not in ENDINGS:
            raise Problem(f"'{path}' is no GLB, glTF, VRM or FBX file. Choose one that ends in .glb, .gltf, .vrm or .fbx")
        character = sd.load(path)
        takes_times = times.is_default(context.scene)
        if takes_times:
            times.set_rate(context.scene, path)
        made = _import(path, self.bones)
        if takes_times:
            times.set_range(context.scene, made)
        for obj in made:
            if obj.type == "ARMATURE":
                for warning in axes.store(obj, character):
                    self.report({"WARNING"}, warning)
        meshes = _meshes(made, character)
        _name_masks(meshes, character)
        if character.graph is None:
            return f"Imported {os.path.basename(path)}. It has no graph: press Add Sinew to add one"
        deformed = _add_graph(context, character, meshes)
        failed = [o for o in deformed if live.message(o)]
        if failed:
            raise Problem(f"'{failed[0].name}' was imported, but its graph fails: {live.message(failed[0])}")
        return f"Imported {os.path.basename(path)}. Its graph deforms {axes.some([o.name for o in deformed])}"


def _import(path: str, heuristic: str) -> list[bpy.types.Object]:
    """The new objects."""
    known = set(bpy.data.objects)
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        is_fbx = path.lower().endswith(".fbx")
        done = _import_fbx(path) if is_fbx else bpy.ops.import_scene.gltf(filepath=path, bone_heuristic=heuristic)
    except RuntimeError as error:
        raise Problem(f"Blender cannot import '{path}': {error}") from error
    if "FINISHED" not in done:
        raise Problem(f"Blender cannot import '{path}'. Its console says why")
    return [obj for obj in bpy.data.objects if obj not in known]


def _import_fbx(path: str) -> set[str]:
    """Blender 5 has an importer of its own; the add-on of earlier versions stays for those."""
    if hasattr(bpy.types, "WM_OT_fbx_import"):
        return bpy.ops.wm.fbx_import(filepath=path)
    return bpy.ops.import_scene.fbx(filepath=path)


def _meshes(made: list[bpy.types.Object], character: Any) -> dict[str, bpy.types.Object]:
    """Objects by the names of the file's meshes. Blender adds a number where the name is taken."""
    out: dict[str, bpy.types.Object] = {}
    objects = {obj.name: obj for obj in made if obj.type == "MESH"}
    for mesh in character.meshes:
        found = objects.get(mesh.name) or next((o for n, o in objects.items() if re.fullmatch(re.escape(mesh.name) + r"\.\d{3,}", n)), None)
        if found is not None:
            out[mesh.name] = found
    return out


def _name_masks(meshes: dict[str, bpy.types.Object], character: Any) -> None:
    """Blender keeps the underscore that attributes have in glTF files. Graphs name them without it."""
    for mesh in character.meshes:
        if mesh.name in meshes:
            data = meshes[mesh.name].data
            for name in mesh.attributes:
                found = data.attributes.get(f"_{name}")
                if found is not None and name not in data.attributes:
                    found.name = name


def _add_graph(context: bpy.types.Context, character: Any, meshes: dict[str, bpy.types.Object]) -> list[bpy.types.Object]:
    """Adds the graph to the meshes that it deforms."""
    document = documents.parsed(sd.Graph.embedded(character).text)
    inputs = document.get("inputs") or {"body": {"type": "mesh"}, "pose": {"type": "pose"}}
    main = [keys for name, keys in inputs.items() if keys.get("type") == "mesh" and "file" not in keys]
    if not main:
        raise Problem("The character was imported. Its graph deforms no mesh: add it to hair curves by hand (Load Graph)")
    usual = inputs["body"] if inputs.get("body") in main else main[0]
    chosen = [obj for name, obj in meshes.items() if _fits(usual.get("select", "*"), name)]
    posed = any(keys.get("type") == "pose" for keys in inputs.values())
    chosen = [o for o in chosen if not posed or presets.armature_of(o) is not None] or chosen
    if not chosen:
        raise Problem(f"The character was imported. Its graph takes meshes named '{usual.get('select')}', and the file has none")
    _rename(inputs, meshes)
    tree = nodes.from_document(document, sd.Graph.embedded(character).name)
    for obj in chosen:
        operators.add(obj, tree, context.scene)
    context.view_layer.objects.active = chosen[0]
    context.view_layer.update()
    context.scene.frame_set(context.scene.frame_current)
    return chosen


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), name) is not None


def _rename(inputs: dict[str, Any], meshes: dict[str, bpy.types.Object]) -> None:
    """Other inputs name objects of the scene."""
    for keys in inputs.values():
        if keys.get("select") in meshes:
            keys["select"] = meshes[keys["select"]].name


def register() -> None:
    """Registers the operator."""
    bpy.utils.register_class(SINEW_OT_import_glb)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_OT_import_glb)
