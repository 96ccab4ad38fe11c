"""Actuators at their effort limits: the force of a law ends there, from an event on until another one.

The force that a law demands is a function of time and state.  While it is beyond a limit, the actuator gives the limit;
this is a mode, so that steps end where the force stops following its law, and where it follows it again.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from ..machine.program import as_floats
from .runner import Runner
from .systems.discrete import Discrete
from .systems.signals import late_state_at
from .systems.system import System

REACHES = "reaches its effort limit"
LEAVES = "leaves its effort limit"
EVENTS = REACHES, LEAVES
SLACK = 1e-12  # relative to the limits: a mode begins where its event function isn't zero any more


def demanded_actuator_forces(run: Runner, t: float, y: np.ndarray) -> dict[int, float]:
    """The forces by the laws of all bounded actuators, whatever their limits, by their speeds."""
    system, t = run.system, run.within(t)
    forces = _demanded(run, t, y, system.bounded)
    planned = [k for one in system.inputs.feedforward for k in one.joint.speeds if k in system.bounded]
    if planned:
        wanted = run.planned(t)
        forces |= {k: wanted[k] for k in planned}
    return forces


def actuators_without_demand(run: Runner, t: float, y: np.ndarray) -> list[str]:
    """The names of joints and actuators whose laws ask for no finite number here."""
    try:
        forces = _demanded(run, t, y, {one.speed for one in run.system.inputs.driven})
    except ArithmeticError:
        return []
    names = [name for k, x in forces.items() if not math.isfinite(x) for name in _named(run.system, k).values()]
    return list(dict.fromkeys(names))


def _demanded(run: Runner, t: float, y: np.ndarray, places: Collection[int]) -> dict[int, float]:
    """The forces of laws at these places (`Driven.speed`), whatever their limits."""
    system = run.system
    if system.method.recomputes_null_space:  # the state has no joint speeds
        now = run.evaluate(t, y)
        q, qd = as_floats(now.q), as_floats(now.qd)
    else:
        q, qd = run.complete(t, y)
    forces = {}
    for one, seen in zip(system.inputs.driven, system.seen):
        if one.speed in places:
            forces[one.speed] = one.demand(t, *((q, qd) if seen is None else late_state_at(system, one, seen, t)))
    return forces


def saturation_events(system: System, before: Discrete, after: Discrete, t: float) -> list[dict[str, Any]]:
    """The events between two discrete states, as the record has them."""
    events = []
    for k in system.bounded:
        old, new = before.saturated.get(k), after.saturated.get(k)
        if new is not None and new != old:
            events.append({"t": t, **_named(system, k), "event": REACHES, "then": f"gives {new:g}"})
        elif old is not None and new is None:
            events.append({"t": t, **_named(system, k), "event": LEAVES, "then": "follows its law"})
    return events


def _named(system: System, k: int) -> dict[str, str]:
    """The joint, or the actuator that is no joint's, at this place."""
    robot = system.robot
    if k >= robot.nv:
        return {"actuator": robot.actuators[k - robot.nv].name}
    return {"joint": next(joint.name for joint in robot.moving if k in joint.speeds)}
