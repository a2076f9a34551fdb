# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of Sinew in the stack of modifiers: what arrives there must have the vertices of the mesh."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from .. import modifier
from ..report import Problem


def check(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Raises if modifiers before Sinew change the number of vertices, in the viewport or in renders."""
    before = list(obj.modifiers)[: list(obj.modifiers).index(modifier.find(obj))]
    before = [m for m in before if m.show_viewport or m.show_render]
    count = len(obj.data.vertices)
    if not before or _arriving(context, obj, before) == count:
        return
    for i, other in enumerate(before):
        found = _arriving(context, obj, before[: i + 1])
        if found != count:
            raise Problem(
                f"Modifier '{other.name}' before Sinew changes the number of vertices of '{obj.name}' from {count} to {found}. "
                "Move it after Sinew, or apply it"
            )


def _arriving(context: bpy.types.Context, obj: bpy.types.Object, shown: list[bpy.types.Modifier]) -> int:
    """Number of vertices behind these modifiers."""
    with _only(obj, shown):
        context.view_layer.update()
        count = len(obj.evaluated_get(context.evaluated_depsgraph_get()).data.vertices)
    context.view_layer.update()
    return count


@contextmanager
def _only(obj: bpy.types.Object, shown: list[bpy.types.Modifier]) -> Iterator[None]:
    kept = {m.name: m.show_viewport for m in obj.modifiers}
    names = {m.name for m in shown}
    try:
        for other in obj.modifiers:
            other.show_viewport = other.name in names
        yield
    finally:
        for name, value in kept.items():
            obj.modifiers[name].show_viewport = value
