"""The table of a result for other libraries and in other formats than CSV, each with the units of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ..columns import Column

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

EXTRA = "tables"  # in pyproject.toml
TIME_UNIT = "s"

Table = Mapping[str, np.ndarray]


def dataframe_of_result(name: str, t: np.ndarray, table: Table, columns: Sequence[Column]) -> pd.DataFrame:
    """A DataFrame over the time; `attrs` has the result's name and the units of all columns."""
    made: pd.DataFrame = _library("pandas").DataFrame(dict(table), index=np.array(t))
    made.index.name = "t"
    made.attrs = {"name": name, "units": units_of_table_columns(columns)}
    return made


def dataset_of_result(name: str, t: np.ndarray, table: Table, columns: Sequence[Column]) -> xr.Dataset:
    """A Dataset over the dimension `t`; each variable has its unit, its family and its owner as attributes."""
    variables = {
        column.name: ("t", table[column.name], {"units": column.unit, "family": column.family, "owner": column.owner})
        for column in columns
    }
    made: xr.Dataset = _library("xarray").Dataset(
        variables, coords={"t": ("t", np.array(t), {"units": TIME_UNIT})}, attrs={"name": name}
    )
    return made


def write_parquet(path: Path, t: np.ndarray, table: Table, columns: Sequence[Column]) -> None:
    """Writes a Parquet file with the columns of the CSV file; each field's metadata has its unit."""
    write_tidy_parquet(path, {"t": t, **table}, {"t": TIME_UNIT, **units_of_table_columns(columns)})


def tidy_dataframe(columns: Mapping[str, np.ndarray | list[Any]], units: Mapping[str, str]) -> pd.DataFrame:
    """A DataFrame of a tidy table; `attrs` has the units of its columns."""
    made: pd.DataFrame = _library("pandas").DataFrame(dict(columns))
    made.attrs = {"units": dict(units)}
    return made


def write_tidy_parquet(path: Path, columns: Mapping[str, np.ndarray | list[Any]], units: Mapping[str, str]) -> None:
    """Writes a Parquet file of a tidy table; each field's metadata has its unit, where it has one."""
    arrow = _library("pyarrow")
    arrays = [arrow.array(one) for one in columns.values()]
    fields = [
        arrow.field(name, one.type, metadata={"unit": units[name]} if name in units else None)
        for name, one in zip(columns, arrays)
    ]
    made = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields))
    _library("pyarrow.parquet").write_table(made, path)


def units_of_table_columns(columns: Sequence[Column]) -> dict[str, str]:
    """The unit of each column by its name."""
    return {column.name: column.unit for column in columns}


# the formats beside CSV: a function that writes a file, and the package that it needs
TABLE_FORMATS: dict[str, tuple[Callable[[Path, np.ndarray, Table, Sequence[Column]], None], str]] = {
    "parquet": (write_parquet, "pyarrow"),
}


def check_table_formats(forms: Sequence[str]) -> None:
    """Raises an error, before a run rather than after it, if tables of these formats can't be written."""
    for form in forms:
        if form not in TABLE_FORMATS:
            raise InputError("unknown format of tables", found=f"`{form}`", allowed=", ".join(TABLE_FORMATS))
        _library(TABLE_FORMATS[form][1])


def _library(name: str) -> ModuleType:
    package = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise InputError(
            f"this needs the package {package}, which isn't installed",
            hint=f"it comes with the extra `{EXTRA}`",
        ) from None
