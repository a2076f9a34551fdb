"""What the native module calls, and what runs jobs: JSON, logging, arguments."""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Union

import numpy as np
import numpy.typing as npt

from . import graph as _graph
from ._errors import SinewError, UsageError

if TYPE_CHECKING:
    from . import _native

logger = logging.getLogger("sinew_deform")
logger.addHandler(logging.NullHandler())

PathLike = Union[str, "os.PathLike[str]"]
"""A file or a folder."""
CharacterLike = Union[str, "os.PathLike[str]", "_native.Character"]
"""A file, a sample such as ``"sample:arm"``, or a character."""
GraphLike = Union[str, "os.PathLike[str]", "_native.Graph"]
"""A file, an example such as ``"example:bend"``, or a graph."""
Frames = Union[str, int, range, Sequence[int]]
"""Frames: ``21``, ``range(0, 121)``, ``[0, 5, 10]`` or the text of the command line, ``"0-120/2"``."""
Event = dict[str, Any]
"""A message of a job: ``level``, ``event``, ``message`` and more. Progress has ``what``, ``done``, ``total``."""
Progress = Callable[[Event], object]
"""A function that gets each event of a job. An exception in it stops the job."""


class Cancel(Protocol):
    """Stops a job, for example a :class:`threading.Event`."""

    def is_set(self) -> bool:
        """Whether the job must stop."""


@dataclass(frozen=True)
class Report:
    """What a job printed and said."""

    data: Any = None
    """The report: parsed JSON (a list if there are several), text, or ``None`` if the job prints nothing."""
    warnings: list[Event] = field(default_factory=list)
    """Events of level ``"warning"``."""
    events: list[Event] = field(default_factory=list)
    """All events except progress."""


def to_json(value: Any) -> str:
    """JSON of dictionaries with NumPy arrays, NumPy numbers, paths, parameters and nodes."""
    return json.dumps(value, default=_json_value)


def to_document(value: Any) -> str:
    """The text of a graph document, one key a line: errors of graphs name the line."""
    return json.dumps(value, default=_json_value, indent=2)


def _json_value(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, _graph.Param):
        return str(value)
    if isinstance(value, _graph.Node):
        return {"node": value.kind, **value.values}
    if isinstance(value, _graph.Keys):
        entry = {"keys": value.keys, "interpolation": value.interpolation}
        return {key: v for key, v in entry.items() if v is not None}
    if isinstance(value, (Mapping, Sequence, set, frozenset, range)):
        return dict(value) if isinstance(value, Mapping) else list(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def log_warnings(warnings: Iterable[tuple[str, str]]) -> None:
    """Logs warnings ``(code, message)``."""
    for code, message in warnings:
        logger.warning("%s", message, extra={"code": code})


_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO}


def log_event(event: Event) -> None:
    """Logs an event of a job; progress has the level DEBUG."""
    code = event.get("event")
    if code == "progress":
        level, message = logging.DEBUG, f"{event.get('what')}: {event.get('done')} of {event.get('total')}"
    else:
        level, message = _LEVELS.get(str(event.get("level")), logging.INFO), str(event.get("message"))
    logger.log(level, "%s", message, extra={"code": code, "event": event})


class Arguments:
    """The arguments of a command, and the characters and graphs that they name. ``None`` and false leave an option out."""

    def __init__(self, *command: str) -> None:
        self.command = list(command)
        self.options: list[str] = []
        self.positions: list[str] = []
        self.characters: dict[str, Any] = {}
        self.graphs: dict[str, Any] = {}
        # A file that the caller does not know of: events about it are nobody's business.
        self.hidden: str | None = None

    def position(self, value: Any) -> None:
        """An argument without a name."""
        if value is not None:
            self.positions.append(self._text(value))

    def option(self, flag: str, value: Any, separator: str = ",") -> None:
        """An option that is given once; ``separator`` stands between several numbers or names."""
        if value is None or value is False:
            return
        if value is True:
            self.options.append(flag)
        elif isinstance(value, (list, tuple, np.ndarray)):
            self.options.append(f"{flag}={separator.join(self._text(v) for v in value)}")
        else:
            # With `=`, since a value may begin with a minus sign.
            self.options.append(f"{flag}={self._text(value)}")

    def frames(self, flag: str, value: Frames | None) -> None:
        """Frames as the command line writes them."""
        self.option(flag, _frames(value) if isinstance(value, range) else value)

    def repeat(self, flag: str, value: Any, numbers: bool = False) -> None:
        """An option that can be given several times: one value or a list. With ``numbers`` a value is a list of numbers."""
        single = isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable)
        if numbers and not single:
            single = all(isinstance(v, (int, float, np.number)) for v in value)
        for one in [value] if single else value:
            self.option(flag, one)

    def pairs(self, flag: str, value: Any, separator: str = "") -> None:
        """``NAME=VALUE`` options from a dictionary; texts and paths as :meth:`repeat`."""
        if not isinstance(value, Mapping):
            return self.repeat(flag, value)
        for name, one in value.items():
            self.options.append(f"{flag}={name}={self._value(one, separator)}")

    def _value(self, value: Any, separator: str) -> str:
        if isinstance(value, tuple) and separator:
            return separator.join(self._text(v) for v in value)
        if isinstance(value, (str, os.PathLike)):
            return self._text(value)
        return to_json(value)

    def _text(self, value: Any) -> str:
        from . import _native

        if isinstance(value, _native.Character):
            return _remember(self.characters, value, ".glb")
        if isinstance(value, _native.Graph):
            return _remember(self.graphs, value, ".json")
        if isinstance(value, (np.floating, np.integer)):
            value = value.item()
        if not isinstance(value, (str, int, float, os.PathLike)):
            expected = "a path, a text, a number, a Character or a Graph"
            raise UsageError(f"found {value!r}, expected {expected}", code="type", found=repr(value), expected=expected)
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)

    def run(self, progress: Progress | None, cancel: Cancel | None) -> Report:
        """Runs the command in this process, without the global interpreter lock.

        Raises:
            SinewError: The command failed.
            Cancelled: ``cancel`` stopped it.
            KeyboardInterrupt: Ctrl-C stopped it.
        """
        from . import _native

        if progress is not None and not callable(progress):
            raise UsageError(f"progress: found {progress!r}, expected a function", code="type")
        if cancel is not None and not hasattr(cancel, "is_set"):
            raise UsageError(f"cancel: found {cancel!r}, expected an object with is_set(), such as threading.Event()", code="type")
        events: list[Event] = []

        def take(event: Event) -> None:
            if self.hidden is not None and self.hidden in str(event.get("message")):
                return
            log_event(event)
            if event.get("event") != "progress":
                events.append(event)
            if progress is not None:
                progress(event)

        arguments = [*self.command, *self.options, "--", *self.positions]
        if not self.positions:
            arguments.pop()
        try:
            text = _native.run_job(arguments, self.characters, self.graphs, take, cancel)
        except SinewError as error:
            error.args = (_python_words(str(error)),)
            raise
        return Report(_parsed(text), [e for e in events if e.get("level") == "warning"], events)

    def picture(self, output: PathLike | None, pil: bool, progress: Progress | None, cancel: Cancel | None) -> Any:
        """Runs a command that draws. Without ``output`` it gives the pixels, (h, w, 4) 8-bit RGBA."""
        if output is not None:
            self.option("--output", output)
            return self.run(progress, cancel)
        with tempfile.TemporaryDirectory(prefix="sinew-") as folder:
            path = Path(folder, "picture.png")
            self.option("--output", path)
            self.hidden = folder
            self.run(progress, cancel)
            pixels = read_pixels(path)
        return as_pil(pixels) if pil else pixels


_PLURALS = {"input": "inputs", "point_cache": "point_caches", "expression": "expressions"}


def _python_words(message: str) -> str:
    """A message of the command line with the names that arguments have here."""

    def word(option: re.Match[str]) -> str:
        name = option.group(1).replace("-", "_")
        return "force=True" if name == "force" else _PLURALS.get(name, name)

    return re.sub(r"(?<!\S)--([a-z][a-z-]*)", word, message)


def _remember(known: dict[str, Any], value: Any, ending: str) -> str:
    # Commands tell characters from documents and sequences by the ending.
    name = f"memory:{len(known) + 1}{ending}"
    known[name] = value
    return name


def _frames(frames: range) -> str:
    """A range with the last frame included."""
    if len(frames) == 0 or frames.step < 0:
        return ",".join(str(frame) for frame in frames)
    first, last = frames[0], frames[-1]
    text = str(first) if first == last else f"{first}-{last}"
    return text if frames.step == 1 or first == last else f"{text}/{frames.step}"


def _parsed(text: str) -> Any:
    """A report: JSON, lines of JSON, or text."""
    if not text.strip():
        return None
    for parts in ([text], text.splitlines()):
        try:
            found = [json.loads(part) for part in parts]
        except ValueError:
            continue
        return found[0] if len(found) == 1 else found
    return text


def read_pixels(path: PathLike) -> npt.NDArray[np.uint8]:
    """Pixels of a picture, (h, w, 4) 8-bit RGBA."""
    from . import _native

    return _native.read_picture(path)


def as_pil(pixels: npt.NDArray[np.uint8]) -> Any:
    """The picture as a ``PIL.Image.Image``; needs Pillow."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures as PIL images need Pillow: pip install Pillow") from error
    return Image.fromarray(pixels, "RGBA")
