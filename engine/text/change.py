"""Values put over those of a file: dotted keys such as `links.link3.mass`, from the command line or a variation."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError, did_you_mean
from .fields import told
from .source import Document, Keys

ROBOT = "robot."  # what keys into the robot's file begin with


@dataclass(frozen=True)
class Change:
    """Another value at the end of a dotted key; `said` is how messages call it, `text` how records do."""

    key: str
    value: Any
    said: str
    text: str = ""

    def error(self, message: str, *, found: str = "", allowed: str = "", hint: str = "") -> InputError:
        return InputError(message, key=self.said, found=found, allowed=allowed, hint=hint)


def parted(changes: Iterable[Change]) -> tuple[list[Change], list[Change]]:
    """Those of the scenario, and those of the robot's file without their `robot.`."""
    listed = list(changes)
    own = [replace(one, key=one.key.removeprefix(ROBOT)) for one in listed if one.key.startswith(ROBOT)]
    return [one for one in listed if not one.key.startswith(ROBOT)], own


def changed(document: Document, changes: Sequence[Change]) -> Document:
    """The document with other values at the ends of the keys; what it had keeps its place in the file."""
    if not changes or not isinstance(document.data, dict):
        return document  # what is no mapping is told by whoever reads it
    data, put = copy.deepcopy(document.data), dict(document.changed)
    for change in changes:
        put[_put(data, change)] = change.said
    return replace(document, data=data, changed=put)


def _put(data: Any, change: Change) -> Keys:
    """Puts the value into the data; the way to it."""
    steps = change.key.split(".")
    if "" in steps:
        raise change.error("a part of the key is empty", found=f"`{change.key}`", allowed="keys with dots between")
    way: list[str | int] = []
    place = data
    for n, step in enumerate(steps):
        at: str | int = step
        if isinstance(place, list):
            at = _index(place, step, change)
        elif not isinstance(place, dict):
            where = ".".join(steps[:n])
            raise change.error(f"`{step}` leads nowhere", found=f"{where}: {told(place)}", allowed=f"{where}=VALUE")
        way.append(at)
        if n + 1 == len(steps):
            place[at] = copy.deepcopy(change.value)
        elif isinstance(place, dict) and place.get(step) is None:
            place[at] = {}
        place = place[at]
    return tuple(way)


def _index(place: list[Any], step: str, change: Change) -> int:
    """The entry of a list by its name, or by its number from 0."""
    names = [str(one.get("name", "")) if isinstance(one, dict) else "" for one in place]
    if step in names:
        return names.index(step)
    if step.isascii() and step.isdigit() and int(step[:9]) < len(place):
        return int(step)
    known = [name for name in names if name]
    numbers = f"0 to {len(place) - 1}" if place else "nothing: the list is empty"
    raise change.error(f"no entry `{step}`", allowed=", ".join([*known, numbers]), hint=did_you_mean(step, known))
