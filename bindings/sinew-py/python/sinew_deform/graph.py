"""Graph documents in Python: parameters, keys, links and nodes.

``sinew_deform.nodes`` has one function for each node. ``Graph.from_nodes`` turns nodes into a document.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._errors import UsageError

VERSION = "1.0"
"""Version of graph documents."""

_Scalar = Union[float, int, bool, str, Sequence[float], Mapping[str, Any], npt.NDArray[Any]]


@dataclass(frozen=True)
class Param:
    """A parameter of the graph. Make it by :func:`param`."""

    name: str
    default: Any = None
    min: float | None = None
    max: float | None = None
    doc: str | None = None
    type: str | None = None
    setup: bool | None = None

    def __str__(self) -> str:
        return f"${self.name}"


def param(
    name: str,
    default: _Scalar | None = None,
    *,
    min: float | None = None,
    max: float | None = None,
    doc: str | None = None,
    type: str | None = None,
    setup: bool | None = None,
) -> Param:
    """A parameter of the graph, as the value of a parameter of a node.

    ``player.set(name=value)`` changes it. The same name at several nodes is one parameter.

    Args:
        name: Name of the parameter.
        default: Value until somebody sets another. Default: 0, false or empty.
        min: Smallest value. Default: the smallest that the nodes take.
        max: Largest value. Default: the largest that the nodes take.
        doc: Text for people.
        type: Type in the document, such as ``"vec3"``. Default: the type that the node expects.
        setup: Whether only setup reads it. Default: as the node says.
    """
    return Param(name, default, min, max, doc, type, setup)


@dataclass(frozen=True)
class Keys:
    """A value over time. Make it by :func:`keys`."""

    keys: Sequence[Sequence[Any]]
    interpolation: str | None = None


def keys(*keys: Sequence[Any], interpolation: str | None = None) -> Keys:
    """A value over time: ``keys((0, 0.0), (0.5, 1.0))``.

    Args:
        keys: Pairs of seconds and value, with increasing seconds.
        interpolation: ``"linear"`` (default), ``"smooth"`` or ``"step"``.
    """
    return Keys(keys, interpolation)


@dataclass(frozen=True)
class Link:
    """A link to an output of a node or to an input of the graph. Make it by :func:`link` or ``node["port"]``."""

    target: Node | str
    port: str | None = None
    index: int | None = None
    remap: Sequence[Sequence[float]] | None = None
    interpolation: str | None = None


def link(
    target: Node | str,
    port: str | None = None,
    *,
    index: int | None = None,
    remap: Sequence[Sequence[float]] | None = None,
    interpolation: str | None = None,
) -> Link:
    """A link, for a parameter that follows numbers of a node or an input.

    Args:
        target: Node, or the name of a node or an input.
        port: Output of the node. Default: its first output.
        index: Which number of the output, from 0. Default: 0.
        remap: Points ``(from, to)`` of a curve that the number goes through.
        interpolation: Of ``remap``: ``"linear"`` (default), ``"smooth"`` or ``"step"``.
    """
    return Link(target, port, index, remap, interpolation)


@dataclass(eq=False)
class Node:
    """A node of a graph. Functions of ``sinew_deform.nodes`` make it.

    ``node["port"]`` links to an output; the node itself stands for its first output.
    """

    kind: str
    """Kind of the node, for example ``"delta_mush"``."""
    values: dict[str, Any] = field(default_factory=dict)
    """Keys of the node in the document."""
    name: str | None = None
    """Name in the document. Default: the kind, with a number if there are several."""

    def __getitem__(self, port: str) -> Link:
        return Link(self, port)

    def __repr__(self) -> str:
        return f"Node({self.kind!r}, name={self.name!r})"


# The types of node parameters in `sinew_deform.nodes`.
Input = Union[str, Node, Link]
"""What an input takes: a node, ``node["port"]``, or the name of a node or an input."""
Vector = Union[Sequence[float], npt.NDArray[Any]]
"""Numbers: a list, a tuple or an array."""
Rows = Union[Sequence[Sequence[float]], npt.NDArray[Any]]
"""Rows of numbers: (n, 3) and so on."""
Transform = Union[Mapping[str, Any], npt.NDArray[Any]]
"""``{"translation": [x, y, z], "rotation_degrees": [x, y, z]}`` and so on, or a (4, 4) array with column vectors."""


def node(kind: str, /, *, name: str | None = None, **values: Any) -> Node:
    """A node of any kind, such as ``"kernel"`` or ``"graph"``, whose keys depend on a file.

    Args:
        kind: Kind of the node.
        name: Name of the node.
        values: Keys of the document. A trailing ``_`` is removed: ``with_`` is ``with``.
    """
    given = {key.rstrip("_"): value for key, value in values.items() if value is not None}
    return Node(kind, given, name)


def transform(value: Transform | Param | Keys | Link | None) -> Any:
    """A transform as documents write it; a (4, 4) array becomes ``matrix``, column by column."""
    if not isinstance(value, np.ndarray):
        return value
    if value.shape != (4, 4):
        raise UsageError(f"transform: found an array of shape {value.shape}, expected (4, 4)", code="shape")
    return {"matrix": [float(v) for v in value.T.ravel()]}


def document(
    stack: Sequence[str | Node | Mapping[str, Any]] = (),
    nodes: Mapping[str, Node | Mapping[str, Any]] | None = None,
    *,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Input] | None = None,
) -> dict[str, Any]:
    """The document of nodes, as ``Graph.from_nodes`` uses it.

    Args:
        stack: A chain of nodes: each deforms the result of the one before. A text is a kind with its defaults.
        nodes: Nodes by name.
        inputs: Inputs by name: a type such as ``"mesh"``, or the keys of the document. Default: ``body`` and ``pose``.
        parameters: Further parameters by name: a value, or the keys of the document.
        outputs: Links by name of the output. Default: the end of the stack.

    Raises:
        UsageError: Two nodes have one name, or a parameter is declared in two ways.
    """
    builder = _Builder()
    builder.take_named(nodes or {})
    builder.take_stack(stack)
    steps = [builder.step(item) for item in stack]
    named = builder.named()
    out: dict[str, Any] = {"sinew": VERSION}
    if inputs is not None:
        out["inputs"] = {key: {"type": v} if isinstance(v, str) else dict(v) for key, v in inputs.items()}
    links = None if outputs is None else {key: builder.link(v) for key, v in outputs.items()}
    # A link of an output can bring nodes that nothing else names.
    named.update(builder.named())
    for item, step in zip(stack, steps):
        builder.leave_name_out(item, step)
    declared = builder.declared(parameters or {})
    if declared:
        out["parameters"] = declared
    if named:
        out["nodes"] = named
    if steps:
        out["stack"] = steps
    if links is not None:
        out["outputs"] = links
    return out


class _Builder:
    """Gives names to nodes, and writes them and what they refer to."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.taken: set[str] = set()
        self.linked: set[int] = set()
        self.waiting: list[Node | tuple[str, Mapping[str, Any]]] = []
        self.parameters: dict[str, dict[str, Any]] = {}

    def take_named(self, nodes: Mapping[str, Node | Mapping[str, Any]]) -> None:
        for name, item in nodes.items():
            if isinstance(item, Node):
                self._name(item, name)
                self.waiting.append(item)
            else:
                self.taken.add(name)
                self.waiting.append((name, item))

    def take_stack(self, stack: Sequence[str | Node | Mapping[str, Any]]) -> None:
        """Steps get their names in order, as the document does it: the kind, then ``kind_2``."""
        for item in stack:
            if isinstance(item, Node):
                self._name(item, item.name)
            else:
                given = None if isinstance(item, str) else item.get("name")
                self.taken.add(given or self._free(item if isinstance(item, str) else str(item.get("node"))))

    def _free(self, kind: str) -> str:
        name, number = kind, 2
        while name in self.taken:
            name, number = f"{kind}_{number}", number + 1
        return name

    def _name(self, item: Node, name: str | None) -> str:
        if id(item) in self.names:
            raise UsageError(f"node {self.names[id(item)]!r} is used twice; make a second node", code="node_used_twice")
        if name is None:
            name = self._free(item.kind)
        elif name in self.taken:
            raise UsageError(f"two nodes have the name {name!r}", code="same_name", found=name)
        self.taken.add(name)
        self.names[id(item)] = name
        return name

    def step(self, item: str | Node | Mapping[str, Any]) -> Any:
        if not isinstance(item, Node):
            return item if isinstance(item, str) else dict(item)
        values = self._values(item)
        return {"node": item.kind, "name": self.names[id(item)], **values}

    def leave_name_out(self, item: Any, step: Any) -> None:
        """A step that nothing refers to needs no name."""
        if isinstance(item, Node) and item.name is None and id(item) not in self.linked:
            del step["name"]

    def named(self) -> dict[str, Any]:
        """Nodes outside of the stack, also those that only a link names."""
        out: dict[str, Any] = {}
        while self.waiting:
            item = self.waiting.pop(0)
            if isinstance(item, Node):
                out[self.names[id(item)]] = {"node": item.kind, **self._values(item)}
            else:
                out[item[0]] = dict(item[1])
        return out

    def _values(self, item: Node) -> dict[str, Any]:
        return {key: self._value(value, item.kind, key) for key, value in item.values.items()}

    def _value(self, value: Any, kind: str, key: str) -> Any:
        if isinstance(value, (Node, Link)):
            return self.link(value)
        if isinstance(value, Param):
            self._declare(value, kind, key)
            return str(value)
        if isinstance(value, Keys):
            out: dict[str, Any] = {"keys": [[t, plain(v)] for t, v in value.keys]}
            return out if value.interpolation is None else {**out, "interpolation": value.interpolation}
        if isinstance(value, Mapping):
            return {k: self._value(v, kind, key) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(v, kind, key) for v in value]
        return plain(value)

    def link(self, value: Input) -> Any:
        """A link as the document writes it."""
        if isinstance(value, str):
            return value
        found = value if isinstance(value, Link) else Link(value)
        target = self._target(found.target)
        text = target if found.port is None else f"{target}.{found.port}"
        more = {
            "index": found.index,
            "remap": None if found.remap is None else [[float(a), float(b)] for a, b in found.remap],
            "interpolation": found.interpolation,
        }
        more = {key: v for key, v in more.items() if v is not None}
        return {"link": text, **more} if more else text

    def _target(self, target: Node | str) -> str:
        if isinstance(target, str):
            return target
        if id(target) not in self.names:
            self._name(target, target.name)
            self.waiting.append(target)
        self.linked.add(id(target))
        return self.names[id(target)]

    def _declare(self, p: Param, kind: str, key: str) -> None:
        expected, setup = _parameter_types().get((kind, key), (None, False))
        entry = {
            "type": p.type or expected or _type_of(p.default),
            "default": plain(p.default),
            "min": p.min,
            "max": p.max,
            "setup": (setup or None) if p.setup is None else p.setup,
            "doc": p.doc,
        }
        entry = {k: v for k, v in entry.items() if v is not None}
        before = self.parameters.setdefault(p.name, entry)
        for k in sorted(before.keys() | entry.keys()):
            # A parameter is one of setup if one of the nodes reads it there.
            if k != "setup" and before.get(k) != entry.get(k):
                raise UsageError(
                    f"parameter {p.name!r} has two declarations: {k} is {before.get(k)!r} and {entry.get(k)!r}",
                    code="parameter_twice",
                    location=p.name,
                    help="declare it once, and give the same object to both nodes",
                )
        before.update({k: v for k, v in entry.items() if k == "setup"})

    def declared(self, more: Mapping[str, Any]) -> dict[str, Any]:
        for name, value in more.items():
            if name in self.parameters:
                raise UsageError(f"parameter {name!r} has two declarations", code="parameter_twice", location=name)
            is_entry = isinstance(value, Mapping) and "type" in value
            self.parameters[name] = (
                dict(value) if is_entry else {"type": _type_of(value), "default": plain(value)}
            )
        return self.parameters


def _type_of(default: Any) -> str:
    """Type of a parameter that no node tells."""
    if isinstance(default, (bool, np.bool_)):
        return "bool"
    if isinstance(default, (int, np.integer)):
        return "int"
    if isinstance(default, str):
        return "text"
    if isinstance(default, Mapping):
        return "transform"
    if default is None or isinstance(default, (float, np.floating)):
        return "float"
    items = plain(default)
    if items and all(isinstance(v, str) for v in items):
        return "texts"
    if items and isinstance(items[0], list):
        return "points"
    return {3: "vec3", 4: "vec4"}.get(len(items), "floats")


# Types of nodes that a parameter of the graph has under another name.
_GRAPH_TYPES = {"choice": "text", "records": None, "transforms": None, "fit": None}


@functools.lru_cache(maxsize=1)
def _parameter_types() -> dict[tuple[str, str], tuple[str | None, bool]]:
    """Type and phase of each parameter, by kind of node and key."""
    from . import _native

    listed = json.loads(_native.node_list())["nodes"]
    return {
        (n["name"], p["name"]): (_GRAPH_TYPES.get(p["type"], p["type"]), bool(p["setup"]))
        for n in listed
        for p in n["parameters"]
    }


def plain(value: Any) -> Any:
    """``value`` as JSON holds it: arrays and NumPy numbers become lists and numbers."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    return value
