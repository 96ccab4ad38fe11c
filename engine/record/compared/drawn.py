"""What is drawn: a renderer that notes colours, strokes, markers, fills and words, in their order, and no pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.backend_bases import GraphicsContextBase
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path as Curve
    from matplotlib.text import Text
    from matplotlib.transforms import Transform
    from matplotlib.typing import ColorType
    from numpy.typing import ArrayLike

    Mathematical = bool | Literal["TeX"]

LINE, PANEL = "line2d", "axes"  # groups, by the names that matplotlib gives them
LETTER = 0.55  # a letter's width by its height, whatever fonts there are: places of words aren't compared


@dataclass(frozen=True)
class Mark:
    """Something that is drawn: in which panel, within which groups, how, and its points in pixels or its words."""

    panel: int | None
    groups: tuple[str, ...]
    look: str
    points: np.ndarray
    words: str = ""


class _Recorder(RendererBase):
    """A renderer of matplotlib; its marks are those of a file of any format."""

    def __init__(self, width: float, height: float, dpi: float) -> None:
        super().__init__()
        self._size, self._dpi = (width, height), dpi
        self._groups: list[str] = []
        self._panels = -1
        self.lines: dict[int, list[list[Mark]]] = {}  # by panel, for each line that is drawn
        self.marks: list[Mark] = []

    def open_group(self, s: str, gid: str | None = None) -> None:
        self._panels += s == PANEL
        self._groups.append(s)
        if self._groups[-2:] == [PANEL, LINE]:
            self.lines.setdefault(self._panels, []).append([])

    def close_group(self, s: str) -> None:
        self._groups.pop()

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self._size

    def points_to_pixels(self, points: ArrayLike) -> ArrayLike:
        return np.asarray(points) * self._dpi / 72

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: Mathematical
    ) -> tuple[float, float, float]:
        size = prop.get_size_in_points() * self._dpi / 72
        return LETTER * size * len(s), size, size / 4

    def draw_path(
        self, gc: GraphicsContextBase, path: Curve, transform: Transform, rgbFace: ColorType | None = None
    ) -> None:
        self._note(f"{_stroke(gc)}{_fill(rgbFace)}", transform.transform(path.vertices))

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Curve,
        marker_trans: Transform,
        path: Curve,
        trans: Transform,
        rgbFace: ColorType | None = None,
    ) -> None:
        width, height = np.ptp(marker_trans.transform(marker_path.vertices), axis=0) * 72 / self._dpi
        shape = f"markers of {np.shape(marker_path.vertices)[0]} points, {width:.3g} × {height:.3g}"
        self._note(f"{shape}, {_stroke(gc)}{_fill(rgbFace)}", trans.transform(path.vertices))

    def draw_image(self, gc: GraphicsContextBase, x: float, y: float, im: ArrayLike, transform: object = None) -> None:
        self._note(f"an image of {np.shape(im)[1]} × {np.shape(im)[0]}", np.array([[x, y]]))

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Mathematical = False,
        mtext: Text | None = None,
    ) -> None:
        kind = [str(own) for own in (prop.get_weight(), prop.get_style()) if own != "normal"]
        turned = [f"{angle:g}°"] if angle else []
        look = " ".join([_colour(gc.get_rgb()), f"{prop.get_size_in_points():g}", *kind, *turned])
        self._note(look, np.array([[x, y]]), s)

    def _note(self, look: str, points: np.ndarray, words: str = "") -> None:
        panel = self._panels if PANEL in self._groups else None
        within = self._groups[self._groups.index(PANEL) + 1 :] if panel is not None else self._groups[1:]
        mark = Mark(panel, tuple(within), look, np.asarray(points, dtype=float), words)
        if panel is not None and within == [LINE]:
            self.lines[panel][-1].append(mark)
        else:
            self.marks.append(mark)


def _colour(colour: ColorType) -> str:
    return to_hex(colour, keep_alpha=to_rgba(colour)[3] < 1)


def _stroke(gc: GraphicsContextBase) -> str:
    """The colour and width of a stroke in points, and its dashes."""
    width, (offset, dashes) = gc.get_linewidth(), gc.get_dashes()
    if not width:
        return "no stroke"
    broken = "" if dashes is None else f", dashes {' '.join(f'{x:.4g}' for x in (offset, *np.asarray(dashes)))}"
    return f"{_colour(gc.get_rgb())} {width:.4g}{broken}"


def _fill(face: ColorType | None) -> str:
    return "" if face is None else f", filled {_colour(face)}"


def marks_of_figure(figure: Figure) -> tuple[dict[int, list[list[Mark]]], list[Mark]]:
    """What drawing a figure draws: for each panel its lines, in their order, and all the rest.

    Panels stand where they do before room is made for labels, which depends on fonts.
    """
    recorder = _Recorder(*figure.bbox.size, figure.dpi)
    Figure.draw(figure, recorder)
    return recorder.lines, recorder.marks
