"""Sinew: a deformer graph for characters, on the CPU and the GPU.

>>> import sinew_deform as sd
>>> arm = sd.Character.sample("arm")
>>> player = sd.Player(arm, sd.Graph.from_nodes("skin", sd.nodes.delta_mush(iterations=8)))
>>> player.advance(10)
>>> player["body"].positions().shape
(7681, 3)
"""

from __future__ import annotations

from . import graph, jobs, nodes, psd, vat
from ._arrays import Clip, Joint, Mesh, Strands, Target
from ._errors import (
    BindError,
    Cancelled,
    DeviceError,
    Diagnostic,
    FileError,
    GraphError,
    SinewError,
    UsageError,
)
from ._native import (
    Character,
    ClipView,
    Crowd,
    Graph,
    JointView,
    MeshView,
    Output,
    Player,
    Warning,
    adapters,
    node_list,
    simd_level,
)
from ._native import version as __version__
from ._support import PathLike, Report
from ._support import read_pixels as read_picture
from .graph import Keys, Link, Node, Param, keys, link, node, param
# begin jobs: generate.py writes it
from .jobs import (
    bake_skin,
    bake_vat,
    bench,
    check,
    convert,
    demo,
    doctor,
    embed,
    field,
    hair_grow,
    init,
    inspect,
    render,
    run,
)
# end jobs

__all__ = [
    "BindError",
    "Cancelled",
    "Character",
    "Clip",
    "ClipView",
    "Crowd",
    "DeviceError",
    "Diagnostic",
    "FileError",
    "Graph",
    "GraphError",
    "Joint",
    "JointView",
    "Keys",
    "Link",
    "Mesh",
    "MeshView",
    "Node",
    "Output",
    "Param",
    "Player",
    "Report",
    "SinewError",
    "Strands",
    "Target",
    "UsageError",
    "Warning",
    "__version__",
    "adapters",
    "graph",
    "jobs",
    "keys",
    "link",
    "load",
    "node",
    "node_list",
    "nodes",
    "param",
    "psd",
    "read_picture",
    "simd_level",
    "vat",
]
# begin names of jobs: generate.py writes it
__all__ += [
    "bake_skin",
    "bake_vat",
    "bench",
    "check",
    "convert",
    "demo",
    "doctor",
    "embed",
    "field",
    "hair_grow",
    "init",
    "inspect",
    "render",
    "run",
]
# end names of jobs


def load(path: PathLike) -> Character:
    """Reads a character; the same as ``Character.load``.

    Args:
        path: A character file, such as GLB, glTF, VRM, FBX, OBJ or PLY.

    Raises:
        FileError: The file is missing or wrong.
    """
    return Character.load(path)
