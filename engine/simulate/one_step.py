"""One step of a robot under held forces, as a text on scalars that is recorded and compiled whole: all four stages.

A mechanism's loops are closed in every stage and at the step's end; Euler parameters come out with norm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..machine.backend import chosen_backend, using_backend
from ..machine.jit import Kernel, Offer, Single
from ..machine.program import Program, Recording, Scalar, clipped, square_root
from ..mechanics.closure import loop_closure
from ..mechanics.tree import dot
from ..robot import Robot
from . import coordinates
from .equations import Evaluation, evaluate_equations, state_rates
from .recorded import fixed_identity_of_run_equations
from .systems.discrete import Discrete
from .systems.inputs import Driven, Inputs
from .systems.system import System

MOST_BODIES = 60  # whose four evaluations are compiled in one line
NEAR = 0.3  # share of a pivot below which others are taken: steps of fixed length can't become shorter on the way there


def simulator_system(robot: Robot, friction_rate: float) -> System:
    """The system of a robot whose actuators have held forces; dry friction is smooth, and limits are no stops."""
    own = [(k, place) for joint in robot.moving if joint.actuated for place, k in enumerate(joint.speeds)]
    others = [(robot.nv + k, 0) for k in range(len(robot.actuators))]
    driven = tuple(Driven(k, None, lambda t, q, qd, ref: 0.0, None, place, timed=True) for k, place in (*own, *others))
    return System(robot, loop_closure(robot), Inputs(driven=driven), switches=True, smooth=friction_rate, stops=False)


def simulator_effort_limits(robot: Robot) -> list[tuple[float, float]]:
    """The limits of the forces, in the order of the forces: of actuated joints, then of `actuators`."""
    own = [joint.effort for joint in robot.moving if joint.actuated for _ in joint.speeds]
    return [(one.low, one.high) for one in (*own, *(one.effort for one in robot.actuators))]


def simulator_force_columns(robot: Robot) -> tuple[str, ...]:
    """The columns of the forces, in their order."""
    own = [name for joint in robot.moving if joint.actuated for name in joint.columns("forces")]
    return (*own, *(f"{one.name}.force" for one in robot.actuators))


def simulator_pivot_limits(discrete: Discrete) -> list[float]:
    """The inverse bounds of the pivots, which are signals of a mechanism."""
    return [1.0 / (x * discrete.near) if x else 0.0 for x in discrete.pivots]


def simulator_step(
    system: System, discrete: Discrete, y: Sequence[Scalar], forces: Sequence[Scalar], rest: Sequence[Scalar], h: Scalar
) -> list[Scalar]:
    """The state after a step of length h by the classical method of Runge and Kutta; behind it a mechanism's guard."""
    signals = [*(_limited(x, *bounds) for x, bounds in zip(forces, simulator_effort_limits(system.robot))), *rest]

    def evaluated(state: Sequence[Scalar]) -> Evaluation:
        return evaluate_equations(system, signals, [*state, 0.0, 0.0], discrete, system.regrouped)

    def slope(state: Sequence[Scalar]) -> list[Scalar]:
        return state_rates(system, evaluated(state))[:-2]

    def moved(slopes: Sequence[Scalar], by: Scalar) -> list[Scalar]:
        return [x + by * s for x, s in zip(y, slopes)]

    first = slope(y)
    second = slope(moved(first, 0.5 * h))
    third = slope(moved(second, 0.5 * h))
    last = slope(moved(third, h))
    mean = [a + 2.0 * b + 2.0 * c + d for a, b, c, d in zip(first, second, third, last)]
    made = _unit(system, moved(mean, h * (1.0 / 6.0)))
    if not system.loops.m:
        return made
    now = evaluated(made)
    assert now.guard is not None
    return [*(now.q[k] for k in system.state_coordinates), *(now.qd[k] for k in system.state_speeds), now.guard]


def _limited(x: Scalar, low: float, high: float) -> Scalar:
    """A force within its limits."""
    return x if not np.isfinite([low, high]).any() else clipped(x, max(low, -1e300), min(high, 1e300))


def _unit(system: System, y: list[Scalar]) -> list[Scalar]:
    """The state with Euler parameters of norm 1."""
    for first in system.units:
        e = y[first : first + 4]
        shrink = 1.0 / square_root(dot(e, e))
        y[first : first + 4] = [x * shrink for x in e]
    return y


@dataclass(eq=False)
class Stepping:
    """The step of a system in one set of independent coordinates, compiled where there is compiled code."""

    system: System
    discrete: Discrete

    @property
    def guarded(self) -> bool:
        """Whether the last number of a step is a guard."""
        return self.system.loops.m > 0

    @cached_property
    def sizes(self) -> tuple[int, int, int, int]:
        """The widths of the inputs: state, forces, other signals, length."""
        return self.system.measured, len(self.system.inputs.driven), len(simulator_pivot_limits(self.discrete)), 1

    @cached_property
    def offer(self) -> Offer:
        identity = (
            "step",
            *fixed_identity_of_run_equations(self.system),
            repr(self.discrete.program),
            repr(simulator_effort_limits(self.system.robot)),
        )
        return Offer(self._program, self.sizes, [self.sizes[0] + self.guarded], lambda: identity)

    def _program(self) -> Program:
        recording = Recording("step")
        y, forces, rest, h = (recording.input(name, size) for name, size in zip(("y", "tau", "rest", "h"), self.sizes))
        return recording.program(next=simulator_step(self.system, self.discrete, y, forces, rest, h[0]))

    @property
    def _able(self) -> bool:
        return chosen_backend() != "plain" and len(self.system.model.bodies) <= MOST_BODIES

    @cached_property
    def single(self) -> Single | None:
        """Machine code of one robot's step; None where the plain text is to run."""
        if not self._able:
            return None
        with using_backend("compiled"):
            return self.offer.single()

    @cached_property
    def lanes(self) -> Kernel | None:
        """Machine code for many robots; None where the plain text is to run."""
        if not self._able:
            return None
        with using_backend("compiled"):
            return self.offer.lanes(1)

    def plain(self, y: np.ndarray, forces: np.ndarray, rest: np.ndarray, h: float) -> np.ndarray:
        """The step by the plain text, for one robot or for many, with a row for each of them."""
        state, acting, more = ([*x.T] if y.ndim > 1 else x.tolist() for x in (y, forces, rest))
        with np.errstate(all="ignore"):
            try:
                made = simulator_step(self.system, self.discrete, state, acting, more, h)
            except (ZeroDivisionError, OverflowError, ValueError):
                return np.full((*y.shape[:-1], self.sizes[0] + self.guarded), np.nan)
        shape = y.shape[:-1]
        return np.stack([np.broadcast_to(np.asarray(x, dtype=float), shape) for x in made], axis=-1)


def simulator_start_coordinates(system: System, q: np.ndarray, *, anywhere: bool = False) -> Discrete:
    """The independent coordinates at a position: the actuated ones if they serve, or those that serve best."""
    if anywhere and system.loops.m:
        return Discrete(partition=coordinates.partition_at_run_positions(system, q, ()), near=NEAR)
    return replace(coordinates.discrete_state_at_start(system, q), near=NEAR)
