"""Batches of runs, as any process carries them out: what a run's row has depends on nothing but its own inputs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ...errors import ClusterError, DenocError, InputError
from ...machine.jit import cache, native
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
    return " ".join((*_programs(), *native.native_processor(), str(native.native_lanes())))


@lru_cache(maxsize=1)
def _programs() -> tuple[str, ...]:
    """The hash of denoc's sources, and the versions of what computes beside them."""
    versions = (sys.version.split()[0], np.__version__, version("scipy"), native.llvmlite_version())
    return (cache.hash_of_all_package_sources(), *versions)


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
        return _together(task)
    except DenocError as error:
        if len(task.places) == 1:
            why = error.message if isinstance(error, InputError) else str(error)
            key = error.key.partition(": ")[2] if isinstance(error, InputError) else ""
            reason = " ".join(f"{key}: {why}".removeprefix(": ").split())
            ended = REFUSED if isinstance(error, InputError) else "failed"
            return [Outcome(ended, False, reason, (float("nan"),) * (len(task.wanted) + 2))]
    half = len(task.places) // 2
    return [*_outcomes(task.part(slice(None, half))), *_outcomes(task.part(slice(half, None)))]


def _together(task: Task) -> list[Outcome]:
    """The outcomes of runs all of which can begin."""
    made: dict[int, Outcome] = {}
    for block in block_of_variations(_files(task), task.variations):
        numbers = take_sweep_outputs(block.t, block.columns, task.wanted, len(block.places))
        rows = whole_sweep_rows(block.t, block.columns, task.rows, len(block.places))
        kept = map(tuple, np.column_stack([numbers, block.energy]).tolist())
        made.update(zip(block.places, map(Outcome, block.ended, block.as_expected, block.reasons, kept, rows)))
    return [made[k] for k in range(len(task.variations))]


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
