"""The complementarity problem behind forces of friction and stops, and behind impulses of blows.

Sought are s with low ≤ s ≤ high and a = b + G s such that a joint moves only where its force is at a bound: a = 0
between the bounds, a ≥ 0 at the lower, a ≤ 0 at the upper one.  G is symmetric and has no negative eigenvalue, so these
are the conditions for the least ½ sᵀ G s + bᵀ s, and a is unique (Gauss's principle of least constraint).
"""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-12  # of a sum's largest term
ROUNDS = 50  # for each unknown


def balance_contacts(
    G: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, size: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Forces s and accelerations a, without rounding errors in a, by an active set method that frees forces singly.

    `size` is that of what met in b, where more did than is left of it.
    """
    size = abs(b) if size is None else size
    if len(b) == 1 and G[0, 0] > 0.0:
        one = _balanced_alone(float(G[0, 0]), float(b[0]), float(low[0]), float(high[0]), float(size[0]))
        return np.array(one[:1]), np.array(one[1:])
    scale = 1.0 / np.sqrt(np.where(np.diag(G) > 0.0, np.diag(G), 1.0))  # makes all forces of one size
    bounds = low, high
    G, b, low, high, size = G * np.outer(scale, scale), b * scale, low / scale, high / scale, size * scale
    s = np.clip(np.zeros(len(b)), low, high)
    free = np.zeros(len(b), dtype=bool)
    for _ in range(ROUNDS * len(b)):
        a = _moved(G, b, s, size)
        wrong = np.where(a < 0, s < high, s > low) * abs(a)
        wrong[free] = 0.0  # these are settled but for rounding
        if not wrong.any():
            break
        free[int(np.argmax(wrong))] = True
        _settled(G, b, low, high, s, free, size)
    return np.where(s <= low, bounds[0], np.where(s >= high, bounds[1], s * scale)), _moved(G, b, s, size) / scale


def _balanced_alone(G: float, b: float, low: float, high: float, size: float) -> tuple[float, float]:
    """The force and the acceleration of a single contact."""

    def moved(s: float) -> float:
        a = b + G * s
        return a if abs(a) > ROUNDING * (size + G * abs(s)) else 0.0

    s = min(max(0.0, low), high)
    a = moved(s)
    if (a < 0.0 and s < high) or (a > 0.0 and s > low):
        s = min(max(s - a / G, low), high)
        a = moved(s)
    return s, a


def _moved(G: np.ndarray, b: np.ndarray, s: np.ndarray, size: np.ndarray) -> np.ndarray:
    a = b + G @ s
    return np.where(abs(a) <= ROUNDING * (size + abs(G) @ abs(s)), 0.0, a)


def _settled(
    G: np.ndarray,
    b: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    s: np.ndarray,
    free: np.ndarray,
    size: np.ndarray,
) -> None:
    """Moves the free forces until their a vanish; a force that reaches a bound on the way stays there, not free."""
    while free.any():
        these = np.flatnonzero(free)
        part = G[np.ix_(these, these)]
        a = _moved(G, b, s, size)[these]
        step = -np.linalg.lstsq(part, a, rcond=ROUNDING)[0]
        stuck = a + part @ step
        bounded = abs(stuck).max() <= 1e-9 * abs(a).max()
        if not bounded:  # no such forces stop the motion: go down the slope to the next bound
            step = -stuck
        room = np.where(step > 0, high[these] - s[these], low[these] - s[these])
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(step != 0.0, room / step, np.inf)
        share = min(float(shares.min()), 1.0) if bounded else float(shares.min())
        if not np.isfinite(share):
            return
        s[these] = np.clip(s[these] + share * step, low[these], high[these])
        reached = these[shares <= share]
        free[reached] = False
        if bounded and share >= 1.0:
            return
