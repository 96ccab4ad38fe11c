"""Runs of one scenario with different states or numbers, side by side in the lanes of compiled code."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import DenocError
from ..machine.backend import chosen_backend
from ..mechanics.numbers import Path as Place
from ..mechanics.numbers import shape_of_bodies
from ..robot import Robot
from ..scenario import Many, Plan, Result, Scenario, carry_out_whole_plan, equations_give_all_forces, result_of_trace
from ..simulate import ModeLimits, Runner, Trace, run_equations_close_state, runner_with_feedforward, system_that_plans
from ..simulate.integrators import INTEGRATORS
from ..simulate.many import (
    Numbers,
    RunTraces,
    Starts,
    evaluate_many_run_rows,
    integrate_batch,
    joined_system_numbers,
    likeness_of_systems,
    numbers_of_system,
    trace_prescribed_runs,
)
from ..simulate.systems import own_signal_columns
from .variations import Variation, Variations
from .vary_masses import varied_numbers_of_runs

LAWS = 97  # instants at which laws of time are compared
MOST_SAMPLES = 100_000  # rows of all runs that are held at once while results are made of them


def ensemble(
    scenario: Scenario, variations: Sequence[Variation], robot: Robot | str | Path | None = None
) -> list[Result]:
    """A result for each variation, which maps dotted keys to new values.

    Keys are those of the scenario (`initial.joint1`, `forces.joint2.value`) or, after `robot.`, of the robot's file
    (`robot.links.link6.mass`; entries of lists by name or by number from 0). Runs that differ in numbers only are
    computed side by side, whatever joints stick in them, come to stops, or follow laws of time.
    """
    asked = Variations(scenario, variations, robot)
    results: dict[int, Result] = {}
    for part in carry_out_ensemble(asked):
        results.update(part.results())
    return [results[k] for k in range(len(asked))]


@dataclass(frozen=True)
class Part:
    """The results of some variations, by their places: all of those side by side, or single ones."""

    places: list[int]
    many: Many | None
    single: Mapping[int, Result]

    def results(self) -> dict[int, Result]:
        """The results, each made on demand where they went side by side."""
        if self.many is None:
            return dict(self.single)
        return {self.places[k]: self.many.result(k) for k in np.flatnonzero(self.many.in_order).tolist()}


def carry_out_ensemble(asked: Variations) -> Iterator[Part]:
    """Carry out all variations, part by part: first what goes side by side, then all others."""
    plans, groups = _grouped(asked)
    done: set[int] = set()
    for group in groups:
        for part in _side_by_side(asked, plans, group):
            these = np.flatnonzero(part.many.in_order).tolist() if part.many is not None else []
            done.update((part.places[k] for k in these) if part.many is not None else part.single)
            yield part
    rest = {k: plans.get(k) or asked.plan(k) for k in range(len(asked)) if k not in done}
    ready = {k: _with_own_symbols(asked, k, plan) for k, plan in rest.items()} if asked.independent else None
    for k, plan in (ensemble_plans_with_symbols(rest) if ready is None else ready).items():
        result = carry_out_whole_plan(plan)
        yield Part([k], None, {k: result})


# ---- runs that are alike


@dataclass(frozen=True)
class Member:
    """A run at its start that may be computed side by side with others."""

    plan: Plan
    run: Runner
    y: np.ndarray
    signals: list[float]

    def likeness(self) -> Hashable:
        """A key that is equal for runs that differ in numbers only."""
        solver, grid = repr(self.plan.solver), self.plan.grid.tobytes()
        return (
            *likeness_of_systems(self.run),
            solver,
            grid,
            len(self.signals),
            repr(self.plan.record),
            self.plan.expect,
            self.plan.file.solver.energy,
            self._modes_and_laws(),
        )

    def _modes_and_laws(self) -> Hashable:
        """What modes and laws of time depend on, but for what is a number of the run."""
        system, inputs = self.plan.system, self.plan.system.inputs
        rough = {k: x > 0.0 for k, x in system.switching.items()}
        modes = repr((rough, [*system.stopped], [*system.bounded]))
        if inputs.timeless:
            return modes
        times = np.linspace(self.plan.grid[0], self.plan.grid[-1], LAWS)
        rows = np.delete(self.run.signal_rows(times), own_signal_columns(system), axis=1)
        return modes, self.plan.kinks, inputs.breaks, rows.tobytes()


class Exemplar(NamedTuple):
    """A run that is planned in full, and the variation that it is."""

    variation: Variation
    member: Member


class Group(NamedTuple):
    """Runs that differ in numbers only, by the places of their variations; one of them is planned in full."""

    places: list[int]
    plan: Plan
    starts: Starts
    numbers: Numbers  # of all runs
    members: Sequence[Member] = ()  # if the others are planned in full, too

    def some(self, these: slice) -> Group:
        """A part of the runs."""
        if len(self.places[these]) == len(self.places):
            return self
        starts, numbers = self.starts.some(these), self.numbers.some(these)
        return Group(self.places[these], self.plan, starts, numbers, self.members[these])


def _grouped(asked: Variations) -> tuple[dict[int, Plan], list[Group]]:
    """The plans of all variations but those that only need other numbers, and the groups of runs that are alike."""
    plans: dict[int, Plan] = {}
    groups: list[Group] = []
    alike: dict[Hashable, list[tuple[int, Member]]] = {}
    quick: set[int] = set()
    families = {family[0]: (mark, family) for mark, family in asked.families().items()}
    for mark, family in families.values():
        if mark in asked.exemplars and (group := _of_numbers(asked, asked.exemplars[mark], family)) is not None:
            groups.append(group)
            quick.update(group.places)
    for k in range(len(asked)):  # in this order, so that the first mistake is the one that is reported
        if k in quick:
            continue
        plans[k] = asked.plan(k)
        member = _member(plans[k])
        if member is None:
            continue
        mark, family = families.get(k, ("", ()))
        exemplar = Exemplar(asked.one(k), member)
        if len(family) >= asked.fewest and (group := _of_numbers(asked, exemplar, family)) is not None:
            groups.append(group)
            quick.update(group.places)
            if asked.independent:  # it serves later blocks of the family, too
                asked.exemplars[mark] = exemplar
        elif len(asked) == 1 or asked.independent or (member.plan.system.planning and member.plan.robot.closed):
            continue  # it goes beside no others that are planned in full
        else:
            alike.setdefault(member.likeness(), []).append((k, member))
    groups += [_of_members(members) for members in alike.values() if len(members) > 1]
    return plans, groups


def _member(plan: Plan) -> Member | None:
    """The plan's run at its start; None if it has to run alone: its modes, its limits, or its inertias want that."""
    system = plan.system
    scheme, modal = INTEGRATORS[plan.solver.method].abreast, bool(system.switching or system.bounded)
    alone = scheme is None or (
        system.loops.m and (system.method.recomputes_null_space or (modal and not run_equations_close_state(system)))
    )
    alone = alone or plan.file.solver.error == "estimate"  # of which the lanes know nothing
    if alone or math.isfinite(plan.solver.max_evaluations) or chosen_backend() == "plain":
        return None
    if system.follows:
        plan = replace(plan, system=system_that_plans(system, plan.q0))
        if not plan.system.planning:
            return None
    run = runner_with_feedforward(plan.system, plan.q0)
    if run.unknown:
        alone = not run.marches
    else:  # inverse dynamics of a tree, as `scenario/course.py` has it: friction by its sign
        alone = bool(system.loops.m or system.pushing or system.smooth)
    if alone or system.inputs.memory is not None:
        return None
    begin, y = float(plan.grid[0]), run.start(plan.q0, plan.qd0)
    return None if run.without_inertia(begin, y) else Member(plan, run, y, run.signals(begin))


def _of_numbers(asked: Variations, exemplar: Exemplar, family: Sequence[int]) -> Group | None:
    """The group of those runs of a family that differ from its exemplar in plain numbers."""
    first = exemplar.member
    columns = asked.columns(first.plan, exemplar.variation, family)
    base = lambda: asked.unvaried  # noqa: E731
    count = 1 + len(family)  # the exemplar is the first of them
    found = varied_numbers_of_runs(first.plan, first.run, count, *columns, base, independent=asked.independent)
    if found is None or found.plain[1:].sum() < asked.fewest:
        return None
    these = slice(1, None) if found.plain.all() else 1 + np.flatnonzero(found.plain[1:])
    numbers = found.numbers.some(these)
    starts = Starts.of(found.run, found.signals[these], found.y[these], numbers, found.limits.some(these))
    return Group(np.array(family)[found.plain[1:]].tolist(), first.plan, starts, numbers)


def _of_members(members: Sequence[tuple[int, Member]]) -> Group:
    """The group of runs that were planned one by one."""
    each = [member for _, member in members]
    numbers = joined_system_numbers([numbers_of_system(one.run.system) for one in each])
    signals, y = np.array([one.signals for one in each]), np.array([one.y for one in each])
    limits = ModeLimits.joined([ModeLimits.of(one.run.system, 1) for one in each])
    starts = Starts.of(each[0].run, signals.reshape(len(each), -1), y, numbers, limits)
    return Group([k for k, _ in members], each[0].plan, starts, numbers, each)


# ---- runs that go alone


def ensemble_plans_with_symbols(plans: Mapping[int, Plan]) -> dict[int, Plan]:
    """The plans, of which those that differ in numbers only have these among the inputs of their recorded equations."""
    alike: dict[Hashable, list[int]] = {}
    for k, plan in plans.items():
        alike.setdefault((repr(plan.system.structure()), repr(shape_of_bodies(plan.system.regrouped))), []).append(k)
    result = dict(plans)
    for these in alike.values():
        if len(these) < 2:
            continue
        differ = tuple(joined_system_numbers([numbers_of_system(plans[k].system) for k in these]).arrays())
        for k in these:
            result[k] = _with(plans[k], differ)
    return result


def _with_own_symbols(asked: Variations, k: int, plan: Plan) -> Plan:
    """The plan with the numbers that its own variation sets among the inputs, whatever others there are."""
    try:
        other = asked.nudged(k)
    except DenocError:
        return plan
    if other is None or repr(shape_of_bodies(other.system.regrouped)) != repr(shape_of_bodies(plan.system.regrouped)):
        return plan
    return _with(plan, tuple(joined_system_numbers([numbers_of_system(one.system) for one in (plan, other)]).arrays()))


def _with(plan: Plan, places: Sequence[Place]) -> Plan:
    """The plan with the numbers at these places in `Numbers` among the inputs of its recorded equations."""
    symbols = tuple(path for first, *path in places if first == 0)
    return replace(plan, system=replace(plan.system, symbols=tuple(tuple(path) for path in symbols)))


# ---- runs side by side


def _side_by_side(asked: Variations, plans: dict[int, Plan], group: Group) -> Iterator[Part]:
    """The results of those runs of a group that go well side by side."""
    size = max(1, MOST_SAMPLES // len(group.plan.grid))
    for first in range(0, len(group.places), size):
        part = group.some(slice(first, first + size))
        if part.starts.run.unknown:
            traces = integrate_batch(part.starts, group.plan.grid, group.plan.solver, group.plan.kinks)
        else:
            traces = trace_prescribed_runs(part.starts, group.plan.grid, works=group.plan.record.wants("energy"))
        if traces is None:
            break
        yield _results(asked, plans, part, traces)


def _results(asked: Variations, plans: dict[int, Plan], group: Group, traces: RunTraces) -> Part:
    """The results of those runs that came to their end in good order."""
    places = group.places

    def plan(k: int) -> Plan:
        return plans.get(places[k]) or asked.plan(places[k])

    rows = evaluate_many_run_rows(group.starts, traces) if equations_give_all_forces(group.plan) else None
    if rows is not None:
        return Part(places, Many(group.plan, plan, group.numbers, traces, rows), {})
    alone = {k: _with(plan(k), group.starts.symbols) for k in np.flatnonzero(traces.whole).tolist()}
    return Part(places, None, {places[k]: _by_itself(one, traces, k) for k, one in alone.items()})


def _by_itself(plan: Plan, traces: RunTraces, k: int) -> Result:
    """The result of run k, made as that of a single run is."""
    run = runner_with_feedforward(plan.system, plan.q0)
    trace, states, modes = Trace(), traces.states[k], traces.discrete(k, run.discrete.switched)
    if modes:
        for t, at, y, run.discrete in zip(traces.t.tolist(), traces.instants.tolist(), states, modes):
            trace.keep(run, t, run.settled(at, y), at)
        trace.events = traces.events(k)
    else:
        trace.keep(run, float(traces.t[0]), states[0], float(traces.instants[0]))
        trace.keep_rows(run, traces.t[1:], states[1:], closed=False)
    trace.steps, trace.rejected, trace.evaluations = (
        int(x[k]) for x in (traces.steps, traces.rejected, traces.evaluations)
    )
    return result_of_trace(plan, run, trace)
