# SPDX-License-Identifier: GPL-3.0-or-later
"""The package that does the work, and where it is missing."""

from __future__ import annotations

try:
    import sinew_deform as sd

    MISSING: str | None = None
except ImportError as error:
    sd = None  # type: ignore[assignment]
    MISSING = (
        f"The package sinew_deform cannot be loaded ({error}). "
        "Install the extension from its zip file for your system: it contains the package"
    )


def version() -> str:
    """Version of the package; empty if it is missing."""
    return "" if sd is None else str(sd.__version__)
