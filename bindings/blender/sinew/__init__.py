# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew: a deformer graph behind any armature, live, edited as nodes."""

from __future__ import annotations

import importlib
from types import ModuleType

from . import core

# Without the package: the preferences, which say so, and what objects store.
MODULES = ["preferences", "properties", "nodes", "live", "operators", "panels", "tools", "out", "into"]
WITHOUT_THE_PACKAGE = {"preferences", "properties"}


def _modules() -> list[ModuleType]:
    wanted = [name for name in MODULES if core.sd is not None or name in WITHOUT_THE_PACKAGE]
    return [importlib.import_module(f".{name}", __package__) for name in wanted]


def register() -> None:
    """Registers classes, properties and handlers."""
    for module in _modules():
        module.register()


def unregister() -> None:
    """Takes all of it back. What files store of Sinew stays."""
    for module in reversed(_modules()):
        module.unregister()
