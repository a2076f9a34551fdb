# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and links as documents write them."""

from __future__ import annotations

import re
from collections.abc import Container

_NUMBER = re.compile(r"^(.*)\[(\d+)\]$", re.DOTALL)


def legal(name: str, fallback: str = "node") -> str:
    """The name without characters that documents do not allow."""
    kept = "".join("_" if c in ".$/" or ord(c) < 32 or ord(c) == 127 else c for c in name)
    return kept or fallback


def free(base: str, taken: Container[str]) -> str:
    """The name, or the name with a number that is not taken."""
    name, number = base, 2
    while name in taken:
        name = f"{base}_{number}"
        number += 1
    return name


def free_copy(name: str, taken: Container[str]) -> str:
    """The name of a copy: `bend_3` for a copy of `bend_2`."""
    if name not in taken:
        return name
    return free(re.sub(r"_\d+$", "", name) or name, taken)


def split(link: str) -> tuple[str, str, int]:
    """Node, port (empty: the first) and index of `"elbow.weights[1]"`."""
    index = 0
    found = _NUMBER.match(link)
    if found:
        link, index = found.group(1), int(found.group(2))
    name, _, port = link.partition(".")
    return name, port, index
