"""A robot as ReDySim's `inputs.m`: modified DH parameters of a tree of revolute and prismatic joints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ModelError, safe_to_print
from ..robot import Link, Robot, turn_matrix, turn_matrix_of
from .pieces import urdf_number_text
from .report import CHANGED, DROPPED, Report

NEAR = 1e-12  # of lengths and of sines: smaller ones are rounding
KINDS = ("revolute", "prismatic")


@dataclass
class Body:
    """A link with those that are fixed to it, in the link's near frame, whose z is on the joint's axis."""

    link: Link
    parent: int  # its place among the bodies, -1 on the ground
    before: np.ndarray  # the near frame in the parent's, in the joint's zero position
    mass: float
    com: np.ndarray
    inertia: np.ndarray  # about the mass centre
    turn: float = 0.0  # what the written frame is turned and shifted by along z, in the near frame
    shift: float = 0.0


def write_redysim(robot: Robot) -> tuple[str, Report]:
    """The text of `inputs.m`, and a report of what it couldn't hold."""
    report = Report(robot.name)
    bodies = _bodies(robot)
    if not bodies:
        raise ModelError("ReDySim's robots have joints, and nothing moves here", allowed="a joint that moves")
    base = _frames(bodies, report)
    _lost(robot, bodies, report)
    return "\n".join(_lines(robot, bodies, base, report)), report


def _bodies(robot: Robot) -> list[Body]:
    """The moving bodies, parents first, with the masses of what is fixed to them."""
    places: dict[str, int] = {}
    bodies = []
    tree = robot.tree
    moving = {link.name: link for link in robot.links if link.joint.type.nv}
    for link in moving.values():
        if link.joint.type.name not in KINDS:
            allowed = ", ".join(KINDS)
            raise ModelError(f"ReDySim has no {link.joint.type.name} joint, as `{link.joint.name}` is", allowed=allowed)
    owners = {tree.seats[name][0]: name for name in moving}
    for k, body in enumerate(tree.bodies):
        link = moving[owners[k]]
        places[link.name] = k
        before = np.eye(4)
        before[:3, :3], before[:3, 3] = turn_matrix_of(body.rotation), body.origin
        E, h, m = np.array(body.E), np.array(body.h), body.m
        com = h / m if m else np.zeros(3)
        J = np.trace(E) * np.eye(3) - E - m * (com @ com * np.eye(3) - np.outer(com, com))
        bodies.append(Body(link, -1 if body.parent is None else body.parent, before, m, com, J))
    return bodies


def _frames(bodies: list[Body], report: Report) -> np.ndarray:
    """Turns and shifts the frames along their axes so that each has its x on the way to its child's axis.

    What comes back is the turn of the frame on the ground. Parameters Rx(alp) Tx(a) Rz(th) Tz(b) leave no other way.
    """
    base = _ground(bodies)
    settled: set[int] = set()
    for body in bodies:
        outer = base if body.parent < 0 else _own(bodies[body.parent])
        body.before = np.linalg.inv(outer) @ body.before
        if _fits(body.before):
            settled.add(body.parent)
            continue
        if body.parent < 0 or body.parent in settled:
            who = "the ground" if body.parent < 0 else f"`{bodies[body.parent].link.name}`"
            raise ModelError(
                f"ReDySim's parameters can't place the joint `{body.link.joint.name}`",
                found=f"a joint before it on {who} has its own x already",
                allowed="axes that lie in a plane at right angles to their parent's x, and cross it",
            )
        parent = bodies[body.parent]
        parent.turn, parent.shift = _towards(body.before)
        body.before = np.linalg.inv(_own(parent)) @ body.before
        settled.add(body.parent)
    if not np.array_equal(base, np.eye(4)):
        report.note(CHANGED, "base", "its frame is turned so that its z is along the first joint's axis")
    return base[:3, :3]


def _ground(bodies: list[Body]) -> np.ndarray:
    """The frame on the ground from which all joints on it can be placed: the robot's own, or one on the first axis."""
    first = next(body.before for body in bodies if body.parent < 0)
    if all(_fits(body.before) for body in bodies if body.parent < 0):
        return np.eye(4)
    R = first[:3, :3]
    x, y, _ = R.T @ first[:3, 3]
    angle = math.atan2(y, x) if math.hypot(x, y) > NEAR else 0.0
    T = np.eye(4)
    T[:3, :3] = R @ turn_matrix(2, angle)
    return T


def _own(body: Body) -> np.ndarray:
    """The written frame of a body in its near frame."""
    T = np.eye(4)
    c, s = math.cos(body.turn), math.sin(body.turn)
    T[:2, :2], T[2, 3] = [[c, -s], [s, c]], body.shift
    return T


def _fits(T: np.ndarray) -> bool:
    """Whether a placement is Rx(alp) Tx(a) Rz(th) Tz(b)."""
    z, p = T[:3, 2], T[:3, 3]
    size = max(1.0, float(abs(p).max()))
    # z lies in the plane at right angles to x, and what remains of p without its part along x is along z
    return bool(abs(z[0]) <= NEAR and abs(p[1] * z[2] - p[2] * z[1]) <= NEAR * size)


def _towards(T: np.ndarray) -> tuple[float, float]:
    """The turn and shift along z of a frame whose x then is the common normal of its z and the z of T."""
    z, p = T[:3, 2], T[:3, 3]
    across = math.hypot(z[0], z[1])
    if across > NEAR:
        normal = np.array([-z[1], z[0], 0.0]) / across  # z × e_z, turned: at right angles to both axes
        along = (p[0] * z[0] + p[1] * z[1]) / across**2  # how far on the other axis the common normal ends
        foot = p - along * z
        if foot[:2] @ normal[:2] < -NEAR:
            normal = -normal
        return math.atan2(normal[1], normal[0]), float(foot[2])
    return (math.atan2(p[1], p[0]) if math.hypot(p[0], p[1]) > NEAR else 0.0), 0.0


def _lost(robot: Robot, bodies: list[Body], report: Report) -> None:
    """Notes what ReDySim's input file has no place for."""
    joints = [body.link.joint for body in bodies]
    drives = [drive for joint in joints for drive in joint.drives]
    lost: dict[str, Sequence[object]] = {
        "friction": [d for d in drives if d.viscous or d.coulomb],
        "springs": [d for d in drives if d.stiffness],
        "rotor inertias": [d for d in drives if d.rotor],
        "limits": [j for j in joints if j.limits or j.effort.limited or math.isfinite(j.largest_speed)],
        "effort weights": [j for j in joints if j.effort.weight != 1.0],
        "couplings": robot.couplings,
        "wrenches": robot.wrenches,
        "actuators": robot.actuators,
        "springs over several joints": robot.springs,
        "points": [link for link in robot.links if link.points],
        "shapes": [link for link in robot.links if link.shape],
    }
    report.drop_all(lost, "inputs.m has none")
    for loop in robot.loops:
        report.note(DROPPED, f"loop `{loop.name}`", "ReDySim has loops as Jacobians in another file")
    fixed = [link for link in robot.links if not link.joint.type.nv]
    for link in fixed:
        report.note(CHANGED, f"link `{link.name}`", "it is a part of what it is fixed to")


def _lines(robot: Robot, bodies: list[Body], base: np.ndarray, report: Report) -> Iterable[str]:
    """The lines of the file."""
    n = len(bodies)
    columns: dict[str, list[float]] = {key: [] for key in ("alp", "a", "b", "th", "dx", "dy", "dz")}
    tensor: dict[str, list[float]] = {key: [] for key in ("Icxx", "Icyy", "Iczz", "Icxy", "Icyz", "Iczx")}
    for body in bodies:
        z, p, T = body.before[:3, 2], body.before[:3, 3], body.before
        alp, th = math.atan2(-z[1], z[2]), math.atan2(-T[0, 1], T[0, 0])
        a, b = float(p[0]), float(p[1] * z[1] + p[2] * z[2])
        q = robot.q0[body.link.joint.coordinates[0]]
        revolute = body.link.joint.type.name == "revolute"
        own = _own(body)
        th, b = th + body.turn, b + body.shift
        if abs(more := th if revolute else b) > NEAR:
            report.note(CHANGED, f"joint `{body.link.joint.name}`", f"its coordinate there is {more:.6g} more")
        th, b = (th + q, b) if revolute else (th, b + q)
        com = own[:3, :3].T @ (body.com - own[:3, 3])
        J = own[:3, :3].T @ body.inertia @ own[:3, :3]
        for key, x in zip(columns, (alp, a, b, th, *com)):
            columns[key].append(float(x))
        for key, (i, j) in zip(tensor, ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))):
            tensor[key].append(float(J[i, j]))
    yield f"% {robot.name}: {safe_to_print(robot.about)}".rstrip(": ")
    yield "% links: " + ", ".join(body.link.name for body in bodies)
    outputs = "n dof type alp a b th bt r dx dy dz m g Icxx Icyy Iczz Icxy Icyz Iczx aj al"
    yield f"function [{outputs}]=inputs()"
    yield f"n={n};"
    yield f"dof={sum(body.link.joint.actuated for body in bodies) if robot.loops else n};"
    yield f"type={int(bool(robot.loops))};"
    yield from (f"{key}={_vector(values)};" for key, values in columns.items() if not key.startswith("d"))
    yield f"bt={_vector([body.parent + 1 for body in bodies])};"
    yield f"r={_vector([float(body.link.joint.type.name == 'revolute') for body in bodies])};"
    yield f"aj={_vector([float(body.link.joint.actuated) for body in bodies])};"
    yield from (f"{key}={_vector(values)};" for key, values in columns.items() if key.startswith("d"))
    yield f"m={_vector([body.mass for body in bodies])};"
    yield f"g={_vector(base.T @ np.array(robot.gravity))};"
    yield from (f"{key}={_vector(values)};" for key, values in tensor.items())
    yield "al=zeros(n,1);"
    yield "end"
    yield ""


def _vector(values: Iterable[float]) -> str:
    return "[" + "; ".join(map(urdf_number_text, values)) + "]"
