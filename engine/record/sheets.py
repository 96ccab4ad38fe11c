"""Figures one below the other on the pages of a PDF: A4, upright, with a line at the foot of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .plots import blank_figure, plain_plot_text
from .styles import SCREEN, Fonts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

A4 = (8.27, 11.69)  # inches
MARGIN, FOOT = 0.6, 0.35
WIDTH, HEIGHT = A4[0] - 2 * MARGIN, A4[1] - 2 * MARGIN - FOOT  # what a page holds
LETTERS, LINE = 108, 0.145  # of a line of letters of one width, and its height
FEW = 24  # lines of text that stay together
TEXT, GAP = "text", 0.12  # what goes on in the next figure, and the gap below others
SHEET = replace(  # of plots on such pages: all as wide as these are, with letters of the same sizes
    SCREEN,
    single=(WIDTH, 2.9),
    panel=(WIDTH / 3, 1.75),
    overlay=(WIDTH, 2.9),
    width=WIDTH,
    most_across=3,
    fonts=Fonts(figure=10, panel=8, axis=7.5, tick=7, legend=7),
    line=1.1,
    beside=False,
    form="pdf",
)


def text_on_sheets(title: str, lines: Iterable[str], *, table: bool = False) -> Iterator[Figure]:
    """A heading and lines, in letters of one width for a `table`; long ones go on in the next line."""
    import textwrap

    broken = [part for line in lines for part in textwrap.wrap(line, LETTERS, subsequent_indent="    ") or [""]]
    look: dict[str, Any] = {"family": "monospace", "fontsize": 7.5} if table else {"fontsize": 9}
    step = LINE * look["fontsize"] / 7.5
    for first in range(0, max(len(broken), 1), FEW):
        head = 0.0 if first else 0.5
        shown = broken[first : first + FEW]
        figure = blank_figure("", WIDTH, head + step * len(shown), None)
        if not first:
            high = 1.0 - 0.15 / figure.get_figheight()
            figure.text(0.0, high, plain_plot_text(title, 90), fontsize=11, weight="bold", va="top")
        for k, line in enumerate(shown):
            below = 1.0 - (head + step * k) / figure.get_figheight()
            figure.text(0.0, below, plain_plot_text(line, 400), va="top", **look)
        figure.set_label(TEXT)
        yield figure


def write_sheets(path: Path, figures: Iterable[Figure], foot: str) -> None:
    """Writes the figures, as large as they are or as the pages allow."""
    from matplotlib.backends import backend_pdf

    pdf: Any = backend_pdf  # without types
    file = pdf.PdfFile(path, metadata={"CreationDate": None})
    try:
        left, page = 0.0, 0
        for figure in figures:
            width, height = figure.get_size_inches()
            scale = min(1.0, WIDTH / width, HEIGHT / height)
            if not page or scale * height > left:
                page, left = page + 1, HEIGHT
                file.newPage(*A4)
                line = blank_figure("", WIDTH, FOOT, None)
                line.text(0.0, 0.0, plain_plot_text(foot, 400), fontsize=7, color="#555555")
                line.text(1.0, 0.0, str(page), fontsize=7, color="#555555", ha="right")
                _draw(file, line, MARGIN, MARGIN, 1.0)
            left -= scale * height
            _draw(file, figure, MARGIN + (WIDTH - scale * width) / 2, MARGIN + FOOT + left, scale)
            left -= 0.0 if figure.get_label() == TEXT else GAP
        file.finalize()
    finally:
        file.close()


def _draw(file: Any, figure: Figure, x: float, y: float, scale: float) -> None:
    """Draws a figure on the page, its lower left corner at x and y in inches."""
    from matplotlib.backends import backend_pdf

    from .arranged import Arranged, missing_letters_as_boxes

    figure.set_dpi(72)  # points to an inch
    if isinstance(figure, Arranged):
        figure.arrange()
        figure.arrange()  # low panels have other ticks then
    width, height = figure.get_size_inches()
    pdf: Any = backend_pdf  # without types
    file.output(pdf.Op.gsave, scale, 0, 0, scale, 72 * x, 72 * y, pdf.Op.concat_matrix)
    renderer = pdf.RendererPdf(file, 72, height, width)
    figure.patch.set_visible(False)
    with missing_letters_as_boxes():
        figure.draw(renderer)
    renderer.finalize()
    file.output(pdf.Op.grestore)
