"""The result of a run: its columns, how it ended, its audit and its record, and the files that can be made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..record import plots, write
from ..record.columns import Column
from ..text.checking import in_words
from .replay import files


@dataclass
class Result:
    """The result of a run; `table` maps column names to values over `t`."""

    name: str
    t: np.ndarray
    table: dict[str, np.ndarray]
    ended: str
    audit: dict[str, Any]
    record: dict[str, Any]
    columns: list[Column] = field(repr=False)
    plots: tuple[str, ...] = ()
    tables: dict[str, bytes] = field(default_factory=dict, repr=False)  # the files that the scenario's laws have read

    def to_csv(self, path: str | Path) -> Path:
        """Writes the CSV file, whole or not at all."""
        path = Path(path)
        write.whole(path, lambda draft: draft.write_text(write.csv_text(self.t, self.table), encoding="utf-8"))
        return path

    def plot(self, *which: str, folder: str | Path | None = None, form: str = "png") -> dict[str, Any]:
        """Matplotlib figures by name, by default the scenario's plots; also written to `folder` if it is given."""
        for name in which:
            if name not in plots.PLOTS:
                raise InputError("unknown plot", found=in_words(name), allowed=", ".join(plots.PLOTS))
        if form not in plots.FORMATS:
            raise InputError("unknown format of plots", found=in_words(form), allowed=", ".join(plots.FORMATS))
        robot = str(self.record["robot"]["name"])
        made = plots.figures(self.name, self.t, self.table, self.columns, which or self.plots, robot)
        if folder is not None:
            write.make_folder(Path(folder))
            for stem, figure in made.items():
                write.whole(Path(folder) / f"{stem}.{form}", partial(plots.save, figure))
        return made

    def write(self, folder: str | Path, form: str = "png", *, plot: bool = True) -> list[Path]:
        """Writes CSV, JSON record, plots and replay files to `folder`, all or none, and returns their paths."""
        wanted: Sequence[str] = self.plots if plot else ()
        more = files(self.name, self.record, self.tables)
        return write.write_result(
            Path(folder), self.name, self.t, self.table, self.columns, self.record, wanted, form, more
        )
