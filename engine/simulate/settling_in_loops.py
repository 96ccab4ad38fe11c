"""The modes in which many mechanisms go on, and their states after blows, as `sticking.py` and `blows.py` have one's.

Joints at rest are let go first, each the way that it would be accelerated without friction. Where friction leaves all
of them that way, none is held. The others' forces follow from how the mechanism responds to forces in its joints. A run
that isn't clear, because a force is at its bound but for rounding, is left to `sticking.py`, alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from . import sticking
from .blows import NEARLY, speeds_after_blows
from .complementarity import balance_contacts
from .contacts import (
    Contacts,
    Limits,
    joints_off_their_stops,
    joints_touching_stops,
    stiction_force_ranges,
)
from .patterns import Patterns
from .response import Response
from .settling import CLEAR, LOOSE, Ask, Settled, brought_to_rest_or_slipping, free_contacts, inertia_matrices_of_runs
from .together import Starts

LEVER = 1e-3  # of a joint at its stop: one with less may be at the end of its stroke, where it turns by itself
NOISY = 1e-9  # of the largest acceleration, in proportion to the joints' levers: less may be rounding


def settled_modes_of_mechanisms(
    starts: Starts,
    patterns: Patterns,
    ask: Ask,
    runs: np.ndarray,
    t: np.ndarray,
    y: np.ndarray,
    q: np.ndarray,
    loose: np.ndarray,
    direction: np.ndarray,
) -> Settled:
    """The modes in which these mechanisms at (t, y), with coordinates q, go on, with held joints exactly at rest.

    `loose` is the column of a joint whose support has just reached its bound, or −1, and `direction` its way then, or 0
    where all joints that are held share the load. What is asked is how they move without held joints.
    """
    contacts = free_contacts(patterns, ask, runs, t, y)
    if not patterns.switching:
        return Settled(y, contacts, np.ones(len(runs), dtype=bool))
    slow = sticking.RESTING * starts.alike.column_scale[runs][:, patterns.switching]
    y, contacts, rest = brought_to_rest_or_slipping(patterns, contacts, runs, y, q, slow)
    slip, lower, upper = contacts.slip, contacts.lower, contacts.upper
    sure, still = np.ones(len(runs), dtype=bool), np.flatnonzero(rest.any(axis=1))
    if not len(still):
        return Settled(y, contacts, sure)
    a = ask(runs[still], t[still], y[still], contacts.some(still)).qdd
    free = a[:, patterns.switching]
    way = np.where(rest[still], np.sign(free), 0.0)
    outwards = (lower[still] & (way < 0.0)) | (upper[still] & (way > 0.0))
    slip[still] = np.where(rest[still] & patterns.rough, way, slip[still])
    after = ask(runs[still], t[still], y[still], replace(contacts, slip=slip).some(still)).qdd
    # a joint that has come to its bound is hardly accelerated
    size = abs(np.where(loose[still, None] >= 0, after, a)).max(axis=1, keepdims=True)
    clear = way * after[:, patterns.switching] > CLEAR * size
    hold = still[~((clear & ~outwards) | ~rest[still]).all(axis=1)]
    if len(hold):
        where = np.searchsorted(still, hold)
        found = _balanced(starts, patterns, runs[hold], q[hold], rest[hold], contacts.some(hold), a[where], loose[hold])
        contacts.held[hold], moved, sure[hold] = found
        slip[hold] = np.where(rest[hold], moved * patterns.rough, slip[hold])
        gone = np.flatnonzero((loose[hold] >= 0) & (direction[hold] != 0.0))
        sure[hold[gone]] &= moved[gone, loose[hold[gone]]] == direction[hold[gone]]
    sure[still] &= np.isfinite(a).all(axis=1)
    # a joint that rests beside its stop is to be placed there, which `sticking.py` does
    off = joints_off_their_stops(patterns.run.system, patterns.limits.some(runs), q, lower | upper)
    sure &= ~(rest & off).any(axis=1)
    return Settled(y, replace(contacts, slip=slip), sure)


def _balanced(
    starts: Starts,
    patterns: Patterns,
    runs: np.ndarray,
    q: np.ndarray,
    rest: np.ndarray,
    contacts: Contacts,
    free: np.ndarray,
    loose: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which joints at rest are held, the ways of the others, and whether that is sure, by accelerations without them.

    As in `sticking.py`, bounds are weaker where a joint has just come to one.
    """
    system = patterns.run.system
    held, way, sure = np.zeros_like(rest), np.zeros(rest.shape), np.ones(len(runs), dtype=bool)
    low, high = stiction_force_ranges(patterns.limits.coulomb[runs], contacts.lower, contacts.upper)
    for k, response in enumerate(_responses(starts, runs, q, system.ruled)):
        columns = np.flatnonzero(rest[k])
        speeds = [patterns.switching[c] for c in columns.tolist()]
        b, bounds = free[k, speeds], (low[k, columns], high[k, columns])
        G = response.compliance(speeds)
        if not (np.isfinite(G).all() and np.isfinite(b).all()):
            sure[k] = False
            continue
        if loose[k] >= 0:
            bounds = sticking.weaker_bounds(G, b, *bounds)
        s, a = balance_contacts(G, b, *bounds)
        held[k, columns], way[k, columns] = a == 0.0, np.sign(a)
        ways = response.T[speeds]
        sure[k] = _clear(ways, s, a, abs(free[k]).max(), bounds, LOOSE if loose[k] >= 0 else CLEAR)
    return held, way, sure


def _clear(
    ways: np.ndarray,
    s: np.ndarray,
    a: np.ndarray,
    largest: float,
    bounds: tuple[np.ndarray, np.ndarray],
    margin: float,
) -> bool:
    """Whether forces s and accelerations a are so far from their bounds that rounding decides nothing.

    `ways` are those of the joints along the freedoms. Where they share one, only what they bear together counts. Joints
    without lever may be idle, and small accelerations beside the `largest` one may be rounding: `sticking.py` knows.
    """
    levers = abs(ways).max(axis=1, initial=0.0)
    moved = a != 0.0
    if (levers <= LEVER * levers.max(initial=0.0)).any() or (
        moved & (abs(a) < NOISY * largest * levers / levers.max(initial=0.0))
    ).any():
        return False
    size = np.maximum(np.maximum(*(np.where(np.isfinite(x), abs(x), 0.0) for x in bounds)), abs(s))
    size = np.maximum(size, sticking.LEAST_SCALE)
    if ways.shape[1] == 1 and (~moved).sum() > 1:
        way, reach = ways[~moved, 0], (abs(ways[:, 0]) * size)[~moved].sum()
        with np.errstate(invalid="ignore"):
            ends = np.nan_to_num(np.array(bounds)[:, ~moved] * way, nan=0.0, posinf=np.inf, neginf=-np.inf)
        load = float(way @ s[~moved])
        return bool(min(ends.max(axis=0).sum() - load, load - ends.min(axis=0).sum()) > margin * reach)
    near = np.minimum(abs(s - bounds[0]), abs(s - bounds[1])) <= margin * size
    return not (near & ~moved).any()


def _responses(starts: Starts, runs: np.ndarray, q: np.ndarray, fixed: tuple[int, ...]) -> Iterator[Response]:
    """The responses of these runs at their coordinates, with some speeds fixed."""
    _, J = starts.alike.near(q, runs)
    M, scale = inertia_matrices_of_runs(starts.bodies(runs), q), starts.alike.column_scale[runs]
    for m, rows, of in zip(M, J, scale):
        yield Response.in_loops(m, rows, of, [*fixed], np.zeros((0, len(m))))


# ---- blows


def states_of_mechanisms_after_blows(
    starts: Starts, limits: Limits, runs: np.ndarray, y: np.ndarray, q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The states after the blows of joints that are at their stops and move outwards, and whether they are sure.

    As in `blows.state_after_blows`; `limits` are those of these runs.
    """
    system, columns = starts.run.system, list(starts.run.system.switching)
    lower, upper = joints_touching_stops(system, limits, q)
    outwards = (lower & (qd[:, columns] < 0.0)) | (upper & (qd[:, columns] > 0.0))
    hit, sure, y = np.flatnonzero(outwards.any(axis=1)), np.ones(len(runs), dtype=bool), y.copy()
    if not len(hit):
        return y, sure
    placed = np.zeros_like(outwards[hit])
    for n, (k, response) in enumerate(zip(hit.tolist(), _responses(starts, runs[hit], q[hit], system.prescribed))):
        stops = np.flatnonzero(lower[k] | upper[k])
        speeds = [columns[c] for c in stops.tolist()]
        after, impulses, _ = speeds_after_blows(response, qd[k], speeds, [*zip(lower[k, stops], upper[k, stops])])
        levers = np.linalg.norm(response.T[speeds], axis=1) / starts.alike.column_scale[runs[k], speeds]
        sure[k] = (levers > LEVER).all()
        placed[n, stops] = impulses != 0.0
        y[k, [system.place_of(j) for j in system.state_speeds]] = after[system.state_speeds]
        y[k, -1] += response.kinetic(qd[k]) - response.kinetic(after)
    at = np.where(lower[hit], limits.low[hit], limits.high[hit])
    moved = q[hit].copy()
    for c, speed in enumerate(columns):
        if speed in system.stopped:
            moved[:, system.stopped[speed].coordinate] = np.where(
                placed[:, c], at[:, c], moved[:, system.stopped[speed].coordinate]
            )
    for one in np.unique(placed, axis=0):
        some = np.flatnonzero((placed == one).all(axis=1))
        kept = [*system.prescribed, *(k for k, is_placed in zip(columns, one.tolist()) if is_placed)]
        shut, closed = starts.alike.closed(moved[some], kept, runs[hit[some]], angled=False)
        near = abs(shut - q[hit[some]]).max(axis=1) <= NEARLY * np.maximum(starts.alike.length[runs[hit[some]]], 1.0)
        sure[hit[some]] &= closed & near
        y[hit[some], : len(system.state_coordinates)] = shut[:, system.state_coordinates]
    return y, sure
