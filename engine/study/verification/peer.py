"""What other engines have in common, their interface above all, and the plain text of the recursion as one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ...machine.jit.choice import using_backend
from ...mechanics.quantities import forward as tree_forward
from ...mechanics.quantities import inverse as tree_inverse
from ...mechanics.tree import wrenches_moved_to_points
from ...robot import Body, Drive, Robot, Tree

FREE = (3, 4, 5, 0, 1, 2)  # directions of a free joint's speeds: the origin's velocity, then the turn
NEAR_FRAME = ((), (0.0, 0.0, 0.0))  # rotation and origin of a body that begins where its parent is


class PeerModel(Protocol):
    """The rigid bodies of a robot's tree with its rotors under gravity; springs, damping and friction are left out.

    All arrays have a row for each sample. `wrenches` are [n; f] by link, at its origin in its axes.
    """

    title: str  # the engine's name and version

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        """The forces along all speeds that a motion needs."""

    def forward(
        self, q: np.ndarray, qd: np.ndarray, force: np.ndarray, wrenches: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """The accelerations under forces along all speeds."""


class ImpossibleError(Exception):
    """A robot that an engine has no model for; the text says why, and stands after the engine's name."""


@dataclass(frozen=True)
class Move:
    """A part of a joint that an engine has a joint for: `turn`, `slide`, `screw`, `orient`, or all six with `free`."""

    kind: str
    axis: int
    coordinates: tuple[int, ...]
    speeds: tuple[int, ...]
    pitch: float = 0.0


def peer_joint_moves(body: Body) -> list[Move]:
    """The moves of a body's joint, outermost first."""
    speed = dict(zip(body.directions, body.speeds))
    found: list[Move] = []
    placed = False
    for kind, axis, k in body.moves:
        if kind == "place":
            placed = True
        elif kind == "orient":
            first, directions = (k - 3, FREE) if placed else (k, FREE[3:])
            coordinates = body.coordinates[first : k + 4]
            found.append(Move("free" if placed else kind, axis, coordinates, tuple(speed[d] for d in directions)))
        else:
            own = speed[axis + 3 if kind == "slide" else axis]
            found.append(Move(kind, axis, (body.coordinates[k],), (own,), body.pitch))
    return found


def peer_body_masses(body: Body) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, mass centre, and inertia about it, in the body's axes."""
    E, h = np.array(body.E), np.array(body.h)
    J = np.trace(E) * np.eye(3) - E
    if not body.m:
        return 0.0, np.zeros(3), J
    c = h / body.m
    return body.m, c, J - body.m * (c @ c * np.eye(3) - np.outer(c, c))


def peer_rotor_inertias(robot: Robot) -> np.ndarray:
    """The rotor inertia along each speed."""
    result = np.zeros(robot.nv)
    for body in robot.tree.bodies:
        for k, drive in zip(body.speeds, body.drives):
            result[k] = drive.rotor
    return result


def peer_wrenches_on_bodies(robot: Robot, wrenches: Mapping[str, np.ndarray]) -> dict[int, np.ndarray]:
    """Wrenches on links as wrenches on bodies, at their origins in their axes; those on the ground have no effect."""
    result: dict[int, np.ndarray] = {}
    for link, six in wrenches.items():
        body, seat = robot.tree.seats[link]
        if body is None:
            continue
        R = seat.rotation()
        own = wrenches_moved_to_points(six[:, :3] @ R.T, six[:, 3:] @ R.T, np.array(seat.origin))
        result[body] = result[body] + own if body in result else own
    return result


class PlainText:
    """Inverse and forward dynamics of a tree by the text as it stands, whatever has been compiled."""

    title = "plain text"

    def __init__(self, robot: Robot):
        self.robot = _rigid(robot)

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        """The forces along all speeds that a motion needs."""
        with using_backend("plain"):
            return tree_inverse(self.robot, q, qd, qdd, wrenches)

    def forward(
        self, q: np.ndarray, qd: np.ndarray, force: np.ndarray, wrenches: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """The accelerations under forces along all speeds."""
        with using_backend("plain"):
            return tree_forward(self.robot, q, qd, force, wrenches)


def _rigid(robot: Robot) -> Robot:
    """The robot without springs, damping, dry friction and wrenches of its own."""
    bodies = tuple(
        replace(body, drives=tuple(Drive(rotor=drive.rotor) for drive in body.drives)) for body in robot.tree.bodies
    )
    return replace(robot, tree=Tree(bodies, robot.tree.seats), wrenches=(), vouched=True)
