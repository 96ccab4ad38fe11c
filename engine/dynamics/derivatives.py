"""Derivatives of forward dynamics, and the linearised equations of state.

There is one direction for each speed.  For Euler parameters, the directions are small turns about the link's axes; for
a free joint's position, they are small shifts along these axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..machine.jit.kernel import Kernel
from ..machine.jit.offer import Offer, in_blocks
from ..machine.jit.trigonometry import REACH
from ..machine.program.dual import Dual, part_of
from ..machine.program.scalars import Scalar
from ..machine.program.trace import Program, Recording
from ..robot.model import Body, Robot
from .dense import Factors, inertia_matrix
from .kinematics import coordinate_rates
from .regroup import regrouped
from .samples import Samples, computes, vector
from .sweeps import dynamics
from .wrenches import constant_wrenches, on_bodies

BLOCK = 1000  # samples × bodies that the plain text holds at once


@computes
def derivatives(robot: Robot, q: Any, qd: Any, tau: Any) -> dict[str, np.ndarray]:
    """Accelerations qdd and their derivatives dq, dqd, dtau, nv × nv or N × nv × nv; columns are directions."""
    s = Samples(robot, q=q, qd=qd, tau=tau).finite()
    key = "derivatives"
    slopes: Slopes = robot.derived.get(key) or robot.derived.setdefault(key, Slopes(robot))
    found = blocks(slopes.rows([s.rows(name) for name in ("q", "qd", "tau")]), robot.nv)
    return found if s.count is not None else {name: block[0] for name, block in found.items()}


def blocks(rows: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """Accelerations and matrices of derivatives, from rows that hold both."""
    found = {"qdd": rows[:, :n]}
    for k, name in enumerate(("dq", "dqd", "dtau")):
        found[name] = rows[:, n + k * n * n : n + (k + 1) * n * n].reshape(-1, n, n)
    return found


class Slopes:
    """Forward dynamics of one robot with its derivatives, as one text that runs plain or compiled."""

    def __init__(self, robot: Robot):
        self.robot, n = robot, robot.nv
        self.outputs = n + 3 * n * n
        self.offer = Offer(self.program, (robot.nq, n, n), (self.outputs,), self.identity)

    def text(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], bodies: tuple[Body, ...]
    ) -> list[Scalar]:
        """The accelerations, then dq, dqd and dtau row by row.

        Inverse dynamics τ(q, q̇, q̈) of the accelerations by forward dynamics returns the given forces in every state.
        Hence ∂q̈ = −M⁻¹ ∂τ along each direction of q and q̇, and M⁻¹ along that of a force.
        """
        robot, n = self.robot, self.robot.nv
        on, loads = on_bodies(robot.tree, constant_wrenches(robot))
        qdd, _ = dynamics(bodies, robot.gravity, q, qd, tau, (False,) * n, on, loads)
        speeds = [Dual(x, {n + k: 1.0}) for k, x in enumerate(qd)]
        forces, _ = dynamics(bodies, robot.gravity, displaced(robot, q), speeds, qdd, (True,) * n, on, loads)
        factors = Factors(inertia_matrix(bodies, q, n))
        columns = [factors.solve([-part_of(x, k) for x in forces]) for k in range(2 * n)]
        columns += [factors.solve([float(r == k) for r in range(n)]) for k in range(n)]
        blocks = [columns[first : first + n] for first in (0, n, 2 * n)]
        return [*qdd, *(block[k][r] for block in blocks for r in range(n) for k in range(n))]

    def program(self) -> Program:
        """The recorded program of the text, with regrouped inertias."""
        recording, robot = Recording("derivatives"), self.robot
        q, qd, tau = (recording.input(x, k) for x, k in (("q", robot.nq), ("qd", robot.nv), ("tau", robot.nv)))
        return recording.program(found=self.text(q, qd, tau, regrouped(robot.tree.bodies)))

    def identity(self) -> tuple[str, ...]:
        """Everything that the program depends on, as strings."""
        robot = self.robot
        joints = [(joint.type.name, joint.coordinates, joint.speeds) for joint in robot.moving]
        wrenches = on_bodies(robot.tree, constant_wrenches(robot))
        return "derivatives", repr(robot.tree.bodies), repr(robot.gravity), repr(joints), repr(wrenches)

    def rows(self, given: Sequence[np.ndarray]) -> np.ndarray:
        """Accelerations and derivatives, with a row for each sample; NaN where they aren't finite."""
        count = len(given[0])
        if count == 1 and (single := self.offer.single()) is not None:
            alone = single(*(array[0] for array in given))
            if alone is not None:
                return alone[None]

        def by(code: Kernel, first: int) -> np.ndarray | None:
            (rows,), finite, largest = code(*(array[first:] for array in given))
            return rows if finite and largest <= REACH else None

        def text(these: slice) -> np.ndarray:
            block = np.empty((these.stop - these.start, self.outputs))
            q, qd, tau = (_columns(array[these]) for array in given)
            for k, x in enumerate(self.offer.plain(len(block), self.text, q, qd, tau, self.robot.tree.bodies)):
                block[:, k] = x
            return block

        lanes = self.offer.lanes if count > 1 else lambda samples: None
        return in_blocks(np.empty((count, self.outputs)), max(8, BLOCK // max(self.robot.nv, 1)), lanes, by, text)


def _columns(rows: np.ndarray) -> list[Scalar]:
    """A scalar for each column of an array: floats if it has a single row, else arrays."""
    return rows[0].tolist() if len(rows) == 1 else [np.ascontiguousarray(x) for x in rows.T]


def displaced(robot: Robot, q: Sequence[Scalar]) -> list[Scalar]:
    """The coordinates q with their derivatives along the speeds; in direction k, speed k is 1."""
    moved: list[Scalar] = list(q)
    rates = [coordinate_rates(robot, list(q), [float(j == k) for j in range(robot.nv)]) for k in range(robot.nv)]
    for c, x in enumerate(q):
        parts = {k: rate[c] for k, rate in enumerate(rates) if not (isinstance(rate[c], float) and rate[c] == 0.0)}
        moved[c] = Dual(x, parts)
    return moved


@computes
def linearize(robot: Robot, q: Any, qd: Any = None, tau: Any = None) -> dict[str, Any]:
    """Matrices A, B of δẋ = A δx + B δu about a state: x = [displacements; speeds], u = forces of actuated joints.

    `tau` defaults to the forces that hold the state, by inverse dynamics without acceleration.  `equilibrium` says
    whether the state is an equilibrium.
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
