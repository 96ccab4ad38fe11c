"""Kinetic, potential and elastic energy; what wrenches bring in, and what damping takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..machine.scalars import Scalar
from ..robot.model import ZERO, Body, Robot
from .calls import bare
from .kinematics import link_frames
from .samples import Samples, computes
from .sweeps import Load, Wrenches, dynamics


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
    """The power that viscous dampers take."""
    loss: Scalar = 0.0
    for body in bodies:
        for k, drive in zip(body.speeds, body.drives):
            if drive.viscous:
                loss = loss + drive.viscous * qd[k] * qd[k]
    return loss


def wrench_power(
    bodies: tuple[Body, ...], q: Sequence[Scalar], qd: Sequence[Scalar], wrenches: Wrenches, loads: Sequence[Load]
) -> Scalar:
    """The power wᵀ t of all external wrenches: the joint forces that balance them, times the speeds."""
    power: Scalar = 0.0
    if wrenches or loads:
        n = len(qd)
        tau, _ = dynamics(_massless(bodies), ZERO, q, [0.0] * n, [0.0] * n, [True] * n, wrenches, loads)
        for force, speed in zip(tau, qd):
            power = power - force * speed
    return power


def _massless(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    return tuple(replace(body, E=(ZERO, ZERO, ZERO), h=ZERO, m=0.0) for body in bare(bodies))


@lru_cache(maxsize=64)
def massless(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies as pure geometry: what is left of their dynamics is what acts from outside."""
    return tuple(replace(body, E=(ZERO, ZERO, ZERO), h=ZERO, m=0.0) for body in _undriven(bodies))


def _undriven(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    return tuple(replace(body, drives=tuple(replace(d, rotor=0.0) for d in body.drives)) for body in bare(bodies))
