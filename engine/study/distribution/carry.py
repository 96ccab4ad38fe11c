"""A distributed run carried out: inverse dynamics or a simulation by legs, or whole steps on nodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...api import inverse
from ...parallel.conduct import Distributed
from ...parallel.engines import Counting
from ...parallel.full import Full
from ...parallel.rates import RatesByLegs
from ...parallel.steps import Exchange
from ...parallel.steps import message_plan as messages_of
from ...scenario import Plan, Result, carry_out_plan, carry_out_whole_plan, result_of_trace, scenario_wrenches_over_time
from .comparison import (
    QUANTITIES,
    columns_of_all_joints,
    differences_by_family,
    force_columns_of_actuators,
    relative_difference,
)
from .forecast import distribution_forecast, distribution_steps_forecast
from .parts import distribution_part_name, independent_speeds_at_start, runs_fully_distributed
from .settings import EngineSetting, Listener, Outcome


def carry_out_distributed_run(
    make: Callable[[], Plan],
    plan: Plan,
    engine: Counting,
    setting: EngineSetting,
    nodes: int,
    count: int,
    check: bool,
    listener: Listener,
    prices: tuple[float, float] | None,
) -> Outcome:
    """The outcome of a distributed run, before its costs are measured."""
    simulated = plan.task != "inverse"
    full = simulated and runs_fully_distributed(plan)
    reference, before = None, 0.0
    if check or not simulated:
        begun = time.perf_counter()
        reference = carry_out_whole_plan(make())
        before = time.perf_counter() - begun
    if not simulated:
        assert reference is not None
        return _inverse(plan, reference, engine, setting, nodes, count)
    if full:
        run = Full(lambda: make().system, plan.solver, engine, nodes)
        rows, form = list(run.plan()), "fully distributed"
        planned = distribution_steps_forecast(plan.grid, plan.solver.step, plan.kinks) if plan.solver.step else None
        listener.foretold(distribution_forecast("step", planned, rows, prices))
        begun = time.perf_counter()
        trace = run.carried_out(plan.q0, plan.qd0, plan.grid, plan.kinks, listener.reached)
        seconds = time.perf_counter() - begun
        result, units = result_of_trace(plan, run.run, trace), trace.steps
    else:
        by_legs, form = RatesByLegs(plan.system, engine, nodes), "by legs"
        by_legs.conductor.begin(independent_speeds_at_start(plan))
        groups = by_legs.conductor.groups
        rows = list(messages_of("forward", groups, 1, [one.link for one in plan.system.inputs.wrenches]))
        known = reference.audit["evaluations"] + 1 if reference is not None else None  # the output's rows are one more
        listener.foretold(distribution_forecast("evaluation", known, rows, prices))
        begun = time.perf_counter()
        result = carry_out_plan(plan, listener.reached, lambda: by_legs.begun(plan.system, plan.q0))
        seconds = time.perf_counter() - begun
        units = result.audit["evaluations"]
    off = differences_by_family(result, reference) if reference is not None else {}
    return _outcome(plan, form, engine, nodes, count, result, off, before, seconds, rows, units)


def _inverse(
    plan: Plan, reference: Result, engine: Counting, setting: EngineSetting, nodes: int, count: int
) -> Outcome:
    """Inverse dynamics of the rows by legs, at the positions of the undistributed run."""
    robot = plan.robot
    q, qd, qdd = (columns_of_all_joints(plan, reference, what) for what in QUANTITIES)
    wrenches = scenario_wrenches_over_time(plan, reference.t, q, qd)
    begun = time.perf_counter()
    inverse(robot, q, qd, qdd, wrenches)
    before = time.perf_counter() - begun
    conductor = Distributed(robot, engine, nodes, batch=setting.batch)
    begun = time.perf_counter()
    tau = conductor.inverse(q, qd, qdd, wrenches)
    seconds = time.perf_counter() - begun
    samples = min(len(q), setting.batch)
    rows = list(messages_of(conductor.task("inverse", q[0]), conductor.groups, samples, list(wrenches or {})))
    table, names = dict(reference.table), force_columns_of_actuators(plan)
    off = {"force": relative_difference(tau, np.column_stack([reference.table[name] for name in names]))}
    for name, column in zip(names, tau.T):
        table[name] = column.copy()
    units, result = -(-len(q) // setting.batch), replace(reference, table=table)
    return _outcome(plan, "by legs", engine, nodes, count, result, off, before, seconds, rows, units)


def _outcome(
    plan: Plan,
    form: str,
    engine: Counting,
    nodes: int,
    count: int,
    result: Result,
    off: dict[str, float],
    before: float,
    seconds: float,
    rows: list[Exchange],
    units: int,
) -> Outcome:
    """The outcome with the messages that the engine has counted, before costs are measured."""
    sent = [one for _, one in engine.sent]
    messages, passed = sum(one.messages for one in sent), sum(one.bytes for one in sent)
    return Outcome(
        plan.name, plan.task, form, count, distribution_part_name(plan), nodes, engine.name, result, off, before,
        seconds, rows, units, messages, passed, None, [],
    )  # fmt: skip
