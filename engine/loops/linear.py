"""The linearised equations of state of any robot; with loops, in its independent coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..dynamics import linear as tree
from ..dynamics import quantities
from ..dynamics.derivatives import SLOPES, by_rows, displaced
from ..dynamics.direct import direct
from ..dynamics.kinematics import coordinate_rates
from ..dynamics.samples import Samples, computes, vector
from ..dynamics.spatial import add, dot, scale
from ..dynamics.sweeps import dynamics
from ..errors import InputError, NumericalError
from ..machine.jit.parts import Part, divided, in_order
from ..machine.program.dual import Dual, part_of
from ..machine.program.scalars import Scalar, smaller
from ..robot.model import Body, Robot
from .accelerations import Accelerated
from .assembly import assemble
from .constrained import ConstrainedEquations
from .constraints import Closure, closure
from .elimination import Blockwise, pivot_size_margin
from .mechanism import COORDINATES, independent_coordinates, inverse
from .partition import independent_speeds, partition
from .search import CLOSED
from .texts import CHECKS, NEAR, Arguments, PartitionText, TextFamily, quick, serve

UPRIGHT = 0.5  # cosine of an angle beyond which directions lie the wrong way round
DERIVATIVES = "fdyn-derivatives"  # the name of the direct call


def derivatives(robot: Robot, q: Any, qd: Any, tau: Any) -> dict[str, np.ndarray]:
    """Accelerations qdd and their derivatives dq, dqd, dtau, nv × nv or N × nv × nv; columns are directions.

    With loops, each direction moves a single joint of the spanning tree, even if that opens the loops; the
    constraints hold in the accelerations, J q̈ + J̇ q̇ = 0.
    """
    try:
        call = robot.derived[DERIVATIVES]
    except (AttributeError, KeyError):
        if not getattr(robot, "tied", False):
            return quantities.derivatives(robot, q, qd, tau)
        widths = robot.nq, robot.nv, robot.nv
        call = direct(robot, DERIVATIVES, (), widths, partial(_along_joints, robot), derivatives.__doc__ or "")
    result: dict[str, np.ndarray] = call(q, qd, tau)
    return result


def _along_joints(robot: Robot, q: Any, qd: Any, tau: Any) -> dict[str, np.ndarray]:
    if (answer := quick(DERIVATIVES, Slopes, robot, q, qd, tau)) is not None:
        at_once: dict[str, np.ndarray] = answer
        return at_once
    s, family = Samples(robot, q=q, qd=qd, tau=tau).finite(), slope_texts(closure(robot))
    if s.count == 0:
        rows = np.empty((0, robot.nv * (1 + 3 * robot.nv)))
    else:
        rows = family.rows({name: s.rows(name) for name in ("q", "qd", "tau")})
        serve(family.known[0], DERIVATIVES)
    by_name = divided(rows if s.count is not None else rows[0], slopes_in_order(robot))
    assert isinstance(by_name, dict)
    return by_name


def slopes_in_order(robot: Robot) -> tuple[Part, ...]:
    """The accelerations and their derivatives, among a sample's numbers."""
    n = robot.nv
    return in_order([("qdd", (n,)), *((name, (n, n)) for name in SLOPES)])


def linearize(robot: Robot, q: Any, qd: Any = None, tau: Any = None) -> dict[str, Any]:
    """Matrices A, B of δẋ = A δx + B δu about a state: x = [displacements; speeds], u = forces of actuated joints.

    `tau` defaults to the forces that hold the state, by inverse dynamics without acceleration.  `equilibrium` says
    whether the state is an equilibrium. With loops, x has the coordinates in `independent`, places of speeds.
    """
    if not getattr(robot, "tied", False):
        return {**tree.linearize(robot, q, qd, tau), "independent": tuple(range(getattr(robot, "nv", 0)))}
    return _closed(robot, q, qd, tau)


@computes
def _closed(robot: Robot, q: Any, qd: Any, tau: Any) -> dict[str, Any]:
    """The linearised equations of a mechanism with its loops closed, in its independent coordinates."""
    s = Samples(robot, q=q, qd=np.zeros(robot.nv) if qd is None else qd).finite()
    if s.count is not None:
        raise InputError("a linearisation is about one state", found=f"{s.count} samples")
    loops, driven = closure(robot), list(robot.driven)
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
        holding = vector("tau", tau, robot.nv)
    rows = linear_texts(loops, independent).rows({"q": place[None], "qd": speeds[None], "tau": holding[None]})[0]
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
    key = Following, tuple(independent)
    result: TextFamily | None = loops.robot.derived.get(key)
    if result is None:
        made = TextFamily(
            loops, lambda q: Following(loops, partition(loops, q, (), independent)), coordinates=independent
        )
        result = loops.robot.derived.setdefault(key, made)
    return result


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
        return [*speeds, *still], [pivot_size_margin(K.pivots, [NEAR * x for x in part.pivots]), closed, right_way]


class Displaced(Accelerated):
    """A text of accelerations with derivatives.  With z̈ the independent accelerations, Tᵀ (τ_ID(q, q̇, q̈) − τ) = 0 holds
    in every state, so along each direction ∂z̈ = −(Tᵀ M T)⁻¹ ∂[Tᵀ (τ_ID − τ)], with the derivative at fixed z̈.
    """

    def unbalanced(
        self,
        given: Arguments,
        bodies: tuple[Body, ...],
        q: Sequence[Scalar],
        qd: Callable[[Blockwise], list[Scalar]],
        z: Sequence[Scalar],
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Tᵀ (τ_ID − τ) and q̈ at displaced q, with the speeds that `qd` takes from K there, and with the same z̈."""
        loops, part, robot = self.loops, self.part, self.loops.robot
        equations, tied = ConstrainedEquations(loops, part, bodies), loops.tied(q)
        K = equations.factors(equations.rows(q, tied))
        speeds = qd(K)
        _, drift = loops.rates(q, speeds, tied)
        qdd = K.solve([*(-drift[r] for r in part.rows), *z])
        tau, _ = dynamics(bodies, robot.gravity, q, speeds, qdd, (True,) * robot.nv, *self.acting(given))
        return K.transposed([x - y for x, y in zip(tau, given["tau"])])[len(part.rows) :], qdd


class Slopes(Displaced):
    """The text of accelerations and their derivatives in all directions of the spanning tree."""

    def results(self) -> int:
        """The number of accelerations and of entries of dq, dqd and dtau."""
        n = self.loops.robot.nv
        return n + 3 * n * n

    def parts(self) -> tuple[Part, ...]:
        """The accelerations and their derivatives."""
        return slopes_in_order(self.loops.robot)

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """Accelerations, derivatives, and checks."""
        n = self.loops.robot.nv
        T, factors, z, qdd, checks = self.balanced(given, bodies)
        speeds: list[Scalar] = [Dual(x, {n + k: 1.0}) for k, x in enumerate(given["qd"])]
        moved = displaced(self.loops.robot, given["q"])
        off, held = self.unbalanced(given, bodies, moved, lambda K: speeds, z)
        columns = []
        for k in range(2 * n):
            columns.append([part_of(x, k) for x in held])
            for column, x in zip(T, factors.solve([-part_of(x, k) for x in off])):
                columns[-1] = add(columns[-1], scale(x, column))
        for k in range(n):
            columns.append([0.0] * n)
            for column, x in zip(T, factors.solve([column[k] for column in T])):
                columns[-1] = add(columns[-1], scale(x, column))
        return [*qdd, *by_rows(columns)], checks


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
        off, _ = self.unbalanced(given, bodies, moved, lambda K: K.solve([*still, *speeds]), z)
        columns = [factors.solve([-part_of(x, k) for x in off]) for k in range(2 * len(z))]
        columns += [factors.solve([column[k] for column in T]) for k in robot.driven]
        return [*qdd, *(column[r] for r in range(len(z)) for column in columns)], checks


def linear_texts(loops: Closure, independent: Sequence[int]) -> TextFamily:
    """The family of the robot's texts of linearised equations in these coordinates."""
    key = Linear, tuple(independent)
    result: TextFamily | None = loops.robot.derived.get(key)
    if result is None:
        made = TextFamily(loops, lambda q: Linear.at(loops, q, independent), coordinates=independent)
        result = loops.robot.derived.setdefault(key, made)
    return result


def slope_texts(loops: Closure) -> TextFamily:
    """The family of the robot's texts of derivatives."""
    result: TextFamily | None = loops.robot.derived.get(Slopes)
    if result is None:
        made = TextFamily(loops, lambda q: Slopes.at(loops, q, loops.robot.driven))
        result = loops.robot.derived.setdefault(Slopes, made)
    return result
