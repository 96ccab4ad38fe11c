"""Many runs of one scenario, from other states or with other numbers, side by side in the lanes of compiled code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..files.change import Change, changed, parted
from ..files.library import find
from ..files.source import from_mapping, read
from ..files.text import flow
from ..machine import choice, march, native
from ..machine.march import ACCEPTED, PAUSED, REJECTED, ROW, STATUS, March, T
from ..recursion.numbers import number, paths
from ..recursion.regroup import regrouped
from ..robot.load import load
from ..robot.model import Robot
from ..scenario.plan import Plan, plan
from ..scenario.replay import name_of, prepared
from ..scenario.run import Result, Scenario, carry_out, result_of, robot_of, with_changes
from ..simulate import contact
from ..simulate.integrate import NOT_FINITE, TOO_SMALL, RungeKutta, scheme
from ..simulate.loop import ATTEMPTS, COMPILED, TOO_MANY, Trace, starting
from ..simulate.plant import Symbol
from ..simulate.tableau import DORMAND_PRINCE

Variation = Mapping[str, Any]
MOST = 100_000  # variations


def ensemble(
    scenario: Scenario, variations: Sequence[Variation], robot: Robot | str | Path | None = None
) -> list[Result]:
    """A result for each variation: a mapping from dotted keys to the values that it changes.

    Keys lead into the scenario (`initial.joint1`, `forces.joint2.value`) or, after `robot.`, into the robot's file
    (`robot.links.link6.mass`; entries of lists by name or by number from 0).  Runs that differ in numbers only go side
    by side; those with dry friction, stops or laws of time go one after the other.
    """
    plans = _plans(scenario, variations, robot)
    results: list[Result | None] = [None] * len(plans)
    for group in _alike(plans):
        if len(group) > 1:
            for place, result in zip(group, _side_by_side([plans[k] for k in group])):
                results[place] = result
    return [result or carry_out(one) for result, one in zip(results, plans)]


# ---- variations


def _plans(scenario: Scenario, variations: Sequence[Variation], robot: Robot | str | Path | None) -> list[Plan]:
    if isinstance(scenario, Mapping):
        document, name, beside = from_mapping(scenario), "", None
    else:
        path = find(scenario, "scenarios")
        document, name, beside = read(path), name_of(path), path.parent
    base = robot if isinstance(robot, Robot) else load(robot) if robot is not None else robot_of(document, beside)
    name = name or f"{base.name}-ensemble"
    found: list[Plan] = []
    robots: dict[str, Robot] = {}
    for k, variation in enumerate(_listed(variations)):
        changes = [
            Change(key, value, f"variations[{k}]: {key}", f"{key}={flow(value)}") for key, value in variation.items()
        ]
        rest, own = parted(changes)
        mark = repr(sorted((one.key, one.value) for one in own))
        if mark not in robots:
            robots[mark] = with_changes(base, own)
        one = changed(document, rest)
        found.append(prepared(plan(one, robots[mark], name), one, changes))
    return found


def _listed(variations: Sequence[Variation]) -> list[dict[str, Any]]:
    """The variations with plain values, as a scenario's own mapping has them."""
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


def _alike(plans: list[Plan]) -> list[list[int]]:
    """Places of plans whose equations differ in numbers only, and whose modes never change."""
    groups: dict[Any, list[int]] = {}
    for k, one in enumerate(plans):
        plant, solver = one.plant, one.solver
        free = plant.autonomous and not plant.switching and plant.free and solver.method == COMPILED
        key: Any = ("alone", k)
        if free and not one.kinks and choice.backend() != "plain" and not one.robot.wrenches:
            rest = repr((plant.structure(), solver, one.grid.tolist(), one.robot.gravity))
            key = (rest, repr([_structure(body) for body in plant.bodies]))
        groups.setdefault(key, []).append(k)
    return list(groups.values())


def _structure(body: Any) -> tuple:
    """All of a body but its numbers; those of its damper stay, for the audit reads them from the plant."""
    planes = tuple(factor[:2] for factor in body.rotation)
    drives = tuple((drive.viscous, bool(drive.stiffness), drive.coordinate) for drive in body.drives)
    return body.parent, planes, body.moves, body.directions, body.coordinates, body.speeds, drives, bool(body.pitch)


def _side_by_side(plans: list[Plan]) -> list[Result]:
    """The runs of alike plans, as many at once as there are lanes."""
    lanes, first = native.lanes(), plans[0].plant
    bodies = [regrouped(one.plant.bodies) for one in plans]
    symbols: list[Symbol] = [
        (i, path)
        for i, body in enumerate(bodies[0])
        for path in paths(body)
        if len({number(each[i], path) for each in bodies}) > 1
    ]
    signals = [one.plant.signals(0.0, one.plant.modes) for one in plans]
    identity = (repr(first.identity()), repr(symbols), repr(len(signals[0])))
    try:
        loop = march.build(
            lambda: first.program((), len(signals[0]), symbols),
            scheme(DORMAND_PRINCE),
            first.measured + 2,
            first.measured,
            first.units,
            lanes,
            identity,
            False,
        )
    except (ImportError, RuntimeError, OSError) as error:
        choice.give_up(error)
        return [carry_out(one) for one in plans]
    assert loop is not None
    inputs = [[*own, *(number(each[i], path) for i, path in symbols)] for own, each in zip(signals, bodies)]
    found: list[Result] = []
    for start in range(0, len(plans), lanes):
        found += _batch(loop, plans[start : start + lanes], inputs[start : start + lanes])
    return found


def _batch(loop: March, plans: list[Plan], inputs: list[list[float]]) -> list[Result]:
    """One filling of the lanes; empty ones repeat the last run."""
    filled = [plans[min(k, len(plans) - 1)] for k in range(loop.lanes)]
    u = np.array([inputs[min(k, len(plans) - 1)] for k in range(loop.lanes)]).reshape(loop.lanes, -1)
    grid, solver = plans[0].grid, plans[0].solver
    traces = [Trace() for _ in plans]
    steppers: list[RungeKutta] = []
    for one in filled:
        one.plant.modes = contact.settle(one.plant, float(grid[0]), one.plant.start(one.q0, one.qd0))
        steppers.append(starting(one.plant, one.q0, one.qd0, grid, solver))
    for one, trace, stepper in zip(plans, traces, steppers):
        trace.keep(one.plant, float(grid[0]), stepper.y)
    loop.begin(
        u,
        np.array([stepper.y for stepper in steppers]),
        T=float(grid[0]),
        H=np.array([stepper.wanted() for stepper in steppers]),
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
    return [_result(loop, k, one, traces[k], ahead, out[k]) for k, one in enumerate(plans)]


def _result(loop: March, lane: int, one: Plan, trace: Trace, ahead: np.ndarray, rows: np.ndarray) -> Result:
    """The result of one lane."""
    done = int(loop.control[ROW, lane])
    trace.keep_rows(one.plant, ahead[:done], rows[:done])
    trace.steps, trace.rejected = (int(loop.control[k, lane]) for k in (ACCEPTED, REJECTED))
    trace.evaluations = loop.stages * (trace.steps + trace.rejected) + 1
    if loop.control[STATUS, lane]:
        why = TOO_SMALL if np.isfinite(loop.y[lane]).all() else NOT_FINITE
        trace.ended, trace.reason = "failed", f"at t = {loop.control[T, lane]:.9g} s: {why}"
    elif loop.control[T, lane] < one.grid[-1]:
        many = TOO_MANY.format(one.solver.max_steps)
        trace.ended, trace.reason = "failed", f"at t = {loop.control[T, lane]:.9g} s: {many}"
    return result_of(one, trace)
