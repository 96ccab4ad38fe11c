"""The forces of actuators and cuts that go with a motion: S u + T a + Jᵀ λ = τ of the spanning tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import InputError, NumericalError
from ...machine.program import as_floats
from ...robot import Robot
from ...text import count_with_noun
from ..closure.constraints import Closure, loop_closure
from ..closure.rank import TINY, constraint_null_space
from . import effort
from .branches import (
    Branches,
    Order,
    branch_order_at_position,
    forces_acting_in_loops,
    loop_actuator_efforts,
    multipliers_entering_equations,
    multipliers_in_equations,
    singular_loop_message,
)
from .families import TextFamily
from .subsystems import Subsystem, least_norm_multipliers


@dataclass(frozen=True)
class Forces:
    """The sought forces of many samples: of actuated speeds, then of actuators, and the multipliers of all rows."""

    actuated: np.ndarray
    multipliers: np.ndarray


class Balance:
    """The balance of forces of one robot at the positions of a batch, its properties and its solution.

    `texts` are those of `loop_balance_texts`, for callers that come back with other positions.
    """

    def __init__(self, robot: Robot, q: np.ndarray, loops: Closure | None = None, texts: TextFamily | None = None):
        self.robot, self.loops, self._texts = robot, loops or loop_closure(robot), texts
        self.q = np.ascontiguousarray(np.atleast_2d(q), dtype=float)
        self.J, _ = self.loops.jacobian(self.q)
        self.driven = list(robot.driven)
        self.S = forces_acting_in_loops(robot, self.q)

    @cached_property
    def rows(self) -> list[int]:
        """Independent rows at the first position."""
        return self.loops.choice(self.J[0], self.driven)[0]

    @property
    def freedoms(self) -> int:
        """The number of freedoms at the first position."""
        return self.robot.nv - len(self.rows)

    @property
    def idle(self) -> int:
        """The number of idle spins: freedoms of rods between spherical joints that no actuator moves."""
        return len(idle_spins(self.loops, self.J[0], self.S[0]).T)

    def unmoved(self) -> int:
        """The number of freedoms besides idle spins that no actuator moves."""
        moved = np.concatenate([self.loops.scaled(self.J[0]), self.S[0].T])
        result: int = constraint_null_space(moved).shape[1] - self.idle
        return result

    def steps(self) -> list[Subsystem]:
        """The order in which the branches are solved."""
        return list(self._order(self.q[0]).steps)

    def _order(self, q: np.ndarray) -> Order:
        return branch_order_at_position(self.loops, q, multipliers_entering_equations(self.loops, self.J, self.S))

    def solve(self, tau: np.ndarray) -> Forces:
        """The forces, branch by branch; actuators that share their work are solved together, within their limits."""
        tau = np.ascontiguousarray(np.atleast_2d(tau), dtype=float)
        family = self._texts or loop_balance_family(self.loops, self._order)
        result = family.rows({"q": self.q, "tau": tau})
        actuated, multipliers = np.split(result, [self.S.shape[2]], axis=1)
        if actuators_share_loop_work(family):
            for n in np.flatnonzero(
                effort.loop_efforts_exceed_limits(actuated, loop_actuator_efforts(self.robot))
            ).tolist():
                actuated[n], multipliers[n] = self._within_limits(n, tau[n])
        return Forces(actuated, multipliers)

    def _within_limits(self, n: int, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least effort within the actuators' limits, and the multipliers that go with it."""
        N = self.loops.column_scale[:, None] * constraint_null_space(self.loops.scaled(self.J[n]))
        u = effort.least_loop_effort(N.T @ self.S[n], N.T @ tau, loop_actuator_efforts(self.robot))
        J, others = self.J[n][self.rows], [r for r in range(self.loops.m) if r not in self.rows]
        rest = np.column_stack([tau - self.S[n] @ u, self.J[n][others].T])
        x = np.linalg.lstsq(J.T, rest, rcond=None)[0]
        multipliers = np.zeros(self.loops.m)
        own, dependent = least_norm_multipliers(x[:, 1:].T.tolist(), x[:, 0].tolist())
        multipliers[self.rows], multipliers[others] = as_floats(own), as_floats(dependent)
        return u, multipliers


def loop_balance_texts(loops: Closure) -> TextFamily:
    """The texts by which the forces are split, in orders of solution that are kept from position to position."""
    there = multipliers_in_equations(loops)
    return loop_balance_family(loops, lambda q: branch_order_at_position(loops, q, there))


def loop_balance_family(loops: Closure, ordered: Callable[[np.ndarray], Order]) -> TextFamily:
    """The texts by which the forces are split, each in the order that is good at some position."""
    lost = NumericalError(singular_loop_message(loops.robot))
    return TextFamily(loops, lambda q: Branches(loops, ordered(q)), lost)


def actuators_share_loop_work(family: TextFamily) -> bool:
    """Whether any actuators share their work, so that limits matter."""
    return any(isinstance(text, Branches) and text.order.shared for text in family.known)


def undetermined_multipliers(loops: Closure, q: np.ndarray) -> np.ndarray:
    """Whether each row's multiplier is one that no rigid-body model can determine."""
    J, _ = loops.jacobian(q)
    Z = constraint_null_space(loops.scaled(J).T)
    result: np.ndarray = np.sqrt((Z**2).sum(axis=1)) > 1e-6
    return result


def idle_spins(loops: Closure, J: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Motions as columns that no actuator resists and that only turn spherical joints about one axis."""
    robot = loops.robot
    N: np.ndarray = constraint_null_space(np.concatenate([loops.scaled(J), S.T]))
    if not N.shape[1]:
        return N
    spherical = [joint for joint in robot.moving if "spherical" in (joint.type.name, joint.type.form_of)]
    turning = {k for joint in spherical for k in joint.speeds}
    rest = [k for k in range(robot.nv) if k not in turning]
    N = N @ constraint_null_space(N[rest], size=1.0)  # only spherical joints move
    for joint in spherical:
        own = N[list(joint.speeds)]
        if own.size and np.linalg.matrix_rank(own, tol=TINY) > 1:  # free about several axes, so no rod spins there
            N = N @ constraint_null_space(own, size=1.0)
    return N


def enough_actuators_for_freedoms(balance: Balance) -> None:
    """Raises an error if there are fewer actuators than freedoms, or actuators that move nothing."""
    robot, missing = balance.robot, balance.unmoved()
    if missing > 0:
        freedoms = balance.freedoms - balance.idle
        hint = "`actuated: true` in a joint, a free one too, or an entry under `actuators`"
        if not robot.tied:
            hint += "; without any `actuators` the forces of all joints are found"
        raise InputError(
            f"{robot.name} has {count_with_noun(freedoms, 'freedom')} (idle spins not counted), of which its "
            f"actuators move {freedoms - missing}",
            found=f"actuated: {', '.join(actuated_names(robot)) or 'nothing'}",
            allowed="as many actuators as freedoms, or more",
            hint=hint,
        )
    useless = [actuated_speeds(robot)[k] for k in motionless_loop_actuators(balance)]
    if useless:
        raise InputError(
            f"{robot.name}: the actuator of `{useless[0]}` moves nothing: the {robot.ties_in_words} hold it still",
            found=f"actuated: {', '.join(actuated_names(robot))}",
            allowed="actuators that move something",
            hint="`denoc inspect` shows the freedoms; without `actuated: true` in that joint it can be computed",
        )


def motionless_loop_actuators(balance: Balance) -> list[int]:
    """Places in `actuated_speeds` of actuators that move nothing, in any of a few positions of the batch."""
    result = list(range(balance.S.shape[2]))
    for n in sorted({0, len(balance.q) // 2, len(balance.q) - 1}):
        if result:
            N = balance.loops.column_scale[:, None] * constraint_null_space(balance.loops.scaled(balance.J[n]))
            S = balance.S[n][:, result]
            moves = abs(S.T @ N).max(axis=1, initial=0.0) > TINY * np.maximum(abs(S).max(axis=0, initial=0.0), 1e-300)
            result = [k for k, moved in zip(result, moves) if not moved]
    return result


def actuated_speeds(robot: Robot) -> list[str]:
    """Names of all actuated speeds, then of all actuators."""
    own = [
        f"{joint.name}.{suffix}" if joint.type.nv > 1 else joint.name
        for joint in robot.moving
        if joint.actuated
        for suffix in joint.type.forces
    ]
    return own + [one.name for one in robot.actuators]


def actuated_names(robot: Robot) -> Sequence[str]:
    return [joint.name for joint in robot.moving if joint.actuated] + [one.name for one in robot.actuators]
