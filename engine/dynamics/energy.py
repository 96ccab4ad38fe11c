"""Kinetic, potential and elastic energy, the power of wrenches, and the losses by damping and dry friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..machine.program.scalars import Scalar
from ..robot.model import Body, Robot
from .calls import BLOCK, bare
from .kinematics import link_frames
from .samples import Samples, computes
from .sweeps import Load, Wrenches, dynamics
from .wrenches import balancing


@computes
def energy(robot: Robot, q: Any, qd: Any) -> dict[str, np.ndarray]:
    """Kinetic, potential (datum: the base's origin) and elastic energy."""
    s = Samples(robot, q=q, qd=qd).finite()
    rest, given = [0.0] * robot.nv, [True] * robot.nv
    momenta, _ = dynamics(bare(robot.tree.bodies), (0.0,) * 3, s.scalars("q"), rest, s.scalars("qd"), given)
    kinetic = (s.array(momenta) * s.arrays["qd"]).sum(axis=-1) / 2
    placed = link_frames(robot, s, at="link")
    g = np.array(robot.gravity)
    potential = np.zeros(kinetic.shape)
    for link in robot.links:
        T = placed[link.name]
        centre = T[..., :3, :3] @ np.array(link.com) + T[..., :3, 3]
        potential = potential - link.mass * (centre @ g)
    elastic = np.zeros(kinetic.shape)
    coordinates = s.arrays["q"]
    for joint in robot.moving:
        for drive in joint.drives:
            if drive.stiffness:
                elastic = elastic + drive.stiffness / 2 * (coordinates[..., drive.coordinate] - drive.rest) ** 2
    return {"kinetic": kinetic, "potential": potential, "elastic": np.broadcast_to(elastic, kinetic.shape)}


def damped(bodies: Sequence[Body], qd: Sequence[Scalar]) -> Scalar:
    """The power lost in viscous dampers."""
    loss: Scalar = 0.0
    for body in bodies:
        for k, drive in zip(body.speeds, body.drives):
            if drive.viscous:
                loss = loss + drive.viscous * qd[k] * qd[k]
    return loss


def rubbed(bodies: Sequence[Body], qd: Sequence[Scalar]) -> Scalar:
    """The power lost to dry friction in joints that slip."""
    loss: Scalar = 0.0
    for body in bodies:
        for k, drive in zip(body.speeds, body.drives):
            if drive.coulomb:
                loss = loss + drive.coulomb * abs(qd[k])
    return loss


def wrench_power(
    bodies: tuple[Body, ...], q: Sequence[Scalar], qd: Sequence[Scalar], wrenches: Wrenches, loads: Sequence[Load]
) -> Scalar:
    """The power wᵀ t of all external wrenches, from the joint forces that balance them and the speeds."""
    power: Scalar = 0.0
    if wrenches or loads:
        for force, speed in zip(balancing(bodies, q, len(qd), wrenches, loads), qd):
            power = power - force * speed
    return power


def passive_power(robot: Robot, q: np.ndarray, qd: np.ndarray, wrenches: Mapping[str, np.ndarray] | None) -> np.ndarray:
    """The power of all wrenches, the robot's own and the given ones, less the losses by damping and dry friction.

    All arrays have a row for each sample; the text runs on blocks of samples, which bounds its memory.
    """
    bodies, found = robot.tree.bodies, np.empty(len(q))
    block = max(8, BLOCK // max(len(bodies), 1))
    for first in range(0, len(q), block):
        these = slice(first, first + block)
        s = Samples(robot, q=q[these], qd=qd[these])
        acting = s.loads({link: six[these] for link, six in (wrenches or {}).items()})
        speeds = s.scalars("qd")
        brought = wrench_power(bodies, s.scalars("q"), speeds, *acting)
        found[these] = brought - damped(bodies, speeds) - rubbed(bodies, speeds)
    return found
