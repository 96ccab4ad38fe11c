"""How far two results are apart."""

import numpy as np


def off(found, right, scale=None):
    """Largest difference, relative to the largest entry of what is right (or to `scale`); infinite where shapes differ."""
    found, right = np.asarray(found, dtype=float), np.asarray(right, dtype=float)
    if found.shape != right.shape or not np.isfinite(found).all():
        return np.inf
    scale = np.abs(right).max(initial=0.0) if scale is None else float(scale)
    difference = np.abs(found - right).max(initial=0.0)
    return float(difference / scale) if scale else float(difference)


def off_accelerations(inertia):
    """What accelerations may be off, relatively: they are as good as the inertia matrix is conditioned."""
    return max(1e-10, 1e-14 * float(np.linalg.cond(inertia)))


_STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def slope(curve, step):
    """Derivative at 0 of a curve of an array of instants (one row an instant): central differences of order 8."""
    instants = np.array([sign * k * step for k, _ in _STENCIL for sign in (1, -1)])
    values = np.asarray(curve(instants))
    return sum(c * (values[2 * j] - values[2 * j + 1]) for j, (_, c) in enumerate(_STENCIL)) / step
