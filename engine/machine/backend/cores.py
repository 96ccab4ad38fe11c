"""Large batches shared among the processor's cores: kernels run without Python's lock, each on its own rows."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from ...settings import environment_setting

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

FEWEST = 10_000  # rows from which on another thread pays
MOST, SHARE = 4096, 4  # rows of a part, and parts of a thread's share
WIDEST = 8  # lanes; parts begin at multiples of it, so that blocks don't depend on the number of threads

_lock = threading.Lock()
_pool: list[ThreadPoolExecutor] = []
_most: list[int] = []


@contextmanager
def at_most_processors(count: int) -> Iterator[None]:
    """A context in which this process uses so many processors."""
    _most.append(count)
    try:
        yield
    finally:
        _most.pop()


def processors_to_use() -> int:
    """The number of processors that this process may use; `at_most_processors`, and else DENOC_CORES, override it."""
    if _most:
        return _most[-1]
    if wanted := environment_setting("DENOC_CORES"):
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processors_that_pay(rows: int, fewest: int | None = None) -> int:
    """The number of processors for so many rows; another one pays from `fewest` rows on, by default from FEWEST on."""
    return max(1, min(processors_to_use(), rows // (fewest or FEWEST)))


def run_on_threads_in_parts(rows: int, width: int, run: Callable[[int, int], None], fewest: int | None = None) -> None:
    """Call `run(first, end)` for consecutive parts of so many rows, on as many threads as pay.

    Each thread takes one part after another: on a busy machine the caller does most of them itself.  Parts begin at
    multiples of `width`, so that blocks of rows don't depend on the number of threads.
    """
    threads = processors_that_pay(rows, fewest)
    if threads < 2:
        run(0, rows)
        return
    parts = min(max(SHARE * threads, rows // MOST), rows // width)
    cuts = [rows * k // parts // width * width for k in range(parts)] + [rows]
    pool, left = _threads(threads - 1), iter([*pairwise(cuts)])
    others = [pool.submit(_run_parts, run, left) for _ in range(threads - 1)]
    try:
        _run_parts(run, left)
    finally:
        for other in others:
            if not other.cancel():
                other.result()


def _run_parts(run: Callable[[int, int], None], left: Iterator[tuple[int, int]]) -> None:
    for first, end in left:
        run(first, end)


_WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_interrupts: dict[int, BaseException] = {}


def _shared_rows(work: int, given: int, rows: int) -> bool:
    """Have threads do `work(given, first, end)` for parts of the rows, for machine code; whether all is done."""
    try:
        run_on_threads_in_parts(rows, WIDEST, partial(_WORK(work), given))
    except BaseException as error:  # noqa: BLE001 - none gets through machine code
        _interrupts[threading.get_ident()] = error
        return False
    return True


_callback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(_shared_rows)
SHARE_ROWS = int(ctypes.cast(_callback, ctypes.c_void_p).value or 0)


@contextmanager
def interrupts_of_shared_rows() -> Iterator[None]:
    """A context at whose end Ctrl-C is heard that came while machine code shared its rows."""
    yield
    if error := _interrupts.pop(threading.get_ident(), None):
        raise error


def _threads(wanted: int) -> ThreadPoolExecutor:
    """The process's pool of threads for kernels, with at least the wanted number."""
    from concurrent.futures import ThreadPoolExecutor

    with _lock:
        if not _pool or _pool[-1]._max_workers < wanted:
            _pool.append(ThreadPoolExecutor(wanted, "denoc"))
        return _pool[-1]


def _forget() -> None:
    """Begins without threads, because a forked process has none of its parent's."""
    global _lock
    _lock = threading.Lock()
    _pool.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
