"""Blows: joints that touch their stops and move outwards, and prescribed rates that jump.

A blow on all joints that touch their stops is a complementarity problem (`complementarity.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..loops.assembly import close_loops_by_newton
from ..loops.search import CLOSED
from ..machine.program.scalars import as_float
from .complementarity import balance_contacts
from .response import Response
from .runner import Runner
from .signals import prescribed_motion_at, wanted_row_signals
from .system import Stop, System

NEAR = 1e-9  # relative: a joint this close to its stop touches it
PLACED = 1e-3  # of that: a joint this close needn't be moved to its stop
NEARLY = 1e-4  # a joint that is farther from its stop than this isn't moved there


def joint_touches_stops(system: System, q: list[float], k: int) -> tuple[bool, bool]:
    """Whether the joint is at or beyond its lower stop, and whether it is at or beyond its upper one."""
    stop = system.stopped.get(k)
    if stop is None:
        return False, False
    near = NEAR * (stop.high - stop.low)
    return q[stop.coordinate] <= stop.low + near, q[stop.coordinate] >= stop.high - near


def joint_is_placed_at_stop(stop: Stop, q: Sequence[float], side: int) -> bool:
    """Whether the joint is at its lower (0) or upper (1) stop, but for rounding."""
    return bool(abs(q[stop.coordinate] - (stop.low, stop.high)[side]) <= PLACED * NEAR * (stop.high - stop.low))


def state_after_blows(run: Runner, t: float, y: np.ndarray, before: np.ndarray | None = None) -> np.ndarray:
    """The state after the blows of all joints that are at their stops and move outwards, without rebound.

    Blows follow the equations of contact with impulses for forces and jumps of speeds for accelerations; gravity,
    springs, friction and velocity terms have no impulse in an instant.  A joint at a stop stays there if a blow drives
    it against the stop.  `before` are the speeds before prescribed rates jumped, if they do.
    """
    system = run.system
    q, now = run.complete(t, y)
    sides = {k: joint_touches_stops(system, q, k) for k in system.stopped}
    stops = [k for k, side in sides.items() if any(side)]
    outwards = [k for k in stops if (sides[k][0] and now[k] < 0.0) or (sides[k][1] and now[k] > 0.0)]
    if outwards and before is None and system.loops.m:
        turning = _turning(run, t, y, {k: -now[k] if sides[k][0] else now[k] for k in outwards})
        stops, outwards = ([k for k in some if k not in turning] for some in (stops, outwards))
    if not outwards and before is None:
        return y
    response, start = Response.of(system, q, system.prescribed), np.array(now if before is None else before)
    led = start if before is None else response.dragged(start, _rates(system, t, response, np.array(now)))
    qd, impulses, hit = speeds_after_blows(response, led, stops, [sides[k] for k in stops])
    lost = -float(impulses @ (start[stops] + qd[stops])) / 2
    y = y.copy()
    for k in system.state_speeds:
        y[system.place_of(k)] = qd[k]
    y = state_with_joints_at_stops(run, t, y, {k: 0 if sides[k][0] else 1 for k in hit})
    if before is not None:
        y[-2] += response.kinetic(qd) - response.kinetic(start) + lost
    else:
        lost = response.kinetic(start) - response.kinetic(qd)
    y[-1] += lost
    return y


def _turning(run: Runner, t: float, y: np.ndarray, outwards: Mapping[int, float]) -> list[int]:
    """Those joints with these speeds outwards that turn back by themselves before they are behind their stops.

    At the end of its stroke a joint has next to no lever; a stop there, on which nothing is pressed, would hold it all.
    """
    q, rates, turning = run.complete(t, y)[0], run.accelerations(t, y, run.discrete), []
    for k, speed in outwards.items():
        low, high = (one - q[run.system.stopped[k].coordinate] for one in run.system.stopped[k][1:])
        back, room = (rates[k], -low) if -low < high else (-rates[k], high)
        if back > 0.0 and speed**2 / (2.0 * back) <= NEAR * (high - low) + room:
            turning.append(k)
    return turning


def speeds_after_blows(
    response: Response, qd: np.ndarray, stops: list[int], sides: Sequence[tuple[bool, bool]]
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """All speeds after the blows of joints at these sides of their stops, the impulses, and which joints have any."""
    pushes = [(-math.inf if upper else 0.0, math.inf if lower else 0.0) for lower, upper in sides]
    low, high = np.array(pushes).reshape(-1, 2).T
    impulses, _ = balance_contacts(response.compliance(stops), qd[stops], low, high)
    after = qd + response.after(stops, impulses)
    hit = [k for k, impulse in zip(stops, impulses) if impulse]
    after[hit] = 0.0
    return after, impulses, hit


def state_with_joints_at_stops(run: Runner, t: float, y: np.ndarray, at: Mapping[int, int]) -> np.ndarray:
    """The state with these joints exactly at their lower (0) or upper (1) stops, and with loops closed."""
    system, q = run.system, np.array(run.complete(t, y)[0])
    moved = q.copy()
    for k, side in at.items():
        stop = system.stopped[k]
        moved[stop.coordinate] = (stop.low, stop.high)[side]
    if system.loops.m and at:
        moved, left = close_loops_by_newton(
            system.loops.at(wanted_row_signals(system, t)[0]), moved, [*system.prescribed, *at], near=True
        )
        if left > CLOSED or abs(moved - q).max() > NEARLY * max(system.loops.length, 1.0):
            return y  # with more stops than freedoms, their places don't fit together to the last digit
    y = y.copy()
    y[: len(system.state_coordinates)] = moved[system.state_coordinates]
    return y


def _rates(system: System, t: float, response: Response, qd: np.ndarray) -> np.ndarray:
    """The rates of constraints at t, followed by the fixed speeds."""
    return np.concatenate([wanted_row_signals(system, t)[1], qd[response.fixed]])


def state_after_rate_jump(run: Runner, earlier: float, later: float, y: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The state behind a kink, and the names of joints and drives whose prescribed rates jump there.

    A rate that jumps is a blow, by the same equations as at a stop; the drive exerts the impulse.
    """
    system = run.system
    names = _jumping(system, earlier, later)
    if not names:
        return y, []
    before = run.complete(later, y)[1]
    ahead = system.expanded(prescribed_motion_at(system, earlier), y.tolist())[1]
    for k in system.prescribed:
        before[k] = as_float(ahead[k])
    return state_after_blows(run, later, y, np.array(before)), names


def prescribed_rates_jump(system: System, earlier: float, later: float) -> bool:
    """Whether a prescribed rate jumps between two instants that are next to each other."""
    return bool(_jumping(system, earlier, later))


def _jumping(system: System, earlier: float, later: float) -> list[str]:
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
