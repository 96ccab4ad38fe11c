"""Results read back from their folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DenocError, InputError, Place
from ..record import plots
from ..record.columns import Column


@dataclass
class Stored:
    """A result of an earlier run."""

    folder: Path
    name: str
    t: np.ndarray
    table: dict[str, np.ndarray]
    columns: list[Column]
    record: dict[str, Any]

    def draw(self, which: Sequence[str], folder: Path, form: str) -> list[Path]:
        """Plots (default: those that the scenario asked for) in the folder; their paths."""
        for name in which:
            if name not in plots.PLOTS:
                raise InputError("unknown plot", found=name, allowed=", ".join(plots.PLOTS))
        wanted = which or [name for name in self.record.get("plots", []) if name in plots.PLOTS]
        robot = str(self.record.get("robot", {}).get("name", ""))
        made = plots.figures(self.name, self.t, self.table, self.columns, wanted, robot)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files = [folder / f"{stem}.{form}" for stem in made]
            for file, figure in zip(files, made.values()):
                plots.save(figure, file)
        except OSError as error:
            raise DenocError(f"can't write plots to {folder}: {error.strerror}") from None
        return files


def stored(path: Path) -> Stored:
    """The result of a folder, of its CSV file or of its JSON record."""
    path = Path(path)
    if path.is_dir():
        found = sorted(p for p in path.glob("*.json") if p.with_suffix(".csv").is_file())
        if len(found) != 1:
            raise InputError(
                "not the folder of one result", found=f"{len(found)} results in {path}", allowed="outputs/<scenario>"
            )
        path = found[0]
    csv, record_file = path.with_suffix(".csv"), path.with_suffix(".json")
    for file in (csv, record_file):
        if not file.is_file():
            raise InputError(f"no such result: {file} is missing", allowed="a folder with <scenario>.csv and .json")
    try:
        record = json.loads(record_file.read_text(encoding="utf-8"))
        columns = [Column(**column) for column in record["columns"]]
    except (ValueError, KeyError, TypeError):
        raise InputError("not a record of denoc", place=Place(str(record_file))) from None
    try:
        header = csv.read_text(encoding="utf-8").split("\n", 1)[0].split(",")
        values = np.loadtxt(csv, delimiter=",", skiprows=1, ndmin=2)
    except ValueError as error:
        raise InputError(f"not a table of numbers: {error}", place=Place(str(csv))) from None
    if values.shape[1:] != (len(header),) or header[0] != "t":
        raise InputError("not a table of denoc: the header doesn't fit the rows", place=Place(str(csv), 1, 1))
    table = {name: values[:, k] for k, name in enumerate(header)}
    columns = [column for column in columns if column.name in table]
    return Stored(path.parent, path.stem, table.pop("t"), table, columns, record)
