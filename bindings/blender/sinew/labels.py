# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of several lines: labels of Blender do not wrap."""

from __future__ import annotations

import textwrap
from typing import Any

LETTER = 6.2
"""Mean width of a letter in pixels, at a scale of 1."""
SIDEBAR = 280.0
MARGIN = 90.0
"""Pixels of a sidebar beside the text: tabs, borders and icon."""


def wrapped(text: str, width: float) -> list[str]:
    """Lines of a text.

    Args:
        text: The text.
        width: Pixels for each line, at a scale of 1.
    """
    return textwrap.wrap(text, max(int(width / LETTER), 12)) or [""]


def draw(layout: Any, text: str, icon: str, width: float, most: int = 12) -> None:
    """Draws a text below an icon.

    Args:
        layout: Where.
        text: The text.
        icon: Icon of the first line.
        width: Pixels for each line, at a scale of 1.
        most: Lines to show; the rest is cut.
    """
    lines = wrapped(text, width)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1]} …"]
    column = layout.column(align=True)
    column.scale_y = 0.8
    for number, line in enumerate(lines):
        column.label(text=line, icon="BLANK1" if number else icon)


def sidebar_width(context: Any) -> float:
    """Pixels for a text in the region of the context, at a scale of 1."""
    region = getattr(context, "region", None)
    full = region.width / context.preferences.system.ui_scale if region is not None else SIDEBAR
    return full - MARGIN
