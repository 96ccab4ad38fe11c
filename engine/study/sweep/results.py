"""The files of a sweep: the table, a record of what was swept, plots, and the best runs as scenarios."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._version import VERSION
from ...record import plots, study_plots, write
from .best import best_scenario_files, best_sweep_runs
from .reading import Study
from .run import Swept
from .store import ENDING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def store_of_study(folder: Path, name: str) -> Path:
    """The file in which a study's runs are kept."""
    return folder / f"{name}{ENDING}"


def write_sweep_files(
    swept: Swept, study: Study, folder: Path, form: str, parquet: bool, chosen: tuple[str, bool, int] | None
) -> list[Path]:
    """Writes the files and returns their paths; `chosen` names an output, whether it is to be large, and how many."""
    write.make_output_folder(folder)
    made = [swept.table.to_csv(folder / f"{swept.name}.csv")]
    if swept.rows is not None:
        made.append(swept.rows.to_csv(folder / f"{swept.name}-rows.csv"))
    if parquet:
        made.append(swept.table.to_parquet(folder / f"{swept.name}.parquet"))
        if swept.rows is not None:
            made.append(swept.rows.to_parquet(folder / f"{swept.name}-rows.parquet"))
    made.append(folder / f"{swept.name}.json")
    put_study_file(made[-1], (json.dumps(sweep_record(swept, study), indent=1, ensure_ascii=False) + "\n").encode())
    drawn = sweep_figures(swept, study) if study.file.plot and form else {}
    for stem, figure in drawn.items():
        made.append(folder / f"{stem}.{form}")
        write.write_file_whole(made[-1], partial(plots.save_figure, figure))
    if chosen is not None:
        for name, content in best_scenario_files(study, best_sweep_runs(swept.table, *chosen)).items():
            made.append(folder / name)
            put_study_file(made[-1], content)
    remove_other_sweep_files(folder, swept.name, {path.name for path in made})
    return made


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
        sweep = study_plots.Sweep(f"{name} ({swept.name})", numbers, words, {name: values}, table.units)
        made.update({f"{swept.name}-{name}": figure for figure in study_plots.figures_of_study(sweep).values()})
    if study.file.pareto:
        title = f"runs that no other run beats ({swept.name})"
        goals = {name: outputs[name] for name in study.file.pareto}
        sweep = study_plots.Sweep(title, numbers, words, goals, table.units)
        made[f"{swept.name}-pareto"] = study_plots.figure_of_pareto_front(
            sweep, study.file.pareto, np.array(table["unbeaten"])
        )
    return made


def put_study_file(path: Path, content: bytes) -> None:
    """Writes a file, whole or not at all."""
    write.write_file_whole(path, lambda draft: draft.write_bytes(content))


def remove_other_sweep_files(folder: Path, name: str, made: set[str]) -> None:
    """Removes plots, whole rows and best runs of an earlier sweep of this name."""
    for path in folder.iterdir():
        ours = path.name.startswith(f"{name}-") and path.suffix[1:] in (*plots.FORMATS, "yaml")
        ours = ours or path.name in (f"{name}-rows.csv", f"{name}-rows.parquet")
        if ours and path.name not in made:
            with contextlib.suppress(OSError):
                path.unlink()
