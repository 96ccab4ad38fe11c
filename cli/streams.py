"""Standard output and standard error of the command line: what can't be written is no mistake of the program."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

UNWRITTEN, UNREAD = 2, 141


class OutputError(Exception):
    """Standard output can't be written: its disk is full, it is closed, or nobody reads it any more."""

    def __init__(self, why: OSError):
        self.code = UNREAD if isinstance(why, BrokenPipeError) else UNWRITTEN
        super().__init__(f"can't write to standard output: {why.strerror}")


class _Output(io.FileIO):
    """Standard output, with a class of errors of its own."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OutputError(error) from None


class _Messages(io.FileIO):
    """Standard error; where messages can't be written, the run goes on without them."""

    def write(self, data: ReadableBuffer, /) -> int:
        with contextlib.suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes


@contextlib.contextmanager
def guard_standard_streams() -> Iterator[None]:
    """A context in which standard output raises OutputError if it can't be written, and standard error never fails."""
    _occupy()
    before = sys.stdout, sys.stderr
    for stream in before:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if sys.stdout is sys.__stdout__:  # nobody, such as a test, has put another stream there
        sys.stdout = _text(_Output(1, "w", closefd=False), sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Messages(2, "w", closefd=False), sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def forget_standard_output() -> None:
    """Discards what is still to be written to standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _text(raw: io.FileIO, like: object) -> io.TextIOWrapper:
    """A stream for text in the same encoding, in which no letter is an error."""
    encoding = getattr(like, "encoding", None) or "utf-8"
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, "replace", line_buffering=raw.isatty() or raw.fileno() == 2
    )


def _occupy() -> None:
    """Opens standard streams that are closed, so that no file of ours gets their numbers and is written to."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
