"""Scenarios run again and judged by a baseline: what they gave when everybody agreed with it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, NumericalError, Place, did_you_mean
from ..record import deviation as compare
from ..record import images, plots
from ..record.columns import Column
from ..record.described import Line, Picture, array, changes, described
from ..record.deviation import Difference, Signal
from ..record.folders import mend
from ..record.overlay import Pair, overlay
from ..scenario.plan import Plan
from ..scenario.run import Result, prepare
from ..scenario.schema import RegressEntry
from ..text.library import find
from ..text.library import folder as library
from . import baseline
from .baseline import Entry, Image, Kept, Rows

FLOORS = {"energy": 1e-7}  # by family: energies are differences of large numbers, and the residual of nothing else
MOST_OVERLAYS = 36  # of one scenario


@dataclass(frozen=True)
class Case:
    """A scenario to run again: its plan (None: it is no longer there), and what the baseline has of it."""

    name: str
    scenario: str
    plan: Plan | None
    old: Entry | None


@dataclass
class Verdict:
    """What is different, and the entry that would be the new baseline."""

    name: str
    old: Entry | None
    new: Entry | None
    result: Result | None
    differences: list[Difference] = field(default_factory=list)
    nearest: float = 0.0  # how near to what is allowed the columns that are the same come
    notes: list[str] = field(default_factory=list)
    stale: bool = False  # the same, but its files would be others

    @property
    def same(self) -> bool:
        return not self.differences


# ---- what is run again


def cases(folder: Path, asked: Sequence[str], *, update: bool = False) -> list[Case]:
    """The scenarios asked for, else all of the baseline; everything is read and checked here."""
    mend(folder)
    fresh = update and bool(asked) and not os.path.lexists(folder)
    if update:
        baseline.writable(folder)
    entries = {} if fresh else {name: baseline.read(folder, name) for name in baseline.names(folder)}
    if not entries and not asked:
        raise InputError("the baseline is empty", place=Place(str(folder)), hint="name scenarios, with --update")
    found = [_case(folder, text, entries) for text in asked or entries]
    names = [case.name for case in found]
    for case in found:
        if names.count(case.name) > 1:
            raise InputError(f"two scenarios are called `{case.name}`")
    return found


def _case(folder: Path, text: str, entries: Mapping[str, Entry]) -> Case:
    """A name of the baseline, else a file or a name of the library."""
    old = entries.get(text)
    path = _path(folder, old.kept.scenario) if old else find(text, "scenarios")
    if not os.path.isfile(path):
        return Case(text, old.kept.scenario if old else "", None, old)
    plan = prepare(path)
    _settings(plan)
    return Case(plan.name, _reference(folder, path), plan, old or entries.get(plan.name))


def _path(folder: Path, scenario: str) -> Path:
    """The file that an entry names."""
    if "/" in scenario:
        return Path(os.path.normpath(folder / scenario))
    return library("scenarios") / f"{scenario}.yaml"


def _reference(folder: Path, path: Path) -> str:
    """How an entry names the file: by its name in the library, else by its path from the baseline's folder."""
    real = Path(os.path.realpath(path))
    if real.parent == Path(os.path.realpath(library("scenarios"))):
        return real.stem
    relative = Path(os.path.relpath(real, os.path.realpath(folder))).as_posix()
    return relative if "/" in relative else f"./{relative}"


def _settings(plan: Plan) -> RegressEntry:
    """How the scenario wants to be compared."""
    entry = plan.file.regress
    if entry.until is not None and not entry.until > plan.grid[0]:
        raise InputError(
            f"{plan.name}: nothing would be compared",
            key="regress.until",
            found=f"{entry.until:g} s",
            allowed=f"more than {plan.grid[0]:g} s, where the rows start",
        )
    return entry


# ---- entries


def entry(case: Case, result: Result, figures: Mapping[str, Any]) -> Entry:
    """What the baseline keeps of a result."""
    assert case.plan is not None
    settings = _settings(case.plan)
    count = _count(result.t, settings.until)
    kept = compare.thinned(count, compare.MOST_ROWS)
    pinned = {plot: _pinned(result.name, plot, figures) for plot in settings.pinned}
    pictures = {plot: images.drawn(figure) for plot, figure in pinned.items() if figure is not None}
    return Entry(
        result.name,
        Kept(
            form=baseline.FORM,
            scenario=case.scenario,
            ended=result.ended,
            digits=compare.DIGITS,
            rows=Rows(count, compare.stride(count, compare.MOST_ROWS)),
            regress=settings.model_dump(exclude_defaults=True),
            columns=_signals(result, settings, count),
            plots=_described(figures, result, settings.until),
            images={plot: Image(f"{result.name}-{plot}.png", images.version()) for plot in pictures},
        ),
        result.t[kept],
        {name: values[kept] for name, values in result.table.items()},
        pictures,
    )


def _described(figures: Mapping[str, Any], result: Result, until: float | None) -> dict[str, Picture]:
    return {stem: described(figure, result.table, until) for stem, figure in figures.items()}


def _count(t: np.ndarray, until: float | None) -> int:
    """Rows up to the horizon."""
    return len(t) if until is None else int(np.searchsorted(t, until + compare.ROUNDED * abs(until), side="right"))


def _pinned(name: str, plot: str, figures: Mapping[str, Any]) -> Any:
    """The plot's figure; its overlay where there are too many panels for another one."""
    return figures.get(f"{name}-{plot}") or figures.get(f"{name}-{plot}-overlay")


def _signals(result: Result, settings: RegressEntry, count: int) -> list[Signal]:
    """The columns with what each may be off."""
    kinds: dict[tuple[str, str], float] = {}
    for column in result.columns:
        kind = _kind(column)
        kinds[kind] = max(kinds.get(kind, 0.0), compare.size(result.table[column.name][:count]))
    _known(result, settings)
    found = []
    for column in result.columns:
        values = result.table[column.name][:count]
        floor = FLOORS.get(column.family, compare.FLOOR)
        rtol, atol = _tolerance(settings, column.name)
        allowed = compare.allowance(compare.size(values), kinds[_kind(column)], rtol, atol, floor)
        found.append(compare.signal(column.name, column.unit, values, allowed))
    return found


def _kind(column: Column) -> tuple[str, str]:
    """What is measured by one scale; in a plane mechanism all moments of reactions are rounding beside the forces."""
    return column.unit if column.family != "reaction" else "", column.family


def _tolerance(settings: RegressEntry, name: str) -> tuple[float | None, float | None]:
    own = settings.columns.get(name) or next(
        (tolerance for pattern, tolerance in settings.columns.items() if fnmatchcase(name, pattern)), settings
    )
    rtol = own.rtol if own.rtol is not None else settings.rtol
    return rtol, own.atol if own.atol is not None else settings.atol


def _known(result: Result, settings: RegressEntry) -> None:
    """Refuses tolerances of columns that aren't there."""
    for pattern in settings.columns:
        if not any(name == pattern or fnmatchcase(name, pattern) for name in result.table):
            raise InputError(
                f"{result.name} has no such column",
                key="regress.columns",
                found=f"`{pattern}`",
                allowed="columns of the result, * for any letters",
                hint=did_you_mean(pattern, result.table),
            )


# ---- judging


def missing(case: Case) -> Verdict:
    """Of a scenario that is in the baseline and nowhere else."""
    return Verdict(case.name, case.old, None, None, [Difference("scenario", f"`{case.scenario}` is no longer there")])


def judged(case: Case, result: Result) -> Verdict:
    """The result beside what the baseline has of it."""
    assert case.plan is not None
    figures = result.plot(*dict.fromkeys([*result.plots, *case.plan.file.regress.pinned]))
    new, old = entry(case, result, figures), case.old
    verdict = Verdict(case.name, old, new, result)
    if old is None:
        verdict.differences = [Difference("scenario", "not in the baseline")]
        return verdict
    found = [*_frame(old, new)]
    moved, rows = _columns(old, new, result), _rows(old, result)
    t, table = _up_to(result, old.kept.until)
    numbers, verdict.nearest = compare.differences(old.kept.columns, old.t, old.table, t, table, ranges=not rows)
    told = {difference.what for difference in (*moved, *numbers)} | ({"", *old.table} if rows else set())
    shown = changes(old.kept.plots, _described(figures, result, old.kept.until), old.kept.columns, told)
    verdict.differences = [*found, *rows, *moved, *numbers, *shown, *_images(old, new, verdict)]
    verdict.stale = verdict.stale or old.kept.scenario != new.kept.scenario
    return verdict


def _frame(old: Entry, new: Entry) -> Iterator[Difference]:
    """Name, end and settings."""
    if old.name != new.name:
        yield Difference("scenario", f"`{old.name}` is called `{new.name}` now")
    if old.kept.ended != new.kept.ended:
        yield Difference("ended", f"`{old.kept.ended}` is `{new.kept.ended}` now")
    if old.kept.regress != new.kept.regress:
        said = [", ".join(f"{k}: {v}" for k, v in one.kept.regress.items()) or "nothing" for one in (old, new)]
        yield Difference("regress", f"the scenario's entry said {said[0]}, now {said[1]}; the old one was applied")


def _rows(old: Entry, result: Result) -> list[Difference]:
    """Whether the rows stand at other instants."""
    count = _count(result.t, old.kept.until)
    t = result.t[:count]
    if count == old.kept.rows.count and (compare.instants(old.t, t) >= 0).all():
        return []
    last = f" to {t[-1]:g} s" if len(t) else ""
    message = f"{old.kept.rows.count} rows to {old.t[-1]:g} s were there, {count}{last} now; common ones are compared"
    return [Difference("rows", message)]


def _up_to(result: Result, until: float | None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Instants and columns up to the horizon."""
    count = _count(result.t, until)
    return result.t[:count], {name: values[:count] for name, values in result.table.items()}


def _columns(old: Entry, new: Entry, result: Result) -> list[Difference]:
    """Columns that are missing, new or in another unit."""
    before = {one.name: one for one in old.kept.columns}
    now = {one.name: one for one in new.kept.columns}
    found = []
    for name, one in before.items():
        if name not in now:
            other = compare.renamed(name, old.kept.columns, old.t, old.table, result.t, result.table)
            found.append(Difference(name, "missing now" + (f"; `{other}` holds its numbers" if other else "")))
        elif one.unit != now[name].unit:
            found.append(Difference(name, f"in {one.unit}, now in {now[name].unit}"))
    return found + [Difference(name, "a new column") for name in now if name not in before]


def _images(old: Entry, new: Entry, verdict: Verdict) -> Iterator[Difference]:
    """Pinned plots, where the same matplotlib has drawn both."""
    for plot, image in old.kept.images.items():
        if plot not in new.images:
            continue
        if image.matplotlib != images.version():
            verdict.notes.append(
                f"image of {plot} not compared: of matplotlib {image.matplotlib}, not {images.version()}"
            )
            verdict.stale = True
            continue
        try:
            apart = images.apart(old.images[plot], new.images[plot])
        except (ValueError, OSError, SyntaxError) as error:
            raise InputError("not a file of a baseline: no image", place=Place(image.file), found=str(error)) from None
        if apart is None:
            yield Difference(f"{new.name}-{plot}", "the image has another size")
        elif apart > images.ALLOWED:
            yield Difference(f"{new.name}-{plot}", f"the image is {apart:.3f} off, allowed {images.ALLOWED:g}")


# ---- what comes of it


def update(folder: Path, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Writes what has changed into the baseline, whole or not at all; scenario → what was done."""
    done: dict[str, str] = {}
    gone: list[str] = []
    made: dict[str, bytes] = {}
    for verdict in verdicts:
        if verdict.same and not verdict.stale:
            continue
        result = verdict.result
        if result is not None and result.ended != result.record["expected"]:
            raise NumericalError(
                f"{verdict.name} ended as `{result.ended}`: no baseline is made of it; nothing is written"
            )
        gone += verdict.old.files() if verdict.old else []
        made |= verdict.new.texts() if verdict.new else {}
        done[verdict.name] = "removed" if verdict.new is None else "added" if verdict.old is None else "changed"
    if done:
        baseline.publish(folder, gone, made)
    return done


def overlays(verdict: Verdict) -> dict[str, Any]:
    """File stem → figure with old and new lines, for each panel that has changed, the worst ones first."""
    if verdict.old is None or verdict.new is None or verdict.result is None:
        return {}
    made: dict[str, Any] = {}
    for name, title, quantity, pairs in (*_changed_columns(verdict), *_changed_panels(verdict)):
        if pairs and len(made) < MOST_OVERLAYS:
            stem = re.sub(r"[^\w.-]", "_", f"{verdict.name}-difference-{name}")
            made[stem if stem not in made else f"{stem}-{len(made)}"] = overlay(
                f"{title} ({verdict.name})", quantity, pairs
            )
    return made


Drawn = tuple[str, str, str, list[Pair]]  # part of the file's name, title, what the axis shows, lines


def _changed_columns(verdict: Verdict) -> Iterator[Drawn]:
    assert verdict.result is not None
    off = {d.what: k for k, d in enumerate(verdict.differences) if d.old is not None and d.panel is None}
    groups = []
    for family, columns in groupby(verdict.result.columns, key=lambda column: column.family):
        for owner, unit, lines in plots.panels(list(columns)):
            failing = sorted((column for column in lines if column.name in off), key=lambda column: off[column.name])
            if failing:
                groups.append((min(off[column.name] for column in failing), family, owner, unit, failing))
    for _, family, owner, unit, failing in sorted(groups, key=lambda group: group[0]):
        row = next((row for row in plots.PLOTS.values() if row.family == family), None)
        ending = "" if family in owner else f", {family}"
        pairs = [_pair(verdict, column.name, column.name, column.label, column.label) for column in failing]
        yield f"{owner}-{family}", f"{owner}{ending}", plots.measured(row, unit) if row else unit, pairs


def _pair(verdict: Verdict, name: str, other: str, before: str, label: str) -> Pair:
    """A column as it was, and the one that stands in its place, with their labels."""
    old, result = verdict.old, verdict.result
    assert old is not None
    assert result is not None
    t, table = _up_to(result, old.kept.until)
    allowed = next(one.allowed for one in old.kept.columns if one.name == name)
    return Pair(before, label, old.t, old.table[name], t, table[other], allowed)


def _changed_panels(verdict: Verdict) -> Iterator[Drawn]:
    """Panels whose words have changed, or whose lines show other columns."""
    assert verdict.old is not None
    assert verdict.new is not None
    places = dict.fromkeys((d.what, d.panel) for d in verdict.differences if d.panel is not None)
    for stem, k in places:
        was, now = (_panel(one.kept.plots, stem, k or 0) for one in (verdict.old, verdict.new))
        pairs = [_lines(verdict, one, other) for one, other in zip(was.lines, now.lines)]
        short = stem.removeprefix(f"{verdict.name}-")
        title = f"{short}, panel {(k or 0) + 1}" + (f", {was.title}" if was.title else "")
        yield f"{short}-panel{(k or 0) + 1}", title, was.y if was.y == now.y else f"{was.y} → {now.y}", pairs


def _panel(pictures: Mapping[str, Picture], stem: str, k: int) -> Any:
    return pictures[stem].panels[k]


def _lines(verdict: Verdict, old: Line, new: Line) -> Pair:
    """A line of a plot as it was and as it is, from its columns where it shows some."""
    assert verdict.old is not None
    assert verdict.result is not None
    if old.column in verdict.old.table and new.column in verdict.result.table:
        return _pair(verdict, old.column, new.column, old.label, new.label)
    y = array(old.y)
    allowed = compare.allowance(compare.size(y), 0.0, None, None)
    return Pair(old.label, new.label, array(old.x), y, array(new.x), array(new.y), allowed)
