"""The study of a distributed run, and its messages without a run."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...parallel.conduct import Distributed
from ...parallel.engines import Counting, Process
from ...parallel.full import Full
from ...parallel.steps import Exchange
from ...parallel.steps import message_plan as messages_of
from ...scenario import Plan
from ...text import count_with_noun
from .carry import carry_out_distributed_run
from .costs import measured_distribution_cost, price_exchanges
from .parts import (
    distribution_part_count,
    distribution_part_name,
    independent_speeds_at_start,
    runs_fully_distributed,
)
from .settings import EngineSetting, Listener, Outcome, distribution_engine


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
    engine = Counting(distribution_engine(setting, nodes))
    workers = getattr(engine.engine, "workers", None)
    if workers is not None and len(workers) < nodes:
        notes.append(f"{nodes} nodes on {count_with_noun(len(workers), 'worker')}")
    try:
        prices = price_exchanges(engine.engine, nodes) if measured else None
        outcome = carry_out_distributed_run(make, plan, engine, setting, nodes, count, check, listener, prices)
        listener.reached(math.inf)
        if prices is not None and outcome.result.ended != "interrupted":
            outcome.cost = measured_distribution_cost(make, setting, nodes, outcome, prices)
    finally:
        engine.close()
    outcome.notes = notes + outcome.notes
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
            full = Full(lambda: make().system, plan.solver, Process(), nodes)
            return "a step", count, nodes, list(full.plan())
        conductor = Distributed(plan.robot, Process(), nodes)
        conductor.begin(independent_speeds_at_start(plan))
        links = [one.link for one in plan.system.inputs.wrenches]
        return "an evaluation", count, nodes, list(messages_of("forward", conductor.groups, 1, links))
    conductor = Distributed(plan.robot, Process(), nodes, batch=setting.batch)
    task = conductor.task("inverse", np.array(plan.q0))
    samples = min(len(plan.grid), setting.batch)
    links = list(dict.fromkeys(one.link for one in plan.system.inputs.wrenches))
    unit = f"a batch of {samples} samples"
    return unit, count, nodes, list(messages_of(task, conductor.groups, samples, links))
