# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph as a node tree. Node classes come from the registry of the installed wheel."""

from __future__ import annotations

import atexit
import inspect
from typing import Any

import bpy

from . import base, diagnostics, live as _live, menus, operators, reader, registry, sockets, special, tree as _tree, update, writer

TREE = base.TREE
LiveDocument = _live.LiveDocument
from_document = reader.from_document
replace = update.replace
to_document = writer.to_document
tree_module = _tree
check = diagnostics.check
show = diagnostics.show
show_error = diagnostics.show_error
problems = diagnostics.problems

_registered: list[type] = []


def live(tree: Any, scene: Any = None) -> LiveDocument:
    """The document for playing.

    Args:
        tree: The tree.
        scene: Scene whose frame rate counts; default: that of the context.
    """
    return LiveDocument(tree, scene)


def notes_of(tree: Any) -> list[str]:
    """What the document of a tree cannot hold: drivers, keyframes of values that are read in setup, wrong texts."""
    found: list[str] = []
    to_document(tree, found)
    return list(dict.fromkeys(found))


def kinds_that_remember() -> set[str]:
    """Kinds of nodes whose frame depends on the frames before."""
    return {kind.name for kind in registry.kinds().values() if kind.group == "solver"}


def _classes() -> list[type]:
    return [*sockets.classes(), *_tree.CLASSES, *special.classes(), *base.generated(), *operators.CLASSES, *menus.classes()]


def _annotate(cls: type) -> None:
    """Gives operators the properties of their base class, which Blender does not look up."""
    merged: dict[str, Any] = {}
    for parent in reversed(cls.__mro__):
        merged.update(inspect.get_annotations(parent) if parent.__module__.startswith(__package__) else {})
    cls.__annotations__ = merged


def is_registered() -> bool:
    """True between `register` and `unregister`."""
    return bool(_registered)


def register() -> None:
    """Registers sockets, nodes, the tree type and menus."""
    for cls in _classes():
        if issubclass(cls, bpy.types.Operator):
            _annotate(cls)
        bpy.utils.register_class(cls)
        _registered.append(cls)
    atexit.register(_unregister_at_exit)
    bpy.types.NODE_MT_add.append(menus.draw_add)
    bpy.types.NODE_HT_header.append(menus.draw_header)


def _unregister_at_exit() -> None:
    """The Python module of Blender 4.2 crashes at exit if node classes are still registered."""
    if _registered:
        unregister()


def unregister() -> None:
    """Removes them. Trees in the file keep their data."""
    atexit.unregister(_unregister_at_exit)
    bpy.types.NODE_HT_header.remove(menus.draw_header)
    bpy.types.NODE_MT_add.remove(menus.draw_add)
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
