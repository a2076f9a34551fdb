# SPDX-License-Identifier: GPL-3.0-or-later
"""Registers the modules of a package in their order, and takes them back in the other."""

from __future__ import annotations

import importlib
from collections.abc import Iterable


def register(package: str, names: Iterable[str]) -> None:
    """Calls `register` of each module."""
    for name in names:
        importlib.import_module(f".{name}", package).register()


def unregister(package: str, names: Iterable[str]) -> None:
    """Calls `unregister` of each module, the last one first."""
    for name in reversed(list(names)):
        importlib.import_module(f".{name}", package).unregister()
