"""The tidy table of a study: a row for each run with its inputs, its outputs, how it ended, and its energy verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...record.files import check_table_formats, tidy_dataframe, write_file_whole, write_tidy_parquet
from ...scenario import BROKEN, DOUBTFUL, residual_share_of_energy
from ...text.expressions import Quantity
from .keep import Reduction, dimension_of_sweep_column, sweep_rows_of_bytes, value_of_sweep_expression
from .probe import Probed, si_unit_of_study_dimension
from .store import Outcome

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """The columns of the table by name, numbers as arrays of floats, and the units of those that have one."""

    columns: dict[str, np.ndarray | list[Any]]
    units: dict[str, str]
    inputs: list[str]
    outputs: list[str]

    def __len__(self) -> int:
        return len(self.columns["run"])

    @property
    def as_expected(self) -> np.ndarray:
        """Whether each run ended as its scenario expects; numbers of the others are not comparable."""
        return np.array(self.columns["as_expected"], dtype=bool)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def csv_text(self) -> str:
        """The CSV text, numbers with 17 significant digits; what isn't known is empty."""
        forms, cells = zip(*(_cells(one) for one in self.columns.values()))
        line = ",".join(forms) + "\n"
        return ",".join(map(str, map(_cell, self.columns))) + "\n" + "".join([line % row for row in zip(*cells)])

    def to_csv(self, path: str | Path) -> Path:
        """Writes the CSV file, whole or not at all."""
        path = Path(path)
        write_file_whole(path, lambda draft: draft.write_text(self.csv_text(), encoding="utf-8"))
        return path

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame; its `attrs["units"]` has the units of the columns."""
        return tidy_dataframe(self.columns, self.units)

    def to_parquet(self, path: str | Path) -> Path:
        """Writes a Parquet file with the columns of the CSV file and their units, whole or not at all."""
        path = Path(path)
        check_table_formats(["parquet"])
        write_file_whole(path, lambda draft: write_tidy_parquet(draft, self.columns, self.units))
        return path


def sweep_reductions(probed: Probed) -> list[Reduction]:
    """What is taken of the columns of each run."""
    made = []
    for one in probed.study.file.keep.values():
        if one.column is not None and one.at is not None:
            made.append(Reduction(one.column, "", one.at.column, float(one.at.reaches), one.at.going))
        elif one.column is not None and one.take is not None:
            goal = math.nan if one.goal is None else float(one.goal)
            made.append(Reduction(one.column, one.take, within=float(one.within or 0.0), goal=goal))
    return made


def sweep_table(probed: Probed, outcomes: Sequence[Outcome]) -> Table:
    """The table of all runs, in their order."""
    study = probed.study
    columns: dict[str, np.ndarray | list[Any]] = {"run": list(range(len(outcomes)))}
    if study.file.repeat > 1:
        each = len(outcomes) // study.file.repeat
        columns["repeat"] = [k // each for k in range(len(outcomes))]
    for name, values in study.design.columns.items():
        columns[name] = np.array(values) if name in study.dimensions else values
    for key in study.file.set_:
        values = study.changed[key]
        columns[key] = (
            values
            if isinstance(values[0], bool)
            else np.array([float(x) if isinstance(x, float | int) else math.nan for x in values])
        )
    columns.update(_outputs(probed, outcomes))
    if study.file.pareto:
        columns["unbeaten"] = _on_front(study.file.pareto, columns, outcomes)
    columns["ended"] = [one.ended for one in outcomes]
    columns["as_expected"] = [one.as_expected for one in outcomes]
    columns["reason"] = [one.reason for one in outcomes]
    energy = np.array([one.numbers[-2:] for one in outcomes]).reshape(-1, 2)
    shares = residual_share_of_energy(energy[:, 0], energy[:, 1])
    columns["energy"] = [sweep_energy_verdict(x) for x in shares.tolist()]
    columns["energy_share"] = shares
    units = {name: si_unit_of_study_dimension(one) for name, one in study.dimensions.items()} | probed.units
    return Table(columns, units, [*study.file.vary, *study.file.set_], list(study.file.keep))


def _outputs(probed: Probed, outcomes: Sequence[Outcome]) -> dict[str, np.ndarray]:
    """The numbers that are kept: those taken of columns, and expressions over them."""
    study, made, place = probed.study, dict[str, np.ndarray](), 0
    for name, one in study.file.keep.items():
        if one.expression is None:
            made[name] = np.array([outcome.numbers[place] for outcome in outcomes])
            place += 1
            continue
        dimensions = {other: dimension_of_sweep_column(probed.units[other]) for other in made}
        values = []
        for k in range(len(outcomes)):
            given = study.quantities(study.design.point(k))
            given |= {other: Quantity(made[other][k], dimensions[other]) for other in made}
            values.append(value_of_sweep_expression(one.expression, given))
        made[name] = np.array(values)
    return made


def _on_front(
    better: Mapping[str, str], columns: Mapping[str, np.ndarray | list[Any]], outcomes: Sequence[Outcome]
) -> list[bool]:
    """Whether each run ended as expected and is beaten by no other one."""
    standing = np.array([one.as_expected for one in outcomes], dtype=bool)
    costs = np.column_stack([(-1.0 if way == "max" else 1.0) * np.array(columns[x]) for x, way in better.items()])
    made: list[bool] = unbeaten_sweep_runs(np.where(standing[:, None], costs, np.nan)).tolist()
    return made


def unbeaten_sweep_runs(costs: np.ndarray) -> np.ndarray:
    """Whether no other run is at most as costly in all columns and less costly in one (Pareto's front)."""
    made = np.zeros(len(costs), dtype=bool)
    known = np.flatnonzero(np.isfinite(costs).all(axis=1))
    front = np.empty((0, costs.shape[1]))
    for k in known[np.lexsort(costs[known].T[::-1])]:  # whoever beats a run comes before it
        beaten = (front <= costs[k]).all(axis=1) & (front < costs[k]).any(axis=1)
        if not beaten.any():
            made[k] = True
            front = np.vstack([front, costs[k]])
    return made


def sweep_whole_rows(outcomes: Sequence[Outcome], names: Sequence[str]) -> dict[str, np.ndarray]:
    """The rows of all runs, one run behind the other: the run's number, the time, and the columns kept whole."""
    each = [
        sweep_rows_of_bytes(one.rows, len(names)) if one.rows else np.empty((0, 1 + len(names))) for one in outcomes
    ]
    runs = np.repeat(np.arange(len(outcomes)), [len(rows) for rows in each])
    rows = np.concatenate(each) if each else np.empty((0, 1 + len(names)))
    return {"run": runs, "t": rows[:, 0], **{name: rows[:, 1 + k] for k, name in enumerate(names)}}


def sweep_energy_verdict(share: float) -> str:
    """The verdict on a run's energy balance; empty where there is none."""
    if math.isnan(share):
        return ""
    return "holds" if share < DOUBTFUL else "doubtful" if share < BROKEN else "broken"


def _cells(values: np.ndarray | Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The cells of a column, and the form in which a line takes them; what isn't known is empty."""
    if not isinstance(values, np.ndarray):
        return "%s", values if {*map(type, values)} == {int} else _memo(values)
    numbers = values.tolist()
    if not np.isnan(values).any():
        return "%.17g", numbers
    return "%s", ["" if x != x else f"{x:.17g}" for x in numbers]


def _memo(values: Sequence[Any]) -> list[Any]:
    """The cells of a column in which the same words stand again and again."""
    made = {x: _cell(x) for x in {*values}} if {*map(type, values)} == {str} else {}
    return [made[x] for x in values] if made else [_cell(x) for x in values]


def _cell(value: Any) -> Any:
    """A cell that is no number; texts have quotes where they need them (RFC 4180)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not value.isalnum() and any(mark in value for mark in ',"\n\r'):
        doubled = value.replace('"', '""')
        return f'"{doubled}"'
    return value
