"""What the messages and the work of a distributed run cost, measured."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ...parallel.conduct import Distributed
from ...parallel.engines import Engine, TimedProcess
from ...parallel.full import Full
from ...scenario import Plan, scenario_wrenches_over_time
from .comparison import QUANTITIES, columns_of_all_joints
from .forecast import Cost, ping_distribution_nodes
from .parts import independent_speeds_at_start
from .settings import EngineSetting, Outcome


def price_exchanges(engine: Engine, nodes: int) -> tuple[float, float]:
    """The latency and the rate of exchanges with nodes that have nothing to do."""
    engine.begin([[None] for _ in range(nodes)])
    return ping_distribution_nodes(engine, nodes)


def measured_distribution_cost(
    make: Callable[[], Plan], setting: EngineSetting, nodes: int, outcome: Outcome, prices: tuple[float, float]
) -> Cost:
    """The measured costs: processor times of the nodes and of central here, latency and rate of echoed messages."""
    latency, rate = prices
    timing, plan = TimedProcess(), make()
    if outcome.form != "by legs":
        full = Full(lambda: make().system, plan.solver, timing, nodes)
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
    conductor = Distributed(plan.robot, timing, nodes, batch=setting.batch)
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
