# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors: operators report them, handlers show each one once."""

from __future__ import annotations

import functools
import logging
import traceback
from collections.abc import Callable
from typing import Any

import bpy

from . import core

LOG = logging.getLogger("sinew")

_shown: set[str] = set()


class Problem(Exception):
    """An error that the user can mend: what was found, where, and what to do."""


def message_of(error: Exception) -> str:
    """The text of an error, with its help."""
    text = str(error) or type(error).__name__
    help_text = getattr(error, "help", None)
    if help_text and help_text not in text:
        text = f"{text}. {help_text[:1].upper()}{help_text[1:]}"
    return text


def is_expected(error: Exception) -> bool:
    """True for errors with a message for the user; false for faults of the extension."""
    return isinstance(error, Problem) or (core.sd is not None and isinstance(error, core.sd.SinewError))


def show_once(place: str, error: Exception) -> str:
    """Logs an error the first time that it happens at this place, and returns its text."""
    text = message_of(error)
    if is_expected(error):
        logged = f"{place}: {text}"
    else:
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {text} ({where.name}, line {where.lineno})"
        logged = f"{place}: {text}\n{''.join(traceback.format_exception(error))}"
    if logged not in _shown:
        _shown.add(logged)
        LOG.error(logged)
    return text


def forget() -> None:
    """Shows errors again that were shown before."""
    _shown.clear()


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """For handlers, timers and callbacks: no error leaves the function."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  Blender would print it at every frame.
            show_once(function.__name__, error)
            return None

    return wrapper


class Operator(bpy.types.Operator):
    """Base of the operators: `run` does the work, and its errors become reports."""

    bl_options = {"REGISTER", "UNDO"}
    bl_label = ""
    bl_idname = "sinew.base"

    def run(self, context: bpy.types.Context) -> str | None:
        """Does the work. A text that it returns is reported."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            if core.sd is None:
                raise Problem(core.MISSING)
            text = self.run(context)
        except Exception as error:  # noqa: BLE001  Reported.
            self.report({"ERROR"}, message_of(error) if is_expected(error) else show_once(self.bl_idname, error))
            return {"CANCELLED"}
        if text:
            self.report({"INFO"}, text)
        return {"FINISHED"}
