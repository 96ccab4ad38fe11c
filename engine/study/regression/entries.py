"""The entry of a result in a baseline: the columns with their allowed differences, thinned rows, plots."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ...errors import InputError, did_you_mean
from ...record.compared import (
    DIGITS,
    FLOOR,
    MOST_ROWS,
    ROUNDED,
    ComparedColumn,
    Picture,
    allowed_recorded_difference,
    compared_recorded_column,
    description_of_figure,
    matplotlib_version,
    png_of_figure,
    recorded_column_size,
    stride_of_recorded_rows,
    thinned_rows_to_record,
)
from ...scenario import RegressEntry, Result
from . import baseline
from .baseline import BaselineEntry, EntryFile, KeptImage, KeptRows
from .cases import Case, regression_settings

FLOORS = {"energy": 1e-7}  # by family; energies, and above all the residual, are differences of large numbers


def new_baseline_entry(case: Case, result: Result, figures: Mapping[str, Any]) -> BaselineEntry:
    """The entry of a result in a baseline."""
    assert case.plan is not None
    settings = regression_settings(case.plan)
    count = baseline_rows_up_to_horizon(result.t, settings.until)
    kept = thinned_rows_to_record(count, MOST_ROWS)
    plots = baseline_pictures(figures, result, settings.until)  # before images: equal scales change limits for good
    pinned = {plot: _pinned(result.name, plot, figures) for plot in settings.pinned}
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


def _pinned(name: str, plot: str, figures: Mapping[str, Any]) -> Any:
    """The figure of a plot, or its overlay if there are too many panels for a figure."""
    return figures.get(f"{name}-{plot}") or figures.get(f"{name}-{plot}-overlay")


def _compared_columns(result: Result, settings: RegressEntry, count: int) -> list[ComparedColumn]:
    """The columns, each with its allowed difference."""
    kinds: dict[tuple[str, str], float] = {}
    for column in result.columns:
        kinds[column.kind] = max(kinds.get(column.kind, 0.0), recorded_column_size(result.table[column.name][:count]))
    _check_names(result, settings)
    compared = []
    for column in result.columns:
        values = result.table[column.name][:count]
        floor = FLOORS.get(column.family, FLOOR)
        rtol, atol = _tolerance(settings, column.name)
        allowed = allowed_recorded_difference(recorded_column_size(values), kinds[column.kind], rtol, atol, floor)
        compared.append(compared_recorded_column(column.name, column.unit, values, allowed))
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
