"""Draws the pictures of docs/conventions.md into docs/images/: frames of the three conventions, and signs of wrenches.

    python tests/tools/pictures.py

The frames are those of the conventions' own transforms (`placed`), looked at from one side without perspective.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
BLACK, GREY, BODY, BLUE, ORANGE, GREEN, PURPLE = (
    "#222222",
    "#8a8a8a",
    "#d9d3c7",
    "#0072b2",
    "#d55e00",
    "#2a8a4a",
    "#7b3fa0",
)
Array = np.ndarray


def turn(axis: Array, angle: float) -> Array:
    """The homogeneous matrix of a turn about an axis through the origin (Rodrigues)."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T = np.eye(4)
    T[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return T


def shift(x: float, y: float, z: float) -> Array:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


X, Y, Z = np.eye(3)


def Rx(angle: float) -> Array:
    return turn(X, np.radians(angle))


def Rz(angle: float) -> Array:
    return turn(Z, np.radians(angle))


class Picture:
    """A drawing in space, seen from an azimuth and an elevation (degrees)."""

    def __init__(self, name: str, size: tuple[float, float], azimuth: float = -60.0, elevation: float = 22.0) -> None:
        self.name, self.figure = name, Figure(figsize=size, dpi=100)
        self.axes: Axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set_axis_off()
        self.axes.set_aspect("equal", adjustable="datalim")
        a, e = np.radians([azimuth, elevation])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        self.eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        self.view = np.array([right, np.cross(self.eye, right)])

    def flat(self, points: Array) -> Array:
        return np.asarray(points) @ self.view.T

    def line(self, *points: Array, color: str = GREY, width: float = 1.0, style: str = "-", order: int = 2) -> None:
        self.axes.plot(
            *self.flat(np.array(points)).T, style, color=color, lw=width, zorder=order, solid_capstyle="round"
        )

    def arrow(
        self, start: Array, end: Array, color: str, *, width: float = 1.8, heads: str = "-|>", order: int = 5
    ) -> None:
        a, b = self.flat(start), self.flat(end)
        self.axes.add_patch(
            FancyArrowPatch(
                tuple(a),
                tuple(b),
                arrowstyle=heads,
                mutation_scale=13,
                color=color,
                lw=width,
                zorder=order,
                shrinkA=0,
                shrinkB=0,
            )
        )

    def text(self, at: Array, words: str, color: str = BLACK, dx: float = 0.0, dy: float = 0.0, size: int = 12) -> None:
        x, y = self.flat(at)
        self.axes.text(
            x + dx,
            y + dy,
            words,
            color=color,
            fontsize=size,
            ha="center",
            va="center",
            zorder=9,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6},
        )

    def dot(self, at: Array, color: str = BLACK, size: float = 5.0) -> None:
        self.axes.plot(*self.flat(at), "o", color=color, ms=size, zorder=7)

    def frame(self, T: Array, names: tuple[str, str, str], color: str, length: float = 0.34, out: float = 1.17) -> None:
        """Three axes with their names; those without a name are short."""
        o = T[:3, 3]
        for axis, name in zip(T[:3, :3].T, names, strict=True):
            reach = length if name else 0.6 * length
            self.arrow(o, o + reach * axis, color)
            if name:
                self.text(o + out * length * axis, name, color)
        self.dot(o, color)

    def angle(self, T: Array, axis: str, degrees: float, radius: float, name: str, out: float = 1.25) -> None:
        """The arc of a turn about an axis of T, from the next axis of T."""
        about, begin = {"z": (Z, X), "x": (X, Z)}[axis]
        ways = np.radians(np.linspace(0.0, degrees, 40))
        points = np.array([(T @ turn(about, w) @ np.append(radius * begin, 1.0))[:3] for w in ways])
        self.axes.plot(*self.flat(points[:-3]).T, color=PURPLE, lw=1.5, zorder=6)
        self.arrow(points[-6], points[-1], PURPLE, width=1.5, order=6)
        middle = (T @ turn(about, ways[20]) @ np.append(out * radius * begin, 1.0))[:3]
        self.text(middle, name, PURPLE, size=13)

    def length(self, start: Array, end: Array, name: str, dx: float = 0.0, dy: float = 0.0) -> None:
        """A distance along a line, with its letter."""
        self.arrow(start, end, GREEN, width=1.5, heads="<|-|>", order=4)
        self.text((start + end) / 2, name, GREEN, dx, dy, size=13)

    def body(self, *points: Array, width: float = 26.0) -> None:
        """A link, as a broad line through points."""
        self.line(*points, color=BODY, width=width, order=0)

    def save(self, margin: float = 0.12) -> None:
        self.axes.relim()
        self.axes.margins(margin)
        self.axes.autoscale_view()
        self.figure.savefig(FOLDER / f"{self.name}.png", metadata={"Software": None})


def dh() -> None:
    picture = Picture("dh", (7.6, 5.2), azimuth=-76)
    a, b, alpha, theta = 1.45, 0.62, 48.0, 45.0
    before = np.eye(4)
    near = before @ Rz(theta)
    corner = near @ shift(0, 0, b)
    end = corner @ shift(a, 0, 0) @ Rx(alpha)
    o, knee, tip = near[:3, 3], corner[:3, 3], end[:3, 3]
    picture.body(o, knee, tip)
    picture.line(o - 0.28 * Z, knee + 0.42 * Z, style="-.")
    picture.text(o - 0.36 * Z, "axis of joint i", GREY, size=10)
    along = end[:3, 2]
    picture.line(tip - 0.3 * along, tip + 0.95 * along, style="-.")
    picture.text(tip + 1.05 * along, "axis of joint i+1", GREY, size=10)
    picture.frame(before, ("$X_i$", "", ""), GREY, 0.46)
    picture.angle(before, "z", theta, 0.3, "θ", 1.3)
    picture.frame(near, ("x", "y", "z"), BLUE, 0.38)
    picture.text(o, "link frame\n(near)", BLUE, -0.36, -0.06, 11)
    picture.frame(end, ("$X_{i+1}$", "", "$Z_{i+1}$"), ORANGE, 0.5)
    picture.text(tip, "end frame", ORANGE, 0.16, -0.14, 11)
    up = np.array([-0.2, 0.0, 0.0])
    picture.length(o + up, knee + up, "b", -0.07)
    over = 0.13 * Z
    picture.length(knee + over, tip + over, "a", 0.0, 0.09)
    reference = corner @ shift(a, 0, 0)
    picture.line(tip, tip + 0.6 * Z, style=":", color=BLACK)
    picture.angle(reference, "x", alpha, 0.36, "α", 1.2)
    centre = (corner @ shift(0.52 * a, 0, -0.12))[:3, 3]
    picture.arrow(o, centre, BLUE, width=1.3)
    picture.text((o + centre) / 2, "com", BLUE, 0.05, -0.08, 11)
    picture.arrow(centre, tip, ORANGE, width=1.3)
    picture.text((centre + tip) / 2, "r", ORANGE, 0.0, -0.1, 12)
    picture.dot(centre, BLACK, 8)
    picture.text(centre, "C", BLACK, 0.0, 0.09, 12)
    picture.save()


def khalil() -> None:
    picture = Picture("khalil", (7.6, 4.8), azimuth=-48)
    gamma, b, alpha, d, theta, r = 24.0, 0.5, 48.0, 1.35, 50.0, 0.7
    parent = np.eye(4)
    foot = Rz(gamma) @ shift(0, 0, b)
    tilted = foot @ Rx(alpha) @ shift(d, 0, 0)
    link = tilted @ Rz(theta) @ shift(0, 0, r)
    o, knee, far, tip = (T[:3, 3] for T in (parent, foot, tilted, link))
    x, z = foot[:3, 0], link[:3, 2]
    picture.line(o, knee + 0.5 * Z, style="-.")
    picture.line(far - 0.3 * z, tip + 0.6 * z, style="-.")
    picture.text(far - 0.4 * z, "axis of the joint", GREY, size=10)
    picture.line(knee, far + 0.62 * x, style=":", color=BLACK)
    picture.frame(parent, ("x", "y", "z"), GREY, 0.3)
    picture.text(o, "parent's link frame", GREY, 0.0, -0.11, 11)
    picture.line(o, o + 0.42 * x, style=":", color=BLACK)
    picture.angle(parent, "z", gamma, 0.28, "γ", 1.32)
    left = np.array([-0.12, 0.0, 0.0])
    picture.length(o + left, knee + left, "b", -0.07)
    picture.length(knee + 0.05 * Z, far + 0.05 * Z, "d", 0.0, 0.08)
    picture.line(far, far + 0.55 * Z, style=":", color=BLACK)
    picture.angle(foot @ shift(d, 0, 0), "x", alpha, 0.5, "α", 1.14)
    picture.angle(tilted, "z", theta, 0.4, "θ", 1.2)
    picture.line(far, far + 0.5 * link[:3, 0], style=":", color=BLACK)
    side = -0.14 * tilted[:3, 0]
    picture.length(far + side, tip + side, "r", -0.06, -0.02)
    picture.frame(link, ("x", "y", "z"), BLUE, 0.42)
    picture.text(tip, "link frame", BLUE, 0.42, 0.16, 11)
    picture.save(0.2)


def frames() -> None:
    picture = Picture("frames", (7.6, 4.4), azimuth=-62, elevation=26.0)
    parent = np.eye(4)
    placed = shift(1.25, 0.3, 0.5) @ Rz(20.0) @ turn(Y, np.radians(-16.0)) @ Rx(18.0)
    axis = np.array([0.3, 0.0, 1.0]) / np.linalg.norm([0.3, 0.0, 1.0])
    link = placed @ turn(axis, np.radians(50.0))
    o, p = parent[:3, 3], placed[:3, 3]
    picture.body(o - np.array([0.25, 0.2, 0.15]), o, p)
    picture.frame(parent, ("x", "y", "z"), GREY, 0.38)
    picture.text(o, "parent's link frame", GREY, 0.1, -0.15, 11)
    picture.arrow(o, p, GREEN, width=1.6)
    picture.text((o + p) / 2, "xyz", GREEN, 0.02, -0.1, 12)
    for direction, name in zip(placed[:3, :3].T, ("x", "y", "z"), strict=True):
        picture.line(p, p + 0.44 * direction, style="--", color=BLACK, width=1.2)
        picture.text(p + 0.5 * direction, name, BLACK, size=10)
    picture.text(p, "at q = 0: turned by rpy", BLACK, 0.3, -0.33, 11)
    along = placed[:3, :3] @ axis
    picture.line(p - 0.35 * along, p + 0.8 * along, style="-.", color=PURPLE)
    picture.arrow(p + 0.7 * along, p + 0.86 * along, PURPLE)
    picture.text(p + 0.95 * along, "axis", PURPLE, 0.03, 0.0, 12)
    ways = np.radians(np.linspace(0.0, 300.0, 60))
    across = np.cross(along, X) / np.linalg.norm(np.cross(along, X))
    ring = np.array([p + 0.6 * along + 0.12 * (turn(along, w)[:3, :3] @ across) for w in ways])
    picture.axes.plot(*picture.flat(ring[:-3]).T, color=PURPLE, lw=1.5, zorder=6)
    picture.arrow(ring[-6], ring[-1], PURPLE, width=1.5)
    picture.text(p + 0.6 * along, "q", PURPLE, 0.2, 0.02, 13)
    picture.frame(link, ("x", "y", "z"), BLUE, 0.44)
    picture.text(p, "link frame", BLUE, -0.34, -0.03, 11)
    picture.save()


def wrenches() -> None:
    """In the plane: what a parent does to its link, and the first link of a cut to the second."""
    picture = Picture("wrenches", (7.6, 2.5), azimuth=-90.0, elevation=0.0)
    point = lambda x, z: np.array([x, 0.0, z])  # noqa: E731

    def side(left: float, words: tuple[str, str], names: tuple[str, str], what: str, at: str) -> None:
        first, second = point(left, 0.0), point(left + 0.62, 0.12)
        picture.body(first + point(-0.95, -0.35), first, width=20)
        picture.body(second, second + point(0.95, -0.3), width=20)
        picture.text(first + point(-0.62, -0.23), words[0], size=11)
        picture.text(second + point(0.62, -0.2), words[1], size=11)
        picture.line(first, second, style=":", color=GREY)
        for at_, way, name, color, centre in (
            (second, 1.0, names[0], BLUE, 0.0),
            (first, -1.0, names[1], GREY, 0.0),
        ):
            force = way * point(0.3, 0.36)
            picture.arrow(at_, at_ + force, color, width=2.2)
            picture.text(at_ + 1.28 * force, name, color, centre, size=12)
            ways = np.radians(np.linspace(105.0, 320.0, 40) + (0.0 if way > 0 else 180.0))[:: int(way) or 1]
            ring = np.array([at_ + 0.17 * point(np.cos(w), np.sin(w)) for w in ways])
            picture.axes.plot(*picture.flat(ring[:-3]).T, color=color, lw=1.6, zorder=6)
            picture.arrow(ring[-5], ring[-1], color, width=1.6)
            picture.dot(at_, color, 6)
        picture.text(first + point(0.3, -0.68), what, BLACK, size=11)
        picture.text(second, at, BLUE, 0.08, -0.32, 10)

    side(0.0, ("parent", "link"), ("reaction", "−reaction"), "reaction: of the parent on the link", "link's origin")
    side(2.75, ("first", "second"), ("λ", "−λ"), "lambda: of the first link on the second", "cut point")
    picture.save(0.06)


if __name__ == "__main__":
    for draw in (dh, khalil, frames, wrenches):
        draw()
