# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of left and right, as Blender reads them."""

from __future__ import annotations

import re

SEPARATORS = "._- "
WORDS = [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")]
LETTERS = [("l", "r"), ("L", "R")]


def mirrored(name: str) -> str:
    """The name of the other side; the same name if it has no side."""
    body, number = _number(name)
    for a, b in [*LETTERS, *[(y, x) for x, y in LETTERS]]:
        if len(body) > 2 and body[-1] == a and body[-2] in SEPARATORS:
            return body[:-1] + b + number
        if len(body) > 2 and body[0] == a and body[1] in SEPARATORS:
            return b + body[1:] + number
    for a, b in [*WORDS, *[(y, x) for x, y in WORDS]]:
        if len(body) > len(a) and body.startswith(a):
            return b + body[len(a) :] + number
        if len(body) > len(a) and body.endswith(a):
            return body[: -len(a)] + b + number
    return name


def _number(name: str) -> tuple[str, str]:
    """The name, and the number that Blender adds to names that exist."""
    found = re.fullmatch(r"(.+)(\.\d{3,})", name)
    return (found[1], found[2]) if found else (name, "")


def mirrored_pose(name: str, taken: set[str]) -> str:
    """A name for a mirrored pose: that of the other side, or the name with a word for it."""
    other = mirrored(name)
    if other != name:
        return other
    made, number = f"{name}_mirrored", 2
    while made in taken:
        made, number = f"{name}_mirrored_{number}", number + 1
    return made
