"""Kinetic, potential and elastic energy, the power of wrenches, and the losses by damping and dry friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...machine.program import Scalar, as_samples, sign
from ...robot import ZERO, Body, Robot
from ..tree.kinematics import body_placements
from ..tree.spatial import Vector, dot
from ..tree.springs import (
    bodies_without_passive_forces,
    cord_rate,
    cord_stretch,
    cords_of_bodies,
    stretch_of_joint_spring,
)
from ..tree.sweeps import Load, Wrenches, sweep_tree
from ..tree.wrenches import joint_forces_that_balance_wrenches
from .samples import BLOCK, Samples


def energies(robot: Robot, q: Sequence[Scalar], qd: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Kinetic energy q̇ᵀ I q̇ / 2, potential (datum: the base's origin) and elastic energy."""
    bodies = robot.tree.bodies
    g: Vector = list(robot.gravity)
    momenta, _ = sweep_tree(bodies_without_passive_forces(bodies), ZERO, q, [0.0] * robot.nv, qd, [True] * robot.nv)
    kinetic: Scalar = sum((0.5 * p * speed for p, speed in zip(momenta, qd)), 0.0)
    potential: Scalar = 0.0
    for link in robot.links:
        i, seat = robot.tree.seats[link.name]
        if i is None:  # fixed to the ground
            at: Vector = (seat.rotation() @ np.array(link.com) + np.array(seat.origin)).tolist()
            potential = potential - link.mass * dot(g, at)
    elastic: Scalar = 0.0
    for body, (R, p) in zip(bodies, body_placements(bodies, q)):
        moment = [body.m * p[r] + dot(R[r], list(body.h)) for r in range(3)]
        potential = potential - dot(g, moment)
        for drive in body.drives:
            if drive.stiffness:
                way = stretch_of_joint_spring(drive, q)
                elastic = elastic + 0.5 * drive.stiffness * (way * way)
    for cord in cords_of_bodies(bodies):
        if cord.stiffness:
            way = cord_stretch(cord, q)
            elastic = elastic + 0.5 * cord.stiffness * (way * way)
    return kinetic, potential, elastic


def damping_power(bodies: Sequence[Body], qd: Sequence[Scalar]) -> Scalar:
    """The power lost in viscous dampers."""
    loss: Scalar = 0.0
    for body in bodies:
        for k, drive in zip(body.speeds, body.drives):
            if drive.viscous:
                loss = loss + drive.viscous * qd[k] * qd[k]
    for cord in cords_of_bodies(bodies):
        if cord.damping:
            rate = cord_rate(cord, qd)
            loss = loss + cord.damping * (rate * rate)
    return loss


def friction_power(bodies: Sequence[Body], qd: Sequence[Scalar]) -> Scalar:
    """The power lost to dry friction in joints that slip."""
    loss: Scalar = 0.0
    for body in bodies:
        for k, drive in zip(body.speeds, body.drives):
            if drive.coulomb:
                loss = loss + drive.coulomb * (qd[k] * sign(qd[k]))
    return loss


def wrench_power(
    bodies: tuple[Body, ...], q: Sequence[Scalar], qd: Sequence[Scalar], wrenches: Wrenches, loads: Sequence[Load]
) -> Scalar:
    """The power wᵀ t of all external wrenches, from the joint forces that balance them and the speeds."""
    power: Scalar = 0.0
    if wrenches or loads:
        for force, speed in zip(joint_forces_that_balance_wrenches(bodies, q, len(qd), wrenches, loads), qd):
            power = power - force * speed
    return power


def passive_power(robot: Robot, q: np.ndarray, qd: np.ndarray, wrenches: Mapping[str, np.ndarray] | None) -> np.ndarray:
    """The power of all wrenches, the robot's own and the given ones, less the losses by damping and dry friction.

    All arrays have a row for each sample; the text runs on blocks of samples, which bounds its memory.
    """
    bodies, result = robot.tree.bodies, np.empty(len(q))
    block = max(8, BLOCK // max(len(bodies), 1))
    for first in range(0, len(q), block):
        these = slice(first, first + block)
        s = Samples(robot, q=q[these], qd=qd[these])
        acting = s.loads({link: six[these] for link, six in (wrenches or {}).items()})
        speeds = s.scalars("qd")
        brought = wrench_power(bodies, s.scalars("q"), speeds, *acting)
        result[these] = as_samples(brought - damping_power(bodies, speeds) - friction_power(bodies, speeds))
    return result
