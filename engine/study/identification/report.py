"""What was identified, as rows and as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TypedDict

from ...mechanics.numbers import parameters
from .columns import unit_of_identified_number
from .estimate import Identified


class ReportRow(TypedDict):
    """A base parameter, identified."""

    name: str
    group: str
    unit: str
    value: float
    error: float | None
    file: float
    determined: bool


def identified_parameter_rows(result: Identified) -> list[ReportRow]:
    """A row for each base parameter."""
    listed = zip(
        result.names, result.words, result.units, result.values, result.errors, result.of_file, result.determined
    )
    return [
        {
            "name": name,
            "group": words,
            "unit": unit,
            "value": float(value),
            "error": float(error) if determined else None,
            "file": float(of_file),
            "determined": bool(determined),
        }
        for name, words, unit, value, error, of_file, determined in listed
    ]


def identified_parameters_csv(result: Identified) -> str:
    """The base parameters as CSV."""
    rows = identified_parameter_rows(result)
    return _csv(list(ReportRow.__annotations__), (list(row.values()) for row in rows))


def identified_numbers_csv(result: Identified) -> str:
    """The numbers of links and joints as CSV."""
    own = parameters(result.robot)
    rows = ([name, unit_of_identified_number(result.robot, name), x, own[name]] for name, x in result.numbers.items())
    return _csv(("name", "unit", "value", "file"), rows)


def _csv(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow(["" if x is None else f"{x:.17g}" if isinstance(x, float) else x for x in row])
    return text.getvalue()
