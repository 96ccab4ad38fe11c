"""The choice of the scenario that a command runs: the user's, the library's, or one made from options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from denoc.cli.waiting import CLOSING, Wait

if TYPE_CHECKING:
    from denoc.robot import Joint, Robot
    from denoc.scenario import Plan
    from denoc.text import Change, Document

Data = dict[str, Any]
TASKS = {"idyn": "inverse", "fall": "simulate"}


def plan_for_command(
    robot: Robot,
    scenario: str | None,
    ending: str,
    made: Callable[[Robot], Data],
    *,
    own: bool,
    change: Callable[[Data], Data],
    options: dict[tuple[str | int, ...], str],
    settings: list[Change],
    quiet: bool,
) -> Plan:
    """The plan of `scenario`, or of the library's `<robot>-<ending>` unless there are `own` options, or of `made`.

    `options` names the option that an entry of the data comes from, for messages about mistakes in it.
    """
    from denoc.formats import load
    from denoc.scenario import changed_robot_of_scenario, name_of_scenario, plan_of_scenario, prepared_scenario_replay
    from denoc.text import (
        changed_document,
        document_from_mapping,
        find_library_file,
        library_folder,
        parted_changes,
        read_yaml_document,
    )

    rest, in_robot = parted_changes(settings)
    for one in rest:
        if one.key in ("robot", "task"):
            raise one.error(f"the command itself says what the {one.key} is", hint="`denoc run` takes any scenario")
    model = changed_robot_of_scenario(robot, in_robot)

    def ready(document: Document, name: str) -> Plan:
        document = changed_document(document, rest)
        with Wait(name, quiet=quiet) as wait:
            wait.now(CLOSING)
            return prepared_scenario_replay(plan_of_scenario(document, model, name), document, settings)

    if scenario is not None:
        path = find_library_file(scenario, "scenarios")
        document = read_yaml_document(path)
        _of_this_task(document, TASKS[ending])
        return ready(_changed(document, change, options), name_of_scenario(path))
    path = library_folder("scenarios") / f"{model.name}-{ending}.yaml"
    home = library_folder("robots") / f"{model.name}.yaml"
    own_file = model.document is not None and model.document.name == str(home) and not model.document.changed
    if not own and path.is_file() and (own_file or _joints(load(home)) == _joints(model)):
        return ready(_changed(read_yaml_document(path), change, options), path.stem)
    return ready(replace(document_from_mapping(made(model)), options=options), f"{model.name}-{ending}")


def _of_this_task(document: Document, task: str) -> None:
    """Raises an error if the scenario is for the other command."""
    given = str(document.data.get("task")) if isinstance(document.data, dict) else ""
    if given in TASKS.values() and given != task:
        other = {"inverse": "idyn", "simulate": "simulate"}[given]
        raise document.error(
            ("task",),
            "this scenario is for another command",
            found=f"`{given}`",
            allowed=f"`{task}`",
            hint=f"`denoc {other}` and `denoc run` take it",
        )


def _joints(robot: Robot) -> list[tuple[str, object]]:
    """The joints of a robot; a scenario may be run with another one that has the same."""
    return [(joint.name, joint.type) for joint in robot.moving]


def time_options_applied(data: Data, end: float | None, step: float | None) -> Data:
    """The entries under `time` with a new end and output step, where these are given."""
    given = {"end": end, "step": step}
    return {**data, **{key: value for key, value in given.items() if value is not None}}


def _changed(document: Document, change: Callable[[Data], Data], options: dict[tuple[str | int, ...], str]) -> Document:
    """A copy of the document with changed data; unchanged values keep their places in the file."""
    if not isinstance(document.data, dict):
        return document
    return replace(document, data=change(document.data), options=dict(options))


def options_overlaid_on_scenario(data: Data, end: float | None, step: float | None, solver: Data) -> Data:
    """A copy of a scenario's data with a new end, output step and solver settings."""
    from denoc.simulate.integrators import INTEGRATORS

    data = dict(data)
    if isinstance(data.get("time", {}), dict):
        data["time"] = time_options_applied(data.get("time", {}), end, step)
    if end is not None and data.get("expect") == "singularity":  # the run may be over before
        data["expect"] = "either"
    if solver and isinstance(data.get("solver", {}), dict):
        kept = data.get("solver") or {}
        if "rtol" in solver and "atol" not in solver:  # `atol` follows `rtol` by default
            kept = {key: value for key, value in kept.items() if key != "atol"}
        if solver.get("method", kept.get("method")) != kept.get("method"):  # some entries belonged to the other method
            row = INTEGRATORS.get(solver["method"])
            others = ("step",) if row is None or row.adaptive else ("step", "rtol", "atol")
            kept = {key: value for key, value in kept.items() if key not in others}
        data["solver"] = {**kept, **solver}
    return data


def leading_joints(model: Robot) -> list[Joint]:
    """The actuated joints, or, in a mechanism, as many of them as can move independently."""
    actuated = [joint for joint in model.moving if joint.actuated]
    if not model.tied:
        return actuated
    from denoc.errors import DenocError
    from denoc.mechanics.assembly import assemble
    from denoc.mechanics.closure import independent_speeds, loop_closure

    try:
        J, _ = loop_closure(model).jacobian(assemble(model, model.q0))
    except DenocError:  # the loops can't be closed, which the run reports
        return actuated
    free = independent_speeds(loop_closure(model), J)
    return [joint for joint in actuated if set(joint.speeds) <= set(free)]
