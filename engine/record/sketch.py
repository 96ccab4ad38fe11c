"""A robot as a sketch in space: links as lines, joints as symbols, mass centres, points, frames, gravity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .plots import COLOURS, blank, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, RED, GREEN, LIGHT = COLOURS[0], COLOURS[1], COLOURS[2], "#a5d3f0"
MOST_NAMES = 30  # joints; sketches with more have no names
TURN = np.linspace(0.0, 2 * math.pi, 25)
VIEWS = {None: (24.0, -58.0), 0: (0.0, 0.0), 1: (0.0, -90.0), 2: (90.0, -90.0)}  # elevation, azimuth; across a plane
# symbols, in units of their size: radius, half length and sides of a solid about the axis; how far the axis is drawn
SOLIDS = {
    "revolute": (1.0, 1.0, 24),
    "helical": (0.8, 1.3, 24),
    "cylindrical": (0.8, 1.7, 24),
    "prismatic": (1.2, 1.4, 4),
}
REACH = {"revolute": 2.4, "helical": 3.0, "cylindrical": 3.4, "prismatic": 3.0}
MARKS = {
    "revolute": "o",
    "helical": "8",
    "cylindrical": "p",
    "prismatic": "s",
    "spherical": "h",
    "three-revolutes": "h",
    "universal": "P",
    "planar": "d",
    "free": "X",
    "fixed": ".",
    "point-on-line": "|",
    "point-on-plane": "_",
}


@dataclass(frozen=True)
class DrawnLink:
    """A link as straight pieces, each given by its two ends."""

    name: str
    pieces: list[np.ndarray]
    ground: bool = False


@dataclass(frozen=True)
class DrawnJoint:
    """A joint with its place and axis; `other` is the place of a cut on its second link, if it isn't closed."""

    name: str
    type: str
    at: np.ndarray
    axis: np.ndarray
    actuated: bool = False
    grounded: bool = False
    cut: bool = False
    other: np.ndarray | None = None


@dataclass(frozen=True)
class Sketch:
    """The parts of a sketch, in base axes and metres."""

    name: str
    links: list[DrawnLink]
    joints: list[DrawnJoint]
    slides: list[np.ndarray] = field(default_factory=list)  # from a sliding joint's origin to its present place
    centres: list[tuple[str, float, np.ndarray, np.ndarray]] = field(default_factory=list)  # link, kg, place, origin
    points: list[tuple[str, np.ndarray]] = field(default_factory=list)
    frames: list[tuple[str, np.ndarray]] = field(default_factory=list)  # the base's first
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)


def draw(sketch: Sketch) -> Figure:
    """The figure of a sketch."""
    figure = blank(f"{sketch.name}: initial position", 9.6, 6.6)
    return _Drawing(figure, sketch).figure


class _Drawing:
    """A drawing in progress: its axes, the size of its symbols, and its legend."""

    def __init__(self, figure: Figure, sketch: Sketch):
        self.figure, self.sketch = figure, sketch
        self.axes: Any = figure.add_subplot(projection="3d", computed_zorder=False)
        self.axes.autoscale(enable=False)  # the box is known beforehand
        self.low, self.high = _box(sketch)
        self.size = float((self.high - self.low).max())
        self.unit = 0.028 * self.size
        self.flat = _flat(sketch, self.size)
        self.middle, self.reach = (self.low + self.high) / 2, self._reach()
        self.legend: dict[str, Any] = {}
        for line in sketch.links:
            self._link(line)
        for piece in sketch.slides:
            self._line(piece, "slide of a joint", color="#777777", lw=1.2, linestyle=(0, (4, 2)), zorder=2)
        for name, T in sketch.frames:
            self._frame(name, T)
        for _, _, at, origin in sketch.centres:
            self._line([origin, at], color="#999999", lw=0.6, linestyle=":", zorder=3)
            self._mark(
                at,
                "mass centre",
                marker="o",
                ms=6,
                color="#333333",
                markerfacecoloralt="#ffffff",
                mew=0.8,
                fillstyle="top",
                zorder=8,
            )
        for _, at in sketch.points:
            self._mark(at, "point", marker="D", ms=4, color=GREEN, zorder=8)
        for joint in sketch.joints:
            self._joint(joint)
        self._gravity()
        self._names()
        self._dress()

    # ---- parts

    def _link(self, line: DrawnLink) -> None:
        look: dict[str, Any] = {"color": "#444444", "lw": 3.0, "solid_capstyle": "round", "zorder": 2}
        if line.ground:
            look = {"color": "#b0a090", "lw": 5.0, "solid_capstyle": "butt", "zorder": 1}
        for piece in line.pieces:
            self._line(piece, "ground" if line.ground else "link", **look)

    def _frame(self, name: str, T: np.ndarray) -> None:
        length = 0.09 * self.size if T is self.sketch.frames[0][1] else 0.05 * self.size
        for k, colour in enumerate(("#cc3333", "#339933", "#3355cc")):
            end = T[:3, 3] + length * T[:3, k]
            if np.linalg.norm(self._seen(end) - self._seen(T[:3, 3])) > 0.1 * length:
                self._line([T[:3, 3], end], f"{'xyz'[k]} axes of frames", color=colour, lw=1.1, zorder=4)

    def _joint(self, joint: DrawnJoint) -> None:
        """Draws the symbol of a joint, with its axis and, of a cut that is open, the way across it."""
        colour = RED if joint.cut else BLUE if joint.actuated else "#000000"
        kind = f"{joint.type}{', cut' if joint.cut else ', actuated' if joint.actuated else ''}"
        fill = LIGHT if joint.actuated else "#ffffff"
        if joint.grounded and joint.type != "free":
            look: dict[str, Any] = {"marker": 6, "color": "#b0a090", "mew": 0}
            self.legend.setdefault("on the ground", self._proxy(linestyle="", ms=9, label="on the ground", **look))
            self._mark(joint.at, "on the ground", ms=15, zorder=4, **look)
        shape = MARKS.get(joint.type, "o")
        if joint.other is not None and np.linalg.norm(joint.other - joint.at) > 1e-3 * self.size:
            self._line([joint.at, joint.other], "way across a cut", color=RED, lw=1.2, linestyle=(0, (2, 2)), zorder=5)
        if joint.type in REACH:
            reach = REACH[joint.type] * self.unit
            ends = [joint.at - reach * joint.axis, joint.at + reach * joint.axis]
            self._line(ends, color=colour, lw=0.9, linestyle="-.", zorder=5)
        ring = SOLIDS.get(joint.type)
        if ring and abs(self._towards(joint.axis)) < 0.97:
            self._solid(joint, ring, colour, fill)
            self._mark(None, kind, marker=shape, ms=8, mfc=fill, mec=colour, mew=1.4)
        else:
            self._mark(joint.at, kind, marker=shape, ms=9, mfc=fill, mec=colour, mew=1.5, zorder=6)

    def _solid(self, joint: DrawnJoint, ring: tuple[float, float, int], colour: str, fill: str) -> None:
        """Draws a cylinder or a box about the joint's axis."""
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        radius, half, sides = ring
        across = np.linalg.svd(joint.axis[None])[2][1:]
        turns = TURN if sides > 4 else np.linspace(0.0, 2 * math.pi, 5) + math.pi / 4
        edge = self.unit * radius * (np.outer(np.cos(turns), across[0]) + np.outer(np.sin(turns), across[1]))
        low, high = (joint.at + edge + side * half * self.unit * joint.axis for side in (-1.0, 1.0))
        walls = [np.array([low[k], low[k + 1], high[k + 1], high[k]]) for k in range(len(turns) - 1)]
        for faces in ([low, high], walls):  # separately, since padding of unequal faces isn't always a number
            sheets = Poly3DCollection(faces, facecolors=fill, edgecolors="none", alpha=0.85, zorder=6)
            self.axes.add_collection3d(sheets)
        for loop in (low, high):
            self._line(loop, color=colour, lw=1.1, zorder=7)
        if sides <= 4:
            for a, b in zip(low, high):
                self._line([a, b], color=colour, lw=1.1, zorder=7)
        else:
            side = across[0] if abs(self._towards(across[0])) < abs(self._towards(across[1])) else across[1]
            for sign in (-1.0, 1.0):
                a = joint.at + sign * radius * self.unit * side
                ends = [a - half * self.unit * joint.axis, a + half * self.unit * joint.axis]
                self._line(ends, color=colour, lw=1.1, zorder=7)

    def _gravity(self) -> None:
        """Draws the arrow of gravity."""
        g = np.array(self.sketch.gravity)
        size = float(np.linalg.norm(g))
        if not size:
            return
        length, down = 0.16 * self.size, g / size
        corner = np.array([-1.0, -1.0, 1.0]) if self.flat is None else np.array([1.0, 1.0, 1.0])
        start = self.middle + corner * (self.reach - 0.05 * self.size) - np.maximum(0.0, down * corner) * length
        end = start + length * down
        across = np.cross(self._sight(), down)
        for side in (-0.12, 0.12):
            self._line([end, end - length * (0.3 * down + side * across)], color="#7b3fa0", lw=2.0, zorder=9)
        self._line([start, end], color="#7b3fa0", lw=2.0, zorder=9)
        along = self._towards(down)
        seen = "" if abs(along) < 0.97 else ", towards the eye" if along > 0 else ", away from the eye"
        label = f"gravity, {size:.4g} m/s²{seen}"
        self.legend["gravity"] = self._proxy(color="#7b3fa0", lw=2.0, marker=">", ms=6, label=label)

    def _names(self) -> None:
        """Writes the names of joints in the colour of their symbols, and those of links in italics."""
        if len(self.sketch.joints) > MOST_NAMES:
            return
        groups: list[tuple[np.ndarray, list[DrawnJoint]]] = []
        for joint in self.sketch.joints:
            home = next((g for at, g in groups if np.linalg.norm(self._seen(at - joint.at)) < 0.05 * self.size), None)
            if home is None:
                groups.append((joint.at, [joint]))
            else:
                home.append(joint)
        for at, joints in groups:
            text = ", ".join(joint.name for joint in joints)
            cut = any(joint.cut for joint in joints)
            self._text(at, plain(text, 30), (9, 7), color=RED if cut else "#000000", fontsize=9)
        for line in self.sketch.links:
            longest = max(line.pieces, key=lambda piece: float(np.linalg.norm(piece[1] - piece[0])), default=None)
            if not line.ground and longest is not None and np.linalg.norm(longest[1] - longest[0]) > 0.15 * self.size:
                self._text(
                    longest.mean(axis=0), plain(line.name, 24), (6, -11), color="#666666", fontsize=8, style="italic"
                )
        for name, at in self.sketch.points:
            self._text(at, plain(name, 24), (7, -12), color=GREEN, fontsize=8)

    def _reach(self) -> np.ndarray:
        """Half the lengths of the visible box."""
        reach: np.ndarray = (self.high - self.low) / 2
        least = np.full(3, 0.22)
        if self.flat is not None:
            least[self.flat] = 0.02
        reach = np.maximum(reach, least * self.size) * 1.12 + 0.04 * self.size
        if self.flat is not None:
            reach[1 if self.flat == 0 else 0] += 0.09 * self.size  # for the arrow of gravity
        return reach

    def _dress(self) -> None:
        """Sets the ranges, the labels and the view, and adds the legend."""
        axes = self.axes
        middle, reach = self.middle, self.reach
        for k, letter in enumerate("xyz"):
            getattr(axes, f"set_{letter}lim")(middle[k] - reach[k], middle[k] + reach[k])
            getattr(axes, f"set_{letter}label")(f"{letter} (m)", fontsize=9)
        axes.set_box_aspect(reach, zoom=1.1 if self.flat is not None else 0.95)
        axes.tick_params(labelsize=8)
        axes.set_proj_type("ortho")
        axes.view_init(*VIEWS[self.flat])
        if self.flat is not None:
            hidden = "xyz"[self.flat]
            getattr(axes, f"set_{hidden}ticks")([])
            getattr(axes, f"set_{hidden}label")("")
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.pane.set_facecolor("#fbfbfb")
            axis._axinfo["grid"].update(color="#e4e4e4", linewidth=0.6)
        axes.locator_params(nbins=6)
        self.figure.legend(
            handles=list(self.legend.values()), fontsize=8, loc="outside right center", frameon=False, labelspacing=0.7
        )

    # ---- tools

    def _line(self, ends: Sequence[np.ndarray] | np.ndarray, label: str = "", **look: Any) -> None:
        self.axes.plot(*np.array(ends).T, **look)
        if label and label not in self.legend:
            self.legend[label] = self._proxy(**look, label=label)

    def _mark(self, at: np.ndarray | None, label: str, **look: Any) -> None:
        if at is not None:
            self.axes.plot([at[0]], [at[1]], [at[2]], linestyle="", **look)
        if label not in self.legend:
            self.legend[label] = self._proxy(linestyle="", **look, label=label)

    @staticmethod
    def _proxy(**look: Any) -> Any:
        from matplotlib.lines import Line2D

        return Line2D([], [], **look)

    def _text(self, at: np.ndarray, text: str, shift: tuple[float, float], **look: Any) -> None:
        from matplotlib.patheffects import withStroke

        right = np.cross([0.0, 0.0, 1.0] if self.flat != 2 else [0.0, 1.0, 0.0], self._sight())
        up = np.cross(self._sight(), right)
        place = at + (shift[0] * right / np.linalg.norm(right) + shift[1] * up / np.linalg.norm(up)) * self.size / 420
        self.axes.text(*place, text, zorder=10, path_effects=[withStroke(linewidth=2.5, foreground="w")], **look)

    def _seen(self, v: np.ndarray) -> np.ndarray:
        """The part of a vector that is perpendicular to the line of sight."""
        sight = self._sight()
        across: np.ndarray = v - (v @ sight) * sight
        return across

    def _towards(self, v: np.ndarray) -> float:
        """The cosine of the angle between a direction and the line of sight."""
        return float(v @ self._sight())

    def _sight(self) -> np.ndarray:
        elevation, azimuth = (math.radians(angle) for angle in VIEWS[self.flat])
        c = math.cos(elevation)
        return np.array([c * math.cos(azimuth), c * math.sin(azimuth), math.sin(elevation)])


def _places(sketch: Sketch) -> np.ndarray:
    places = [np.zeros(3), *(joint.at for joint in sketch.joints), *(at for _, at in sketch.points)]
    places += [end for line in sketch.links for piece in line.pieces for end in piece]
    places += [at for _, _, at, _ in sketch.centres] + [
        joint.other for joint in sketch.joints if joint.other is not None
    ]
    return np.array(places)


def _box(sketch: Sketch) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the box around the sketch."""
    places = _places(sketch)
    low, high = places.min(axis=0), places.max(axis=0)
    reach = float((high - low).max()) or 1.0
    return (low, high) if (high > low).any() else (low - reach / 2, high + reach / 2)


def _flat(sketch: Sketch, size: float) -> int | None:
    """The axis (0, 1, 2) that is normal to a plane mechanism, or None for others."""
    places = _places(sketch)
    for k in (2, 1, 0):
        plane = (abs(places[:, k] - places[0, k]) < 1e-6 * size).all()
        turning = [joint.axis for joint in sketch.joints if joint.type == "revolute"]
        if plane and turning and all(abs(axis[k]) > 1 - 1e-9 for axis in turning):
            return k
    return None
