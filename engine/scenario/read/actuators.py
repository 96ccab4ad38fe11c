"""Section `forces`: the laws of actuators that are no joint's, as wrenches over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...laws.forces import ForceLaw
from ...robot.model import Actuator
from ...simulate.inputs import Pushing, TimedWrench
from ...simulate.saturation import LEAVES, REACHES
from ...text.document import Keys
from . import wrenches
from .reading import Reading

LOOKS = 2000  # instants of a run, at least, between which a law passes a limit no more than once

Laws = dict[str, tuple[ForceLaw, Keys]]  # of an actuator, and the path of its entry


def laws(reading: Reading) -> Laws:
    """The law of each actuator that has one; in inverse dynamics the forces of all of them are sought."""
    entries = reading.file.forces
    names = [one.name for one in reading.robot.actuators if one.name in entries]
    named: Laws = {name: (entries[name], ("forces", name)) for name in names}
    if named and not reading.simulating:
        name, (_, path) = next(iter(named.items()))
        raise reading.error(
            path,
            f"in inverse dynamics the force of `{name}` is sought",
            allowed="joints without an actuator",
            hint="`task: simulate` takes forces",
        )
    return named


def pushes(reading: Reading, given: Laws) -> list[Pushing]:
    """The actuators' forces over time, which end at their limits."""
    actuators = {one.name: one for one in reading.robot.actuators}
    return [_pushing(reading, actuators[name], law, path) for name, (law, path) in given.items()]


def _pushing(reading: Reading, one: Actuator, law: ForceLaw, path: Keys) -> Pushing:
    wanted = wrenches.component(reading, law, "moment" if one.moment else "force", path, "an actuator without a joint")
    low, high = one.effort.low, one.effort.high

    def force(t: Any) -> Any:
        return np.clip(wanted(t), low, high)

    def along(x: float) -> Callable[[Any], Any]:
        return lambda t: x * force(t)

    six = [along(x) if turns == one.moment else _nothing for turns in (True, False) for x in one.direction]
    changes = tuple(_changes(reading, law, one, wanted))
    return Pushing(one.name, force, TimedWrench(one.link, tuple(six), one.at, one.axes), changes)


def _nothing(t: Any) -> Any:
    return np.zeros(np.shape(t))


def _changes(
    reading: Reading, law: ForceLaw, one: Actuator, wanted: Callable[[Any], Any]
) -> Iterator[tuple[float, str, str]]:
    """The instants at which the law reaches or leaves a limit, in their order: what happens, and what holds then."""
    begin, end = reading.span
    if not one.effort.limited:
        return
    from scipy.optimize import brentq

    pace = law.pace(begin, end, reading.folder)
    count = LOOKS + (math.ceil((end - begin) / pace[2]) if pace is not None else 0)
    t = np.linspace(begin, end, min(count, 200_000))
    instants = {begin}
    for limit in (one.effort.low, one.effort.high):
        beyond = wanted(t) - limit
        for k in np.flatnonzero((beyond[:-1] > 0.0) != (beyond[1:] > 0.0)) if math.isfinite(limit) else ():
            instants.add(float(brentq(lambda x, limit=limit: float(wanted(x)) - limit, t[k], t[k + 1], xtol=1e-15)))
    before: float | None = None
    for first, then in pairwise([*sorted(instants), end]):
        middle = float(wanted((first + then) / 2))
        at = one.effort.high if middle > one.effort.high else one.effort.low if middle < one.effort.low else None
        if at != before:
            yield (first, REACHES, f"gives {at:g}") if at is not None else (first, LEAVES, "follows its law")
        before = at
