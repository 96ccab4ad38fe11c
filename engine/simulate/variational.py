"""Tangents of a run: the derivatives of its states along numbers of its files, at the steps that the run takes.

Along each number p, the derivative s = dy/dp of the state obeys the variational equations s' = (∂f/∂y) s + ∂f/∂p.
They are integrated by the run's own tableau at the run's own steps, so that s is the derivative of what these steps
give.  All stages of all steps are known by then: ∂f/∂y is the equations' text on dual numbers, for all stages at once,
and ∂f/∂p a difference of the equations of runs nearby, which is as exact as rounding allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import NumericalError
from ..mechanics.tree import coordinate_rates
from .integrators.integrate import stepper_of_integrator
from .integrators.runge_kutta import RungeKutta
from .integrators.tableau import Tableau
from .jumps import forces_that_jump, jumps_of_forces
from .runner import Runner
from .trace import Solver

# multiples of a step, and the weights of values there in a derivative of the fourth order: about a point, and beyond it
WEIGHTS_AROUND = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
WEIGHTS_BEYOND = {0: -25 / 12, 1: 4.0, 2: -3.0, 3: 4 / 3, 4: -1 / 4}


class NoTangentsError(NumericalError):
    """A run that has no tangents, and why."""


@dataclass(frozen=True)
class Nearby:
    """Runs along one number: for each its weight in the derivative, itself, and its state at the start."""

    weights: Sequence[float]
    runs: Sequence[Runner]
    starts: Sequence[np.ndarray]

    def start(self) -> np.ndarray:
        """The derivative of the state at the start."""
        total: np.ndarray = np.asarray(self.weights) @ np.array(self.starts)
        return total

    def slope(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The derivatives of the state's rate at these instants and states, a row for each."""
        each = (w * state_rates_of_many(run, times, states) for w, run in zip(self.weights, self.runs))
        return np.asarray(sum(each))


@dataclass(frozen=True)
class Step:
    """A step of a run with the stages that its end is made of."""

    t: float
    end: float
    y: np.ndarray
    K: np.ndarray


@dataclass(frozen=True)
class Stages:
    """All stages of a tableau, with those for dense output: where in a step they are, and what each is made of.

    `P` has the weights of the stages in the state between the steps, by powers of the step's share.
    """

    tableau: Tableau
    P: np.ndarray

    @cached_property
    def at(self) -> np.ndarray:
        return np.concatenate([self.tableau.C, [1.0], self.tableau.further_at])

    @cached_property
    def before(self) -> np.ndarray:
        one, count = self.tableau, len(self.at)
        A = np.zeros((count, count))
        s = len(one.B)
        A[:s, :s], A[s, :s] = one.A, one.B
        for k, row in enumerate(one.further, start=s + 1):
            A[k, :k] = row[:k]
        return A


def state_rates_of_many(run: Runner, times: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The rates of many states' coordinates and speeds, in the run's discrete state."""
    system = run.system
    rows = run.many(run.signal_rows(times), states, run.discrete)
    along = coordinate_rates(run.robot, list(rows["q"].T), list(rows["qd"].T))
    made = np.empty((len(states), system.measured))
    for place, k in enumerate(system.state_coordinates):
        made[:, place] = np.asarray(along[k])
    made[:, len(system.state_coordinates) :] = rows["qdd"][:, system.state_speeds]
    return made


def variational_steps(
    run: Runner, y: np.ndarray, grid: np.ndarray, solver: Solver, kinks: Sequence[float]
) -> list[Step]:
    """The steps of a run without events."""
    t, end, steps = float(grid[0]), float(grid[-1]), list[Step]()
    for stop in sorted({float(x) for x in kinks if t < x < end} | {end}):
        paces = [step for begin, over, step in solver.paces if begin < stop and over > t]
        stepper = stepper_of_integrator(
            solver.method,
            run.derivative,
            t,
            y,
            stop,
            rtol=solver.rtol,
            atol=solver.atol,
            max_step=min([solver.max_step, *paces]),
            step=solver.step,
            measured=run.system.measured,
        )
        if not isinstance(stepper, RungeKutta):
            raise NoTangentsError(f"`{solver.method}` has none; explicit Runge-Kutta methods have")
        while stepper.t < stop:
            if failure := stepper.step():
                raise NoTangentsError(f"at t = {stepper.t:.9g} s: {failure}")
            steps.append(Step(stepper.t_old, stepper.t, stepper.y_old, stepper.K[: len(stepper.tableau.B)].copy()))
            stepper.settle(run.settled(stepper.t, stepper.y))
        t, y = stop, stepper.y
    return steps


def state_tangents_over_grid(
    run: Runner,
    rows: np.ndarray,
    grid: np.ndarray,
    solver: Solver,
    kinks: Sequence[float],
    nearby: Sequence[Nearby],
) -> np.ndarray:
    """The derivatives of the states `rows` at the instants of the grid, (instants, components, numbers).

    Quadratures have none.
    """
    y = rows[0]
    steps = variational_steps(run, y, grid, solver, kinks)
    stepper = stepper_of_integrator(solver.method, run.derivative, 0.0, y, 1.0, step=solver.step)
    assert isinstance(stepper, RungeKutta)
    stages, n = Stages(stepper.tableau, stepper.P), run.system.measured
    times, states = _all_stages(run, steps, stages)
    _no_force_jumps(run, times, states)
    A = run.slope_rows(times, states)[:, :n, :n].reshape(len(steps), -1, n, n)
    b = np.stack([one.slope(times, states) for one in nearby], axis=2).reshape(len(steps), -1, n, len(nearby))
    start = np.stack([one.start()[:n] for one in nearby], axis=1)
    made = np.zeros((len(grid), len(y), len(nearby)))
    made[:, :n] = _integrated(steps, stages, A, b, start, grid)
    if not np.isfinite(made).all():
        raise NoTangentsError("derivatives of the equations overflow")
    return made


def _no_force_jumps(run: Runner, times: np.ndarray, states: np.ndarray) -> None:
    """Raises an error if a force jumps with the state in the run that has these states."""
    if not forces_that_jump(run.system):
        return
    rows = run.many(run.signal_rows(times), states, run.discrete)
    for jump in jumps_of_forces(run.system, times, rows["q"], rows["qd"]):
        if (first := jump.first()) is not None:
            raise NoTangentsError(f"{jump.words} with the state at t = {times[first]:.4g} s")


def _all_stages(run: Runner, steps: Sequence[Step], stages: Stages) -> tuple[np.ndarray, np.ndarray]:
    """The instants and states of all stages of all steps, step by step."""
    h = np.array([one.end - one.t for one in steps])
    y = np.array([one.y for one in steps])
    given = len(steps[0].K[0])
    K = np.zeros((len(steps), len(stages.at), given))
    known = len(stages.tableau.B)
    K[:, :known] = [one.K for one in steps]
    times = np.array([one.t for one in steps])[:, None] + h[:, None] * stages.at
    states = np.empty_like(K)
    for s in range(len(stages.at)):
        states[:, s] = y + h[:, None] * np.einsum("j,njk->nk", stages.before[s, :s], K[:, :s])
        if s >= known and stages.before[:, s].any():
            K[:, s, : run.system.measured] = state_rates_of_many(run, times[:, s], states[:, s])
    return times.ravel(), states.reshape(-1, given)


def _integrated(
    steps: Sequence[Step],
    stages: Stages,
    A: np.ndarray,
    b: np.ndarray,
    start: np.ndarray,
    grid: np.ndarray,
) -> np.ndarray:
    """The tangents at the grid's instants, carried from step to step."""
    before, count, row = stages.before, len(stages.at), 1
    made = np.empty((len(grid), *start.shape))
    S = made[0] = start
    K = np.zeros((count, *start.shape))
    for i, step in enumerate(steps):
        h = step.end - step.t
        for s in range(count):
            K[s] = A[i, s] @ (S + h * np.tensordot(before[s, :s], K[:s], 1)) + b[i, s]
        while row < len(grid) and grid[row] <= step.end:
            share = (float(grid[row]) - step.t) / h
            weights = stages.P @ np.cumprod(np.full(stages.P.shape[1], share))
            made[row] = S + h * np.tensordot(weights, K, 1)
            row += 1
        weights = stages.tableau.B  # Euler parameters have the norm 1 there, which S keeps but for the steps' errors
        S = S + h * np.tensordot(weights, K[: len(weights)], 1)
    return made
