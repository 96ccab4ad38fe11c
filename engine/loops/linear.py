"""The linearised equations of state of any robot; with loops, in its independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dynamics import linear as tree
from ..dynamics.kinematics import coordinate_rates
from ..dynamics.samples import Samples, dynamics_call_with_checked_results, vector_of_dynamics_samples
from ..dynamics.spatial import dot
from ..errors import InputError, NumericalError
from ..machine.program.dual import Dual, dual_derivative
from ..machine.program.scalars import Scalar, smaller
from ..robot.model import Body, Robot
from .assembly import assemble
from .constrained import ConstrainedEquations
from .constraints import Closure, loop_closure
from .elimination import pivot_size_margin_of_constraints
from .families import TextFamily
from .mechanism import COORDINATES, independent_coordinates, inverse
from .numbers import numbers_of_mechanism_with_bodies
from .partition import best_partition, independent_speeds
from .search import CLOSED
from .slopes import Displaced
from .texts import CHECKS, NEAR, Arguments, PartitionText

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

UPRIGHT = 0.5  # cosine of an angle beyond which directions lie the wrong way round


def linearize(robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None) -> dict[str, Any]:
    """Matrices A, B of δẋ = A δx + B δu about a state: x = [displacements; speeds], u = forces of actuated joints.

    `tau` defaults to the forces that hold the state, by inverse dynamics without acceleration.  `equilibrium` says
    whether the state is an equilibrium. With loops, x has the coordinates in `independent`, places of speeds.
    """
    if not getattr(robot, "tied", False):
        return {**tree.linearize_tree(robot, q, qd, tau), "independent": tuple(range(getattr(robot, "nv", 0)))}
    return _closed(robot, q, qd, tau)


@dynamics_call_with_checked_results
def _closed(robot: Robot, q: ArrayLike, qd: ArrayLike | None, tau: ArrayLike | None) -> dict[str, Any]:
    """The linearised equations of a mechanism with its loops closed, in its independent coordinates."""
    s = Samples(robot, q=q, qd=np.zeros(robot.nv) if qd is None else qd).finite()
    if s.count is not None:
        raise InputError("a linearisation is about one state", found=f"{s.count} samples")
    loops, driven = loop_closure(robot), list(robot.driven)
    place, speeds, still, independent = _followed(loops, s.arrays["q"], s.arrays["qd"])
    turning = [joint.name for joint in robot.moving if joint.type.orientation is not None]
    if speeds.any() and any(k in robot.joint(name).speeds for name in turning for k in independent):
        raise InputError(
            f"the independent coordinates turn `{turning[0]}` freely; such a state can be linearised at rest only",
            allowed="rates of 0",
        )
    if speeds.any() and robot.rolls:
        raise InputError(
            f"{robot.name} rolls or skates: on its way, where it is doesn't follow from its independent coordinates; "
            "such a state can be linearised at rest only",
            allowed="rates of 0",
        )
    holding = np.zeros(robot.nv)
    if tau is None:
        holding[driven] = inverse(robot, place, speeds, still)[: len(driven)]
    else:
        holding = vector_of_dynamics_samples("tau", tau, robot.nv)
    rows = linearized_mechanism_texts(loops, independent).rows(
        {"q": place[None], "qd": speeds[None], "tau": holding[None]}
    )[0]
    count, qdd = len(independent), rows[: robot.nv]
    slopes = rows[robot.nv :].reshape(count, 2 * count + len(driven))
    A = np.zeros((2 * count, 2 * count))
    A[:count, count:] = np.eye(count)
    A[count:] = slopes[:, : 2 * count]
    B = np.zeros((2 * count, len(driven)))
    B[count:] = slopes[:, 2 * count :]
    return {
        "A": A,
        "B": B,
        "q": place.copy(),
        "tau": holding,
        "qdd": qdd,
        "equilibrium": not speeds.any() and float(abs(qdd).max(initial=0.0)) < 1e-9,
        "actuated": tuple(driven),
        "independent": tuple(independent),
    }


def _followed(
    loops: Closure, q: np.ndarray, speeds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Sequence[int]]:
    """The closed position, all speeds, all accelerations if the independent ones are 0, and independent coordinates."""
    given = {"q": q[None], "qd": speeds[None]}
    known: TextFamily | None = loops.robot.derived.get(Following)
    place = q
    if known is None or not known.known or not (rows := known.known[0].rows(given)[0])[-CHECKS:].min() >= 0.0:
        place = assemble(loops.robot, q)
        given["q"] = place[None]
        independent = independent_coordinates(loops, place)
        known = _following(loops, independent)
        try:
            rows = known.rows(given)[0]
        except NumericalError:
            known = _following(loops, independent_speeds(loops, loops.jacobian(place)[0]))
            rows = known.rows(given)[0]
        if known.known[0].part.independent == loops.robot.derived.get(COORDINATES):
            loops.robot.derived[Following] = known
    nv = loops.robot.nv
    return place, rows[:nv], rows[nv : 2 * nv], known.known[0].part.independent


def _following(loops: Closure, independent: Sequence[int]) -> TextFamily:
    """The family of the robot's texts of motions in these coordinates."""
    text = lambda q: Following(loops, best_partition(loops, q, (), independent))  # noqa: E731
    return loops.robot.made_once(
        (Following, tuple(independent)), lambda: TextFamily(loops, text, coordinates=independent)
    )


class Following(PartitionText):
    """The text of all speeds that follow from the independent ones, and of all accelerations if these have none."""

    inputs = ("q", "qd")

    def results(self) -> int:
        """The number of speeds and accelerations."""
        return 2 * self.loops.robot.nv

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The speeds, the accelerations, and checks; the second is that the position is as closed as it can be."""
        loops, part, q = self.loops, self.part, given["q"]
        equations, tied = ConstrainedEquations(loops, part, bodies), loops.tied(q)
        K = equations.factors(equations.rows(q, tied))
        speeds = K.solve([*([0.0] * len(part.rows)), *(given["qd"][k] for k in part.independent)])
        _, drift = loops.rates(q, speeds, tied)
        still = K.solve([*(-drift[r] for r in part.rows), *([0.0] * len(part.N))])
        gaps = [x * float(s) for x, s in zip(loops.gaps(q, tied), loops.row_scale)]
        right_way: Scalar = 1.0
        for cosine in loops.upright(tied):
            right_way = smaller(right_way, cosine - UPRIGHT)
        closed = CLOSED * CLOSED - (dot(gaps, gaps) if gaps else 0.0)
        return [*speeds, *still], [
            pivot_size_margin_of_constraints(K.pivots, [NEAR * x for x in part.pivots]),
            closed,
            right_way,
        ]


class Linear(Displaced):
    """The text of derivatives of the independent accelerations along motions that keep the loops closed.

    Columns are the independent coordinates, then their speeds, then the forces of actuated joints.
    """

    def results(self) -> int:
        """The number of accelerations and of entries of the derivatives."""
        count, robot = len(self.part.N), self.loops.robot
        return robot.nv + count * (2 * count + len(robot.driven))

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """Accelerations, derivatives, and checks."""
        robot, part = self.loops.robot, self.part
        T, factors, z, qdd, checks = self.balanced(given, bodies)
        rates = [coordinate_rates(robot, given["q"], column) for column in T]
        moved: list[Scalar] = [Dual(x, {c: rate[k] for c, rate in enumerate(rates)}) for k, x in enumerate(given["q"])]
        speeds = [Dual(given["qd"][k], {len(z) + c: 1.0}) for c, k in enumerate(part.independent)]
        still = [0.0] * len(part.rows)
        off, _ = self.unbalanced(
            given, numbers_of_mechanism_with_bodies(self.loops, bodies), moved, lambda K: K.solve([*still, *speeds]), z
        )
        columns = [factors.solve([-dual_derivative(x, k) for x in off]) for k in range(2 * len(z))]
        columns += [factors.solve([column[k] for column in T]) for k in robot.driven]
        return [*qdd, *(column[r] for r in range(len(z)) for column in columns)], checks


def linearized_mechanism_texts(loops: Closure, independent: Sequence[int]) -> TextFamily:
    """The family of the robot's texts of linearised equations in these coordinates."""
    return loops.robot.made_once(
        (Linear, tuple(independent)),
        lambda: TextFamily(loops, lambda q: Linear.at(loops, q, independent), coordinates=independent),
    )
