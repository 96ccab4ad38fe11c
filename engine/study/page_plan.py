"""What a page is asked for: a scenario, or a robot that falls freely, and ranges of sliders."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import InputError
from ..formats import load
from ..scenario import Plan, changed_robot_of_scenario, prepare_scenario
from ..text import Change, find_library_file, parted_changes, read_yaml_document

DURATION = 10.0  # seconds of a robot's free fall


def plan_of_page(what: str, changes: Sequence[Change]) -> Plan:
    """The plan of a scenario, or of the free fall of a robot."""
    try:
        document = read_yaml_document(find_library_file(what, "scenarios"))
    except InputError:
        data = None
    else:
        data = document.data
    if isinstance(data, dict) and "task" in data:
        return prepare_scenario(what, changes=list(changes))
    rest, of_robot = parted_changes(list(changes))
    robot = changed_robot_of_scenario(load(what), of_robot)
    fall = {"robot": what, "name": f"{robot.name}-fall", "task": "simulate", "time": {"end": DURATION, "step": 0.02}}
    return prepare_scenario(fall, robot, list(rest))


def page_slider_ranges(texts: Sequence[str]) -> list[tuple[str, float | None, float | None]]:
    """Keys and ranges of sliders, from texts such as `robot.links.crank.mass=1..5`; without a range it has None."""
    made: list[tuple[str, float | None, float | None]] = []
    for text in texts:
        key, sign, span = text.partition("=")
        low, _, high = span.partition("..")
        try:
            ends = (float(low), float(high)) if sign else None
        except ValueError:
            ends = (math.nan, math.nan)
        if ends is not None and not all(map(math.isfinite, ends)):
            allowed = "KEY or KEY=LOW..HIGH, in SI units"
            raise InputError("not a range", key="--slider", found=f"`{text}`", allowed=allowed)
        made.append((key.strip(), *(ends or (None, None))))
        if any(key.strip() == one for one, _, _ in made[:-1]):
            raise InputError("a number has one slider", key="--slider", found=f"`{key.strip()}` twice", allowed="once")
        if not key.strip().startswith("robot."):
            raise InputError(
                "not a number of the robot's file",
                key="--slider",
                found=f"`{text}`",
                allowed="such as robot.links.crank.mass",
            )
    return made
