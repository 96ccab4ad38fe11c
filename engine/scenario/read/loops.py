"""Section `closure`, and where a robot with loops, couplings or drives starts: closed, with speeds that keep it so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...closure.assemble import assembled
from ...closure.closure import Closure, closure
from ...closure.forces import idle_spins
from ...closure.methods import Parameters
from ...closure.rank import independent
from ...recursion import calls as tree
from ...robot.model import Joint
from ...simulate.inputs import Driving, Motion
from ...simulate.reference import Held
from .drives import Drives
from .motion import Motions
from .reading import Reading


@dataclass(frozen=True)
class Start:
    """Where a run starts, the motions that can be prescribed, and the drives' laws."""

    q0: list[float]
    qd0: list[float]
    prescribed: list[Motion]
    driving: list[Driving]


def constraints(reading: Reading, drives: Drives) -> Closure | None:
    """What ties the links together beside the tree's joints; None where nothing does."""
    if reading.file.drives:
        return Closure(reading.robot, drives.ties())
    return closure(reading.robot) if reading.robot.tied else None


def parameters(reading: Reading) -> Parameters:
    """The numbers of the methods of closing loops."""
    entry = reading.file.closure
    d = float(entry.d) if entry.d is not None else None
    return Parameters(float(entry.alpha), float(entry.beta), float(entry.sigma), float(entry.k), d)


def preferred(reading: Reading) -> list[int] | None:
    """The speeds that the scenario wants to be independent, if it says so."""
    if reading.file.closure.independent is None:
        return None
    joints = [reading.joint("closure", name) for name in reading.file.closure.independent]
    return [k for joint in joints for k in joint.speeds]


def closed(
    reading: Reading, loops: Closure, drives: Drives, start: Start, motions: Motions, references: dict[str, Motion]
) -> Start:
    """The start with all loops closed, and the motions that can be given; held joints start where that is."""
    t0, robot = reading.span[0], reading.robot
    q0, qd0, driving = start.q0, start.qd0, start.driving
    asked = [joint for joint, (_, path) in motions.items() if len(path) > 1]
    ruled = {motion.joint.name for motion in start.prescribed}
    for joint in asked:
        if joint.name in ruled or joint.name not in reading.file.initial:  # one that is led may start off its way
            for k, x in zip(joint.coordinates, references[joint.name].at(t0)[0]):
                q0[k] = float(x)
    named = {*asked, *(robot.joint(name) for name in reading.file.initial)}
    kept = [k for joint in named for k in joint.speeds]
    if reading.file.drives:  # a drive without a place of its own starts where the robot is
        q0 = _coordinates(closure(robot), q0, kept)
        driving = drives.laws(loops, q0)
        loops = loops.at(drives.values(loops, driving, t0))
        given = [k for joint in asked if joint.name in ruled for k in joint.speeds]
        drives.refuse_contradictions(loops, q0, given)
    q0 = _coordinates(loops, q0, kept)
    groups = [[j for j in asked if j.name in ruled], [j for j in motions if j.name in ruled and j not in asked]]
    firm = {joint.name for joint in _followed(loops, q0, groups)}
    for joint in groups[1]:
        place = tuple(q0[k] for k in joint.coordinates)
        references[joint.name] = Held(joint, place)
    firm_motions = [references[motion.joint.name] for motion in start.prescribed if motion.joint.name in firm]
    for motion in firm_motions:
        for k, x in zip(motion.joint.speeds, motion.at(t0)[1]):
            qd0[k] = float(x)
    with_rates = [robot.joint(name) for name in reading.file.rates]
    known = [k for joint in (*(motion.joint for motion in firm_motions), *with_rates) for k in joint.speeds]
    rates = [float(drive.curve(t0)[1]) for drive in driving]
    return Start(q0, _speeds(loops, q0, qd0, known, rates), firm_motions, driving)


def _coordinates(loops: Closure, q0: Sequence[float], named: Sequence[int]) -> list[float]:
    """The initial coordinates with all loops closed; what the scenario names is kept, else the actuated ones."""
    kept = list(named) or list(loops.robot.driven)
    return [float(x) for x in assembled(loops, np.array(q0, dtype=float), kept)]


def _followed(loops: Closure, q0: Sequence[float], groups: Sequence[Sequence[Joint]]) -> list[Joint]:
    """Of joints whose motion is given, those that can be; of more than the freedoms the later groups give way."""
    J, _ = loops.jacobian(np.array(q0))
    scaled = loops.scaled(J)
    rows = independent(scaled, [range(loops.m)])
    speeds = [[k for joint in group for k in joint.speeds] for group in groups]
    others = [k for k in range(loops.robot.nv) if not any(k in group for group in speeds)]
    dependent = independent(scaled[rows].T, [others, *reversed(speeds)])
    return [joint for group in groups for joint in group if not set(joint.speeds) & set(dependent)]


def _speeds(
    loops: Closure, q0: Sequence[float], qd0: Sequence[float], named: Sequence[int], rates: Sequence[float]
) -> list[float]:
    """Speeds that keep the loops closed: the named ones as they are given, the others 0 where they can be.

    `rates` are those of the drives.
    """
    J, _ = loops.jacobian(np.array(q0))
    rows, dependent = loops.choice(J, [*loops.robot.driven])
    if named:
        scaled = loops.scaled(J)
        rest = [k for k in range(loops.robot.nv) if k not in named]
        dependent = sorted(independent(scaled[rows].T, [rest, list(named)]))
    qd = np.array(qd0, dtype=float)
    qd[dependent] = 0.0
    if dependent:
        wanted = np.zeros(loops.m)
        wanted[loops.driven_rows()] = rates
        qd[dependent] = np.linalg.solve(J[np.ix_(rows, dependent)], wanted[rows] - J[rows] @ qd)
    return [float(x) for x in _without_spin(loops, np.array(q0), J, qd, named)]


def _without_spin(loops: Closure, q0: np.ndarray, J: np.ndarray, qd: np.ndarray, named: Sequence[int]) -> np.ndarray:
    """Rods that nothing keeps from spinning start without momentum about their axes, unless the scenario says more."""
    S = np.eye(loops.robot.nv)[list({*named, *loops.robot.driven})].reshape(-1, loops.robot.nv)
    Z = idle_spins(loops, J, S.T)
    if not Z.shape[1]:
        return qd
    M = tree.inertia(loops.robot, q0)
    return qd - Z @ np.linalg.lstsq(Z.T @ M @ Z, Z.T @ M @ qd, rcond=None)[0]
