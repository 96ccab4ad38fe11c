"""What stands around the lines of a figure: labels, grids, legends and notes, in a style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .plots import arranged_figure, label_axes, plain_plot_text
from .scales import ROUNDING, finite_plotted_values
from .styles import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNNAMED = "_"  # the beginning of labels that no legend shows


def figure_with_panels(style: Style, title: str, width: float, height: float, down: int, across: int) -> Figure:
    """A figure with room for so many panels and with a title, where the style has titles."""
    return arranged_figure(
        title if style.titled else "", width, height, down, across, int(11 * width), style.fonts.figure
    )


def note_below_panels(figure: Figure, style: Style, sentences: Sequence[str]) -> None:
    """Writes sentences below the panels."""
    if sentences:
        words = plain_plot_text("; ".join(sentences), int(125 * figure.get_figwidth() / style.fonts.legend))
        figure.text(0.01, 0.0, words, fontsize=style.fonts.legend, ha="left", va="bottom")


def plot_line(axes: Axes, style: Style, x: np.ndarray, y: np.ndarray, place: tuple[int, int], label: str) -> None:
    """Draws a line, which is the `place[0]`th of `place[1]`; a single point is a dot."""
    look: Mapping[str, Any] = style.look(*place)
    axes.plot(x, y, **look, marker="o" if len(x) == 1 else "", label=plain_plot_text(label))


def label_plot_axes(axes: Axes, style: Style, across: str, up: str) -> None:
    """Adds labels, ticks and a grid."""
    label_axes(axes, plain_plot_text(across), plain_plot_text(up), style.fonts.axis, style.fonts.tick)
    axes.ticklabel_format(axis="y", useOffset=False)


def plot_lines_are_steady(axes: Axes, size: float) -> bool:
    """Whether the lines vary by no more than rounding beside `size`; the axis then shows them as constants."""
    drawn = finite_plotted_values(
        np.concatenate([np.asarray(one.get_ydata(), dtype=float) for one in axes.get_lines()])
    )
    if not drawn.size:
        return True
    low, high = float(drawn.min()), float(drawn.max())
    if high - low > ROUNDING * size:
        return False
    middle, reach = (low + high) / 2, size or 1.0
    axes.set_ylim(middle - reach, middle + reach)
    return True


def legend_outside(figure: Figure, axes: Axes, style: Style, across: int = 1) -> None:
    """Puts the legend beside the axes, or above them, where it covers nothing; there are so many panels `across`."""
    lines = [one for one in axes.get_lines() if not str(one.get_label()).startswith(UNNAMED)]
    step = 1 if len(lines) <= len(style.strokes) else -(-(len(lines) - 1) // 14)
    shown = [*lines[::step], *([lines[-1]] if (len(lines) - 1) % step else [])]
    size = style.fonts.legend
    if style.beside:
        columns = 1 + (len(shown) - 1) // 20
        axes.legend(handles=shown, fontsize=size, loc="center left", bbox_to_anchor=(1.01, 0.5), ncols=columns)
        return
    letters = 95 * figure.get_figwidth() / across / size  # in a line above the axes
    columns = min(len(shown), max(1, int(letters / (max(len(str(one.get_label())) for one in shown) + 6))))
    tight = {"handlelength": 2.4, "columnspacing": 0.9, "handletextpad": 0.4, "borderpad": 0.1, "labelspacing": 0.2}
    axes.legend(
        handles=shown,
        fontsize=size,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        frameon=False,
        **tight,
    )
    pad = 6 + 1.45 * size * -(-len(shown) // columns)
    axes.set_title(axes.get_title(), fontsize=style.fonts.panel, y=1.0, pad=pad)
