"""The search of a study: from its file to the best point, with a verdict whether that is a minimum, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..._version import VERSION
from ...errors import InputError, NumericalError
from ...record import figure_of_search_progress
from ...simulate import NoTangentsError
from ...text import Document, count_with_noun
from ..minimisers import METHODS, Method
from ..sweep import (
    Engine,
    Probed,
    Runs,
    Source,
    Study,
    Table,
    best_scenario_files,
    check_sweep_engine,
    missed_sweep_expectations,
    open_study,
    probe_study,
    sampled_sweep_cube,
    sweep_engine,
    sweep_reductions,
    write_study_files,
)
from .gradients import Derivatives, search_outputs_that_jump
from .objective import (
    BETTER,
    Goal,
    Landscape,
    LostError,
    Report,
    SpentError,
    Verdict,
    search_neighbours,
    search_verdict,
)
from .together import View, go_together


def write_search_files(made: Optimised, study: Study, folder: Path, form: str, parquet: bool) -> list[Path]:
    """Writes the files and returns their paths; `form` is that of the plot, empty for none."""
    drawn = {}
    if study.file.plot and form:
        unit = f" ({made.unit})" if made.unit != "1" else ""
        values = np.where(np.isfinite(made.values), made.values, np.nan)
        drawn[f"{made.name}-progress"] = figure_of_search_progress(made.name, made.goal + unit, values, made.allowed)
    best = best_scenario_files(study.at([made.best]), [0])
    record = search_record(made, study)
    return write_study_files(folder, made.name, record, {made.name: made.table}, parquet, drawn, form, best)


def search_record(made: Optimised, study: Study) -> dict[str, Any]:
    """What was sought and what came out; nothing in it differs from machine to machine of one kind."""
    units = {name: unit for name, unit in made.table.units.items() if unit}
    return {
        "study": made.name,
        "about": made.about,
        "input": study.document.data,
        **search_summary(made),
        "units": units,
        "version": VERSION,
    }


def search_summary(made: Optimised) -> dict[str, Any]:
    """The result as plain data."""
    judged = made.verdict
    return {
        "minimised": made.goal,
        "value": made.value,
        "unit": made.unit,
        "best": made.best,
        "outputs": {name: _known(x) for name, x in made.outputs.items()},
        "minimum": judged.minimum,
        "verdict": judged.words,
        "gradient": judged.gradient and {name: _known(x) for name, x in judged.gradient.items()},
        "projected": _known(judged.projected),
        "held": judged.held,
        "active": judged.active,
        "nearby": judged.nearby,
        "method": made.method,
        "why": made.why,
        "runs": len(made.table),
        "spent": made.spent,
        "missed": made.missed,
    }


def _known(x: float | None) -> float | None:
    """A number for JSON, which has none for what isn't known."""
    return x if x is not None and np.isfinite(x) else None


MOST, TOLERANCE = 1000, 1e-8  # by default: evaluations, and of what is minimised
SHORTENED = 20  # steps of a search that may lead to points without derivatives
WITH_LIMITS, WITHOUT, JUMPING = "slsqp", "l-bfgs-b", "nelder-mead"  # default methods


@dataclass(frozen=True)
class Optimised:
    """The result of a search."""

    name: str
    about: str
    method: str
    why: str  # this method, where the file doesn't say
    goal: str  # what is minimised, in words
    unit: str
    best: dict[str, float]  # the numbers there, in SI units
    outputs: dict[str, float]
    value: float
    verdict: Verdict
    table: Table  # a row for each run, in the order in which the search asked for them
    values: np.ndarray  # what is minimised in each of them
    allowed: np.ndarray  # whether it keeps the limits
    place: int  # of the best run among the rows
    searched: int  # of these rows, before the points around the best one
    spent: bool  # whether the search has had all evaluations that it may have
    computed: int  # runs that weren't kept
    derivatives: int  # how often they were asked for
    missed: list[str]  # limits and expectations that aren't kept

    def __getitem__(self, name: str) -> float:
        return {**self.best, **self.outputs}[name]

    def __repr__(self) -> str:
        return f"Optimised({self.name!r}: {self.goal} = {self.value:.6g} {self.unit}, {self.verdict.words})"


def optimise(
    study: Source,
    *,
    on: str = "threads",
    workers: int | None = None,
    scheduler: str | None = None,
    keep: str | Path | None = None,
    fresh: bool = False,
) -> Optimised:
    """The point at which what a study (a path or a mapping) minimises is least, and whether that is a minimum.

    `on`, `workers`, `scheduler`, `keep` and `fresh` are those of `sweep`.
    """
    check_sweep_engine(on)
    search = Search(search_ready(open_study(study, search=True)), Path(keep) if keep is not None else None, fresh)
    try:
        return search.carried_out(lambda: sweep_engine(on, workers, scheduler))
    finally:
        search.close()


def search_ready(study: Study) -> Probed:
    """The study with its start for its only run, whose keys and outputs exist."""
    place = {name: search_start_of_number(one.between, one.start) for name, one in study.file.vary.items()}
    made = probe_study(study.at([place]))
    for name in study.file.vary:
        if name in made.study.whole:
            why = f"`{name}` has to be a whole number, which can't be sought"
            raise study.document.error(("vary", name), why, key=True)
    _check_method(made)
    return made


def _check_method(ready: Probed) -> None:
    """Raises an error for a sum of different kinds, and for a method that the file shows to be a wrong choice."""
    file, document, asked = ready.study.file, ready.study.document, ready.study.file.method
    goal = Goal(ready)  # whose parts are of one kind
    if asked is None:
        return
    row = METHODS[asked]
    if goal.limits and not row.limits:
        others = ", ".join(name for name, one in METHODS.items() if one.limits)
        raise document.error(("method",), "this method keeps no limits", found=asked, allowed=others)
    if file.starts is not None and file.starts > 1 and not row.local:
        raise document.error(("starts",), f"{asked} begins everywhere", key=True, hint="leave `starts` out")
    jumping = search_outputs_that_jump(sweep_reductions(ready))
    if row.derivatives and jumping:
        raise _without_derivatives(document, asked, jumping)


def _without_derivatives(document: Document, asked: str, why: str) -> InputError:
    others = ", ".join(name for name, one in METHODS.items() if not one.derivatives)
    return document.error(("method",), f"there are no derivatives: {why}", found=asked, allowed=others)


def search_start_of_number(bounds: tuple[float, float] | None, start: float | None) -> float:
    """Where a number begins."""
    assert bounds is not None
    return float(start) if start is not None else (float(bounds[0]) + float(bounds[1])) / 2


class Search:
    """A search and the store of its runs."""

    def __init__(self, study: Probed, path: Path | None, fresh: bool = False):
        self.study, self.file = study.study, study.study.file
        self.goal = Goal(study)
        self.runs = Runs(study, path, fresh)
        self.derivatives = Derivatives(self.runs)
        self._why_none = self.lost = ""

    def close(self) -> None:
        self.runs.close()

    @property
    def most(self) -> int:
        """How many runs the search may take."""
        return self.file.evaluations or MOST

    @property
    def smooth(self) -> bool:
        """Whether there are derivatives at the start."""
        try:
            self.derivatives.at(self.study.design.point(0))  # type: ignore[arg-type]
        except NoTangentsError as error:
            self._why_none = str(error)
        return not self._why_none

    def method(self) -> tuple[str, str]:
        """The method's name, and why it is this one if the file doesn't say; wrong choices are errors."""
        asked, document = self.file.method, self.study.document
        if asked is None:
            smooth = self.smooth
            name = (WITH_LIMITS if self.goal.limits else WITHOUT) if smooth else JUMPING
            return name, "there are derivatives at the start" if smooth else f"no derivatives: {self._why_none}"
        if METHODS[asked].derivatives and not self.smooth:
            raise _without_derivatives(document, asked, self._why_none)
        return asked, ""

    def carried_out(self, engine: Callable[[], Engine], report: Report = lambda it: None) -> Optimised:
        """The result of the search."""
        name, why = self.method()
        at_work = engine()
        try:
            land = Landscape(self.runs, self.goal, at_work, self.derivatives, self.most, report)
            spent = self._searched(land, METHODS[name])
            return self._concluded(land, name, why, spent)
        finally:
            at_work.close()

    def _searched(self, land: Landscape, method: Method) -> bool:
        """Whether the search has had all its evaluations before it ended."""
        try:
            land.look(land.start()[None])
            starts = self.starts(land)
            if len(starts) > 1:
                land.look(starts)
                go_together(land, [partial(self._descend, land, method, start) for start in starts])
            else:
                self._descend(land, method, starts[0], land)
        except SpentError:
            return True
        return False

    def _descend(self, land: Landscape, method: Method, start: np.ndarray, seen: Landscape | View) -> None:
        """One search from its start, by what it sees.

        Where a run on its way has no derivatives, it begins anew, takes the same way, and a shorter step there. If it
        ends beside better points, or where it has been too often, it goes on without derivatives.
        """
        tolerance, lost, ended = self.file.tolerance or TOLERANCE, list[str](), False
        while not ended and len(lost) < SHORTENED and not land.is_rough(start):
            try:
                method.search(seen, start, tolerance)
                ended = True
            except LostError as error:
                lost.append(str(error))
        if not lost:
            return
        if ended and not self._better_beside(land, seen):
            steps = count_with_noun(len(lost), "step")
            self.lost = self.lost or f"{steps} shortened for want of derivatives: {lost[0]}"
            return
        run = len(land.points)
        self.lost = self.lost or f"from run {run} on {JUMPING}, where there are no derivatives: {lost[-1]}"
        best = None if land.is_rough(start) else land.best  # each of many starts goes down from where it is
        METHODS[JUMPING].search(seen, start if best is None else best, tolerance)

    def _better_beside(self, land: Landscape, seen: Landscape | View) -> bool:
        """Whether the best point has no derivatives, or a point around it is better."""
        best = land.best
        if best is None or land.is_rough(best):
            return True
        return bool(seen.ranks(search_neighbours(best, land.seed)).min() < land.at(best).rank - BETTER)

    def starts(self, land: Landscape) -> np.ndarray:
        """The points at which the search begins."""
        first, count = land.start()[None], (self.file.starts or 1) - 1
        if not count:
            return first
        return np.concatenate([first, sampled_sweep_cube("sobol", land.width, count, (self.file.seed,))])

    def _concluded(self, land: Landscape, method: str, why: str, spent: bool) -> Optimised:
        best = land.best
        if best is None:
            reason = next((x for x in land.table()["reason"] if x), f"`{self.goal.name}` has no value")
            raise NumericalError(f"none of {len(land.points)} runs has sound numbers: {reason}")
        searched = len(land.points)
        with self._unlimited(land):
            judged = search_verdict(land, best)
        if land.best is not None and land.at(land.best).rank < land.at(best).rank:
            best = land.best  # a better one of the points around it
        made = land.table()
        place = next(k for k, u in enumerate(land.points) if (u == best).all())
        outputs = {name: float(made[name][place]) for name in made.outputs}
        wrong = [] if land.at(best).allowed else [judged.words]
        alone = self.runs.at([land.place(best)])
        return Optimised(
            name=self.study.name,
            about=self.file.about,
            method=method,
            why="; ".join(x for x in (why, self.lost) if x),
            goal=self.goal.name,
            unit=self.goal.unit,
            best=land.place(best),
            outputs=outputs,
            value=land.at(best).value,
            verdict=judged,
            table=made,
            values=np.array([land.at(u).value for u in land.points]),
            allowed=np.array([land.at(u).allowed for u in land.points]),
            place=place,
            searched=searched,
            spent=spent,
            computed=land.computed,
            derivatives=self.derivatives.asked,
            missed=[*wrong, *missed_sweep_expectations(self.study, alone.table())],
        )

    @contextmanager
    def _unlimited(self, land: Landscape) -> Iterator[None]:
        """A context in which evaluations are no part of the search."""
        before, land.most = land.most, land.most + 10**6
        try:
            yield
        finally:
            land.most = before
