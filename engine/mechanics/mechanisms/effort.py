"""Least effort: forces of least weighted norm within their limits, for more actuators than freedoms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import NumericalError
from ...robot import Effort
from ..closure.rank import constraint_null_space

FULFILLED = 1e-7  # relative
CANT = "the actuators can't make this motion within their limits (`effort.limits`)"


def least_loop_effort(
    A: np.ndarray, b: np.ndarray, efforts: Sequence[Effort], near: np.ndarray | float = 0.0
) -> np.ndarray:
    """The solution u of A u = b within the limits that has the smallest Σ weight (u − near)²."""
    weight = np.array([one.weight for one in efforts])
    low, high = (np.array(list(side)) - near for side in zip(*((one.low, one.high) for one in efforts)))
    wanted = b - A @ np.broadcast_to(near, weight.shape)
    u = _with_held(A, wanted, weight, {})
    slack = 1e-10 * (1.0 + abs(u).max(initial=0.0))
    _fulfilled(A, u, wanted)
    if (np.maximum(u - high, low - u) > slack).any():
        u = _limited(A, wanted, weight, u, low, high)
    return u + near


def loop_efforts_have_limits(efforts: Sequence[Effort]) -> bool:
    """Whether any of them has a limit."""
    return bool(np.isfinite([(one.low, one.high) for one in efforts]).any())


def loop_efforts_exceed_limits(u: np.ndarray, efforts: Sequence[Effort]) -> np.ndarray:
    """Whether any force in each row is beyond its limits."""
    low, high = (np.array(list(side)) for side in zip(*((one.low, one.high) for one in efforts)))
    slack = 1e-10 * (1.0 + abs(u).max(axis=1, initial=0.0))
    result: np.ndarray = (np.maximum(u - high, low - u) > slack[:, None]).any(axis=1)
    return result


def _limited(
    A: np.ndarray, b: np.ndarray, weight: np.ndarray, start: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """The solution of A u = b with least norm within the limits, where the least norm alone violates them.

    With x = √weight u and the null space of A in the columns of Z, x = x₀ + Z y, where x₀ has the least norm without
    limits: sought is the shortest y with G y ≥ h.  Lawson and Hanson, *Solving least squares problems* (1974),
    chapter 23: it follows from the residual of the non-negative least squares problem [Gᵀ; hᵀ] z ≈ [0; 1], and there
    is no solution if that residual is 0.
    """
    from scipy.optimize import nnls

    root = np.sqrt(weight)
    Z = constraint_null_space(A / root)
    tops, bottoms = np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))
    G = np.concatenate([-Z[tops], Z[bottoms]])
    h = np.concatenate([(root * (start - high))[tops], (root * (low - start))[bottoms]])
    size = max(h.max(initial=0.0), 1e-300)
    z, off = nnls(np.concatenate([G.T, h[None] / size]), np.eye(Z.shape[1] + 1)[-1])
    if off < 1e-7:
        raise NumericalError(CANT)
    # which limits are active is known now; forces there are set to the limits exactly
    limits = np.concatenate([high[tops], low[bottoms]])
    held = {int(k): float(x) for k, x, push in zip([*tops, *bottoms], limits, z) if push > 0.0}
    u = _with_held(A, b, weight, held)
    slack = 1e-8 * (1.0 + abs(u).max(initial=0.0))
    if (np.maximum(u - high, low - u) > slack).any():
        raise NumericalError(CANT)
    _fulfilled(A, u, b)
    result: np.ndarray = np.clip(u, low, high)
    return result


def _with_held(A: np.ndarray, b: np.ndarray, weight: np.ndarray, held: dict[int, float]) -> np.ndarray:
    """The solution of A u = b with least norm in which some forces are given."""
    u = np.zeros(A.shape[1])
    u[list(held)] = list(held.values())
    free = [k for k in range(A.shape[1]) if k not in held]
    root = 1.0 / np.sqrt(weight[free])
    u[free] = root * (np.linalg.pinv(A[:, free] * root, rcond=1e-12) @ (b - A @ u))
    return u


def _fulfilled(A: np.ndarray, u: np.ndarray, b: np.ndarray) -> None:
    if abs(A @ u - b).max(initial=0.0) > FULFILLED * (1.0 + abs(b).max(initial=0.0)):
        raise NumericalError(CANT)
