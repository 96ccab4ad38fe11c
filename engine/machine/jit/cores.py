"""Large batches shared among the processor's cores: kernels run without Python's lock, each on its own rows."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...settings import environment_setting

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

FEWEST = 10_000  # rows from which on another thread pays

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

    Parts begin at multiples of `width`, so that blocks of rows don't depend on the number of threads.
    """
    parts = processors_that_pay(rows, fewest)
    if parts < 2:
        run(0, rows)
        return
    cuts = [rows * k // parts // width * width for k in range(parts)] + [rows]
    others = [_threads(parts - 1).submit(run, cuts[k], cuts[k + 1]) for k in range(1, parts)]
    try:
        run(cuts[0], cuts[1])
    finally:
        for other in others:
            other.result()


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
