"""Where the batches of a study are carried out: in this process, in other ones, or on a Dask cluster."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Protocol

from ...errors import ClusterError, InputError
from ...machine.jit import cores
from ...parallel.cluster import Cluster
from ...settings import environment_setting
from .tasks import Done, Task, study_task_carried_out

PLACES = ("threads", "process", "dask")
KEPT = "the runs that are kept stay, and the next start goes on with them"


class Engine(Protocol):
    """Something that carries out tasks; `room` says how many it should have at a time."""

    workers: int
    room: int

    def submit(self, task: Task) -> None: ...

    def next(self) -> Done: ...

    def close(self) -> None: ...


class Here:
    """An engine in this process, whose threads share the lanes' blocks among so many processors."""

    def __init__(self, workers: int | None):
        self.workers, self.room = workers or cores.processors_to_use(), 1
        self._tasks: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def next(self) -> Done:
        with cores.at_most_processors(self.workers):
            return study_task_carried_out(self._tasks.popleft())

    def close(self) -> None:
        self._tasks.clear()


class Processes:
    """Other processes of this machine, each with one processor; they end with this one, however that ends."""

    def __init__(self, workers: int | None):
        self.workers = workers or cores.processors_to_use()
        self.room = 2 * self.workers  # so that none waits for its next task
        before = set(multiprocessing.active_children())
        self._pool = ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"), initializer=_begin)
        self._before = before
        self._under_way: set[Future[Done]] = set()

    def submit(self, task: Task) -> None:
        try:
            self._under_way.add(self._pool.submit(study_task_carried_out, task))
        except BrokenProcessPool:
            raise ClusterError(f"a worker process has ended; {KEPT}") from None

    def next(self) -> Done:
        done, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
        first = done.pop()
        self._under_way.discard(first)
        try:
            return first.result()
        except BrokenProcessPool:
            raise ClusterError(f"a worker process has ended; {KEPT}") from None

    def close(self) -> None:
        idle = not self._under_way
        self._pool.shutdown(wait=idle, cancel_futures=True)
        if not idle:  # an interrupt doesn't wait for their tasks
            for process in set(multiprocessing.active_children()) - self._before:
                process.terminate()


class Workers:
    """The workers of a Dask cluster: a local one, or that of a scheduler somewhere."""

    def __init__(self, workers: int | None, scheduler: str | None):
        self._cluster = Cluster(workers or cores.processors_to_use(), scheduler)
        self.workers = len(self._cluster.workers) if workers is None else min(workers, len(self._cluster.workers))
        self.room = 2 * self.workers
        self._under_way: list[object] = []

    def submit(self, task: Task) -> None:
        with _losing_nothing():
            self._under_way.append(self._cluster.task(task_of_dask_worker, task))

    def next(self) -> Done:
        with _losing_nothing():
            first = self._cluster.first(self._under_way)
            self._under_way.remove(first)
            done: Done = self._cluster.result(first)
            return done

    def close(self) -> None:
        self._cluster.close()


def task_of_dask_worker(task: Task) -> Done:
    """The outcomes of a task, on one processor unless DENOC_CORES of the worker says otherwise.

    There are as many workers on a machine as have something to do.
    """
    with cores.at_most_processors(cores.processors_to_use() if environment_setting("DENOC_CORES") else 1):
        return study_task_carried_out(task)


@contextmanager
def _losing_nothing() -> Iterator[None]:
    """A context in which the loss of a cluster says what becomes of the study."""
    try:
        yield
    except ClusterError as error:
        raise ClusterError(f"{error}\n  {KEPT}") from None


def check_sweep_engine(on: str) -> None:
    """Raises an error unless there is a place of this name."""
    if on not in PLACES:
        raise InputError("no such place", key="on", found=f"`{on}`", allowed=", ".join(PLACES))


def sweep_engine(on: str, workers: int | None, scheduler: str | None) -> Engine:
    """The engine of this name."""
    if on == "dask" or scheduler is not None:
        return Workers(workers, scheduler)
    return Processes(workers) if on == "process" else Here(workers)


def _begin() -> None:
    """What a worker process does first: an interrupt is its parent's business, and it ends when that has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["DENOC_CORES"] = "1"
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)
