# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools: pose drivers, correctives, lattices, masks, hair, diagnosis."""

from __future__ import annotations

from . import corrective, diagnose, hair, lattice, mask, mirror, pose_driver, properties, renames, sphere

MODULES = [properties, pose_driver, sphere, corrective, mirror, lattice, mask, hair, diagnose, renames]


def register() -> None:
    """Registers operators, panels and handlers."""
    for module in MODULES:
        module.register()


def unregister() -> None:
    """Removes them."""
    for module in reversed(MODULES):
        module.unregister()
