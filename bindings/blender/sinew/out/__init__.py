# SPDX-License-Identifier: GPL-3.0-or-later
"""Out of Blender: shape keys, point caches, Alembic, GLB, vertex textures, skin weights."""

from __future__ import annotations

from .. import modules

MODULES = ["shape_keys", "point_cache", "alembic", "glb", "vat", "skin", "back", "panel"]


def register() -> None:
    """Registers the operators and the panel."""
    modules.register(__package__, MODULES)


def unregister() -> None:
    """Removes them."""
    modules.unregister(__package__, MODULES)
