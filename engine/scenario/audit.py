"""The verdict on a run's energy balance, by its residual relative to the energy exchanged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..robot import Body, Robot, Three

DOUBTFUL = 1e-3  # share of the energy exchanged from which on a residual is a warning
BROKEN = 0.1  # share from which on the run has failed
REST = 1e-6  # share of the energy of a fall by the robot's own length, and of its springs, that counts as exchanged


@dataclass(frozen=True)
class EnergyBalance:
    """The largest residual of the energy balance and what it is compared with, in J."""

    residual: float
    exchanged: float
    quadrature: float = 0.0  # the part of the residual that the quadrature of the power between the rows explains

    @property
    def share(self) -> float:
        """The part of the energy exchanged that the run itself leaves unexplained."""
        return float(residual_share_of_energy(max(self.residual - self.quadrature, 0.0), self.exchanged))

    @property
    def doubtful(self) -> bool:
        """Whether there is something to warn of."""
        return not self.share < DOUBTFUL

    @property
    def broken(self) -> bool:
        """Whether the run's numbers can't be trusted."""
        return not self.share < BROKEN

    def words(self) -> str:
        """A sentence on how well the balance holds."""
        if self.quadrature >= DOUBTFUL * self.exchanged and self.residual >= DOUBTFUL * self.exchanged:
            return (
                f"energy balance is off by {self.residual:.2g} J, of which {min(self.quadrature, self.residual):.2g} J "
                "come from the quadrature of the power between the rows; a shorter `step` under `time` is more exact"
            )
        if not self.doubtful:
            return f"energy balance holds to {self.residual:.2g} J"
        share = f"{100 * self.share:.2g} %" if self.share < 10 else f"{self.share:.2g} times"
        return f"energy balance is off by {self.residual:.2g} J, {share} of the energy exchanged"


def residual_share_of_energy(residual: float | np.ndarray, exchanged: float | np.ndarray) -> np.ndarray:
    """The residual's part of the energy exchanged; without a residual, 0 even of nothing."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(residual, 0.0), 0.0, np.divide(residual, exchanged))


def energy_balance(
    robot: Robot, energies: Mapping[str, np.ndarray], turnover: float, tau: np.ndarray, atol: float
) -> EnergyBalance | None:
    """The balance of a run's rows; None where it has no finite numbers.

    `turnover` is the larger of the work done on the robot and the energy that friction took.
    """
    residual, exchanged = energy_residual_amounts(robot.tree.bodies, robot.gravity, energies, turnover, tau, atol)
    return EnergyBalance(float(residual), float(exchanged)) if np.isfinite(residual) else None


def energy_residual_amounts(
    bodies: Sequence[Body],
    gravity: Three,
    energies: Mapping[str, np.ndarray],
    turnover: float | np.ndarray,
    tau: np.ndarray,
    atol: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The largest residual of the balance, NaN where a run has no finite numbers, and what it is compared with.

    A system that all but rests exchanges next to nothing; what its forces `tau` and its weight do along `atol` is never
    in doubt, unless that is more than along the robot's own length, nor is the energy of speeds of `atol`.  Many runs
    are judged at once if the last axis of all arrays, and of the bodies' numbers, is theirs.
    """
    with np.errstate(all="ignore"):
        kinetic, stored = energies["kinetic"], energies["potential"] + energies["elastic"]
        residual = abs(energies["residual"]).max(axis=0, initial=0.0)
        finite = np.isfinite(residual) & np.isfinite(kinetic).all(axis=0) & np.isfinite(stored).all(axis=0)
        swing = stored.max(axis=0) - stored.min(axis=0) if len(stored) else 0.0
        exchanged = np.maximum(np.maximum(kinetic.max(axis=0, initial=0.0), swing), turnover)
        mass = sum((body.m for body in bodies), 0.0)
        weight = mass * _size(gravity)
        known = np.isfinite(tau).all(axis=1, keepdims=True)
        force = weight + np.where(known, abs(tau), 0.0).sum(axis=1).max(axis=0, initial=0.0)
        springs = energies["elastic"].max(axis=0, initial=0.0)
        length = np.zeros(())  # the longest distance from a body's origin to the next one's, or to its mass centre
        for body in bodies:
            centre = _size(body.h) / np.where(body.m, body.m, 1.0)
            length = np.maximum(length, np.maximum(_size(body.origin), centre))
        reach = np.minimum(atol / DOUBTFUL, np.where(length, length, math.inf))
        slow = mass * (length * atol) ** 2  # what moves no faster than the tolerance has no more energy
        floor = np.maximum(np.maximum(REST * (weight * length + springs), force * reach), slow)
        compared = np.maximum(exchanged, floor)  # of numbers near the largest there are it may be beyond them
        return np.where(finite & np.isfinite(compared), residual, np.nan), compared


def _size(vector: Three) -> np.ndarray:
    size: np.ndarray = np.sqrt(sum(x * x for x in vector))
    return size
