"""The modes in which many runs go on, proposed all at once and verified.

A proposal says which joints are held and which way the others slip; the equations give the supports of the former and
the accelerations of the latter. It is right where all supports are within their ranges and all joints that are let go
move the way that the force on them pushes them, for these conditions have one solution (`complementarity.py`).
Proposals are changed until they are. A run that isn't clear, because a force is at its bound but for rounding or
proposals go round in circles, is left to `sticking.py`, alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..dynamics.dense import inertia_matrix
from ..machine.program.scalars import Scalar, as_samples
from ..robot import Body
from . import sticking
from .complementarity import balance_contacts
from .contacts import Contacts, Limits, joints_touching_stops, stiction_force_ranges
from .patterns import Patterns

PROPOSALS = 20
CLEAR = 1e-8  # relative: a force this near to its bound, and an acceleration this small, is in doubt
LOOSE = 2e-6  # the same where a joint has come to its bound, for `sticking.WEAKER` shifts bounds there


class Found(NamedTuple):
    """What the equations say about many runs, by columns of speeds that may be held, or are bounded."""

    support: np.ndarray
    qdd: np.ndarray
    demanded: np.ndarray


# (runs, instants, states, contacts) → what the equations say about them
Ask = Callable[[np.ndarray, np.ndarray, np.ndarray, Contacts], Found]


@dataclass(frozen=True)
class Settled:
    """The states and modes in which runs go on, and whether these are sure."""

    y: np.ndarray
    contacts: Contacts
    sure: np.ndarray


def settled_modes_of_runs(
    patterns: Patterns,
    ask: Ask,
    runs: np.ndarray,
    t: np.ndarray,
    y: np.ndarray,
    q: np.ndarray,
    loose: np.ndarray,
    direction: np.ndarray,
) -> Settled:
    """The modes in which these runs go on from (t, y), with held joints exactly at rest.

    `loose` is the column of a joint whose support has just reached its bound, or −1, and `direction` its way then.
    """
    contacts = free_contacts(patterns, ask, runs, t, y)
    if not patterns.switching:
        return Settled(y, contacts, np.ones(len(runs), dtype=bool))
    y, contacts, rest = brought_to_rest_or_slipping(patterns, contacts, runs, y, q, sticking.RESTING)
    freed, slip = np.zeros_like(rest), contacts.slip.copy()
    these = np.flatnonzero(loose >= 0)
    freed[these, loose[these]] = True
    slip[these, loose[these]] = np.where(patterns.rough[loose[these]], direction[these], 0.0)
    start = replace(contacts, slip=slip, held=rest & ~freed)
    margin = np.where(loose >= 0, LOOSE, CLEAR)[:, None]
    return _proposed(patterns, ask, runs, t, y, start, rest & ~freed, margin)


def free_contacts(patterns: Patterns, ask: Ask, runs: np.ndarray, t: np.ndarray, y: np.ndarray) -> Contacts:
    """Contacts with no joint held, and with those actuators at their limits of which more is demanded."""
    contacts = Contacts.none(len(runs), len(patterns.switching), len(patterns.bounded))
    if not patterns.bounded:
        return contacts
    return _limited(patterns.limits.some(runs), contacts, ask(runs, t, y, contacts).demanded)


def brought_to_rest_or_slipping(
    patterns: Patterns, contacts: Contacts, runs: np.ndarray, y: np.ndarray, q: np.ndarray, slow: float | np.ndarray
) -> tuple[np.ndarray, Contacts, np.ndarray]:
    """The states with slow joints at rest where something may hold them, the contacts of all others, and who rests."""
    system = patterns.run.system
    places = [system.place_of(k) for k in patterns.switching]
    lower, upper = joints_touching_stops(system, patterns.limits.some(runs), q)
    rest = (abs(y[:, places]) <= slow) & (patterns.rough | lower | upper)
    y = y.copy()
    y[:, places] = np.where(rest, 0.0, y[:, places])
    slip = np.where(patterns.rough & ~rest, np.sign(y[:, places]) + (y[:, places] == 0.0), 0.0)
    return y, replace(contacts, slip=slip, lower=lower, upper=upper), rest


def _limited(limits: Limits, contacts: Contacts, demanded: np.ndarray) -> Contacts:
    """The modes with those actuators at their limits of which more is demanded."""
    low, high = limits.least, limits.most
    return replace(contacts, saturated=np.where(demanded >= high, 1.0, np.where(demanded <= low, -1.0, 0.0)))


def _proposed(
    patterns: Patterns,
    ask: Ask,
    runs: np.ndarray,
    t: np.ndarray,
    y: np.ndarray,
    start: Contacts,
    rest: np.ndarray,
    margin: np.ndarray,
) -> Settled:
    """The modes after proposals from `start` on, in which joints at rest are held or let go.

    Supports within this margin of their bounds, relative to their size, are in doubt.
    """
    slip, held, way = start.slip.copy(), start.held.copy(), np.zeros(rest.shape)
    coulomb, rough = patterns.limits.coulomb[runs], patterns.rough
    low, high = stiction_force_ranges(coulomb, start.lower, start.upper)
    sure, open_ = np.zeros(len(runs), dtype=bool), np.arange(len(runs))
    for _ in range(PROPOSALS):
        now = replace(start, slip=slip, held=held).some(open_)
        found = ask(runs[open_], t[open_], y[open_], now)
        a = found.qdd[:, patterns.switching]
        s, kept, bounds = found.support, now.held, (low[open_], high[open_])
        size = np.maximum(np.maximum(coulomb[open_], abs(s)), sticking.LEAST_SCALE)
        beyond = np.where(kept, np.where(s > bounds[1], -1.0, np.where(s < bounds[0], 1.0, 0.0)), 0.0)
        let_go = rest[open_] & ~kept
        back = let_go & (a * way[open_] < 0.0)
        with np.errstate(invalid="ignore"):
            near = kept & (np.minimum(abs(s - bounds[0]), abs(s - bounds[1])) <= margin[open_] * size)
        largest = abs(found.qdd).max(axis=1, keepdims=True, initial=0.0)
        small = let_go & (abs(a) <= CLEAR * largest)
        right = ~((beyond != 0.0) | back).any(axis=1)
        finite = np.isfinite(s).all(axis=1) & np.isfinite(found.qdd).all(axis=1)
        sure[open_] = right & finite & ~(near | small).any(axis=1)
        held[open_] = (kept & (beyond == 0.0)) | back
        way[open_] = np.where(beyond != 0.0, beyond, np.where(back, 0.0, way[open_]))
        slip[open_] = np.where(rest[open_], np.where(held[open_], 0.0, way[open_] * rough), slip[open_])
        open_ = open_[~right & finite]
        if not len(open_):
            break
    return Settled(y, replace(start, slip=slip, held=held), sure)


def runs_with_pressed_joints(
    patterns: Patterns, ask: Ask, runs: np.ndarray, t: np.ndarray, soon: np.ndarray, now: Settled
) -> np.ndarray:
    """Whether laws of time press a held joint beyond its bounds right behind t, as in `modes.py` for one run."""
    held = now.contacts.held
    if not held.any():
        return np.zeros(len(runs), dtype=bool)
    coulomb = patterns.limits.coulomb[runs]
    low, high = stiction_force_ranges(coulomb, now.contacts.lower, now.contacts.upper)
    before, after = (ask(runs, at, now.y, now.contacts).support for at in (t, soon))
    least = 2.0 * sticking.SLACK * np.maximum(np.maximum(coulomb, abs(after)), sticking.LEAST_SCALE)
    with np.errstate(invalid="ignore"):
        over = np.maximum(after - high, low - after)
        grows = over > np.maximum(before - high, low - before)
    pressed: np.ndarray = (held & (over >= least) & grows).any(axis=1)
    return pressed


# ---- blows


def states_after_blows_of_runs(
    patterns: Patterns, limits: Limits, bodies: tuple[Body, ...], y: np.ndarray, q: np.ndarray, qd: np.ndarray
) -> np.ndarray:
    """The states after the blows of joints that are at their stops and move outwards, as in `blows.state_after_blows`.

    `limits` and `bodies` are those of these runs; numbers of bodies may be arrays.
    """
    system, columns = patterns.run.system, patterns.switching
    lower, upper = joints_touching_stops(system, limits, q)
    outwards = (lower & (qd[:, columns] < 0.0)) | (upper & (qd[:, columns] > 0.0))
    hit = np.flatnonzero(outwards.any(axis=1))
    if not len(hit):
        return y
    M, free = (
        inertia_matrices_of_runs(bodies, q)[hit],
        [k for k in range(system.robot.nv) if k not in system.prescribed],
    )
    places = [free.index(k) for k in columns]
    ways = np.zeros((len(hit), system.robot.nv, len(columns)))  # jumps of all speeds under unit impulses
    ways[:, free] = np.linalg.solve(M[:, free][:, :, free], np.eye(len(free))[:, places])
    before, y = qd[hit], y.copy()
    after = before.copy()
    for k, (row, way, low, high) in enumerate(zip(hit.tolist(), ways, lower[hit], upper[hit])):
        stops = np.flatnonzero(low | high)
        speeds = [columns[c] for c in stops]
        impulses = _impulses(way[speeds][:, stops], before[k, speeds], low[stops], high[stops])
        for c, impulse in zip(stops.tolist(), impulses.tolist()):
            after[k] += way[:, c] * impulse
            if impulse:
                place = system.state_coordinates.index(system.stopped[columns[c]].coordinate)
                y[row, place] = limits.low[row, c] if low[c] else limits.high[row, c]
        after[k, [speed for speed, impulse in zip(speeds, impulses) if impulse]] = 0.0
    lost = [(x[:, :, None] * M * x[:, None, :]).sum(axis=(1, 2)) / 2 for x in (before, after)]
    for speed in system.state_speeds:
        y[hit, system.place_of(speed)] = after[:, speed]
    y[hit, -1] += lost[0] - lost[1]
    return y


def _impulses(G: np.ndarray, speeds: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The impulses of stops with this compliance on joints that touch them, with these speeds."""
    if len(speeds) == 1:
        return np.asarray(-speeds / G[0])
    return balance_contacts(G, speeds, np.where(upper, -np.inf, 0.0), np.where(lower, np.inf, 0.0))[0]


def inertia_matrices_of_runs(bodies: tuple[Body, ...], q: np.ndarray) -> np.ndarray:
    """The inertia matrices of many runs."""
    n = sum(len(body.speeds) for body in bodies)
    M = np.zeros((len(q), n, n))
    matrix: list[list[Scalar]] = inertia_matrix(bodies, list(q.T), n)
    for i, row in enumerate(matrix):
        for j, x in enumerate(row):
            M[:, i, j] = as_samples(x)
    return M
