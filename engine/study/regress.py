"""Regression checks: scenarios are run again and compared with a baseline of agreed results."""

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
from ..record.described import DescribedLine, Picture, numbers_of_line, picture_differences, picture_of
from ..record.deviation import ComparedColumn, Difference
from ..record.drawings import Drawing
from ..record.folders import mend
from ..record.overlay import Pair, overlay
from ..scenario.plan import Plan
from ..scenario.run import Result, prepare
from ..scenario.schema import RegressEntry
from ..text.library import find
from ..text.library import folder as library
from . import baseline
from .baseline import BaselineEntry, EntryFile, KeptImage, KeptRows

FLOORS = {"energy": 1e-7}  # by family; energies, and above all the residual, are differences of large numbers
MOST_OVERLAYS = 36  # of one scenario


@dataclass(frozen=True)
class Case:
    """A scenario to run again: its plan (None if the file is gone), and its entry in the baseline."""

    name: str
    scenario: str
    plan: Plan | None
    old: BaselineEntry | None


@dataclass
class Verdict:
    """The differences of a scenario from its baseline, and the entry that would be its new one."""

    name: str
    old: BaselineEntry | None
    new: BaselineEntry | None
    result: Result | None
    differences: list[Difference] = field(default_factory=list)
    nearest: float = 0.0  # the largest ratio to the allowed difference among equal columns
    notes: list[str] = field(default_factory=list)
    stale: bool = False  # equal, but the files of the baseline would change

    @property
    def same(self) -> bool:
        return not self.differences


# ---- cases


def cases(folder: Path, asked: Sequence[str], *, update: bool = False) -> list[Case]:
    """The cases of the given scenarios, or of the whole baseline; all files are read and checked here."""
    mend(folder)
    fresh = update and bool(asked) and not os.path.lexists(folder)
    if update:
        baseline.writable(folder)
    entries = {} if fresh else {name: baseline.read(folder, name) for name in baseline.entry_names(folder)}
    if not entries and not asked:
        raise InputError("the baseline is empty", place=Place(str(folder)), hint="name scenarios, with --update")
    chosen = [_case(folder, text, entries) for text in asked or entries]
    names = [case.name for case in chosen]
    for case in chosen:
        if names.count(case.name) > 1:
            raise InputError(f"two scenarios are called `{case.name}`")
    return chosen


def _case(folder: Path, text: str, entries: Mapping[str, BaselineEntry]) -> Case:
    """The case of a name in the baseline, or of a file or a name of the library."""
    old = entries.get(text)
    path = _path(folder, old.kept.scenario) if old else find(text, "scenarios")
    if not os.path.isfile(path):
        return Case(text, old.kept.scenario if old else "", None, old)
    plan = prepare(path)
    _settings(plan)
    return Case(plan.name, _reference(folder, path), plan, old or entries.get(plan.name))


def _path(folder: Path, scenario: str) -> Path:
    """The file of a scenario that an entry names."""
    if "/" in scenario:
        return Path(os.path.normpath(folder / scenario))
    return library("scenarios") / f"{scenario}.yaml"


def _reference(folder: Path, path: Path) -> str:
    """The reference to a scenario's file in an entry: its name in the library, or its path from the baseline."""
    real = Path(os.path.realpath(path))
    if real.parent == Path(os.path.realpath(library("scenarios"))):
        return real.stem
    relative = Path(os.path.relpath(real, os.path.realpath(folder))).as_posix()
    return relative if "/" in relative else f"./{relative}"


def _settings(plan: Plan) -> RegressEntry:
    """The settings of the scenario for its comparison."""
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


def new_entry(case: Case, result: Result, figures: Mapping[str, Any]) -> BaselineEntry:
    """The entry of a result in a baseline."""
    assert case.plan is not None
    settings = _settings(case.plan)
    count = _count(result.t, settings.until)
    kept = compare.thinned(count, compare.MOST_ROWS)
    pinned = {plot: _pinned(result.name, plot, figures) for plot in settings.pinned}
    pictures = {plot: images.png_of(figure) for plot, figure in pinned.items() if figure is not None}
    return BaselineEntry(
        result.name,
        EntryFile(
            form=baseline.FORM,
            scenario=case.scenario,
            ended=result.ended,
            digits=compare.DIGITS,
            rows=KeptRows(count, compare.stride(count, compare.MOST_ROWS)),
            regress=settings.model_dump(exclude_defaults=True),
            columns=_compared_columns(result, settings, count),
            plots=_pictures(figures, result, settings.until),
            images={plot: KeptImage(f"{result.name}-{plot}.png", images.version()) for plot in pictures},
        ),
        result.t[kept],
        {name: values[kept] for name, values in result.table.items()},
        pictures,
    )


def _pictures(figures: Mapping[str, Any], result: Result, until: float | None) -> dict[str, Picture]:
    return {stem: picture_of(figure, result.table, until) for stem, figure in figures.items()}


def _count(t: np.ndarray, until: float | None) -> int:
    """The number of rows up to the horizon."""
    return len(t) if until is None else int(np.searchsorted(t, until + compare.ROUNDED * abs(until), side="right"))


def _pinned(name: str, plot: str, figures: Mapping[str, Any]) -> Any:
    """The figure of a plot, or its overlay if there are too many panels for a figure."""
    return figures.get(f"{name}-{plot}") or figures.get(f"{name}-{plot}-overlay")


def _compared_columns(result: Result, settings: RegressEntry, count: int) -> list[ComparedColumn]:
    """The columns, each with its allowed difference."""
    kinds: dict[tuple[str, str], float] = {}
    for column in result.columns:
        kinds[column.kind] = max(kinds.get(column.kind, 0.0), compare.size(result.table[column.name][:count]))
    _check_names(result, settings)
    compared = []
    for column in result.columns:
        values = result.table[column.name][:count]
        floor = FLOORS.get(column.family, compare.FLOOR)
        rtol, atol = _tolerance(settings, column.name)
        allowed = compare.allowance(compare.size(values), kinds[column.kind], rtol, atol, floor)
        compared.append(compare.compared_column(column.name, column.unit, values, allowed))
    return compared


def _tolerance(settings: RegressEntry, name: str) -> tuple[float | None, float | None]:
    own = settings.columns.get(name) or next(
        (tolerance for pattern, tolerance in settings.columns.items() if fnmatchcase(name, pattern)), settings
    )
    rtol = own.rtol if own.rtol is not None else settings.rtol
    return rtol, own.atol if own.atol is not None else settings.atol


def _check_names(result: Result, settings: RegressEntry) -> None:
    """Raises an error if there are tolerances for unknown columns."""
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
    """The verdict on a scenario whose file is gone."""
    return Verdict(case.name, case.old, None, None, [Difference("scenario", f"`{case.scenario}` is no longer there")])


def judged(case: Case, result: Result) -> Verdict:
    """The verdict on a result, compared with its entry in the baseline."""
    assert case.plan is not None
    figures = result.plot(*dict.fromkeys([*result.plots, *map(Drawing, case.plan.file.regress.pinned)]))
    new, old = new_entry(case, result, figures), case.old
    verdict = Verdict(case.name, old, new, result)
    if old is None:
        verdict.differences = [Difference("scenario", "not in the baseline")]
        return verdict
    frame = [*_frame(old, new)]
    moved, rows = _columns(old, new, result), _rows(old, result)
    t, table = _up_to(result, old.kept.until)
    numbers, verdict.nearest = compare.differences(old.kept.columns, old.t, old.table, t, table, ranges=not rows)
    reported = {difference.what for difference in (*moved, *numbers)} | ({"", *old.table} if rows else set())
    shown = picture_differences(old.kept.plots, _pictures(figures, result, old.kept.until), old.kept.columns, reported)
    verdict.differences = [*frame, *rows, *moved, *numbers, *shown, *_images(old, new, verdict)]
    verdict.stale = verdict.stale or old.kept.scenario != new.kept.scenario
    return verdict


def _frame(old: BaselineEntry, new: BaselineEntry) -> Iterator[Difference]:
    """The differences in name, ending and settings."""
    if old.name != new.name:
        yield Difference("scenario", f"`{old.name}` is called `{new.name}` now")
    if old.kept.ended != new.kept.ended:
        yield Difference("ended", f"`{old.kept.ended}` is `{new.kept.ended}` now")
    if old.kept.regress != new.kept.regress:
        words = [", ".join(f"{k}: {v}" for k, v in one.kept.regress.items()) or "nothing" for one in (old, new)]
        yield Difference("regress", f"the scenario's entry said {words[0]}, now {words[1]}; the old one was applied")


def _rows(old: BaselineEntry, result: Result) -> list[Difference]:
    """A difference if the rows are at other instants."""
    count = _count(result.t, old.kept.until)
    t = result.t[:count]
    if count == old.kept.rows.count and (compare.rows_at(old.t, t) >= 0).all():
        return []
    last = f" to {t[-1]:g} s" if len(t) else ""
    message = f"{old.kept.rows.count} rows to {old.t[-1]:g} s were there, {count}{last} now; common ones are compared"
    return [Difference("rows", message)]


def _up_to(result: Result, until: float | None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The instants and columns up to the horizon."""
    count = _count(result.t, until)
    return result.t[:count], {name: values[:count] for name, values in result.table.items()}


def _columns(old: BaselineEntry, new: BaselineEntry, result: Result) -> list[Difference]:
    """The differences of columns that are missing, new or in another unit."""
    before = {one.name: one for one in old.kept.columns}
    now = {one.name: one for one in new.kept.columns}
    differences = []
    for name, one in before.items():
        if name not in now:
            other = compare.renamed(name, old.kept.columns, old.t, old.table, result.t, result.table)
            differences.append(Difference(name, "missing now" + (f"; `{other}` holds its numbers" if other else "")))
        elif one.unit != now[name].unit:
            differences.append(Difference(name, f"in {one.unit}, now in {now[name].unit}"))
    return differences + [Difference(name, "a new column") for name in now if name not in before]


def _images(old: BaselineEntry, new: BaselineEntry, verdict: Verdict) -> Iterator[Difference]:
    """The differences of pinned plots, if the same matplotlib has drawn both."""
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
            apart = images.pixel_distance(old.images[plot], new.images[plot])
        except (ValueError, OSError, SyntaxError) as error:
            raise InputError("not a file of a baseline: no image", place=Place(image.file), found=str(error)) from None
        if apart is None:
            yield Difference(f"{new.name}-{plot}", "the image has another size")
        elif apart > images.ALLOWED:
            yield Difference(f"{new.name}-{plot}", f"the image is {apart:.3f} off, allowed {images.ALLOWED:g}")


# ---- results


def update(folder: Path, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Writes changed entries into the baseline, all or none, and returns what was done by scenario."""
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
    """The figures with old and new lines by file stem, for each changed panel, the worst ones first."""
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


Drawn = tuple[str, str, str, list[Pair]]  # part of the file's name, title, quantity, lines


def _changed_columns(verdict: Verdict) -> Iterator[Drawn]:
    """For each group of columns that differ, the worst first: the figure's name, title, quantity, old and new lines."""
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
        yield f"{owner}-{family}", f"{owner}{ending}", plots.axis_label(row, unit) if row else unit, pairs


def _pair(verdict: Verdict, name: str, other: str, before: str, label: str) -> Pair:
    """An old column and its replacement, with their labels."""
    old, result = verdict.old, verdict.result
    assert old is not None
    assert result is not None
    t, table = _up_to(result, old.kept.until)
    allowed = next(one.allowed for one in old.kept.columns if one.name == name)
    return Pair(before, label, old.t, old.table[name], t, table[other], allowed)


def _changed_panels(verdict: Verdict) -> Iterator[Drawn]:
    """The panels whose words have changed, or whose lines show other columns."""
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


def _lines(verdict: Verdict, old: DescribedLine, new: DescribedLine) -> Pair:
    """An old and a new line of a plot, from columns if they show some."""
    assert verdict.old is not None
    assert verdict.result is not None
    if old.column in verdict.old.table and new.column in verdict.result.table:
        return _pair(verdict, old.column, new.column, old.label, new.label)
    x, y, x_now, y_now = (numbers_of_line(values) for values in (old.x, old.y, new.x, new.y))
    allowed = compare.allowance(compare.size(y), 0.0, None, None)
    return Pair(old.label, new.label, x, y, x_now, y_now, allowed)
