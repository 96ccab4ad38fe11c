"""The best runs of a study as scenario files that run by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import InputError, did_you_mean
from ...scenario import files_of_replay
from ...text.fields import nearest_file_name
from ..ensemble import ensemble
from .reading import Study
from .table import Table

LARGEST = "max:"


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
