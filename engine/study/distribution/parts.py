"""What a scenario is distributed by: legs, or the parts of a mechanism; others are refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...errors import InputError
from ...mechanics.closure import distributed_closure_methods
from ...mechanics.platforms import bodies_shared_by_legs, legs
from ...parallel.engines import Process
from ...parallel.full import Full
from ...parallel.rates import refuse_given_motions_of_legs
from ...scenario import Plan
from ...simulate.coordinates import discrete_state_at_start
from ...simulate.discrete import discrete_partition


def distribution_part_count(plan: Plan, make: Callable[[], Plan]) -> int:
    """The number of legs, or other parts; what can't be distributed is refused before anything is computed."""
    if plan.task != "inverse" and runs_fully_distributed(plan):
        Full(lambda: make().system, plan.solver, Process(), 1)
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
