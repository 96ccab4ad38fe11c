"""The sketch of a robot at one position, as plain data for a drawing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dynamics.kinematics import body_frames
from ..dynamics.quantities import frames
from ..record.sketch import DrawnJoint, DrawnLink, Sketch
from ..robot.model import Link, Robot
from ..robot.placement import turn_matrix_of


def sketched(robot: Robot, q: Sequence[float]) -> Sketch:
    """The sketch of the robot at q."""
    placed = {"base": np.eye(4), **frames(robot, q)}
    ends = frames(robot, q, at="end")
    bodies = body_frames(robot.tree.bodies, q)
    touched: dict[str, list[np.ndarray]] = {name: [] for name in placed}  # the points of each link where others hang
    joints, slides = [], []
    for link in robot.links:
        start, axis = _origin_and_axis(robot, link, bodies, placed)
        here = placed[link.name][:3, 3]
        touched[link.parent].append(start)
        if np.linalg.norm(here - start) > 1e-9:
            slides.append(np.array([start, here]))
        joints.append(
            DrawnJoint(link.joint.name, link.joint.type.name, start, axis, link.joint.actuated, link.parent == "base")
        )
    for loop in robot.loops:
        for name, side in zip(loop.between, (loop.first, loop.second)):
            touched[name].append((placed[name] @ side.matrix())[:3, 3])
        T = placed[loop.between[0]] @ loop.first.matrix()
        far = touched[loop.between[1]][-1]
        joints.append(DrawnJoint(loop.name, loop.type.name, T[:3, 3], T[:3, 2], cut=True, other=far))
    points = []
    for link in robot.links:
        for name, at in link.points.items():
            points.append((f"{link.name}.{name}", placed[link.name] @ np.array([*at, 1.0])))
            touched[link.name].append(points[-1][1][:3])
        if link.end.origin != (0.0, 0.0, 0.0):
            touched[link.name].append(ends[link.name][:3, 3])
    return Sketch(
        name=robot.name,
        links=[DrawnLink(name, _star(placed[name][:3, 3], ways), name == "base") for name, ways in touched.items()],
        slides=slides,
        joints=joints,
        centres=[
            (link.name, link.mass, (placed[link.name] @ np.array([*link.com, 1.0]))[:3], placed[link.name][:3, 3])
            for link in robot.links
            if link.mass
        ],
        points=[(name, at[:3]) for name, at in points],
        frames=[("", T) for T in placed.values()],
        gravity=robot.gravity,
    )


def _origin_and_axis(
    robot: Robot, link: Link, bodies: list[np.ndarray], placed: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The joint's origin before it moves, and its axis, or its z if it has no axis."""
    if not link.joint.type.nv:
        T = placed[link.name]
        return T[:3, 3], T[:3, 2]
    body = next(body for body in robot.tree.bodies if link.joint.speeds[0] in body.speeds)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = turn_matrix_of(body.rotation), body.origin
    if body.parent is not None:
        T = bodies[body.parent] @ T
    return T[:3, 3], T[:3, 2]


def _star(middle: np.ndarray, ends: list[np.ndarray]) -> list[np.ndarray]:
    """The lines from the link's origin to everything that is attached to it."""
    return [np.array([middle, way]) for way in ends if np.linalg.norm(way - middle) > 1e-9]
