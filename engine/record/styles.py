"""Styles of plots: sizes, fonts, and how lines are told apart; rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# colours that colour-blind people can distinguish (Okabe and Ito)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES_OF_LINES = ("-", "--", "-.", ":")

Stroke = str | tuple[int, tuple[float, ...]]

# strokes that can be told apart without colours; the darkest colours come first
_BLACK_AND_WHITE: tuple[tuple[str, Stroke], ...] = tuple(
    (colour, stroke)
    for colour, strokes in (
        ("#000000", ("-", (0, (5.0, 1.6)), (0, (1.0, 1.2)), (0, (6.0, 1.4, 1.0, 1.4)))),
        ("#0072B2", ((0, (3.0, 1.2, 1.0, 1.2, 1.0, 1.2)), (0, (9.0, 2.0)), (0, (2.2, 2.2)))),
        ("#D55E00", ((0, (9.0, 1.5, 3.0, 1.5)), (0, (1.0, 2.8)), (0, (4.0, 1.2, 4.0, 4.0)))),
    )
    for stroke in strokes
)
_COLOURED: tuple[tuple[str, Stroke], ...] = tuple((c, stroke) for stroke in STYLES_OF_LINES for c in COLOURS)


@dataclass(frozen=True)
class Fonts:
    """Sizes in points."""

    figure: float = 12
    panel: float = 10
    axis: float = 9
    tick: float = 8
    legend: float = 8


@dataclass(frozen=True)
class Style:
    """How figures look; lengths are inches."""

    about: str
    single: tuple[float, float]  # width and height of a figure with one panel
    panel: tuple[float, float]  # of each panel among others
    overlay: tuple[float, float]  # of each panel in which lines of different joints are together
    width: float | None = None  # of every figure, whatever is in it
    most_across: int = 4  # panels side by side
    fonts: Fonts = Fonts()
    line: float = 1.4
    strokes: tuple[tuple[str, Stroke], ...] = _COLOURED
    titled: bool = True  # whether figures have titles; in a paper the caption says it
    beside: bool = True  # whether long legends stand at the right, else above
    form: str = "png"  # of files, if nothing else is asked for
    dpi: int = 110  # of files of pixels

    def look(self, n: int, count: int) -> dict[str, Any]:
        """The colour and stroke of line n out of `count`."""
        if count <= len(self.strokes):
            colour, stroke = self.strokes[n]
            return {"color": colour, "linestyle": stroke, "linewidth": self.line}
        from matplotlib import colormaps

        shade = colormaps["viridis"](0.93 * n / (count - 1))
        return {"color": shade, "linestyle": "-", "linewidth": self.line - 0.4}

    @property
    def letters(self) -> Mapping[str, Any]:
        """What matplotlib is told while figures are written: letters stay letters."""
        return {"pdf.fonttype": 42, "svg.fonttype": "none"} if self.form != "png" else {}


STYLES = {
    "screen": Style("for screens and slides, in colour", (6.4, 4.2), (4.0, 2.7), (8.4, 3.9)),
    "paper": Style(
        "a column of a paper, 86 mm wide: small letters, lines told apart without colours, no titles, PDF",
        single=(3.39, 2.2),
        panel=(1.69, 1.35),
        overlay=(3.39, 1.9),
        width=3.39,
        most_across=2,
        fonts=Fonts(figure=8, panel=7, axis=7, tick=6, legend=6),
        line=1.0,
        strokes=_BLACK_AND_WHITE,
        titled=False,
        beside=False,
        form="pdf",
        dpi=600,
    ),
}
SCREEN = STYLES["screen"]
