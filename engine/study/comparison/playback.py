"""Plans of simulations that closure methods are compared on, and the motions that they should have.

A scenario with a motion for its actuators is played back: simulated under the forces that the motion needs. Any other
simulation is carried out once with small tolerances, and is its own reference. So is the motion of what rolls or
skates, whose positions don't follow from a planned motion at an instant: its forces are those of its inverse dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError, NumericalError
from ...robot import Robot
from ...scenario import Plan, Scenario, carry_out_whole_plan, prepare_scenario
from ...simulate import Path, feedforward_path
from ...simulate.systems import Driven
from ...text import Change

ROWS = 600  # of a motion that is recorded
KINDS = ("coordinates", "speeds", "forces")
RTOL, ATOL = 1e-10, 1e-12  # with which it is


class RecordedMotion:
    """The motion of a run: positions, speeds and forces of all joints, joined from row to row."""

    def __init__(self, robot: Robot, t: np.ndarray, table: Mapping[str, np.ndarray]):
        from scipy.interpolate import make_interp_spline

        names = [name for kind in KINDS for name in robot.columns(kind)]
        self._places = {name: k for k, name in enumerate(name for name in names if name in table)}
        self._curve = make_interp_spline(t, np.column_stack([table[name] for name in self._places]), k=5)
        self._nq, self._nv = robot.nq, robot.nv

    def column(self, name: str, t: np.ndarray | float) -> np.ndarray:
        """A column at these instants."""
        values: np.ndarray = self._curve(t)[..., self._places[name]]
        return values

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates and speeds of all joints."""
        row = self._curve(t)
        return row[: self._nq], row[self._nq : self._nq + self._nv]


def plan_played_back(scenario: Scenario, changes: Sequence[Change] = ()) -> tuple[Plan, RecordedMotion | None]:
    """The plan of the simulation to be compared, and its motion where that was recorded."""
    first = prepare_scenario(scenario, changes=changes)
    file, robot = first.file, first.robot
    if not first.system.loops.m:
        raise InputError(f"{robot.name} has no loops, so there are no closure methods to compare")
    data = file.model_dump(mode="json", by_alias=True, exclude_none=True)
    actuated = [joint.name for joint in robot.moving if joint.actuated]
    led = [name for name in actuated if name in file.motion or "all" in file.motion]
    if not led and file.task != "simulate":
        raise InputError(
            f"{first.name}: no reference motion",
            allowed="a scenario with `motion` for the actuated joints, or with `task: simulate`",
            hint="`drives` are constraints under every method" if file.drives else "",
        )
    own: dict[str, Any] = {"task": "simulate", "expect": "done"}
    if led:
        motion = {**data["motion"], **{name: {"law": "hold"} for name in actuated if name not in led}}
        forces = {name: law for name, law in data["forces"].items() if name not in (*actuated, "all")}
        if robot.rolls:
            motion = {name: law for name, law in motion.items() if name not in (*actuated, "all")}
        forces |= {name: {"law": "zero" if robot.rolls else "feedforward"} for name in actuated}
        own |= {"motion": motion, "forces": forces}
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
    if not led:
        return plan, _recorded(plan)
    if robot.rolls:
        recorded = _recorded(first)
        system = plan.system
        driven = [
            Driven(speed, None, partial(_force_of_time, recorded, column), None, place, timed=True)
            for joint in robot.moving
            if joint.actuated
            for place, (speed, column) in enumerate(zip(joint.speeds, joint.columns("forces")))
        ]
        plan = replace(
            plan, system=replace(system, inputs=replace(system.inputs, driven=(*system.inputs.driven, *driven)))
        )
        q, qd = recorded.at(float(plan.grid[0]))
    else:
        recorded = None
        q, qd, _, _ = playback_reference_path(plan).at(float(plan.grid[0]))
    # the simulation starts on the motion, with its speeds
    return replace(plan, q0=tuple(q.tolist()), qd0=tuple(qd.tolist())), recorded


def _force_of_time(recorded: RecordedMotion, column: str, t: float, *state: object) -> float:
    return float(recorded.column(column, t))


def _recorded(plan: Plan) -> RecordedMotion:
    """The motion of a plan, carried out with small tolerances by independent coordinates that are kept closed."""
    grid = np.linspace(plan.grid[0], plan.grid[-1], max(ROWS, len(plan.grid)) + 1)
    solver = replace(plan.solver, method="rk45", rtol=RTOL, atol=ATOL, step=None)
    result = carry_out_whole_plan(replace(plan, grid=grid, solver=solver, system=replace(plan.system, closure="denoc")))
    if result.ended == "interrupted":
        raise KeyboardInterrupt
    if result.ended != "done":
        why = result.record["reason"] or "before the end of its time"
        raise NumericalError(f"{plan.name} ended as `{result.ended}`, so there is no motion to compare with: {why}")
    return RecordedMotion(plan.robot, result.t, result.table)


def playback_reference_path(plan: Plan) -> Path:
    """The path of all coordinates and speeds along the motion."""
    return feedforward_path(plan.system, plan.q0, float(plan.grid[0]))
