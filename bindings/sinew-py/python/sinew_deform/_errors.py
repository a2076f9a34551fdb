"""Exceptions of the package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """One problem of a graph document."""

    severity: str
    """``"error"`` or ``"warning"``."""
    code: str
    """Stable name of the problem, for example ``"unknown_key"``."""
    message: str
    """What was found, and what was expected."""
    help: str | None = None
    """What to do."""
    file: str | None = None
    """Document with the problem."""
    line: int | None = None
    """Line of the document, from 1."""
    column: int | None = None
    """Column in characters, from 1."""

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        text = f"{self.severity}: {self.message}"
        return f"{where}: {text}" if where else text


class SinewError(Exception):
    """Base of all errors of Sinew. ``str(error)`` is the message."""

    code: str | None
    """Stable name of the error, for programs."""
    file: str | None
    """File that is wrong."""
    line: int | None
    """Line in the file, from 1."""
    column: int | None
    """Column in characters, from 1."""
    location: str | None
    """Location that is not a line: a byte, a key, a node, an index of an array."""
    found: str | None
    """What was found."""
    expected: str | None
    """What was expected."""
    help: str | None
    """What to do."""
    diagnostics: tuple[Diagnostic, ...]
    """All problems of a graph document."""

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        location: str | None = None,
        found: str | None = None,
        expected: str | None = None,
        help: str | None = None,
        diagnostics: Sequence[Diagnostic] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.file = file
        self.line = line
        self.column = column
        self.location = location
        self.found = found
        self.expected = expected
        self.help = help
        self.diagnostics = tuple(diagnostics)

    def __reduce__(self) -> tuple[object, ...]:
        # Exception pickles its arguments alone; process pools need the attributes, too.
        return (type(self), self.args, self.__dict__)


class FileError(SinewError):
    """A file is missing, wrong, or cannot be written."""


class GraphError(SinewError):
    """A graph document is wrong. ``diagnostics`` lists all problems with their locations."""


class BindError(SinewError):
    """A graph does not fit the character, the pose or the values."""


class DeviceError(SinewError):
    """There is no GPU, it failed, or it cannot run the graph."""


class UsageError(SinewError, ValueError):
    """An argument is wrong."""


class Cancelled(SinewError):
    """A job was stopped by ``cancel``."""
