"""Changes of single values in a file, by dotted keys such as `links.link3.mass`, from `--set` or an ensemble."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from ..errors import InputError, Words, did_you_mean
from .document import Document, Keys, yaml_value_in_words

ROBOT = "robot."  # the prefix of keys in the robot's file


@dataclass(frozen=True)
class Change:
    """A new value for a dotted key; messages show it as `label`, records as `text`."""

    key: str
    value: Any
    label: str
    text: str = ""

    def error(self, message: str, **words: Unpack[Words]) -> InputError:
        return InputError(message, key=self.label, **words)


def parted_changes(changes: Iterable[Change]) -> tuple[list[Change], list[Change]]:
    """The changes of the scenario and those of the robot, the latter without the prefix `robot.`."""
    listed = list(changes)
    of_robot = [replace(one, key=one.key.removeprefix(ROBOT)) for one in listed if one.key.startswith(ROBOT)]
    return [one for one in listed if not one.key.startswith(ROBOT)], of_robot


def changed_document(document: Document, changes: Sequence[Change]) -> Document:
    """A copy of the document with the changed values; all others keep their places in the file."""
    if not changes or not isinstance(document.data, dict):
        return document  # a document that is no mapping is refused by its reader
    data, replaced = copy.deepcopy(document.data), dict(document.changed)
    for change in changes:
        replaced[_replace(data, change)] = change.label
    return replace(document, data=data, changed=replaced)


def _replace(data: Any, change: Change) -> Keys:
    """Replaces the value in the data, and returns its path."""
    steps = change.key.split(".")
    if "" in steps:
        raise change.error("a part of the key is empty", found=f"`{change.key}`", allowed="keys with dots between")
    path: list[str | int] = []
    place = data
    for n, step in enumerate(steps):
        at: str | int = step
        if isinstance(place, list):
            at = _index(place, step, change)
        elif not isinstance(place, dict):
            where = ".".join(steps[:n])
            raise change.error(
                f"`{step}` leads nowhere", found=f"{where}: {yaml_value_in_words(place)}", allowed=f"{where}=VALUE"
            )
        path.append(at)
        if n + 1 == len(steps):
            place[at] = copy.deepcopy(change.value)
        elif isinstance(place, dict) and place.get(step) is None:
            place[at] = {}
        place = place[at]
    return tuple(path)


def _index(place: list[Any], step: str, change: Change) -> int:
    """The place of a list's entry, given by its name or its number from 0."""
    names = [str(one.get("name", "")) if isinstance(one, dict) else "" for one in place]
    if step in names:
        return names.index(step)
    if step.isascii() and step.isdigit() and int(step[:9]) < len(place):
        return int(step)
    known = [name for name in names if name]
    numbers = f"0 to {len(place) - 1}" if place else "nothing: the list is empty"
    raise change.error(f"no entry `{step}`", allowed=", ".join([*known, numbers]), hint=did_you_mean(step, known))
