"""Masses moved across cuts: the same accelerations from fewer numbers.

A cut that keeps two points together doesn't say on which of its links a mass in this point sits.  So each such cut has
a mass that may be put on the one link and taken off the other, of any size and sign, without any effect on motions that
keep the loops closed; where the other link is the base, it has none at all.  Together with what joints don't move
(`dynamics/regroup.py`), this makes first moments vanish: a link between two joints whose mass centre lies on the line
through both has nothing but moments of inertia.  Multipliers and reactions would be others.

The papers' row that needs this is forward dynamics of the carpet scraper (Saha's overview, section 4.4).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...robot import Body
from ..numbers.regroup import CENTRE, parted, pseudo_inertia, regrouped_bodies, with_numbers
from .blocks import Block
from .constraints import Closure
from .ties import Tie, TieSide

POINT = {(0,), (1,), (2,)}  # axes along which a cut that keeps two points together forbids to slide
MOST = 800  # ways to choose for one group
ROUNDING = 1e-14  # share of its summands below which a number is 0
CARRIED = 3.0  # what a number of a link counts that isn't on the base, where its motion is simpler
UPPER = np.triu_indices(CENTRE + 1)


def exchanged(loops: Closure) -> tuple[Body, ...]:
    """The regrouped bodies, with masses moved across cuts where that makes numbers vanish."""
    ties = loops.ties if loops.goal is None else ()  # where cuts are to stay open, their points aren't the same
    return _exchanged(loops.bodies, ties, loops.blocks)


@dataclass(frozen=True, eq=False)
class Exchange:
    """A unit mass put on one link of a cut and taken off the other: what this does to all bodies, and their places."""

    change: np.ndarray  # of the regrouped pseudo-inertias
    ends: tuple[int, ...]  # bodies


@lru_cache(maxsize=128)
def _exchanged(bodies: tuple[Body, ...], ties: tuple[Tie, ...], blocks: tuple[Block, ...]) -> tuple[Body, ...]:
    mass = sum(abs(body.m) for body in bodies)
    G = np.array([pseudo_inertia(body) for body in regrouped_bodies(bodies)])
    for block in reversed(blocks):  # what groups beyond hand on is known then
        exchanges = [one for k in block.ties if (one := exchange(bodies, ties[k])) is not None] if ties else []
        if exchanges and math.prod(len(one.ends) + 1 for one in exchanges) <= MOST:
            G = _best(bodies, G, exchanges, mass)
    return with_numbers(bodies, G)


def exchange(bodies: Sequence[Body], tie: Tie) -> Exchange | None:
    """The exchange of mass that a tie allows, if it keeps two points of different bodies together."""
    chain = (*tie.first.chain, *tie.second.chain)
    if {row.axes for row in tie.rows if row.kind == "slide"} != POINT or not chain:
        return None
    meeting = bodies[(tie.first.chain or tie.second.chain)[0]].parent
    unit: dict[int, np.ndarray] = {}
    for side, sign in ((tie.first, 1.0), (tie.second, -1.0)):
        i = side.chain[-1] if side.chain else meeting
        if i is not None:
            unit[i] = sign * _unit_mass(side)
    return Exchange(_moved_inwards(bodies, unit), tuple(unit))


def _moved_inwards(bodies: Sequence[Body], changed: Mapping[int, np.ndarray]) -> np.ndarray:
    """The changes of all regrouped pseudo-inertias by those of some bodies, which mostly end where both meet."""
    result: np.ndarray = np.zeros((len(bodies), CENTRE + 1, CENTRE + 1))
    waiting, sizes = dict(changed), {i: abs(G) for i, G in changed.items()}
    while waiting:
        i = max(waiting)
        G = waiting.pop(i)
        own, share = parted(bodies[i], np.where(abs(G) > ROUNDING * sizes[i], G, 0.0))
        result[i] = pseudo_inertia(with_numbers([bodies[i]], [own])[0])
        parent = bodies[i].parent
        if parent is not None and share.any():
            waiting[parent] = waiting.get(parent, 0.0) + share
            sizes[parent] = sizes.get(parent, 0.0) + abs(share)
    return result


def _unit_mass(side: TieSide) -> np.ndarray:
    """The pseudo-inertia of a unit mass at the origin of a tie's frame."""
    x = np.array([*side.origin, 1.0])
    return np.outer(x, x)


def _best(bodies: Sequence[Body], G: np.ndarray, exchanges: Sequence[Exchange], mass: float) -> np.ndarray:
    """The pseudo-inertias with the fewest numbers, where each cut serves to free one of its links of first moments."""
    weights = np.array([1.0 if body.parent is None else CARRIED for body in bodies])

    def numbers(G: np.ndarray) -> float:
        return float(weights @ (G[:, UPPER[0], UPPER[1]] != 0.0).sum(axis=1))

    best, fewest = G, numbers(G)
    for freed in itertools.product(*((None, *one.ends) for one in exchanges)):
        chosen = [(one, i) for one, i in zip(exchanges, freed) if i is not None]
        sizes = _sizes(G, chosen) if chosen else None
        if sizes is None or abs(sizes).max() > mass:
            continue  # small lengths would make large numbers that cancel
        changes = [size * one.change for size, (one, _) in zip(sizes, chosen)]
        other, summands = sum(changes, G), sum(map(abs, changes), abs(G))
        other = np.where(abs(other) > ROUNDING * summands, other, 0.0)
        if numbers(other) < fewest:
            best, fewest = other, numbers(other)
    return best


def _sizes(G: np.ndarray, chosen: Sequence[tuple[Exchange, int]]) -> np.ndarray | None:
    """The masses that leave no first moment along the way to its cut on any of the bodies."""
    moments = [one.change[i, :CENTRE, CENTRE] for one, i in chosen]
    lengths = [float(np.linalg.norm(h)) for h in moments]
    if min(lengths) == 0.0:
        return None
    ways = [h / length for h, length in zip(moments, lengths)]
    system = [[way @ other.change[i, :CENTRE, CENTRE] for other, _ in chosen] for way, (_, i) in zip(ways, chosen)]
    if np.linalg.matrix_rank(system) < len(chosen):
        return None
    result: np.ndarray = np.linalg.solve(system, [-way @ G[i, :CENTRE, CENTRE] for way, (_, i) in zip(ways, chosen)])
    return result
