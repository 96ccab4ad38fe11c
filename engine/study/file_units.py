"""The units of the numbers in a robot's file, by their keys."""

from __future__ import annotations

import re
from typing import Any

from ..robot import TYPES, Robot
from ..robot.read import JointEntry
from ..text import ROBOT
from ..text.expressions import DIMENSIONS
from ..text.fields import Strict, reader_of_quantity_field
from .arguments import codegen_draft_with_arguments

# what a number of a joint is if that turns, and if it slides
OF_JOINT = {
    "position": ("angle", "length"),
    "velocity": ("rate", "speed"),
    "effort": ("moment", "force"),
    **{kind: (f"turn {kind}", f"slide {kind}") for kind in ("stiffness", "damping", "rotor")},
}


def unit_at(robot: Robot, key: str) -> str:
    """The SI unit of the number at a key such as `robot.links.crank.mass`; empty for a plain number."""
    here: Any = codegen_draft_with_arguments(robot).file
    kind, turning = "number", True
    for step in key.removeprefix(ROBOT).split("."):
        if isinstance(here, JointEntry):
            row = TYPES[here.type]
            turning = "angle" in row.kinds or row.orientation is not None
        if isinstance(here, Strict) and (reader := reader_of_quantity_field(type(here), step)) is not None:
            kind = reader.kind  # of an item of a list, too
            break
        here = _part(here, step)
    words = DIMENSIONS[OF_JOINT[kind][not turning] if kind in OF_JOINT else kind][1]
    found = re.search(r"\(([^,)]+)", words)
    return found[1].replace("^2", "²") if found is not None else ""


def _part(here: Any, step: str) -> Any:
    """What is at a step of a key: a field, an entry of a mapping, or one of a list by its name or its place."""
    if isinstance(here, Strict):
        return getattr(here, step, None)
    if isinstance(here, dict):
        return here.get(step)
    if isinstance(here, list | tuple):
        named = [one for one in here if step in (getattr(one, "name", None), getattr(one, "joint", None))]
        return named[0] if named else here[int(step)] if step.isdigit() and int(step) < len(here) else None
    return None
