"""The program ``sinew`` of the package: the command line, with its output on the terminal."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from . import _native


def main() -> NoReturn:
    """Runs the arguments of the process and exits with the code of the command."""
    # Python's handler would wait until the command has ended; the command has its own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.cli(sys.argv[1:]))
