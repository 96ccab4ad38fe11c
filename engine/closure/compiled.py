"""Forward dynamics of mechanisms with loops for many samples: one text, compiled where that pays."""

from __future__ import annotations

import numpy as np

from ..machine import choice, kernel
from ..machine.choice import Ledger
from ..machine.kernel import Kernel
from ..machine.scalars import Scalar
from ..machine.trace import Program, Recording
from ..machine.trigonometry import REACH
from ..recursion.regroup import regrouped
from ..recursion.samples import constant_wrenches, on_bodies
from ..robot.model import Body
from .closure import Closure
from .equations import Equations, Forces
from .methods import Parameters, closed
from .partition import Partition, partition

NEAR = 1e-4  # share of a pivot below which other coordinates are better


class Forward:
    """Of one robot in the coordinates of one partition."""

    def __init__(self, loops: Closure, part: Partition):
        self.loops, self.part = loops, part
        self.ledger = Ledger(4 * len(loops.bodies))  # each of its columns runs through all of them
        self.widths = (loops.robot.nq, loops.robot.nv, loops.robot.nv)
        self.outputs = (loops.robot.nv, 1, 2 * loops.m)
        self._kernel: Kernel | None = None
        self._missed = False

    def text(
        self, q: list[Scalar], qd: list[Scalar], tau: list[Scalar], bodies: tuple[Body, ...]
    ) -> tuple[list[Scalar], Scalar, list[Scalar]]:
        """Accelerations, the guard of the partition, and how far positions and speeds are from closed."""
        robot, loops, part = self.loops.robot, self.loops, self.part
        equations = Equations(loops, part, bodies)
        tied = loops.tied(q)
        A = equations.rows(q, tied)
        K = equations.factors(A)
        on, loads = on_bodies(robot.tree, constant_wrenches(robot))
        forces = Forces(tau, on, loads)
        gaps = loops.gaps(q, tied)
        problem = equations.problem(q, qd, A, K, tied, forces, [gaps[r] for r in part.rows], {}, {}, Parameters())
        J, _ = loops.rates(q, None, tied)
        rates = [sum((x * qd[k] for k, x in row.items()), 0.0) for row in J]
        limits = [1.0 / (NEAR * x) for x in part.pivots]
        return closed(problem), equations.guard(K, limits), [*gaps, *rates]

    def program(self) -> Program:
        recording = Recording("closed")
        q, qd, tau = (recording.input(name, width) for name, width in zip(("q", "qd", "tau"), self.widths))
        qdd, guard, open_by = self.text(q, qd, tau, regrouped(self.loops.bodies))
        return recording.program(qdd=qdd, guard=[guard], open=open_by)

    def __call__(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Accelerations and gaps by compiled code; None where the plain way is to be taken."""
        compiled = self._compiled(len(q))
        if compiled is None:
            return None
        (qdd, guard, open_by), finite, largest = compiled(q, qd, tau)
        if not finite or largest > REACH or not (guard > 0.0).all():
            return None
        return qdd, open_by

    def _compiled(self, samples: int) -> Kernel | None:
        wanted = self.ledger.wants(samples)
        if wanted == "plain" or (wanted == "cached" and self._missed):
            return None
        if self._kernel is None:
            self._missed = True
            try:
                identity = (repr(self.loops.bodies), repr(self._identity()))
                self._kernel = kernel.build(self.program, self.widths, self.outputs, identity, wanted == "cached")
            except (ImportError, RuntimeError, OSError) as error:
                choice.give_up(error)
        return self._kernel

    def _identity(self) -> tuple:
        robot, loops = self.loops.robot, self.loops
        return (
            robot.gravity,
            [(joint.type.name, joint.coordinates, joint.speeds) for joint in robot.moving],
            [(wrench.wrench, wrench.at, wrench.axes, robot.tree.seats[wrench.link]) for wrench in robot.wrenches],
            [(one.first, one.second, one.rows) for one in loops.ties],
            loops.couplings,
            self.part,
        )


def forward_of(loops: Closure, q: np.ndarray) -> Forward:
    """The robot's forward dynamics in coordinates that are good at q; found again while they stay so."""
    known: list[Forward] = loops.robot.derived.setdefault("closed forward", [])
    J, _ = loops.jacobian(q)
    for one in known:
        if one.part.share(J) > 0.05:
            return one
    known.append(Forward(loops, partition(loops, q, (), loops.robot.driven)))
    return known[-1]
