# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of the package in the words of the operators: names of options on the command line become names of the dialog."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# Options of the command line, and what the operator calls them.
OPTIONS = {"--texture": "Textures", "--mode": "Mode", "--for": "For", "--at-end": "At the End", "--faces": "Faces", "--range": "frames"}
CHANGES = [
    (r"\s*For more information, try '--help'\.\s*", ""),
    (r"invalid value '.*?' for '--texture <[^>]*>': ", "Textures: "),
    (r"\btextures is (\S+) twice", r"Textures has \1 twice"),
    (r", or a larger --rigid-tolerance", ""),
    (r"`--texture (\S+?)`", r"'\1' in Textures"),
    (r"a larger --faces\b", "a larger number of Faces"),
    (r"particles\.scale \(--point-scale\).*", "a float attribute 'size' of the points says how wide they are"),
    (r"\battribute=(\w+), which", r"attribute '\1', which"),
    (r" \((?:--[a-z-]+(?:, | or )?)+\)", ""),
]


def translated(text: str, enums: Mapping[str, Sequence[tuple[str, str, str]]]) -> str:
    """A message for the user. `enums`: items of the operator's menus by the option, for example `mode`."""
    for pattern, new in CHANGES:
        text = re.sub(pattern, new, text, flags=re.DOTALL)
    for option, items in enums.items():
        labels = {key: label for key, label, _ in items}
        shown = OPTIONS[f"--{option}"]
        found = "|".join(map(re.escape, labels))
        text = re.sub(rf"(?:--|\b){option} ({found})\b", lambda m: f"{shown} '{labels[m.group(1)]}'", text)  # noqa: B023
    for option, name in OPTIONS.items():
        text = re.sub(rf"{option}\b(?!-)", name, text)
    # Advice about options that the operator does not have.
    first, *others = text.split("; ")
    kept = "; ".join([first, *(clause for clause in others if "--" not in clause)])
    return re.sub(r"--([a-z]+)(?:-([a-z]+))?", lambda m: " ".join(filter(None, m.groups())), kept)


def length(millimetres: float) -> str:
    """A distance in a unit that fits it."""
    if millimetres >= 999.5:
        metres = millimetres / 1000.0
        return f"{metres:.3g} m" if metres < 999.5 else f"{metres:.0f} m"
    if 0.0 < millimetres < 0.001:
        return "less than 0.001 mm"
    return f"{millimetres:.3g} mm"
