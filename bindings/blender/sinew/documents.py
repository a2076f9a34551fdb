# SPDX-License-Identifier: GPL-3.0-or-later
"""Graph documents of files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from . import core
from .report import Problem

_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


def parsed(text: str) -> dict[str, Any]:
    """The keys of a document that was checked. Comments and trailing commas are left out."""
    plain = _COMMENT.sub(lambda m: m[1] or " ", text)
    return json.loads(_TRAILING_COMMA.sub(lambda m: m[1] or "", plain))  # type: ignore[no-any-return]


def load(path: str) -> tuple[dict[str, Any], str]:
    """A document, and a name for its graph.

    Raises:
        Problem: It has errors; with the location of the first.
    """
    graph = core.sd.Graph.load(path)
    errors = [d for d in graph.check() if d.severity == "error"]
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        help_text = f". {errors[0].help[:1].upper()}{errors[0].help[1:]}" if errors[0].help else ""
        raise Problem(f"{errors[0]}{help_text}{more}")
    return parsed(graph.text), Path(path).stem
