"""One run of a study in advance: whether its keys and outputs exist, and what units the outputs have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import DenocError, InputError
from ...scenario import columns_by_record_keys, hint_at_column, prepare_scenario
from ...text import Change, Keys
from ...text.expressions import (
    PLAIN,
    Dimension,
    ExpressionError,
    Quantity,
    UndefinedError,
    dimension_in_words,
    evaluate_expression,
)
from ..ensemble_runs import ensemble
from .keep import SETTLES, dimension_of_sweep_column
from .reading import Study
from .schema import KeptEntry

MOST_NAMED = 60  # columns that a message lists
MOST_BYTES = 2**31  # of rows that are kept whole


@dataclass(frozen=True)
class Probed:
    """A study whose keys and outputs exist, and the units of the numbers that it keeps."""

    study: Study
    units: dict[str, str]
    columns: dict[str, str]  # all columns of the results, with their units
    instants: int

    @property
    def whole_bytes(self) -> int:
        """The bytes of the columns of one run that are kept whole."""
        names = self.study.file.rows
        return 8 * self.instants * (1 + len(names)) if names else 0


def probe_study(study: Study) -> Probed:
    """The study, checked by one of its runs: the first of three that can begin."""
    first: DenocError | None = None
    count = study.design.count
    for k in dict.fromkeys((0, count - 1, count // 2)):
        try:
            study, columns, instants = _columns(study, k)
            others: Mapping[str, Mapping[str, Any]] = {}
            if missing := [name for _, name in _kept_columns(study) if name not in columns]:
                study, others = _switched_on(study, k, missing)
                study, columns, instants = _columns(study, k)
            _check_columns(study, columns, others)
            made = Probed(study, _units(study, k, columns), columns, instants)
            _check_rows(made)
            return made
        except DenocError as error:
            if isinstance(error, InputError) and error.place is not None and error.place.file == study.document.name:
                raise
            first = first or error
    assert first is not None
    raise study.placed(first)


def _columns(study: Study, k: int) -> tuple[Study, dict[str, str], int]:
    """The units of the columns of run k, and how many rows it has; numbers that a key wants whole are whole then."""
    for _ in range(1 + len(study.file.vary)):
        try:
            (result,) = ensemble(study.scenario, [study.measured_changes(k)], study.robot)
        except InputError as error:
            names = [name for name, one in study.file.vary.items() if any(f": {key}" in error.key for key in one.key)]
            if "whole number" not in error.message or not names or names[0] in study.whole:
                raise
            study = study.with_whole(names[0])
            continue
        return study, {"t": "s", **{column.name: column.unit for column in result.columns}}, len(result.t)
    raise AssertionError("each round makes another number whole")


def _kept_columns(study: Study) -> list[tuple[Keys, str]]:
    """The columns of the results that the study names, and where it does."""
    made: list[tuple[Keys, str]] = [(("rows", n), name) for n, name in enumerate(study.file.rows)]
    for name, one in study.file.keep.items():
        made += [(("keep", name, "column"), one.column)] if one.column is not None else []
        made += [(("keep", name, "at", "column"), one.at.column)] if one.at is not None else []
    return made


def _switched_on(study: Study, k: int, missing: Sequence[str]) -> tuple[Study, dict[str, dict[str, Any]]]:
    """The study with the keys of `record` that make missing columns, and all columns that such keys could make."""
    plan = prepare_scenario(study.scenario, study.robot, [Change(key, x, key) for key, x in study.changes(k).items()])
    others = columns_by_record_keys(plan.system, plan.q0, plan.record)
    wanted = [keys for name in missing for keys in (others.get(name, {}),)]
    points = [*plan.record.points, *(point for keys in wanted for point in keys.get("points", ()))]
    switched = {key: value for keys in wanted for key, value in keys.items()} | {"points": [*dict.fromkeys(points)]}
    if points == plan.record.points:
        del switched["points"]
    named = {f"record.{key}": value for key, value in switched.items()}
    return replace(study, switched={key: x for key, x in named.items() if key not in study.changed}), others


def _check_columns(study: Study, columns: Mapping[str, str], others: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises an error unless all columns that the study names are there; keys of `record` make the others."""
    for path, name in _kept_columns(study):
        if name not in columns:
            some = list(columns)
            more = f" … and {len(some) - MOST_NAMED} more" if len(some) > MOST_NAMED else ""
            raise study.document.error(
                path,
                "the results have no such column",
                found=f"`{name}`",
                allowed=", ".join(some[:MOST_NAMED]) + more,
                hint=hint_at_column(name, some, others),
            )


def _units(study: Study, k: int, columns: Mapping[str, str]) -> dict[str, str]:
    """The units of all numbers that are kept; those of expressions in SI units."""
    units: dict[str, str] = {}
    given = study.quantities(study.design.point(k))
    for name, one in study.file.keep.items():
        if one.column is not None:
            units[name] = columns[one.column]
            kind = dimension_of_sweep_column(units[name])
            if one.at is not None:
                level = dimension_of_sweep_column(columns[one.at.column])
                _refuse_other_kind(study, ("keep", name, "at", "reaches"), one.at.column, level, one.at.reaches)
            _refuse_other_kind(study, ("keep", name, "within"), one.column, kind, one.within)
            _refuse_other_kind(study, ("keep", name, "goal"), one.column, kind, one.goal)
            units[name] = "s" if one.take == SETTLES else units[name]
            given[name] = Quantity(1.0, dimension_of_sweep_column(units[name]))
        else:
            units[name], dimension = _unit_of_expression(study, name, one, given)
            given[name] = Quantity(1.0, dimension)
    for name, limits in study.file.expect.outputs.items():
        for key, limit in (("at_least", limits.at_least), ("at_most", limits.at_most)):
            _refuse_other_kind(study, ("expect", "outputs", name, key), name, given[name].dimension, limit)
    return units


def _refuse_other_kind(study: Study, path: Keys, whose: str, dimension: Dimension, x: Quantity | None) -> None:
    """Raises an error for a number of the study that isn't of the kind of what it is compared with."""
    if x is not None and x.dimension not in (PLAIN, dimension):
        raise study.document.error(path, f"`{whose}` is {dimension_in_words(dimension)}", found=x.written)


def _check_rows(it: Probed) -> None:
    """Raises an error unless the columns that are kept whole are named once, and fit into memory."""
    study = it.study
    for n, name in enumerate(study.file.rows):
        if name == "t" or name in study.file.rows[:n]:
            raise study.document.error(("rows", n), "this stands in every row already", found=f"`{name}`")
    if it.whole_bytes * study.design.count > MOST_BYTES:
        size = it.whole_bytes * study.design.count
        raise study.document.error(
            ("rows",),
            f"the rows of all runs would have {size:.3g} bytes, more than {MOST_BYTES:.3g}",
            key=True,
            hint="fewer runs, a longer `time: {step: …}` of the scenario, or fewer columns",
        )


def _unit_of_expression(
    study: Study, name: str, one: KeptEntry, given: Mapping[str, Quantity]
) -> tuple[str, Dimension]:
    """The unit of an expression over what is given; a value that these numbers don't have is sought with others."""
    text = one.expression or ""
    for shift in (0.0, 0.17, -0.31):
        moved = {key: Quantity(x + shift * n, x.dimension) for n, (key, x) in enumerate(given.items())}
        try:
            dimension = evaluate_expression(text, moved).dimension
        except UndefinedError:
            continue
        except ExpressionError as error:
            path = ("keep", name, "expression")
            raise study.document.error(path, str(error), found=f"`{text}`", allowed=", ".join(given)) from None
        return si_unit_of_study_dimension(dimension), dimension
    return "", PLAIN


def si_unit_of_study_dimension(dimension: Dimension) -> str:
    """A dimension in SI units, as expressions write it: `kg m^2 s^-2`."""
    parts = [
        unit if exponent == 1 else f"{unit}^{exponent}"
        for exponent, unit in zip(dimension, ("m", "kg", "s", "rad"))
        if exponent
    ]
    return " ".join(parts) or "1"
