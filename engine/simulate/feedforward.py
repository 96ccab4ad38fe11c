"""Feedforward: the forces of a planned motion by inverse dynamics, which a run applies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..machine.program import as_floats
from ..mechanics.closure import loop_closure
from ..mechanics.mechanisms import Balance, loop_balance_texts
from .follow import Path
from .recorded import run_equations_close_state
from .runner import Runner
from .situation import planned_feedforward_forces
from .systems.acting import actuator_forces_at_instants
from .systems.inputs import Inputs
from .systems.signals import Planned, wrench_signals_at
from .systems.system import System


def runner_with_feedforward(system: System, q: Sequence[float], **how: Any) -> Runner:
    """A run of the system from coordinates q, with feedforward planned if it has any; `how` as `Runner` takes it."""
    if system.inputs.feedforward and how.get("planned") is None:
        how["planned"] = feedforward_force_plan(system, q)
    return Runner(system, q, **how)


def feedforward_force_plan(system: System, q: Sequence[float]) -> Planned:
    """A function of time for the joint forces of the planned motion, with wrenches and dry friction."""
    if not system.loops.m:
        return _of_tree(system)
    return _motion_of_mechanism(system, q) if system.planning else _of_mechanism(system, q)


def _of_tree(system: System) -> Planned:
    """The planned forces of a tree as a function of time, straight from its references."""
    inputs, robot = system.inputs, system.robot

    def planned(t: Any) -> list[Any]:
        q: list[Any] = [0.0] * robot.nq
        qd, qdd = ([0.0] * robot.nv for _ in range(2))
        for motion in (*inputs.feedforward, *inputs.prescribed):
            joint = motion.joint
            places = (joint.coordinates, joint.speeds, joint.speeds)
            for target, source, columns in zip((q, qd, qdd), motion.at(t), places):
                for k, x in zip(columns, source):
                    target[k] = x if isinstance(t, np.ndarray) else float(x)
        return planned_feedforward_forces(
            system, q, qd, qdd, iter(wrench_signals_at(system, t)), _pushes(system, t, q, qd)
        )

    return planned


def feedforward_path(system: System, q: Sequence[float], t: float) -> Path:
    """The planned motion of a mechanism, followed from its positions at t so that the loops stay on their branch."""
    inputs = system.inputs
    led = Inputs(prescribed=(*inputs.feedforward, *inputs.prescribed), wrenches=inputs.wrenches, drives=inputs.drives)
    carried = tuple(k for k in system.coulomb if k not in {k for one in led.prescribed for k in one.joint.speeds})
    following = replace(
        system,
        inputs=led,
        carried=carried,
        closure="denoc",
        preferred=(),
        switches=False,
        stops=False,
        planning=False,
    )
    return Path(Runner(following, q), t, np.array(q, dtype=float))


def _motion_of_mechanism(system: System, q: Sequence[float]) -> Planned:
    """The planned motion of all joints of a mechanism as a function of time; NaN once it can't be followed."""
    followed: Path | None = None
    lost = False

    def planned(t: Any) -> list[Any]:
        nonlocal followed, lost
        if isinstance(t, np.ndarray):
            followed = followed or feedforward_path(system, q, float(t[0]))
            motion = followed.many(t)
            return [*motion.q.T, *motion.qd.T, *motion.qdd.T]
        followed = followed or feedforward_path(system, q, t)
        if not lost:
            places, speeds, accelerations, _ = followed.at(t)
            lost = followed.reached != t
        return [math.nan] * (system.robot.nq + 2 * system.robot.nv) if lost else [*places, *speeds, *accelerations]

    return planned


def system_that_plans(system: System, q: Sequence[float]) -> System:
    """The system of a mechanism whose equations find the forces of feedforward, if they can; else the same system.

    They can where these forces are those of the independent coordinates, and no mode depends on them.
    """
    run = Runner(replace(system, planning=True), q)
    led = {k for motion in (*system.inputs.feedforward, *system.inputs.prescribed) for k in motion.joint.speeds}
    modal, part = bool(system.switching or system.bounded), run.discrete.partition
    if part is None or modal or system.pushing or not run_equations_close_state(system):
        return system
    driven = {*system.robot.driven}
    fits = driven <= led and sorted(driven - {*part.given}) == sorted(part.independent)
    return run.system if fits and len(part.independent) == len(part.N) else system


def _of_mechanism(system: System, q: Sequence[float]) -> Planned:
    """The planned forces of a mechanism as a function of time, along a path that keeps its loops closed."""
    robot = replace(system.robot, actuators=(), vouched=True)  # those have laws, or do nothing
    loops = loop_closure(robot)
    followed: Path | None = None
    texts: Any = None

    def planned(t: Any) -> list[Any]:
        nonlocal followed
        followed = followed or feedforward_path(system, q, float(np.atleast_1d(t)[0]))
        if isinstance(t, np.ndarray):
            return _at_all(followed, t)
        places, speeds, accelerations, tau = followed.at(t)
        forces = [0.0] * robot.nv
        needed = (
            _balanced(t, places, speeds, accelerations) if tau is None or not system.led else tau[list(robot.driven)]
        )
        for k, x in zip(robot.driven, needed):
            forces[k] = float(x)
        return forces

    def _balanced(t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """The forces of the actuators at one instant, from those that the spanning tree needs."""
        nonlocal texts
        motion = q.tolist(), qd.tolist(), qdd.tolist()
        pushes = _pushes(system, t, *motion[:2])
        tree = as_floats(planned_feedforward_forces(system, *motion, iter(wrench_signals_at(system, t)), pushes))
        texts = texts or loop_balance_texts(loops)
        needed: np.ndarray = Balance(robot, q, loops, texts).solve(np.array(tree)).actuated[0]
        return needed

    def _at_all(path: Path, times: np.ndarray) -> list[Any]:
        """The forces at many instants."""
        motion, forces = path.many(times), np.zeros((robot.nv, len(times)))
        forces[list(robot.driven)] = motion.tau[:, list(robot.driven)].T
        for k in np.flatnonzero(~np.isfinite(motion.tau).all(axis=1) | (not system.led)).tolist():
            here = motion.q[k], motion.qd[k], motion.qdd[k]
            forces[list(robot.driven), k] = _balanced(float(times[k]), *here) if np.isfinite(here[0]).all() else np.nan
        return list(forces)

    return planned


def _pushes(system: System, t: Any, q: Sequence[Any], qd: Sequence[Any]) -> dict[int, Any]:
    """The forces by law of actuators that are no joint's, by their places, at one instant or at an array of them."""
    if not system.pushing:
        return {}
    times = np.atleast_1d(t)
    places, speeds = (np.array([np.broadcast_to(x, times.shape) for x in rows]).T for rows in (q, qd))
    forces = actuator_forces_at_instants(system, times, places, speeds)
    return {k: forces[:, k] if isinstance(t, np.ndarray) else float(forces[0, k]) for k in system.pushing}
