"""Derivatives of a study's outputs along its numbers, by tangents of the run.

A run with something to integrate has the variational equations (`simulate/variational.py`); where all motion is given,
the columns themselves are differences of runs nearby.  What is taken of columns, and expressions, follow from these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ...errors import DenocError, InputError
from ...machine.backend import steadily_compiled, using_backend
from ...machine.program import Dual, as_float, dual_derivative, formula_value_on_scalars
from ...robot import Robot
from ...scenario import Plan, carry_out_whole_plan, columns_of_run, course_of_trace
from ...simulate import (
    WEIGHTS_AROUND,
    WEIGHTS_BEYOND,
    Nearby,
    NoTangentsError,
    Runner,
    Trace,
    integrate_run,
    runner_with_feedforward,
    settle_sticking_modes,
    state_after_blows,
    state_tangents_over_grid,
)
from ...text.expressions import ExpressionError, Quantity, parsed_formula
from ..ensemble_runs import ensemble_plans_with_symbols
from ..run_blocks import variations_of_blocks
from ..sweep import (
    JUMPS,
    Outcome,
    Probed,
    Reduction,
    Runs,
    dimension_of_sweep_column,
    take_sweep_outputs,
    take_sweep_slopes,
    value_of_sweep_expression,
)
from ..variations import Variations
from .column_jumps import (
    Columns,
    jumps_along_given_motion,
    jumps_of_columns,
    jumps_of_loads,
    refuse_jumps_that_move,
)
from .effort_gradients import Beside, motion_stays_the_same, study_slopes_of_efforts

Slopes = tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]]  # instants, columns, their derivatives
Made = TypeVar("Made", Plan, Robot)
STEP = 1e-3  # of differences, as a share of a number's size
LEAST = 0.01  # size of a number, as a share of its range
TURN = 1e-3  # of differences along the state: the largest displacement of any component
WHAT = "tangents"  # the mark of derivatives in a store


@dataclass(frozen=True)
class Along:
    """Plans along one number, with their weights in a derivative."""

    weights: list[float]
    plans: list[Plan]


class Derivatives:
    """The derivatives of a study's outputs along all of its numbers, which are kept as runs are."""

    def __init__(self, runs: Runs):
        self._runs, self._study, self._wanted = runs, runs.study, runs.wanted
        self._files = variations_of_blocks(runs.study.scenario, runs.study.robot)
        self.asked = 0

    def at(self, place: Mapping[str, float]) -> dict[str, np.ndarray]:
        """The derivatives of each output along all numbers, at these values; an error where there are none."""
        here = self._runs.at([place])
        key = here.key(0, WHAT)
        self.asked += 1
        kept = self._runs.store.known([key]).get(key)
        if kept is None or (kept.ended == WHAT and len(kept.numbers) != len(self._wanted) * (1 + len(place))):
            kept = self._computed(place)
            self._runs.store.keep([(key, kept)])
        if kept.ended != WHAT:
            raise NoTangentsError(kept.reason)
        both = np.array(kept.numbers).reshape(len(self._wanted), 1 + len(place))
        return study_output_slopes(self._runs.probed, place, both[:, 0], both[:, 1:])

    def _computed(self, place: Mapping[str, float]) -> Outcome:
        """The numbers that are taken of columns, each with its derivatives; or why there are none."""
        try:
            with np.errstate(all="ignore"):
                made = self._slopes(place)
        except NoTangentsError as error:
            return Outcome("failed", False, str(error), ())
        except DenocError as error:  # what is said about a run beside a sound one isn't about the files
            return Outcome("failed", False, f"a run right beside fails: {_cause(error)}", ())
        return Outcome(WHAT, True, "", tuple(made.ravel().tolist()))

    def _slopes(self, place: Mapping[str, float]) -> np.ndarray:
        if jumping := search_outputs_that_jump(self._wanted):
            raise NoTangentsError(jumping)
        names = {one.column for one in self._wanted}
        if (made := self._of_efforts(place, names)) is not None:
            return self._taken(len(place), *made)
        plan, along = self._plans(place)
        if plan.system.free and runner_with_feedforward(plan.system, plan.q0).unknown:
            return self._taken(len(place), *study_slopes_of_integrated_run(plan, along, names))
        return self._taken(len(place), *study_slopes_of_given_motion(plan, along, names))

    def _taken(
        self, width: int, t: np.ndarray, values: Mapping[str, np.ndarray], slopes: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """The numbers that are taken of columns, each with its derivatives."""
        numbers = take_sweep_outputs(t, {name: x[None] for name, x in values.items()}, self._wanted, 1)[0]
        nothing = np.zeros((len(t), width))
        rows = [
            take_sweep_slopes(
                t, t if (name := one.column) == "t" else values[name], slopes.get(name, nothing), one.take
            )
            for one in self._wanted
        ]
        return np.column_stack([numbers, np.array(rows).reshape(len(self._wanted), width)])

    def _of_efforts(self, place: Mapping[str, float], names: set[str]) -> Slopes | None:
        """What the regressor gives, where only efforts are asked for and all numbers leave a given motion as it is."""
        changes = self._study.at([place]).changes(0)
        others = [self._study.at([{**place, name: x + self._step(name, x)}]).changes(0) for name, x in place.items()]
        if not motion_stays_the_same({key for other in others for key, x in other.items() if x != changes[key]}):
            return None
        (plan,) = self._planned([place])
        if plan.system.free and runner_with_feedforward(plan.system, plan.q0).unknown:
            return None
        along = [Beside(*self._beside(place, name, self._robots)) for name in place]
        return study_slopes_of_efforts(plan, along, names)

    def _step(self, name: str, x: float) -> float:
        low, high = (float(bound) for bound in self._study.file.vary[name].between or (x, x))
        return STEP * max(abs(x), LEAST * (high - low))

    def _plans(self, place: Mapping[str, float]) -> tuple[Plan, list[Along]]:
        """The plan at a place, and those nearby along each number; numbers that differ are inputs of their programs."""
        (base,), along = self._planned([place]), []
        for name in place:
            along.append(Along(*self._beside(place, name, self._planned)))
        every = ensemble_plans_with_symbols(dict(enumerate([base, *(plan for one in along for plan in one.plans)])))
        ready = [every[k] for k in sorted(every)]
        rest = iter(ready[1:])
        return ready[0], [Along(one.weights, [next(rest) for _ in one.plans]) for one in along]

    def _beside(
        self, place: Mapping[str, float], name: str, made: Callable[[Sequence[Mapping[str, float]]], list[Made]]
    ) -> tuple[list[float], list[Made]]:
        """What is made at places along a number, with the weights of a derivative."""
        first, step = None, self._step(name, place[name])
        for weights, size in ((WEIGHTS_AROUND, step), (WEIGHTS_BEYOND, step), (WEIGHTS_BEYOND, -step)):
            try:
                there = made([{**place, name: place[name] + k * size} for k in weights])
            except DenocError as error:  # a value is out of what the files allow, or loops don't close there
                first = first or error
                continue
            return [w / size for w in weights.values()], there
        assert first is not None
        raise NoTangentsError(f"no value of `{name}` beside {place[name]:.6g} is possible: {_cause(first)}")

    def _planned(self, points: Sequence[Mapping[str, float]]) -> list[Plan]:
        return [*map(self._asked(points).plan, range(len(points)))]

    def _robots(self, points: Sequence[Mapping[str, float]]) -> list[Robot]:
        return [*map(self._asked(points).robot, range(len(points)))]

    def _asked(self, points: Sequence[Mapping[str, float]]) -> Variations:
        study = self._study.at(points)
        return self._files.with_others([study.changes(k) for k in range(len(points))])


def _cause(error: DenocError) -> str:
    """A message without its advice, which is for runs that are wanted."""
    return error.message if isinstance(error, InputError) else str(error).partition("; ")[0]


def search_outputs_that_jump(wanted: Sequence[Reduction]) -> str:
    """Which of the numbers may jump, in words; empty if none does."""
    return next((f"when {one.of or one.column} {JUMPS[one.take]} may jump" for one in wanted if one.take in JUMPS), "")


def study_slopes_of_given_motion(plan: Plan, along: Sequence[Along], names: set[str]) -> Slopes:
    """The instants of a run whose motion is given, its columns, and their derivatives (instants, numbers)."""
    with steadily_compiled():
        base = carry_out_whole_plan(plan)
        if base.ended != "done":  # and the rows up to there are others with other numbers
            raise NoTangentsError(str(base.record["reason"]))
        slopes = {name: np.empty((len(base.t), len(along))) for name in base.table}
        jumps = jumps_along_given_motion(plan, names, base.t, Columns(base.columns, base.table))
        for k, one in enumerate(along):
            results = [carry_out_whole_plan(other) for other in one.plans]
            if any(len(other.t) != len(base.t) or (other.t != base.t).any() for other in results):
                raise NoTangentsError("the instants of the rows, or the run's end, change with the numbers")
            for own, other in zip(one.plans, results):
                made = Columns(other.columns, other.table)
                refuse_jumps_that_move(jumps, jumps_along_given_motion(own, names, base.t, made))
            for name, values in slopes.items():
                values[:, k] = np.asarray(one.weights) @ np.array([other.table[name] for other in results])
    return base.t, dict(base.table), slopes


# ---- runs that are integrated


def _said_of_event(event: dict[str, Any]) -> str:
    """Which joint or actuator does what at an event, in a few words."""
    whose, what = event.get("joint") or event.get("actuator"), event["event"]
    if whose:  # a change of coordinates belongs to neither
        what = f"{whose}'s {what.removeprefix('its ')}" if what.startswith("its ") else f"{whose} {what}"
    return f"an event at t = {event['t']:.6g} s, where {what}"


def study_slopes_of_integrated_run(plan: Plan, along: Sequence[Along], names: set[str]) -> Slopes:
    """The instants of an integrated run, its columns, and their derivatives (instants, numbers)."""
    if plan.system.inputs.sampled or plan.system.inputs.memory is not None:
        raise NoTangentsError("forces depend on what the state was before")
    with using_backend("compiled"):
        run = runner_with_feedforward(plan.system, plan.q0)
        trace = integrate_run(run, plan.q0, plan.qd0, plan.grid, plan.solver, plan.kinks, lambda t: None)
        trace.raise_if_interrupted()
    if trace.ended != "done" or trace.events:
        raise NoTangentsError(trace.reason or _said_of_event(trace.events[0]))
    if any(one is not run.discrete for one in trace.discrete):
        raise NoTangentsError("a joint that rests at a dead centre begins to move")
    if plan.system.method.recomputes_null_space:
        raise NoTangentsError(f"the closure method `{plan.system.closure}` has other states from step to step")
    beside = [_begun(plan, run, one) for one in along]
    rows, own = np.array(trace.states), _alike(plan)
    compiled = all(_alike(other) == own for one in along for other in one.plans)
    with using_backend("compiled" if compiled else "plain"):
        run.alone = True  # the steps are taken once more, one by one
        S = state_tangents_over_grid(run, rows, plan.grid, plan.solver, plan.kinks, beside)
        table = _tabled(plan, names)
        base = table(plan, run, rows)
        for jump in jumps_of_columns(plan, names, plan.grid, base.data):
            if (first := jump.first()) is not None:
                raise NoTangentsError(f"{jump.words} with the state at t = {plan.grid[first]:.4g} s")
        jumps = jumps_of_loads(plan, names, plan.grid, base, laws=False)
        values = {name: x for name, x in base.data.items() if name in names}
        slopes = {name: np.zeros((len(rows), len(along))) for name in values}

        def changed(other: Plan, beside: Runner, states: np.ndarray, weight: float, k: int) -> None:
            made = table(other, beside, beside.settled_rows(plan.grid, states))
            refuse_jumps_that_move(jumps, jumps_of_loads(other, names, plan.grid, made, laws=False))
            for name in values:
                slopes[name][:, k] += weight * made.data[name]

        for k, (one, near) in enumerate(zip(along, beside)):
            moved = S[:, :, k]
            size = TURN / max(float(abs(moved).max()), 1e-300)
            for m, weight in WEIGHTS_AROUND.items() if moved.any() else ():
                changed(plan, run, rows + m * size * moved, weight / size, k)
            for weight, other, beginning in zip(one.weights, one.plans, near.runs):
                changed(other, beginning, rows, weight, k)
    return plan.grid, values, slopes


def _alike(plan: Plan) -> object:
    """What compiled programs depend on, besides numbers that are their inputs."""
    return repr(plan.system.structure()), plan.system.symbols


def _begun(plan: Plan, run: Runner, one: Along) -> Nearby:
    """The runs along a number at their starts, which have to go on in the same way."""
    runs, starts, t = [], [], float(plan.grid[0])
    for other in one.plans:
        if len(other.grid) != len(plan.grid) or (other.grid != plan.grid).any() or other.kinks != plan.kinks:
            raise NoTangentsError("the instants of rows, or those at which a law has a kink, change with the numbers")
        beside = runner_with_feedforward(other.system, other.q0)
        y = beside.start(other.q0, other.qd0)
        starts.append(settle_sticking_modes(beside, t, state_after_blows(beside, t, y)))
        a, b = beside.discrete, run.discrete
        if (a.program, a.slip, a.held, a.idle, a.saturated) != (b.program, b.slip, b.held, b.idle, b.saturated):
            raise NoTangentsError("joints stick, or other coordinates are independent, right beside these numbers")
        runs.append(beside)
    return Nearby(one.weights, runs, starts)


def _tabled(plan: Plan, names: set[str]) -> Callable[[Plan, Runner, np.ndarray], Columns]:
    """A function for the columns of rows with given states; only families that may have one of these names."""
    idle = {"energy": "energy.", "reactions": ".reaction."}

    def wanted(family: str) -> bool:
        mark = idle.get(family)
        needed = mark is None or plan.formulas or any(mark in name for name in names)
        return plan.record.wants(family) and bool(needed)

    def table(plan: Plan, run: Runner, states: np.ndarray) -> Columns:
        trace = Trace()
        trace.t, trace.states = plan.grid.tolist(), list(states)
        trace.signals = run.signal_rows(plan.grid).tolist()
        trace.discrete = [run.discrete] * len(states)
        made = columns_of_run(plan, course_of_trace(run, trace), wanted)
        return Columns(made.columns, made.data)

    return table


# ---- outputs


def study_output_slopes(
    ready: Probed, place: Mapping[str, float], numbers: np.ndarray, slopes: np.ndarray
) -> dict[str, np.ndarray]:
    """The derivatives of all outputs, from the numbers that are taken of columns and their derivatives."""
    study, made, order = ready.study, dict[str, np.ndarray](), 0
    names = list(place)
    given = study.quantities(place)
    along = {name: np.eye(len(names))[k] for k, name in enumerate(names)}
    for name, one in study.file.keep.items():
        if one.expression is None:
            number, made[name] = float(numbers[order]), slopes[order]
            order += 1
        else:
            number = value_of_sweep_expression(one.expression, given)
            made[name] = np.array([_slope_of(one.expression, given, along, k) for k in range(len(names))])
        given = {**given, name: Quantity(number, dimension_of_sweep_column(ready.units[name]))}
        along = {**along, name: made[name]}
    return made


def _slope_of(text: str, given: Mapping[str, Quantity], along: Mapping[str, np.ndarray], k: int) -> float:
    """The derivative of an expression along number k, as a formula on dual numbers where it can be one."""
    if not any(float(along[name][k]) for name in given):
        return 0.0
    known = {name: Dual(float(x), {k: float(along[name][k])}) for name, x in given.items()}
    try:
        return as_float(dual_derivative(formula_value_on_scalars(parsed_formula(text), known, {}), k))
    except ExpressionError:
        return _difference(text, given, along, k)
    except (ZeroDivisionError, ValueError, OverflowError):
        return math.nan


def _difference(text: str, given: Mapping[str, Quantity], along: Mapping[str, np.ndarray], k: int) -> float:
    """The derivative of an expression along number k, by a difference."""
    size = STEP / max(abs(float(along[name][k])) / (abs(x) or 1.0) for name, x in given.items())
    total = 0.0
    for m, weight in WEIGHTS_AROUND.items():
        moved = {name: Quantity(float(x) + m * size * float(along[name][k]), x.dimension) for name, x in given.items()}
        total += weight / size * value_of_sweep_expression(text, moved)
    return total
