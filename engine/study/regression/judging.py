"""Verdicts on results: their differences from the entries of a baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ...errors import InputError, Place
from ...record import Drawing
from ...record.compared import (
    ALLOWED,
    Difference,
    column_differences,
    differences_of_figures,
    matplotlib_version,
    pixel_distance,
    recorded_rows_at,
    renamed_recorded_column,
)
from ...scenario import Result
from .baseline import BaselineEntry
from .cases import Case
from .entries import baseline_pictures, baseline_rows_up_to_horizon, new_baseline_entry


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
