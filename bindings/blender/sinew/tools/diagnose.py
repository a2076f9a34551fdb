# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of the nodes, and what is wrong here: the worst vertices, as a heat map and a list."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..operators import target
from ..report import Operator, Problem
from ..session import Session
from ..space import Matrix, Points
from . import graphs, mask, matrices
from .ui import SubPanel

HEAT = "sinew_heat"
HEAT_COLOR = "sinew_heat_color"
WORST = 10
REPEATS = 9
MEASURES = [
    ("SKIN", "Distance to Skin", "Distance of each vertex to plain linear skinning"),
    ("STRETCH", "Edge Stretch", "How much the edges of a vertex are longer or shorter than at rest"),
    ("INVERTED", "Inverted Faces", "Faces that turned over against their skin"),
]
UNITS = {"SKIN": ("{:.2f} mm", 1000.0), "STRETCH": ("{:.0f} %", 100.0), "INVERTED": ("{:.0f} faces", 1.0)}
# Blue, cyan, green, yellow, red.
RAMP: Matrix = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0]], np.float64)


@dataclass
class Findings:
    """The last measurement of an object."""

    measure: str
    frame: int
    rows: list[tuple[int, float, str]]
    """Vertex, number, joints that move it."""


FINDINGS: dict[int, Findings] = {}
TIMES: dict[int, list[tuple[str, float]]] = {}


def skinned(bound: Session) -> Points:
    """(n, 3) positions of plain linear skinning at the last frame, in scene space."""
    before = matrices.before_graph(bound)
    if not bound.skinned:
        return before
    declared = bound.document["inputs"]
    inputs = {bound.input: declared[bound.input], "pose": {"type": "pose"}}
    if bound.input == "pose":
        raise Problem("The mesh input is called 'pose'. Give it another name")
    given = {
        "sinew": "1.0",
        "inputs": inputs,
        "nodes": {"linear": {"node": "skin", "mesh": bound.input, "pose": "pose"}},
        "outputs": {"linear_out": "linear"},
    }
    player = matrices.player(bound, given)
    if bound.input in bound.last.positions:  # type: ignore[union-attr]
        player.set_positions(bound.input, before)
    matrices.advance(bound, player)
    return player["linear_out"].positions()  # type: ignore[no-any-return]


def distance_to_skin(bound: Session, _obj: bpy.types.Object) -> Matrix:
    """Metres, for each vertex."""
    return np.linalg.norm(bound.scene.astype(np.float64) - skinned(bound), axis=1)


def edge_stretch(bound: Session, obj: bpy.types.Object) -> Matrix:
    """The largest change of length of the edges of each vertex, as a share of their length before the graph."""
    ends = np.empty(len(obj.data.edges) * 2, np.int32)
    obj.data.edges.foreach_get("vertices", ends)
    a, b = ends.reshape(-1, 2).T
    out = np.zeros(bound.count)
    if not len(a):
        return out
    before = matrices.before_graph(bound).astype(np.float64)
    now = bound.scene.astype(np.float64)
    rest = np.linalg.norm(before[a] - before[b], axis=1)
    change = np.abs(np.linalg.norm(now[a] - now[b], axis=1) - rest) / np.where(rest > 0.0, rest, np.inf)
    np.maximum.at(out, a, change)
    np.maximum.at(out, b, change)
    return out


def inverted_faces(bound: Session, obj: bpy.types.Object) -> Matrix:
    """How many faces of each vertex point against the normal that their skin matrices give them."""
    corners = np.empty(len(obj.data.loops), np.int32)
    obj.data.loops.foreach_get("vertex_index", corners)
    starts = np.empty(len(obj.data.polygons), np.int32)
    obj.data.polygons.foreach_get("loop_start", starts)
    out = np.zeros(bound.count)
    if not len(starts):
        return out
    expected = _normals(matrices.before_graph(bound), corners, starts)
    face_of = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(corners))))
    if bound.skinned:
        linear = np.add.reduceat(matrices.blended(bound)[corners][:, :3, :3], starts, axis=0)
        # Normals move with the cofactors of the matrix.
        expected = np.stack([np.einsum("ni,ni->n", _cofactors(linear)[:, i], expected) for i in range(3)], axis=1)
    wrong = np.einsum("ni,ni->n", expected, _normals(bound.scene, corners, starts)) < 0.0
    np.add.at(out, corners, wrong[face_of].astype(np.float64))
    return out


def _normals(points: Points, corners: Any, starts: Any) -> Matrix:
    """(faces, 3) area vectors of polygons."""
    given = points.astype(np.float64)
    counts = np.diff(np.append(starts, len(corners)))
    following = np.arange(1, len(corners) + 1)
    following[starts + counts - 1] = starts
    centre = np.add.reduceat(given[corners], starts, axis=0) / counts[:, None]
    face_of = np.repeat(np.arange(len(starts)), counts)
    a, b = given[corners] - centre[face_of], given[corners[following]] - centre[face_of]
    return np.add.reduceat(np.cross(a, b), starts, axis=0)


def _cofactors(m: Matrix) -> Matrix:
    """(n, 3, 3) cofactor matrices."""
    return np.stack([np.cross(m[:, 1], m[:, 2]), np.cross(m[:, 2], m[:, 0]), np.cross(m[:, 0], m[:, 1])], axis=1)


MEASURE = {"SKIN": distance_to_skin, "STRETCH": edge_stretch, "INVERTED": inverted_faces}


def colors(values: Matrix) -> Matrix:
    """(n, 4) colours from blue, 0, to red, the largest."""
    top = float(values.max()) or 1.0
    at = np.clip(values / top, 0.0, 1.0) * (len(RAMP) - 1)
    below = np.minimum(at.astype(np.intp), len(RAMP) - 2)
    part = (at - below)[:, None]
    return np.c_[RAMP[below] * (1.0 - part) + RAMP[below + 1] * part, np.ones(len(values))]


def _write(obj: bpy.types.Object, values: Matrix) -> None:
    mask.write_attribute(obj, HEAT, values)
    shown = obj.data.color_attributes.get(HEAT_COLOR) or obj.data.color_attributes.new(HEAT_COLOR, "FLOAT_COLOR", "POINT")
    shown.data.foreach_set("color", colors(values).astype(np.float32).ravel())


def _rows(bound: Session, values: Matrix) -> list[tuple[int, float, str]]:
    order = np.argsort(-values, kind="stable")[:WORST]
    rows = []
    for vertex in order:
        if values[vertex] <= 0.0:
            break
        names = matrices.names_of_joints(bound, int(vertex)) if bound.skinned else []
        rows.append((int(vertex), float(values[vertex]), ", ".join(f"{n} {w:.2f}" for n, w in names)))
    return rows


class SINEW_OT_diagnose(Operator):
    """Find what is wrong in this frame: a heat map as attribute sinew_heat, and a list of the worst vertices"""

    bl_idname = "sinew.diagnose"
    bl_label = "Find Worst Vertices"

    measure: bpy.props.EnumProperty(name="Measure", description="Number of each vertex", items=MEASURES)

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        if obj.type != "MESH":
            raise Problem(f"'{obj.name}' is hair. This measures meshes")
        bound = graphs.session(context, obj)
        values = MEASURE[self.measure](bound, obj)
        _write(obj, values)
        found = FINDINGS[obj.session_uid] = Findings(self.measure, context.scene.frame_current, _rows(bound, values))
        if not found.rows:
            return "Nothing: the number is 0 at all vertices"
        form, factor = UNITS[self.measure]
        vertex, worst, joints = found.rows[0]
        return f"Largest: {form.format(worst * factor)} at vertex {vertex}" + (f" ({joints})" if joints else "")


class SINEW_OT_select_worst(Operator):
    """Select the listed vertices"""

    bl_idname = "sinew.select_worst"
    bl_label = "Select Worst"

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        found = FINDINGS.get(obj.session_uid)
        if found is None or not found.rows:
            raise Problem(f"Nothing is listed for '{obj.name}'. Press Find Worst Vertices first")
        editing = obj.mode == "EDIT"
        if editing:
            bpy.ops.object.mode_set(mode="OBJECT")
        chosen = np.zeros(len(obj.data.vertices), bool)
        listed = [vertex for vertex, _, _ in found.rows if vertex < len(chosen)]
        chosen[listed] = True
        mask.select(obj.data, chosen)
        if editing:
            bpy.ops.object.mode_set(mode="EDIT")
        return f"{len(listed)} vertices are selected: see them in edit mode"


class SINEW_OT_node_times(Operator):
    """Measure how long each node takes in this frame, on the CPU"""

    bl_idname = "sinew.node_times"
    bl_label = "Time Nodes"

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        bound = graphs.session(context, obj)
        times = measure_times(bound)
        TIMES[obj.session_uid] = times
        return f"{sum(seconds for _, seconds in times) * 1000:.2f} ms in {len(times)} nodes"


def measure_times(bound: Session) -> list[tuple[str, float]]:
    """Median seconds of each node at the pose of the last frame."""
    if not hasattr(type(bound.player), "node_times"):
        raise Problem("This version of the package sinew_deform does not time nodes. Install a newer one")
    player = matrices.player(bound, bound.document, profile=True)
    matrices.give_inputs(bound, player)
    measured: dict[str, list[float]] = {}
    for repeat in range(REPEATS + 1):
        matrices.advance(bound, player)
        # The first frame fills caches.
        if repeat:
            for name, seconds in player.node_times():
                measured.setdefault(name, []).append(seconds)
    return [(name, statistics.median(values)) for name, values in measured.items()]


class SINEW_PT_diagnose(SubPanel, bpy.types.Panel):
    """The worst vertices, and the time of each node."""

    bl_label = "Diagnose"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For objects with a graph."""
        return context.object is not None and context.object.sinew.tree is not None

    def show(self, context: bpy.types.Context) -> None:
        """Buttons and the last results."""
        obj = context.object
        layout = self.layout
        layout.operator_menu_enum("sinew.diagnose", "measure", icon="VIEWZOOM")
        found = FINDINGS.get(obj.session_uid)
        if found is not None and found.rows:
            form, factor = UNITS[found.measure]
            box = layout.box()
            column = box.column(align=True)
            column.scale_y = 0.8
            column.label(text=f"Frame {found.frame}: vertices and main joints")
            for vertex, number, joints in found.rows:
                split = column.split(factor=0.45)
                split.label(text=f"{vertex}: {form.format(number * factor)}")
                split.label(text=joints.split(", ")[0])
            box.operator("sinew.select_worst", icon="VERTEXSEL")
        layout.operator("sinew.node_times", icon="TIME")
        column = layout.column(align=True)
        column.scale_y = 0.8
        for name, seconds in TIMES.get(obj.session_uid, []):
            row = column.row()
            row.label(text=name)
            row.label(text=f"{seconds * 1000:.3f} ms")


@persistent
def _forget(*_: object) -> None:
    """A new file."""
    FINDINGS.clear()
    TIMES.clear()


CLASSES = [SINEW_OT_diagnose, SINEW_OT_select_worst, SINEW_OT_node_times, SINEW_PT_diagnose]


def register() -> None:
    """Registers operators and panel."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.app.handlers.load_post.append(_forget)


def unregister() -> None:
    """Removes them."""
    bpy.app.handlers.load_post.remove(_forget)
    _forget()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
