"""Joints of a sketch: the symbol of each type, seen from any side."""

from __future__ import annotations

import numpy as np

from ..scene import SceneJoint
from .canvas import BLUE, RED, Canvas, Look
from .outlines import TURN, outline_hull, outline_of_ball
from .viewpoint import sketch_points_moved

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
