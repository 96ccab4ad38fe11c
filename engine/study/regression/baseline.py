"""Baselines: agreed results of scenarios in small files, a table and a description each, in a folder of their own.

What is compared with one are its scenarios, or those that are asked for, by the settings of their files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, Place
from ...record.compared import DIGITS, ComparedColumn, Picture
from ...record.files import check_output_writable, is_draft_file, mend_output_folder, renewed_output_folder
from ...scenario import Plan, RegressEntry, prepare_scenario, table_of_stored_scenario_result
from ...text import bytes_of_text_file, find_library_file, path_from_folder
from ...text import library_folder as library


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
    if old is None:
        path = find_library_file(text, "scenarios")
    elif "/" in old.kept.scenario:
        path = Path(os.path.normpath(folder / old.kept.scenario))
    else:
        path = library("scenarios") / f"{old.kept.scenario}.yaml"
    if not os.path.isfile(path):
        return Case(text, old.kept.scenario if old else "", None, old)
    plan = prepare_scenario(path)
    regression_settings(plan)
    return Case(plan.name, _reference(folder, path), plan, old or entries.get(plan.name))


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


FORM = 1  # version of the files' form
MOST_BYTES = 32 * 2**20  # of a file: those of 41 rows are far smaller
WIDTH = 120  # of the files' lines


@dataclass(frozen=True)
class KeptRows:
    """The number of rows up to the horizon, and the distance between those that are kept."""

    count: int
    every: int


@dataclass(frozen=True)
class KeptImage:
    """A plot that is kept as an image, with the version of matplotlib, on which its letters depend."""

    file: str
    matplotlib: str


@dataclass(frozen=True)
class EntryFile:
    """The content of a JSON file; `scenario` is a name of the library, or a path from the baseline's folder."""

    form: int
    scenario: str
    ended: str
    digits: int
    rows: KeptRows
    regress: dict[str, Any]
    columns: list[ComparedColumn]
    plots: dict[str, Picture]
    images: dict[str, KeptImage] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)  # of the other files; older baselines have none

    @property
    def until(self) -> float | None:
        return self.regress.get("until")


@dataclass(frozen=True)
class BaselineEntry:
    """A scenario of a baseline: its description, its thinned table, its images as bytes of PNG files by plot."""

    name: str
    kept: EntryFile
    t: np.ndarray
    table: dict[str, np.ndarray]
    images: dict[str, bytes]

    def files(self) -> list[str]:
        return [f"{self.name}.csv", f"{self.name}.json", *(image.file for image in self.kept.images.values())]

    def texts(self) -> dict[str, bytes]:
        """The contents of the entry's files by name."""
        rows = np.column_stack([self.t, *self.table.values()]) + 0.0  # no −0
        line = ",".join([f"%.{DIGITS}g"] * rows.shape[1])
        csv = "\n".join([",".join(["t", *self.table]), *(line % tuple(row) for row in rows.tolist()), ""])
        others = {f"{self.name}.csv": csv.encode()}
        others |= {image.file: self.images[plot] for plot, image in self.kept.images.items()}
        kept = replace(
            self.kept, checksums={file: baseline_checksum(file, content) for file, content in others.items()}
        )
        return {f"{self.name}.json": (compact_baseline_json(asdict(kept)) + "\n").encode(), **others}


def baseline_checksum(file: str, content: bytes) -> str:
    """The SHA-256 of a file in hexadecimal digits, which doesn't depend on the line ends of a table."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n") if file.endswith(".csv") else content).hexdigest()


def compact_baseline_json(value: Any, indent: int = 0, room: int = WIDTH) -> str:
    """JSON that breaks lines only where it must, so that differences between files are readable."""
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    nested = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(x, dict | list) for x in value))
    if len(flat) <= room or not nested:  # a list of numbers changes as a whole
        return flat
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        heads = [json.dumps(key, ensure_ascii=False) + ": " for key in value]
        items, brackets = list(value.values()), "{}"
    else:
        heads, items, brackets = [""] * len(value), value, "[]"
    inner = [
        head + compact_baseline_json(x, indent + 1, WIDTH - indent - 2 - len(head)) for head, x in zip(heads, items)
    ]
    return brackets[0] + "\n" + ",\n".join(pad + text for text in inner) + "\n" + " " * indent + brackets[1]


# ---- reading


def baseline_entry_names(folder: Path) -> list[str]:
    """The names of a baseline's scenarios."""
    mend_output_folder(folder)
    if not os.path.isdir(folder):
        raise InputError(
            "no such baseline",
            place=Place(str(folder)),
            allowed="a folder that `--update` has made",
            hint=f"`denoc regress SCENARIO… --baseline {folder} --update` makes one",
        )
    try:
        stems = {path.stem: path for path in folder.iterdir() if path.suffix in (".csv", ".json")}
    except OSError as error:
        raise InputError(f"the folder can't be read: {error.strerror}", place=Place(str(folder))) from None
    return sorted(stems)


def read_baseline_entry(folder: Path, name: str) -> BaselineEntry:
    """The entry of a scenario; an error names the file that is corrupt."""
    file = folder / f"{name}.json"
    kept = _kept(file)
    csv = folder / f"{name}.csv"
    contents = {file.name: _bytes(file) for file in (csv, *(folder / image.file for image in kept.images.values()))}
    for other, result in contents.items():
        if kept.checksums.get(other, baseline_checksum(other, result)) != baseline_checksum(other, result):
            raise _corrupt(folder / other, "it isn't the one that the JSON file was written with")
    table = table_of_stored_scenario_result(csv, contents[csv.name])
    t = table.pop("t")
    names = [one.name for one in kept.columns]
    if list(table) != names:
        other = next((name for name in [*table, *names] if name not in table or name not in names), "")
        raise _corrupt(
            csv, "its columns are not those of the JSON file", f"`{other}` in one of the two" if other else ""
        )
    if not np.isfinite(t).all() or not (np.diff(t) > 0).all():
        raise _corrupt(csv, "its times don't grow from row to row")
    return BaselineEntry(name, kept, t, table, {plot: contents[image.file] for plot, image in kept.images.items()})


def _kept(file: Path) -> EntryFile:
    """The content of an entry's JSON file, checked."""
    from pydantic import TypeAdapter, ValidationError

    from ...scenario import RegressEntry

    try:
        kept = TypeAdapter(EntryFile).validate_json(_bytes(file))
        RegressEntry.model_validate(kept.regress)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise _corrupt(file, f"{path}: {first['msg']}" if path else str(first["msg"])) from None
    if kept.form != FORM:
        raise _corrupt(file, "another version of denoc made it", f"form {kept.form}", f"form {FORM}")
    if any(Path(image.file).name != image.file for image in kept.images.values()):
        raise _corrupt(file, "an image isn't in this folder")
    panels = [panel for picture in kept.plots.values() for panel in picture.panels]
    if any(len(line.x) != len(line.y) for panel in panels for line in panel.lines):
        raise _corrupt(file, "a line of a plot hasn't as many x as y")
    if wrong := next((panel.limits for panel in panels if len(panel.limits) not in (0, 4)), None):
        raise _corrupt(file, "the axes of a plot have four limits", str(len(wrong)), "left, right, bottom, top")
    return kept


def _bytes(file: Path) -> bytes:
    try:
        return bytes_of_text_file(file, MOST_BYTES)
    except OSError as error:
        raise _corrupt(file, f"it can't be read: {error.strerror}") from None


def _corrupt(file: Path, why: str, found: str = "", allowed: str = "") -> InputError:
    return InputError(
        f"not a file of a baseline: {why}",
        place=Place(str(file)),
        found=found,
        allowed=allowed,
        hint="take it from version control, or remove the scenario's files and make them again with --update",
    )


# ---- writing


def baseline_is_writable(folder: Path) -> None:
    """Raises an error if the folder can't be replaced, or holds other things than a baseline."""
    home = Path(os.path.realpath(folder))
    check_output_writable(home)
    here = Path(os.path.realpath(Path.cwd()))
    try:
        folders = [path for path in home.iterdir() if path.is_dir()] if home.is_dir() else []
    except OSError as error:
        raise _unwritten(folder, error) from None
    if home in (here, *here.parents) or not all(is_draft_file(path.name) for path in folders):
        raise InputError("a baseline needs a folder of its own", place=Place(str(folder)), allowed="a new folder")


def publish_baseline(folder: Path, gone: Iterable[str], made: Mapping[str, bytes]) -> None:
    """Removes and writes files in the folder, all or none."""
    baseline_is_writable(folder)
    gone = [*gone]
    try:
        with renewed_output_folder(folder, lambda home: gone) as draft:
            for file, content in made.items():
                (draft / file).write_bytes(content)
    except OSError as error:
        raise _unwritten(folder, error) from None


def _unwritten(folder: Path, error: OSError) -> InputError:
    return InputError(f"can't write the baseline {folder}: {error.strerror}; it is as it was", allowed="another folder")
