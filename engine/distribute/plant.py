"""A plant whose accelerations are computed by legs (Khan 2002, section 3.3): forward steps i to v an evaluation.

The integrator and the displacement analysis, which closes the loops again in every evaluation, are the central task's.
The thesis integrates at the nodes; here the step length is chosen from the errors of all, so the state is in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..closure.equations import Equations
from ..errors import InputError, NumericalError
from ..machine.scalars import Scalar
from ..recursion.kinematics import frames
from ..recursion.spatial import dot
from ..simulate.closed import ClosedPlant
from ..simulate.plant import Evaluation
from .conduct import Distributed
from .engines import Engine


class DistributedPlant(ClosedPlant):
    """Another plant's equations, its accelerations from the nodes of an engine."""

    def __init__(self, plant: ClosedPlant, engine: Engine, nodes: int | None = None):
        refuse(plant)
        self.__dict__.update(plant.__dict__)
        self.autonomous = False  # no compiled time loop: every evaluation asks the nodes
        smooth = replace(plant.robot, tree=replace(plant.robot.tree, bodies=plant.bodies))
        self.conductor = Distributed(smooth, engine, nodes)

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        if self.through:
            return super().derivative(t, y)
        self.evaluations += 1
        try:
            now = self._spread(self.signals(t, self.modes), y.tolist(), t)
        except (NumericalError, ZeroDivisionError, OverflowError):
            now = self._lost(self.signals(t, self.modes), y.tolist(), ())
        return np.array(self._rates(now), dtype=float)

    def many(self, signals: np.ndarray, states: np.ndarray, mode: tuple[int, ...]) -> dict[str, np.ndarray]:
        if mode[1] or self.wrenches:
            return super().many(signals, states, mode)
        now = self.partitions.index(self.partition)
        self._take(mode[0])
        columns = [np.ascontiguousarray(x) for x in signals.T], [np.ascontiguousarray(x) for x in states.T]
        try:
            found = self._spread(*columns, None)
        finally:
            self._take(now)
        return {name: _stacked(getattr(found, name), len(states)) for name in ("q", "qd", "qdd", "tau")}

    def _spread(self, signals: Sequence[Scalar], y: Sequence[Scalar], t: float | None) -> Evaluation:
        """An evaluation with one message for each step, of one state or of many."""
        equations = Equations(self.loops, self.partition, self.bodies)
        now = self.situation(signals, y)
        q = self._closed(equations, now.q, now.values)
        pushed = list(now.applied)
        if self.coulomb:
            K = equations.factors(equations.rows(q, self.loops.tied(q)))
            part = self.partition
            rates = K.solve([*([0.0] * len(part.rows)), *(dot(list(row), now.qd) for row in part.N)])
            for k, force in self.rubbed(rates).items():
                pushed[k] = pushed[k] - force
        count = next((len(x) for x in (*q, *now.qd) if isinstance(x, np.ndarray)), None)
        places, speeds, forces = (_stacked(x, count) for x in (q, now.qd, pushed))
        wrenches = self._on_links(t, places) if t is not None else None
        found = self.conductor.moved(places, speeds, forces, wrenches, self.partition.independent)
        qd, qdd = (x.tolist() if count is None else list(x.T) for x in found)
        return self.evaluation(now, q, qd, qdd, list(now.applied), 0.0, 1.0)

    def _on_links(self, t: float, q: np.ndarray) -> dict[str, np.ndarray] | None:
        """The scenario's wrenches: link → [n; f] at its origin, in its axes."""
        if not self.wrenches:
            return None
        placed = frames(self.robot, q)
        found: dict[str, np.ndarray] = {}
        for one in self.wrenches:
            n, f = np.split(np.array([float(component(t)) for component in one.components]), 2)
            if one.axes == "base":
                R = placed[one.link][:3, :3]
                n, f = R.T @ n, R.T @ f
            found[one.link] = found.get(one.link, 0.0) + np.concatenate([n + np.cross(np.array(one.at), f), f])
        return found


def refuse(plant: ClosedPlant) -> None:
    """No motions that are given: the nodes are asked for accelerations of all joints."""
    given = [motion.joint.name for motion in (*plant.prescribed, *plant.commanded)] + [d.name for d in plant.drives]
    if given:
        raise InputError(
            f"{plant.robot.name}: a distributed simulation can't have given motions",
            found=f"the motion of `{given[0]}`",
            allowed="force laws but `computed-torque`, no `drives`",
        )


def _stacked(values: Sequence[Scalar], count: int | None) -> np.ndarray:
    if count is None:
        return np.array([float(x) for x in values])
    found = np.empty((count, len(values)))
    for k, x in enumerate(values):
        found[:, k] = x
    return found
