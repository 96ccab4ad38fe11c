"""Events and failures of a run in words of mechanics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..machine.jit import ENORMOUS
from ..mechanics.tree import vanishing_inertia_message
from ..text import words_with_and
from . import modes, saturation
from .integrators.events import Watch
from .integrators.stepper import NOT_FINITE
from .runner import Runner
from .systems.discrete import Discrete
from .systems.system import System

CHATTER = 300  # events within 1e-8 of the run that are too many
AHEAD = 0.0, 1e-9, 1e-6  # seconds in which a law may have no force any more
BURST = ": the motion has burst, speeds grow without bound; shorter steps, or softer springs and penalties, may help"


def events_chatter(instants: Sequence[float], duration: float) -> bool:
    """Whether events at these instants follow each other so fast that the run would never end."""
    return len(instants) > CHATTER and instants[-1] - instants[-1 - CHATTER] < 1e-8 * duration


def endless_events_message(last: Mapping[str, Any]) -> str:
    """A sentence on the two modes between which the run would change without end, from the last of the events."""
    if last["event"] in saturation.EVENTS:
        name = last.get("joint") or last.get("actuator")
        return f"{name} changes between its law and its effort limit without end; a law with less gain may not"
    return (
        f"{last['joint']} changes between slipping and sticking without end; `friction: smooth` under `solver` has no "
        "such changes"
    )


def reason_why_integration_failed(run: Runner, t: float, y: np.ndarray, failure: str) -> str:
    """The reason of a failure, in words of mechanics where the model is to blame."""
    if not np.isfinite(y).all():
        return failure
    rate = run.derivative(t, y)
    for ahead in AHEAD if failure == NOT_FINITE else ():
        place = y + ahead * rate if ahead else y  # where states are enormous, no law is to blame
        if _moderate(place) and (lost := saturation.actuators_without_demand(run, t + ahead, place)):
            whose = words_with_and([f"`{name}`" for name in lost])
            return f"{failure}: the force law of {whose} gives no finite number here"
    if _moderate(rate):
        return failure
    still = y.copy()
    still[len(run.system.state_coordinates) : run.system.measured] = 0.0
    if _moderate(run.derivative(t, still)):
        return failure + BURST  # speeds have grown without bound
    idle = run.without_inertia(t, y)
    return vanishing_inertia_message(idle) if idle else failure


def _moderate(rate: np.ndarray) -> bool:
    """Whether all components of a state or of its rate are numbers, and none is enormous."""
    return bool((abs(rate) < ENORMOUS).all())


def describe_kink(system: System, t: float, before: Discrete, after: Discrete) -> list[dict[str, Any]]:
    """What comes to joints and actuators where a force jumps, as the record has it."""
    return _changes(system, t, before, after) + saturation.saturation_events(system, before, after, t)


def describe_event(run: Runner, watch: Watch, t: float, before: Discrete, after: Discrete) -> list[dict[str, Any]]:
    """What an event is in the record: its own joint, then all others whose modes it has changed."""
    system, k = run.system, watch.speed
    events = _changes(system, t, before, after)
    shared = watch.what == modes.LOOSE and before.kept  # then any of the joints bears
    own = [one for one in events if one["joint"] == name_of_joint(system, k) and not shared]
    others = [one for one in events if one not in own]
    if watch.what in modes.AT_LIMITS or (watch.what == modes.TURNS and k in after.held):
        own = [_contact_event(system, k, t, watch.what, after)]
    return own + others + saturation.saturation_events(system, before, after, t)


def _changes(system: System, t: float, before: Discrete, after: Discrete) -> list[dict[str, Any]]:
    """An event for each joint that is held, slips, or slips the other way, where it didn't before, or no longer does.

    An idle joint that begins to slip does nothing that a reader could see.
    """
    events = []
    for k in system.switching:
        if k in before.held:
            what = modes.LOOSE
        elif k in before.slip:
            what = modes.STOPS
        else:
            what = modes.AT_LIMITS[0 if math.isinf(after.held.get(k, (0.0, 0.0))[1]) else 1]
        was, now = ("held" if k in one.held else one.slip.get(k, 0.0) for one in (before, after))
        if was != now and k not in before.idle:
            events.append(_contact_event(system, k, t, what, after))
    return events


def _contact_event(system: System, k: int, t: float, what: str, after: Discrete) -> dict[str, Any]:
    """An event of speed k, with the joint's mode after it."""
    then = {1.0: "moves up", -1.0: "moves down"}.get(after.slip.get(k, 0.0), "free")
    return {"t": t, "joint": name_of_joint(system, k), "event": what, "then": "held" if k in after.held else then}


def name_of_joint(system: System, k: int) -> str:
    """The name of the joint with speed k."""
    return next((joint.name for joint in system.robot.moving if k in joint.speeds), "")
