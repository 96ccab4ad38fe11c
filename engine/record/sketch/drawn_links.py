"""Links of a sketch: their solids, their mass centres and frames, and the ground."""

from __future__ import annotations

import numpy as np

from .canvas import BLUE, GREEN, RED, XYZ, Canvas, Look, sketch_points_moved
from .drawn_bodies import sketch_body
from .outlines import TURN, outline_hull, outline_of_ball, outline_of_rod
from .scene import BASE, FORMS, SceneJoint, Solid

LIGHT = "#a5d3f0"
WORDS = {"point-on-line": "point on a line", "point-on-plane": "point on a plane", "three-revolutes": "spherical"}
BOXES = {"prismatic": (1.5, 1.5, 2.0), "planar": (2.2, 2.2, 0.5), "fixed": (0.7, 0.7, 0.7)}  # half edges
CYLINDERS = {"revolute": (1.1, 1.3), "helical": (0.9, 2.2), "cylindrical": (1.0, 2.6)}  # radius, half length


def sketch_joints(canvas: Canvas) -> None:
    """Adds the symbols of all joints but those of chains that only measure a place."""
    for joint in canvas.scene.joints:
        T = canvas.frames[joint.carrier]
        at, axes = sketch_points_moved(T, [joint.at])[0], T[:3, :3] @ np.array(joint.axes)
        colour = RED if joint.cut else BLUE if joint.actuated else "#222222"
        fill = LIGHT if joint.actuated else "#ffd9c2" if joint.cut else "#ffffff"
        word = WORDS.get(joint.type, joint.type)
        kind = word + (", cut" if joint.cut else ", actuated" if joint.actuated else "")
        if joint.type != "free" and not joint.ghost:
            around = 1.5 * canvas.unit * np.array([[-1.0, -1.0], [1.0, 1.0]])
            canvas.taken.append(canvas.view.flat(at[None]) + around)
            _symbol(canvas, joint, at, axes, {"edgecolor": colour, "facecolor": fill, "lw": 1.2}, kind)


def _symbol(canvas: Canvas, joint: SceneJoint, at: np.ndarray, axes: np.ndarray, look: Look, kind: str) -> None:
    """Adds the symbol of a joint; seen along its axis, one that turns is a circle."""
    unit, axis = canvas.unit, axes[:, 2]
    thin = {"color": look["edgecolor"], "lw": 0.8}
    if joint.radius and joint.type == "rolling":
        _cylinder(canvas, at, axis, (joint.radius, 0.08 * joint.radius), kind, look)
    elif joint.radius:
        _ball(canvas, at, joint.radius, kind, look)
    elif joint.type in BOXES:
        _box(canvas, at, axes, unit * np.array(BOXES[joint.type]), kind, look)
    elif joint.type in CYLINDERS:
        radius, half = CYLINDERS[joint.type]
        _cylinder(canvas, at, axis, (unit * radius, unit * half), kind, look)
        if joint.type == "helical":
            _thread(canvas, at, axes, (unit * radius, unit * half), thin)
    else:
        _ball(canvas, at, unit * 1.25, kind, look)
        if joint.type == "universal":
            for k in (0, 1):
                ends = np.array([at - 2.2 * unit * axes[:, k], at + 2.2 * unit * axes[:, k]])
                canvas.stroke(canvas.nearer(at, 3)[None], canvas.view.flat(ends), **(thin | {"lw": 1.6}))


def _cylinder(
    canvas: Canvas, at: np.ndarray, axis: np.ndarray, size: tuple[float, float], kind: str, look: Look
) -> None:
    """Adds a cylinder, whose size is its radius and half its length, with the line of its axis."""
    radius, half = size
    view = canvas.view
    across = np.linalg.svd(axis[None])[2][1:]
    rim = radius * (np.outer(np.cos(TURN), across[0]) + np.outer(np.sin(TURN), across[1]))
    ends = [view.flat(at + rim + sign * half * axis) for sign in (-1.0, 1.0)]
    canvas.patch(canvas.nearer(at, 2)[None], outline_hull(np.concatenate(ends)), kind, **look)
    front = ends[int(axis @ view.away < 0)]
    canvas.patch(canvas.nearer(at, 2.1)[None], front, **(look | {"lw": 0.9}))
    if abs(axis @ view.away) > 0.97:  # seen along the axis: a dot in its middle
        canvas.mark(canvas.nearer(at, 3), view.flat(at[None]), marker=".", ms=4, color=look["edgecolor"])
    else:
        line = view.flat(np.array([at - 2.6 * half * axis, at + 2.6 * half * axis]))
        canvas.stroke(at[None], line, color=look["edgecolor"], lw=0.8, linestyle=(0, (6, 2, 1, 2)))


def _thread(canvas: Canvas, at: np.ndarray, axes: np.ndarray, size: tuple[float, float], look: Look) -> None:
    """Adds the thread of a screw around its cylinder."""
    radius, half = size
    turns = np.linspace(0.0, 6 * np.pi, 100)
    around = radius * (np.outer(np.cos(turns), axes[:, 0]) + np.outer(np.sin(turns), axes[:, 1]))
    line = at + around + np.outer(np.linspace(-half, half, 100), axes[:, 2])
    hidden = around @ canvas.view.away > 0
    flat = np.where(hidden[:, None], np.nan, canvas.view.flat(line))
    canvas.stroke(canvas.nearer(at, 3)[None], flat, **look)


def _box(canvas: Canvas, at: np.ndarray, axes: np.ndarray, half: np.ndarray, kind: str, look: Look) -> None:
    """Adds the sides of a box that can be seen."""
    near = canvas.nearer(at, 2)[None]
    for k in range(3):
        towards = -np.sign(axes[:, k] @ canvas.view.away) or 1.0
        if abs(axes[:, k] @ canvas.view.away) < 1e-3:
            continue
        a, b = (axes[:, j] * half[j] for j in range(3) if j != k)
        face = at + towards * half[k] * axes[:, k] + np.array([a + b, a - b, -a - b, b - a])
        canvas.patch(near, canvas.view.flat(face), kind, **look)


def _ball(canvas: Canvas, at: np.ndarray, radius: float, kind: str, look: Look) -> None:
    rim = outline_of_ball(canvas.view.flat(at[None]), radius)
    canvas.patch(canvas.nearer(at, 2)[None], rim, kind, **look)


BESIDE = 12  # places along a rod that names had better not cover
LINK, EDGE, EARTH = "#c9ced6", "#4a5360", "#a08f78"


def sketch_links(canvas: Canvas) -> None:
    """Adds the solids of all links to the picture, with their mass centres."""
    for part in canvas.scene.parts:
        T = canvas.frames[part.name]
        for solid in part.solids:
            (sketch_body if solid.kind in FORMS else _solid)(canvas, solid, T)
        if part.centre is not None and part.mass and not part.ghost:
            at = sketch_points_moved(T, [part.centre])[0]
            look = {"markerfacecoloralt": "#ffffff", "mew": 0.7, "fillstyle": "top"}
            spot = canvas.view.flat(at[None])
            canvas.mark(canvas.nearer(at, 3), spot, "mass centre", marker="o", ms=5.5, color="#333333", **look)


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
