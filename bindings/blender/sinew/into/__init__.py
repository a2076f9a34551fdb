# SPDX-License-Identifier: GPL-3.0-or-later
"""Into Blender: characters with graphs, pose drivers of other programs."""

from __future__ import annotations

import importlib
from types import ModuleType

MODULES = ["glb", "psd", "panel"]


def _modules() -> list[ModuleType]:
    return [importlib.import_module(f".{name}", __package__) for name in MODULES]


def register() -> None:
    """Registers the operators and menus."""
    for module in _modules():
        module.register()


def unregister() -> None:
    """Removes them."""
    for module in reversed(_modules()):
        module.unregister()
