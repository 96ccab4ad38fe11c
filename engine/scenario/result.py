"""The result of a run: its columns, how it ended, its audit and its record, and the files that can be made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..record import PLOT_FORMATS, TIME, Column, Drawing, plot_look
from ..record.files import (
    check_table_formats,
    csv_text,
    dataframe_of_result,
    dataset_of_result,
    make_output_folder,
    write_file_whole,
    write_parquet,
    write_result,
)
from ..text import yaml_value_in_words
from .replay import files_of_replay

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(repr=False)
class Result:
    """The result of a run; `table` maps column names to values over `t`, and `result["joint1.tau"]` is one of them."""

    name: str
    t: np.ndarray
    table: dict[str, np.ndarray]
    ended: str
    audit: dict[str, Any]
    record: dict[str, Any]
    columns: list[Column] = field(repr=False)
    plots: tuple[Drawing, ...] = ()
    tables: dict[str, bytes] = field(default_factory=dict, repr=False)  # the files that the scenario's laws have read

    def __repr__(self) -> str:
        return f"Result({self.name!r}: {self.summary()})"

    @property
    def as_expected(self) -> bool:
        """Whether the run ended as its scenario's `expect` says."""
        return bool(self.ended == self.record["expected"])

    def __getitem__(self, name: str) -> np.ndarray:
        """The values of a column, or those of `t`."""
        if name == "t":
            return self.t
        if name not in self.table:
            raise InputError(
                "the result has no such column",
                found=yaml_value_in_words(name),
                allowed=", ".join(["t", *self.table]),
                hint=did_you_mean(name, self.table),
            )
        return self.table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name == "t" or name in self.table

    def keys(self) -> list[str]:
        """The names of all columns, `t` first, so that `dict(result)` has them all."""
        return ["t", *self.table]

    def summary(self) -> str:
        """How large the result is and how the run ended, in a line."""
        size = f"{len(self.t)} rows of {len(self.table)} columns"
        span = f", t = {self.t[0]:g} to {self.t[-1]:g} s" if len(self.t) else ""
        energy = self.audit.get("energy")
        balance = f", energy balance within {energy:.2g} J" if energy is not None else ""
        return f"{size}{span}, {self.ended}{balance}"

    def _repr_html_(self) -> str:
        """What a notebook shows: how the run ended, the extremes of its columns, and its plots."""
        from ..record import result_html

        return result_html(self.name, self.summary(), self.t, self.table, self.columns, self.plot(), self.record)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame over t; its `attrs["units"]` has the units of the columns."""
        return dataframe_of_result(self.name, self.t, self.table, self.columns)

    def to_xarray(self) -> xr.Dataset:
        """An xarray Dataset over t, whose variables have their units as attributes."""
        return dataset_of_result(self.name, self.t, self.table, self.columns)

    def to_parquet(self, path: str | Path) -> Path:
        """Writes a Parquet file with the columns of the CSV file and their units, whole or not at all."""
        path = Path(path)
        check_table_formats(["parquet"])
        write_file_whole(path, lambda draft: write_parquet(draft, self.t, self.table, self.columns))
        return path

    def to_csv(self, path: str | Path) -> Path:
        """Writes the CSV file, whole or not at all."""
        path = Path(path)
        write_file_whole(path, lambda draft: draft.write_text(csv_text(self.t, self.table), encoding="utf-8"))
        return path

    def plot(
        self,
        *which: str | Drawing,
        y: str | Sequence[str] = (),
        x: str | Sequence[str] = TIME,
        folder: str | Path | None = None,
        form: str | None = None,
        style: str = "screen",
        degrees: bool = False,
    ) -> dict[str, Any]:
        """Matplotlib figures by name, by default the scenario's plots; also written to `folder` if it is given.

        With `y` they are columns over `x`: one column for all, or one for each.  The `style` is `screen` or `paper`,
        and says which format files have if `form` doesn't.
        """
        from ..record import chosen_plots, figures_of_result, plot_columns_against, save_figure

        look = plot_look(style, degrees=degrees)
        form = form or look.style.form
        if form not in PLOT_FORMATS:
            raise InputError(
                "unknown format of plots", found=yaml_value_in_words(form), allowed=", ".join(PLOT_FORMATS)
            )
        own = [plot_columns_against(x, y, ["t", *self.table])] if y else []
        wanted = [*chosen_plots(which, self.plots), *own] or self.plots
        made = figures_of_result(self.name, self.t, self.table, self.columns, wanted, self.record, look)
        if folder is not None:
            make_output_folder(Path(folder))
            for stem, figure in made.items():
                save = partial(save_figure, figure, letters=look.style.letters)
                write_file_whole(Path(folder) / f"{stem}.{form}", save)
        return made

    def write(
        self,
        folder: str | Path,
        form: str | None = None,
        *,
        plot: bool = True,
        more_tables: Sequence[str] = (),
        style: str = "screen",
        degrees: bool = False,
    ) -> list[Path]:
        """Writes CSV, JSON record, plots and replay files to `folder`, all or none, and returns their paths.

        `more_tables` names further formats of the table: `parquet`.
        """
        look = plot_look(style, degrees=degrees)
        wanted: Sequence[Drawing] = self.plots if plot else ()
        return write_result(
            Path(folder),
            self.name,
            self.t,
            self.table,
            self.columns,
            self.record,
            wanted,
            form or look.style.form,
            files_of_replay(self.name, self.record, self.tables),
            more_tables,
            look,
        )
