"""What notebooks show of a result: a table of its columns' extremes, and its plots, as one piece of HTML."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Column
from .extremes import HEADER, column_extremes
from .pages import html
from .pages.html import html_text
from .plots import save_figure_as_png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    words.append(_extremes(t, table, columns))
    words += [html_image_of_figure(stem, figure) for stem, figure in figures.items()]
    return "\n".join(words)


def _extremes(t: np.ndarray, table: Mapping[str, np.ndarray], columns: Sequence[Column]) -> str:
    """The extremes of each column as a table."""
    rows = [one.cells() for one in column_extremes(t, table, columns[:MOST_ROWS])]
    rest = len(columns) - MOST_ROWS
    return html.html_table(HEADER, rows) + (f"<p>… and {rest} more columns</p>" if rest > 0 else "")


def html_image_of_figure(name: str, figure: Figure) -> str:
    """A figure as an image within the HTML."""
    drawn = io.BytesIO()
    save_figure_as_png(figure, drawn)
    return html.html_image(name, drawn.getvalue())
