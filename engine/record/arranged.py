"""Figures whose panels are arranged when they are drawn: most of the time that a figure takes goes into that."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.backend_bases import RendererBase

GAP = 0.08  # inches between panels and around them


class Arranged(Figure):
    """A figure with rows and columns of panels, which are arranged once, before it is drawn or saved."""

    def __init__(self, width: float, height: float, down: int, across: int):
        super().__init__(figsize=(width, height))
        FigureCanvasAgg(self)
        self._panels, self._arranged = (down, across), False

    def draw(self, renderer: RendererBase) -> None:
        """Draws the figure, as matplotlib does for every output."""
        self._arrange()
        super().draw(renderer)

    def savefig(self, *given: Any, **how: Any) -> None:
        """Saves the figure; its panels are arranged in its own resolution, whatever that of the file is."""
        self._arrange()
        super().savefig(*given, **how)

    def arrange(self) -> None:
        """Arranges the panels, again where the first time has changed their ticks."""
        self._arranged = True
        with missing_letters_as_boxes():
            arrange_panels(self, *self._panels)

    def _arrange(self) -> None:
        if not self._arranged:
            self.arrange()


@contextmanager
def missing_letters_as_boxes() -> Iterator[None]:
    """A context in which letters of a joint's name that the font lacks become boxes without a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def arrange_panels(figure: Figure, down: int, across: int) -> None:
    """Makes room for labels, titles and legends around the panels.

    Each panel is measured once.  Layout engines of matplotlib measure all of them twice and draw the figure twice.
    """
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]  # of the canvas that it was made with
    pad = GAP * figure.dpi
    left, right = np.zeros(across), np.zeros(across)  # what stands out of the axes of each column, in pixels
    above, below = np.zeros(down), np.zeros(down)
    for k, axes in enumerate(figure.axes):
        (row, column), inner = divmod(k, across), axes.get_window_extent(renderer)
        # frames and lines stand out no further than labels do, but to measure them takes half of the time
        legends = [] if (legend := axes.get_legend()) is None else [legend]
        outer = axes.get_tightbbox(renderer, bbox_extra_artists=legends) or inner
        left[column], right[column] = max(left[column], inner.x0 - outer.x0), max(right[column], outer.x1 - inner.x1)
        below[row], above[row] = max(below[row], inner.y0 - outer.y0), max(above[row], outer.y1 - inner.y1)
    heights = [(text.get_position()[1] > 0.5, text.get_window_extent(renderer).height) for text in figure.texts]
    title = sum(0.02 * figure.bbox.height + height for is_title, height in heights if is_title)
    notes = sum(0.5 * pad + height for is_title, height in heights if not is_title)
    beside = pad + (right[:-1] + left[1:]).max(initial=0.0)
    between = pad + (below[:-1] + above[1:]).max(initial=0.0)
    width = figure.bbox.width - 2 * pad - left[0] - right[-1] - (across - 1) * beside
    height = figure.bbox.height - 2 * pad - title - notes - below[-1] - above[0] - (down - 1) * between
    if min(width, height) <= 0:  # no room for all that
        figure.set_layout_engine("constrained")
        return
    figure.subplots_adjust(
        left=(pad + left[0]) / figure.bbox.width,
        right=1 - (pad + right[-1]) / figure.bbox.width,
        bottom=(pad + notes + below[-1]) / figure.bbox.height,
        top=1 - (pad + title + above[0]) / figure.bbox.height,
        wspace=beside * across / width,
        hspace=between * down / height,
    )
