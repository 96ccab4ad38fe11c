"""Ctrl-C, SIGTERM and SIGHUP: each ends what runs, and a simulation keeps the rows that it has."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
import time
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
    _send_again(number)


def _send_again(number: int) -> None:
    """Sends a signal to the main thread soon, from a thread that takes no lock of the one that is interrupted."""

    def send() -> None:
        time.sleep(SOON)
        if hasattr(signal, "pthread_kill"):  # which ends what the main thread waits for
            signal.pthread_kill(threading.main_thread().ident or 0, number)
        else:
            _thread.interrupt_main(signal.Signals(number))

    _thread.start_new_thread(send, ())


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


def _heard(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code is _dropped.__code__:  # which would drop this one, too
            _send_again(number)
            return
        frame = frame.f_back
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
