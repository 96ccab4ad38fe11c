"""The state that laws with dead time see: which part of it, and its values among the signals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...machine.program import Scalar, square_root
from ...mechanics.tree import dot
from ...robot import Robot
from .inputs import Driven


class DelayedInput(NamedTuple):
    """What a law with dead time reads of the state, and where that is found.

    A source is a place among the components that a run remembers or, from −1 downwards, among the signals of
    prescribed motions, counted from −1.
    """

    coordinates: tuple[int, ...]
    speeds: tuple[int, ...]
    sources: tuple[int, ...]  # of these, in this order


def seen_of_law(robot: Robot, one: Driven) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The coordinates and speeds that a law reads; Euler parameters all together."""
    if one.whole is not None:
        read, speeds = one.whole.reads
    else:
        read, speeds = () if one.coordinate is None else (one.coordinate,), (one.speed,)
    coordinates = {*read}
    for joint in robot.moving:
        if joint.type.orientation is not None and coordinates & {*joint.coordinates}:
            coordinates |= {*joint.coordinates}
    return tuple(sorted(coordinates)), tuple(sorted({*speeds}))


def late_state(robot: Robot, seen: DelayedInput, values: Iterator[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """Coordinates and speeds of the robot with those that a law sees; the others are 0."""
    q, qd = list[Scalar]([0.0] * robot.nq), list[Scalar]([0.0] * robot.nv)
    for k in seen.coordinates:
        q[k] = next(values)
    for k in seen.speeds:
        qd[k] = next(values)
    for joint in robot.moving:
        first = joint.type.orientation
        if first is not None and joint.coordinates[first] in seen.coordinates:
            e = [q[k] for k in joint.coordinates[first : first + 4]]  # dense output has another norm than 1
            norm = square_root(dot(e, e))
            q[joint.coordinates[first] : joint.coordinates[first] + 4] = [x / norm for x in e]
    return q, qd


def late_values(seen: DelayedInput, remembered: np.ndarray, motion: Sequence[Any]) -> list[Any]:
    """The signals of a law, from what is remembered (along the last axis) and from prescribed motions of that time."""
    return [remembered[..., k] if k >= 0 else motion[-1 - k] for k in seen.sources]
