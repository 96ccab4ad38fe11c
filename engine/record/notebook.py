"""What notebooks show of a result: a table of its columns' extremes, and its plots, as one piece of HTML."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Column
from .pages import html, html_text
from .plots import save_figure_as_png

if TYPE_CHECKING:
    from matplotlib.figure import Figure
from collections.abc import Iterator
from dataclasses import dataclass

HEADER = ("column", "unit", "least", "at (s)", "largest", "at (s)", "RMS", "final")


@dataclass(frozen=True)
class Extremes:
    """The least and the largest value of a column, when it has them, its root mean square and its last value."""

    column: Column
    low: float
    low_at: float
    high: float
    high_at: float
    rms: float
    final: float

    def cells(self) -> list[str]:
        """The row of a table under `HEADER`."""
        numbers = (self.low, self.low_at, self.high, self.high_at, self.rms, self.final)
        return [self.column.name, self.column.unit, *(f"{x + 0.0:.5g}" for x in numbers)]


def column_extremes(t: np.ndarray, table: Mapping[str, np.ndarray], columns: Sequence[Column]) -> Iterator[Extremes]:
    """The extremes of those columns that have a finite number; the mean square is that over the rows."""
    for column in columns:
        values = np.asarray(table[column.name], dtype=float)
        if np.isfinite(values).any():
            low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
            rms = float(np.sqrt(np.nanmean(values * values)))
            yield Extremes(
                column, float(values[low]), float(t[low]), float(values[high]), float(t[high]), rms, float(values[-1])
            )


MOST_ROWS = 60  # of the table; the columns of further bodies are in `result.columns`


def result_html(
    name: str,
    summary: str,
    t: np.ndarray,
    table: Mapping[str, np.ndarray],
    columns: Sequence[Column],
    figures: Mapping[str, Figure],
    record: Mapping[str, Any],
) -> str:
    """The HTML of a result. Names from files are escaped, so that they are text and nothing else."""
    words = [f"<h4>{html_text(name)}</h4><p>{html_text(summary)}</p>"]
    if record.get("reason"):
        words.append(f"<p>{html_text(str(record['reason']))}</p>")
    words += [f"<p>warning: {html_text(warning)}</p>" for warning in record.get("warnings", [])]
    rest = len(columns) - MOST_ROWS
    words.append(html.html_table(HEADER, [one.cells() for one in column_extremes(t, table, columns[:MOST_ROWS])]))
    words[-1] += f"<p>… and {rest} more columns</p>" if rest > 0 else ""
    words += [html_image_of_figure(stem, figure) for stem, figure in figures.items()]
    return "\n".join(words)


def html_image_of_figure(name: str, figure: Figure) -> str:
    """A figure as an image within the HTML."""
    drawn = io.BytesIO()
    save_figure_as_png(figure, drawn)
    return html.html_image(name, drawn.getvalue())
