"""The verdict on a run's energy balance, by its residual relative to the energy exchanged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..robot.model import Robot

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
        own = max(self.residual - self.quadrature, 0.0)
        return own / self.exchanged if self.exchanged else 0.0 if not own else math.inf

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
        if self.quadrature and self.residual >= DOUBTFUL * self.exchanged:
            return (
                f"energy balance is off by {self.residual:.2g} J, of which {min(self.quadrature, self.residual):.2g} J "
                "come from the quadrature of the power between the rows; a shorter `step` under `time` is more exact"
            )
        if not self.doubtful:
            return f"energy balance holds to {self.residual:.2g} J"
        return f"energy balance is off by {self.residual:.2g} J, {_percent(self.share)} of the energy exchanged"


def energy_balance(
    robot: Robot, energies: Mapping[str, np.ndarray], turnover: float, tau: np.ndarray, atol: float
) -> EnergyBalance | None:
    """The balance of a run's rows; None where it has no finite numbers.

    `turnover` is the larger of the work done on the robot and the energy that friction took.  A system that all but
    rests exchanges next to nothing; what its forces `tau` and its weight do along `atol` is never in doubt.
    """
    kinetic, stored = energies["kinetic"], energies["potential"] + energies["elastic"]
    residual = abs(energies["residual"]).max(initial=0.0)
    if not (np.isfinite(residual) and np.isfinite(kinetic).all() and np.isfinite(stored).all()):
        return None
    exchanged = max(float(kinetic.max(initial=0.0)), float(np.ptp(stored)) if len(stored) else 0.0, turnover)
    springs = float(energies["elastic"].max(initial=0.0))
    force = _weight(robot) + float(abs(tau[np.isfinite(tau).all(axis=1)]).sum(axis=1).max(initial=0.0))
    floor = max(REST * (_fall(robot) + springs), atol * force / DOUBTFUL)
    return EnergyBalance(float(residual), max(exchanged, floor))


def _fall(robot: Robot) -> float:
    """The energy of a fall by the robot's own length."""
    bodies = robot.tree.bodies
    length = max((max(math.hypot(*body.origin), math.hypot(*body.h) / (body.m or 1.0)) for body in bodies), default=0.0)
    return _weight(robot) * length


def _weight(robot: Robot) -> float:
    return sum(body.m for body in robot.tree.bodies) * math.hypot(*robot.gravity)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 10 else f"{share:.2g} times"
