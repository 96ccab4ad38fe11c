"""The sliders of a page: which numbers of the robot's file they stand for, and the robot with their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..robot.model import Robot
from ..scenario.plan import Plan
from ..text.change import Change
from ..text.writing import yaml_flow_text
from .arguments import number_with_key
from .file_units import unit_at
from .sliders import Slider

FALL = "robot.gravity"  # the slider for the size of gravity, whose direction stays
MOST_SLIDERS = 8  # that a page has by itself
MASS, GRAVITY = 3.0, 2.0  # times the file's value, up to which the sliders of a page reach by themselves


def page_own_sliders(plan: Plan) -> list[Slider]:
    """The sliders of a page by itself: gravity and the masses of the heaviest links."""
    document = plan.robot.document
    data = document.data if document is not None and isinstance(document.data, dict) else {}
    found: list[Slider] = []
    links = {link.name: link for link in plan.robot.links}
    for entry in data.get("links", []) if isinstance(data.get("links"), list) else []:
        name = entry.get("name") if isinstance(entry, dict) else None
        if name in links and "mass" in entry and links[name].mass:
            mass = links[name].mass
            found.append(Slider(f"robot.links.{name}.mass", 0.1 * mass, MASS * mass, mass, "kg"))
    found.sort(key=lambda one: -one.value)
    size = float(np.linalg.norm(plan.robot.gravity))
    gravity = [Slider(FALL, 0.0, GRAVITY * size, size, "m/s²")] if size else []
    return gravity + found[: MOST_SLIDERS - len(gravity)]


def page_slider_of_key(plan: Plan, key: str, low: float | None, high: float | None) -> Slider:
    """The slider of a key, whose range is by default from a tenth to three times its value."""
    value = float(np.linalg.norm(plan.robot.gravity)) if key == FALL else page_slider_number(plan.robot, key)
    low = low if low is not None else min(0.1 * value, MASS * value)
    high = high if high is not None else max(0.1 * value, MASS * value)
    if not low < high or not low <= value <= high:
        raise InputError(
            "not a range around the number's own value",
            key=key,
            found=f"{low:g}..{high:g}",
            allowed=f"{key}=LOW..HIGH with {value:g} between them",
        )
    return Slider(key, low, high, value, "m/s²" if key == FALL else unit_at(plan.robot, key))


def page_slider_number(robot: Robot, key: str) -> float:
    """The number of a robot's file at a key such as `robot.links.crank.mass`."""
    value: Any = robot.document.data if robot.document is not None else None
    for step in key.removeprefix("robot.").split("."):
        if isinstance(value, list):
            named = [one for one in value if isinstance(one, dict) and one.get("name") == step]
            names = [str(one["name"]) for one in value if isinstance(one, dict) and "name" in one]
            inner = named[0] if named else value[int(step)] if step.isdigit() and int(step) < len(value) else None
        else:
            names = list(map(str, value)) if isinstance(value, dict) else []
            inner = value.get(step) if isinstance(value, dict) else None
        if inner is None:
            hint = did_you_mean(step, names) or "a number that isn't in the file has to be written there first"
            raise InputError("no such number in the robot's file", key=key, found=f"`{step}`", hint=hint)
        value = inner
    number = None if isinstance(value, dict | list) else number_with_key(robot, key)
    if number is None:
        raise InputError(
            "not a number of the robot's file",
            key=key,
            found=yaml_flow_text(value),
            allowed="such as robot.links.crank.mass",
        )
    return number


def page_robot_changed(robot: Robot, sliders: Sequence[Slider], values: Sequence[float]) -> Robot:
    """The robot with these values of its file."""
    from ..scenario.run import changed_robot_of_scenario

    changes = []
    for one, value in zip(sliders, values):
        if value != one.value:
            given = [float(value) / one.value * g for g in robot.gravity] if one.key == FALL else float(value)
            changes.append(Change(one.key.removeprefix("robot."), given, one.key, f"{one.key}={value:g}"))
    return changed_robot_of_scenario(robot, changes)
