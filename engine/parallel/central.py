"""The steps of the central task between those of the nodes (Khan 2002, sections 3.1 to 3.3).

A step takes the results of earlier steps (`own`) and one message from each leg, in the order of the legs; it returns
one message for each leg.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..errors import NumericalError
from ..mechanics.mechanisms import least_loop_effort, singular_loop_message
from ..robot import Effort
from .node import UPPER, Message

Own = dict[str, Any]


def platform_twist(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Kinematics (ii): K t_P = Σ Φ p θ̇, K = Σ Φ (eq. 3.10)."""
    own["K"] = _total(_unpacked(one["Phi"]) for one in inboxes)
    return _to_all_legs(inboxes, twist=_solve(own, _total(one["phi"] for one in inboxes)))


def platform_twist_and_columns(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Kinematics (ii) where every node needs t_P = X θ̇ for all kept joints, X = [S p]^I, [S p]^II, … (eq. 3.39)."""
    own["K"] = _total(_unpacked(one["Phi"]) for one in inboxes)
    N = len(own["rates"])
    X = _solve(own, np.concatenate([one["columns"].reshape(N, 6, -1) for one in inboxes], axis=2))
    t = (X @ own["rates"][..., None])[..., 0]
    return _to_all_legs(inboxes, twist=t, X=X.reshape(N, -1))


def platform_twist_rate(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Kinematics (iv): K ṫ_P = Σ Φ (Σ p θ̈ + c), with one term from each leg (eq. 3.28)."""
    return _to_all_legs(inboxes, twist_rate=_solve(own, _total(one["bias"] for one in inboxes)))


def total_of_legs(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Inverse (ii): K⁻¹ Σ p̄ (eq. 3.40)."""
    return _to_all_legs(inboxes, sum=_solve(own, _total(one["p"] for one in inboxes)))


def least_effort_of_legs(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Inverse (ii) with more actuators than freedoms: the τ of least weighted norm with Jᵀ τ = Σ Jᵀ τ̃."""
    f = _total(one["f"] for one in inboxes)
    k = f.shape[1]
    J = np.concatenate([one["J"].reshape(len(f), -1, k) for one in inboxes], axis=1)
    limits: Sequence[Effort] = own["efforts"]
    tau = np.array([least_loop_effort(J[n].T, f[n], limits) for n in range(len(f))])
    ends = np.cumsum([one["J"].shape[1] // k for one in inboxes])
    return [{"tau": tau[:, end - one["J"].shape[1] // k : end]} for one, end in zip(inboxes, ends)]


def minimal_equations_of_legs(own: Own, inboxes: Sequence[Message]) -> list[Message]:
    """Forward (iv): the accelerations of the kept joints from the minimal equations (eq. 3.45)."""
    f = _total(one["f"] for one in inboxes)
    k = f.shape[1]
    I = np.zeros((len(f), k, k))
    rows, columns = np.triu_indices(k)
    I[:, rows, columns] = _total(one["I"] for one in inboxes)
    I[:, columns, rows] = I[:, rows, columns]
    return _to_all_legs(inboxes, accelerations=_solved(own, I, f[..., None])[..., 0])


def _total(terms: Iterable[np.ndarray]) -> np.ndarray:
    return reduce(np.add, terms)


def _to_all_legs(inboxes: Sequence[Message], **fields: np.ndarray) -> list[Message]:
    """One message for each leg, all with the same fields."""
    return [dict(fields) for _ in inboxes]


def _solve(own: Own, right: np.ndarray) -> np.ndarray:
    if right.ndim == 2:
        return _solved(own, own["K"], right[..., None])[..., 0]
    return _solved(own, own["K"], right)


def _solved(own: Own, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    try:
        x = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        raise NumericalError(singular_loop_message(own["robot"])) from None
    return x


def _unpacked(packed: np.ndarray) -> np.ndarray:
    Phi = np.empty((len(packed), 6, 6))
    Phi[:, UPPER[0], UPPER[1]] = packed
    Phi[:, UPPER[1], UPPER[0]] = packed
    return Phi
