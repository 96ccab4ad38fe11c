"""Numerical differentiation formulas of the orders 1 to 5 as data.

They are those of Shampine and Reichelt, The MATLAB ODE Suite (SIAM J. Sci. Comput. 18 (1997) 1–22), sec. 2: backward
differentiation with a share κ of the next difference, which makes the error smaller.  The steps are those of
scipy's `BDF`, which has the same constants.
"""

from __future__ import annotations

import numpy as np

from ...machine.stepping import BackwardDifferences
from .runge_kutta import LEAST_FACTOR, MOST_FACTOR, SAFETY

KAPPA = (0.0, -0.1850, -1 / 9, -0.0823, -0.0415, 0.0)  # by order
MOST_ORDER, ROUNDS = 5, 4
FIRST_ORDER = 1


def _dense_output() -> tuple[tuple[float, ...], ...]:
    """The weights of h⁻¹ ∇^j for the powers of the place x within the step, from the first power on.

    The polynomial is y_new + Σ_j ∇^j (s (s + 1) … (s + j − 1)) / j! with s = x − 1, and y at x = 0.
    """
    rows, product = [], np.polynomial.Polynomial([1.0])
    for j in range(1, MOST_ORDER + 1):
        product = product * np.polynomial.Polynomial([(j - 2) / j, 1 / j])
        rows.append(tuple(np.pad(product.coef[1:], (0, MOST_ORDER - j)).tolist()))
    return tuple(rows)


def _method() -> BackwardDifferences:
    gamma = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, MOST_ORDER + 1))])
    alpha = (1 - np.array(KAPPA)) * gamma
    errors = np.array(KAPPA) * gamma + 1 / np.arange(1, MOST_ORDER + 2)
    return BackwardDifferences(
        tuple(gamma.tolist()),
        tuple(alpha.tolist()),
        tuple(map(float, errors)),
        _dense_output(),
        SAFETY,
        LEAST_FACTOR,
        MOST_FACTOR,
        ROUNDS,
    )


NDF = _method()
