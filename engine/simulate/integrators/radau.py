"""Radau IIA of order 5 as data (Hairer, Wanner: Solving Ordinary Differential Equations II).

The stages are at zeros of a polynomial of Radau, the last at the end (sec. IV.5).  The error estimate is of order 3,
with the real eigenvalue of A⁻¹ (sec. IV.8); the steps are those of scipy's `Radau`, which has the
same constants.
"""

from __future__ import annotations

import math

import numpy as np

from ...machine.stepping import Collocation
from .runge_kutta import LEAST_FACTOR, MOST_FACTOR, SAFETY

ROOT = math.sqrt(6.0)
C = ((4 - ROOT) / 10, (4 + ROOT) / 10, 1.0)
A = (
    ((88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225),
    ((296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225),
    ((16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9),
)
ERROR_ORDER = 3  # by which scipy chooses the first step, too
ROUNDS, SLOW, WORTH = 6, 1e-3, 1.2  # of scipy's


def radau_eigenvector(eigenvalue: complex) -> tuple[complex, complex, complex]:
    """The eigenvector of A⁻¹ for this eigenvalue whose last component is 1."""
    own = 1 / eigenvalue
    (a, b, c), (d, e, f), _ = A
    determinant = (a - own) * (e - own) - b * d
    return (b * f - c * (e - own)) / determinant, (c * d - f * (a - own)) / determinant, 1.0


def _method() -> Collocation:
    third = 3 ** (1 / 3)
    real = 3 + third**2 - third
    pair = complex(3 + (third - third**2) / 2, (3 ** (5 / 6) + 3 ** (7 / 6)) / 2)
    single, double = radau_eigenvector(real), radau_eigenvector(pair)
    T = np.array([[x.real, z.real, z.imag] for x, z in zip(single, double)])
    weights = np.linalg.inv(np.array([[c ** (k + 1) for c in C] for k in range(3)]))  # through 0 and the stages
    return Collocation(
        C,
        tuple(map(tuple, T.tolist())),
        tuple(map(tuple, np.linalg.inv(T).tolist())),
        real,
        pair.conjugate(),
        ((-13 - 7 * ROOT) / 3, (-13 + 7 * ROOT) / 3, -1 / 3),
        tuple(map(tuple, weights.tolist())),
        -1 / (ERROR_ORDER + 1),
        SAFETY,
        LEAST_FACTOR,
        MOST_FACTOR,
        ROUNDS,
        SLOW,
        WORTH,
    )


RADAU = _method()
