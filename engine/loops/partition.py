"""Partitions: the independent rows and coordinates around a position, and a measure of how good they still are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..machine.program.scalars import as_floats
from .constraints import Closure
from .elimination import Elimination, Pivots, pivot_order
from .rank import independent, null_space


@dataclass(frozen=True)
class Partition:
    """The matrix K = [A; N]: independent rows and given speeds in A, rows N that complete them, an order of pivots."""

    rows: tuple[int, ...]
    given: tuple[int, ...]
    N: tuple[tuple[float, ...], ...]
    order: Pivots
    pivots: tuple[float, ...]  # at the position where the order was chosen

    @property
    def independent(self) -> list[int]:
        """The independent speeds, if N has unit rows."""
        return [row.index(1.0) for row in self.N if row.count(0.0) == len(row) - 1]

    def basis(self, nv: int) -> np.ndarray:
        return np.array(self.N).reshape(-1, nv)

    def matrix(self, J: np.ndarray) -> np.ndarray:
        """The matrix K, from the Jacobian of all rows at one position or at many."""
        nv = J.shape[-1]
        constant = np.concatenate([np.eye(nv)[list(self.given)], self.basis(nv)])
        return np.concatenate([J[..., self.rows, :], np.broadcast_to(constant, (*J.shape[:-2], *constant.shape))], -2)

    def share(self, J: np.ndarray, *, signed: bool = True) -> float:
        """The share of the pivot that has lost most since the order was chosen; 0 in a singular position.

        If not `signed`, a pivot may have come to the other side of 0.
        """
        with np.errstate(all="ignore"):
            try:
                now = as_floats(Elimination(self.matrix(J).tolist(), self.order).pivots)
            except ZeroDivisionError:
                return 0.0
        shares = [x / start for x, start in zip(now, self.pivots)]
        return min(shares if signed else map(abs, shares), default=1.0)


def partition(
    loops: Closure, q: np.ndarray, given: Sequence[int], preferred: Sequence[int], basis: str = "independent"
) -> Partition:
    """The partition that is best at this position; preferred speeds are independent before others."""
    nv = loops.robot.nv
    J, _ = loops.jacobian(q)
    scaled = loops.scaled(J)
    rows = sorted(independent(scaled, loops.row_groups()))
    free = [k for k in range(nv) if k not in given]
    groups = [[k for k in free if k not in preferred], [k for k in free if k in preferred], list(given)]
    dependent = independent(scaled[rows].T, groups)
    chosen = [k for k in free if k not in dependent]
    N = np.eye(nv)[chosen]
    if basis in ("qr", "svd") and chosen:
        A = np.concatenate([scaled[rows], np.eye(nv)[list(given)]])
        whole = np.linalg.qr(A.T, mode="complete")[0][:, len(A) :] if basis == "qr" else null_space(A)
        N = whole.T / loops.column_scale
    K = np.concatenate([J[rows], np.eye(nv)[list(given)], N])
    size = K * loops.column_scale
    size[: len(rows)] *= loops.row_scale[rows][:, None]
    order = pivot_order(size / np.maximum(abs(size).max(axis=1, initial=0.0), 1e-300)[:, None])
    values = as_floats(Elimination(K.tolist(), order).pivots) if len(K) == nv else []
    return Partition(tuple(rows), tuple(given), tuple(tuple(row) for row in N.tolist()), order, tuple(values))


def independent_speeds(loops: Closure, J: np.ndarray) -> list[int]:
    """Independent speeds, actuated ones before others; all actuated ones if they are as many as the freedoms."""
    _, dependent = loops.choice(J, loops.robot.driven)
    return [k for k in range(loops.robot.nv) if k not in dependent]
