"""Dry friction over a measured motion, as a share of its full force, and the paths on which it builds up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

SHORTEST, LONGEST = 1e-6, 1e-1  # paths that are looked at, as shares of a joint's travel
UNSEEN = 1e-9  # share of the largest singular value below which columns are one another's sum
COARSE, FINE, ROUNDS = 26, 11, 3  # paths tried at first, and in each round around the best of them


def sliding(t: np.ndarray, v: np.ndarray, distance: float) -> np.ndarray:
    """Dahl's friction z of speeds v, distance dz/dt = v − |v| z: after a reversal it turns on a path of this length.

    Along a path in one direction that is z = s + (z₀ − s) exp(−path / distance) with its sign s; at first it slides.
    P. R. Dahl, A solid friction model, The Aerospace Corporation 1968, with the exponent 1.  Speeds count as linear
    between rows.
    """
    turning = np.flatnonzero(v[1:] * v[:-1] < 0.0) + 1  # before these rows the speed is 0 once
    own = np.arange(len(v)) + np.searchsorted(turning, np.arange(len(v)), side="right")
    before = v[turning - 1] / (v[turning - 1] - v[turning])
    t = np.insert(t, turning, t[turning - 1] + before * (t[turning] - t[turning - 1]))
    v = np.insert(v, turning, 0.0)
    moves = np.append(0.0, (v[1:] + v[:-1]) / 2 * np.diff(t))
    signs = np.sign(moves)
    there = np.flatnonzero(signs)
    if not len(there):
        return np.zeros(len(own))
    # rows that rest belong to the direction before them, those at the beginning to the first one
    signs = signs[there[np.maximum(np.searchsorted(there, np.arange(len(v)), side="right") - 1, 0)]]
    path = np.cumsum(abs(moves))
    turned = np.empty(len(v))
    z = signs[0]
    starts = np.append(0, np.flatnonzero(np.diff(signs)) + 1)
    for first, end in zip(starts, np.append(starts[1:], len(v))):
        gone = path[first:end] - path[max(first - 1, 0)]
        turned[first:end] = signs[first] + (z - signs[first]) * np.exp(-gone / distance)
        z = turned[end - 1]
    result: np.ndarray = turned[own]
    return result


def best_distance(
    others: np.ndarray, efforts: np.ndarray, column: Callable[[float], np.ndarray], travel: float
) -> float:
    """The distance with whose friction a joint's efforts are fitted best, beside other columns.

    `column` makes that of the friction with a distance.
    """
    length = np.linalg.norm(others, axis=0)
    U, s, _ = np.linalg.svd(others[:, length > 0.0] / length[length > 0.0], full_matrices=False)
    Q = U[:, s > UNSEEN * s.max(initial=0.0)]
    off = efforts - Q @ (Q.T @ efforts)

    def explained(exponent: float) -> float:
        own = column(travel * 10.0**exponent)
        own = own - Q @ (Q.T @ own)
        size = float(own @ own)
        return float(own @ off) ** 2 / size if size else 0.0

    grid = np.linspace(np.log10(SHORTEST), np.log10(LONGEST), COARSE)
    best = grid[np.argmax([explained(x) for x in grid])]
    step = grid[1] - grid[0]
    for _ in range(ROUNDS):
        near = best + step * np.linspace(-1.0, 1.0, FINE)
        best, step = near[np.argmax([explained(x) for x in near])], 2 * step / (FINE - 1)
    return float(travel * 10.0**best)
