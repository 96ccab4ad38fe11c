"""A robot's tree in MuJoCo.

A free joint is three slides and a ball, whose slides are along the axes of the frame in which the joint is: MuJoCo has
free joints only on the ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...robot import Body, Robot, turn_matrix_of
from .peer import (
    NEAR_FRAME,
    ImpossibleError,
    Move,
    peer_body_masses,
    peer_joint_moves,
    peer_rotor_inertias,
    peer_wrenches_on_bodies,
)

DIRECTIONS = np.eye(3)
Named = tuple[str, tuple[int, ...], tuple[int, ...]]  # a joint with its coordinates and speeds


class Mujoco:
    """`mj_inverse` and `mj_forward` without contacts and constraints, called sample by sample."""

    def __init__(self, robot: Robot):
        import mujoco

        self.title = f"MuJoCo {mujoco.__version__}"
        self.mujoco, self.robot = mujoco, robot
        self.coordinates = np.zeros(robot.nq, dtype=int)  # for each of its own coordinates, the robot's
        self.speeds = np.zeros(robot.nv, dtype=int)
        self.free: list[Move] = []
        spec = mujoco.MjSpec()
        spec.option.gravity = robot.gravity
        spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        joints, made = self._added(spec)
        try:
            self.model = spec.compile()
        except ValueError as error:
            raise ImpossibleError(f"refuses this robot: {' '.join(str(error).split())}") from None
        for name, coordinates, speeds in joints:
            own = self.model.joint(name)
            self.coordinates[own.qposadr[0] : own.qposadr[0] + len(coordinates)] = coordinates
            self.speeds[own.dofadr[0] : own.dofadr[0] + len(speeds)] = speeds
        self.model.dof_armature[:] = peer_rotor_inertias(robot)[self.speeds]
        self.data = mujoco.MjData(self.model)
        self.numbers = [self.model.body(made[home].name).id for home in self.homes]

    def _added(self, spec: Any) -> tuple[list[Named], dict[int, Any]]:
        """All joints, and the bodies of MuJoCo by the numbers of ours, after they have been put into the model.

        A body without mass that carries nothing but the next part of its joint is one with that part.
        """
        mujoco, bodies = self.mujoco, self.robot.tree.bodies
        self.homes: list[int] = []  # for each body, the one whose body in MuJoCo it is on
        made: dict[int, Any] = {}
        names = {body: link for link, (body, _) in reversed(self.robot.tree.seats.items()) if body is not None}
        joints: list[Named] = []
        for i, body in enumerate(bodies):
            if body.parent is not None and _one_with_parent(bodies, i):
                self.homes.append(self.homes[body.parent])
            else:
                turn = np.empty(4)
                mujoco.mju_mat2Quat(turn, turn_matrix_of(body.rotation).ravel())
                above = spec.worldbody if body.parent is None else made[self.homes[body.parent]]
                made[i] = above.add_body(name=names.get(i, f"body {i}"), pos=body.origin, quat=turn)
                self.homes.append(i)
            own = made[self.homes[i]]
            m, centre, J = peer_body_masses(body)
            if m:
                own.mass, own.ipos, own.explicitinertial = m, centre, True
                own.fullinertia = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
            for k, move in enumerate(peer_joint_moves(body)):
                joints += self._joints(own, move, f"{i}.{k}")
        return joints, made

    def _joints(self, body: Any, move: Move, name: str) -> list[Named]:
        """The joints of MuJoCo for a move."""
        kinds = self.mujoco.mjtJoint
        if move.kind == "screw":
            raise ImpossibleError("has no helical joints")
        if move.kind in ("turn", "slide"):
            kind = kinds.mjJNT_HINGE if move.kind == "turn" else kinds.mjJNT_SLIDE
            body.add_joint(name=name, type=kind, axis=DIRECTIONS[move.axis])
            return [(name, move.coordinates, move.speeds)]
        joints: list[Named] = []
        if move.kind == "free":
            self.free.append(move)
            for axis, (q, v) in enumerate(zip(move.coordinates[:3], move.speeds[:3])):
                body.add_joint(name=f"{name}.{axis}", type=kinds.mjJNT_SLIDE, axis=DIRECTIONS[axis])
                joints.append((f"{name}.{axis}", (q,), (v,)))
        body.add_joint(name=name, type=kinds.mjJNT_BALL)
        return [*joints, (name, move.coordinates[-4:], move.speeds[-3:])]

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        """The forces along all speeds that a motion needs."""
        data, result, acting = self.data, np.empty(qd.shape), peer_wrenches_on_bodies(self.robot, wrenches)
        own = self._in_place(q, qd, qdd)
        for n in range(len(q)):
            data.qpos[:], data.qvel[:], data.qacc[:] = (x[n] for x in own)
            self.mujoco.mj_inverse(self.model, data)
            result[n, self.speeds] = data.qfrc_inverse - self._along(acting, n)
        return self._turned(q, result, back=True)

    def forward(
        self, q: np.ndarray, qd: np.ndarray, force: np.ndarray, wrenches: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """The accelerations under forces along all speeds."""
        data, result, acting = self.data, np.empty(qd.shape), peer_wrenches_on_bodies(self.robot, wrenches)
        places, rates, _ = self._in_place(q, qd, np.zeros(qd.shape))
        forces = self._turned(q, force)[:, self.speeds]
        for n in range(len(q)):
            data.qpos[:], data.qvel[:] = places[n], rates[n]
            self.mujoco.mj_kinematics(self.model, data)
            self.mujoco.mj_comPos(self.model, data)
            data.qfrc_applied[:] = forces[n] + self._along(acting, n)
            self.mujoco.mj_forward(self.model, data)
            result[n, self.speeds] = data.qacc
        result = self._turned(q, result, back=True)
        for move in self.free:
            result[:, move.speeds[:3]] -= np.cross(qd[:, move.speeds[3:]], qd[:, move.speeds[:3]])
        return result

    def _in_place(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, speeds and accelerations in MuJoCo's order and along its axes."""
        rates = qdd.copy()
        for move in self.free:  # the rate of a velocity whose components are in axes that turn
            rates[:, move.speeds[:3]] += np.cross(qd[:, move.speeds[3:]], qd[:, move.speeds[:3]])
        return q[:, self.coordinates], self._turned(q, qd)[:, self.speeds], self._turned(q, rates)[:, self.speeds]

    def _turned(self, q: np.ndarray, x: np.ndarray, *, back: bool = False) -> np.ndarray:
        """Speeds or forces with those of free joints along the axes of the slides; `back` turns them back."""
        x = x.copy()
        for move in self.free:
            R, own = _rotations(q[:, move.coordinates[3:]]), list(move.speeds[:3])
            x[:, own] = np.einsum("nji,nj->ni" if back else "nij,nj->ni", R, x[:, own])
        return x

    def _along(self, acting: Mapping[int, np.ndarray], n: int) -> np.ndarray:
        """What wrenches on bodies do along MuJoCo's speeds, where the bodies are."""
        along = np.zeros(self.model.nv)
        for body, six in acting.items():
            number = self.numbers[body]
            R, at = self.data.xmat[number].reshape(3, 3), self.data.xpos[number]
            self.mujoco.mj_applyFT(self.model, self.data, R @ six[n, 3:], R @ six[n, :3], at, number, along)
        return along


def _one_with_parent(bodies: tuple[Body, ...], i: int) -> bool:
    """Whether a body is the next part of its parent's joint."""
    above = bodies[i].parent
    assert above is not None
    alone = sum(body.parent == above for body in bodies) == 1
    return alone and not bodies[above].m and (bodies[i].rotation, bodies[i].origin) == NEAR_FRAME


def _rotations(e: np.ndarray) -> np.ndarray:
    """The rotation matrices of Euler parameters, scalar first."""
    w, v = e[:, 0, None, None], e[:, 1:]
    across = np.cross(np.eye(3)[None], v[:, None, :])  # [v×], row by row
    square = (v**2).sum(axis=1)[:, None, None]
    R: np.ndarray = (w**2 - square) * np.eye(3) + 2 * v[:, :, None] * v[:, None, :] + 2 * w * across
    return R
