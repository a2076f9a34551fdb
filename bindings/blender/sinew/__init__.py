# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew: a deformer graph behind any armature, live, edited as nodes."""

from __future__ import annotations

from . import core, modules

# Without the package: the preferences, which say so, and what objects store.
MODULES = ["preferences", "properties", "nodes", "live", "operators", "panels", "tools", "out", "into"]
WITHOUT_THE_PACKAGE = {"preferences", "properties"}


def _names() -> list[str]:
    return [name for name in MODULES if core.sd is not None or name in WITHOUT_THE_PACKAGE]


def register() -> None:
    """Registers classes, properties and handlers."""
    modules.register(__package__, _names())


def unregister() -> None:
    """Removes them again. Files keep their graphs."""
    modules.unregister(__package__, _names())
