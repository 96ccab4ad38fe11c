"""Results that are read back from their folder."""

from __future__ import annotations

import json
import math
import os
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from ..errors import InputError, Place
from ..record import PLOTS, Column, Drawing, Look, chosen_plots, figures_of_result, plot_drawing, save_figure
from ..record.files import (
    MOST_IN_RECORD,
    add_plots_to_result,
    check_output_writable,
    check_recorded_checksums,
    locked_output_folder,
    mend_output_folder,
    write_file_whole,
)
from ..record.files import make_output_folder as make
from ..text import content_of_file, lines_of_text
from .error_estimate import error_sentences

MOST_BYTES = 500_000_000  # of a table


@dataclass
class Stored:
    """A result of an earlier run."""

    folder: Path
    name: str
    t: np.ndarray
    table: dict[str, np.ndarray]
    columns: list[Column]
    record: dict[str, Any]

    @property
    def plots(self) -> list[Drawing]:
        """What the scenario wanted to be drawn."""
        return [one for one in map(plot_drawing, self.record["plots"]) if one.y or one.plot in PLOTS]

    def draw(
        self, which: Sequence[str | Drawing], folder: Path, form: str | None = None, look: Look = Look()
    ) -> list[Path]:
        """Draws plots, by default those of the scenario, into the folder, and returns their paths."""
        wanted, form = chosen_plots(which, self.plots) or self.plots, form or look.style.form
        check_output_writable(folder)
        made = figures_of_result(self.name, self.t, self.table, self.columns, wanted, self.record, look)
        if os.path.realpath(folder) == os.path.realpath(self.folder):
            return add_plots_to_result(folder, self.name, self.record, made, form, look)
        make(folder)
        files = [folder / f"{stem}.{form}" for stem in made]
        for file, figure in zip(files, made.values()):
            write_file_whole(file, partial(save_figure, figure, letters=look.style.letters))
        return files


def stored_scenario_result(path: Path, *, unchanged: bool = True) -> Stored:
    """The result in a folder, given by the folder or by a file in it; incomplete results are refused.

    So are tables that aren't those that were written with the record, unless `unchanged` is false.
    """
    path = Path(path)
    home = Path(os.path.realpath(path if os.path.isdir(path) else path.parent))
    mend_output_folder(home)
    with locked_output_folder(home.parent, shared=True):  # while no run replaces it
        return _stored(path, unchanged)


def _stored(path: Path, unchanged: bool) -> Stored:
    if os.path.isdir(path):
        records = sorted(p for p in path.glob("*.json") if p.with_suffix(".csv").is_file())
        if len(records) != 1:
            raise InputError(
                "not the folder of one result",
                place=Place(str(path)),
                found=f"{len(records)} results",
                allowed="outputs/<scenario>, or the CSV or JSON file of a result",
            )
        path = records[0]
    csv, record_file = path.with_suffix(".csv"), path.with_suffix(".json")
    for file in (csv, record_file):
        if not os.path.isfile(file):
            raise InputError(
                f"no such result: `{file}` is missing",
                allowed="a folder with <scenario>.csv and <scenario>.json, or one of the two",
            )
    record, columns = _record(record_file)
    if unchanged:
        check_recorded_checksums(csv.parent, record, [csv.name])
    table = table_of_stored_scenario_result(csv)
    columns = [column for column in columns if column.name in table and column.name != "t"]
    return Stored(path.parent, path.stem, table.pop("t"), table, columns, record)


NUMBER = (int, float, NoneType)
TEXT = (str, NoneType)
RECORD: dict[str, Any] = {  # the parts of a record that are read again: types, or those of all entries of a list
    "columns": [dict],
    "plots": list,
    "robot": {"name": str, "data": (dict, NoneType)},
    "audit": dict.fromkeys(("energy", "exchanged", "quadrature", "closure", "closure_angle", "steps"), NUMBER),
    "events": [{"t": NUMBER, "joint": TEXT, "actuator": TEXT, "event": TEXT}],
    "error": (dict, NoneType),
    "warnings": [str],
    "undetermined": [str],
    "files": [str],
    "checksums": dict,
    "versions": dict,
    "input": {"record": dict},
    "ended": str,
    "expected": str,
    "reason": TEXT,
}


def _misfit(value: Any, shape: Any, key: str = "") -> str:
    """The first part of a value that isn't of its shape; empty if there is none."""
    if isinstance(shape, list):
        entries = ((one, shape[0], f"{key}[{k}]") for k, one in enumerate(value)) if isinstance(value, list) else None
    elif isinstance(shape, dict):
        known = [name for name in shape if isinstance(value, dict) and name in value]
        entries = ((value[name], shape[name], f"{key}.{name}") for name in known) if isinstance(value, dict) else None
    else:
        return "" if isinstance(value, shape) else key
    return key if entries is None else next(filter(None, (_misfit(*entry) for entry in entries)), "")


def _finite(text: str) -> float:
    """A number of a record; those too large for a number have been put there by somebody else."""
    if not math.isfinite(number := float(text)):
        raise ValueError
    return number


def _whole(text: str) -> int:
    if len(text) > 20:
        raise ValueError
    return int(text)


def _record(file: Path) -> tuple[dict[str, Any], list[Column]]:
    """A record and its columns, checked as far as commands read them."""
    wrong = ""
    try:
        content = content_of_file(file, MOST_IN_RECORD)
        record = json.loads(content, parse_constant=_finite, parse_float=_finite, parse_int=_whole)
        wrong = _misfit(record, RECORD)
        columns = [Column(**column) for column in record["columns"]]
        words = [word for column in columns for word in column.as_dict().values()]
        words.append(record["robot"]["name"])
        [plot_drawing(entry) for entry in record["plots"]]
        error_sentences(record.get("error"))
        if wrong or not all(isinstance(word, str) for word in words):
            raise TypeError
    except (ValueError, LookupError, ArithmeticError, AttributeError, TypeError, RecursionError):
        raise InputError(
            "not a record of denoc",
            place=Place(str(file)),
            found=f"`{wrong.removeprefix('.')}` has another type" if wrong else "",
            hint="`denoc run` of the scenario makes it again",
        ) from None
    return record, columns


def table_of_stored_scenario_result(file: Path, data: bytes | None = None) -> dict[str, np.ndarray]:
    """The columns of a CSV file by name, including `t`."""
    if data is None:
        data = content_of_file(file, MOST_BYTES)
    try:
        lines = lines_of_text(data.decode("utf-8"), file)
    except ValueError:
        raise InputError("the file is not text in UTF-8", place=Place(str(file)), allowed="a CSV file") from None
    header = next(lines, "").split(",")
    if header[:1] != ["t"] or len({*header}) < len(header):
        raise _no_table(file, 1, ", ".join(header)[:80] or "nothing", "a header that starts with t, then rows")
    numbers = array("d")
    for k, line in enumerate(lines, start=2):
        try:
            row = [float(cell) for cell in line.split(",")]
        except ValueError:
            raise InputError(
                "not a row of numbers", place=Place(str(file), k, 1), found=f"`{line[:60]}`", allowed="numbers"
            ) from None
        if len(row) != len(header):
            raise _no_table(file, k, f"{len(row)} numbers", f"{len(header)} numbers in each line")
        numbers.extend(row)
    if not numbers:
        raise _no_table(file, 1, ", ".join(header)[:80], "a header that starts with t, then rows")
    return dict(zip(header, np.frombuffer(numbers).reshape(-1, len(header)).T))


def _no_table(file: Path, line: int, found: str, allowed: str) -> InputError:
    return InputError("not a table of denoc", place=Place(str(file), line, 1), found=found, allowed=allowed)
