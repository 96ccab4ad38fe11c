"""Closure methods whose null space is computed anew at every evaluation, without regard to the one before.

As Yun and Sarkar (1998) have it and Khan (2002, section 2.3) ran it: the state holds v in place of the speeds, and
q̇ = S v + η with the columns S of the null space of A as they come out of a singular value decomposition.  With N = Sᵀ
that is q̇ = K⁻¹ [ċ; v] as of any other method, for K⁻¹ = [A⁺, S] then; but S, and with it what v means, may turn or
swap its columns from one evaluation to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..loops.elimination import Elimination, pivots
from ..loops.partition import Partition
from ..machine.program.scalars import Scalar
from .discrete import Discrete, partition_of
from .situation import Situation
from .system import System, constraints_of


def null_basis(A: np.ndarray, freedoms: int) -> np.ndarray:
    """S: of H = 1 − A⁺ A = U Δ Vᵀ the first columns of U (Khan 2002, section 4.2, steps i to iii)."""
    H = np.eye(A.shape[1]) - np.linalg.pinv(A) @ A
    return np.linalg.svd(H)[0][:, :freedoms]


def taken(system: System, discrete: Discrete, at: Sequence[Scalar]) -> Discrete:
    """The discrete state with N = Sᵀ of this very position in its partition."""
    part, q = partition_of(discrete), np.array(at, dtype=float)
    A = np.concatenate([_jacobian(system, q)[list(part.rows)], np.eye(system.robot.nv)[list(part.given)]])
    if not np.isfinite(A).all():
        raise OverflowError
    N = null_basis(A, len(part.N)).T
    order = pivots(np.concatenate([A, N]))
    return replace(discrete, partition=replace(part, N=tuple(tuple(row) for row in N.tolist()), order=order))


def slots(system: System, part: Partition, qd: Sequence[Scalar]) -> list[Scalar]:
    """What stands in the state's places of speeds: v = N q̇ in the first of those that aren't given, or its rates."""
    v = iter((part.basis(system.robot.nv) @ np.array(qd, dtype=float)).tolist())
    return [qd[k] if k in part.given else next(v, 0.0) for k in system.cv]


def unfolded(system: System, discrete: Discrete, now: Situation, y: Sequence[Scalar]) -> list[Scalar]:
    """The state with the joints' speeds S v + η where `now` was read from one with v in it; what is given stays."""
    part, q = partition_of(discrete), np.array(now.q, dtype=float)
    v = [now.qd[k] for k in system.cv if k not in part.given][: len(part.N)]
    gaps = constraints_of(system).gaps(now.q)
    pull = system.method.pull(system.values)
    wanted = [now.rates.get(r, 0.0) - pull * (gaps[r] - now.values.get(r, 0.0)) for r in part.rows]
    K = Elimination(part.matrix(_jacobian(system, q)).tolist(), part.order)
    speeds = K.solve([*wanted, *(now.qd[k] for k in part.given), *v])
    found = list(y)
    found[len(system.cq) : system.measured] = [float(speeds[k]) for k in system.cv]
    return found


def _jacobian(system: System, q: np.ndarray) -> np.ndarray:
    return constraints_of(system).jacobian(q)[0]
