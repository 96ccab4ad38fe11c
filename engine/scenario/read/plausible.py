"""Numbers of a scenario that read well but that hardly anybody means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...laws import Law, StateLaw, TableMotion, bare_angles_of_law_table, law_table_header
from ...robot import Joint
from ...robot.read import enormous_robot_numbers, unbelievable_robot_angle
from ...text import Keys
from ...text.expressions import Named
from .reading import Reading


def doubts_about_scenario_angles(reading: Reading, laws: Sequence[tuple[Joint, tuple[Law, Keys]]]) -> list[str]:
    """Warnings about bare angles of more than a turn, in laws and in `initial`, and about other odd numbers."""
    odd = [*_angles(reading, laws), *_step(reading)]
    for section in ("motion", "forces", "wrenches", "initial", "rates", "drives"):
        odd += enormous_robot_numbers(getattr(reading.file, section), (section,))
    return [f"{'.'.join(map(str, path))}: {words}" for path, words in odd]


def _step(reading: Reading) -> Iterator[tuple[Keys, str]]:
    """A step between rows that is longer than the run."""
    (begin, end), step = reading.span, reading.file.time.step
    if step is not None and step > (end - begin) * (1 + 1e-9):
        yield ("time", "step"), f"{step:g} s is longer than the run; there are rows at its start and its end only"


def _angles(reading: Reading, laws: Sequence[tuple[Joint, tuple[Law, Keys]]]) -> Iterator[tuple[Keys, str]]:
    for joint, (law, path) in laws:
        for key, kind, value in law.measured():
            if kind == "position":
                yield from _of_joint(joint, value, (*path, key))
        if isinstance(law, TableMotion):
            columns = zip(law.columns_read(), joint.type.kinds)
            angles = [name for name, kind in columns if kind == "angle"]
            bare = bare_angles_of_law_table(reading.folder / law.file_, angles)
            yield from (((*path, "file"), words) for words in bare)
        if isinstance(law, StateLaw):
            yield from ((path, words) for words in _looked_up(reading, joint, law))
    for name, value in reading.file.initial.items():
        yield from _of_joint(reading.joint("initial", name), value, ("initial", name))


def _looked_up(reading: Reading, joint: Joint, law: StateLaw) -> Iterator[str]:
    """Bare angles of more than a turn in the first columns of tables over a coordinate."""
    kinds = dict(zip(joint.type.coordinates, joint.type.kinds))
    for one in reading.robot.moving:
        kinds |= {f"{one.name}.{suffix}": kind for suffix, kind in zip(one.type.coordinates, one.type.kinds)}
    for lookup in law.lookups():
        if isinstance(lookup.argument, Named) and kinds.get(lookup.argument.name) == "angle":
            file = reading.folder / lookup.file
            yield from bare_angles_of_law_table(file, law_table_header(file)[:1], of_time=False)


def _of_joint(joint: Joint, value: Any, path: Keys) -> Iterator[tuple[Keys, str]]:
    values = value if isinstance(value, tuple) else [value] * len(joint.type.kinds)
    for one, kind in zip(values, joint.type.kinds):
        if kind == "angle" and (words := unbelievable_robot_angle(one)):
            yield path, words
            return
