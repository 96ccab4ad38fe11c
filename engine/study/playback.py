"""Plans of simulations under the forces that a scenario's motion needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import InputError
from ..scenario.plan import Plan
from ..scenario.run import Scenario, prepare_scenario
from ..simulate import feedforward
from ..simulate.follow import Path
from ..text.change import Change


def plan_played_back(scenario: Scenario, changes: Sequence[Change] = ()) -> Plan:
    """The plan of a simulation under the forces that the scenario's motion needs."""
    first = prepare_scenario(scenario, changes=changes)
    file, robot = first.file, first.robot
    if first.system.loops is None:
        raise InputError(f"{robot.name} has no loops, so there are no closure methods to compare")
    if not robot.driven:
        raise InputError(f"{robot.name} has no actuated joints, which a reference motion is for")
    data = file.model_dump(mode="json", by_alias=True, exclude_none=True)
    actuated = [joint.name for joint in robot.moving if joint.actuated]
    led = [name for name in actuated if name in file.motion or "all" in file.motion]
    if not led:
        raise InputError(
            f"{first.name}: no reference motion",
            allowed="a scenario with `motion` for the actuated joints",
            hint="`drives` are constraints under every method" if file.drives else "",
        )
    motion = {**data["motion"], **{name: {"law": "hold"} for name in actuated if name not in led}}
    forces = {name: law for name, law in data["forces"].items() if name not in (*actuated, "all")}
    forces |= {name: {"law": "feedforward"} for name in actuated}
    own = {"task": "simulate", "motion": motion, "forces": forces, "expect": "done"}
    record = {**data["record"], "torques": True, "energy": True, "reactions": False}
    plan = prepare_scenario(
        scenario,
        changes=[
            *changes,
            *(Change(key, value, f"compare: {key}") for key, value in (own | {"record": record}).items()),
            Change("solver.at_singularity", "switch", "compare: solver.at_singularity"),
            Change("solver.energy", "accept", "compare: solver.energy"),
        ],
    )
    q, qd, _, _ = playback_reference_path(plan).at(
        float(plan.grid[0])
    )  # the simulation starts on the motion, with its speeds
    return replace(plan, q0=tuple(q.tolist()), qd0=tuple(qd.tolist()))


def playback_reference_path(plan: Plan) -> Path:
    """The path of all coordinates and speeds along the motion."""
    return feedforward.feedforward_path(plan.system, plan.q0, float(plan.grid[0]))
