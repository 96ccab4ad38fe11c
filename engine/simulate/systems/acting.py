"""Force laws and wrenches of a run, evaluated at given instants as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...machine.program import Scalar, as_samples
from ...mechanics.quantities import frames
from ...mechanics.tree import wrenches_on_link
from ...robot import Robot
from .inputs import TimedWrench
from .signals import late_state_at
from .system import System


def forces_by_laws_at_instants(
    system: System, t: np.ndarray, q: np.ndarray, qd: np.ndarray, first: int = 0
) -> np.ndarray:
    """Forces by the laws along each speed, within their limits, with a row for each instant; 0 where no law acts.

    Behind the speeds are as many of the actuators that are no joint's as a law reaches.  Laws of places before `first`
    are left out.
    """
    laws = [pair for pair in zip(system.inputs.driven, system.seen) if pair[0].speed >= first]
    count = max([qd.shape[1], *(one.speed + 1 for one, _ in laws)])
    forces = np.zeros((len(qd), count))
    for one, seen in laws:
        if one.timed:
            given = np.array([one.force(float(instant), 0.0, 0.0, None) for instant in t])
            forces[:, one.speed] += np.clip(given, one.low, one.high)
            continue
        places, rates = (list(q.T), list(qd.T)) if seen is None else late_state_at(system, one, seen, t)
        if one.whole is not None:
            with np.errstate(all="ignore"):
                asked = one.whole(t, places, rates)
        else:
            wanted = None
            if one.reference is not None:
                there, along, _ = one.reference.at(t)
                wanted = there[one.place], along[one.place]
            place: Scalar = places[one.coordinate] if one.coordinate is not None else 0.0
            asked = one.in_state(place, rates[one.speed], wanted)
        forces[:, one.speed] += np.clip(as_samples(asked), one.low, one.high)
    return forces


def actuator_forces_at_instants(system: System, t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The forces of all actuators that are no joint's, with a row for each instant; 0 where none has a law."""
    nv = system.robot.nv
    laws = forces_by_laws_at_instants(system, t, q, qd, nv)[:, nv:]
    forces = np.zeros((len(t), len(system.robot.actuators)))
    forces[:, : laws.shape[1]] = laws
    return forces


def wrenches_at_instants(
    robot: Robot, wrenches: Sequence[TimedWrench], t: Any, q: np.ndarray, qd: np.ndarray
) -> dict[str, np.ndarray] | None:
    """Wrenches link → [n; f] at the link's origin in its axes, at one instant or at many; None where there are none."""
    if not wrenches:
        return None
    placed = frames(robot, q)
    total: dict[str, np.ndarray] = {}
    for one in wrenches:
        parts = one.with_state([component(t) for component in one.components], list(q.T), list(qd.T))
        six = np.stack([np.broadcast_to(as_samples(x), np.shape(t)) for x in parts], axis=-1)
        own = wrenches_on_link(six, one.at, placed[one.link][..., :3, :3] if one.axes == "base" else None)
        total[one.link] = total[one.link] + own if one.link in total else own
    return total
