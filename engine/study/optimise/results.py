"""The files of a search: the table of its runs, a record with the verdict, its progress, and the best run's files."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..._version import VERSION
from ...record import plots, study_plots, write
from ..sweep.best import best_scenario_files
from ..sweep.reading import Study
from ..sweep.results import put_study_file, remove_other_sweep_files
from .run import Optimised


def write_search_files(made: Optimised, study: Study, folder: Path, form: str, parquet: bool) -> list[Path]:
    """Writes the files and returns their paths; `form` is that of the plot, empty for none."""
    write.make_output_folder(folder)
    paths = [made.table.to_csv(folder / f"{made.name}.csv")]
    if parquet:
        paths.append(made.table.to_parquet(folder / f"{made.name}.parquet"))
    paths.append(folder / f"{made.name}.json")
    put_study_file(paths[-1], (json.dumps(search_record(made, study), indent=1, ensure_ascii=False) + "\n").encode())
    if study.file.plot and form:
        unit = f" ({made.unit})" if made.unit != "1" else ""
        values = np.where(np.isfinite(made.values), made.values, np.nan)
        figure = study_plots.figure_of_search_progress(made.name, made.goal + unit, values, made.allowed)
        paths.append(folder / f"{made.name}-progress.{form}")
        write.write_file_whole(paths[-1], partial(plots.save_figure, figure))
    for name, content in best_scenario_files(study.at([made.best]), [0]).items():
        paths.append(folder / name)
        put_study_file(paths[-1], content)
    remove_other_sweep_files(folder, made.name, {path.name for path in paths})
    return paths


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
        "outputs": {name: x if np.isfinite(x) else None for name, x in made.outputs.items()},
        "minimum": judged.minimum,
        "verdict": judged.words,
        "gradient": judged.gradient,
        "projected": judged.projected,
        "held": judged.held,
        "active": judged.active,
        "nearby": judged.nearby,
        "method": made.method,
        "why": made.why,
        "runs": len(made.table),
        "spent": made.spent,
        "missed": made.missed,
    }
