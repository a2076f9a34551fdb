# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports object and armature as GLB, with the graph inside: other programs show plain skinning, Sinew deforms as it is live."""

from __future__ import annotations

import os
from typing import Any

import bpy
import numpy as np

from .. import jobs, modifier
from ..core import sd
from ..jobs import Steps
from ..report import Problem
from ..session import Session
from ..space import matrix
from . import actions, bake, embedded, gltf_axes, prepared

MOVE = "Go to a frame where it is, or press Rebind with Take Position"


class SINEW_OT_export_glb(bake.BakeOperator):
    """Export the object with its armature, shape keys, animation and graph as one GLB file"""

    bl_idname = "sinew.export_glb"
    bl_label = "Export GLB"
    bl_options = {"REGISTER"}
    filename_ext = ".glb"

    filepath: bpy.props.StringProperty(
        name="File", description="GLB file. Empty: in the cache folder", subtype="FILE_PATH", options=bake.PATH_OPTIONS
    )
    filter_glob: bpy.props.StringProperty(default="*.glb", options={"HIDDEN"})

    def steps(self, context: bpy.types.Context) -> Steps:
        obj = bake.deformed(context)
        first, last = self.range(context)
        if first < 0:
            raise Problem(f"The range starts at {first}. glTF has no times before 0: start at frame 0 or later")
        session = bake.bound(context, obj)
        path = bake.absolute(self.filepath or bake.default_path(obj, ".glb"), ".glb")
        new, lost = bake.new_folder(path), []
        document = embedded.document(session, obj, context.scene, lost)
        lost += _lost(obj, session)
        if not _is_at_bind(obj, session):
            self.report(
                {"WARNING"}, f"'{obj.name}' is not where it was bound: nodes with places in the scene may differ in the file. {MOVE}"
            )
        yield 0, 2
        with bake.temporary_folder() as folder, bake.complete(path) as temporary:
            plain = os.path.join(folder, "plain.glb")
            with prepared.prepared(obj, session, document) as masks:
                colors = "ACTIVE" if embedded.reads_colors(document) else "MATERIAL"
                chosen = actions.clips(obj.sinew.armature, first, last)
                others = [os.path.join(folder, f"clip_{i}.glb") for i in range(1, len(chosen))]
                for target, clip in zip([plain, *others], chosen):
                    with actions.shown(obj.sinew.armature, clip):
                        _export(context, target, objects(obj, session), (clip.first, clip.last), colors)
            with bake.files(path):
                if others:
                    actions.join(plain, others, [clip.name for clip in chosen])
                prepared.name_masks(plain, masks)
                gltf_axes.to_graph_axes(plain, obj.sinew.armature)
            yield 1, 2
            results: list[Any] = []
            graph = embedded.graph(document, session)
            yield from jobs.threaded(
                lambda progress, cancel: sd.embed(plain, graph, output=temporary, force=True, progress=progress, cancel=cancel), results
            )
        clips = f" with the clips {', '.join(clip.name for clip in chosen)}" if others else ""
        missing = f". Not in the file: {'; '.join(lost)}" if lost else ""
        self.result = f"Wrote {path}{clips}{new}{missing}"


def objects(obj: bpy.types.Object, session: Session) -> list[bpy.types.Object]:
    """The object, its armature, and what the graph reads besides."""
    armature = obj.sinew.armature
    if armature is not None and not any(m.type == "ARMATURE" and m.object == armature for m in obj.modifiers):
        raise Problem(
            f"'{obj.name}' has no armature modifier with '{armature.name}'. Blender's exporter needs one: add it after Sinew, and switch it off"
        )
    out = [obj, *([obj.sinew.armature] if obj.sinew.armature else [])]
    for name in (n for names in session.extras.values() for n in names):
        other = bpy.data.objects[name]
        if other.type != "MESH":
            raise Problem(f"The graph reads '{name}', which is hair. Blender's GLB exporter writes meshes only: use Alembic")
        out.append(other)
    return out


def _is_at_bind(obj: bpy.types.Object, session: Session) -> bool:
    """The exporter takes the rest mesh where the object is now."""
    now = (
        (matrix(obj.matrix_world), matrix(obj.sinew.armature.matrix_world)) if obj.sinew.armature else (session.binds[0], session.binds[1])
    )
    return all(np.allclose(a, b, rtol=0.0, atol=1e-6 * max(1.0, np.abs(b).max())) for a, b in zip(now, session.binds))


def _lost(obj: bpy.types.Object, session: Session) -> list[str]:
    """What live deformation has and the file has not."""
    out = []
    for other in obj.modifiers:
        if other == modifier.find(obj):
            break
        if other.show_viewport:
            out.append(f"modifier '{other.name}' before Sinew")
    if session.live.value_inputs(obj.sinew.tree):
        out.append("numbers of 'values' inputs")
    return out


def _export(context: bpy.types.Context, path: str, exported: list[bpy.types.Object], frames: tuple[int, int], colors: str) -> None:
    """Blender's exporter: rest mesh, skin, shape keys, and the scene's animation frame by frame."""
    scene = context.scene
    kept = (scene.frame_start, scene.frame_end, scene.frame_current, scene.frame_subframe)
    try:
        scene.frame_start, scene.frame_end = frames
        with bake.selected(context, exported):
            done = bpy.ops.export_scene.gltf(
                filepath=path,
                export_format="GLB",
                use_selection=True,
                export_yup=True,
                export_apply=False,
                export_skins=True,
                export_all_influences=True,
                export_def_bones=False,
                export_morph=True,
                export_attributes=True,
                export_vertex_color=colors,
                export_animations=True,
                export_animation_mode="SCENE",
                export_anim_scene_split_object=False,
                export_frame_range=True,
                export_frame_step=1,
                export_force_sampling=True,
                export_optimize_animation_size=False,
            )
    finally:
        scene.frame_start, scene.frame_end = kept[:2]
        scene.frame_set(kept[2], subframe=kept[3])
    if "FINISHED" not in done or not os.path.exists(path):
        raise Problem("Blender's glTF exporter failed. Its console says why")


def register() -> None:
    """Registers the operator."""
    bpy.utils.register_class(SINEW_OT_export_glb)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_OT_export_glb)
