"""Meshes, joints, hair and clips as NumPy arrays, for ``Character.from_arrays``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import UsageError

Array = npt.NDArray[Any]


def _array(value: object, dtype: npt.DTypeLike, shape: tuple[int | None, ...], what: str) -> Array:
    """``value`` as a contiguous array of ``dtype``; ``None`` in ``shape`` stands for any length."""
    try:
        given = np.asarray(value)
        out = given if given.dtype == dtype else _converted(given, np.dtype(dtype), what)
    except UsageError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what}: not an array of numbers: {error}", code="array", location=what) from error
    expected = ", ".join("any" if n is None else str(n) for n in shape)
    fits = out.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, out.shape))
    # An empty list has no second axis.
    if not fits and out.size == 0 and None in shape:
        out, fits = out.reshape([0 if n is None else n for n in shape]), True
    if not fits:
        raise UsageError(
            f"{what}: found an array of shape {out.shape}, expected ({expected})",
            code="shape",
            location=what,
            found=str(out.shape),
            expected=f"({expected})",
        )
    return np.ascontiguousarray(out)


def _converted(given: Array, dtype: np.dtype[Any], what: str) -> Array:
    """Converts numbers; an index that does not fit is an error, since NumPy would wrap it."""
    if given.size == 0:
        return given.astype(dtype)
    if given.dtype.kind not in "biuf":
        raise UsageError(f"{what}: found {given.dtype}, expected numbers", code="dtype", location=what)
    if dtype.kind == "u":
        largest = np.iinfo(dtype).max
        wrong = (given < 0) | (given > largest) | (given != np.floor(given))
        if bool(wrong.any()):
            first = given[wrong].ravel()[0]
            raise UsageError(
                f"{what}: found the index {first}, expected whole numbers from 0 to {largest}",
                code="index",
                location=what,
                found=str(first),
                expected=f"whole numbers from 0 to {largest}",
            )
    return given.astype(dtype)


def _optional(value: object, dtype: npt.DTypeLike, shape: tuple[int | None, ...], what: str) -> Array | None:
    return None if value is None else _array(value, dtype, shape, what)


def _skin(joints: object, weights: object, count: int, what: str) -> tuple[Array | None, Array | None]:
    """Influences of each vertex; both arrays or none."""
    if (joints is None) != (weights is None):
        raise UsageError(f"{what}: give joint_indices and joint_weights together", code="skin", location=what)
    return (
        _optional(joints, np.uint32, (count, None), f"{what}.joint_indices"),
        _optional(weights, np.float32, (count, None), f"{what}.joint_weights"),
    )


@dataclass(eq=False)
class Joint:
    """A joint of a skeleton. Parents come before their children."""

    name: str
    """Name, as graphs call it."""
    parent: int | None
    """Index of the parent in the list of joints; ``None`` for a root."""
    matrix: Any
    """(4, 4) rest transform, ``parent_from_joint``; of a root ``scene_from_joint``. Column vectors, metres."""
    inverse_bind: Any = None
    """(4, 4) ``joint_from_scene`` at bind. Default: the inverse of the rest transform in scene space."""

    def __post_init__(self) -> None:
        if self.parent is not None and not isinstance(self.parent, (int, np.integer)):
            what, expected = f"joint {self.name}: parent", "the index of a joint, or None"
            raise UsageError(f"{what}: found {self.parent!r}, expected {expected}", code="index", location=what, expected=expected)
        self.matrix = _array(self.matrix, np.float64, (4, 4), f"joint {self.name}: matrix")
        self.inverse_bind = _optional(self.inverse_bind, np.float64, (4, 4), f"joint {self.name}: inverse_bind")


@dataclass(eq=False)
class Target:
    """A morph target (blend shape)."""

    name: str
    """Name, as clips and graphs call it."""
    deltas: Any
    """(t, 3) offsets of rest positions, metres."""
    vertices: Any = None
    """(t,) vertices of the offsets, increasing. Default: all vertices."""
    normals: Any = None
    """(t, 3) offsets of normals."""
    weight: float = 0.0
    """Weight at rest."""

    def __post_init__(self) -> None:
        what = f"target {self.name}"
        self.deltas = _array(self.deltas, np.float32, (None, 3), f"{what}: deltas")
        count = len(self.deltas)
        self.vertices = _optional(self.vertices, np.uint32, (count,), f"{what}: vertices")
        self.normals = _optional(self.normals, np.float32, (count, 3), f"{what}: normals")


@dataclass(eq=False)
class Mesh:
    """A mesh at rest, in scene space: right-handed, Y up, metres.

    Give faces once: as ``faces``, as ``triangles``, or as ``face_counts`` and ``face_corners``.
    """

    name: str
    """Name of the mesh."""
    positions: Any
    """(n, 3) rest positions, metres."""
    triangles: Any = None
    """(m, 3) vertices of triangles, counter-clockwise."""
    face_counts: Any = None
    """(f,) number of corners of each polygon."""
    face_corners: Any = None
    """(c,) vertex of each corner, polygon after polygon, counter-clockwise."""
    normals: Any = None
    """(n, 3) unit normals."""
    tangents: Any = None
    """(n, 4) unit tangents and the sign of the bitangent."""
    uvs: Sequence[Any] = ()
    """List of (n, 2) texture coordinates; v points down."""
    colors: Sequence[Any] = ()
    """List of (n, 4) colours, linear RGBA."""
    joint_indices: Any = None
    """(n, k) joint of each influence."""
    joint_weights: Any = None
    """(n, k) weight of each influence; unused ones are 0."""
    targets: Sequence[Target] = ()
    """Morph targets of the mesh."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Attributes by name: (n,) or (n, 2 to 4) floats, for example painted masks."""
    faces: InitVar[Any] = None
    """Polygons: an (m, k) array, or a list of lists of vertices."""

    def __post_init__(self, faces: Any) -> None:
        what = f"mesh {self.name}"
        self.positions = _array(self.positions, np.float32, (None, 3), f"{what}: positions")
        n = len(self.positions)
        self._take_faces(faces, what)
        self.normals = _optional(self.normals, np.float32, (n, 3), f"{what}: normals")
        self.tangents = _optional(self.tangents, np.float32, (n, 4), f"{what}: tangents")
        self.uvs = [_array(a, np.float32, (n, 2), f"{what}: uvs[{i}]") for i, a in enumerate(self.uvs)]
        self.colors = [_array(a, np.float32, (n, 4), f"{what}: colors[{i}]") for i, a in enumerate(self.colors)]
        self.joint_indices, self.joint_weights = _skin(self.joint_indices, self.joint_weights, n, what)
        self.targets = list(self.targets)
        self.attributes = {k: _attribute(v, n, f"{what}: attribute {k}") for k, v in self.attributes.items()}

    def _take_faces(self, faces: Any, what: str) -> None:
        polygons = self.face_counts is not None or self.face_corners is not None
        if (faces is not None) + (self.triangles is not None) + polygons > 1:
            raise UsageError(f"{what}: give faces, triangles or face_counts, only one of them", code="faces")
        if faces is not None:
            self._take_polygons(faces, what)
        self.triangles = _optional(self.triangles, np.uint32, (None, 3), f"{what}: triangles")
        self.face_counts = _optional(self.face_counts, np.uint32, (None,), f"{what}: face_counts")
        self.face_corners = _optional(self.face_corners, np.uint32, (None,), f"{what}: face_corners")
        if (self.face_counts is None) != (self.face_corners is None):
            raise UsageError(f"{what}: give face_counts and face_corners together", code="faces")

    def _take_polygons(self, faces: Any, what: str) -> None:
        counts = [len(face) for face in faces]
        if set(counts) <= {3}:
            self.triangles = faces
            return
        self.face_counts = counts
        corners = [np.asarray(face).ravel() for face in faces]
        self.face_corners = np.concatenate(corners) if corners else []


def _attribute(value: object, count: int, what: str) -> Array:
    given = np.asarray(value)
    if given.ndim == 1:
        return _array(given, np.float32, (count,), what)
    width = given.shape[1] if given.ndim == 2 and given.shape[1] in (2, 3, 4) else None
    if width is None:
        raise UsageError(
            f"{what}: found an array of shape {given.shape}, expected ({count},) or ({count}, 2 to 4)",
            code="shape",
            location=what,
        )
    return _array(given, np.float32, (count, width), what)


@dataclass(eq=False)
class Strands:
    """Strands of hair at rest, in scene space, metres."""

    name: str
    """Name of the strands."""
    positions: Any
    """(n, 3) rest positions, root first, strand after strand."""
    counts: Any
    """(s,) vertices of each strand, at least 2."""
    guides: Any = None
    """(s,) guide of each strand: its own index, or that of the strand that it follows. Default: all are guides."""
    thickness: Any = None
    """(n,) diameters, metres."""
    joint_indices: Any = None
    """(n, k) joint of each influence."""
    joint_weights: Any = None
    """(n, k) weight of each influence."""

    def __post_init__(self) -> None:
        what = f"strands {self.name}"
        self.positions = _array(self.positions, np.float32, (None, 3), f"{what}: positions")
        n = len(self.positions)
        self.counts = _array(self.counts, np.uint32, (None,), f"{what}: counts")
        self.guides = _optional(self.guides, np.uint32, (len(self.counts),), f"{what}: guides")
        self.thickness = _optional(self.thickness, np.float32, (n,), f"{what}: thickness")
        self.joint_indices, self.joint_weights = _skin(self.joint_indices, self.joint_weights, n, what)


@dataclass(eq=False)
class Clip:
    """An animation. All tracks have a key at each time; what has no track stays at rest."""

    name: str
    """Name of the clip."""
    times: Any
    """(k,) times of the keys, seconds, increasing."""
    translations: Mapping[int, Any] = field(default_factory=dict)
    """(k, 3) translations by joint, metres, in the space of the parent."""
    rotations: Mapping[int, Any] = field(default_factory=dict)
    """(k, 4) quaternions x, y, z, w by joint."""
    scales: Mapping[int, Any] = field(default_factory=dict)
    """(k, 3) scales by joint."""
    weights: Mapping[int, Any] = field(default_factory=dict)
    """(k, targets) morph weights by index of the mesh."""

    def __post_init__(self) -> None:
        self.times = _array(self.times, np.float32, (None,), f"clip {self.name}: times")
        self.translations = self._tracks("translations", 3)
        self.rotations = self._tracks("rotations", 4)
        self.scales = self._tracks("scales", 3)
        self.weights = self._tracks("weights", None)

    def _tracks(self, which: str, width: int | None) -> dict[int, Array]:
        given: Mapping[int, Any] = getattr(self, which)
        shape = (len(self.times), width)
        for index in given:
            if not isinstance(index, (int, np.integer)):
                what = f"clip {self.name}: {which}"
                raise UsageError(f"{what}: found the key {index!r}, expected an index", code="index", location=what)
        return {
            int(index): _array(keys, np.float32, shape, f"clip {self.name}: {which}[{index}]")
            for index, keys in given.items()
        }
