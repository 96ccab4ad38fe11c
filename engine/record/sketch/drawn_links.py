"""Links of a sketch: their solids, their mass centres and frames, and the ground."""

from __future__ import annotations

import numpy as np

from ..scene import BASE, FORMS, Solid
from .canvas import BLUE, GREEN, XYZ, Canvas
from .drawn_bodies import sketch_body
from .outlines import outline_of_ball, outline_of_rod
from .viewpoint import sketch_points_moved

BESIDE = 12  # places along a rod that names had better not cover
LINK, EDGE, EARTH = "#c9ced6", "#4a5360", "#a08f78"


def sketch_links(canvas: Canvas) -> None:
    """Adds the solids of all links to the picture, with their mass centres."""
    for part in canvas.scene.parts:
        T = canvas.frames[part.name]
        for solid in part.solids:
            (sketch_body if solid.kind in FORMS else _solid)(canvas, solid, T)
        if part.centre is not None and part.mass and not part.ghost:
            _centre(canvas, sketch_points_moved(T, [part.centre])[0])


def sketch_link_frames(canvas: Canvas) -> None:
    """Adds the axes of all links' frames; those of the base are longer."""
    for part in canvas.scene.parts:
        if part.ghost:
            continue
        T = canvas.frames[part.name]
        length = (3.6 if part.name == BASE else 2.4) * canvas.unit
        for k, colour in enumerate(XYZ):
            ends = canvas.view.flat(np.array([T[:3, 3], T[:3, 3] + length * T[:3, k]]))
            if np.linalg.norm(ends[1] - ends[0]) > 0.15 * length:
                near = canvas.nearer(T[:3, 3], 4)
                canvas.stroke(near[None], ends, f"{'xyz'[k]} axes of frames", color=colour, lw=1.3)


def sketch_points(canvas: Canvas) -> None:
    """Adds the named points of links."""
    for point in canvas.scene.points:
        at = sketch_points_moved(canvas.frames[point.link], [point.at])[0]
        canvas.mark(canvas.nearer(at, 4), canvas.view.flat(at[None]), "point", marker="D", ms=3.5, color=GREEN)


def sketch_actuators(canvas: Canvas) -> None:
    """Adds arrows of the forces and moments with which actuators act on links; moments have two points."""
    for one in canvas.scene.actuators:
        T = canvas.frames[one.link]
        at = canvas.nearer(sketch_points_moved(T, [one.at])[0], 5)
        along = np.array(one.direction) if one.in_base else T[:3, :3] @ np.array(one.direction)
        ends = canvas.view.flat(np.array([at - 8 * canvas.unit * along / np.linalg.norm(along), at]))
        way, label = ends[1] - ends[0], "moment of an actuator" if one.moment else "force of an actuator"
        if (size := float(np.linalg.norm(way))) < canvas.unit:
            canvas.mark(at, ends[1:], label, marker="X", ms=7, color=BLUE)
            continue
        canvas.stroke(at[None], ends, label, color=BLUE, lw=1.8)
        for tip in (1.0, 0.75)[: 1 + one.moment]:
            head = ends[0] + tip * way
            back = head - 2 * canvas.unit * way / size
            side = 0.8 * canvas.unit * np.array([-way[1], way[0]]) / size
            canvas.patch(at[None], np.array([head, back + side, back - side]), facecolor=BLUE, edgecolor=BLUE, lw=0.5)


def _solid(canvas: Canvas, solid: Solid, T: np.ndarray) -> None:
    """Adds a solid of a link that is at T."""
    view = canvas.view
    places = sketch_points_moved(T, solid.points if solid.kind != "ground" else solid.points[:1])
    if solid.kind == "ground":
        _pivot(canvas, places[0], np.array(solid.points[1]), solid.radius)
    elif solid.kind == "plate":
        middle = places.mean(axis=0)
        rim = view.flat(middle + (places - middle) * (1 + solid.radius / abs(places - middle).max()))
        canvas.patch(places, rim, "link", facecolor="#dde1e7", edgecolor=EDGE, lw=1.0, alpha=0.9)
    elif solid.kind == "rail":
        canvas.stroke(places, view.flat(places), "guide of a slider", color=EDGE, lw=1.0, linestyle=(0, (5, 2)))
    else:
        if np.ptp(places, axis=0).max(initial=0.0) == 0:
            rim = outline_of_ball(view.flat(places[:1]), solid.radius)
        else:
            ends = view.flat(places)
            rim = outline_of_rod(ends, solid.radius)
            canvas.taken += list(np.linspace(ends[0], ends[1], BESIDE)[:, None])
        label = "rod to a mass centre" if solid.kind == "thin" else "link"
        colour = {"tube": "#b4bbc6", "thin": "#e9ebee"}.get(solid.kind, LINK)
        canvas.patch(places, rim, label, facecolor=colour, edgecolor=EDGE, lw=0.5 if solid.kind == "thin" else 0.9)


def _pivot(canvas: Canvas, at: np.ndarray, down: np.ndarray, size: float) -> None:
    """Adds the symbol of the ground: a triangle below the pivot, on a hatched line."""
    foot = canvas.view.flat(down[None])[0]
    foot = foot / np.linalg.norm(foot) if np.linalg.norm(foot) > 0.3 else np.array([0.0, -1.0])
    along = np.array([-foot[1], foot[0]])
    top = canvas.view.flat(at[None])[0]
    base = top + 1.7 * size * foot
    corners = np.array([top, base + 1.1 * size * along, base - 1.1 * size * along])
    behind = (at + 2 * canvas.unit * canvas.view.away)[None]
    canvas.patch(behind, corners, "ground", facecolor="#efe8dc", edgecolor=EARTH, lw=1.1)
    strokes = [[base - 1.5 * size * along, base + 1.5 * size * along]]
    for share in np.linspace(-1.3, 1.3, 6):
        start = base + share * size * along
        strokes.append([start, start + 0.5 * size * (foot - 0.7 * along)])
    for stroke in strokes:
        canvas.stroke(behind, np.array(stroke), color=EARTH, lw=1.0)


def _centre(canvas: Canvas, at: np.ndarray) -> None:
    """Adds the symbol of a mass centre."""
    canvas.mark(
        canvas.nearer(at, 3),
        canvas.view.flat(at[None]),
        "mass centre",
        marker="o",
        ms=5.5,
        color="#333333",
        markerfacecoloralt="#ffffff",
        mew=0.7,
        fillstyle="top",
    )
