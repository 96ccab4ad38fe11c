"""Khan's penalty model of the 3-RRR manipulator, in his own coordinates and equations; nothing of denoc is in it.

His nine coordinates are the absolute angles of the links of the legs I, II and III, and the platform's angle and mass
centre (thesis of 2002, section 2.1).  Springs k and dampers d = 2 √k hold the three pins between them (section 4.1).
Many cases are computed at once; the integrators are Simulink's with fixed steps, ode1 to ode5.
"""

import numpy as np

G = 9.81
LENGTHS, MASSES, INERTIAS, CENTRES = (0.4, 0.6), (3.0, 4.0), (0.04, 0.12), (0.2, 0.3)
PLATFORM, PLATFORM_INERTIA = 8.0, 0.0817
BASE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
PINS = 0.4 * np.array([[-0.5, -0.5 / np.sqrt(3)], [0.5, -0.5 / np.sqrt(3)], [0.0, 1 / np.sqrt(3)]])  # on the platform
DURATION = 3.0
TURNS = np.array([1, 1, 0.5]) / 6
STARTS = np.pi * np.array([1 / 3, 4 / 3, 11 / 6])

# Euler; Heun; Bogacki and Shampine; the classical one; Dormand and Prince's of fifth order
TABLEAUS = {
    "ode1": ([[]], [1]),
    "ode2": ([[], [1]], [1 / 2, 1 / 2]),
    "ode3": ([[], [1 / 2], [0, 3 / 4]], [2 / 9, 1 / 3, 4 / 9]),
    "ode4": ([[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
    "ode5": (
        [
            [],
            [1 / 5],
            [3 / 40, 9 / 40],
            [44 / 45, -56 / 15, 32 / 9],
            [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
            [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        ],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ),
}


def prescribed(t):
    """The driven angles θ₁ to θ₃ (section 4.0.2)."""
    s = 2 * np.pi * t / DURATION
    return STARTS + TURNS * (s - np.sin(s))


def along(a):
    return np.stack([np.cos(a), np.sin(a)], axis=-1)


def across(a):
    return np.stack([-np.sin(a), np.cos(a)], axis=-1)


def closed_start():
    """The coordinates at the start with all three pins closed, by Newton's method from the thesis' three digits."""
    q = np.array([STARTS[0], 0.182, STARTS[1], 2.087, STARTS[2], 4.784, 3.916, 0.728, 0.233])
    free = [1, 3, 5, 6, 7, 8]
    for _ in range(10):
        gap, A = constraints(q[None])
        q[free] -= np.linalg.solve(A[0][:, free], gap[0])
    return q


def constraints(q):
    """The six gaps c of eq. 2.3 and their Jacobian A, of many rows of coordinates."""
    gap, A = np.zeros((len(q), 6)), np.zeros((len(q), 6, 9))
    phi = q[:, 6]
    for i in range(3):
        xy, a, b = slice(2 * i, 2 * i + 2), q[:, 2 * i], q[:, 2 * i + 1]
        pin = PINS[i, 0] * along(phi) + PINS[i, 1] * across(phi)
        gap[:, xy] = BASE[i] + LENGTHS[0] * along(a) + LENGTHS[1] * along(b) - q[:, 7:] - pin
        A[:, xy, 2 * i], A[:, xy, 2 * i + 1] = LENGTHS[0] * across(a), LENGTHS[1] * across(b)
        A[:, xy, 6] = -(PINS[i, 0] * across(phi) - PINS[i, 1] * along(phi))
        A[:, xy, 7:] = -np.eye(2)
    return gap, A


def accelerations(q, v, tau, k):
    """Eqs. 2.9 and 2.10 with the last entry of eq. 2.1's inertia matrix and the sense of gravity mended."""
    M, f = np.zeros((len(q), 9, 9)), np.zeros((len(q), 9))
    coupling = MASSES[1] * LENGTHS[0] * CENTRES[1]
    for i in range(3):
        m, n = 2 * i, 2 * i + 1
        a, b = q[:, m], q[:, n]
        M[:, m, m] = INERTIAS[0] + MASSES[0] * CENTRES[0] ** 2 + MASSES[1] * LENGTHS[0] ** 2
        M[:, n, n] = INERTIAS[1] + MASSES[1] * CENTRES[1] ** 2
        M[:, m, n] = M[:, n, m] = coupling * np.cos(b - a)
        weight = (MASSES[0] * CENTRES[0] + MASSES[1] * LENGTHS[0]) * G * np.cos(a)
        f[:, m] = coupling * np.sin(b - a) * v[:, n] ** 2 - weight + tau[i]
        f[:, n] = -coupling * np.sin(b - a) * v[:, m] ** 2 - MASSES[1] * CENTRES[1] * G * np.cos(b)
    M[:, 6, 6], M[:, 7, 7], M[:, 8, 8], f[:, 8] = PLATFORM_INERTIA, PLATFORM, PLATFORM, -PLATFORM * G
    gap, A = constraints(q)
    pull = k[:, None] * gap + 2 * np.sqrt(k)[:, None] * np.einsum("nij,nj->ni", A, v)
    f -= np.einsum("nij,ni->nj", A, pull)
    return np.linalg.solve(M, f[..., None])[..., 0]


def steps(name, stiffnesses, step, torques, end=DURATION):
    """After each step, its time and the coordinates for each stiffness: those of a model that has failed are NaN.

    `torques` is a function of time.  A model has failed where a coordinate is beyond 1e6 rad or m.
    """
    A, weights = TABLEAUS[name]
    k = np.array(stiffnesses, dtype=float)
    y = np.tile(np.concatenate([closed_start(), np.zeros(9)]), (len(k), 1))
    for count in range(round(end / step)):
        alive = np.isfinite(y).all(axis=1)
        if not alive.any():
            return
        start, stages = y[alive], []
        for row in A:
            at = start + step * sum((a * stage for a, stage in zip(row, stages)), np.zeros_like(start))
            tau = torques(min(count * step + step * sum(row), DURATION))
            stages.append(np.concatenate([at[:, 9:], accelerations(at[:, :9], at[:, 9:], tau, k[alive])], axis=1))
        y[alive] = start + step * sum(w * stage for w, stage in zip(weights, stages))
        y[~(abs(y[:, :9]) < 1e6).all(axis=1)] = np.nan
        yield (count + 1) * step, y[:, :9].copy()


def motion(name, stiffnesses, step, torques, end):
    """The coordinates for each stiffness at the end."""
    *_, (_, q) = steps(name, stiffnesses, step, torques, end)
    return q


def largest_errors(name, stiffnesses, step, torques, end=DURATION):
    """For each stiffness, the largest error of the driven angles over the run, or infinity where the model fails."""
    errors = np.zeros(len(stiffnesses))
    for t, q in steps(name, stiffnesses, step, torques, end):
        off = abs(q[:, [0, 2, 4]] - prescribed(t)).max(axis=1)
        errors = np.maximum(errors, np.where(np.isnan(off), np.inf, off))
    return errors
