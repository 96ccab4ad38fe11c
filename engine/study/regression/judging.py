"""Verdicts on results: their differences from the entries of a baseline, and figures with old and new lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, NumericalError, Place, did_you_mean
from ...record import PLOTS, Drawing, axis_label, panels_of_plot
from ...record.compared import (
    ALLOWED,
    DIGITS,
    FLOOR,
    MOST_ROWS,
    ROUNDED,
    ComparedColumn,
    DescribedLine,
    Difference,
    Pair,
    Picture,
    allowed_recorded_difference,
    column_differences,
    compared_recorded_column,
    description_of_figure,
    differences_of_figures,
    matplotlib_version,
    numbers_of_plotted_line,
    overlay_figure,
    pixel_distance,
    png_of_figure,
    recorded_column_size,
    recorded_rows_at,
    renamed_recorded_column,
    stride_of_recorded_rows,
    thinned_rows_to_record,
)
from ...scenario import RegressEntry, Result
from . import baseline
from .baseline import BaselineEntry, Case, EntryFile, KeptImage, KeptRows, regression_settings

MOST_OVERLAYS = 36  # of one scenario


def regression_overlays(verdict: Verdict) -> dict[str, Any]:
    """The figures with old and new lines by file stem, for each changed panel, the worst ones first."""
    if verdict.old is None or verdict.new is None or verdict.result is None:
        return {}
    made: dict[str, Any] = {}
    for name, title, quantity, pairs in (*_changed_columns(verdict), *_changed_panels(verdict)):
        if pairs and len(made) < MOST_OVERLAYS:
            stem = re.sub(r"[^\w.-]", "_", f"{verdict.name}-difference-{name}")
            made[stem if stem not in made else f"{stem}-{len(made)}"] = overlay_figure(
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
        for owner, unit, lines in panels_of_plot(list(columns)):
            failing = sorted((column for column in lines if column.name in off), key=lambda column: off[column.name])
            if failing:
                groups.append((min(off[column.name] for column in failing), family, owner, unit, failing))
    for _, family, owner, unit, failing in sorted(groups, key=lambda group: group[0]):
        row = next((row for row in PLOTS.values() if row.family == family), None)
        ending = "" if family in owner else f", {family}"
        pairs = [_pair(verdict, column.name, column.name, column.label, column.label) for column in failing]
        yield f"{owner}-{family}", f"{owner}{ending}", axis_label(row, unit) if row else unit, pairs


def _pair(verdict: Verdict, name: str, other: str, before: str, label: str) -> Pair:
    """An old column and its replacement, with their labels."""
    old, result = verdict.old, verdict.result
    assert old is not None
    assert result is not None
    t, table = regression_columns_up_to_horizon(result, old.kept.until)
    allowed = next(one.allowed for one in old.kept.columns if one.name == name)
    return Pair(before, label, old.t, old.table[name], t, table[other], allowed)


def _changed_panels(verdict: Verdict) -> Iterator[Drawn]:
    """The panels whose words have changed, or whose lines show other columns."""
    assert verdict.old is not None
    assert verdict.new is not None
    places = dict.fromkeys((d.what, d.panel) for d in verdict.differences if d.panel is not None)
    for stem, k in places:
        was, now = (one.kept.plots[stem].panels[k or 0] for one in (verdict.old, verdict.new))
        pairs = [_lines(verdict, one, other) for one, other in zip(was.lines, now.lines)]
        short = stem.removeprefix(f"{verdict.name}-")
        title = f"{short}, panel {(k or 0) + 1}" + (f", {was.title}" if was.title else "")
        yield f"{short}-panel{(k or 0) + 1}", title, was.y if was.y == now.y else f"{was.y} → {now.y}", pairs


def _lines(verdict: Verdict, old: DescribedLine, new: DescribedLine) -> Pair:
    """An old and a new line of a plot, from columns if they show some."""
    assert verdict.old is not None
    assert verdict.result is not None
    if old.column in verdict.old.table and new.column in verdict.result.table:
        return _pair(verdict, old.column, new.column, old.label, new.label)
    x, y, x_now, y_now = (numbers_of_plotted_line(values) for values in (old.x, old.y, new.x, new.y))
    allowed = allowed_recorded_difference(recorded_column_size(y), 0.0, None, None)
    return Pair(old.label, new.label, x, y, x_now, y_now, allowed)


FLOORS = {"energy": 1e-7}  # by family; energies, and above all the residual, are differences of large numbers


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


def judge_missing_scenario(case: Case) -> Verdict:
    """The verdict on a scenario whose file is gone."""
    return Verdict(case.name, case.old, None, None, [Difference("scenario", f"`{case.scenario}` is no longer there")])


def judge_against_baseline(case: Case, result: Result) -> Verdict:
    """The verdict on a result, compared with its entry in the baseline."""
    assert case.plan is not None
    figures = result.plot(*dict.fromkeys([*result.plots, *map(Drawing, case.plan.file.regress.pinned)]))
    new, old = new_baseline_entry(case, result, figures), case.old
    verdict = Verdict(case.name, old, new, result)
    if old is None:
        verdict.differences = [Difference("scenario", "not in the baseline")]
        return verdict
    frame = [*_frame(old, new)]
    moved, rows = _columns(old, new, result), _rows(old, result)
    t, table = regression_columns_up_to_horizon(result, old.kept.until)
    numbers, verdict.nearest = column_differences(old.kept.columns, old.t, old.table, t, table, ranges=not rows)
    reported = {difference.what for difference in (*moved, *numbers)} | ({"", *old.table} if rows else set())
    same = old.kept.until == new.kept.until
    pictures = new.kept.plots if same else baseline_pictures(figures, result, old.kept.until)
    shown = differences_of_figures(old.kept.plots, pictures, old.kept.columns, reported)
    verdict.differences = [*frame, *rows, *moved, *numbers, *shown, *_images(old, new, verdict)]
    if any(not picture.marks for picture in old.kept.plots.values()):
        verdict.notes.append("colours, strokes and limits of plots aren't in this baseline yet; --update adds them")
        verdict.stale = True
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
    count = baseline_rows_up_to_horizon(result.t, old.kept.until)
    t = result.t[:count]
    if count == old.kept.rows.count and (recorded_rows_at(old.t, t) >= 0).all():
        return []
    last = f" to {t[-1]:g} s" if len(t) else ""
    message = f"{old.kept.rows.count} rows to {old.t[-1]:g} s were there, {count}{last} now; common ones are compared"
    return [Difference("rows", message)]


def regression_columns_up_to_horizon(result: Result, until: float | None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The instants and columns up to the horizon."""
    count = baseline_rows_up_to_horizon(result.t, until)
    return result.t[:count], {name: values[:count] for name, values in result.table.items()}


def _columns(old: BaselineEntry, new: BaselineEntry, result: Result) -> list[Difference]:
    """The differences of columns that are missing, new or in another unit."""
    before = {one.name: one for one in old.kept.columns}
    now = {one.name: one for one in new.kept.columns}
    differences = []
    for name, one in before.items():
        if name not in now:
            other = renamed_recorded_column(name, old.kept.columns, old.t, old.table, result.t, result.table)
            differences.append(Difference(name, "missing now" + (f"; `{other}` holds its numbers" if other else "")))
        elif one.unit != now[name].unit:
            differences.append(Difference(name, f"in {one.unit}, now in {now[name].unit}"))
    return differences + [Difference(name, "a new column") for name in now if name not in before]


def _images(old: BaselineEntry, new: BaselineEntry, verdict: Verdict) -> Iterator[Difference]:
    """The differences of pinned plots, if the same matplotlib has drawn both."""
    for plot, image in old.kept.images.items():
        if plot not in new.images:
            continue
        if image.matplotlib != matplotlib_version():
            verdict.notes.append(
                f"image of {plot} not compared: of matplotlib {image.matplotlib}, not {matplotlib_version()}"
            )
            verdict.stale = True
            continue
        try:
            apart = pixel_distance(old.images[plot], new.images[plot])
        except (ValueError, OSError, SyntaxError) as error:
            raise InputError("not a file of a baseline: no image", place=Place(image.file), found=str(error)) from None
        if apart is None:
            yield Difference(f"{new.name}-{plot}", "the image has another size")
        elif apart > ALLOWED:
            yield Difference(f"{new.name}-{plot}", f"the image is {apart:.3f} off, allowed {ALLOWED:g}")


def update_baseline(folder: Path, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Writes changed entries into the baseline, all or none, and returns what was done by scenario."""
    done: dict[str, str] = {}
    gone: list[str] = []
    made: dict[str, bytes] = {}
    for verdict in verdicts:
        if verdict.same and not verdict.stale:
            continue
        result = verdict.result
        if result is not None and not result.as_expected:
            raise NumericalError(
                f"{verdict.name} ended as `{result.ended}`: no baseline is made of it; nothing is written"
            )
        gone += verdict.old.files() if verdict.old else []
        made |= verdict.new.texts() if verdict.new else {}
        done[verdict.name] = "removed" if verdict.new is None else "added" if verdict.old is None else "changed"
    if done:
        baseline.publish_baseline(folder, gone, made)
    return done


def new_baseline_entry(case: Case, result: Result, figures: Mapping[str, Any]) -> BaselineEntry:
    """The entry of a result in a baseline."""
    assert case.plan is not None
    settings = regression_settings(case.plan)
    count = baseline_rows_up_to_horizon(result.t, settings.until)
    kept = thinned_rows_to_record(count, MOST_ROWS)
    plots = baseline_pictures(figures, result, settings.until)  # before images: equal scales change limits for good
    named = {plot: f"{result.name}-{plot}" for plot in settings.pinned}
    # a plot with too many panels for a figure has an overlay
    pinned = {plot: figures.get(name) or figures.get(f"{name}-overlay") for plot, name in named.items()}
    pictures = {plot: png_of_figure(figure) for plot, figure in pinned.items() if figure is not None}
    return BaselineEntry(
        result.name,
        EntryFile(
            form=baseline.FORM,
            scenario=case.scenario,
            ended=result.ended,
            digits=DIGITS,
            rows=KeptRows(count, stride_of_recorded_rows(count, MOST_ROWS)),
            regress=settings.model_dump(exclude_defaults=True),
            columns=_compared_columns(result, settings, count),
            plots=plots,
            images={plot: KeptImage(f"{result.name}-{plot}.png", matplotlib_version()) for plot in pictures},
        ),
        result.t[kept],
        {name: values[kept] for name, values in result.table.items()},
        pictures,
    )


def baseline_pictures(figures: Mapping[str, Any], result: Result, until: float | None) -> dict[str, Picture]:
    return {stem: description_of_figure(figure, result.table, until) for stem, figure in figures.items()}


def baseline_rows_up_to_horizon(t: np.ndarray, until: float | None) -> int:
    """The number of rows up to the horizon."""
    return len(t) if until is None else int(np.searchsorted(t, until + ROUNDED * abs(until), side="right"))


def _compared_columns(result: Result, settings: RegressEntry, count: int) -> list[ComparedColumn]:
    """The columns, each with its allowed difference."""
    kinds: dict[tuple[str, str], float] = {}
    for column in result.columns:
        kinds[column.kind] = max(kinds.get(column.kind, 0.0), recorded_column_size(result.table[column.name][:count]))
    for pattern in settings.columns:
        if not any(name == pattern or fnmatchcase(name, pattern) for name in result.table):
            raise InputError(
                f"{result.name} has no such column",
                key="regress.columns",
                found=f"`{pattern}`",
                allowed="columns of the result, * for any letters",
                hint=did_you_mean(pattern, result.table),
            )
    compared = []
    for column in result.columns:
        values = result.table[column.name][:count]
        floor = FLOORS.get(column.family, FLOOR)
        own = settings.columns.get(column.name) or next(
            (one for pattern, one in settings.columns.items() if fnmatchcase(column.name, pattern)), settings
        )
        rtol, atol = (getattr(settings, x) if getattr(own, x) is None else getattr(own, x) for x in ("rtol", "atol"))
        allowed = allowed_recorded_difference(recorded_column_size(values), kinds[column.kind], rtol, atol, floor)
        compared.append(compared_recorded_column(column.name, column.unit, values, allowed))
    return compared
