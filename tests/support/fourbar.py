"""The library's four-bar by trigonometry: its angles, and the inertia and weight of its one freedom."""

import numpy as np

# the library's four-bar: lengths, masses of uniform rods, gravity along -Y
CRANK, COUPLER, ROCKER, BASE = 0.1, 0.3, 0.25, 0.28
MASSES, GRAVITY = (1.0, 3.0, 2.5), 9.81


def angles(crank, reach=CRANK):
    """Absolute angles of coupler and rocker, from the triangle of the diagonal; the coupler above the line of centres.

    `reach` is how far along the crank the coupler hangs.
    """
    x, y = reach * np.cos(crank) - BASE, reach * np.sin(crank)
    d = np.hypot(x, y)
    corner = np.arccos((ROCKER**2 + d**2 - COUPLER**2) / (2 * ROCKER * d))
    rocker = np.pi + np.arctan2(-y, -x) - corner
    bx, by = BASE + ROCKER * np.cos(rocker), ROCKER * np.sin(rocker)
    return np.arctan2(by - reach * np.sin(crank), bx - reach * np.cos(crank)), rocker


def inertia_and_weight(crank, h=1e-5, reach=CRANK):
    """Of the one freedom: T = M ȧ²/2, and V."""

    def places(a):
        coupler, rocker = angles(a, reach)
        return np.array(
            [
                [CRANK / 2 * np.cos(a), CRANK / 2 * np.sin(a), a],
                [
                    reach * np.cos(a) + COUPLER / 2 * np.cos(coupler),
                    reach * np.sin(a) + COUPLER / 2 * np.sin(coupler),
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
