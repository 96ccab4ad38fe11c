"""Motions from which numbers can be identified well: Fourier series within limits, with the largest determinant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...api import inverse
from ...errors import InputError
from ...loops.base import base_parameters
from ...loops.regressor import regressor
from ...robot.model import Robot
from .columns import sought_identification_numbers
from .settings import ESTIMATED, DryFriction

RANDOM = 1000  # motions of which the best one is improved
SEARCHED = 6  # instants in the shortest period, on which determinants are taken
GRID = 40  # instants in the shortest period, on which limits are kept
FINER = 10  # times as many, on which they are checked in the end
BATCH = 20_000  # rows of the regressor at once
STEP = 1e-5  # of differences for the gradient
RANGE = np.pi / 2  # about the initial position, where a joint has no limits; 0.1 m for joints that slide
SLACK = 0.999  # of the motion that efforts allow
HALVINGS = 40  # of the interval in which that is sought


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
        parts = [wave @ self.coefficients.T for wave in excitation_waves(t, self.time, self.coefficients.shape[1] // 2)]
        return self.centre + parts[0], parts[1], parts[2]


def excitation_waves(t: np.ndarray, time: float, harmonics: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sines and cosines at some instants, in columns, with their first and second derivatives."""
    w = 2 * np.pi / time * np.arange(1, harmonics + 1)
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return np.hstack([s, c]), np.hstack([w * c, -w * s]), np.hstack([-(w**2) * s, -(w**2) * c])


def excite(
    robot: Robot, time: float, speed: float, *, harmonics: int = 5, seed: int = 0, steps: int = 30
) -> Excitation:
    """The motion of so long a period whose regressor has the largest determinant that was reached.

    Positions keep to the joints' limits, speeds to theirs and to `speed` (rad/s, m/s), efforts to the actuators'
    limits. The search begins with the best of a thousand motions at random.
    """
    from scipy.optimize import minimize

    search = _Search(robot, time, speed, harmonics)
    rng = np.random.default_rng(seed)
    shape = (robot.nv, 2 * harmonics)
    values, starts = [], rng.standard_normal((RANDOM, *shape))
    starts /= np.tile(np.arange(1, harmonics + 1), 2)
    for part in np.array_split(starts, max(1, RANDOM * search.rows // BATCH)):
        values.append(search.log_dets(part))
    flat = np.concatenate(values)
    first = int(np.argmax(flat))

    def slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        moved = x + np.vstack([np.zeros(x.size), STEP * np.eye(x.size), -STEP * np.eye(x.size)])
        found = search.log_dets(moved.reshape(-1, *shape))
        return -float(found[0]), -(found[1 : x.size + 1] - found[x.size + 1 :]) / (2 * STEP)

    done = minimize(slope, starts[first].ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps})
    ends = np.array([starts[first], done.x.reshape(shape)])
    best = ends[int(np.argmax(search.log_dets(ends)))]
    chosen = search.finally_within(best[None])[0]
    X = search.columns(chosen[None])[0]
    s = np.linalg.svd(X / np.linalg.norm(X, axis=0), compute_uv=False)
    log_det = float(search.determinants(chosen[None])[0])
    return Excitation(robot, time, search.centre, chosen, log_det, float(flat[first]), float(s[0] / s[-1]))


class _Search:
    """The limits and the determinants of motions with given coefficients."""

    def __init__(self, robot: Robot, time: float, speed: float, harmonics: int):
        if robot.closed or robot.nq != robot.nv:
            raise InputError(
                f"no motion is sought for `{robot.name}`", allowed="open trees of joints with one coordinate each"
            )
        self.robot, self.time, self.harmonics = robot, time, harmonics
        self._fastest = np.minimum(speed, [joint.largest_speed for joint in robot.moving])
        self._series = time, harmonics
        self.rows = SEARCHED * harmonics
        names = sought_identification_numbers(robot, list(ESTIMATED), DryFriction()).numbers
        self._columns = list(base_parameters(robot, names).columns)
        self._waves = excitation_waves(np.arange(self.rows) * (time / self.rows), time, harmonics)
        self._fine = excitation_waves(np.arange(GRID * harmonics) * (time / (GRID * harmonics)), time, harmonics)
        low, high = np.array([self._limits(k) for k in range(robot.nv)]).T
        self.centre, self._reach = (low + high) / 2, (high - low) / 2
        rng = np.random.default_rng(0)
        X = self.columns(self.scaled(rng.standard_normal((8, robot.nv, 2 * harmonics))), weighted=False)
        shown = np.sqrt((X**2).mean(axis=(0, 1)))
        self._size = np.where(shown > 0.0, shown, 1.0)

    def _limits(self, k: int) -> tuple[float, float]:
        joint = next(joint for joint in self.robot.moving if k in joint.speeds)
        if joint.limits is not None:
            return joint.limits
        reach, q = (RANGE if joint.type.kinds[0] == "angle" else 0.1), self.robot.q0[joint.coordinates[0]]
        return q - reach, q + reach

    def scaled(self, x: np.ndarray) -> np.ndarray:
        """The coefficients with each joint's motion as large as limits of position and speed let it be.

        Between the instants of the grid, a trigonometric polynomial exceeds its largest value there by a factor of
        at most 1/cos(π harmonics / instants) (Ehlich and Zeller 1964).
        """
        beyond = 1.0 / np.cos(np.pi * self.harmonics / len(self._fine[0]))
        q, qd = (abs(wave @ np.swapaxes(x, -1, -2)).max(axis=-2) * beyond for wave in self._fine[:2])
        share = np.minimum(self._reach / np.maximum(q, 1e-300), self._fastest / np.maximum(qd, 1e-300))
        result: np.ndarray = x * share[..., None]
        return result

    def columns(self, x: np.ndarray, weighted: bool = True) -> np.ndarray:
        """The base columns of the regressor along motions, (motions, rows, columns)."""
        q, qd, qdd = (np.swapaxes(wave @ np.swapaxes(x, -1, -2), 0, 0) for wave in self._waves)
        Y = np.array(regressor(self.robot, *((part.reshape(-1, self.robot.nv)) for part in (q + self.centre, qd, qdd))))
        X: np.ndarray = Y[..., self._columns].reshape(len(x), -1, len(self._columns))
        return X / self._size if weighted else X

    def determinants(self, x: np.ndarray) -> np.ndarray:
        """The logarithms of det XᵀX, with columns in terms of their usual sizes; −∞ where numbers stay unknown."""
        X = self.columns(x)
        sign, value = np.linalg.slogdet(np.swapaxes(X, -1, -2) @ X)
        result: np.ndarray = np.where(sign > 0, value, -np.inf)
        return result

    def log_dets(self, x: np.ndarray) -> np.ndarray:
        """The same for coefficients that are first scaled to the limits."""
        return self.determinants(self.within_efforts(self.scaled(x), self._waves))

    def finally_within(self, x: np.ndarray) -> np.ndarray:
        """The coefficients scaled to the limits, with efforts on a grid that is much finer than that of the search."""
        count = FINER * GRID * self.harmonics
        return self.within_efforts(
            self.scaled(x), excitation_waves(np.arange(count) * (self.time / count), *self._series)
        )

    def within_efforts(self, x: np.ndarray, at: tuple[np.ndarray, ...]) -> np.ndarray:
        """The coefficients, made smaller where actuators would need more than they have."""
        own = [(joint.speeds[0], joint.effort) for joint in self.robot.moving if joint.effort.limited]
        if not own:
            return x
        places = [k for k, _ in own]
        bounds = np.array([(one.low, one.high) for _, one in own])

        def fits(share: np.ndarray) -> np.ndarray:
            q, qd, qdd = (wave @ np.swapaxes(share[:, None, None] * x, -1, -2) for wave in at)
            flat = ((part.reshape(-1, self.robot.nv)) for part in (self.centre + q, qd, qdd))
            tau = inverse(self.robot, *flat).reshape(q.shape)[..., places]
            inside = (tau >= bounds[:, 0]) & (tau <= bounds[:, 1])
            return np.asarray(inside.all(axis=(-1, -2)))

        low, high = np.zeros(len(x)), np.ones(len(x))
        low = np.where(fits(high), 1.0, low)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            good = fits(middle)
            low, high = np.where(good, middle, low), np.where(good, high, middle)
        if not (low > 0.0).all():
            raise InputError("the actuators can't hold the robot there", allowed="wider `effort: {limits: …}`")
        result: np.ndarray = SLACK * low[:, None, None] * x
        return result
