"""Derivatives of forward dynamics, and the linearised equations of state.

Directions are those in which the robot can move: one for each speed.  For Euler parameters that is a small turn about
the link's axes, for a free joint's position a small shift along them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..machine.program.dual import Dual, part_of, value_of
from ..machine.program.scalars import Scalar
from ..robot.model import Robot
from .kinematics import coordinate_rates
from .samples import Samples, computes, vector
from .sweeps import dynamics
from .wrenches import constant_wrenches, on_bodies


@computes
def derivatives(robot: Robot, q: Any, qd: Any, tau: Any) -> dict[str, np.ndarray]:
    """Accelerations qdd and dq, dqd, dtau, nv × nv each (N × nv × nv): rows accelerations, columns directions."""
    s = Samples(robot, q=q, qd=qd, tau=tau).finite()
    n = robot.nv
    moved = displaced(robot, s.scalars("q"))
    speeds = [Dual(x, {n + k: 1.0}) for k, x in enumerate(s.scalars("qd"))]
    forces = [Dual(x, {2 * n + k: 1.0}) for k, x in enumerate(s.scalars("tau"))]
    on, loads = on_bodies(robot.tree, constant_wrenches(robot))
    sought, _ = dynamics(robot.tree.bodies, robot.gravity, moved, speeds, forces, (False,) * n, on, loads)
    found = {"qdd": s.array([value_of(x) for x in sought])}
    for name, first in (("dq", 0), ("dqd", n), ("dtau", 2 * n)):
        block = np.empty((*s.shape, n, n))
        for r, x in enumerate(sought):
            for k in range(n):
                block[..., r, k] = part_of(x, first + k)
        found[name] = block
    return found


def displaced(robot: Robot, q: Sequence[Scalar]) -> list[Scalar]:
    """Q with its derivatives along the speeds: direction k is a motion with speed k of one."""
    moved: list[Scalar] = list(q)
    rates = [coordinate_rates(robot, list(q), [float(j == k) for j in range(robot.nv)]) for k in range(robot.nv)]
    for c, x in enumerate(q):
        parts = {k: rate[c] for k, rate in enumerate(rates) if not (isinstance(rate[c], float) and rate[c] == 0.0)}
        moved[c] = Dual(x, parts)
    return moved


@computes
def linearize(robot: Robot, q: Any, qd: Any = None, tau: Any = None) -> dict[str, Any]:
    """A, B of δẋ = A δx + B δu about a state: x = [displacements; speeds], u = forces of the actuated joints.

    `tau` defaults to what holds the state: inverse dynamics with no acceleration.  `equilibrium` tells whether the
    state is one.
    """
    from .calls import inverse

    qd = Samples(robot, **({} if qd is None else {"qd": qd})).arrays.get("qd", np.zeros(robot.nv))
    n, given = robot.nv, tau
    holding = inverse(robot, q, qd, np.zeros(n))
    if np.ndim(holding) != 1:
        raise InputError("a linearisation is about one state", found=f"{len(holding)} samples")
    actuated = [k for joint in robot.moving if joint.actuated for k in joint.speeds]
    tau = np.zeros(n) if tau is None else vector("tau", tau, n)
    if given is None:
        tau[actuated] = holding[actuated]
    found = derivatives(robot, q, qd, tau)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    for joint in robot.moving:
        if joint.type.orientation is not None:  # directions that turn with the link
            turn, shift = joint.speeds[-3:], joint.speeds[:-3]
            W = _cross(qd[list(turn)])
            A[np.ix_(turn, turn)] = -W
            if shift:
                A[np.ix_(shift, shift)] = -W
                A[np.ix_(shift, turn)] = -_cross(qd[list(shift)])
    A[n:, :n], A[n:, n:] = found["dq"], found["dqd"]
    B = np.zeros((2 * n, len(actuated)))
    B[n:] = found["dtau"][:, actuated]
    at_rest = not qd.any() and float(abs(found["qdd"]).max(initial=0.0)) < 1e-9
    return {"A": A, "B": B, "tau": tau, "qdd": found["qdd"], "equilibrium": at_rest, "actuated": tuple(actuated)}


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
