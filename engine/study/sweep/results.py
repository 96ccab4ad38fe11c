"""The files of a sweep: the table, a record of what was swept, plots, and the best runs as scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._version import VERSION
from ...errors import InputError, did_you_mean
from ...record import Sweep, figure_of_pareto_front, figures_of_study, save_figure
from ...record.files import write_files_with_record, write_tidy_parquet
from ...scenario import files_of_replay
from ...text.fields import nearest_file_name
from ..ensemble_runs import ensemble
from .reading import Study
from .run import Swept
from .store import ENDING
from .table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST = "max:"


def store_of_study(folder: Path, name: str) -> Path:
    """The file in which a study's runs are kept."""
    return folder / f"{name}{ENDING}"


def write_sweep_files(
    swept: Swept, study: Study, folder: Path, form: str, parquet: bool, chosen: tuple[str, bool, int] | None
) -> list[Path]:
    """Writes the files and returns their paths; `chosen` names an output, whether it is to be large, and how many."""
    tables = {swept.name: swept.table} | ({f"{swept.name}-rows": swept.rows} if swept.rows is not None else {})
    drawn = sweep_figures(swept, study) if study.file.plot and form else {}
    best = {} if chosen is None else best_scenario_files(study, best_sweep_runs(swept.table, *chosen))
    return write_study_files(folder, swept.name, sweep_record(swept, study), tables, parquet, drawn, form, best)


def write_study_files(
    folder: Path,
    name: str,
    record: dict[str, Any],
    tables: Mapping[str, Table],
    parquet: bool,
    drawn: Mapping[str, Figure],
    form: str,
    more: Mapping[str, bytes],
) -> list[Path]:
    """Writes tables and figures by their stems, other files by their names, and the record of them, all or none."""

    def put(draft: Path) -> None:
        for stem, table in tables.items():
            (draft / f"{stem}.csv").write_text(table.csv_text(), encoding="utf-8")
            if parquet:
                write_tidy_parquet(draft / f"{stem}.parquet", table.columns, table.units)
        for stem, figure in drawn.items():
            save_figure(figure, draft / f"{stem}.{form}")
        for file, content in more.items():
            (draft / file).write_bytes(content)

    return write_files_with_record(folder, name, record, put)


def sweep_record(swept: Swept, study: Study) -> dict[str, Any]:
    """What was swept, and the units of the table's columns; nothing in it differs from machine to machine."""
    table = swept.table
    return {
        "study": swept.name,
        "about": swept.about,
        "input": study.document.data,
        "runs": len(table),
        "failed": swept.failed,
        "missed": swept.missed,
        "inputs": table.inputs,
        "outputs": table.outputs,
        "units": {name: unit for name, unit in table.units.items() if unit},
        "version": VERSION,
    }


def sweep_figures(swept: Swept, study: Study) -> Mapping[str, Figure]:
    """The figures by file stem."""
    table = swept.table
    numbers = {name: np.asarray(table[name]) for name in study.file.vary if name in study.dimensions}
    words = {name: table[name] for name in study.file.vary if name not in study.dimensions}
    outputs = {name: np.where(table.as_expected, table[name], np.nan) for name in table.outputs}
    made: dict[str, Figure] = {}
    for name, values in outputs.items():
        sweep = Sweep(f"{name} ({swept.name})", numbers, words, {name: values}, table.units)
        made.update({f"{swept.name}-{name}": figure for figure in figures_of_study(sweep).values()})
    if study.file.pareto:
        title = f"runs that no other run beats ({swept.name})"
        goals = {name: outputs[name] for name in study.file.pareto}
        sweep = Sweep(title, numbers, words, goals, table.units)
        made[f"{swept.name}-pareto"] = figure_of_pareto_front(sweep, study.file.pareto, np.array(table["unbeaten"]))
    return made


def sweep_goal(study: Study, text: str) -> tuple[str, bool]:
    """The output that `--best` names, and whether the largest is sought."""
    name = text.removeprefix(LARGEST)
    if name not in study.file.keep:
        raise InputError(
            "no such output",
            key="--best",
            found=f"`{name}`",
            allowed=", ".join(f"{name} or {LARGEST}{name}" for name in study.file.keep),
            hint=did_you_mean(name, study.file.keep),
        )
    return name, name != text


def best_sweep_runs(made: Table, name: str, largest: bool, count: int) -> list[int]:
    """The places of the best runs among those that ended as expected, the best one first."""
    values = np.where(made.as_expected, made[name], np.nan)
    order = np.argsort(-values if largest else values, kind="stable")
    return [int(k) for k in order if not np.isnan(values[k])][:count]


def best_scenario_files(study: Study, places: Sequence[int]) -> dict[str, bytes]:
    """The contents of the scenario and robot files of these runs, by their names."""
    made: dict[str, bytes] = {}
    for n, k in enumerate(places, start=1):
        name = nearest_file_name(f"{study.name}-best-{n}")  # a study's file may be called otherwise than a scenario
        changes = {**study.changes(k), "name": name}
        (result,) = ensemble(study.scenario, [changes], study.robot)
        record = dict(result.record)
        robot = dict(record["robot"])
        if robot["data"]:  # each run has a robot of its own
            robot["name"] = f"{name}.{robot['name']}"
        made.update(files_of_replay(name, {**record, "robot": robot}, result.tables))
    return made
