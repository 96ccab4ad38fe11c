"""The calls of the Python interface that compute: arrays in, arrays out, one sample or many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import InputError, NumericalError
from ..robot.model import Body, Drive, Robot
from .kinematics import link_frames
from .samples import Samples
from .sweeps import dynamics

Wrenches = Mapping[str, Any]


def inverse(robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """Tau: the forces that actuators add for this motion (RIDIM)."""
    s = Samples(robot, q=q, qd=qd, qdd=qdd)
    on_bodies, loads = s.loads(wrenches)
    given = [True] * robot.nv
    tau, _ = dynamics(
        robot.tree.bodies, robot.gravity, s.scalars("q"), s.scalars("qd"), s.scalars("qdd"), given, on_bodies, loads
    )
    return s.array(tau)


def forward(robot: Robot, q: Any, qd: Any, tau: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """Qdd: the accelerations under these forces (RFDSIM)."""
    s = Samples(robot, q=q, qd=qd, tau=tau)
    on_bodies, loads = s.loads(wrenches)
    given = [False] * robot.nv
    with np.errstate(all="ignore"):
        try:
            qdd, _ = dynamics(
                robot.tree.bodies,
                robot.gravity,
                s.scalars("q"),
                s.scalars("qd"),
                s.scalars("tau"),
                given,
                on_bodies,
                loads,
            )
        except ZeroDivisionError:
            raise _singular(robot) from None
    return _finite(robot, s.array(qdd))


def hybrid(
    robot: Robot, q: Any, qd: Any, qdd: Any, tau: Any, wrenches: Wrenches | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(qdd, tau), complete: for each speed one of the two is NaN on entry, and is what is sought."""
    s = Samples(robot, allow_nan=("qdd", "tau"), q=q, qd=qd, qdd=qdd, tau=tau)
    motion_given = _pattern(robot, s.arrays["qdd"], s.arrays["tau"])
    on_bodies, loads = s.loads(wrenches)
    rates, forces = s.scalars("qdd"), s.scalars("tau")
    given = [a if known else f for a, f, known in zip(rates, forces, motion_given)]
    with np.errstate(all="ignore"):
        try:
            sought, _ = dynamics(
                robot.tree.bodies, robot.gravity, s.scalars("q"), s.scalars("qd"), given, motion_given, on_bodies, loads
            )
        except ZeroDivisionError:
            raise _singular(robot) from None
    qdd_all = s.array([a if known else x for a, x, known in zip(rates, sought, motion_given)])
    tau_all = s.array([x if known else f for f, x, known in zip(forces, sought, motion_given)])
    return _finite(robot, qdd_all), _finite(robot, tau_all)


def _pattern(robot: Robot, qdd: np.ndarray, tau: np.ndarray) -> list[bool]:
    """For each speed, whether its motion is given; the same for all samples."""
    motion, force = ~np.isnan(np.atleast_2d(qdd)), ~np.isnan(np.atleast_2d(tau))
    if motion.shape[0] and not ((motion == motion[0]).all() and (force == force[0]).all()):
        raise InputError("the pattern of NaN differs from sample to sample", allowed="one pattern for the whole batch")
    motion, force = motion[:1].any(axis=0), force[:1].any(axis=0)
    columns = [f"{joint.name}.{suffix}" for joint in robot.moving for suffix in joint.type.accelerations]
    for k, name in enumerate(columns):
        if motion.shape and motion[k] == force[k]:
            state = "both" if motion[k] else "neither"
            raise InputError(
                f"{name}: {state} of acceleration and force given", allowed="exactly one of the two is NaN"
            )
    return [bool(x) for x in motion]


def _singular(robot: Robot) -> NumericalError:
    return NumericalError(
        f"{robot.name}: a joint has nothing to accelerate (a pivot of the generalized inertia matrix is 0); "
        "give the links beyond it a mass or the joint a rotor inertia"
    )


def _finite(robot: Robot, x: np.ndarray) -> np.ndarray:
    if not np.isfinite(x).all():
        raise _singular(robot)
    return x


# ---- parts of the equations of motion, all from the one recursion


@lru_cache(maxsize=64)
def bare(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies without friction, damping and springs; rotors stay."""
    return tuple(replace(body, drives=tuple(Drive(rotor=drive.rotor) for drive in body.drives)) for body in bodies)


def inertia(robot: Robot, q: Any) -> np.ndarray:
    """The generalized inertia matrix, rotor inertias included: columns are inverse dynamics of unit accelerations."""
    s = Samples(robot, q=q)
    bodies, n = bare(robot.tree.bodies), robot.nv
    rest, given, scalars = [0.0] * n, [True] * n, s.scalars("q")
    shape = (n, n) if s.count is None else (s.count, n, n)
    out = np.empty(shape)
    for k in range(n):
        unit = [float(j == k) for j in range(n)]
        column, _ = dynamics(bodies, (0.0, 0.0, 0.0), scalars, rest, unit, given)
        for j in range(n):
            out[..., j, k] = column[j]
    return (out + np.swapaxes(out, -1, -2)) / 2


def bias(robot: Robot, q: Any, qd: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """H of `tau = I qdd + h`: Coriolis, centrifugal, gravity, friction, springs, wrenches."""
    return inverse(robot, q, qd, np.zeros_like(np.asarray(qd, dtype=float)), wrenches)


def reactions(robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None) -> dict[str, np.ndarray]:
    """Joint → wrench [n; f] of the parent on the link, at the link's origin, base-frame axes; fixed joints too."""
    s = Samples(robot, q=q, qd=qd, qdd=qdd)
    on_bodies, loads = s.part_loads(wrenches)
    parts = robot.parts
    given = [True] * robot.nv
    _, W = dynamics(
        parts.bodies, robot.gravity, s.scalars("q"), s.scalars("qd"), s.scalars("qdd"), given, on_bodies, loads
    )
    placed = link_frames(robot, s, at="link")
    out = {}
    for link in robot.links:
        body, seat = parts.seats[link.name]
        assert body is not None
        six = s.array(W[body])
        R = placed[link.name][..., :3, :3] @ seat.rotation().T  # body axes → base axes
        shift = np.array(seat.origin)
        n, f = six[..., :3], six[..., 3:]
        n = n - np.cross(shift, f)  # at the link's origin
        turned = [np.einsum("...ij,...j->...i", R, x) for x in (n, f)]
        out[link.joint.name] = np.concatenate(turned, axis=-1)
    return out


def energy(robot: Robot, q: Any, qd: Any) -> dict[str, np.ndarray]:
    """Kinetic, potential (datum: the base's origin) and elastic energy."""
    s = Samples(robot, q=q, qd=qd)
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
