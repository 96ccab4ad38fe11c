"""The rows of a stored result as equations of motion: what moves, what acts, and what friction and stops may add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import InputError
from ...machine.program import as_samples
from ...mechanics.quantities import LARGE, frames
from ...mechanics.tree import passive_force, wrenches_moved_to_points, wrenches_on_link
from ...record import WRENCH
from ...robot import Robot
from ...scenario import Plan
from ...simulate.systems import wrenches_at_instants
from .peer import PeerModel

Table = Mapping[str, np.ndarray]
SLOW = 1e-6  # of a column's largest speed: a joint that is slower may stick
CLOSE = 1e-9  # of the way between two stops: a joint that is closer may be held by one
ROUNDS = 30  # in which multipliers and dry friction, where both are unknown, are found in turn


@dataclass(frozen=True)
class RowMotion:
    """Motion and forces of the rows, with the external wrenches [n; f] by link, at its origin in its axes.

    The forces of a joint that sticks or rests at a stop are not in the columns, but between `low` and `high`. Those of
    couplings and of the ties in Hooke's joints are not, either: `ties` are their rows of the constraints, whose
    multipliers may have any value.
    """

    robot: Robot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray  # of joints, as the columns have them
    forces: np.ndarray  # of actuators and drives along the speeds, less springs and damping
    low: np.ndarray
    high: np.ndarray
    ties: np.ndarray  # rows × ties × speeds
    wrenches: dict[str, np.ndarray]

    def residual(self, engine: PeerModel) -> np.ndarray:
        """The forces along the speeds that are missing for the motion; 0 where the equations of motion hold."""
        return self._needed(engine)[1]

    def _needed(self, engine: PeerModel) -> tuple[np.ndarray, np.ndarray]:
        """The forces of friction, stops and ties that the engine finds, and what is missing beside them."""
        needed = engine.inverse(self.q, self.qd, self.qdd, self.wrenches) - self.forces
        J = self.ties.swapaxes(1, 2)
        inverse = np.linalg.pinv(J) if J.shape[2] else J.swapaxes(1, 2)
        tied = np.zeros_like(needed)
        for _ in range(ROUNDS if J.shape[2] else 1):
            rubbed = np.clip(needed - tied, self.low, self.high)
            tied = np.einsum("nkm,nml,nl->nk", J, inverse, needed - rubbed)
        rubbed = np.clip(needed - tied, self.low, self.high)
        return rubbed + tied, needed - tied - rubbed

    def accelerations(self, engine: PeerModel) -> np.ndarray:
        """The accelerations under the forces of the rows, with those of friction, stops and ties that fit best."""
        missing, _ = self._needed(engine)
        return engine.forward(self.q, self.qd, self.forces + missing, self.wrenches)

    def sizes(self, engine: PeerModel) -> np.ndarray:
        """The size of each speed's forces, whose terms may cancel: of statics, speeds, accelerations and actuators."""
        still = np.zeros_like(self.qd)
        held = engine.inverse(self.q, still, still, self.wrenches)
        fast = engine.inverse(self.q, self.qd, still, self.wrenches) - held
        pushed = engine.inverse(self.q, still, self.qdd, self.wrenches) - held
        terms = (held, fast, pushed, self.forces)
        sizes: np.ndarray = np.max([abs(x).max(axis=0, initial=0.0) for x in terms], axis=0)
        return sizes


@dataclass(frozen=True)
class StoredRows:
    """A stored table that is read as the rows of a run."""

    plan: Plan
    t: np.ndarray
    table: Table
    integrated: bool

    def rows(self) -> RowMotion:
        """The rows whose numbers are all finite; an error says which columns are missing."""
        robot, kept = self.plan.robot, self.sound
        q, qd, qdd = self.q[kept], self.joints("speeds")[kept], self.joints("accelerations")[kept]
        low, high = self._resistance(q, qd)
        tau, (forces, ties) = self.joints("forces")[kept], self._generalized(q)
        return RowMotion(
            robot=robot,
            q=q,
            qd=qd,
            qdd=qdd,
            tau=tau,
            forces=tau + forces + self._pulled(q) - _springs(robot, q, qd),
            low=low,
            high=high,
            ties=ties,
            wrenches=self._wrenches(q, qd),
        )

    @property
    def q(self) -> np.ndarray:
        return self.joints("coordinates")

    @cached_property
    def sound(self) -> np.ndarray:
        """The places of the rows that have a force and an acceleration; the last one of a failed run may have none.

        Numbers too large to compute with are no run's, and the check of the columns names them.
        """
        names = ("coordinates", "speeds", "accelerations", "forces")
        others = [name for name in self.table if name.endswith(".force") or ".lambda." in name]
        numbers = [*(self.joints(name) for name in names), self._columns(others)]
        return np.flatnonzero((abs(np.hstack(numbers)) < LARGE).all(axis=1))

    def joints(self, what: str) -> np.ndarray:
        """All joints' `coordinates`, `speeds`, `accelerations` or `forces`."""
        return self._columns(self.plan.robot.columns(what))

    def _columns(self, names: Sequence[str]) -> np.ndarray:
        missing = [name for name in names if name not in self.table]
        if missing:
            raise InputError(f"the result has no column `{missing[0]}`")
        return np.column_stack([self.table[name] for name in names]) if names else np.zeros((len(self.t), 0))

    def _resistance(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest force of dry friction and stops along each speed."""
        system = self.plan.system
        low, high = np.zeros_like(qd), np.zeros_like(qd)
        for k, coulomb in system.coulomb.items():
            v = qd[:, k]
            if system.smooth and self.integrated:
                low[:, k] = high[:, k] = -coulomb * v / np.hypot(v, system.smooth)
                continue
            slow = abs(v) <= SLOW * abs(v).max(initial=0.0)
            low[:, k] = np.where(slow, -coulomb, -coulomb * np.sign(v))
            high[:, k] = np.where(slow, coulomb, -coulomb * np.sign(v))
        for k, stop in system.stopped.items():
            slack = CLOSE * (stop.high - stop.low)
            high[q[:, stop.coordinate] <= stop.low + slack, k] = np.inf
            low[q[:, stop.coordinate] >= stop.high - slack, k] = -np.inf
        return low, high

    def _pulled(self, q: np.ndarray) -> np.ndarray:
        """The forces along the speeds of actuators on sums of joints."""
        result = np.zeros((len(q), self.plan.robot.nv))
        for actuator in self.plan.robot.actuators:
            if actuator.joints and f"{actuator.name}.force" in self.table:
                force = self._columns([f"{actuator.name}.force"])[self.sound, 0]
                for one in actuator.joints:
                    result[:, one.speed] += one.ratio * force
        return result

    def _generalized(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The forces of drives along the speeds, and the rows of ties whose forces aren't in the columns."""
        loops = self.plan.system.loops
        J, _ = loops.jacobian(q)
        drives = dict(zip((one.name for one in loops.ties[len(loops.ties) - loops.drives :]), loops.driven_rows()))
        known = {name: row for name, row in drives.items() if f"{name}.force" in self.table}
        forces = self._columns([f"{name}.force" for name in known])[self.sound]
        cuts = {r for loop, place in zip(self.plan.robot.loops, loops.places) for r in range(place.start, place.stop)}
        open_ = [r for r in range(loops.m) if r not in cuts and r not in known.values()]
        return np.einsum("nm,nmk->nk", forces, J[:, list(known.values())]), J[:, open_]

    def _wrenches(self, q: np.ndarray, qd: np.ndarray) -> dict[str, np.ndarray]:
        """All wrenches on links: the scenario's, the robot file's, and those of cuts and further actuators."""
        robot, placed, count = self.plan.robot, frames(self.plan.robot, q), len(q)
        inputs = self.plan.system.inputs
        total = dict(wrenches_at_instants(robot, inputs.wrenches, self.t[self.sound], q, qd) or {})

        def put(link: str, six: np.ndarray) -> None:
            if link != "base":
                total[link] = total[link] + six if link in total else six

        for one in robot.wrenches:
            six = np.tile(np.array(one.wrench, dtype=float), (count, 1))
            put(one.link, wrenches_on_link(six, one.at, placed[one.link][:, :3, :3] if one.axes == "base" else None))
        for actuator in robot.actuators:
            if not actuator.on_link or f"{actuator.name}.force" not in self.table:
                continue
            push = self._columns([f"{actuator.name}.force"])[self.sound] * np.array(actuator.direction)
            six = np.hstack([push, np.zeros((count, 3))] if actuator.moment else [np.zeros((count, 3)), push])
            turn = placed[actuator.link][:, :3, :3] if actuator.axes == "base" else None
            put(actuator.link, wrenches_on_link(six, actuator.at, turn))
        for loop in robot.loops:
            six = self._columns([f"{loop.name}.lambda.{component}" for component in WRENCH])[self.sound]
            first, second = (placed.get(link, np.tile(np.eye(4), (count, 1, 1))) for link in loop.between)
            if self.plan.record.axes == "link":
                six = np.hstack([np.einsum("nij,nj->ni", second[:, :3, :3], x) for x in (six[:, :3], six[:, 3:])])
            point = second[:, :3, :3] @ np.array(loop.second.origin) + second[:, :3, 3]
            for link, T, sign in ((loop.between[0], first, -1.0), (loop.between[1], second, 1.0)):
                inward, reach = T[:, :3, :3], point - T[:, :3, 3]
                n, f = (np.einsum("nji,nj->ni", inward, x) for x in (sign * six[:, :3], sign * six[:, 3:]))
                put(link, wrenches_moved_to_points(n, f, np.einsum("nji,nj->ni", inward, reach)))
        return total


def _springs(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The forces that springs and damping need along each speed."""
    columns, speeds = ([np.ascontiguousarray(column) for column in x.T] for x in (q, qd))
    result = np.zeros_like(qd)
    for body in robot.tree.bodies:
        for k, drive in zip(body.speeds, body.drives):
            rubbing = drive.coulomb * np.sign(qd[:, k])
            result[:, k] = as_samples(passive_force(drive, columns, speeds, k)) - rubbing
    return result
