"""Which scenario a command runs: the user's, the library's, or one made from options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from denoc.robot.model import Robot
    from denoc.scenario.plan import Plan

Data = dict[str, Any]


def planned(
    robot: str,
    scenario: str | None,
    ending: str,
    made: Callable[[Robot], Data],
    *,
    own: bool,
    change: Callable[[Data], Data],
) -> Plan:
    """The plan of `scenario`, else of the library's `<robot>-<ending>` (not with `own` options), else `made`."""
    from denoc.files.library import find, folder
    from denoc.files.source import from_mapping, read
    from denoc.robot.load import load
    from denoc.scenario.plan import plan

    model = load(robot)
    if scenario is not None:
        path = find(scenario, "scenarios")
        return plan(_changed(read(path), change), model, path.stem)
    path = folder("scenarios") / f"{model.name}-{ending}.yaml"
    if not own and path.is_file() and _alike(load(folder("robots") / f"{model.name}.yaml"), model):
        return plan(_changed(read(path), change), model, path.stem)
    return plan(from_mapping(made(model)), model, f"{model.name}-{ending}")


def _alike(one: Robot, other: Robot) -> bool:
    """Whether a scenario of one robot can be meant for the other: the same joints."""
    return [(joint.name, joint.type) for joint in one.moving] == [(joint.name, joint.type) for joint in other.moving]


def timed(data: Data, end: float | None, step: float | None) -> Data:
    """The entries under `time`, with another end and another output step where they are given."""
    given = {"end": end, "step": step}
    return {**data, **{key: value for key, value in given.items() if value is not None}}


def _changed(document: Any, change: Callable[[Data], Data]) -> Any:
    """The document with changed data; what it had keeps its place in the file."""
    return replace(document, data=change(document.data)) if isinstance(document.data, dict) else document


def overlaid(data: Data, end: float | None, step: float | None, solver: Data) -> Data:
    """A scenario's data with another end, another output step and other solver settings."""
    data = dict(data)
    if isinstance(data.get("time", {}), dict):
        data["time"] = timed(data.get("time", {}), end, step)
    if solver and isinstance(data.get("solver", {}), dict):
        kept = data.get("solver") or {}
        if "rtol" in solver and "atol" not in solver:  # a tolerance that follows the other one
            kept = {key: value for key, value in kept.items() if key != "atol"}
        data["solver"] = {**kept, **solver}
    return data
