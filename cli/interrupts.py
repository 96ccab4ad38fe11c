"""Ctrl-C and SIGTERM: both end what runs, and a simulation keeps the rows that it has."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143
_received: list[int] = []
_holding = False


@contextlib.contextmanager
def heed_interrupt_signals() -> Iterator[None]:
    """A context in which both signals raise KeyboardInterrupt."""
    _received.clear()
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is under nohup
            with contextlib.suppress(ValueError):  # not the main thread, which alone hears signals
                before[number] = signal.signal(number, _heard)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def hold_interrupt_signals() -> Iterator[None]:
    """A context in which files are written to their end: signals wait until then, except for a second Ctrl-C."""
    global _holding
    already, _holding = len(_received), True
    try:
        yield
    finally:
        _holding = False
    if len(_received) > already:
        raise _interrupt()


def interrupt_was_heard() -> bool:
    """Whether a signal has come."""
    return bool(_received)


def exit_code_of_interrupt() -> int:
    """The exit code of a command that a signal has ended."""
    return TERMINATED if _received[:1] == [signal.SIGTERM] else INTERRUPTED


def _heard(number: int, _: FrameType | None) -> None:
    _received.append(number)
    first = len(_received) == 1
    # `timeout` sends SIGTERM twice, and a run that is ending needs no second one
    if (first and not _holding) or (not first and number == signal.SIGINT):
        raise _interrupt()


def _interrupt() -> KeyboardInterrupt:
    return KeyboardInterrupt(
        "ended by SIGTERM" if exit_code_of_interrupt() == TERMINATED else "interrupted by the user"
    )
