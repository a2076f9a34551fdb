# SPDX-License-Identifier: GPL-3.0-or-later
"""Out of Blender: shape keys, point caches, Alembic, GLB, vertex textures, skin weights."""

from __future__ import annotations

import importlib
from types import ModuleType

MODULES = ["shape_keys", "point_cache", "alembic", "glb", "vat", "skin", "back", "panel"]


def _modules() -> list[ModuleType]:
    return [importlib.import_module(f".{name}", __package__) for name in MODULES]


def register() -> None:
    """Registers the operators and the panel."""
    for module in _modules():
        module.register()


def unregister() -> None:
    """Removes them."""
    for module in reversed(_modules()):
        module.unregister()
