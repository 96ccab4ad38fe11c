"""Whether the best point of a search is a minimum: the gradient, what holds it, and points around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...simulate.variational import NoTangentsError
from ..minimisers import FAILED, OUTSIDE
from .objective import Landscape

AROUND = 1e-3  # of the points around the best one, as a share of the range
BETTER = 1e-5  # by which one of them has to be better, as a share of what is minimised
FLAT = 1e-2  # largest derivative over the range at a minimum, likewise
DOWN = 1e-5  # of a step along the gradient that shows whether it is that of a kink
AT_BOUND = 1e-6  # share of the range within which a number is at its bound
ACTIVE = 1e-5  # share of a limit's size within which it is reached


@dataclass(frozen=True)
class Verdict:
    """What is known of the best point; `minimum` is True if nothing speaks against it."""

    minimum: bool
    words: str
    gradient: dict[str, float] | None  # of what is minimised, along each number in SI units; None: not known
    projected: float | None  # what bounds and limits leave of it: over the range, as a share of what is minimised
    held: dict[str, str]  # numbers at their bounds: `lower` or `upper`
    active: list[str]  # limits that are reached
    nearby: float | None  # the least of the points around the best one, less the best, likewise; None: none is allowed


def search_verdict(land: Landscape, best: np.ndarray) -> Verdict:
    """The verdict on a point whose run has sound numbers; its neighbours are evaluated for that."""
    here = land.at(best)
    ends = {0: "lower", 1: "upper"}
    at = [0 if x <= AT_BOUND else 1 if x >= 1 - AT_BOUND else None for x in best.tolist()]
    held = {name: ends[side] for name, side in zip(land.names, at) if side is not None}
    reached = [k for k, room in enumerate(here.rooms) if room <= ACTIVE]
    active = [land.goal.limits[k].words for k in reached]
    around = land.ranks(search_neighbours(best, land.seed))
    allowed = around[around < OUTSIDE]
    nearby = float(allowed.min() - here.rank) if len(allowed) and here.allowed else None
    gradient, rest, why = _slope(land, best, at, reached)
    projected = None if rest is None else float(abs(rest).max())

    def judged(minimum: bool, words: str) -> Verdict:
        return Verdict(minimum, words, gradient, projected, held, active, nearby)

    if not here.allowed:
        missed = [limit.words for limit, room in zip(land.goal.limits, here.rooms) if not room >= -ACTIVE]
        return judged(False, "no point within the limits: " + ", ".join(missed))
    against = []
    if nearby is not None and nearby < -BETTER:
        against.append(f"a point {AROUND:g} of the ranges away is better by {-nearby:.2g} of the value")
    steep = rest is not None and projected is not None and projected > FLAT
    if steep and rest is not None and not against:
        below = land.ranks((best - DOWN * rest / np.linalg.norm(rest))[None])[0]
        if below >= FAILED:
            return judged(True, "a minimum at an edge: along its gradient runs fail or are refused")
        if below >= here.rank:
            return judged(True, "a minimum at a kink: what is minimised grows along its gradient, too")
    if steep:
        against.append(f"the projected gradient is {projected:.2g} of the value over the ranges")
    if against:
        return judged(False, "not shown to be a minimum: " + "; ".join(against))
    if projected is None:
        return judged(True, f"a minimum as far as the points around it show (no derivatives: {why})")
    return judged(True, "a minimum")


def search_neighbours(best: np.ndarray, seed: int) -> np.ndarray:
    """Points around the best one: to both sides along each number, and as many in other directions."""
    width = len(best)
    along = np.concatenate([np.eye(width), -np.eye(width)])
    if width > 1:
        other = np.random.default_rng(seed).normal(size=(width, width))
        other /= np.linalg.norm(other, axis=1, keepdims=True)
        along = np.concatenate([along, other, -other])
    points: np.ndarray = np.clip(best + AROUND * along, 0.0, 1.0)
    apart = points[(points != best).any(axis=1)]
    return np.asarray(apart)


def _slope(
    land: Landscape, best: np.ndarray, at: Sequence[int | None], reached: Sequence[int]
) -> tuple[dict[str, float] | None, np.ndarray | None, str]:
    """The gradient, what bounds and reached limits leave of it, and why there is none if so."""
    try:
        land.derivatives.at(land.place(best))
    except NoTangentsError as error:
        return None, None, str(error)
    slope, rooms = land.slopes(best)
    gradient = dict(zip(land.names, (slope * land.size / (land.high - land.low)).tolist()))
    return gradient, projected_search_slope(slope, rooms[list(reached)], at), ""


def projected_search_slope(slope: np.ndarray, rooms: np.ndarray, at: Sequence[int | None]) -> np.ndarray:
    """The part of a gradient that neither bounds nor reached limits hold.

    Its part along the slopes of these is the one with multipliers that aren't negative and leaves the least (Karush,
    Kuhn and Tucker): at a minimum, nothing.
    """
    from scipy.optimize import nnls

    walls = [np.eye(len(slope))[k] * (1.0 if side == 0 else -1.0) for k, side in enumerate(at) if side is not None]
    columns = np.array([*walls, *rooms]).reshape(-1, len(slope)).T
    if not columns.size:
        return slope
    multipliers, _ = nnls(columns, slope)
    return np.asarray(slope - columns @ multipliers)
