"""The shares of joints that stick or lie at stops in the forces that hold a mechanism.

Where more joints are held than there are freedoms, mechanics doesn't determine their supports: all s with Nᵀ E s = b
will do, where N are the motions that the loops allow and E are the held speeds.  Chosen is the s with the least sum of
squares relative to each joint's break-away force, within these forces; a pure stop can bear any force.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..errors import NumericalError
from ..loops import effort
from ..loops.rank import TINY, constraint_null_space
from ..robot import Effort
from .discrete import Discrete, discrete_partition
from .system import System

STIFF = 1e3  # scale of a pure stop's support, relative to the largest break-away force


class Sharing:
    """The held joints at one position, and how their supports act along the mechanism's freedoms."""

    def __init__(self, system: System, discrete: Discrete, q: np.ndarray):
        loops, nv = system.loops, system.robot.nv
        self.still = discrete.still
        self.ranges = np.array([discrete.held[k] for k in self.still])
        rows = np.concatenate([loops.scaled(loops.jacobian(q)[0]), np.eye(nv)[list(system.ruled)]])
        freedoms = constraint_null_space(rows) * loops.column_scale[:, None]
        U, size, Vt = np.linalg.svd(freedoms.T[:, list(self.still)], full_matrices=False)
        firm = size > TINY * size.max(initial=1e-300)
        self.A, self._turned = Vt[firm], U[:, firm] / size[firm]  # without freedoms that no held joint can feel
        self._acting = freedoms.T[:, list(self.still)]
        self.bearing = [self.still.index(k) for k in discrete_partition(discrete).given if k in discrete.held]
        rough = np.where(np.isfinite(self.ranges), abs(self.ranges), 0.0).max(axis=1)
        self.scale = np.where(rough > 0.0, rough, STIFF * max(rough.max(), 1.0))

    def load(self, support: Mapping[int, float]) -> np.ndarray:
        """The load along the freedoms of the supports that the equations have found; the others' are 0 there."""
        supports = np.array([float(support[self.still[i]]) for i in self.bearing])
        loads: np.ndarray = self._turned.T @ (self._acting[:, self.bearing] @ supports)
        return loads

    def shares(self, support: Mapping[int, float]) -> dict[int, float]:
        """The support of every held speed, within the limits where that is possible."""
        b = self.load(support)
        limited = [Effort(low, high, 1.0 / s**2) for (low, high), s in zip(self.ranges.tolist(), self.scale.tolist())]
        try:
            supports = effort.least_loop_effort(self.A, b, limited)
        except NumericalError:
            supports = self.scale * (np.linalg.pinv(self.A * self.scale, rcond=TINY) @ b)
        return dict(zip(self.still, supports.tolist()))

    def margin(self, support: Mapping[int, float]) -> float:
        """The largest distance, relative to each joint's scale, that all supports can keep from their bounds; not
        positive where they can't hold the mechanism any more.
        """
        b, (low, high) = self.load(support), self.ranges.T
        if len(self.A) == 1:  # one freedom: the limit is where all supports are at their bounds
            a, reach = self.A[0], np.abs(self.A[0]) @ self.scale
            ends = np.where(a > 0, [a * low, a * high], [a * high, a * low])
            ends[:, a == 0.0] = 0.0
            return float(min(ends[1].sum() - b[0], b[0] - ends[0].sum()) / max(reach, 1e-300))
        return self._least_slack(b, low, high)

    def _least_slack(self, b: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
        """The largest m with low + m·scale ≤ s ≤ high − m·scale for an s that holds, by a linear programme."""
        from scipy.optimize import linprog

        n, one = len(self.still), np.eye(len(self.still))
        upper, lower = np.isfinite(high), np.isfinite(low)
        rows = np.concatenate([np.c_[one, self.scale][upper], np.c_[-one, self.scale][lower]])
        limits = np.concatenate([high[upper], -low[lower]])
        solution = linprog(
            np.append(np.zeros(n), -1.0),
            A_ub=rows if len(rows) else None,
            b_ub=limits if len(rows) else None,
            A_eq=np.c_[self.A, np.zeros(len(self.A))],
            b_eq=b,
            bounds=[(None, None)] * n + [(None, 1e6)],
        )
        return float(solution.x[-1]) if solution.status == 0 else -math.inf


def shared_supports_of_held_speeds(
    system: System, discrete: Discrete, q: np.ndarray, support: Mapping[int, float]
) -> dict[int, float]:
    """Supports of all held speeds, from those that the equations have found."""
    if len(support) == len(discrete.held):
        return dict(support)
    return Sharing(system, discrete, q).shares(support)
