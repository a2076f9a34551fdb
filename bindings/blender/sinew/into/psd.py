# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports pose drivers of other programs (PSD JSON, PoseWrangler) into the graph of the active object."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

import bpy
from bpy_extras.io_utils import ImportHelper

from .. import live, modifier, nodes, operators, presets
from ..core import sd
from ..report import Operator, Problem
from . import merge, poses

AXES = [
    (
        "JOINT",
        "Joints of the File",
        "The poses have the axes of joints in the glTF or FBX file that was imported. Bones without stored axes count as they are",
    ),
    ("BONE", "Bones", "The poses have the axes of Blender's bones"),
]
ORDERS = [
    ("published", "Published", "BasisFunction 0 is linear, 3 the Gaussian: the order in the description of the format"),
    ("unreal", "Unreal", "BasisFunction 0 is the Gaussian, 2 linear"),
]
UPS = [("y", "Y", "Y points up in the other program"), ("z", "Z", "Z points up in the other program")]


class SINEW_OT_import_psd(Operator, ImportHelper):
    """Import pose drivers (PSD JSON, PoseWrangler JSON) into the graph of the active object"""

    bl_idname = "sinew.import_psd"
    bl_label = "Import Pose Drivers"
    filename_ext = ".json"
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN"})
    axes: bpy.props.EnumProperty(name="Axes", description="Axes in which the file has its rotations", items=AXES)
    basis_order: bpy.props.EnumProperty(name="Basis Order", description="Meaning of the numbers of BasisFunction in PSD JSON", items=ORDERS)
    up: bpy.props.EnumProperty(name="Up", description="Up axis of joint frames in the other program", items=UPS)
    unit: bpy.props.FloatProperty(name="Unit", description="Metres of one unit in the other program", default=0.01, min=1e-6)

    def run(self, context: bpy.types.Context) -> str:
        obj = operators.target(context)
        if obj.type != "MESH":
            raise Problem(f"'{obj.name}' is hair. Select the mesh that the drivers correct")
        armature = obj.sinew.armature or presets.armature_of(obj)
        if armature is None:
            raise Problem(f"'{obj.name}' has no armature. Pose drivers need its bones: parent the mesh to an armature first")
        drivers, lost = self._read()
        match = merge.Match([b.name for b in armature.data.bones], [k.name for k in _keys(obj)])
        if self.axes == "BONE":
            poses.to_graph_axes(drivers, armature, match)
        added, notes = merge.take(drivers, match)
        if not added.drivers:
            raise Problem(f"No driver of the file fits '{armature.name}'. {'. '.join(notes)}")
        self._give(context, obj, added)
        for note in [*notes, *lost]:
            self.report({"WARNING"}, note)
        text = f"{len(added.drivers)} pose drivers are in graph '{obj.sinew.tree.name}'"
        return ". ".join([text, *notes])

    def _read(self) -> tuple[dict[str, Any], list[str]]:
        """The file as a graph document, and what the package says about it."""
        with tempfile.TemporaryDirectory(dir=bpy.app.tempdir) as folder:
            out = os.path.join(folder, "drivers.json")
            path = bpy.path.abspath(self.filepath)
            result = sd.psd.convert(path, output=out, to="graph", basis_order=self.basis_order, up=self.up, unit_metres=self.unit)
            with open(out, encoding="utf-8") as file:
                document = json.load(file)
        # What the graph does not need is no loss for it.
        return document, [w["message"] for w in result.warnings if w["event"] == "assumed"]

    def _give(self, context: bpy.types.Context, obj: bpy.types.Object, added: merge.Drivers) -> None:
        """Puts the drivers into the graph of the object; makes one if it has none."""
        own = modifier.find(obj)
        tree = obj.sinew.tree if own is not None else None
        before = nodes.to_document(tree) if tree is not None else None
        after = merge.insert(before or {"sinew": "1.0", "stack": ["skin"]}, added)
        if tree is not None:
            nodes.replace(tree, after)
            live.bind(obj)
        else:
            tree = nodes.from_document(after, "pose drivers")
            operators.add(obj, tree, context.scene)
        context.view_layer.update()
        text = live.message(obj)
        if text and before is not None:
            nodes.replace(tree, before)
            live.bind(obj)
            raise Problem(f"The drivers do not fit the graph, which stays as it was: {text}")
        if text:
            operators.remove(obj)
            bpy.data.node_groups.remove(tree)
            raise Problem(f"The drivers do not fit '{obj.name}': {text}")


def _keys(obj: bpy.types.Object) -> list[bpy.types.ShapeKey]:
    keys = obj.data.shape_keys
    return [b for b in keys.key_blocks if b != keys.reference_key] if keys else []


def register() -> None:
    """Registers the operator."""
    bpy.utils.register_class(SINEW_OT_import_psd)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_OT_import_psd)
