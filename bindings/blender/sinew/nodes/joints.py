# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of the bones that the users of a tree have."""

from __future__ import annotations

from typing import Any

import bpy


def _objects(tree: Any) -> list[Any]:
    users = bpy.data.user_map(subset={tree}).get(tree, set())
    return [user for user in users if isinstance(user, bpy.types.Object)]


def _armatures(item: Any) -> list[Any]:
    found = [m.object for m in item.modifiers if m.type == "ARMATURE" and m.object]
    found += [o for o in (item, item.parent) if o is not None and o.type == "ARMATURE"]
    return [armature.data for armature in found]


def names(tree: Any) -> list[str]:
    """Bones of the armatures that move the objects with this tree; of all armatures if no object has it."""
    armatures = [a for item in _objects(tree) for a in _armatures(item)] or list(bpy.data.armatures)
    return sorted({bone.name for armature in armatures for bone in armature.bones})


def search(node: Any, _context: Any, text: str) -> list[str]:
    """Candidates for a field that takes the name of a joint."""
    return [name for name in names(node.id_data) if text.lower() in name.lower()]
