"""A machine as a sketch: its solids and its joints' symbols, drawn on paper from one side, the farther ones first.

What moves in one plane is seen along its normal, with axes in metres; everything else is seen obliquely from above,
with a scale and the directions of the base's axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .labels import Box, placed
from .plots import COLOURS, plain
from .scene import BASE, Point, Poses, Scene, SceneJoint, Solid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT, LEGEND = 9.6, 6.6, 2.1  # inches
MARGINS = (0.65, 0.15, 0.55, 0.45)  # left, between picture and legend, below, above
AZIMUTH, ELEVATION = np.deg2rad(-58.0), np.deg2rad(24.0)
BLUE, RED, GREEN, VIOLET = COLOURS[0], COLOURS[1], COLOURS[2], "#7b3fa0"
LIGHT, LINK, EDGE, EARTH = "#a5d3f0", "#c9ced6", "#4a5360", "#a08f78"
XYZ = ("#cc3333", "#2e8b3d", "#3355cc")
SYMBOL = 0.020  # a joint symbol's size, as a share of the machine's
MOST_NAMES = 40  # joints; sketches with more have no names
MOST_WORDS = 14  # joints; beyond that, numbers stand beside the symbols, and the names in the legend
FONT = 8.5
TURN = np.linspace(0.0, 2 * np.pi, 33)
WORDS = {"point-on-line": "point on a line", "point-on-plane": "point on a plane", "three-revolutes": "spherical"}


def draw(
    scene: Scene, poses: Poses, k: int = 0, state: str = "initial position", *, room: np.ndarray | None = None
) -> Figure:
    """The figure of a scene in its position k, which the title calls `state`; equal `room` gives equal scales."""
    return _Sketch(scene, poses, k, state, room).figure


def reached(scene: Scene, poses: Poses) -> np.ndarray:
    """The places in space where the solids of the links are in any of the positions."""
    ends = [(part.name, at) for part in scene.parts[1:] for solid in part.solids for at in solid.points]
    return np.concatenate([poses.seen_from(ends, k) for k in range(len(poses.frames))])


@dataclass(frozen=True)
class _Look:
    """The directions of the picture in space: to the right, up, and away from the eye."""

    right: np.ndarray
    up: np.ndarray
    away: np.ndarray

    @classmethod
    def of(cls, scene: Scene) -> _Look:
        up = np.array(scene.up)
        if scene.flat is not None:
            away = -np.array(scene.flat)
            if abs(up @ away) > 0.5:  # gravity acts across the plane
                up = np.eye(3)[int(np.argsort(abs(away))[0])]
        else:
            first = np.eye(3)[int(np.argmin(abs(up)))]
            first = first - (first @ up) * up
            first /= np.linalg.norm(first)
            side = np.cross(up, first)
            level = np.cos(AZIMUTH) * first + np.sin(AZIMUTH) * side  # where the eye is
            away = -(np.cos(ELEVATION) * level + np.sin(ELEVATION) * up)
        right = np.cross(away, up)
        right = right / np.linalg.norm(right)
        return cls(right, np.cross(right, away), away)

    def flat(self, places: np.ndarray) -> np.ndarray:
        """Points of space as points of the picture."""
        return np.stack([places @ self.right, places @ self.up], axis=-1)


class _Sketch:
    """A sketch in progress: its axes, its scale, the pieces that wait for being drawn, and its legend."""

    def __init__(self, scene: Scene, poses: Poses, k: int, state: str, room: np.ndarray | None):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.scene, self.look, self.frames = scene, _Look.of(scene), poses.of(k)
        self.unit = SYMBOL * scene.size
        self.figure = Figure(figsize=(WIDTH, HEIGHT))
        FigureCanvasAgg(self.figure)
        left, between, below, above = MARGINS
        area = (
            left / WIDTH,
            below / HEIGHT,
            (WIDTH - left - between - LEGEND) / WIDTH,
            (HEIGHT - below - above) / HEIGHT,
        )
        self.axes: Any = self.figure.add_axes(area)
        self.figure.text(left / WIDTH, 1 - 0.3 / HEIGHT, plain(f"{scene.name}: {state}", 90), fontsize=12, va="center")
        self.pieces: list[tuple[float, Callable[[], object]]] = []
        self.seen: list[np.ndarray] = []  # points of the picture that have to be within its frame
        self.taken: list[np.ndarray] = []  # points around what labels had better not cover
        self.legend: dict[str, Any] = {}
        self.numbers: list[str] = []  # of joints, with their names
        self._links()
        self._joints()
        self._frames()
        self._points()
        if room is not None:
            margin = 5 * self.unit * np.array([[-1.0, -1.0], [1.0, 1.0]])  # what symbols need, whatever their position
            self.seen = [self.look.flat(room) + corner for corner in margin]
        self._frame()
        for _, piece in sorted(self.pieces, key=lambda one: -one[0]):
            piece()
        self._gravity()
        self._names()
        self._dress()

    # ---- parts

    def _links(self) -> None:
        for part in self.scene.parts:
            T = self.frames[part.name]
            for solid in part.solids:
                self._solid(solid, T)
            if part.centre is not None and part.mass and not part.ghost:
                self._centre(_moved(T, [part.centre])[0])

    def _solid(self, solid: Solid, T: np.ndarray) -> None:
        """Draws a solid of a link that is at T."""
        places = _moved(T, solid.points if solid.kind != "ground" else solid.points[:1])
        if solid.kind == "ground":
            self._pivot(places[0], np.array(solid.points[1]), solid.radius)
        elif solid.kind == "plate":
            middle = places.mean(axis=0)
            rim = self.look.flat(middle + (places - middle) * (1 + solid.radius / abs(places - middle).max()))
            self._patch(places, rim, "link", facecolor="#dde1e7", edgecolor=EDGE, lw=1.0, alpha=0.9)
        elif solid.kind == "rail":
            ends = self.look.flat(places)
            self._stroke(places, ends, "guide of a slider", color=EDGE, lw=1.0, linestyle=(0, (5, 2)))
        else:
            if np.ptp(places, axis=0).max(initial=0.0) == 0:
                rim = self.look.flat(places[:1]) + solid.radius * np.stack([np.cos(TURN), np.sin(TURN)], axis=-1)
            else:
                rim = _capsule(self.look.flat(places), solid.radius)
            label = "rod to a mass centre" if solid.kind == "thin" else "link"
            colour = {"tube": "#b4bbc6", "thin": "#e9ebee"}.get(solid.kind, LINK)
            self._patch(places, rim, label, facecolor=colour, edgecolor=EDGE, lw=0.5 if solid.kind == "thin" else 0.9)

    def _pivot(self, at: np.ndarray, down: np.ndarray, size: float) -> None:
        """Draws the symbol of the ground: a triangle below the pivot, on a hatched line."""
        foot = self.look.flat(down[None])[0]
        foot = foot / np.linalg.norm(foot) if np.linalg.norm(foot) > 0.3 else np.array([0.0, -1.0])
        along = np.array([-foot[1], foot[0]])
        top = self.look.flat(at[None])[0]
        corners = np.array(
            [top, top + 1.7 * size * foot + 1.1 * size * along, top + 1.7 * size * foot - 1.1 * size * along]
        )
        behind = at + 2 * self.unit * self.look.away
        self._patch(behind[None], corners, "ground", facecolor="#efe8dc", edgecolor=EARTH, lw=1.1)
        base = top + 1.7 * size * foot
        strokes = [[base - 1.5 * size * along, base + 1.5 * size * along]]
        for share in np.linspace(-1.3, 1.3, 6):
            start = base + share * size * along
            strokes.append([start, start + 0.5 * size * (foot - 0.7 * along)])
        for stroke in strokes:
            self._stroke(behind[None], np.array(stroke), color=EARTH, lw=1.0)

    def _centre(self, at: np.ndarray) -> None:
        """Draws the symbol of a mass centre."""
        spot = self.look.flat(at[None])
        near = at - 3 * self.unit * self.look.away
        look: dict[str, Any] = {
            "marker": "o",
            "ms": 5.5,
            "color": "#333333",
            "markerfacecoloralt": "#ffffff",
            "mew": 0.7,
            "fillstyle": "top",
        }
        self._mark(near, spot, "mass centre", **look)

    def _joints(self) -> None:
        for joint in self.scene.joints:
            T = self.frames[joint.carrier]
            at, axes = _moved(T, [joint.at])[0], T[:3, :3] @ np.array(joint.axes)
            colour = RED if joint.cut else BLUE if joint.actuated else "#222222"
            fill = LIGHT if joint.actuated else "#ffd9c2" if joint.cut else "#ffffff"
            word = WORDS.get(joint.type, joint.type)
            kind = word + (", cut" if joint.cut else ", actuated" if joint.actuated else "")
            if joint.type != "free" and not joint.ghost:
                self.taken.append(self.look.flat(at[None]) + 1.5 * self.unit * np.array([[-1.0, -1.0], [1.0, 1.0]]))
                self._symbol(joint, at, axes, {"edgecolor": colour, "facecolor": fill, "lw": 1.2}, kind)

    def _symbol(self, joint: SceneJoint, at: np.ndarray, axes: np.ndarray, look: dict[str, Any], kind: str) -> None:
        """Draws the symbol of a joint; seen along its axis, one that turns is a circle."""
        unit, axis = self.unit, axes[:, 2]
        thin = {"color": look["edgecolor"], "lw": 0.8}
        if joint.radius and joint.type == "rolling":
            self._cylinder(at, axis, joint.radius, 0.08 * joint.radius, kind, look)
        elif joint.radius:
            self._ball(at, joint.radius, kind, look)
        elif joint.type in ("prismatic", "planar", "fixed"):
            half = {"prismatic": (1.5, 1.5, 2.0), "planar": (2.2, 2.2, 0.5), "fixed": (0.7, 0.7, 0.7)}[joint.type]
            self._box(at, axes, unit * np.array(half), kind, look)
        elif joint.type in ("revolute", "helical", "cylindrical"):
            radius, half_length = {"revolute": (1.1, 1.3), "helical": (0.9, 2.2), "cylindrical": (1.0, 2.6)}[joint.type]
            self._cylinder(at, axis, unit * radius, unit * half_length, kind, look)
            if joint.type == "helical":
                self._thread(at, axes, unit * radius, unit * half_length, thin)
        else:
            self._ball(at, unit * 1.25, kind, look)
            if joint.type == "universal":
                for k in (0, 1):
                    ends = np.array([at - 2.2 * unit * axes[:, k], at + 2.2 * unit * axes[:, k]])
                    self._stroke(at[None] - 3 * unit * self.look.away, self.look.flat(ends), **(thin | {"lw": 1.6}))

    def _cylinder(
        self, at: np.ndarray, axis: np.ndarray, radius: float, half: float, kind: str, look: dict[str, Any]
    ) -> None:
        across = np.linalg.svd(axis[None])[2][1:]
        rim = radius * (np.outer(np.cos(TURN), across[0]) + np.outer(np.sin(TURN), across[1]))
        ends = [self.look.flat(at + rim + sign * half * axis) for sign in (-1.0, 1.0)]
        near = at - 2 * self.unit * self.look.away
        self._patch(near[None], _hull(np.concatenate(ends)), kind, **look)
        front = ends[int(axis @ self.look.away < 0)]
        self._patch(near[None] - 0.1 * self.unit * self.look.away, front, **(look | {"lw": 0.9}))
        if abs(axis @ self.look.away) > 0.97:  # seen along the axis: a dot in its middle
            self._mark(
                near - self.unit * self.look.away, self.look.flat(at[None]), marker=".", ms=4, color=look["edgecolor"]
            )
        else:
            line = self.look.flat(np.array([at - 2.6 * half * axis, at + 2.6 * half * axis]))
            self._stroke(at[None], line, color=look["edgecolor"], lw=0.8, linestyle=(0, (6, 2, 1, 2)))

    def _thread(self, at: np.ndarray, axes: np.ndarray, radius: float, half: float, look: dict[str, Any]) -> None:
        """Draws the thread of a screw around its cylinder."""
        turns = np.linspace(0.0, 6 * np.pi, 100)
        around = radius * (np.outer(np.cos(turns), axes[:, 0]) + np.outer(np.sin(turns), axes[:, 1]))
        line = at + around + np.outer(np.linspace(-half, half, 100), axes[:, 2])
        hidden = around @ self.look.away > 0
        flat = np.where(hidden[:, None], np.nan, self.look.flat(line))
        self._stroke(at[None] - 3 * self.unit * self.look.away, flat, **look)

    def _box(self, at: np.ndarray, axes: np.ndarray, half: np.ndarray, kind: str, look: dict[str, Any]) -> None:
        """Draws the sides of a box that can be seen."""
        near = at - 2 * self.unit * self.look.away
        for k in range(3):
            towards = -np.sign(axes[:, k] @ self.look.away) or 1.0
            if abs(axes[:, k] @ self.look.away) < 1e-3:
                continue
            a, b = (axes[:, j] * half[j] for j in range(3) if j != k)
            face = at + towards * half[k] * axes[:, k] + np.array([a + b, a - b, -a - b, b - a])
            self._patch(near[None], self.look.flat(face), kind, **look)

    def _ball(self, at: np.ndarray, radius: float, kind: str, look: dict[str, Any]) -> None:
        rim = self.look.flat(at[None]) + radius * np.stack([np.cos(TURN), np.sin(TURN)], axis=-1)
        near = (at - 2 * self.unit * self.look.away)[None]
        self._patch(near, rim, kind, **look)

    def _frames(self) -> None:
        """Draws the axes of all links' frames; those of the base are longer."""
        for part in self.scene.parts:
            if part.ghost:
                continue
            T = self.frames[part.name]
            length = (3.6 if part.name == BASE else 2.4) * self.unit
            for k, colour in enumerate(XYZ):
                ends = self.look.flat(np.array([T[:3, 3], T[:3, 3] + length * T[:3, k]]))
                if np.linalg.norm(ends[1] - ends[0]) > 0.15 * length:
                    near = T[:3, 3] - 4 * self.unit * self.look.away
                    self._stroke(near[None], ends, f"{'xyz'[k]} axes of frames", color=colour, lw=1.3)

    def _points(self) -> None:
        for point in self.scene.points:
            at = _moved(self.frames[point.link], [point.at])[0]
            near = at - 4 * self.unit * self.look.away
            self._mark(near, self.look.flat(at[None]), "point", marker="D", ms=3.5, color=GREEN)

    # ---- the picture

    def _frame(self) -> None:
        """Sets the ranges, so that everything is within them and a metre is as long upwards as to the right."""
        from matplotlib.transforms import Bbox

        seen = np.concatenate(self.seen) if self.seen else np.zeros((1, 2))
        low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
        area: Bbox = self.axes.get_position()
        inches = np.array([area.width * WIDTH, area.height * HEIGHT])
        room = inches - np.array([0.9, 0.6])  # for labels at the rim
        self.scale = float((room / np.maximum(high - low, 1e-3 * self.scene.size)).min())  # inches a metre
        self.middle, half = (low + high) / 2, inches / self.scale / 2
        self.low = self.middle - half
        self.axes.set_xlim(self.middle[0] - half[0], self.middle[0] + half[0])
        self.axes.set_ylim(self.middle[1] - half[1], self.middle[1] + half[1])
        self.inches = inches

    def _gravity(self) -> None:
        """Draws gravity, a scale and the directions of the base's axes into the corners."""
        g = np.array(self.scene.gravity)
        size = float(np.linalg.norm(g))
        inch = 1 / self.scale
        high = self.low + self.inches * inch
        if size:
            along, seen = g / size, float(np.linalg.norm(self.look.flat(g[None] / size)[0]))
            label = f"gravity, {size:.4g} m/s²"
            if seen > 0.25:
                start = np.array([high[0] - 0.25 * inch, high[1] - 0.2 * inch])
                end = start + 0.55 * inch * self.look.flat(along[None])[0]
                look = {"arrowstyle": "-|>", "color": VIOLET, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
                self.axes.annotate("", end, start, arrowprops=look)
                self.taken.append(np.array([start, end]))
            else:
                label += ", towards the eye" if along @ self.look.away < 0 else ", away from the eye"
            self.legend["gravity"] = _proxy(color=VIOLET, lw=1.8, marker=">", ms=5, label=label)
        if self.scene.flat is None:
            self._corner(inch)

    def _corner(self, inch: float) -> None:
        """Draws the directions of the base's axes, and a scale."""
        home = self.low + np.array([0.45, 0.4]) * inch
        for k, colour in enumerate(XYZ):
            end = home + 0.34 * inch * self.look.flat(np.eye(3)[k][None])[0]
            self.axes.plot(*np.array([home, end]).T, color=colour, lw=1.6)
            past = home + 1.3 * (end - home)
            self.axes.text(*past, "xyz"[k], color=colour, fontsize=9, ha="center", va="center")
        length = _round(0.9 * inch)
        start = self.low + np.array([1.2, 0.2]) * inch
        self.axes.plot([start[0], start[0] + length], [start[1]] * 2, color="#555555", lw=2.0, solid_capstyle="butt")
        self.axes.text(
            start[0] + length / 2, start[1] + 0.06 * inch, f"{length:g} m", fontsize=8, ha="center", va="bottom"
        )

    def _names(self) -> None:
        """Writes the names of joints and named points; where they are many, numbers, whose names are in the legend."""
        joints = [joint for joint in self.scene.joints if not joint.ghost and joint.type != "fixed"]
        if not joints or len(joints) > MOST_NAMES:
            return
        numbered = len(joints) > MOST_WORDS
        texts, places, colours = [], [], []
        at = [self._paper(_moved(self.frames[joint.carrier], [joint.at])) for joint in joints]
        for group in _together(np.concatenate(at), 4.0):
            names = [str(k + 1) if numbered else plain(joints[k].name, 30) for k in group]
            texts.append(", ".join(names))
            places.append(at[group[0]][0])
            colours.append(
                RED if any(joints[k].cut for k in group) else BLUE if joints[group[0]].actuated else "#000000"
            )
        if len(joints) + len(self.scene.points) <= MOST_WORDS:
            for point in self.scene.points:
                texts.append(plain(point.name, 24))
                places.append(self._paper(_moved(self.frames[point.link], [point.at]))[0])
                colours.append(GREEN)
        points = 72 * self.inches
        frame = Box(points[0] / 2, points[1] / 2, points[0] / 2, points[1] / 2)
        taken = [_around(self._points_of(spots)) for spots in self.taken]
        for label, colour, place in zip(placed(texts, np.array(places), FONT, taken, frame), colours, places):
            self._label(label.text, label.box, colour, place if label.far else None)
        if numbered:
            self.numbers = [f"{k}  {joint.name}" for k, joint in enumerate(joints, start=1)]

    def _label(self, text: str, box: Box, colour: str, leads_to: np.ndarray | None) -> None:
        from matplotlib.patheffects import withStroke

        at = self.low + np.array([box.x, box.y]) / 72 / self.scale
        if leads_to is not None:
            end = self.low + leads_to / 72 / self.scale
            self.axes.plot(*np.array([at, end]).T, color="#888888", lw=0.6, zorder=9)
        effects = [withStroke(linewidth=2.5, foreground="w")]
        self.axes.text(
            *at, text, color=colour, fontsize=FONT, ha="center", va="center", zorder=10, path_effects=effects
        )

    def _paper(self, places: np.ndarray) -> np.ndarray:
        """Places in space as points (1/72 inch) of the picture."""
        return self._points_of(self.look.flat(places))

    def _points_of(self, flat: np.ndarray) -> np.ndarray:
        points: np.ndarray = (flat - self.low) * self.scale * 72
        return points

    def _dress(self) -> None:
        """Gives a plane picture its axes in metres, and adds the legend."""
        axes = self.axes
        if self.scene.flat is None:
            axes.set_axis_off()
        else:
            for k, side in ((0, "x"), (1, "y")):
                direction = (self.look.right, self.look.up)[k]
                letter = int(abs(direction).argmax())
                sign = "" if direction[letter] > 0 else "−"
                getattr(axes, f"set_{side}label")(f"{sign}{'xyz'[letter]} (m)", fontsize=9)
            axes.tick_params(labelsize=8)
            axes.grid(visible=True, color="#eeeeee", lw=0.6)
            axes.set_axisbelow(True)
        right = (WIDTH - LEGEND) / WIDTH
        self.figure.legend(
            handles=list(self.legend.values()),
            fontsize=8,
            loc="upper left" if self.numbers else "center left",
            bbox_to_anchor=(right, 0.94 if self.numbers else 0.5),
            frameon=False,
            labelspacing=0.55,
            handlelength=1.6,
        )
        half = -(-len(self.numbers) // 2)
        for k, names in enumerate((self.numbers[:half], self.numbers[half:])):
            text = "\n".join(plain(name if len(name) < 17 else name[:15] + "…", 40) for name in names)
            self.figure.text(right + 0.01 + 0.1 * k, 0.06, text, fontsize=7, va="bottom", linespacing=1.3)

    # ---- tools

    def _patch(self, places: np.ndarray, rim: np.ndarray, label: str = "", **look: Any) -> None:
        from matplotlib.patches import Polygon

        self.seen.append(rim)
        self.pieces.append((float((places @ self.look.away).mean()), lambda: self.axes.add_patch(Polygon(rim, **look))))
        if label and label not in self.legend:
            from matplotlib.patches import Patch

            self.legend[label] = Patch(label=label, **{k: v for k, v in look.items() if k != "alpha"})

    def _stroke(self, places: np.ndarray, ends: np.ndarray, label: str = "", **look: Any) -> None:
        self.seen.append(ends)
        self.pieces.append((float((places @ self.look.away).mean()), lambda: self.axes.plot(*ends.T, **look)))
        if label and label not in self.legend:
            self.legend[label] = _proxy(label=label, **look)

    def _mark(self, at: np.ndarray, spot: np.ndarray, label: str = "", **look: Any) -> None:
        self.seen.append(spot)
        self.taken.append(spot)
        self.pieces.append((float(at @ self.look.away), lambda: self.axes.plot(*spot.T, linestyle="", **look)))
        if label and label not in self.legend:
            self.legend[label] = _proxy(linestyle="", label=label, **look)


def _proxy(**look: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def _moved(T: np.ndarray, places: Sequence[Point]) -> np.ndarray:
    moved: np.ndarray = np.array(places) @ T[:3, :3].T + T[:3, 3]
    return moved


def _capsule(ends: np.ndarray, radius: float) -> np.ndarray:
    """The outline of a rod with round ends."""
    along = ends[1] - ends[0]
    way = float(np.arctan2(along[1], along[0])) if np.linalg.norm(along) else 0.0
    half = np.linspace(np.pi / 2, 3 * np.pi / 2, 12) + way
    first = ends[0] + radius * np.stack([np.cos(half), np.sin(half)], axis=-1)
    second = ends[1] - radius * np.stack([np.cos(half), np.sin(half)], axis=-1)
    return np.concatenate([first, second])


def _hull(points: np.ndarray) -> np.ndarray:
    """The convex outline of points in a plane, by Andrew's monotone chains."""
    ordered = sorted(map(tuple, points))

    def chain(points: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
        kept: list[tuple[float, ...]] = []
        for p in points:
            while len(kept) > 1 and _left(kept[-2], kept[-1], p) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def _left(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    """Twice the area of a triangle, positive if it turns to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _around(points: np.ndarray) -> Box:
    """The box around points of the picture, which is never smaller than a mark."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 3.0)
    return Box(float(middle[0]), float(middle[1]), float(half[0]), float(half[1]))


def _together(spots: np.ndarray, near: float) -> list[list[int]]:
    """The numbers of spots in groups of those that are nearly at one place."""
    groups: list[list[int]] = []
    for k, spot in enumerate(spots):
        home = next((group for group in groups if np.linalg.norm(spots[group[0]] - spot) < near), None)
        if home is None:
            groups.append([k])
        else:
            home.append(k)
    return groups


def _round(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that isn't longer."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(step for step in (1, 2, 5) if step * power <= length))
