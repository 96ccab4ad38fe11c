"""Partitions: the independent rows and coordinates around a position, and a measure of how good they still are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..machine.program.scalars import as_floats
from .constraints import Closure
from .elimination import Elimination, Pivots, Sums, pivot_order_of_constraints
from .rank import constraint_null_space, independent_constraint_rows


@dataclass(frozen=True)
class Partition:
    """The matrix K = [A; N]: independent rows and given speeds in A, rows N that complete them, an order of pivots.

    What is eliminated has `sums` of speeds for its unknowns.
    """

    rows: tuple[int, ...]
    given: tuple[int, ...]
    N: tuple[tuple[float, ...], ...]
    order: Pivots
    pivots: tuple[float, ...]  # at the position where the order was chosen
    sums: Sums = ()

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

    def eliminated(self, J: np.ndarray) -> np.ndarray:
        """The matrix K for the sums of speeds, its rows and columns in the order of the pivots."""
        rows, columns = zip(*self.order) if self.order else ((), ())
        return combined_columns(self.matrix(J), self.sums)[..., list(rows), :][..., list(columns)]

    def share(self, J: np.ndarray, *, signed: bool = True) -> float:
        """The share of the pivot that has lost most since the order was chosen; 0 in a singular position.

        If not `signed`, a pivot may have come to the other side of 0.
        """
        return self.share_of(self.pivots_at(J), signed=signed)

    def share_of(self, now: np.ndarray, *, signed: bool = True) -> float:
        """The same from the pivots of a position; 0 where elimination has come to nothing."""
        shares = now / np.array(self.pivots)
        if not np.isfinite(shares).all():
            return 0.0
        return float((shares if signed else abs(shares)).min(initial=np.inf)) if len(shares) else 1.0

    def pivots_at(self, J: np.ndarray) -> np.ndarray:
        """The pivots of K in their order, from the Jacobian of all rows; not finite where elimination divides by 0."""
        K = self.eliminated(J) if self.order else np.zeros((0, 0))
        with np.errstate(all="ignore"):
            for k in range(len(K)):
                below = np.flatnonzero(K[k + 1 :, k]) + k + 1
                if len(below):
                    K[below, k + 1 :] -= np.outer(K[below, k] / K[k, k], K[k, k + 1 :])
        return K.diagonal().copy()


def best_partition(
    loops: Closure,
    q: np.ndarray,
    given: Sequence[int],
    preferred: Sequence[int],
    basis: str = "independent",
    *,
    summed: bool = True,
) -> Partition:
    """The partition that is best at this position; preferred speeds are independent before others.

    If not `summed`, all unknowns are single speeds, whose pivots stay fit further away from the position.
    """
    nv = loops.robot.nv
    J, _ = loops.jacobian(q)
    scaled = loops.scaled(J)
    groups = constraint_groups_of_subsystems(loops) if basis == "independent" else [(range(loops.m), range(nv))]
    rows: list[int] = []
    chosen: list[int] = []
    for own_rows, speeds in groups:
        few, dependent = _picked(loops, scaled, own_rows, speeds, given, preferred)
        rows += few
        chosen += [k for k in speeds if k not in given and k not in dependent]
    rows, chosen = sorted(rows), sorted(chosen)
    N = np.eye(nv)[chosen]
    if basis in ("qr", "svd") and chosen:
        A = np.concatenate([scaled[rows], np.eye(nv)[list(given)]])
        whole = np.linalg.qr(A.T, mode="complete")[0][:, len(A) :] if basis == "qr" else constraint_null_space(A)
        N = whole.T / loops.column_scale
    K = np.concatenate([J[rows], np.eye(nv)[list(given)], N])
    sums = loops.sums if summed and basis == "independent" else ()
    order = _order(loops, combined_columns(K, sums), rows, [*rows, *([-1] * (len(K) - len(rows)))], groups)
    values = as_floats(Elimination(K.tolist(), order, sums).pivots) if len(K) == nv else []
    return Partition(tuple(rows), tuple(given), tuple(tuple(row) for row in N.tolist()), order, tuple(values), sums)


def combined_columns(K: np.ndarray, sums: Sums) -> np.ndarray:
    """The matrix, or many, for sums of the unknowns (`elimination.py:combined`)."""
    result = K.copy()
    for k, j, sign in sums:
        result[..., j] -= sign * K[..., k]
    return result


def constraint_groups_of_subsystems(loops: Closure) -> list[tuple[Sequence[int], Sequence[int]]]:
    """The rows and the speeds of each subsystem, which have nothing to do with those of others."""
    return [(loops.rows_of(block), block.speeds) for block in loops.blocks]


def _picked(
    loops: Closure,
    scaled: np.ndarray,
    rows: Sequence[int],
    speeds: Sequence[int],
    given: Sequence[int],
    preferred: Sequence[int],
) -> tuple[list[int], list[int]]:
    """Independent rows of these, and as many dependent speeds of these."""
    if not len(rows):
        return [], []
    own = scaled[np.ix_(rows, speeds)]
    row_groups, speed_groups = partition_search_orders(loops, rows, speeds, given, preferred)
    few = sorted(independent_constraint_rows(own, row_groups))
    return [rows[r] for r in few], [speeds[j] for j in independent_constraint_rows(own[few].T, speed_groups)]


def partition_search_orders(
    loops: Closure, rows: Sequence[int], speeds: Sequence[int], given: Sequence[int], preferred: Sequence[int]
) -> tuple[list[list[int]], list[list[int]]]:
    """The groups in which independent rows and dependent speeds are looked for, by places among these."""
    places = {r: place for place, r in enumerate(rows)}
    free = [j for j, k in enumerate(speeds) if k not in given]
    return [[places[r] for r in group if r in places] for group in loops.row_groups()], [
        [j for j in free if speeds[j] not in preferred],
        [j for j in free if speeds[j] in preferred],
        [j for j, k in enumerate(speeds) if k in given],
    ]


def _order(
    loops: Closure,
    K: np.ndarray,
    rows: Sequence[int],
    names: Sequence[int],
    groups: Sequence[tuple[Sequence[int], Sequence[int]]],
) -> Pivots:
    """A good order of pivots of K, subsystem by subsystem."""
    size = K * loops.column_scale
    size[: len(rows)] *= loops.row_scale[list(rows)][:, None]
    size = size / np.maximum(abs(size).max(axis=1, initial=0.0), 1e-300)[:, None]
    result: list[tuple[int, int]] = []
    for own_rows, speeds in groups:
        wanted = set(own_rows)
        places = [r for r, name in enumerate(names) if (name in wanted if name >= 0 else size[r, list(speeds)].any())]
        result += [(places[r], speeds[k]) for r, k in pivot_order_of_constraints(size[np.ix_(places, speeds)])]
    return tuple(result)


def independent_speeds(loops: Closure, J: np.ndarray) -> list[int]:
    """Independent speeds, actuated ones before others; all actuated ones if they are as many as the freedoms."""
    _, dependent = loops.choice(J, loops.robot.driven)
    return [k for k in range(loops.robot.nv) if k not in dependent]
