"""Dry friction and stops as modes: what sticks, what slips which way, and the events between them.

A sticking joint is a joint whose motion is given (zero); the force that this takes beyond its actuator's is its
support.  Friction can add from −F_c to F_c, a lower stop any force upwards, an upper stop any downwards; outside that
range the joint breaks loose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .plant import Modes, Plant

Event = Callable[[float, np.ndarray], float]
NEAR = 1e-9  # relative: a joint this close to its stop touches it
# A mode is left as soon as its event function is not positive, but many a mode starts where that function is zero: at
# rest, at the stop, at break-away itself. If it then goes the wrong way, that must be seen too, hence a little slack.
SLACK = 1e-12


@dataclass(frozen=True)
class Watch:
    """One event function and what it means."""

    function: Event
    what: str  # stops slipping, breaks loose, reaches a stop
    speed: int
    direction: float = 0.0


def settle(plant: Plant, t: float, y: np.ndarray, *, at_rest: set[int] | None = None) -> Modes:
    """The modes in which the run goes on from (t, y); speeds in `at_rest` are exactly zero by an event."""
    modes = Modes()
    _, qd = plant.complete(t, y)
    for k, coulomb in plant.switching.items():
        low, high = _touching(plant, t, y, k)
        still = qd[k] == 0.0 or (at_rest is not None and k in at_rest)
        if still and not plant.smooth and (coulomb or low or high):
            modes.held[k] = (-math.inf if high else -coulomb, math.inf if low else coulomb)
        elif still and (low or high):
            modes.held[k] = (-math.inf if high else 0.0, math.inf if low else 0.0)
        elif coulomb and not plant.smooth:
            modes.slip[k] = math.copysign(1.0, qd[k])
    for _ in range(len(modes.held)):  # release the worst overloaded joint, look again
        support = plant.evaluate(t, y, modes).support
        worst, excess, direction = None, 0.0, 0.0
        for k, (least, most) in modes.held.items():
            over = max(support[k] - most, least - support[k]) / _size(plant, k, support[k])
            if over > max(excess, SLACK):
                worst, excess, direction = k, over, -1.0 if support[k] > most else 1.0
        if worst is None:
            break
        del modes.held[worst]
        if plant.switching[worst] and not plant.smooth:
            modes.slip[worst] = direction
    return modes


def _touching(plant: Plant, t: float, y: np.ndarray, k: int) -> tuple[bool, bool]:
    """Whether the joint lies at its lower and at its upper stop."""
    if k not in plant.stops:
        return False, False
    coordinate, low, high = plant.stops[k]
    q = plant.complete(t, y)[0][coordinate]
    near = NEAR * (high - low)
    return q <= low + near, q >= high - near


def watches(plant: Plant) -> list[Watch]:
    """The event functions of the present modes; an event is a fall from positive to not positive."""
    found = []
    for k, direction in plant.modes.slip.items():
        found.append(Watch(_speed(plant, k, direction), "stops slipping", k, direction))
    for k, (low, high) in plant.modes.held.items():
        for bound, direction in ((high, -1.0), (low, 1.0)):
            if math.isfinite(bound):
                found.append(Watch(_margin(plant, k, bound, direction), "breaks loose", k, direction))
    for k, (coordinate, low, high) in plant.stops.items():
        if k not in plant.modes.held:
            for bound, inwards, which in ((low, 1.0, "lower"), (high, -1.0, "upper")):
                distance = _distance(plant, coordinate, bound, inwards, high - low)
                found.append(Watch(distance, f"reaches its {which} limit", k, -inwards))
    return found


def _speed(plant: Plant, k: int, direction: float) -> Event:
    place = plant.place_of(k)
    return lambda t, y: direction * float(y[place]) + SLACK


def _size(plant: Plant, k: int, support: float) -> float:
    """What an overload of joint k is measured by."""
    return max(1e-12, plant.switching[k], abs(support))


def _margin(plant: Plant, k: int, bound: float, direction: float) -> Event:
    """How far the support still is from the bound (upper with direction −1, lower with 1)."""

    def margin(t: float, y: np.ndarray) -> float:
        support = float(plant.evaluate(t, y).support[k])
        return direction * (support - bound) + 2 * SLACK * _size(plant, k, support)

    return margin


def _distance(plant: Plant, coordinate: int, bound: float, direction: float, span: float) -> Event:
    place = plant.cq.index(coordinate)
    return lambda t, y: direction * (float(y[place]) - bound) + SLACK * span


def happened(plant: Plant, watch: Watch, t: float, y: np.ndarray) -> np.ndarray:
    """The state just after the event; the plant's modes are those to go on with."""
    k = watch.speed
    place = plant.place_of(k)
    y = y.copy()
    if watch.what.startswith("reaches"):
        coordinate, low, high = plant.stops[k]
        y[plant.cq.index(coordinate)] = low if watch.direction < 0 else high
        if y[place] * watch.direction > 0:
            y, lost = plant.impact(t, y, k)
            y[-1] += lost
        plant.modes = settle(plant, t, y, at_rest={k})
    elif watch.what == "stops slipping":
        y[place] = 0.0
        plant.modes = settle(plant, t, y, at_rest={k})
    else:
        plant.modes = settle(plant, t, y)
        if k in plant.modes.held:  # at the bound itself: rounding must not hold it for ever
            held, slip = dict(plant.modes.held), dict(plant.modes.slip)
            del held[k]
            if plant.switching[k] and not plant.smooth:
                slip[k] = watch.direction
            plant.modes = Modes(slip, held)
    return y
