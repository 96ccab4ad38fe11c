"""What notebooks show of a result: a table of its columns' extremes, and its plots, as one piece of HTML."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import shown
from .columns import Column
from .plots import save_png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 60  # of the table; the columns of further bodies are in `result.columns`
HEADER = ("column", "unit", "least", "largest", "RMS", "final")


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
    words = [f"<h4>{text(name)}</h4><p>{text(summary)}</p>"]
    if record.get("reason"):
        words.append(f"<p>{text(str(record['reason']))}</p>")
    words += [f"<p>warning: {text(warning)}</p>" for warning in record.get("warnings", [])]
    words.append(_extremes(t, table, columns))
    words += [picture(stem, figure) for stem, figure in figures.items()]
    return "\n".join(words)


def _extremes(t: np.ndarray, table: Mapping[str, np.ndarray], columns: Sequence[Column]) -> str:
    """The least, largest, root mean square and final value of each column; the instant is the cell's tooltip."""
    rows = []
    for column in columns[:MOST_ROWS]:
        values = table[column.name]
        if not len(values) or not np.isfinite(values).any():
            continue
        low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
        rms = float(np.sqrt(np.nanmean(values**2)))
        cells = [
            f"<td>{text(column.name)}</td><td>{text(column.unit)}</td>",
            *(f'<td title="at t = {t[k]:.6g} s">{values[k]:.5g}</td>' for k in (low, high)),
            f"<td>{rms:.5g}</td><td>{values[-1]:.5g}</td>",
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(f"<th>{word}</th>" for word in HEADER)
    rest = len(columns) - MOST_ROWS
    more = f"<p>… and {rest} more columns</p>" if rest > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"


def picture(name: str, figure: Figure) -> str:
    """A figure as an image within the HTML."""
    drawn = io.BytesIO()
    save_png(figure, drawn)
    data = base64.b64encode(drawn.getvalue()).decode("ascii")
    return f'<img alt="{text(name)}" src="data:image/png;base64,{data}">'


def text(words: str) -> str:
    """A user's text as HTML shows it."""
    return escape(shown(words))
