"""Runs of one scenario with different states or numbers, side by side in the lanes of compiled code."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..dynamics.symbols import leaves, shape
from ..errors import InputError
from ..machine.jit import choice, march, native
from ..machine.jit.march import ACCEPTED, PAUSED, REJECTED, ROW, STATUS, March
from ..machine.jit.offer import Offer
from ..robot.load import load
from ..robot.model import Robot
from ..scenario.plan import Plan, plan
from ..scenario.replay import prepared
from ..scenario.run import Result, Scenario, carry_out, opened, result_of, robot_of, with_changes
from ..simulate.compiled import identity, program
from ..simulate.feedforward import runner
from ..simulate.integrate import INTEGRATORS
from ..simulate.loop import ATTEMPTS, Trace, starting
from ..simulate.runner import Runner
from ..text.change import Change, changed, parted
from ..text.source import from_mapping
from ..text.writing import flow

Variation = Mapping[str, Any]
MOST = 100_000  # variations


def ensemble(
    scenario: Scenario, variations: Sequence[Variation], robot: Robot | str | Path | None = None
) -> list[Result]:
    """A result for each variation, which maps dotted keys to new values.

    Keys are those of the scenario (`initial.joint1`, `forces.joint2.value`) or, after `robot.`, of the robot's file
    (`robot.links.link6.mass`; entries of lists by name or by number from 0). Runs that differ in numbers only are
    computed side by side; those with dry friction, stops or laws of time, one after the other.
    """
    plans = _plans(scenario, variations, robot)
    results: list[Result | None] = [None] * len(plans)
    groups: dict[Hashable, list[tuple[int, Member]]] = {}
    for k, one in enumerate(plans):
        member = _member(one)
        if member is not None:
            groups.setdefault(member.likeness(), []).append((k, member))
    for group in groups.values():
        if len(group) > 1:
            for (k, _), result in zip(group, _side_by_side([member for _, member in group])):
                results[k] = result
    return [result or carry_out(one) for result, one in zip(results, plans)]


# ---- variations


def _plans(scenario: Scenario, variations: Sequence[Variation], robot: Robot | str | Path | None) -> list[Plan]:
    document, name, beside = opened(scenario)
    base = robot if isinstance(robot, Robot) else load(robot) if robot is not None else robot_of(document, beside)
    name = name or f"{base.name}-ensemble"
    plans: list[Plan] = []
    robots: dict[str, Robot] = {}
    for k, variation in enumerate(_listed(variations)):
        changes = [
            Change(key, value, f"variations[{k}]: {key}", f"{key}={flow(value)}") for key, value in variation.items()
        ]
        rest, of_robot = parted(changes)
        mark = repr(sorted((one.key, one.value) for one in of_robot))
        if mark not in robots:
            robots[mark] = with_changes(base, of_robot)
        one = changed(document, rest)
        plans.append(prepared(plan(one, robots[mark], name), one, changes))
    return plans


def _listed(variations: Sequence[Variation]) -> list[dict[str, Any]]:
    """The variations as a list of mappings with plain values."""
    form = "a list of mappings: [{'initial.joint1': 0.1}, …]"
    if isinstance(variations, str | Mapping) or not isinstance(variations, Iterable):
        raise InputError("the variations are not a list", found=type(variations).__name__, allowed=form)
    listed = list(islice(variations, MOST + 1))
    if len(listed) > MOST:
        raise InputError(f"more than {MOST} variations", allowed=f"at most {MOST} at once")
    for k, one in enumerate(listed):
        if not isinstance(one, Mapping):
            raise InputError("not a mapping", key=f"variations[{k}]", found=type(one).__name__, allowed=form)
    return [from_mapping(one).data for one in listed]


# ---- runs side by side


@dataclass(frozen=True)
class Member:
    """A run at its start that may be computed side by side with others."""

    plan: Plan
    run: Runner
    y: np.ndarray
    signals: list[float]

    def likeness(self) -> Hashable:
        """A key that is equal for runs that differ in numbers only."""
        system, solver = self.run.system, self.plan.solver
        structure = (system.structure(), self.run.discrete.program, solver, self.plan.grid.tolist(), len(self.signals))
        return repr(structure), repr(shape(system.regrouped))


def _member(plan: Plan) -> Member | None:
    """The plan's run at its start; None if it has to run alone: its modes, its laws, or its inertias want that."""
    system = plan.system
    modes = system.switching or system.bounded
    scheme = INTEGRATORS[plan.solver.method].scheme
    alone = not system.inputs.timeless or modes or plan.kinks or scheme is None
    if alone or (system.loops is not None and system.method.afresh) or choice.backend() == "plain":
        return None
    run = runner(system, plan.q0)
    if not run.unknown:
        return None
    begin, y = float(plan.grid[0]), run.start(plan.q0, plan.qd0)
    return None if run.idle(begin, y) else Member(plan, run, y, run.signals(begin))


def _side_by_side(members: Sequence[Member]) -> list[Result]:
    """The results of runs of the same structure, as many at once as there are lanes."""
    lanes, first, scheme = native.lanes(), members[0], INTEGRATORS[members[0].plan.solver.method].scheme
    assert scheme is not None, "`_member` has checked it"
    numbers = [dict(leaves(one.run.system.regrouped)) for one in members]
    symbols = [path for path in numbers[0] if len({each[path] for each in numbers}) > 1]
    system, discrete, width = first.run.system, first.run.discrete, len(first.signals)
    own = (*identity(system, discrete), repr(symbols), repr(width))
    offer = Offer(lambda: program(system, discrete, width, symbols), (), (), lambda: own)
    sizes = system.measured + 2, system.measured, system.units

    def build(cached: bool) -> March | None:
        return march.build(offer.program, scheme, *sizes, lanes, own, cached)

    loop = offer.at_once("march", build)
    if loop is None:
        return [carry_out(one.plan) for one in members]
    inputs = [[*one.signals, *(each[path] for path in symbols)] for one, each in zip(members, numbers)]
    results: list[Result] = []
    for start in range(0, len(members), lanes):
        results += _batch(loop, members[start : start + lanes], inputs[start : start + lanes])
    return results


def _batch(loop: March, members: Sequence[Member], inputs: Sequence[Sequence[float]]) -> list[Result]:
    """The results of one batch; lanes that are left over repeat its last run."""
    places = [min(k, len(members) - 1) for k in range(loop.lanes)]
    grid, solver = members[0].plan.grid, members[0].plan.solver
    steppers = [starting(one.run, one.y, grid, solver) for one in members]
    loop.begin(
        np.array([inputs[k] for k in places]).reshape(loop.lanes, -1),
        np.array([steppers[k].y for k in places]),
        T=float(grid[0]),
        H=np.array([steppers[k].wanted() for k in places]),
        T_END=float(grid[-1]),
        RTOL=steppers[0].rtol,
        ATOL=steppers[0].atol,
        MAX_STEP=solver.max_step,
    )
    ahead = np.ascontiguousarray(grid[1:])
    out = loop.room(len(ahead))
    status = PAUSED
    while status == PAUSED and (left := solver.max_steps + 1 - int(loop.control[ACCEPTED].max())) > 0:
        status = loop.go(ahead, out, min(ATTEMPTS, left))
    return [_result(loop, k, one, ahead, out[k]) for k, one in enumerate(members)]


def _result(loop: March, lane: int, member: Member, ahead: np.ndarray, rows: np.ndarray) -> Result:
    """The result of one lane; a run that stopped before its end is carried out again, alone."""
    if loop.control[STATUS, lane] or int(loop.control[ROW, lane]) < len(ahead):
        return carry_out(member.plan)
    trace = Trace()
    trace.keep(member.run, float(member.plan.grid[0]), member.y)
    trace.keep_rows(member.run, ahead, rows)
    trace.steps, trace.rejected = (int(loop.control[k, lane]) for k in (ACCEPTED, REJECTED))
    if trace.steps > member.plan.solver.max_steps:
        return carry_out(member.plan)
    trace.evaluations = loop.stages * (trace.steps + trace.rejected) + 1
    return result_of(member.plan, member.run, trace)
