"""Motions from which numbers can be identified well: Fourier series within limits, with the largest determinant.

How well periodic motions tell numbers apart, and how that changes with their coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...api import inverse
from ...errors import InputError
from ...mechanics.mechanisms import base_parameters, regressor
from ...robot import Robot
from .columns import sought_identification_numbers
from .settings import ESTIMATED, DryFriction

RANDOM = 1000  # motions of which the best one is improved
BATCH = 20_000  # rows of the regressor at once
SEARCHED = 6  # instants in the shortest period, on which determinants are taken
GRID = 40  # instants in the shortest period, on which limits are kept
FINER = 10  # times as many, on which they are checked in the end
STEP = 1e-5  # of differences along the motion of one instant
RANGE = np.pi / 2  # about the initial position, where a joint has no limits; 0.1 m for joints that slide
SLACK = 0.999  # of the motion that efforts allow
HALVINGS = 40  # of the interval in which that is sought

Waves = tuple[np.ndarray, np.ndarray, np.ndarray]  # instants in rows, coefficients in columns; two derivatives


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


def waves(t: np.ndarray, time: float, harmonics: int) -> Waves:
    """Sines and cosines at some instants, in columns, with their first and second derivatives."""
    w = 2 * np.pi / time * np.arange(1, harmonics + 1)
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return np.hstack([s, c]), np.hstack([w * c, -w * s]), np.hstack([-(w**2) * s, -(w**2) * c])


class Search:
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
        self._waves = waves(np.arange(self.rows) * (time / self.rows), time, harmonics)
        self._fine = waves(np.arange(GRID * harmonics) * (time / (GRID * harmonics)), time, harmonics)
        own = [(joint.speeds[0], joint.effort) for joint in robot.moving if joint.effort.limited]
        self._bounded = [k for k, _ in own]
        self._lowest, self._highest = np.array([(one.low, one.high) for _, one in own]).reshape(-1, 2).T
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
        q, qd, qdd = (wave @ np.swapaxes(x, -1, -2) for wave in self._waves)
        Y = self._entries(*((part.reshape(-1, self.robot.nv)) for part in (q + self.centre, qd, qdd)))
        X: np.ndarray = Y.reshape(len(x), -1, len(self._columns))
        return X / self._size if weighted else X

    def _entries(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """The base columns of the regressor, (instants, joints, columns)."""
        result: np.ndarray = np.asarray(regressor(self.robot, q, qd, qdd))[..., self._columns]
        return result

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
        return self.within_efforts(self.scaled(x), waves(np.arange(count) * (self.time / count), *self._series))

    def within_efforts(self, x: np.ndarray, at: Waves) -> np.ndarray:
        """The coefficients, made smaller where actuators would need more than they have."""
        if not self._bounded:
            return x

        def fits(share: np.ndarray) -> np.ndarray:
            return np.asarray((self._beyond(share[:, None, None] * x, at) <= 0.0).all(axis=(-1, -2)))

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

    def _beyond(self, x: np.ndarray, at: Waves) -> np.ndarray:
        """How far the efforts of limited joints are beyond their limits, (motions, instants, joints)."""
        q, qd, qdd = (wave @ np.swapaxes(x, -1, -2) for wave in at)
        flat = ((part.reshape(-1, self.robot.nv)) for part in (self.centre + q, qd, qdd))
        tau = inverse(self.robot, *flat).reshape(q.shape)[..., self._bounded]
        result: np.ndarray = np.maximum(self._lowest - tau, tau - self._highest)
        return result

    # ---- the gradient

    def gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The logarithm of the determinant for some coefficients, and its derivatives along all of them.

        They come back from it: through the entries of the regressor, the motion, and what its size follows from.
        """
        y = self.scaled(x[None])[0]
        z = self.within_efforts(y[None], self._waves)[0]
        value, along = self._along_motion(z)
        along = self._through_efforts(y, z, along)
        return value, self._through_scale(x, y, along)

    def _along_motion(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """The same for the motion with these coefficients: d log det XᵀX = 2 tr((XᵀX)⁻¹ Xᵀ dX)."""
        motion = [self.centre + self._waves[0] @ z.T, *(wave @ z.T for wave in self._waves[1:])]
        X = self._entries(*motion) / self._size
        flat = X.reshape(-1, X.shape[-1])
        sign, value = np.linalg.slogdet(flat.T @ flat)
        if sign <= 0:
            return -np.inf, np.zeros(z.shape)
        weights = 2 * np.linalg.pinv(flat).T.reshape(X.shape) / self._size
        result = np.zeros(z.shape)
        for part, wave in enumerate(self._waves):
            for k in range(self.robot.nv):  # of the same instant only
                moved = np.zeros(self.robot.nv)
                moved[k] = STEP
                ahead, behind = (
                    self._entries(*(one + sign * moved if n == part else one for n, one in enumerate(motion)))
                    for sign in (1.0, -1.0)
                )
                result[k] += np.einsum("rkc,rkc->r", weights, ahead - behind) / (2 * STEP) @ wave
        return float(value), result

    def _through_efforts(self, y: np.ndarray, z: np.ndarray, along: np.ndarray) -> np.ndarray:
        """Derivatives along the coefficients before efforts made them smaller, from those after it.

        What limits the size is one effort at one instant, which stays the same when the motion changes with its size.
        """
        if not self._bounded:
            return along
        size = float(np.linalg.norm(z) / np.linalg.norm(y))
        if size > SLACK * (1.0 - STEP):
            return SLACK * along
        beyond = self._beyond((z / SLACK)[None], self._waves)[0]
        r, j = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
        waves = [wave[r] for wave in self._waves]

        def effort(moved: np.ndarray) -> np.ndarray:
            q, qd, qdd = (wave @ np.swapaxes(moved, -1, -2) for wave in waves)
            tau: np.ndarray = inverse(self.robot, self.centre + q, qd, qdd)[:, self._bounded[j]]
            return tau

        own, step = z / SLACK, STEP * np.eye(z.size).reshape(-1, *z.shape)
        J = (effort(own + step) - effort(own - step)).reshape(z.shape) / (2 * STEP)
        result: np.ndarray = size * (along - float((along * y).sum()) / float((J * y).sum()) * J)
        return result

    def _through_scale(self, x: np.ndarray, y: np.ndarray, along: np.ndarray) -> np.ndarray:
        """Derivatives along coefficients of any size, from those along the ones that keep to the limits."""
        result = np.empty(x.shape)
        for k, (own, scaled) in enumerate(zip(x, y)):
            share = float(np.linalg.norm(scaled) / np.linalg.norm(own))
            peaks = [wave[int(np.argmax(abs(wave @ own)))] for wave in self._fine[:2]]
            reached = [abs(peak @ scaled) / most for peak, most in zip(peaks, (self._reach[k], self._fastest[k]))]
            peak = peaks[int(np.argmax(reached))]  # which the size is measured by
            result[k] = share * (along[k] - float(along[k] @ own) / float(peak @ own) * peak)
        return result
