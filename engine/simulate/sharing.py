"""How joints that stick or lie at stops share what holds a mechanism.

Where more joints are held than there are freedoms, mechanics doesn't say which of them bears how much: all supports s
with Nᵀ E s = b serve, N the motions that the loops allow and E the held speeds.  Those taken have the least sum of
squares relative to what makes each joint break loose, within these limits; a pure stop bears what it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..errors import NumericalError
from ..loops import effort
from ..loops.rank import TINY, null_space
from ..robot.model import Effort
from .discrete import Discrete, partition_of
from .system import System, constraints_of

STIFF = 1e3  # how much more readily a pure stop bears than the roughest of the joints that stick


class Sharing:
    """Of one position: who is held, and how their supports act along the freedoms that are left."""

    def __init__(self, system: System, discrete: Discrete, q: np.ndarray):
        loops, nv = constraints_of(system), system.robot.nv
        self.still = discrete.still
        self.ranges = np.array([discrete.held[k] for k in self.still])
        rows = np.concatenate([loops.scaled(loops.jacobian(q)[0]), np.eye(nv)[list(system.ruled)]])
        freedoms = null_space(rows) * loops.column_scale[:, None]
        U, size, Vt = np.linalg.svd(freedoms.T[:, list(self.still)], full_matrices=False)
        firm = size > TINY * size.max(initial=1e-300)
        self.A, self._turned = Vt[firm], U[:, firm] / size[firm]  # what no held joint feels is left out
        self._acting = freedoms.T[:, list(self.still)]
        self.bearing = [self.still.index(k) for k in partition_of(discrete).given if k in discrete.held]
        rough = np.where(np.isfinite(self.ranges), abs(self.ranges), 0.0).max(axis=1)
        self.scale = np.where(rough > 0.0, rough, STIFF * max(rough.max(), 1.0))

    def load(self, support: Mapping[int, float]) -> np.ndarray:
        """What the supports found by the equations do along the freedoms; the others' are 0 there."""
        found = np.array([float(support[self.still[i]]) for i in self.bearing])
        loads: np.ndarray = self._turned.T @ (self._acting[:, self.bearing] @ found)
        return loads

    def shares(self, support: Mapping[int, float]) -> dict[int, float]:
        """The support of every held speed; without regard to limits where none within them would serve."""
        b = self.load(support)
        limited = [Effort(low, high, 1.0 / s**2) for (low, high), s in zip(self.ranges.tolist(), self.scale.tolist())]
        try:
            found = effort.least(self.A, b, limited)
        except NumericalError:
            found = self.scale * (np.linalg.pinv(self.A * self.scale, rcond=TINY) @ b)
        return dict(zip(self.still, found.tolist()))

    def margin(self, support: Mapping[int, float]) -> float:
        """How far all supports can stay within their ranges, relative to each joint's own: not positive when they
        can't hold any more.
        """
        b, (low, high) = self.load(support), self.ranges.T
        if len(self.A) == 1:  # one freedom: all push as hard as they can
            a, reach = self.A[0], np.abs(self.A[0]) @ self.scale
            ends = np.where(a > 0, [a * low, a * high], [a * high, a * low])
            ends[:, a == 0.0] = 0.0
            return float(min(ends[1].sum() - b[0], b[0] - ends[0].sum()) / max(reach, 1e-300))
        return self._least_slack(b, low, high)

    def _least_slack(self, b: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
        """The largest m with low + m·scale ≤ s ≤ high − m·scale for some s that serves, a linear programme."""
        from scipy.optimize import linprog

        n, one = len(self.still), np.eye(len(self.still))
        upper, lower = np.isfinite(high), np.isfinite(low)
        rows = np.concatenate([np.c_[one, self.scale][upper], np.c_[-one, self.scale][lower]])
        limits = np.concatenate([high[upper], -low[lower]])
        found = linprog(
            np.append(np.zeros(n), -1.0),
            A_ub=rows if len(rows) else None,
            b_ub=limits if len(rows) else None,
            A_eq=np.c_[self.A, np.zeros(len(self.A))],
            b_eq=b,
            bounds=[(None, None)] * n + [(None, 1e6)],
        )
        return float(found.x[-1]) if found.status == 0 else -math.inf


def shared(system: System, discrete: Discrete, q: np.ndarray, support: Mapping[int, float]) -> dict[int, float]:
    """The supports of all held speeds, from those that the equations have found."""
    if len(support) == len(discrete.held):
        return dict(support)
    return Sharing(system, discrete, q).shares(support)
