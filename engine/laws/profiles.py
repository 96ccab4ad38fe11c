"""Profiles from 0 to 1: s, ds/dx and d²s/dx² on 0 ≤ x ≤ 1."""

from __future__ import annotations

import numpy as np

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]

# coefficients of s = Σ c_k x^k with as many vanishing derivatives at both ends as the degree allows
_POLYNOMIALS = {
    3: (0.0, 0.0, 3.0, -2.0),
    5: (0.0, 0.0, 0.0, 10.0, -15.0, 6.0),
    7: (0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0),
}


def cycloid_profile(x: np.ndarray) -> Curve:
    """The cycloid of the overview paper, eq. 22, without acceleration at either end."""
    turn = 2 * np.pi * x
    return x - np.sin(turn) / (2 * np.pi), 1.0 - np.cos(turn), 2 * np.pi * np.sin(turn)


def polynomial_profile(x: np.ndarray, degree: int) -> Curve:
    """The polynomial of degree 3, 5 or 7; rate, acceleration and jerk vanish at the ends as far as it allows."""
    s = np.polynomial.Polynomial(_POLYNOMIALS[degree])
    return s(x), s.deriv(1)(x), s.deriv(2)(x)


def trapezoid_profile(x: np.ndarray, ramp: float) -> Curve:
    """A constant acceleration for the share `ramp` of the time, a constant rate, and a constant deceleration."""
    top = 1.0 / (1.0 - ramp)
    rising, falling = x < ramp, x > 1.0 - ramp
    left = 1.0 - x
    s = np.where(
        rising, top * x**2 / (2 * ramp), np.where(falling, 1.0 - top * left**2 / (2 * ramp), top * (x - ramp / 2))
    )
    rate = np.where(rising, top * x / ramp, np.where(falling, top * left / ramp, top))
    return s, rate, np.where(rising, top / ramp, np.where(falling, -top / ramp, 0.0))
