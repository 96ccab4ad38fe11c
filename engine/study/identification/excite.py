"""Motions from which numbers can be identified well: Fourier series within limits, with the largest determinant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robot import Robot
from .determinant import Search, waves

RANDOM = 1000  # motions of which the best one is improved
BATCH = 20_000  # rows of the regressor at once


@dataclass(frozen=True, eq=False)
class Excitation:
    """A periodic motion of all joints, and how well it tells numbers apart."""

    robot: Robot
    time: float  # of a period
    centre: np.ndarray
    coefficients: np.ndarray  # (joints, 2 harmonics): of sines, then of cosines
    log_det: float
    best_random: float  # log det of the best of `RANDOM` motions at random
    condition: float

    def at(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, speeds and accelerations; rows are instants."""
        parts = [wave @ self.coefficients.T for wave in waves(t, self.time, self.coefficients.shape[1] // 2)]
        return self.centre + parts[0], parts[1], parts[2]


def excite(
    robot: Robot, time: float, speed: float, *, harmonics: int = 5, seed: int = 0, steps: int = 300
) -> Excitation:
    """The motion of so long a period whose regressor has the largest determinant that was reached.

    Positions keep to the joints' limits, speeds to theirs and to `speed` (rad/s, m/s), efforts to the actuators'
    limits. The search begins with the best of a thousand motions at random.
    """
    from scipy.optimize import minimize

    search = Search(robot, time, speed, harmonics)
    rng = np.random.default_rng(seed)
    shape = (robot.nv, 2 * harmonics)
    values, starts = [], rng.standard_normal((RANDOM, *shape))
    starts /= np.tile(np.arange(1, harmonics + 1), 2)
    for part in np.array_split(starts, max(1, RANDOM * search.rows // BATCH)):
        values.append(search.log_dets(part))
    flat = np.concatenate(values)
    first = int(np.argmax(flat))

    def slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, along = search.gradient(x.reshape(shape))
        return -value, -along.ravel()

    done = minimize(slope, starts[first].ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps})
    ends = np.array([starts[first], done.x.reshape(shape)])
    best = ends[int(np.argmax(search.log_dets(ends)))]
    chosen = search.finally_within(best[None])[0]
    X = search.columns(chosen[None])[0]
    s = np.linalg.svd(X / np.linalg.norm(X, axis=0), compute_uv=False)
    log_det = float(search.determinants(chosen[None])[0])
    return Excitation(robot, time, search.centre, chosen, log_det, float(flat[first]), float(s[0] / s[-1]))
