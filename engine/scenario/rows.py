"""The rows of a run, with the quantities behind its columns that are computed from them on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..errors import NumericalError
from ..machine.program import as_samples
from ..mechanics.closure import Closure
from ..mechanics.quantities import energy, frames, reactions
from ..mechanics.tree import Vector, rates_of_link_points, wrenches_moved_to_points
from ..robot import Robot

if TYPE_CHECKING:
    from ..mechanics.mechanisms import Forces

BASE = "base"  # the ground
Point = tuple[str, str]  # link, and the name of the point
Wrenches = Mapping[str, np.ndarray]  # link → [n; f] of each row, at its origin, in its axes

_ENERGIES = ("kinetic", "potential", "elastic")


@dataclass
class Rows:
    """The rows of a run, and quantities that several families need, computed once and on demand.

    The rows of many runs that are alike have one more axis in all arrays, the last one, and their energies are `known`.

    The rows of a failed run are kept up to its failure; quantities that can't be computed from them are NaN.
    """

    robot: Robot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    balance: np.ndarray  # the energy that came in from outside since the first row
    points: Sequence[Point]
    loops: Closure
    forces: Forces | None  # of actuators and ties, where there are loops
    cuts: Wrenches  # wrench of each cut's first link on the second at the cut point, base-frame axes
    loads: Callable[[], Wrenches | None]  # on links: the scenario's, and those of cuts, drives and actuators
    inner: Callable[[], Wrenches] = dict  # on links: those of cuts and drives
    turned: bool = False  # whether wrenches in joints and cuts have the axes of the links on which they act
    known: Mapping[str, np.ndarray] | None = None  # the energies that `_ENERGIES` names, if they are known already

    @cached_property
    def frames(self) -> Mapping[str, np.ndarray]:
        """The frames of the links."""
        return self._or_nan(lambda: frames(self.robot, self.q), dict.fromkeys(self._links, (4, 4)))

    @cached_property
    def reactions(self) -> Mapping[str, np.ndarray]:
        """The wrench at each joint, in base-frame axes."""
        loads = {name: np.asarray(six) for name, six in (self.loads() or {}).items()}
        known = np.isfinite(np.hstack([self.qdd, *loads.values()])).all(axis=1)
        qdd, *given = (np.where(known[:, None], x, 0.0) for x in (self.qdd, *loads.values()))
        none = {link.joint.name: (6,) for link in self.robot.links}
        wrenches = self._or_nan(lambda: reactions(self.robot, self.q, self.qd, qdd, dict(zip(loads, given))), none)
        for six in wrenches.values():
            six[~known] = np.nan
        return wrenches

    @cached_property
    def from_ground(self) -> np.ndarray:
        """The wrench [n; f] of the ground on the whole machine, about the base's origin in its axes.

        It passes through the joints on the base, and through cuts and drives: what those do between links cancels.
        """
        total = np.zeros((len(self.q), 6))
        for link in self.robot.links:
            if link.parent == BASE:
                six = self.reactions[link.joint.name]
                total += wrenches_moved_to_points(six[:, :3], six[:, 3:], self.frames[link.name][:, :3, 3])
        for name, six in self.inner().items():
            R, p = self.frames[name][:, :3, :3], self.frames[name][:, :3, 3]
            n, f = (np.einsum("nij,nj->ni", R, part) for part in (six[:, :3], six[:, 3:]))
            total += wrenches_moved_to_points(n, f, p)
        return total

    @cached_property
    def point_rates(self) -> Mapping[Point, tuple[np.ndarray, np.ndarray]]:
        """The velocity and the acceleration of each point."""
        places = [(link, self.robot.link(link).points[name]) for link, name in self.points]
        rates = rates_of_link_points(self.robot, list(self.q.T), list(self.qd.T), list(self.qdd.T), places)
        return {point: (self._stacked(v), self._stacked(a)) for point, (v, a) in zip(self.points, rates)}

    def _stacked(self, vector: Vector) -> np.ndarray:
        """A vector whose components are numbers or columns of rows, as one array."""
        return np.stack([np.broadcast_to(as_samples(x), len(self.q)) for x in vector], axis=1)

    @cached_property
    def energies(self) -> Mapping[str, np.ndarray]:
        """The parts of the energy, their sum, and the residual of the balance."""
        computed = self.known
        if computed is None:
            computed = self._or_nan(lambda: energy(self.robot, self.q, self.qd), dict.fromkeys(_ENERGIES, ()))
        parts = {key: np.asarray(x, dtype=float) for key, x in computed.items()}
        with np.errstate(all="ignore"):
            total = parts["kinetic"] + parts["potential"] + parts["elastic"]
            return {**parts, "total": total, "residual": total - total[0] - self.balance}

    @property
    def _links(self) -> list[str]:
        return [link.name for link in self.robot.links]

    def _or_nan(
        self, computed: Callable[[], dict[str, np.ndarray]], shapes: Mapping[str, tuple[int, ...]]
    ) -> dict[str, np.ndarray]:
        try:
            return computed()
        except NumericalError:
            return {name: np.full((len(self.q), *shape), np.nan) for name, shape in shapes.items()}


def scenario_wrench_sums(wrenches: Wrenches | None, more: Wrenches) -> dict[str, np.ndarray]:
    """The sums of two sets of wrenches on links."""
    summed = dict(wrenches or {})
    for link, six in more.items():
        summed[link] = summed[link] + six if link in summed else six
    return summed
