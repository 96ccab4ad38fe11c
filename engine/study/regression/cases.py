"""The scenarios of a comparison, and their settings for it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError, Place
from ...record.files import mend_output_folder
from ...scenario import Plan, RegressEntry, prepare_scenario
from ...text import find_library_file, path_from_folder
from ...text import library_folder as library
from .baseline import BaselineEntry, baseline_entry_names, baseline_is_writable, read_baseline_entry


@dataclass(frozen=True)
class Case:
    """A scenario to run again: its plan (None if the file is gone), and its entry in the baseline."""

    name: str
    scenario: str
    plan: Plan | None
    old: BaselineEntry | None


def regression_cases(folder: Path, asked: Sequence[str], *, update: bool = False) -> list[Case]:
    """The cases of the given scenarios, or of the whole baseline; all files are read and checked here."""
    mend_output_folder(folder)
    fresh = update and bool(asked) and not os.path.lexists(folder)
    if update:
        baseline_is_writable(folder)
    entries = {} if fresh else {name: read_baseline_entry(folder, name) for name in baseline_entry_names(folder)}
    if not entries and not asked:
        raise InputError("the baseline is empty", place=Place(str(folder)), hint="name scenarios, with --update")
    chosen = [_case(folder, text, entries) for text in asked or entries]
    names = [case.name for case in chosen]
    for case in chosen:
        if names.count(case.name) > 1:
            raise InputError(f"two scenarios are called `{case.name}`")
    return chosen


def _case(folder: Path, text: str, entries: Mapping[str, BaselineEntry]) -> Case:
    """The case of a name in the baseline, or of a file or a name of the library."""
    old = entries.get(text)
    path = _path(folder, old.kept.scenario) if old else find_library_file(text, "scenarios")
    if not os.path.isfile(path):
        return Case(text, old.kept.scenario if old else "", None, old)
    plan = prepare_scenario(path)
    regression_settings(plan)
    return Case(plan.name, _reference(folder, path), plan, old or entries.get(plan.name))


def _path(folder: Path, scenario: str) -> Path:
    """The file of a scenario that an entry names."""
    if "/" in scenario:
        return Path(os.path.normpath(folder / scenario))
    return library("scenarios") / f"{scenario}.yaml"


def _reference(folder: Path, path: Path) -> str:
    """The reference to a scenario's file in an entry: its name in the library, or its path from the baseline."""
    real = Path(os.path.realpath(path))
    if real.parent == Path(os.path.realpath(library("scenarios"))):
        return real.stem
    relative = path_from_folder(real, folder)
    return relative if "/" in relative else f"./{relative}"


def regression_settings(plan: Plan) -> RegressEntry:
    """The settings of the scenario for its comparison."""
    entry = plan.file.regress
    if entry.until is not None and not entry.until > plan.grid[0]:
        raise InputError(
            f"{plan.name}: nothing would be compared",
            key="regress.until",
            found=f"{entry.until:g} s",
            allowed=f"more than {plan.grid[0]:g} s, where the rows start",
        )
    return entry
