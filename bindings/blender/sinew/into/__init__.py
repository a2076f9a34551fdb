# SPDX-License-Identifier: GPL-3.0-or-later
"""Into Blender: characters with graphs, pose drivers of other programs."""

from __future__ import annotations

from .. import modules

MODULES = ["glb", "psd", "panel"]


def register() -> None:
    """Registers the operators and menus."""
    modules.register(__package__, MODULES)


def unregister() -> None:
    """Removes them."""
    modules.unregister(__package__, MODULES)
