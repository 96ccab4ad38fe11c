"""Blows: joints that touch their stops and move outwards, and prescribed rates that jump; in one run or in many.

Blows are the convex problem of contact with impulses for forces and jumps of speeds for accelerations
(`complementarity.py`).
"""

from __future__ import annotations

import math

import numpy as np

from .complementarity import balance_contacts
from .contacts import NEAR, joints_that_graze, joints_touching_stops
from .instants import Instants
from .response import times
from .sticking import states_with_joints_at_stops
from .systems.system import System


def states_after_blows(at: Instants, y: np.ndarray, before: np.ndarray | None = None) -> np.ndarray:
    """The states after the blows of all joints that are at their stops and move outwards, without rebound.

    Gravity, springs, friction and velocity terms have no impulse in an instant.  A joint at a stop stays there if a
    blow drives it against the stop.  `before` are all speeds before prescribed rates jumped, if they do.
    """
    if not at.system.stopped and before is None:
        return y
    (q, now), columns = at.motion(y), at.columns
    lower, upper = joints_touching_stops(at.system, at.limits, q)
    outwards = joints_that_graze(lower, upper, now[:, columns])
    if outwards.any() and before is None and at.system.loops.m:
        turning = _turning(at, y, q, outwards)
        lower, upper, outwards = lower & ~turning, upper & ~turning, outwards & ~turning
    hit = np.flatnonzero(outwards.any(axis=1) | (before is not None))
    if not len(hit):
        return y
    y = y.copy()
    start = now if before is None else before
    y[hit] = _struck(at.some(hit), y[hit], (lower[hit], upper[hit]), start[hit], jumps=before is not None)
    return y


def _struck(
    at: Instants, y: np.ndarray, sides: tuple[np.ndarray, np.ndarray], start: np.ndarray, *, jumps: bool
) -> np.ndarray:
    """The states after blows at these sides, with energies, from all speeds before; whether prescribed rates jump."""
    system, columns, (q, now) = at.system, at.columns, at.motion(y)
    response, (lower, upper) = at.response(q, system.prescribed), sides
    led = response.dragged(start, now) if jumps else start
    S = np.flatnonzero((lower | upper).any(axis=0))
    stops = [columns[c] for c in S]
    G, ways = response.P[:, stops][:, :, stops], response.P[:, :, stops]
    low, high = np.where(upper[:, S], -math.inf, 0.0), np.where(lower[:, S], math.inf, 0.0)
    size = times(abs(response.P), times(abs(response.M), abs(led)))[:, stops]
    impulses = balance_contacts(G, led[:, stops], low, high, size).s
    after = led + times(ways, impulses)
    after[:, stops] = np.where(impulses, 0.0, after[:, stops])
    lost = response.kinetic(start) - response.kinetic(after)
    if jumps:
        lost = -(impulses * (start + after)[:, stops]).sum(axis=1) / 2
        y[:, -2] += response.kinetic(after) - response.kinetic(start) + lost
    y[:, [system.place_of(k) for k in system.state_speeds]] = after[:, system.state_speeds]
    placed = np.zeros_like(lower)
    placed[:, S] = impulses != 0.0
    y = states_with_joints_at_stops(at, y, lower & placed, upper & placed & ~lower)
    y[:, -1] += lost
    return y


def _turning(at: Instants, y: np.ndarray, q: np.ndarray, outwards: np.ndarray) -> np.ndarray:
    """Which joints that move outwards turn back by themselves before they are behind their stops.

    At the end of its stroke a joint has next to no lever; a stop there, on which nothing is pressed, would hold it all.
    """
    speeds, rates = (x[:, at.columns] for x in (at.motion(y)[1], at.accelerations(y)))
    turning = np.zeros_like(outwards)
    for c, k in enumerate(at.columns):
        if k in at.system.stopped:
            low, high = (x[:, c] - q[:, at.system.stopped[k].coordinate] for x in (at.limits.low, at.limits.high))
            back, room = np.where(-low < high, (rates[:, c], -low), (-rates[:, c], high))
            inside = speeds[:, c] ** 2 <= 2.0 * back * (NEAR * (high - low) + room)
            turning[:, c] = outwards[:, c] & (back > 0.0) & inside
    return turning


def prescribed_rates_jump(system: System, earlier: float, later: float) -> bool:
    """Whether a prescribed rate jumps between two instants that are next to each other."""
    return bool(jumping_rates(system, earlier, later))


def jumping_rates(system: System, earlier: float, later: float) -> list[str]:
    """Names of prescribed joints and drives whose rates differ between two instants next to each other."""
    names = []
    for one in system.inputs.prescribed:
        rates = [(np.array([float(x) for x in one.at(t)[1]])) for t in (earlier, later)]
        if abs(rates[1] - rates[0]).max(initial=0.0) > NEAR * max(1.0, abs(np.array(rates)).max(initial=0.0)):
            names.append(one.joint.name)
    for drive in system.inputs.drives:
        before, after = (float(drive.curve(t)[1]) for t in (earlier, later))
        if abs(after - before) > NEAR * max(1.0, abs(before), abs(after)):
            names.append(drive.name)
    return names
