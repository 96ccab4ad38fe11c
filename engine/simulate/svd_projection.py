"""Closure methods whose null space is computed anew at every evaluation, independently of the one before.

They follow Yun and Sarkar (1998) and Khan (2002, section 2.3): the state holds v in place of the speeds, and
q̇ = S v + η with the columns S of the null space of A as a singular value decomposition returns them.  With N = Sᵀ
this is q̇ = K⁻¹ [ċ; v] as in all other methods, because K⁻¹ = [A⁺, S]; but the columns of S, and with them the meaning
of v, may turn or swap from one evaluation to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..machine.program import Scalar, as_floats
from ..mechanics.closure import Elimination, Partition, pivot_order_of_constraints
from .situation import Situation
from .systems.discrete import Discrete, discrete_partition
from .systems.system import System


def null_basis_at_state(A: np.ndarray, freedoms: int) -> np.ndarray:
    """The null space S of A, the first columns of U in H = 1 − A⁺ A = U Δ Vᵀ (Khan 2002, section 4.2, i to iii)."""
    H = np.eye(A.shape[1]) - np.linalg.pinv(A) @ A
    return np.linalg.svd(H)[0][:, :freedoms]


def discrete_state_with_null_space(system: System, discrete: Discrete, at: Sequence[Scalar]) -> Discrete:
    """The discrete state with N = Sᵀ at this position in its partition."""
    part, q = discrete_partition(discrete), np.array(at, dtype=float)
    A = np.concatenate([_jacobian(system, q)[list(part.rows)], np.eye(system.robot.nv)[list(part.given)]])
    if not np.isfinite(A).all():
        raise OverflowError
    N = null_basis_at_state(A, len(part.N)).T
    order = pivot_order_of_constraints(np.concatenate([A, N]))
    own = replace(part, N=tuple(tuple(row) for row in N.tolist()), order=order, sums=())
    return replace(discrete, partition=own)


def state_with_folded_speeds(system: System, part: Partition, qd: Sequence[Scalar]) -> list[Scalar]:
    """Values for the state's places of speeds, with v = N q̇ (or its rates) in the first places that aren't given."""
    v = iter((part.basis(system.robot.nv) @ np.array(qd, dtype=float)).tolist())
    return [qd[k] if k in part.given else next(v, 0.0) for k in system.state_speeds]


def state_with_unfolded_speeds(system: System, discrete: Discrete, now: Situation, y: Sequence[Scalar]) -> list[Scalar]:
    """The state with joint speeds S v + η in place of v; speeds that are given stay as they are."""
    part, q = discrete_partition(discrete), np.array(now.q, dtype=float)
    v = [now.qd[k] for k in system.state_speeds if k not in part.given][: len(part.N)]
    gaps = system.loops.gaps(now.q)
    pull = system.method.pull(system.values)
    wanted = [now.rates.get(r, 0.0) - pull * (gaps[r] - now.values.get(r, 0.0)) for r in part.rows]
    K = Elimination(part.matrix(_jacobian(system, q)).tolist(), part.order, part.sums)
    speeds = as_floats(K.solve([*wanted, *(now.qd[k] for k in part.given), *v]))
    state = list(y)
    state[len(system.state_coordinates) : system.measured] = [speeds[k] for k in system.state_speeds]
    return state


def _jacobian(system: System, q: np.ndarray) -> np.ndarray:
    return system.loops.jacobian(q)[0]
