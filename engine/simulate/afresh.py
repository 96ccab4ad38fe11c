"""Closure methods whose null space is computed anew at every evaluation, without regard to the one before.

As Yun and Sarkar (1998) have it and Khan (2002, section 2.3) ran it: the state holds v in place of the speeds, and
q̇ = S v + η with the columns S of the null space of A as they come out of a singular value decomposition.  With N = Sᵀ
that is q̇ = K⁻¹ [ċ; v] as of any other method, for K⁻¹ = [A⁺, S] then; but S, and with it what v means, may turn or
swap its columns from one evaluation to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..closure.elimination import Elimination, pivots
from ..closure.partition import Partition
from ..machine.scalars import Scalar

if TYPE_CHECKING:
    from .closed import ClosedPlant, Situation


def null_basis(A: np.ndarray, freedoms: int) -> np.ndarray:
    """S: of H = 1 − A⁺ A = U Δ Vᵀ the first columns of U (Khan 2002, section 4.2, steps i to iii)."""
    H = np.eye(A.shape[1]) - np.linalg.pinv(A) @ A
    return np.linalg.svd(H)[0][:, :freedoms]


def partition_at(plant: ClosedPlant, q: np.ndarray) -> Partition:
    """The plant's partition with N = Sᵀ of this very position."""
    part = plant.partition
    A = np.concatenate([plant.loops.jacobian(q)[0][list(part.rows)], np.eye(plant.robot.nv)[list(part.given)]])
    if not np.isfinite(A).all():
        raise OverflowError
    N = null_basis(A, len(part.N)).T
    return replace(part, N=tuple(tuple(row) for row in N.tolist()), order=pivots(np.concatenate([A, N])))


def slots(plant: ClosedPlant, part: Partition, qd: Sequence[Scalar]) -> list[Scalar]:
    """What stands in the state's places of speeds: v = N q̇ in the first of those that aren't given, or its rates."""
    v = iter((part.basis(plant.robot.nv) @ np.array(qd, dtype=float)).tolist())
    return [qd[k] if k in part.given else next(v, 0.0) for k in plant.cv]


def speeds(plant: ClosedPlant, part: Partition, now: Situation) -> list[float]:
    """S v + η, of a situation that was read from a state with v in it; what is given stays."""
    q = np.array(now.q, dtype=float)
    v = [now.qd[k] for k in plant.cv if k not in part.given][: len(part.N)]
    gaps = plant.loops.gaps(now.q)
    pull = plant.parameters.sigma
    wanted = [now.rates.get(r, 0.0) - pull * (gaps[r] - now.values.get(r, 0.0)) for r in part.rows]
    K = Elimination(part.matrix(plant.loops.jacobian(q)[0]).tolist(), part.order)
    return [float(x) for x in K.solve([*wanted, *(now.qd[k] for k in part.given), *v])]
