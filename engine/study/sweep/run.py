"""The sweep of a study: the runs that the store lacks are carried out in batches, and the table is made of all."""

from __future__ import annotations

import copy
import hashlib
import json
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import DenocError
from ...formats import load
from ...scenario import opened_scenario as scenario_opened
from ...scenario import prepare_scenario, robot_of_scenario
from ...scenario import tables_of_scenario as tables_of
from ...text import Change, count_with_noun
from ..variations import Columns
from . import engines, store
from .design import Value
from .engines import Done, Task, machine_of_study_runs, study_task_carried_out
from .keep import Reduction
from .probe import Probed, probe_study
from .reading import Study, open_study
from .store import Memory, Store
from .table import Table, sweep_reductions, sweep_table, sweep_whole_rows

FIRST = 8  # runs of the first batch: a few, which may take long
MOST = 5000  # runs of any
BATCH = 1.0  # seconds that a batch should take: far more than to plan and to hand it over
GROWTH = 50  # times the runs of the batch before, at most: each batch costs a plan
EMPTY = 12_288  # bytes of a store without runs
TRIED = 3  # runs of which one should be planned to see which tables they read

Source = str | Path | Mapping[str, Any]


@dataclass(frozen=True)
class Progress:
    """How far a sweep has come."""

    done: int
    count: int
    left: float | None  # seconds, once something is known


@dataclass(frozen=True)
class Swept:
    """A study that has been carried out."""

    name: str
    about: str
    table: Table
    computed: int  # runs that weren't in the store
    missed: list[str]  # what `expect` says and isn't so
    rows: Table | None = None  # of the columns that are kept whole, one run behind the other

    def __getitem__(self, name: str) -> Any:
        return self.table[name]

    @property
    def failed(self) -> int:
        """The number of runs that didn't end as their scenario expects, or that couldn't begin."""
        return int((~self.table.as_expected).sum())

    def __repr__(self) -> str:
        return f"Swept({self.name!r}: {len(self.table)} runs, {self.failed} failed)"


def sweep(
    study: Source,
    *,
    on: str = "threads",
    workers: int | None = None,
    scheduler: str | None = None,
    keep: str | Path | None = None,
    fresh: bool = False,
) -> Swept:
    """All runs of a study (a path or a mapping), in a table with a row for each.

    `on` is `threads`, `process` or `dask`, of which each gives the same table to the last bit. `keep` names a file in
    which runs are kept as they finish: what is in it isn't computed again, unless `fresh`.
    """
    engines.check_sweep_engine(on)
    ready = probe_study(open_study(study))
    runs = Runs(ready, Path(keep) if keep is not None else None, fresh)
    try:
        return runs.carried_out(lambda: engines.sweep_engine(on, workers, scheduler))
    finally:
        runs.close()


class Runs:
    """The runs of a study and the store in which they are kept."""

    def __init__(self, ready: Probed, path: Path | None, fresh: bool = False):
        self._hashes = _Keys(ready.study, machine_of_study_runs(), sweep_reductions(ready))
        self.store = Memory() if path is None else Store(path)
        if fresh:
            self.store.clear()
        self._take(ready)

    def _take(self, ready: Probed) -> None:
        self.probed, self.study = ready, ready.study
        self.wanted = sweep_reductions(ready)
        self.count, self.machine = ready.study.design.count, machine_of_study_runs()
        self.keys = self._hashes.all(ready.study)
        count, width = len(self.wanted) + 2, 8 * (1 + len(self.study.file.rows))
        self.outcomes = {
            key: one
            for key, one in self.store.known(self.keys).items()
            if len(one.numbers) == count and (one.rows == b"" or (width > 8 and len(one.rows) % width == 0))
        }

    def at(self, points: Sequence[Mapping[str, Value]]) -> Runs:
        """The runs at these points, in the same store."""
        other = copy.copy(self)
        other._take(replace(self.probed, study=self.study.at(points)))
        return other

    def key(self, k: int, what: str) -> bytes:
        """A key for what else is kept of run k."""
        return hashlib.sha256(self.keys[k] + what.encode()).digest()

    def close(self) -> None:
        self.store.close()

    @property
    def missing(self) -> list[int]:
        """The places of runs that aren't kept yet."""
        return [k for k, key in enumerate(self.keys) if key not in self.outcomes]

    def carried_out(
        self, engine: Callable[[], engines.Engine], report: Callable[[Progress], None] = lambda it: None
    ) -> Swept:
        """The study's table, after all runs that are missing have been carried out and kept."""
        missing = self.missing
        if missing:
            at_work = engine()
            try:
                self.complete(at_work, report)
            finally:
                at_work.close()
        made, rows = self.table(), self._whole([self.outcomes[key] for key in self.keys])
        return Swept(
            self.study.name,
            self.study.file.about,
            made,
            len(missing),
            missed_sweep_expectations(self.study, made),
            rows,
        )

    def _whole(self, outcomes: Sequence[store.Outcome]) -> Table | None:
        """The table of the columns that are kept whole, if there are any."""
        names = self.study.file.rows
        if not names:
            return None
        units = {name: unit for name, unit in self.probed.columns.items() if name in ("t", *names)}
        return Table({**sweep_whole_rows(outcomes, names)}, units, ["run", "t"], [*names])

    def complete(self, engine: engines.Engine, report: Callable[[Progress], None] = lambda it: None) -> None:
        """Carries out and keeps all runs that are missing."""
        if missing := self.missing:
            for done in self._carried_out(engine, missing, report):
                self._keep(done)

    def table(self) -> Table:
        """The table of all runs, none of which is missing."""
        return sweep_table(self.probed, [self.outcomes[key] for key in self.keys])

    def _keep(self, done: Done) -> None:
        pairs = [(self.keys[k], one) for k, one in zip(done.task.places, done.outcomes)]
        self.store.keep(pairs)
        self.outcomes.update(pairs)

    def _carried_out(
        self, engine: engines.Engine, missing: Sequence[int], report: Callable[[Progress], None]
    ) -> Iterator[Done]:
        """The outcomes, batch by batch; how many runs are in a batch changes no number of any."""
        batches = _Batches(self, missing)
        begun, under_way, done = time.monotonic(), 0, 0
        while True:
            while under_way < engine.room and (task := batches.next()) is not None:
                engine.submit(task)
                under_way += 1
            if not under_way:
                return
            one = engine.next()
            under_way -= 1
            done += len(one.task.places)
            batches.took(one, len(missing) - done, engine.workers)
            yield one
            pace = (time.monotonic() - begun) / done
            report(Progress(self.count - len(missing) + done, self.count, pace * (len(missing) - done)))

    def task(self, places: list[int]) -> Task:
        """The task of carrying out these runs."""
        study, changed = self.study, self.study.changed.items()
        first, count = places[0], len(places)
        if places[-1] - first == count - 1:  # they are in order
            changes = Columns(count, {key: values[first : first + count] for key, values in changed})
        else:
            changes = Columns(count, {key: [values[k] for k in places] for key, values in changed})
        files = self._hashes.mark(study.words(first))
        return Task(places, study.scenario, study.robot, changes, self.wanted, study.file.rows, self.machine, files)


@dataclass(frozen=True)
class Forecast:
    """What a sweep would do, from the time that some of its runs take."""

    runs: int
    kept: int
    seconds: float  # of one run on one worker; 0 if none is missing
    table: int  # bytes of the table
    store: int  # bytes of the store


def forecast_sweep(runs: Runs) -> Forecast:
    """What a sweep would do; a few of its runs are carried out for that, and nothing is kept."""
    numbers = len(runs.study.file.vary) + len(runs.study.file.set_) + len(runs.study.file.keep) + 1
    row, missing = 20 * numbers + 16, runs.missing
    seconds = 0.0
    if missing:
        word = runs.study.words(missing[0])
        some = [k for k in missing[:FIRST] if runs.study.words(k) == word]
        study_task_carried_out(runs.task(some[:1]))  # so that compiling isn't measured
        seconds = study_task_carried_out(runs.task(some)).seconds / len(some)
    whole = runs.probed.whole_bytes
    kept = 8 * (len(runs.wanted) + 2) + 100 + whole
    return Forecast(
        runs.count, runs.count - len(missing), seconds, (row + 3 * whole) * runs.count, EMPTY + kept * runs.count
    )


class _Batches:
    """Batches of runs with the same words, of about a second each."""

    def __init__(self, runs: Runs, missing: Sequence[int]):
        groups: dict[tuple[Any, ...], list[int]] = {}
        for k in missing:
            groups.setdefault(runs.study.words(k), []).append(k)
        self._runs, self._groups, self._size = runs, list(groups.values()), FIRST

    def next(self) -> Task | None:
        """The next batch, if there is one."""
        if not self._groups:
            return None
        group = self._groups[0]
        places, self._groups[0] = group[: self._size], group[self._size :]
        if not self._groups[0]:
            self._groups.pop(0)
        return self._runs.task(places)

    def took(self, done: Done, left: int, workers: int) -> None:
        """Learns from a batch how large the next one should be; the last ones are smaller, so that all end together."""
        fitting = int(BATCH * len(done.outcomes) / max(done.seconds, 1e-9))
        share = -(-left // (2 * workers)) if workers > 1 else MOST
        self._size = max(1, min(fitting, GROWTH * max(self._size, len(done.outcomes)), MOST, max(share, FIRST)))


class _Keys:
    """The hashes of the inputs of runs: files, changes, what is kept, sources, processor."""

    def __init__(self, study: Study, machine: str, wanted: Sequence[Reduction]):
        document, _, beside = scenario_opened(study.scenario)
        robot = load(study.robot) if study.robot is not None else robot_of_scenario(document, beside)
        data = robot.document.data if robot.document is not None else None
        # the compiled backend, which all runs of a study go by
        self._common = _text([store.FORM, machine, "compiled", wanted, study.file.rows, document.data, data])
        self._begun: dict[tuple[Any, ...], Any] = {}  # hashes that all runs with the same words begin with

    def all(self, study: Study) -> list[bytes]:
        """The hashes of all runs of the study, or of one that differs from it in its points only."""
        keys = list[bytes]()
        for k, (words, values) in enumerate(zip(study.all_words, self._values(study))):
            if words not in self._begun:
                text = self._common + self._read(study, k) + _text(list(study.changed))
                self._begun[words] = hashlib.sha256(text.encode())
            whole = self._begun[words].copy()
            whole.update(values)
            keys.append(whole.digest())
        return keys

    def mark(self, words: tuple[Any, ...]) -> bytes:
        """The hash of what all runs with these words have in common."""
        return bytes(self._begun[words].digest())

    @staticmethod
    def _values(study: Study) -> Iterable[bytes]:
        """The values of all keys that each run changes, as bytes."""
        columns = study.changed.values()
        if all({*map(type, values)} == {float} for values in columns):
            flat, size = np.array([*columns], dtype="<f8").T.tobytes(), 8 * len(columns)
            return (flat[k : k + size] for k in range(0, len(flat), size))
        return map(_bytes_of_values, zip(*columns))

    @staticmethod
    def _read(study: Study, k: int) -> str:
        """The hashes of the tables that runs like this one read."""
        for one in range(k, min(k + TRIED, study.design.count)):
            changes = [Change(key, x, key) for key, x in study.changes(one).items()]
            try:
                contents = tables_of(prepare_scenario(study.scenario, study.robot, changes))
            except DenocError:  # this one can't begin, others may
                continue
            return _text([[name, hashlib.sha256(one).hexdigest()] for name, one in contents.items()])
        return ""


def _bytes_of_values(values: Sequence[Any]) -> bytes:
    """Values from whose bytes they could be read again."""
    plain = {*map(type, values)} == {float}
    return struct.pack(f"<{len(values)}d", *values) if plain else _text(values).encode()


def _text(data: Any) -> str:
    """Plain data as text from which its bits could be read again."""
    return json.dumps(data, default=repr)


def missed_sweep_expectations(study: Study, made: Table) -> list[str]:
    """What the study's `expect` says and isn't so, in sentences."""
    expect, found = study.file.expect, list[str]()
    standing = made.as_expected
    failed = int((~standing).sum())
    if expect.failed is not None and failed > expect.failed:
        found.append(f"{count_with_noun(failed, 'run')} didn't end as expected, more than {expect.failed}")
    for name, limits in expect.outputs.items():
        values = made[name]
        for word, limit, sign in (("below", limits.at_least, -1.0), ("above", limits.at_most, 1.0)):
            if limit is None:
                continue
            these = np.flatnonzero(standing & (sign * values > sign * float(limit)))  # which isn't true of NaN
            if len(these):
                worst = values[these].min() if word == "below" else values[these].max()
                runs = count_with_noun(len(these), "run")
                found.append(f"{name} is {word} {limit.written} in {runs}, {worst:.6g} at worst")
    return found
