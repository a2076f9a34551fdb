# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents as text: JSON that may have comments and commas after the last entry."""

from __future__ import annotations

import json
import re
from typing import Any

_STRING = r'"(?:\\.|[^"\\])*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.S)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.S)


def loads(text: str) -> Any:
    """The value of a text. Errors name the line of the text as it was given."""
    plain = _COMMENT.sub(lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text)
    return json.loads(_LAST_COMMA.sub(lambda found: found[1] or " ", plain))
