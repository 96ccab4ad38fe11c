"""The library's four-bar by trigonometry: its angles, and the inertia and weight of its one freedom."""

import numpy as np

# the library's four-bar: lengths, masses of uniform rods, gravity along -Y
CRANK, COUPLER, ROCKER, BASE = 0.1, 0.3, 0.25, 0.28
MASSES, GRAVITY = (1.0, 3.0, 2.5), 9.81


def angles(crank):
    """Absolute angles of coupler and rocker, from the triangle of the diagonal; the coupler above the line of centres."""
    x, y = CRANK * np.cos(crank) - BASE, CRANK * np.sin(crank)
    d = np.hypot(x, y)
    corner = np.arccos((ROCKER**2 + d**2 - COUPLER**2) / (2 * ROCKER * d))
    rocker = np.pi + np.arctan2(-y, -x) - corner
    bx, by = BASE + ROCKER * np.cos(rocker), ROCKER * np.sin(rocker)
    return np.arctan2(by - CRANK * np.sin(crank), bx - CRANK * np.cos(crank)), rocker


def inertia_and_weight(crank, h=1e-5):
    """Of the one freedom: T = M ȧ²/2, and V."""

    def places(a):
        coupler, rocker = angles(a)
        return np.array(
            [
                [CRANK / 2 * np.cos(a), CRANK / 2 * np.sin(a), a],
                [
                    CRANK * np.cos(a) + COUPLER / 2 * np.cos(coupler),
                    CRANK * np.sin(a) + COUPLER / 2 * np.sin(coupler),
                    coupler,
                ],
                [BASE + ROCKER / 2 * np.cos(rocker), ROCKER / 2 * np.sin(rocker), rocker],
            ]
        )

    # a step of the fourth order, so that differences are good to 1e-11
    rates = (8 * (places(crank + h) - places(crank - h)) - places(crank + 2 * h) + places(crank - 2 * h)) / (12 * h)
    M = 0.0
    for m, length, (x, y, turn) in zip(MASSES, (CRANK, COUPLER, ROCKER), rates):
        M = M + m * (x**2 + y**2) + m * length**2 / 12 * turn**2
    V = sum(m * GRAVITY * y for m, (_, y, _) in zip(MASSES, places(crank)))
    return M, V, rates
