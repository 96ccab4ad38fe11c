"""Numbers of a scenario that read well but that hardly anybody means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...laws.motions import MotionLaw
from ...robot.model import Joint
from ...robot.plausible import unbelievable
from ...text.document import Keys
from .reading import Reading


def doubts(reading: Reading, motions: Mapping[Joint, tuple[MotionLaw, Keys]]) -> list[str]:
    """Warnings about bare angles of more than a turn, in motions of joints that turn and in `initial`."""
    return [f"{'.'.join(map(str, path))}: {words}" for path, words in _angles(reading, motions)]


def _angles(reading: Reading, motions: Mapping[Joint, tuple[MotionLaw, Keys]]) -> Iterator[tuple[Keys, str]]:
    for joint, (law, path) in motions.items():
        for key, kind, value in law.measured():
            if kind == "position":
                yield from _of_joint(joint, value, (*path, key))
    for name, value in reading.file.initial.items():
        yield from _of_joint(reading.joint("initial", name), value, ("initial", name))


def _of_joint(joint: Joint, value: Any, path: Keys) -> Iterator[tuple[Keys, str]]:
    values = value if isinstance(value, tuple) else [value] * len(joint.type.kinds)
    for one, kind in zip(values, joint.type.kinds):
        if kind == "angle" and (words := unbelievable(one)):
            yield path, words
            return
