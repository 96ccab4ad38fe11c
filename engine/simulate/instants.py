"""Runs at an instant each, as events see them: one run alone, or many side by side. A run is a row in all arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..machine.program import Scalar, as_samples
from ..mechanics.tree import inertia_matrix
from ..robot import Body
from .contacts import Contacts, ModeLimits
from .response import Response, Scaled, times
from .situation import planned_feedforward_forces
from .systems.signals import wrench_signals_at
from .systems.system import System


class Moved(NamedTuple):
    """Accelerations, and the sizes of those forces along speeds that don't show in them."""

    qdd: np.ndarray
    acting: np.ndarray


class Instants(ABC):
    """Runs of systems that differ in numbers only, at an instant each."""

    system: System
    limits: ModeLimits
    t: np.ndarray
    scale: np.ndarray  # of speeds

    @property
    @abstractmethod
    def bodies(self) -> tuple[Body, ...]:
        """The bodies, with arrays for numbers that differ."""

    @abstractmethod
    def some(self, these: np.ndarray) -> Instants:
        """Some of the runs."""

    @abstractmethod
    def motion(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All coordinates and speeds of the robots."""

    @abstractmethod
    def demanded(self, y: np.ndarray) -> np.ndarray:
        """The forces by the laws of bounded actuators, whatever their limits."""

    @abstractmethod
    def moved(self, y: np.ndarray, contacts: Contacts) -> Moved:
        """How the systems move with these contacts, if no joint is held."""

    @abstractmethod
    def accelerations(self, y: np.ndarray) -> np.ndarray:
        """All accelerations in the present modes."""

    @abstractmethod
    def constraints(self, q: np.ndarray) -> Scaled:
        """The scaled constraints at these coordinates."""

    @abstractmethod
    def closed(self, q: np.ndarray, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates nearby with closed loops, where these speeds keep theirs, and the gaps that are left."""

    @cached_property
    def columns(self) -> list[int]:
        """The speeds that may be held, which are the columns of contacts."""
        return list(self.system.switching)

    @cached_property
    def rough(self) -> np.ndarray:
        """Whether each of these has dry friction."""
        return np.array([x > 0.0 for x in self.system.switching.values()], dtype=bool)

    def response(self, q: np.ndarray, fixed: Iterable[int]) -> Response:
        """The responses at these coordinates, with some speeds fixed."""
        n = self.system.robot.nv
        M = np.zeros((len(q), n, n))
        matrix: list[list[Scalar]] = inertia_matrix(self.bodies, _scalars(q), n)
        for i, row in enumerate(matrix):
            for j, x in enumerate(row):
                M[:, i, j] = as_samples(x)
        return Response(M, self.constraints(q), self.scale, list(fixed))

    def sizes(self, moved: Moved, q: np.ndarray, qd: np.ndarray, response: Response) -> np.ndarray:
        """The sizes of what meets in each acceleration: forces, gravity, terms of speed, constraints."""
        wrenches = iter(wrench_signals_at(self.system, *_scalars(self.t[:, None])))
        none = [0.0] * qd.shape[1]
        bias = planned_feedforward_forces(self.system, _scalars(q), _scalars(qd), none, wrenches, {})
        acting = moved.acting + abs(times(response.M, moved.qdd))
        for k, x in enumerate(bias):
            acting[:, k] += abs(as_samples(x))
        return response.sizes(moved.qdd, acting)


def _scalars(x: np.ndarray) -> list[Scalar]:
    """The columns of an array, which are numbers where there is one run."""
    return x[0].tolist() if len(x) == 1 else list(x.T)
