"""Which joints with dry friction or stops stick, and which move, in one run or in many.

A joint that sticks or lies at a stop has its motion given (it keeps still); the force that holds it, in addition to the
forces that act there already, is its support.  Friction gives a support from −F_c to F_c, a lower stop any force
upwards, an upper stop any downwards; outside that range the joint breaks loose.  Which of several joints break loose is
one convex problem (`complementarity.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..mechanics.assembly import CLOSED
from .complementarity import balance_contacts
from .contacts import (
    Contacts,
    joints_off_their_stops,
    joints_that_graze,
    joints_touching_stops,
    stiction_force_ranges,
)
from .instants import Instants
from .response import Response, Scaled, times

RESTING = 1e-10  # radians or lengths of the mechanism per second: a slower joint is at rest at an event
SHORT = 0.1  # a joint that moves less than this with the mechanism is at rest only where it is slower by as much
DRIFTING = 1e-8  # of the square of speeds: a joint without lever and with more acceleration than this isn't idle
DRIFTED = 1e-12  # of the largest acceleration: less of one without lever is rounding
DEAD = 1e-5  # jumps of scaled speeds from which on there is a dead centre: a speed is 0 while the mechanism moves
NEARLY = 1e-4  # a joint that is farther from its stop than this isn't moved there
# A joint is let go where its support is behind its bound by this share of its scale, so that it goes for certain; it is
# held as long as it is at the bound but for rounding, which is far less (`complementarity.ROUNDING`).
SLACK = 1e-9
SHARE = 0.1  # of the forces that meet in a joint, which are the scale of its support unless its friction is more
LEAST_SCALE = 1e-12  # of a support
TINY = 1e-11  # singular values, relative to the largest, that are taken for 0


def settled_modes(at: Instants, y: np.ndarray, dead: np.ndarray) -> tuple[np.ndarray, Contacts]:
    """The states of runs with held joints exactly at rest, and the modes in which they go on.

    `dead` says, by columns of contacts, which joints are at rest because they are at a dead centre.
    """
    system, count = at.system, len(y)
    contacts = Contacts.none(count, len(at.columns), len(system.bounded))
    if system.bounded:
        force, low, high = at.demanded(y), at.limits.least, at.limits.most
        contacts = replace(contacts, saturated=np.where(force >= high, 1.0, np.where(force <= low, -1.0, 0.0)))
    if not at.columns:
        return y, contacts
    q, qd = at.motion(y)
    lower, upper = joints_touching_stops(system, at.limits, q)
    slip = np.where(at.rough, np.where(qd[:, at.columns] < 0.0, -1.0, 1.0), 0.0)
    grazing = joints_that_graze(lower, upper, qd[:, at.columns])
    contacts = replace(contacts, slip=slip, lower=lower, upper=upper, grazing=grazing)
    still = np.flatnonzero(_slow(at, q, qd).any(axis=1))
    if len(still):
        y = y.copy()
        y[still], found = _settled_at_rest(at.some(still), y[still], contacts.some(still), dead[still])
        for name, values in vars(found).items():
            getattr(contacts, name)[still] = values
    return y, contacts


def _slow(at: Instants, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Which joints are so slow where something may hold them that they are at rest, if they have enough lever."""
    lower, upper = joints_touching_stops(at.system, at.limits, q)
    return np.asarray((abs(qd[:, at.columns]) <= RESTING * at.scale[:, at.columns]) & (at.rough | lower | upper))


def _settled_at_rest(at: Instants, y: np.ndarray, contacts: Contacts, dead: np.ndarray) -> tuple[np.ndarray, Contacts]:
    """The states and modes of runs in which some joints may be at rest.

    Resting joints are placed at their stops: where those of joints that move together are reached at once, a joint with
    a wider range would touch its own from farther away than the others, and bear alone what they all do.
    """
    system, (q, qd) = at.system, at.motion(y)
    rest, response = _resting(at, q, qd)
    off = rest & joints_off_their_stops(system, at.limits, q, contacts.lower | contacts.upper)
    if system.loops.m and off.any():
        y = states_with_joints_at_stops(at, y, rest & contacts.lower, rest & contacts.upper)
        q, qd = at.motion(y)
        lower, upper = joints_touching_stops(system, at.limits, q)
        contacts = replace(contacts, lower=lower, upper=upper)
        rest, response = _resting(at, q, qd)
    places, y = [system.place_of(k) for k in at.columns], y.copy()
    y[:, places] = np.where(rest, 0.0, y[:, places])
    contacts = replace(contacts, slip=np.where(rest, 0.0, contacts.slip), grazing=contacts.grazing & ~rest)
    return y, _decided(at, y, contacts, rest, dead, response)


def _resting(at: Instants, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, Response]:
    """Which joints are at rest where something may hold them, and how the systems respond."""
    response = at.response(q, at.system.ruled)
    lever, scale = response.lever[:, at.columns], at.scale[:, at.columns]
    slow = RESTING * scale * np.where(lever > 0.0, np.minimum(1.0, lever / SHORT), 1.0)
    return _slow(at, q, qd) & (abs(qd[:, at.columns]) <= slow), response


def _decided(
    at: Instants, y: np.ndarray, contacts: Contacts, rest: np.ndarray, dead: np.ndarray, response: Response
) -> Contacts:
    """The modes of runs in which these joints are at rest.

    A joint without lever, at a dead centre or because the loops lock it, is idle: nothing presses on it, and its forces
    hold nothing, however large they are.
    """
    columns, moved, (q, qd) = at.columns, at.moved(y, contacts), at.motion(y)
    a, size = moved.qdd[:, columns], at.sizes(moved, q, qd, response)[:, columns]
    bears = rest & (response.lever[:, columns] > 0.0) & ~dead
    carried = at.rough & rest & ~bears & _drifting(qd, moved.qdd, response)[:, columns]
    low, high = stiction_force_ranges(at.limits.coulomb, contacts.lower, contacts.upper)
    low, high = np.where(bears, low, 0.0), np.where(bears, high, 0.0)
    S = np.flatnonzero(bears.any(axis=0))
    G = response.P[:, columns][:, :, columns]
    found = balance_contacts(G[:, S][:, :, S], a[:, S], low[:, S], high[:, S], size[:, S])
    s, rates = np.zeros_like(a), a.copy()
    held, bear = np.zeros_like(rest), np.zeros_like(rest)
    s[:, S], rates[:, S], held[:, S], bear[:, S] = found
    slips = at.rough & rest & (carried | (bears & ~held))
    stiffness = np.diagonal(G, axis1=1, axis2=2)
    load = SHARE * size / np.where(stiffness > 0.0, stiffness, np.inf)
    return replace(
        contacts,
        slip=np.where(slips, np.sign(rates), contacts.slip),
        held=held,
        bear=bear,
        idle=rest & ~bears & ~carried,
        kept=np.where(held & ~bear, s, 0.0),
        slack=SLACK * np.maximum(np.maximum(at.limits.coulomb, load), LEAST_SCALE),
    )


def _drifting(qd: np.ndarray, qdd: np.ndarray, response: Response) -> np.ndarray:
    """Which speeds that are 0 the mechanism carries off.

    At a dead centre a joint's speed is 0 for an instant only, whatever forces act in it.
    """
    speeds, rates = abs(qd / response.scale), abs(qdd / response.scale)
    least = np.maximum(DRIFTING * speeds.max(axis=1) ** 2, DRIFTED * rates.max(axis=1))[:, None]
    return np.asarray((rates > least) & speeds.any(axis=1)[:, None])


def states_with_joints_at_stops(at: Instants, y: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The states with these joints exactly at their lower or upper stops, and with loops closed.

    With more stops than freedoms, their places don't fit together to the last digit; then nothing is moved.
    """
    system, q, y = at.system, at.motion(y)[0], y.copy()
    moved, placed = q.copy(), lower | upper
    for c, k in enumerate(at.columns):
        if k in system.stopped:
            i, (low, high) = system.stopped[k].coordinate, (at.limits.low[:, c], at.limits.high[:, c])
            moved[:, i] = np.where(lower[:, c], low, np.where(upper[:, c], high, q[:, i]))
    for one in np.unique(placed, axis=0) if system.loops.m else ():
        some = np.flatnonzero((placed == one).all(axis=1))
        kept = [*system.prescribed, *(k for k, is_placed in zip(at.columns, one.tolist()) if is_placed)]
        shut, left = at.some(some).closed(moved[some], kept)
        fits = (left <= CLOSED) & (abs(shut - q[some]).max(axis=1) <= NEARLY)
        moved[some] = np.where(fits[:, None], shut, q[some])
    y[:, : len(system.state_coordinates)] = moved[:, system.state_coordinates]
    return y


def states_brought_to_rest(at: Instants, y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The states with speed k exactly 0, in mechanisms with the others to match, and which are at a dead centre."""
    system, place, y = at.system, at.system.place_of(k), y.copy()
    y[:, place] = 0.0
    (q, qd), places = at.motion(y), [system.place_of(j) for j in system.state_speeds]
    change = least_change_of_speeds(at.constraints(q), qd / at.scale, [*system.prescribed, k])
    dead = abs(change).max(axis=1) > DEAD
    y[:, places] += np.where(dead[:, None], 0.0, (at.scale * change)[:, system.state_speeds])
    y[:, place] = 0.0
    return y, np.asarray(dead)


def least_change_of_speeds(constraints: Scaled, speeds: np.ndarray, kept: Sequence[int]) -> np.ndarray:
    """The least change of scaled speeds with which constraints have their rates and the `kept` speeds stay."""
    count, n = speeds.shape
    rows = np.concatenate([constraints.J, np.broadcast_to(np.eye(n)[list(kept)], (count, len(kept), n))], axis=1)
    off = np.concatenate([constraints.rates, speeds[:, list(kept)]], axis=1) - times(rows, speeds)
    return times(np.linalg.pinv(rows, rcond=TINY), off)
