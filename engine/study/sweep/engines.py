"""Batches of runs, and where they are carried out: in this process, in other ones, or on a Dask cluster.

What a run's row has depends on nothing but its own inputs.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import numpy as np

from ...errors import ClusterError, DenocError, InputError
from ...machine.backend import (
    at_most_processors,
    hash_of_all_package_sources,
    llvmlite_version,
    native_lanes,
    native_processor,
    processors_to_use,
)
from ...parallel import Cluster
from ...settings import environment_setting
from ..run_blocks import block_of_variations, variations_of_blocks
from ..variations import Columns, Variations
from .keep import Reduction, take_sweep_outputs, whole_sweep_rows
from .store import Outcome

REFUSED = "refused"


@dataclass(frozen=True)
class Task:
    """Runs with the same words in their changes, by their places in the study; `machine` computes them alike."""

    places: list[int]
    scenario: Path
    robot: Path | None
    variations: Columns
    wanted: Sequence[Reduction]
    rows: Sequence[str]  # columns that are kept whole
    machine: str
    files: bytes  # the hash of all that its runs have in common: files, keys, words

    def part(self, some: slice) -> Task:
        """A part of the runs."""
        return replace(self, places=self.places[some], variations=self.variations.some(some))

    def without_variations(self) -> Task:
        """The task as it is sent back, by its places."""
        return replace(self, variations=Columns(0, {}))


@dataclass(frozen=True)
class Done:
    """The outcomes of a task in its order, and the seconds that they took."""

    task: Task
    outcomes: list[Outcome]
    seconds: float


def machine_of_study_runs() -> str:
    """What a run's last bits depend on beside its inputs: all of denoc's sources, what they import, the processor."""
    return " ".join((*_programs(), *native_processor(), str(native_lanes())))


@lru_cache(maxsize=1)
def _programs() -> tuple[str, ...]:
    """The hash of denoc's sources, and the versions of what computes beside them."""
    versions = (sys.version.split()[0], np.__version__, version("scipy"), llvmlite_version())
    return (hash_of_all_package_sources(), *versions)


def study_task_carried_out(task: Task) -> Done:
    """The outcomes of all runs of a task."""
    if task.machine != machine_of_study_runs():
        raise ClusterError(
            "a worker has another version of denoc, of Python, NumPy, SciPy or llvmlite, or another kind of processor, "
            "than this process: its numbers would differ in their last digits"
        )
    begun = time.perf_counter()
    outcomes = _outcomes(task)
    return Done(task.without_variations(), outcomes, time.perf_counter() - begun)


def _outcomes(task: Task) -> list[Outcome]:
    """The outcomes; where a run can't even begin, the others are carried out without it."""
    try:
        made: dict[int, Outcome] = {}
        for block in block_of_variations(_files(task), task.variations):
            numbers = take_sweep_outputs(block.t, block.columns, task.wanted, len(block.places))
            rows = whole_sweep_rows(block.t, block.columns, task.rows, len(block.places))
            kept = map(tuple, np.column_stack([numbers, block.energy]).tolist())
            made.update(zip(block.places, map(Outcome, block.ended, block.as_expected, block.reasons, kept, rows)))
        return [made[k] for k in range(len(task.variations))]
    except DenocError as error:
        if len(task.places) == 1:
            why = error.message if isinstance(error, InputError) else str(error)
            key = error.key.partition(": ")[2] if isinstance(error, InputError) else ""
            reason = " ".join(f"{key}: {why}".removeprefix(": ").split())
            ended = REFUSED if isinstance(error, InputError) else "failed"
            return [Outcome(ended, False, reason, (float("nan"),) * (len(task.wanted) + 2))]
    half = len(task.places) // 2
    return [*_outcomes(task.part(slice(None, half))), *_outcomes(task.part(slice(half, None)))]


class _Latest(threading.local):
    """The files of the latest task of a thread, as it has read them, with what its runs go by."""

    files: tuple[bytes, Path | None, Path | None] = (b"", None, None)  # their hash, and where they lie
    read: Variations | None = None


_latest = _Latest()


def _files(task: Task) -> Variations:
    """The files of a task, which the batches of a study read once."""
    files = (task.files, task.scenario, task.robot)  # tables are looked for beside them
    if _latest.read is None or _latest.files != files:
        _latest.read, _latest.files = variations_of_blocks(task.scenario, task.robot), files
    return _latest.read


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
        self.workers, self.room = workers or processors_to_use(), 1
        self._tasks: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def next(self) -> Done:
        with at_most_processors(self.workers):
            return study_task_carried_out(self._tasks.popleft())

    def close(self) -> None:
        self._tasks.clear()


class Processes:
    """Other processes of this machine, each with one processor; they end with this one, however that ends."""

    def __init__(self, workers: int | None):
        self.workers = workers or processors_to_use()
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
        self._cluster = Cluster(workers or processors_to_use(), scheduler)
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
    with at_most_processors(processors_to_use() if environment_setting("DENOC_CORES") else 1):
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
