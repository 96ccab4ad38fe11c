"""The files of a search: the table of its runs, a record with the verdict, its progress, and the best run's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._version import VERSION
from ...record import figure_of_search_progress
from ..sweep import Study, best_scenario_files, write_study_files
from .run import Optimised


def write_search_files(made: Optimised, study: Study, folder: Path, form: str, parquet: bool) -> list[Path]:
    """Writes the files and returns their paths; `form` is that of the plot, empty for none."""
    drawn = {}
    if study.file.plot and form:
        unit = f" ({made.unit})" if made.unit != "1" else ""
        values = np.where(np.isfinite(made.values), made.values, np.nan)
        drawn[f"{made.name}-progress"] = figure_of_search_progress(made.name, made.goal + unit, values, made.allowed)
    best = best_scenario_files(study.at([made.best]), [0])
    record = search_record(made, study)
    return write_study_files(folder, made.name, record, {made.name: made.table}, parquet, drawn, form, best)


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
        "outputs": {name: _known(x) for name, x in made.outputs.items()},
        "minimum": judged.minimum,
        "verdict": judged.words,
        "gradient": judged.gradient and {name: _known(x) for name, x in judged.gradient.items()},
        "projected": _known(judged.projected),
        "held": judged.held,
        "active": judged.active,
        "nearby": judged.nearby,
        "method": made.method,
        "why": made.why,
        "runs": len(made.table),
        "spent": made.spent,
        "missed": made.missed,
    }


def _known(x: float | None) -> float | None:
    """A number for JSON, which has none for what isn't known."""
    return x if x is not None and np.isfinite(x) else None
