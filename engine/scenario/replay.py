"""Replays of runs: the origin of a plan, notes on how its programs ran, and the files that hold both.

Beside its results each run leaves its scenario and its robot in full. The scenario has the notes of the run under
`replay`, so that running it again takes the same programs and gives the same numbers to the last bit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import InputError, Place, safe_to_print
from ..laws import TABLE_BYTES, Law
from ..machine.backend import Journal, journalled_backend_choices
from ..record import PLOT_FORMATS, plot_stems
from ..record.files import MOST_IN_RECORD, check_recorded_checksums
from ..text import Change, Document, bytes_of_text_file, content_of_file, yaml_text
from ..text.expressions import formula_with_renamed_tables, lookups_in_formula, parsed_formula
from .plan import Plan
from .schema import ScenarioFile

ENDING = ".scenario"  # of the name of such a scenario file, before `.yaml`
NOTES = ("backend", "form", "lanes", "cpu", "cached")


@dataclass(frozen=True)
class Prepared(Plan):
    """A plan with the folder of its tables and the changes by `--set`."""

    folder: Path = Path()
    settings: tuple[str, ...] = ()


def prepared_scenario_replay(plan: Plan, document: Document, changes: Sequence[Change] = ()) -> Prepared:
    """The plan together with its origin."""
    values = {field.name: getattr(plan, field.name) for field in fields(plan)}
    return Prepared(**values, folder=Path(document.name).parent, settings=tuple(one.text for one in changes))


def name_of_scenario(path: Path) -> str:
    """The name of a scenario without a `name`, which is `fall` for `fall.yaml` and for `fall.scenario.yaml`."""
    return path.stem.removesuffix(ENDING)


def scenario_of_result(folder: Path, name: str) -> Path:
    """The scenario that was written with a result, by which it can be run again and which names its robot."""
    path = folder / f"{name}{ENDING}.yaml"
    if not path.is_file():
        raise InputError(
            "the result has no scenario of its own, which says how it was computed and of which robot",
            place=Place(str(path)),
            hint="results of versions before 0.2.0 lack it: run the scenario again",
        )
    return path


def replay_files_unchanged(path: Path) -> None:
    """Raises an error if a replay's scenario, robot or tables have changed since the record beside it was written."""
    name = name_of_scenario(path)
    record = path.with_name(f"{name}.json")
    if path.name != f"{name}{ENDING}.yaml" or not record.is_file():
        return
    try:
        kept = json.loads(bytes_of_text_file(record, MOST_IN_RECORD))
        names = {*kept["checksums"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # a replay needs no record
        return
    drawn = {f"{stem}.{form}" for stem in plot_stems(name) for form in PLOT_FORMATS}
    check_recorded_checksums(path.parent, kept, sorted(names - drawn - {f"{name}.csv"}))


def recorded_replay_choices(plan: Plan) -> AbstractContextManager[Journal]:
    """A context in which the run's programs are noted, or run as the scenario's notes say."""
    notes = plan.file.replay
    if notes is None:
        return journalled_backend_choices()
    return journalled_backend_choices(notes.backend, notes.form_, notes.lanes, tuple(notes.cached))


def doubts_about_replay(plan: Plan, code: Mapping[str, Any], versions: Mapping[str, str]) -> list[str]:
    """Warnings if the machine or the versions differ from those of the notes that are replayed."""
    notes = plan.file.replay
    if notes is None:
        return []
    before = {"the processor": notes.cpu, **notes.versions}
    now = {"the processor": code.get("cpu") or notes.cpu, **versions}
    others = [
        f"{what} ({then}, now {now.get(what)})" for what, then in before.items() if then and then != now.get(what)
    ]
    return [f"last digits may differ from those that are replayed, for so do {', '.join(others)}"] if others else []


def replay_notes(code: Mapping[str, Any], versions: Mapping[str, str]) -> dict[str, Any]:
    """The entries under `replay` for a run."""
    return {**{key: code[key] for key in NOTES if key in code}, "versions": dict(versions)}


def tables_of_scenario(plan: Plan) -> dict[str, bytes]:
    """The contents of the tables that the scenario's laws read, by their names in the scenario."""
    if not isinstance(plan, Prepared):
        return {}
    contents = {}
    for name in dict.fromkeys(_named(plan.file)):
        path = plan.folder / name
        contents[name] = content_of_file(path, TABLE_BYTES)
    return contents


def _named(file: ScenarioFile) -> Iterator[str]:
    """The tables that the laws of a scenario name."""
    components = [x for wrench in file.wrenches for x in (*wrench.force, *wrench.moment)]
    drives = [drive.motion for drive in file.drives]
    for entry in file.record.expressions.values():
        yield from (one.file for one in lookups_in_formula(parsed_formula(entry.formula)))
    for law in (*file.motion.values(), *file.forces.values(), *drives, *components):
        if isinstance(law, Law):
            yield from law.files()


def files_of_replay(name: str, record: Mapping[str, Any], held: Mapping[str, bytes]) -> dict[str, bytes]:
    """The contents of the files of a replay by name: the scenario and robot in full, and the scenario's tables."""
    robot, data = f"{record['robot']['name']}.robot.yaml", record["robot"]["data"]
    own = f"{name}{ENDING}.yaml"
    homes = _homes(name, held, {own, robot, f"{name}.csv", f"{name}.json"})
    scenario = {**_moved(record["input"], homes), "robot": robot if data else record["robot"]["name"]}
    if "cached" in record["code"]:
        scenario["replay"] = replay_notes(record["code"], record["versions"])
    texts = {
        own: yaml_text(scenario, [f"What was run, in full: `denoc run` of this file, beside {robot}, does it again."])
    }
    if data:
        texts[robot] = yaml_text(data, [f"The robot of {safe_to_print(own)}, in full."])
    return {
        **{file: text.encode("utf-8", "backslashreplace") for file, text in texts.items()},
        **{homes[table]: content for table, content in held.items()},
    }


def _homes(name: str, held: Mapping[str, bytes], taken: set[str]) -> dict[str, str]:
    """The names of the tables' copies beside the results."""
    homes: dict[str, str] = {}
    for table in held:
        own = Path(table).name.removeprefix(f"{name}.")
        tries = (f"{name}.{own}", *(f"{name}.{k}.{own}" for k in range(2, len(held) + 6)))
        homes[table] = next(one for one in tries if one not in taken)
        taken = taken | {homes[table]}
    return homes


def _moved(data: Any, homes: Mapping[str, str]) -> Any:
    """The scenario's data with the names of the tables' copies beside the results."""
    if isinstance(data, Mapping):
        moved = {key: _moved(value, homes) for key, value in data.items()}
        if data.get("law") in ("table", "lookup"):
            moved["file"] = homes.get(str(data.get("file")), data.get("file"))
        elif data.get("law") == "expression":
            moved["force"] = _elsewhere(data.get("force"), homes)
        elif "formula" in data:
            moved["formula"] = _elsewhere(data.get("formula"), homes)
        return moved
    return [_moved(one, homes) for one in data] if isinstance(data, list | tuple) else data


def _elsewhere(formula: Any, homes: Mapping[str, str]) -> Any:
    """A formula, or a list of them, with the names of the tables' copies."""
    if isinstance(formula, list | tuple):
        return [_elsewhere(one, homes) for one in formula]
    return formula_with_renamed_tables(formula, homes) if isinstance(formula, str) else formula
