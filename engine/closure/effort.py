"""More actuators than freedoms: the forces of least weighted norm, within their limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import NumericalError
from ..robot.model import Effort

MOST = 200


def least(A: np.ndarray, b: np.ndarray, efforts: Sequence[Effort]) -> np.ndarray:
    """U of A u = b with the smallest Σ weight u² between the limits (a dual active-set method)."""
    weight = np.array([one.weight for one in efforts])
    low, high = np.array([one.low for one in efforts]), np.array([one.high for one in efforts])
    held: dict[int, float] = {}  # actuator → the limit that it is at
    for _ in range(MOST):
        u, push = _with_held(A, b, weight, held)
        slack = 1e-10 * (1.0 + abs(u).max(initial=0.0))
        pulled = [k for k in held if (push[k] > slack if held[k] == low[k] else push[k] < -slack)]
        if pulled:  # a limit that holds it the wrong way
            del held[max(pulled, key=lambda k: abs(push[k]))]
            continue
        over = np.maximum(u - high, low - u)
        over[list(held)] = -np.inf
        worst = int(np.argmax(over))
        if over[worst] <= slack:
            if abs(A @ u - b).max(initial=0.0) > 1e-7 * (1.0 + abs(b).max(initial=0.0)):
                break
            return u
        held[worst] = float(high[worst] if u[worst] > high[worst] else low[worst])
    raise NumericalError("the actuators can't make this motion within their limits (`effort.limits`)")


def _with_held(A: np.ndarray, b: np.ndarray, weight: np.ndarray, held: dict[int, float]) -> tuple[np.ndarray, ...]:
    """The least norm where some forces are given, and how the objective would pull each of these."""
    u = np.zeros(A.shape[1])
    for k, x in held.items():
        u[k] = x
    free = [k for k in range(A.shape[1]) if k not in held]
    root = 1.0 / np.sqrt(weight[free])
    B = A[:, free] * root
    rest = b - A @ u
    u[free] = root * (np.linalg.pinv(B, rcond=1e-12) @ rest)
    prices = np.linalg.lstsq(A[:, free].T, (weight * u)[free], rcond=None)[0]
    return u, A.T @ prices - weight * u
