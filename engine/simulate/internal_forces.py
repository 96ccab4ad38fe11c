"""The forces of actuators and cuts behind the rows of a mechanism's run, and how far its loops are from closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..mechanics.closure import Closure, constraint_null_space, loop_closure
from ..mechanics.mechanisms import (
    Balance,
    Forces,
    enough_actuators_for_freedoms,
    forces_acting_in_loops,
    mechanism_multiplier_texts,
    wrenches_of_multipliers,
)
from ..mechanics.quantities import LARGE, frames
from ..mechanics.quantities import inverse as tree_inverse
from ..mechanics.quantities import reactions as tree_reactions
from ..mechanics.tree import wrenches_on_link
from ..record import WRENCH
from ..robot import ZERO, Joint, Robot
from .systems.signals import wanted_row_signals
from .systems.system import System


def balance_of_sought_forces(system: System, q: np.ndarray) -> Balance:
    """The balance of the sought forces: those of actuators, and of drives where the actuators don't suffice."""
    loops, robot = system.loops, robot_of_sought_forces(system)
    result = Balance(robot, q)
    if loops.drives and result.unmoved() > 0:
        result = Balance(robot, q, loops)
    return result


def robot_of_sought_forces(system: System) -> Robot:
    """The robot whose actuators are those that are sought; an actuated joint under a force law isn't one of them."""
    known = {one.speed for one in system.inputs.driven}
    if not known & set(system.robot.driven):
        return system.robot
    ruled = {motion.joint.name for motion in system.inputs.prescribed}

    def sought(joint: Joint) -> bool:
        return joint.name in ruled or (joint.actuated and not known & set(joint.speeds))

    links = [replace(link, joint=replace(link.joint, actuated=sought(link.joint))) for link in system.robot.links]
    return replace(system.robot, links=tuple(links), vouched=True)


def sought_forces_of_run(
    system: System,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    wrenches: Mapping[str, np.ndarray] | None,
    acting: np.ndarray,
    resistance: np.ndarray | None = None,
) -> tuple[Forces, np.ndarray, np.ndarray]:
    """The forces of actuators and cuts in an inverse task, then those of all joints, and the power of all of them.

    `acting` are the known forces of joints that have a force law; the sought ones do the rest.
    """
    result = balance_of_sought_forces(system, q)
    enough_actuators_for_freedoms(result)
    forces = result.solve(_needed(system.robot, q, qd, qdd, wrenches, resistance) - acting)
    power = np.einsum("nkc,nc,nk->n", result.S, forces.actuated, qd) + (acting * qd).sum(axis=1)
    rates = np.einsum("nmk,nk->nm", result.J, qd)
    rows = result.loops.driven_rows()
    power += (forces.multipliers[:, rows] * rates[:, rows]).sum(axis=1)
    tau, count = acting.copy(), len(result.driven)
    tau[:, result.driven] += forces.actuated[:, :count]
    actuated = np.concatenate([tau[:, list(system.robot.driven)], forces.actuated[:, count:]], axis=1)
    return replace(forces, actuated=actuated), tau, power


def _needed(
    robot: Robot,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    wrenches: Mapping[str, np.ndarray] | None,
    resistance: np.ndarray | None,
) -> np.ndarray:
    """The joint forces of the spanning tree for a motion, against the friction and stops that the motion had."""
    tau = tree_inverse(robot, q, qd, qdd, wrenches)
    if resistance is None:
        return tau
    for joint in robot.moving:
        for k, drive in zip(joint.speeds, joint.drives):
            tau[:, k] -= drive.coulomb * np.sign(qd[:, k])
    result: np.ndarray = tau - resistance
    return result


def cut_forces_of_run(
    robot: Robot,
    loops: Closure,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    tau: np.ndarray,
    pushes: np.ndarray,
    resistance: np.ndarray | None,
    wrenches: Mapping[str, np.ndarray] | None,
) -> Forces:
    """The cuts' forces of a simulation, whose actuators' are known; NaN in rows with numbers that aren't finite.

    `tau` are the forces of joints, `pushes` those of actuators that are no joint's.
    """
    resistance = np.zeros_like(tau) if resistance is None else resistance
    sound = np.isfinite(np.hstack([q, qd, qdd, tau])).all(axis=1)
    at = {name: six[sound] for name, six in (wrenches or {}).items()}
    left = _needed(robot, q[sound], qd[sound], qdd[sound], at or None, resistance[sound]) - tau[sound]
    if robot.actuators:
        left -= np.einsum(
            "nkc,nc->nk", forces_acting_in_loops(robot, q[sound])[:, :, len(robot.driven) :], pushes[sound]
        )
    firm = (abs(loops.jacobian(q[sound])[0]) < LARGE).all(axis=(1, 2)) & (abs(left) < LARGE).all(axis=1)
    result = np.full((len(q), loops.m), np.nan)
    if firm.any():
        result[np.flatnonzero(sound)[firm]] = mechanism_multiplier_texts(loops).rows(
            {"q": q[sound][firm], "tau": left[firm]}
        )
    return Forces(np.concatenate([tau[:, list(robot.driven)], pushes], axis=1), result)


def cut_wrenches_of_run(system: System, q: np.ndarray, forces: Forces) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What cuts, drives and actuators do to the links, and each cut's wrench in base axes."""
    loops = system.loops
    own = loops if forces.multipliers.shape[1] == loops.m else loop_closure(system.robot)
    return wrenches_of_multipliers(own, q, forces.actuated, forces.multipliers)


def largest_gaps_of_run(system: System, t: np.ndarray, q: np.ndarray) -> tuple[float, float]:
    """The largest gap of any loop in any row: a length and an angle."""
    loops = system.loops
    if not loops.m:
        return 0.0, 0.0
    values = loops.gap(q)
    for n, time in enumerate(t if loops.drives else ()):
        values[n] -= wanted_row_signals(system, float(time))[0]
    values, turning = abs(values), loops.turning
    return float(values[:, ~turning].max(initial=0.0)), float(values[:, turning].max(initial=0.0))


def undetermined_forces_of_run(system: System, q: np.ndarray, *, reactions: bool, turned: bool = False) -> list[str]:
    """Columns of cuts and reactions in which no rigid-body model can know the value; they have the least norm.

    The components are those along the base's axes, or, `turned`, along those of the link on which a wrench acts.
    """
    loops = system.loops
    if not loops.m or not len(q):
        return []
    J, _ = loops.jacobian(q[0])
    Z = constraint_null_space(loops.scaled(J).T)
    if not Z.shape[1]:
        return []
    count = Z.shape[1]
    places = np.repeat(q[:1], count, axis=0)
    forces = Forces(
        np.zeros((count, len(system.robot.driven) + len(system.robot.actuators))), (loops.row_scale[:, None] * Z).T
    )
    on_links, cuts = cut_wrenches_of_run(system, places, forces)
    wrenches = {(name, "lambda"): six for name, six in cuts.items()}
    acts_on = {(loop.name, "lambda"): loop.between[1] for loop in system.robot.loops}
    if reactions:
        still = np.zeros((count, system.robot.nv))
        bare = tree_reactions(system.robot, places, still, still)
        loaded = tree_reactions(system.robot, places, still, still, on_links)
        wrenches |= {(name, "reaction"): six - bare[name] for name, six in loaded.items()}
        acts_on |= {(link.joint.name, "reaction"): link.name for link in system.robot.links}
    if turned:
        placed = {"base": np.eye(4), **frames(system.robot, places)}
        wrenches = {
            one: wrenches_on_link(six, ZERO, placed[acts_on[one]][..., :3, :3]) for one, six in wrenches.items()
        }
    size = max(abs(six).max(initial=0.0) for six in wrenches.values())
    return [
        f"{name}.{suffix}.{component}"
        for (name, suffix), six in wrenches.items()
        for k, component in enumerate(WRENCH)
        if abs(six[:, k]).max() > 1e-6 * size
    ]
