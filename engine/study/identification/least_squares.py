"""Least squares with weights by joint that follow from the residuals, and the standard errors of what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

UNSEEN = 1e-9  # share of the largest singular value below which data tell nothing
INVOLVED = 1e-6  # component of an unseen direction from which a number takes part in it
FLOOR = 1e-10  # least residual that a weight allows for, as a share of the efforts
ITERATIONS = 30
SETTLED = 1e-6  # relative change of the weights with which they are done
FADED = 0.05  # autocorrelation at which residuals count as independent
NOTICED = 4.0  # standard deviations of the autocorrelation of white noise, beyond which it isn't white


@dataclass(frozen=True, eq=False)
class Fit:
    """The estimate of some numbers, and how well they are known."""

    values: np.ndarray
    errors: np.ndarray  # standard errors; not a number where the data tell nothing
    determined: np.ndarray  # whether the data tell the number
    condition: float  # of the weighted columns, scaled to the same length, without unseen directions
    deviations: np.ndarray  # of the residuals, by joint
    correlated: bool  # whether the errors allow for the residuals' autocorrelation
    lags: int  # rows over which residuals hang together


def solve_identification_fit(
    X: np.ndarray, y: np.ndarray, start: np.ndarray, ends: Sequence[int], errors: str = "auto"
) -> Fit:
    """The fit of X @ values to y, (instants, joints, numbers) and (instants, joints).

    Where the data tell nothing, the values are those nearest to `start`; `ends` are the ends of the files' rows.
    """
    instants, joints = y.shape
    sizes = np.sqrt((y**2).mean(axis=0))
    floor = FLOOR * np.maximum(sizes, FLOOR * max(float(sizes.max(initial=0.0)), 1e-300))
    # of each joint's rows, what the sums of squares need: weights change nothing in it
    off = y - X @ start
    small = [np.asarray(np.linalg.qr(np.column_stack([X[:, j], off[:, j]]), mode="r")) for j in range(joints)]
    deviations = np.maximum(sizes, floor)
    for _ in range(ITERATIONS):
        step = _Step(np.concatenate([R / one for R, one in zip(small, deviations)]))
        residuals = off - X @ step.change
        freedom = max(instants - step.rank / joints, 1.0)
        latest = np.maximum(np.sqrt((residuals**2).sum(axis=0) / freedom), floor)
        settled = (abs(latest - deviations) <= SETTLED * deviations).all()
        deviations = latest
        if settled:
            break
    residuals = residuals / deviations
    lags, correlated = 0, errors == "autocorrelated"
    if errors != "white":
        seen, lags = _memory(residuals, ends)
        correlated = correlated or seen
    spread = step.correlated(X / deviations[:, None], residuals, ends, lags) if correlated else step.white()
    own = np.where(step.determined, np.sqrt(np.maximum(spread, 0.0)), np.nan)
    return Fit(
        start + step.change, own, step.determined, step.condition, deviations, correlated, lags if correlated else 0
    )


class _Step:
    """The solution with given weights, by singular values of columns that are scaled to the same length."""

    def __init__(self, rows: np.ndarray):
        count = rows.shape[1] - 1
        length = np.linalg.norm(rows[:, :count], axis=0)
        length[length <= 1e-14 * length.max(initial=0.0)] = np.inf  # rounding
        scale = 1.0 / length
        R = np.asarray(np.linalg.qr(rows * np.append(scale, 1.0), mode="r"))
        U, s, Vt = np.linalg.svd(R[:, :count])  # all of V, for there may be fewer rows than columns
        self.rank = int((s > UNSEEN * s.max(initial=0.0)).sum())
        kept = slice(0, self.rank)
        self.condition = float(s[0] / s[self.rank - 1]) if self.rank else np.inf
        self.determined = (abs(Vt[self.rank :]) < INVOLVED).all(axis=0) & np.isfinite(length)
        self._back = scale[:, None] * Vt[kept].T / s[kept]  # from directions of unit information to numbers
        self.change = self._back @ (U[:, kept].T @ R[:, count])

    def white(self) -> np.ndarray:
        """The variances for residuals that are independent."""
        result: np.ndarray = (self._back**2).sum(axis=1)
        return result

    def correlated(self, X: np.ndarray, residuals: np.ndarray, ends: Sequence[int], lags: int) -> np.ndarray:
        """The variances for residuals that, joint by joint, are a stationary process with a memory of so many rows.

        Their autocorrelation is that of the residuals, tapered as Bartlett does, so that no variance is negative.
        """
        from scipy.signal import fftconvolve

        instants, joints = residuals.shape
        inner = np.zeros((self.rank, self.rank))
        for j in range(joints):
            parts = np.split(residuals[:, j], list(ends)[:-1])
            alike = [sum(float(part[lag:] @ part[: len(part) - lag]) for part in parts) for lag in range(lags + 1)]
            tapered = np.array(alike) / instants * (1.0 - np.arange(lags + 1) / (lags + 1.0))
            kernel = np.concatenate([tapered[:0:-1], tapered])[:, None]
            for own in np.split(X[:, j] @ self._back, list(ends)[:-1]):
                inner += own.T @ fftconvolve(own, kernel, mode="full", axes=0)[lags : lags + len(own)]
        inner *= instants * joints / max(instants * joints - self.rank, 1)
        result: np.ndarray = np.einsum("ij,jk,ik->i", self._back, inner, self._back)
        return result


def _memory(residuals: np.ndarray, ends: Sequence[int]) -> tuple[bool, int]:
    """Whether weighted residuals are more alike than white noise from row to row, and over how many rows they are."""
    parts = np.split(residuals, list(ends)[:-1])
    whole = sum(float((part**2).sum()) for part in parts)
    count = residuals.size
    first, lag = 0.0, 0
    longest = max(1, max(len(part) for part in parts) // 4)
    for lag in range(1, longest + 1):
        alike = sum(float((part[lag:] * part[:-lag]).sum()) for part in parts) / max(whole, 1e-300)
        first = alike if lag == 1 else first
        if alike < FADED:
            break
    return bool(abs(first) > NOTICED / np.sqrt(count)), 2 * lag
