"""Long waits show themselves: on a terminal by a bar, elsewhere by a line on standard error now and then."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable

from denoc.cli import interrupts
from denoc.cli.said import print_lines
from denoc.errors import safe_to_print

PATIENCE = 1.0  # seconds before a terminal shows a bar
FIRST: float | None = 10.0  # seconds before the first line where there is no terminal; None: there is none at all
MOST = 600.0  # seconds between two lines; each pause is twice as long as the one before
WRITING = "drawing plots and writing files"
CLOSING = "closing the loops"

State = tuple[str, float | None]  # what is being done, and which share of it is done if that is known


class Wait:
    """A context in which a thread of its own shows what is being done, however long that takes."""

    def __init__(self, name: str, *, quiet: bool):
        self.name, self.quiet = name, quiet
        self._state: Callable[[], State] = lambda: ("", None)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._begun = time.monotonic()

    def __enter__(self) -> Wait:
        if not self.quiet:
            self._thread = threading.Thread(target=self._bar if sys.stderr.isatty() else self._lines, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def now(self, what: str, share: float | None = None) -> None:
        """Says what is being done from now on."""
        self._state = lambda: (what, share)

    def simulated(self, start: float, end: float, done: Callable[[], None] = lambda: None) -> Callable[[float], None]:
        """A function to be called, as often as one likes, with the time that a simulation has reached.

        It calls `done` when it hears that all rows are there.
        """
        begun, reached = time.monotonic(), start

        def state() -> State:
            speed = (reached - start) / max(time.monotonic() - begun, 1e-9)
            return f"t = {reached:.3f} of {end:g} s, {speed:.3g} s a second", (reached - start) / (end - start or 1.0)

        def report(t: float) -> None:
            nonlocal begun, reached
            if t == math.inf:
                done()
                return
            interrupts.raise_interrupt_again()
            if self._state is not state:  # something else was done since
                self._state, begun = state, time.monotonic()
            reached = t

        self._state = state
        return report

    def _said(self) -> State:
        """The state, with a word for code that is being compiled."""
        what, share = self._state()
        cache = sys.modules.get("denoc.machine.backend.cache")  # if it hasn't been imported, nothing is compiled
        words = [word for word in (what, "compiling" if getattr(cache, "compiling", None) else "") if word]
        return ", ".join(words), share

    def _lines(self) -> None:
        pause = FIRST
        while not self._over.wait(pause):
            what, _ = self._said()
            so_far = f"{time.monotonic() - self._begun:.0f} s so far"
            print_lines(f"{self.name}: {what or 'under way'} ({so_far})", err=True)
            pause = min(2 * pause, MOST) if pause is not None else None

    def _bar(self) -> None:
        if self._over.wait(PATIENCE):
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        # without markup: a name may have brackets in it
        name, at = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[at]}", markup=False)
        bar = Progress(name, BarColumn(), at, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
        task = bar.add_task(safe_to_print(self.name), total=None, at="")
        with bar:
            while not self._over.wait(0.1):
                what, share = self._said()
                bar.update(task, total=None if share is None else 1.0, completed=share or 0.0, at=what)
