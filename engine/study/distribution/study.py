"""The study of a distributed run, by legs or by parts of a mechanism, and its messages without a run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...api import inverse
from ...errors import InputError
from ...mechanics.closure import distributed_closure_methods
from ...mechanics.platforms import bodies_shared_by_legs, legs
from ...parallel import (
    CountingEngine,
    DistributedFormulation,
    Exchange,
    FullyDistributed,
    ProcessEngine,
    RatesByLegs,
    TimedProcessEngine,
    refuse_given_motions_of_legs,
)
from ...parallel import message_plan as messages_of
from ...scenario import Plan, Result, carry_out_plan, carry_out_whole_plan, result_of_trace, scenario_wrenches_over_time
from ...simulate import discrete_state_at_start
from ...simulate.systems import discrete_partition
from ...text import count_with_noun
from .settings import (
    Cost,
    EngineSetting,
    Listener,
    Outcome,
    distribution_engine,
    distribution_forecast,
    distribution_steps_forecast,
    ping_distribution_nodes,
)


def distribution_part_count(plan: Plan, make: Callable[[], Plan]) -> int:
    """The number of legs, or other parts; what can't be distributed is refused before anything is computed."""
    if plan.task != "inverse" and runs_fully_distributed(plan):
        FullyDistributed(lambda: make().system, plan.solver, ProcessEngine(), 1)
        return len(bodies_shared_by_legs(plan.robot)[1])
    count = _legs(plan)
    if plan.task == "inverse":
        if plan.system.inputs.driven:
            speed = plan.system.inputs.driven[0].speed
            raise InputError(
                f"{plan.robot.name}: distributed inverse dynamics knows no forces of passive joints",
                key="forces",
                found=f"a law for `{next(j.name for j in plan.robot.moving if speed in j.speeds)}`",
                allowed="wrenches on links",
            )
        return count
    if plan.system.closure != "denoc":
        raise InputError(
            "this closure method has no distributed form",
            key="closure.method",
            found=plan.system.closure,
            allowed=", ".join(("denoc", *distributed_closure_methods())),
        )
    refuse_given_motions_of_legs(plan.system)
    return count


def _legs(plan: Plan) -> int:
    """The number of legs; where there are none, the error says what a simulation can be distributed by instead."""
    try:
        return len(legs(plan.robot).legs)
    except InputError as no:
        if plan.task == "inverse" or not plan.system.loops.m or plan.robot.springs:
            raise  # no form divides springs over several joints
        more = "--set closure.method=projection-qr --set solver.method=rk4 --set solver.step=1e-3"
        raise InputError(
            no.message, found=no.found, allowed=no.allowed, hint=f"`{more}` takes whole steps on nodes, part by part"
        ) from None


def distribution_part_name(plan: Plan) -> str:
    """What to call that which a node has of its own."""
    return bodies_shared_by_legs(plan.robot)[0]


def runs_fully_distributed(plan: Plan) -> bool:
    """Whether whole steps of the plan are taken on nodes."""
    return plan.system.method.distributed


def independent_speeds_at_start(plan: Plan) -> list[int]:
    """The speeds that are independent at the start of a run of the plan."""
    return discrete_partition(discrete_state_at_start(plan.system, np.array(plan.q0))).independent


QUANTITIES = {"q": "coordinates", "qd": "speeds", "qdd": "accelerations"}


def distribution_study(
    make: Callable[[], Plan],
    setting: EngineSetting = EngineSetting(),
    *,
    measured: bool = True,
    check: bool = True,
    listener: Listener = Listener(),
) -> Outcome:
    """Carries out a distributed run; `make` gives a new plan at each call, since nodes keep data in theirs."""
    plan = make()
    count = distribution_part_count(plan, make)
    nodes = min(setting.nodes or count, count)
    notes = []
    if setting.nodes is not None and setting.nodes > count:
        notes.append(f"{setting.nodes} nodes for {count} {distribution_part_name(plan)}s: {count} are used")
    engine = CountingEngine(distribution_engine(setting, nodes))
    workers = getattr(engine.engine, "workers", None)
    if workers is not None and len(workers) < nodes:
        notes.append(f"{nodes} nodes on {count_with_noun(len(workers), 'worker')}")
    try:
        prices = None
        if measured:  # with nodes that have nothing to do
            engine.engine.begin([[None] for _ in range(nodes)])
            prices = ping_distribution_nodes(engine.engine, nodes)
        course = carry_out_distributed_run(make, plan, engine, setting, nodes, check, listener, prices)
        sent = [one for _, one in engine.sent]
        messages, passed = sum(one.messages for one in sent), sum(one.bytes for one in sent)
        part = distribution_part_name(plan)
        whose = plan.name, plan.task, course.form, count, part, nodes, engine.name
        outcome = Outcome(*whose, *course[1:], messages, passed, None, notes)
        listener.reached(math.inf)
        if prices is not None and outcome.result.ended != "interrupted":
            outcome.cost = measured_distribution_cost(make, setting, nodes, outcome, prices)
    finally:
        engine.close()
    return outcome


def distribution_explained(
    make: Callable[[], Plan], setting: EngineSetting = EngineSetting()
) -> tuple[str, int, int, list[Exchange]]:
    """The unit of exchange, the numbers of legs and nodes, and the messages of a unit, without a run."""
    plan = make()
    count = distribution_part_count(plan, make)
    nodes = min(setting.nodes or count, count)
    if plan.task != "inverse":
        if runs_fully_distributed(plan):
            full = FullyDistributed(lambda: make().system, plan.solver, ProcessEngine(), nodes)
            return "a step", count, nodes, list(full.plan())
        conductor = DistributedFormulation(plan.robot, ProcessEngine(), nodes)
        conductor.begin(independent_speeds_at_start(plan))
        links = [one.link for one in plan.system.inputs.wrenches]
        return "an evaluation", count, nodes, list(messages_of("forward", conductor.groups, 1, links))
    conductor = DistributedFormulation(plan.robot, ProcessEngine(), nodes, batch=setting.batch)
    task = conductor.task("inverse", np.array(plan.q0))
    samples = min(len(plan.grid), setting.batch)
    links = list(dict.fromkeys(one.link for one in plan.system.inputs.wrenches))
    unit = f"a batch of {samples} samples"
    return unit, count, nodes, list(messages_of(task, conductor.groups, samples, links))


def columns_of_all_joints(plan: Plan, result: Result, what: str) -> np.ndarray:
    """The columns of all joints from a result's table."""
    return np.column_stack([result.table[name] for name in plan.robot.columns(QUANTITIES[what])])


def differences_by_family(result: Result, reference: Result) -> dict[str, float]:
    """The largest difference in common rows by family, relative to the family's largest number."""
    rows = min(len(result.t), len(reference.t))
    by_family: dict[str, tuple[float, float]] = {}
    for column in reference.columns:
        if column.name in result.table and column.family in ("position", "rate", "acceleration", "force"):
            a, b = result.table[column.name][:rows], reference.table[column.name][:rows]
            off, size = by_family.get(column.family, (0.0, 0.0))
            by_family[column.family] = (
                max(off, float(abs(a - b).max(initial=0.0))),
                max(size, float(abs(b).max(initial=0.0))),
            )
    return {family: off / size if size else off for family, (off, size) in by_family.items()}


class Course(NamedTuple):
    """How a distributed run went, as its outcome has it, and how many units it took."""

    form: str
    result: Result
    off: dict[str, float]
    undistributed: float
    seconds: float
    rows: list[Exchange]
    units: int


def carry_out_distributed_run(
    make: Callable[[], Plan],
    plan: Plan,
    engine: CountingEngine,
    setting: EngineSetting,
    nodes: int,
    check: bool,
    listener: Listener,
    prices: tuple[float, float] | None,
) -> Course:
    """The course of a distributed run, before its costs are measured."""
    simulated = plan.task != "inverse"
    full = simulated and runs_fully_distributed(plan)
    reference, before = None, 0.0
    if check or not simulated:
        begun = time.perf_counter()
        reference = carry_out_whole_plan(make())
        before = time.perf_counter() - begun
    if not simulated:
        assert reference is not None
        return _inverse(plan, reference, engine, setting, nodes)
    if full:
        run = FullyDistributed(lambda: make().system, plan.solver, engine, nodes)
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
    return Course(form, result, off, before, seconds, rows, units)


def _inverse(plan: Plan, reference: Result, engine: CountingEngine, setting: EngineSetting, nodes: int) -> Course:
    """Inverse dynamics of the rows by legs, at the positions of the undistributed run."""
    robot = plan.robot
    q, qd, qdd = (columns_of_all_joints(plan, reference, what) for what in QUANTITIES)
    wrenches = scenario_wrenches_over_time(plan, reference.t, q, qd)
    begun = time.perf_counter()
    inverse(robot, q, qd, qdd, wrenches)
    before = time.perf_counter() - begun
    conductor = DistributedFormulation(robot, engine, nodes, batch=setting.batch)
    begun = time.perf_counter()
    tau = conductor.inverse(q, qd, qdd, wrenches)
    seconds = time.perf_counter() - begun
    samples = min(len(q), setting.batch)
    rows = list(messages_of(conductor.task("inverse", q[0]), conductor.groups, samples, list(wrenches or {})))
    names = [name for joint in robot.moving if joint.actuated for name in joint.columns("forces")]
    table, right = dict(reference.table), np.column_stack([reference.table[name] for name in names])
    off = {"force": float(abs(tau - right).max(initial=0.0) / max(abs(right).max(initial=0.0), 1e-300))}
    for name, column in zip(names, tau.T):
        table[name] = column.copy()
    units, result = -(-len(q) // setting.batch), replace(reference, table=table)
    return Course("by legs", result, off, before, seconds, rows, units)


def measured_distribution_cost(
    make: Callable[[], Plan], setting: EngineSetting, nodes: int, outcome: Outcome, prices: tuple[float, float]
) -> Cost:
    """The measured costs: processor times of the nodes and of central here, latency and rate of echoed messages."""
    latency, rate = prices
    timing, plan = TimedProcessEngine(), make()
    if outcome.form != "by legs":
        full = FullyDistributed(lambda: make().system, plan.solver, timing, nodes)
        few = plan.grid[: min(len(plan.grid), 3)]
        begun = time.thread_time()
        trace = full.carried_out(plan.q0, plan.qd0, few, plan.kinks)
        trace.raise_if_interrupted()
        units = trace.steps
        whole, samples = time.thread_time() - begun, 1
        # in one process, one node does the work that all nodes repeat
        spent = np.array(timing.spent) / max(units, 1)
        return Cost(
            latency, rate, float(spent.max()), float(spent.max()), max(whole / max(units, 1) - float(spent.sum()), 0.0),
            1, sum(row.bytes for row in outcome.rows), samples,
        )  # fmt: skip
    q, qd, qdd = (columns_of_all_joints(plan, outcome.result, what) for what in QUANTITIES)
    conductor = DistributedFormulation(plan.robot, timing, nodes, batch=setting.batch)
    if outcome.task == "inverse":
        samples = min(len(q), setting.batch)
        wrenches = scenario_wrenches_over_time(plan, outcome.result.t[:samples], q[:samples], qd[:samples])

        def once() -> None:
            conductor.inverse(q[:samples], qd[:samples], qdd[:samples], wrenches)
    else:
        samples, tau = 1, np.zeros(plan.robot.nv)
        independent = independent_speeds_at_start(plan)

        def once() -> None:
            conductor.moved(q[0], qd[0], tau, None, independent)

    once()  # so that what is made at the first call isn't measured
    best = []
    for _ in range(3):
        timing.spent = [0.0] * nodes
        begun = time.thread_time()
        once()
        best.append((time.thread_time() - begun, timing.spent))
    whole, each = min(best, key=lambda one: one[0])
    spent = np.array(each)
    exchanges = sum(row.way == "to central" for row in outcome.rows)
    return Cost(
        latency,
        rate,
        float(spent.sum()),
        float(spent.max()),
        whole - float(spent.sum()),
        exchanges,
        sum(row.bytes for row in outcome.rows),
        samples,
    )
