"""Runs of scenarios, from a file or a mapping to a `Result`; nothing is written here.

Functions of Python's may take the places of force laws.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InputError, allowed_names
from ..formats import load, load_shared_robot
from ..machine.backend import account_of_backend, compiled_only_where_it_pays, using_backend
from ..robot import Effort, Robot
from ..robot.read import build_robot
from ..simulate import Progress, Trace
from ..simulate.integrators import INTEGRATORS
from ..simulate.systems import Driven
from ..text import (
    Change,
    Document,
    changed_document,
    document_from_mapping,
    find_library_file,
    parted_changes,
    read_shared_yaml_document,
    yaml_value_in_words,
)
from .conclude import columns_of_run, conclude_result
from .course import (
    Course,
    course_of_trace,
    scenario_course_by_algebra,
    scenario_course_by_equations,
    scenario_course_by_following,
    scenario_course_by_integration,
)
from .plan import Plan, plan_of_scenario
from .read import formula_column_places, no_force_of_formula
from .replay import (
    name_of_scenario,
    prepared_scenario_replay,
    recorded_replay_choices,
    replay_files_unchanged,
    tables_of_scenario,
)
from .result import Result

if TYPE_CHECKING:
    from ..simulate import Runner
    from ..simulate.systems import Called

Scenario = str | Path | Mapping[str, Any]
When = Literal["stage", "step"]


def run(
    scenario: Scenario,
    robot: Robot | str | Path | None = None,
    *,
    forces: Mapping[str, Called] | None = None,
    when: When = "stage",
) -> Result:
    """The result of a scenario (path, library name or mapping); `robot` replaces the file's.

    `forces` are functions `f(t, state)` for the forces of joints and of `actuators`, with `state.q`, `state.qd` and
    `state["A0.q"]`. They are called at each stage of a step, and again for rows and events; with `when="step"` once, as
    each step begins.
    """
    plan = prepare_scenario(scenario, robot)
    return carry_out_plan(plan if forces is None else plan_with_python_forces(plan, forces, when))


def prepare_scenario(
    scenario: Scenario, robot: Robot | str | Path | None = None, changes: Sequence[Change] = ()
) -> Plan:
    """The plan of a scenario with `changes` to its files; only bad input raises errors."""
    rest, of_robot = parted_changes(changes)
    document, name, beside = opened_scenario(scenario)
    document = changed_document(document, rest)
    if not isinstance(robot, Robot):
        robot = load(robot) if robot is not None else robot_of_scenario(document, beside)
    robot = changed_robot_of_scenario(robot, of_robot)
    task = document.data.get("task") if isinstance(document.data, dict) else None
    ending = {"inverse": "idyn", "simulate": "sim"}.get(str(task), "run")
    with using_backend("plain"):  # a replay reads its notes with the plan, so the plan can't depend on them
        made = plan_of_scenario(document, robot, name or f"{robot.name}-{ending}")
    return prepared_scenario_replay(made, document, changes)


def opened_scenario(scenario: Scenario) -> tuple[Document, str, Path | None]:
    """The document of a scenario, the name that its file gives it, and the file's folder."""
    if isinstance(scenario, Mapping):
        return document_from_mapping(scenario), "", None
    path = find_library_file(scenario, "scenarios")
    replay_files_unchanged(path)
    return read_shared_yaml_document(path), name_of_scenario(path), path.parent


def changed_robot_of_scenario(robot: Robot, changes: Sequence[Change]) -> Robot:
    """The robot that its file describes with these changes."""
    if not changes:
        return robot
    if robot.document is None:
        raise changes[0].error("a robot without a file can't be changed")
    return build_robot(changed_document(robot.document, changes))


def robot_of_scenario(document: Document, beside: Path | None) -> Robot:
    """The robot that a scenario names."""
    data = document.data
    given = data.get("robot") if isinstance(data, dict) else None
    if isinstance(data, dict) and "links" in data and "task" not in data:
        raise document.error(("links",), "this is a robot, not a scenario", key=True, hint="`denoc idyn` runs it")
    if not isinstance(given, str):
        there = isinstance(data, dict) and "robot" in data
        raise document.error(
            ("robot",) if there else (),
            "not the name of a robot" if there else "`robot` is missing: the scenario names none",
            found=yaml_value_in_words(given)
            if there
            else yaml_value_in_words(data)
            if not isinstance(data, dict)
            else "",
            allowed="robot: a file beside this one, or a name of the library",
        )
    try:
        path = find_library_file(given, "robots", beside)
    except InputError as error:
        message = (f"{error.place}: " if error.place else "") + error.message
        raise document.error(("robot",), message, **error.words) from None
    return load_shared_robot(path)


# ---- carrying out


def carry_out_plan(plan: Plan, report: Progress | None = None, start: Callable[[], Runner] | None = None) -> Result:
    """Carries out a plan; `report(t)` is called with its progress, and `start` replaces the usual runner."""
    begun = time.perf_counter()
    contents = tables_of_scenario(plan)
    # a run whose numbers overflow ends as failed
    with recorded_replay_choices(plan), np.errstate(over="ignore", invalid="ignore"):
        run = course_of_plan(plan, report, start)
        if report is not None:
            report(math.inf)
        result = _concluded(plan, run, time.perf_counter() - begun)
        if plan.file.solver.error == "estimate" and run.steps and run.ended != "interrupted":
            from .error_estimate import estimated_error, plan_with_finer_steps

            finer = plan_with_finer_steps(plan)
            other = course_of_plan(finer, report)
            if other.ended != "interrupted":
                table = columns_of_run(finer, other, plan.record.wants).data
                result.record["error"] = estimated_error(plan, result.columns, result.t, result.table, other.t, table)
    result.tables = contents
    return result


def carry_out_whole_plan(
    plan: Plan, report: Progress | None = None, start: Callable[[], Runner] | None = None
) -> Result:
    """Carries out a plan as a part of other work: one run keeps the rows that it has, work of many ends with it."""
    result = carry_out_plan(plan, report, start)
    if result.ended == "interrupted":
        raise KeyboardInterrupt(result.record["reason"])
    return result


def course_of_plan(plan: Plan, report: Progress | None = None, start: Callable[[], Runner] | None = None) -> Course:
    """The course of a plan's run, from which its result is made; arguments are those of `carry_out_plan`."""
    report, system = report or (lambda t: None), plan.system
    by = scenario_course_by_following if system.loops.m else scenario_course_by_equations if system.pushing else None
    if start is None and by is None and not system.free:  # nothing of what a runner knows is needed
        return scenario_course_by_algebra(plan, report)
    from ..simulate import runner_with_feedforward

    under_way = start() if start is not None else runner_with_feedforward(system, plan.q0)
    if under_way.unknown:
        return scenario_course_by_integration(plan, under_way, report)
    return by(plan, under_way, report) if by is not None else scenario_course_by_algebra(plan, report)


def result_of_trace(plan: Plan, run: Runner, trace: Trace) -> Result:
    """The result of a run whose trace was integrated elsewhere."""
    return _concluded(plan, course_of_trace(run, trace), 0.0)


def _concluded(plan: Plan, run: Course, seconds: float) -> Result:
    """The result; where other runs have other numbers, columns that need the robot's own aren't worth compiling."""
    if plan.system.symbols is None:
        return conclude_result(plan, run, seconds)
    code = account_of_backend()
    with compiled_only_where_it_pays():
        return conclude_result(plan, run, seconds, code=code)


__all__ = ["Result", "Scenario", "carry_out_plan", "prepare_scenario", "run"]


def plan_with_python_forces(plan: Plan, forces: Mapping[str, Called], when: When) -> Plan:
    """The plan with the forces of these functions, called at each stage, or once at the beginning of each step."""
    from ..simulate.systems import CalledForce, Caller, HeldForce

    _refuse(plan, when)
    inputs, driven, sampled = plan.system.inputs, list(plan.system.inputs.driven), list(plan.system.inputs.sampled)
    for name, function in forces.items():
        places, effort = _driven(plan, name, function)
        caller = Caller(name, function, len(places), *formula_column_places(plan.robot))
        low, high = effort.low, effort.high
        if when == "step":
            held = HeldForce(caller, low, high, [0.0] * len(places))
            sampled.append(held)
            driven += [Driven(k, None, held.along(n), None, n, timed=True) for n, k in enumerate(places)]
        else:
            driven += [
                Driven(k, None, no_force_of_formula, None, n, low=low, high=high, whole=CalledForce(caller, n))
                for n, k in enumerate(places)
            ]
    system = replace(plan.system, inputs=replace(inputs, driven=tuple(driven), sampled=tuple(sampled)))
    words = f"forces by functions of Python's, of which the record has no more than the results: {', '.join(forces)}"
    return replace(plan, system=system, warnings=(*plan.warnings, words))


def _refuse(plan: Plan, when: When) -> None:
    """Raises an error where functions can't be called in the way that is asked for."""
    if when not in ("stage", "step"):
        raise InputError("not a time to call functions at", key="when", found=str(when), allowed="stage, step")
    method = plan.solver.method
    if when == "step" and INTEGRATORS[method].adaptive:
        fixed = [name for name, one in INTEGRATORS.items() if not one.adaptive]
        raise InputError(
            f"`{method}` chooses its steps itself, so once a step is nothing that a controller could rely on",
            key="solver.method",
            allowed=", ".join(fixed),
            hint="solver: {method: rk4, step: 1 ms}",
        )


def _driven(plan: Plan, name: str, function: Called) -> tuple[Sequence[int], Effort]:
    """The places (`Driven.speed`) of what a function drives, a joint or an actuator that is no joint's, and its limits.

    Nothing else may drive or move it.
    """
    robot, inputs = plan.robot, plan.system.inputs
    others = [one.name for one in robot.actuators]
    if name not in robot.joints and name not in others:
        known = allowed_names(name, [*robot.joints, *others])
        raise InputError(f"{robot.name} has no joint `{name}`", key="forces", **known)
    if not callable(function):
        raise InputError(f"the force of `{name}` is no function", key="forces", allowed="f(t, state) → force")
    joint = robot.joint(name) if name in robot.joints else None
    places = joint.speeds if joint is not None else (robot.nv + others.index(name),)
    ruled = [one.joint.name for one in (*inputs.prescribed, *inputs.commanded, *inputs.feedforward)]
    if name in ruled or any(one.speed in places for one in inputs.driven):
        raise InputError(
            f"`{name}` has an entry in the scenario already, under `motion` or `forces`", key="forces", found=name
        )
    if plan.task == "inverse" and (joint is None or joint.actuated):
        raise InputError(
            f"in inverse dynamics the force of `{name}` is sought", key="forces", allowed="joints without an actuator"
        )
    if joint is None:
        return places, robot.actuators[places[0] - robot.nv].effort
    return places, joint.effort if joint.actuated else Effort()
