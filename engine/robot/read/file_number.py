"""A number of a robot's file by its dotted key, and the robots whose files have another number there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...text import ROBOT, Change, Document, Keys, changed_document
from ...text.fields import Strict
from ..model import Robot
from .build import Draft, build_robot


@dataclass(frozen=True)
class FileNumber:
    """A number of a robot's file, in SI units."""

    document: Document
    key: str
    value: float

    def robot(self, value: float) -> Robot:
        """The robot whose file has this value instead; the file's own bounds hold for it, too."""
        return build_robot(changed_document(self.document, [_change(self.key, value)]))


def robot_file_number(robot: Robot, key: object) -> FileNumber:
    """The number that a key such as `links.upper.mass` leads to; `robot.links.upper.mass` is the same."""
    if not isinstance(key, str) or any("\ud800" <= c <= "\udfff" for c in key):  # halves of characters
        raise InputError("a key has to be text", found=type(key).__name__, allowed=_FORM)
    if robot.document is None:
        raise InputError(f"{robot.name} has no file whose numbers could be named", found=f"`{key}`")
    key = key.removeprefix(ROBOT)
    there = changed_document(robot.document, [_change(key, 0.0)])
    path = next(path for path, label in reversed(there.changed.items()) if label == key)
    return FileNumber(robot.document, key, _value(robot.document, path, key))


_FORM = "keys of the robot's file, such as `links.link1.mass`"


def _change(key: str, value: float) -> Change:
    return Change(key, value, key)


def _value(document: Document, path: Keys, key: str) -> float:
    """The number at a path of the file; 0 where the file says nothing but may have a number there."""
    data: Any = document.data
    try:
        for step in path:
            data = data[step]
    except (KeyError, TypeError):
        return 0.0
    if isinstance(data, int | float) and not isinstance(data, bool):
        return float(data)
    draft = Draft.of(document)
    value: Any = draft.file if draft.direct else None
    for step in path if draft.direct else ():
        value = getattr(value, str(step), None) if isinstance(value, Strict) else value[step]
    if not isinstance(value, float):
        found = f"`{data}`" if isinstance(data, str) else type(data).__name__
        raise InputError("not a number of the file", key=key, found=found, allowed=_FORM)
    return float(value)
