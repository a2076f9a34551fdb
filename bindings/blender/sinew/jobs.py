# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work: a progress bar, Esc cancels, and nothing half-written stays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import bpy

from . import core, live, report
from .report import Operator, Problem
from .space import Points

Steps = Iterator[tuple[int, int]]


class JobOperator(Operator):
    """Base of operators that take long. `steps` is the work: a generator of (done, total). It is closed when the user cancels, so that
    its `finally` blocks clean up. `self.result` becomes the report."""

    bl_idname = "sinew.job"
    result: str | None = None

    def steps(self, context: bpy.types.Context) -> Steps:
        """Does the work."""
        raise NotImplementedError

    def run(self, context: bpy.types.Context) -> str | None:
        for _ in self.steps(context):
            pass
        return self.result

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Runs step by step while the window stays alive."""
        if core.sd is None:
            return self.execute(context)
        self._steps = self.steps(context)
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.0, window=context.window)
        manager.progress_begin(0, 1000)
        self._show(context, 0, 1)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """One step for each tick of the timer."""
        if event.type == "ESC":
            self._steps.close()
            self._end(context)
            self.report({"WARNING"}, "Cancelled")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            done, total = next(self._steps)
        except StopIteration:
            self._end(context)
            self.report({"INFO"}, self.result or "Done")
            return {"FINISHED"}
        except Exception as error:  # noqa: BLE001  Reported.
            self._end(context)
            expected = report.is_expected(error)
            self.report({"ERROR"}, report.message_of(error) if expected else report.show_once(self.bl_idname, error))
            return {"CANCELLED"}
        self._show(context, done, total)
        return {"RUNNING_MODAL"}

    def _show(self, context: bpy.types.Context, done: int, total: int) -> None:
        """Progress at the pointer and in the status bar."""
        factor, text = min(done / max(total, 1), 1.0), f"{self.bl_label}: {done} of {total}"
        context.window_manager.progress_update(int(1000 * factor))

        def draw(header: bpy.types.Header, _context: bpy.types.Context) -> None:
            row = header.layout.row()
            row.ui_units_x = 16.0
            row.progress(text=text, factor=factor)
            header.layout.label(text="Cancel", icon="EVENT_ESC")

        context.workspace.status_text_set(draw)

    def _end(self, context: bpy.types.Context) -> None:
        context.workspace.status_text_set(None)
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()


def threaded(work: Callable[[Callable[[Any], None], threading.Event], Any], results: list[Any]) -> Steps:
    """Runs a command of the package in a thread. `work` gets the arguments `progress` and `cancel` of the command; its result is appended
    to `results`. Closing the generator cancels the command."""
    cancel, events, errors = threading.Event(), [(0, 1)], []

    def progress(event: Any) -> None:
        if event["event"] == "progress":
            events[0] = (event["done"], event["total"])

    def target() -> None:
        try:
            results.append(work(progress, cancel))
        except Exception as error:  # noqa: BLE001  Raised again below.
            errors.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
            yield events[0]
    finally:
        cancel.set()
        thread.join()
    if errors:
        raise errors[0]


def frames(context: bpy.types.Context, first: int, last: int, step: int = 1) -> Iterator[int]:
    """Sets the scene to each frame, and back in the end. A simulation starts at `first`."""
    scene = context.scene
    kept = (scene.frame_current, scene.frame_subframe)
    for bound in live.STATE.sessions.values():
        bound.restart()
    try:
        for frame in range(first, last + 1, step):
            scene.frame_set(frame)
            yield frame
    finally:
        scene.frame_set(kept[0], subframe=kept[1])


def positions(context: bpy.types.Context, obj: bpy.types.Object, first: int, last: int, step: int = 1) -> Iterator[tuple[int, Points]]:
    """The frames of an object with a graph: number, and positions (n, 3) in the space of the object. The array is used again."""
    for frame in frames(context, first, last, step):
        # A frame that equals the one before it is not evaluated again.
        bound = live.session(obj)
        if bound is None:
            raise Problem(live.message(obj) or f"'{obj.name}' has no Sinew graph. Press Add Sinew")
        yield frame, bound.local
