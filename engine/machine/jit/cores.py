"""Large batches on all processors that this process may use: kernels run without Python's lock, each on its rows."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

FEWEST = 10_000  # rows for which a thread of their own pays

_lock = threading.Lock()
_pool: list[ThreadPoolExecutor] = []


def count() -> int:
    """How many processors this process may use; DENOC_CORES overrules."""
    wanted = os.environ.get("DENOC_CORES", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shared(rows: int, width: int, run: Callable[[int, int], None]) -> None:
    """Calls `run(first, end)` for parts of so many rows that lie side by side, on as many threads as pay.

    Parts begin at multiples of `width`, so that blocks of rows are the same whatever the number of threads.
    """
    parts = min(count(), rows // FEWEST)
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
    """The process's own threads for kernels; at least so many."""
    with _lock:
        if not _pool or _pool[-1]._max_workers < wanted:
            _pool.append(ThreadPoolExecutor(wanted, "denoc"))
        return _pool[-1]


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _lock
    _lock = threading.Lock()
    _pool.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
