"""A robot's tree in other engines, MuJoCo and Pinocchio, and in the plain text of the recursion as one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ...machine.backend import using_backend
from ...mechanics.quantities import forward as tree_forward
from ...mechanics.quantities import inverse as tree_inverse
from ...mechanics.tree import wrenches_moved_to_points
from ...robot import Body, Drive, Robot, Tree, turn_matrix_of

DIRECTIONS = np.eye(3)
Named = tuple[str, tuple[int, ...], tuple[int, ...]]  # a joint with its coordinates and speeds


class Mujoco:
    """`mj_inverse` and `mj_forward` without contacts and constraints, called sample by sample.

    A free joint is three slides and a ball, whose slides are along the axes of the frame in which the joint is: MuJoCo
    has free joints only on the ground.
    """

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


FREE = (3, 4, 5, 0, 1, 2)  # directions of a free joint's speeds: the origin's velocity, then the turn
NEAR_FRAME = ((), (0.0, 0.0, 0.0))  # rotation and origin of a body that begins where its parent is


class PeerModel(Protocol):
    """The rigid bodies of a robot's tree with its rotors under gravity; springs, damping and friction are left out.

    All arrays have a row for each sample. `wrenches` are [n; f] by link, at its origin in its axes.
    """

    title: str  # the engine's name and version

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        """The forces along all speeds that a motion needs."""

    def forward(
        self, q: np.ndarray, qd: np.ndarray, force: np.ndarray, wrenches: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """The accelerations under forces along all speeds."""


class ImpossibleError(Exception):
    """A robot that an engine has no model for; the text says why, and stands after the engine's name."""


@dataclass(frozen=True)
class Move:
    """A part of a joint that an engine has a joint for: `turn`, `slide`, `screw`, `orient`, or all six with `free`."""

    kind: str
    axis: int
    coordinates: tuple[int, ...]
    speeds: tuple[int, ...]
    pitch: float = 0.0


def peer_joint_moves(body: Body) -> list[Move]:
    """The moves of a body's joint, outermost first."""
    speed = dict(zip(body.directions, body.speeds))
    found: list[Move] = []
    placed = False
    for kind, axis, k in body.moves:
        if kind == "place":
            placed = True
        elif kind == "orient":
            first, directions = (k - 3, FREE) if placed else (k, FREE[3:])
            coordinates = body.coordinates[first : k + 4]
            found.append(Move("free" if placed else kind, axis, coordinates, tuple(speed[d] for d in directions)))
        else:
            own = speed[axis + 3 if kind == "slide" else axis]
            found.append(Move(kind, axis, (body.coordinates[k],), (own,), body.pitch))
    return found


def peer_body_masses(body: Body) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, mass centre, and inertia about it, in the body's axes."""
    E, h = np.array(body.E), np.array(body.h)
    J = np.trace(E) * np.eye(3) - E
    if not body.m:
        return 0.0, np.zeros(3), J
    c = h / body.m
    return body.m, c, J - body.m * (c @ c * np.eye(3) - np.outer(c, c))


def peer_rotor_inertias(robot: Robot) -> np.ndarray:
    """The rotor inertia along each speed."""
    result = np.zeros(robot.nv)
    for body in robot.tree.bodies:
        for k, drive in zip(body.speeds, body.drives):
            result[k] = drive.rotor
    return result


def peer_wrenches_on_bodies(robot: Robot, wrenches: Mapping[str, np.ndarray]) -> dict[int, np.ndarray]:
    """Wrenches on links as wrenches on bodies, at their origins in their axes; those on the ground have no effect."""
    result: dict[int, np.ndarray] = {}
    for link, six in wrenches.items():
        body, seat = robot.tree.seats[link]
        if body is None:
            continue
        R = seat.rotation()
        own = wrenches_moved_to_points(six[:, :3] @ R.T, six[:, 3:] @ R.T, np.array(seat.origin))
        result[body] = result[body] + own if body in result else own
    return result


class PlainText:
    """Inverse and forward dynamics of a tree by the text as it stands, whatever has been compiled."""

    title = "plain text"

    def __init__(self, robot: Robot):
        self.robot = _rigid(robot)

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        """The forces along all speeds that a motion needs."""
        with using_backend("plain"):
            return tree_inverse(self.robot, q, qd, qdd, wrenches)

    def forward(
        self, q: np.ndarray, qd: np.ndarray, force: np.ndarray, wrenches: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """The accelerations under forces along all speeds."""
        with using_backend("plain"):
            return tree_forward(self.robot, q, qd, force, wrenches)


def _rigid(robot: Robot) -> Robot:
    """The robot without springs, damping, dry friction and wrenches of its own."""
    bodies = tuple(
        replace(body, drives=tuple(Drive(rotor=drive.rotor) for drive in body.drives)) for body in robot.tree.bodies
    )
    return replace(robot, tree=Tree(bodies, robot.tree.seats), wrenches=(), vouched=True)
