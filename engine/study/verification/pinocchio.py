"""A robot's tree in Pinocchio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...robot import Robot, turn_matrix_of
from .peer import Move, peer_body_masses, peer_joint_moves, peer_rotor_inertias, peer_wrenches_on_bodies

AXES = "XYZ"


class Pinocchio:
    """Recursive Newton-Euler and articulated bodies of Pinocchio, called sample by sample."""

    def __init__(self, robot: Robot):
        import pinocchio as pin

        self.title = f"Pinocchio {pin.__version__}"
        self.pin, self.robot, self.model = pin, robot, pin.Model()
        self.model.gravity = pin.Motion(np.array(robot.gravity), np.zeros(3))
        self.ends: list[int] = []  # for each body, the joint on which it is
        self.coordinates = np.zeros(robot.nq, dtype=int)  # for each of its own coordinates, the robot's
        self.speeds = np.zeros(robot.nv, dtype=int)
        order = self._added()
        for joint, move in order:
            own = self.model.joints[joint]
            self.coordinates[own.idx_q : own.idx_q + own.nq] = _scalar_last(move)
            self.speeds[own.idx_v : own.idx_v + own.nv] = move.speeds
        self.model.armature = peer_rotor_inertias(robot)[self.speeds]
        self.data = self.model.createData()

    def _added(self) -> list[tuple[int, Move]]:
        """The joints with their moves, after they and all bodies have been put into the model, depth first."""
        pin, bodies = self.pin, self.robot.tree.bodies
        children: dict[int | None, list[int]] = {}
        for i, body in enumerate(bodies):
            children.setdefault(body.parent, []).append(i)
        self.ends = [0] * len(bodies)
        made: list[tuple[int, Move]] = []
        waiting = children.get(None, [])[::-1]
        while waiting:
            i = waiting.pop()
            waiting += children.get(i, [])[::-1]
            body = bodies[i]
            joint = 0 if body.parent is None else self.ends[body.parent]
            at = pin.SE3(turn_matrix_of(body.rotation), np.array(body.origin))
            for k, move in enumerate(peer_joint_moves(body)):
                joint = self.model.addJoint(joint, _joint(pin, move), at, f"{i}.{k}")
                at = pin.SE3.Identity()
                made.append((joint, move))
            self.model.appendBodyToJoint(joint, pin.Inertia(*peer_body_masses(body)), at)
            self.ends[i] = joint
        return made

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        """The forces along all speeds that a motion needs."""
        return self._each(self.pin.rnea, q, qd, qdd, wrenches)

    def forward(
        self, q: np.ndarray, qd: np.ndarray, force: np.ndarray, wrenches: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """The accelerations under forces along all speeds."""
        return self._each(self.pin.aba, q, qd, force, wrenches)

    def _each(
        self,
        call: Callable[..., np.ndarray],
        q: np.ndarray,
        qd: np.ndarray,
        x: np.ndarray,
        wrenches: Mapping[str, np.ndarray],
    ) -> np.ndarray:
        acting = peer_wrenches_on_bodies(self.robot, wrenches)
        own = [np.ascontiguousarray(y) for y in (q[:, self.coordinates], qd[:, self.speeds], x[:, self.speeds])]
        result = np.empty(qd.shape)
        forces = [self.pin.Force.Zero() for _ in range(self.model.njoints)]
        for n, row in enumerate(zip(*own)):
            for body, six in acting.items():
                forces[self.ends[body]] = self.pin.Force(six[n, 3:], six[n, :3])
            result[n, self.speeds] = call(self.model, self.data, *row, forces)
        return result


def _joint(pin: Any, move: Move) -> Any:
    """The joint of Pinocchio for a move."""
    if move.kind == "screw":
        return getattr(pin, f"JointModelH{AXES[move.axis]}")(move.pitch)
    if move.kind in ("turn", "slide"):
        return getattr(pin, f"JointModel{'R' if move.kind == 'turn' else 'P'}{AXES[move.axis]}")()
    return pin.JointModelFreeFlyer() if move.kind == "free" else pin.JointModelSpherical()


def _scalar_last(move: Move) -> tuple[int, ...]:
    """The coordinates of a move in Pinocchio's order, in which Euler parameters have their scalar last."""
    if move.kind not in ("orient", "free"):
        return move.coordinates
    *place, e0, e1, e2, e3 = move.coordinates
    return (*place, e1, e2, e3, e0)
