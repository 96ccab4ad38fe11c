"""The linearised equations of state of any robot; with loops, in its independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, NumericalError
from ...machine.program import Dual, Part, Scalar, as_float, dual_derivative, kernel_parts_divided, sign, smaller
from ...robot import Body, Robot
from ..assembly.assembly import assemble
from ..assembly.search import CLOSED
from ..closure.constrained import ConstrainedEquations
from ..closure.constraints import Closure, loop_closure
from ..closure.partition import Partition, independent_speeds
from ..quantities import quantities
from ..quantities.derivatives import put_state, state_space_parts
from ..quantities.entries import Entries
from ..quantities.programs import HELD, LINEARIZED
from ..quantities.samples import Samples, dynamics_call_with_checked_results, resting_speeds
from ..tree.kinematics import coordinate_rates
from ..tree.spatial import dot
from ..tree.sweeps import sweep_tree
from .branches import Order, Split, branch_order_at_position, loop_actuator_efforts, multipliers_in_equations
from .effort import loop_efforts_have_limits
from .families import TextFamily, serve_mechanism_calls
from .mechanism import COORDINATES, independent_coordinates, inverse, mechanism_has_enough_actuators
from .numbers import numbers_of_mechanism_with_bodies
from .slopes import Displaced
from .texts import Arguments, Arrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

UPRIGHT = 0.5  # cosine of an angle beyond which directions lie the wrong way round


def linearize(robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None) -> dict[str, Any]:
    """Matrices A, B of δẋ = A δx + B δu about a state: x = [displacements; speeds], u = forces of actuated joints.

    `tau` defaults to the forces that hold the state, by inverse dynamics without acceleration.  `equilibrium` says
    whether the state is an equilibrium. With loops, x has the coordinates in `independent`, places of speeds.
    """
    what = HELD if tau is None else LINEARIZED
    try:
        call = robot.derived[what]
    except (AttributeError, KeyError):
        call = quantities.quantity_call(robot, what, _closed)
    if qd is None:
        qd = resting_speeds(robot)
    result: dict[str, Any] = call(q, qd) if tau is None else call(q, qd, tau)
    return result


@dynamics_call_with_checked_results
def _closed(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None) -> dict[str, Any]:
    """The linearised equations of a mechanism with its loops closed, in its independent coordinates."""
    s = (Samples(robot, q=q, qd=qd) if tau is None else Samples(robot, q=q, qd=qd, tau=tau)).finite()
    if s.count is not None:
        raise InputError("a linearisation is about one state", found=f"{s.count} samples")
    loops, place = loop_closure(robot), s.arrays["q"]
    if not _is_closed(loops, place):
        place = assemble(robot, place)
    given = {**{name: x[None] for name, x in s.arrays.items()}, "q": place[None]}
    independent = independent_coordinates(loops, place)
    try:
        return _linearized(loops, independent, given)
    except NumericalError:
        own = independent_speeds(loops, loops.jacobian(place)[0])
        if own == list(independent):
            raise
        return _linearized(loops, own, given)


def _is_closed(loops: Closure, q: np.ndarray) -> bool:
    """Whether a position is as closed as it can be."""
    gaps, tied = loops.gap(q) * loops.row_scale, loops.ties_at(q.tolist())
    return float(gaps @ gaps) <= CLOSED * CLOSED and all(as_float(x) >= UPRIGHT for x in loops.upright(tied))


def _linearized(loops: Closure, independent: Sequence[int], given: Arrays) -> dict[str, Any]:
    """The linearised equations in these coordinates, at a closed position."""
    robot, what = loops.robot, LINEARIZED if "tau" in given else HELD
    _refuse_what_turns_or_rolls(robot, given["qd"], independent)
    if what == HELD:
        mechanism_has_enough_actuators(robot, given["q"])
    family = linearized_mechanism_texts(loops, independent, what)
    rows = family.rows(given)
    text = family.known[0]
    if not text.final:  # limits of actuators decide how they share their work
        motion = _without_accelerations(loops, text.part, given["q"][0], given["qd"][0])
        holding = np.zeros((1, robot.nv))
        holding[:, list(robot.driven)] = inverse(robot, given["q"][0], *motion)[: len(robot.driven)]
        return _linearized(loops, independent, {**given, "tau": holding})
    if list(independent) == robot.derived.get(COORDINATES):
        serve_mechanism_calls(text, what)
    result = kernel_parts_divided(rows[0], text.parts())
    assert isinstance(result, dict)
    return result


def _refuse_what_turns_or_rolls(robot: Robot, qd: np.ndarray, independent: Sequence[int]) -> None:
    """Raises an error for a moving robot whose displacements aren't those of its independent coordinates."""
    turning = _turned_freely(robot, independent)
    if qd.any() and turning:
        raise InputError(
            f"the independent coordinates turn `{turning[0]}` freely; such a state can be linearised at rest only",
            allowed="rates of 0",
        )
    if qd.any() and robot.rolls:
        raise InputError(
            f"{robot.name} rolls or skates: on its way, where it is doesn't follow from its independent coordinates; "
            "such a state can be linearised at rest only",
            allowed="rates of 0",
        )


def _turned_freely(robot: Robot, independent: Sequence[int]) -> list[str]:
    """Joints with Euler parameters among the independent coordinates."""
    turning = [joint for joint in robot.moving if joint.type.orientation is not None]
    return [joint.name for joint in turning if any(k in joint.speeds for k in independent)]


def _without_accelerations(
    loops: Closure, part: Partition, q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The speeds, and the accelerations of all joints if the independent ones have none."""
    J, drift = loops.jacobian(q, qd)
    return qd, np.linalg.solve(part.matrix(J), [*(-drift[list(part.rows)]), *([0.0] * len(part.N))])


class Linear(Displaced):
    """The text of the linearised equations; with an order of the forces, under those that hold the state.

    Columns are the independent coordinates, then their speeds, then the forces of actuated joints.
    """

    chosen = ("least", "order")

    def __init__(
        self,
        loops: Closure,
        part: Partition,
        wrenched: tuple[str, ...] = (),
        least: Sequence[float] = (),
        order: Order | None = None,
    ):
        self.order = order
        self.inputs = ("q", "qd", "tau") if order is None else ("q", "qd")
        self._parts = state_space_parts(loops.robot, part.independent, loops.robot.driven, closed=True)
        super().__init__(loops, part, wrenched, least)
        shares = order is not None and bool(order.shared)
        self.final = not (shares and loop_efforts_have_limits(loop_actuator_efforts(loops.robot)))

    def parts(self) -> tuple[Part, ...]:
        """A, B, the position, forces, accelerations, and what they are about."""
        return self._parts

    def share(self, q: np.ndarray) -> float:
        """The share of the pivot that has lost most, of all eliminations."""
        own = super().share(q)
        return own if self.order is None else min(own, Split.share(self.loops, self.order, q))

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The numbers of the parts, and checks; the second is that the position is as closed as it can be."""
        robot, part, loops, q = self.loops.robot, self.part, self.loops, given["q"]
        equations, tied = ConstrainedEquations(loops, part, bodies), loops.ties_at(q)
        K = equations.factors(equations.rows(q, tied))
        fixed = [0.0] * len(part.rows)
        qd = K.solve([*fixed, *(given["qd"][k] for k in part.independent)])
        tau, fit = given.get("tau", [0.0] * robot.nv), list[Scalar]()
        if self.order is not None:
            _, drift = loops.rates(q, qd, tied)
            still = K.solve([*(-drift[r] for r in part.rows), *([0.0] * len(part.N))])
            needed, _ = sweep_tree(bodies, robot.gravity, q, qd, still, [True] * robot.nv, *self.acting(given))
            holding = Split(loops, self.order, q, loops.rates([], None, tied)[0], needed)
            for k, x in zip(robot.driven, holding.actuated):
                tau[k] = x
            fit.append(holding.fit())
        state: Arguments = {**given, "qd": qd, "tau": tau}
        T, factors, z, qdd, checks = self.balanced(state, bodies)
        rates = [coordinate_rates(robot, q, column) for column in T]
        moved: list[Scalar] = [Dual(x, {c: rate[k] for c, rate in enumerate(rates)}) for k, x in enumerate(q)]
        speeds = [Dual(qd[k], {len(z) + c: 1.0}) for c, k in enumerate(part.independent)]
        off, _ = self.unbalanced(
            state, numbers_of_mechanism_with_bodies(loops, bodies), moved, lambda K: K.solve([*fixed, *speeds]), z
        )
        columns = [factors.solve([-dual_derivative(x, k) for x in off]) for k in range(2 * len(z))]
        columns += [factors.solve([column[k] for column in T]) for k in robot.driven]
        numbers = self._numbers(q, columns, qd, tau, qdd)
        gaps = [x * float(s) for x, s in zip(loops.gaps(q, tied), loops.row_scale)]
        closed = CLOSED * CLOSED - (dot(gaps, gaps) if gaps else 0.0)
        for cosine in loops.upright(tied):
            closed = smaller(closed, cosine - UPRIGHT)
        *_, staying = self.closing(q, given["qd"], tied)
        if robot.rolls or _turned_freely(robot, part.independent):
            staying = smaller(staying, -sum((x * sign(x) for x in qd), 0.0))
        whole: Scalar = checks[0]
        for x in fit:
            whole = smaller(whole, x)
        return numbers, [whole, closed, staying, *checks[3:]]

    def _numbers(
        self,
        q: Sequence[Scalar],
        columns: Sequence[Sequence[Scalar]],
        qd: Sequence[Scalar],
        tau: Sequence[Scalar],
        qdd: Sequence[Scalar],
    ) -> list[Scalar]:
        """All numbers of the parts."""
        n, found = len(self.part.N), Entries()
        for k in range(n):
            found.put("A", k, n + k, 1.0)
        for c, column in enumerate(columns):
            for r, x in enumerate(column):
                found.put(*(("A", n + r, c) if c < 2 * n else ("B", n + r, c - 2 * n)), x)
        for k, x in enumerate(q):
            found.put("q", 0, k, x)
        put_state(found, qd, tau, qdd)
        return found.numbers(self._parts)


def linearized_mechanism_texts(loops: Closure, independent: Sequence[int], what: str) -> TextFamily:
    """The family of the robot's texts of linearised equations in these coordinates."""

    def family() -> TextFamily:
        there = multipliers_in_equations(loops) if what == HELD else None

        def made(q: np.ndarray) -> Linear:
            order = None if there is None else branch_order_at_position(loops, q, there)
            return Linear.at(loops, q, independent, (), order)

        return TextFamily(loops, made, coordinates=independent)

    return loops.robot.made_once((Linear, what, tuple(independent)), family)
