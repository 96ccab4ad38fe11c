"""Ctrl-C, SIGTERM and SIGHUP: each ends what runs, and a simulation keeps the rows that it has."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
if hasattr(signal, "SIGHUP"):  # when a terminal closes, or a connection ends; Windows has none
    CODES[signal.SIGHUP] = 129
SOON = 0.01  # seconds after which a signal comes again that Python has dropped
_received: list[int] = []
_holding = False


@contextlib.contextmanager
def heed_interrupt_signals() -> Iterator[None]:
    """A context in which these signals raise KeyboardInterrupt."""
    _received.clear()
    before = {}
    for number in CODES:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is under nohup
            with contextlib.suppress(ValueError):  # not the main thread, which alone hears signals
                before[number] = signal.signal(number, _heard)
    unraisable, sys.unraisablehook = sys.unraisablehook, _dropped
    try:
        yield
    finally:
        sys.unraisablehook = unraisable
        for number, handler in before.items():
            signal.signal(number, handler)


def _dropped(what: sys.UnraisableHookArgs) -> None:
    """Sends a signal once more whose interrupt Python has dropped, as it does in callbacks of imports."""
    if not isinstance(what.exc_value, KeyboardInterrupt) or not _received:
        sys.__unraisablehook__(what)
        return
    number = _received[0]
    _received.clear()
    if hasattr(signal, "pthread_kill"):  # which ends what the main thread waits for
        threading.Timer(SOON, signal.pthread_kill, (threading.main_thread().ident, number)).start()
    else:
        threading.Timer(SOON, _thread.interrupt_main, (number,)).start()


@contextlib.contextmanager
def hold_interrupt_signals(*, later: bool = False) -> Iterator[Callable[[], None]]:
    """A context in which files are written to their end: signals wait until then, except for a second Ctrl-C.

    With `later`, they wait from when the function is called that it gives, such as when there are rows to be written.
    """
    global _holding
    outside, already, held = _holding, len(_received), False

    def hold() -> None:
        nonlocal already, held
        global _holding
        if not held:  # else what has come since then would be forgotten
            already = len(_received)
            held = _holding = True

    if not later:
        hold()
    try:
        yield hold
    finally:
        _holding = outside
    if len(_received) > already and not outside:
        raise _interrupt()


def raise_interrupt_again() -> None:
    """Raises an interrupt again that was dropped, by a library that catches everything for instance.

    It is asked where the numbers of a run are computed, which may always end; so it also ends what is computed beside
    rows that are there.
    """
    if _received:
        raise _interrupt()


def interrupt_was_heard() -> bool:
    """Whether a signal has come."""
    return bool(_received)


def exit_code_of_interrupt() -> int:
    """The exit code of a command that a signal has ended."""
    return CODES[signal.Signals(_received[0])] if _received else CODES[signal.SIGINT]


def _heard(number: int, _: FrameType | None) -> None:
    _received.append(number)
    first = len(_received) == 1
    # `timeout` sends SIGTERM twice, and a run that is ending needs no second one
    if (first and not _holding) or (not first and number == signal.SIGINT):
        raise _interrupt()


def _interrupt() -> KeyboardInterrupt:
    number = _received[0] if _received else signal.SIGINT
    return KeyboardInterrupt(
        "interrupted by the user" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    )
