"""Section `closure`, and the start of a mechanism: coordinates and speeds that fit its loops, couplings and drives."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...laws import ComputedTorque, Feedforward, Hold
from ...mechanics.assembly import start_with_loops_closed, words_on_moved_initial
from ...mechanics.closure import METHODS, Closure, independent_constraint_rows, loop_closure
from ...mechanics.mechanisms import idle_spins
from ...mechanics.quantities import inertia
from ...robot import Joint
from ...simulate.inputs import Driving, Motion
from ...simulate.reference import Held
from . import motion, overdetermined
from .drives import Drives
from .forces import Forces
from .motion import Motions
from .reading import Reading


@dataclass(frozen=True)
class Start:
    """The start of a run, the motions that can be prescribed, the drives' laws, and warnings about moved values."""

    q0: list[float]
    qd0: list[float]
    prescribed: list[Motion]
    driving: list[Driving]
    warnings: tuple[str, ...] = ()


def read_constraints_of_scenario(reading: Reading, drives: Drives) -> Closure:
    """The constraints of the robot besides its tree's joints, which may be none."""
    _refuse_division(reading)
    if reading.file.drives:
        return Closure(reading.robot, drives.ties())
    return loop_closure(reading.robot)


def _refuse_division(reading: Reading) -> None:
    """Raises an error if the closure method divides by the inertia of a cut joint's double, which has none."""
    method = reading.file.closure.method
    idle = [loop.name for loop in reading.robot.loops if loop.doubled and not _has_rotors(reading, loop.name)]
    if idle and METHODS[method].divides:
        raise reading.error(
            ("closure", "method"),
            f"`{method}` divides by the inertia behind every joint of the spanning tree; behind `{idle[0]}`, a cut "
            "joint with a coordinate of its own, there is none",
            allowed=", ".join(name for name, row in METHODS.items() if not row.divides),
            hint="or cut another joint, or give this one a `rotor_inertia`",
        )


def _has_rotors(reading: Reading, joint: str) -> bool:
    """Whether each speed of a joint has a rotor."""
    return all(drive.rotor > 0.0 for drive in reading.robot.joint(joint).drives)


def read_preferred_speeds(reading: Reading) -> list[int] | None:
    """The speeds that the scenario chooses as independent, or None."""
    if reading.file.closure.independent is None:
        return None
    joints = [reading.joint("closure", name) for name in reading.file.closure.independent]
    return [k for joint in joints for k in joint.speeds]


def read_closed_start(
    reading: Reading,
    loops: Closure,
    drives: Drives,
    start: Start,
    motions: Motions,
    forces: Forces,
    references: dict[str, Motion],
) -> Start:
    """The start with all loops closed, and the motions that can be prescribed there."""
    firm, led, held = _ranked(motions, {one.joint.name for one in start.prescribed})
    q0 = _motion_starts(reading, start.q0, references, firm, led)
    order = list(dict.fromkeys([*firm, *map(reading.robot.joint, reading.file.initial), *led]))
    if reading.file.drives:  # a drive without a start of its own starts at the robot's position
        q0 = _coordinates(loop_closure(reading.robot), q0, [k for joint in order for k in joint.speeds])
        start = replace(start, driving=drives.laws(loops, q0))
        loops = loops.at(drives.values(loops, start.driving, reading.span[0]))
        drives.refuse_contradictions(loops, q0, [k for joint in firm for k in joint.speeds])
    q0, moved = overdetermined.read_surplus_coordinates(reading, loops, _coordinates, q0, order, held, start.q0)
    overdetermined.refuse_surplus_motions(reading, loops, q0, firm, motions)
    for kind in (ComputedTorque, Feedforward):
        planned = [joint for joint in led if isinstance(forces[joint][0], kind)]
        overdetermined.refuse_surplus_motions(reading, loops, q0, [*firm, *planned], motions)
    for joint in held:
        references[joint.name] = Held(joint, tuple(q0[k] for k in joint.coordinates))
    for joint in led:  # a motion without a start of its own starts at the robot's position
        references[joint.name] = motion.read_motion_of_joint(reading, joint, *motions[joint], q0)
    loose = {joint.name for joint in overdetermined.scenario_joints_decided_before(loops, q0, [*firm, *held])}
    prescribed = [references[one.joint.name] for one in start.prescribed if one.joint.name not in loose]
    qd0, changed = _speeds_at_start(reading, loops, replace(start, q0=q0, prescribed=prescribed))
    told = {joint.name for joint in motions} | {*reading.file.initial}
    return Start(q0, qd0, prescribed, start.driving, (*words_on_moved_initial(loops, q0, told), *moved, *changed))


def _motion_starts(
    reading: Reading, q0: Sequence[float], references: dict[str, Motion], firm: Sequence[Joint], led: Sequence[Joint]
) -> list[float]:
    """The coordinates at which the motions start; a joint that follows its motion by a force may start elsewhere."""
    q = list(q0)
    for joint in (*firm, *(joint for joint in led if joint.name not in reading.file.initial)):
        for k, x in zip(joint.coordinates, references[joint.name].at(reading.span[0])[0]):
            q[k] = float(x)
    return q


def _speeds_at_start(reading: Reading, loops: Closure, start: Start) -> tuple[list[float], list[str]]:
    """The speeds that keep all loops closed, and warnings about changed `rates`."""
    t0, qd0 = reading.span[0], list(start.qd0)
    for one in start.prescribed:
        for k, x in zip(one.joint.speeds, one.at(t0)[1]):
            qd0[k] = float(x)
    asked = overdetermined.read_given_rates(reading, start.qd0)
    zeros = [[k for k in joint.speeds if k not in one] for joint, one in asked.items()]
    known = [*(one.joint.speeds for one in start.prescribed), *(list(one) for one in asked.values()), *zeros]
    qd0 = _speeds(loops, start.q0, qd0, known, [float(drive.curve(t0)[1]) for drive in start.driving])
    return qd0, overdetermined.surplus_rate_warnings(reading, loops, qd0, asked)


def _ranked(motions: Motions, ruled: Collection[str]) -> tuple[list[Joint], list[Joint], list[Joint]]:
    """The joints in three groups: with a prescribed motion, with a force law that follows a motion, and merely held.

    Joints that hold because of `all`, or for want of an entry, give way to the others.
    """
    gentle = [j for j, (law, path) in motions.items() if path[1:] in ((), ("all",)) and law == Hold(law="hold")]
    firm = [joint for joint in motions if joint.name in ruled and joint not in gentle]
    led = [joint for joint in motions if joint.name not in ruled]
    return firm, led, [joint for joint in gentle if joint.name in ruled]


def _coordinates(loops: Closure, q0: Sequence[float], named: Sequence[int]) -> list[float]:
    """The initial coordinates with all loops closed; named speeds keep their place."""
    return [float(x) for x in start_with_loops_closed(loops, np.array(q0, dtype=float), named)]


def _speeds(
    loops: Closure, q0: Sequence[float], qd0: Sequence[float], named: Sequence[Sequence[int]], rates: Sequence[float]
) -> list[float]:
    """The speeds that keep the loops closed: named speeds as given, earlier groups first, other free ones 0.

    `rates` are those of the drives.
    """
    J, _ = loops.jacobian(np.array(q0))
    rows, dependent = loops.choice(J, [*loops.robot.driven])
    known = list(dict.fromkeys(k for group in named for k in group))
    if known:
        scaled = loops.scaled(J)
        rest = [k for k in range(loops.robot.nv) if k not in known]
        dependent = sorted(independent_constraint_rows(scaled[rows].T, [rest, *reversed(named)]))
    qd = np.array(qd0, dtype=float)
    qd[dependent] = 0.0
    if dependent:
        wanted = np.zeros(loops.m)
        wanted[loops.driven_rows()] = rates
        qd[dependent] = np.linalg.solve(J[np.ix_(rows, dependent)], wanted[rows] - J[rows] @ qd)
    return [float(x) for x in _without_spin(loops, np.array(q0), J, qd, known)]


def _without_spin(loops: Closure, q0: np.ndarray, J: np.ndarray, qd: np.ndarray, named: Sequence[int]) -> np.ndarray:
    """The speeds with rods' idle spins free of momentum about their axes, unless the scenario names them."""
    S = np.eye(loops.robot.nv)[list({*named, *loops.robot.driven})].reshape(-1, loops.robot.nv)
    Z = idle_spins(loops, J, S.T)
    if not Z.shape[1]:
        return qd
    M = inertia(loops.robot, q0)
    still: np.ndarray = qd - Z @ np.linalg.lstsq(Z.T @ M @ Z, Z.T @ M @ qd, rcond=None)[0]
    return still
