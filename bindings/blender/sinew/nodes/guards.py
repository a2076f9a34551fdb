# SPDX-License-Identifier: GPL-3.0-or-later
"""Guards with the numbers of arguments that Blender looks for: no error leaves a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import report


def update(function: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """For update callbacks of properties."""
    guarded = report.guarded(function)

    def wrapper(owner: Any, context: Any) -> None:
        guarded(owner, context)

    wrapper.__doc__ = function.__doc__
    return wrapper


def draw(function: Callable[[Any, Any, Any], None]) -> Callable[[Any, Any, Any], None]:
    """For `draw_buttons` of nodes."""
    guarded = report.guarded(function)

    def wrapper(self: Any, context: Any, layout: Any) -> None:
        guarded(self, context, layout)

    wrapper.__doc__ = function.__doc__
    return wrapper
