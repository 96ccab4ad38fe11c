"""The start of a mechanism: coordinates and speeds that fit its loops, couplings and drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...errors import AssemblyError
from ...laws import ComputedTorque, Feedforward, Hold
from ...mechanics.assembly import joint_distance, start_with_loops_closed, words_on_moved_initial
from ...mechanics.closure import Closure, independent_constraint_rows, loop_closure
from ...mechanics.mechanisms import idle_spins
from ...mechanics.quantities import inertia
from ...robot import Joint
from ...simulate.systems import HeldJoint, Motion
from . import motion
from .drives import Drives
from .forces import Forces
from .initial import Start
from .motion import Motions
from .reading import Reading, follows_from_ties, numbers_in_words

SLACK = 1e-3  # rad or lengths of the mechanism (for speeds, per second): the largest change of a given value
ROUNDING = 1e-9  # in the same units: changes up to this aren't reported


def scenario_joints_decided_before(
    loops: Closure, q: Sequence[float], joints: Sequence[Joint], *, places: bool = False
) -> list[Joint]:
    """The joints whose motion, or whose place, follows from the loops and from the joints before them."""
    J, _ = loops.jacobian(np.array(q))
    scaled = loops.scaled(loops.holding(J) if places else J)
    rows = independent_constraint_rows(scaled, loops.row_groups())
    named = {k for joint in joints for k in joint.speeds}
    others = [k for k in range(loops.robot.nv) if k not in named]
    dependent = set(
        independent_constraint_rows(scaled[rows].T, [others, *(joint.speeds for joint in reversed(joints))])
    )
    return [joint for joint in joints if dependent & set(joint.speeds)]


def read_surplus_coordinates(
    reading: Reading,
    loops: Closure,
    q0: Sequence[float],
    order: Sequence[Joint],
    held: Sequence[Joint],
    asked: Sequence[float],
) -> tuple[list[float], list[str]]:
    """The closed coordinates, and warnings about moved values; joints stay at q0, the earlier ones of `order` first.

    `asked` holds the values under `initial`; those that don't fit are refused. Joints of `held` give way.
    """
    named = [reading.robot.joint(name) for name in reading.file.initial]
    q = _coordinates(loops, q0, [k for joint in order for k in joint.speeds])
    if _moved(loops, held, q, q0, ROUNDING):
        both = [*order, *(joint for joint in held if joint not in order)]
        loose = scenario_joints_decided_before(loops, q, both, places=True)
        with suppress(AssemblyError):  # the held joints stay as far as they can
            q = _coordinates(loops, q0, [k for joint in both if joint not in loose for k in joint.speeds])
    if not (_moved(loops, order, q, q0, ROUNDING) or _moved(loops, named, q, asked, ROUNDING)):
        return q, []
    follow = scenario_joints_decided_before(loops, q, order, places=True)
    kept = [k for joint in order if joint not in follow for k in joint.speeds]
    q = _coordinates(loops, q0, kept)
    if astray := _moved(loops, named, q, asked, SLACK):
        guess, fit = list(q0), q
        for k in (k for joint in follow for k in joint.coordinates):
            guess[k] = loops.robot.q0[k]
        with suppress(AssemblyError):  # from the robot file's guess, which the message names if the loops close so
            fit = _coordinates(loops, guess, kept)
        raise _misplaced(reading, loops, astray, asked, fit)
    return q, [
        f"`{joint.name}` starts at {numbers_in_words(q, joint.coordinates)} instead of "
        f"{numbers_in_words(asked, joint.coordinates)}: its place {follows_from_ties(loops.robot)} given"
        for joint in _moved(loops, named, q, asked, ROUNDING)
    ]


def _misplaced(
    reading: Reading, loops: Closure, astray: Sequence[Joint], asked: Sequence[float], fit: Sequence[float]
) -> Exception:
    """The error for a start that doesn't close the loops, with values that would."""
    first = astray[0]
    fitting = _moved(loops, astray, fit, asked, ROUNDING) or astray
    return reading.error(
        ("initial", first.name),
        f"`{first.name}` can't start there: its place {follows_from_ties(loops.robot)} given",
        found=numbers_in_words(asked, first.coordinates),
        allowed=", ".join(f"{joint.name}: {numbers_in_words(fit, joint.coordinates)}" for joint in fitting)
        + ", or no entry",
        hint="a guess that decides on the branch is `assembly` in the robot's file" if loops.ties else "",
    )


def refuse_surplus_motions(
    reading: Reading, loops: Closure, q0: Sequence[float], joints: Sequence[Joint], given: Motions
) -> None:
    """Raises an error if a motion follows from the loops and from the motions of the joints before it."""
    for joint in scenario_joints_decided_before(loops, q0, joints):
        raise reading.error(
            given[joint][1],
            f"the motion of `{joint.name}` {follows_from_ties(loops.robot)} prescribed",
            allowed="as many prescribed motions as there are freedoms, or fewer",
            hint="one of them contradicts the others, or says the same twice",
        )


def read_given_rates(reading: Reading, qd0: Sequence[float]) -> dict[Joint, dict[int, float]]:
    """The given rates by joint and speed; a 0 in a list of several counts as not given."""
    joints = [reading.robot.joint(name) for name in reading.file.rates]
    return {joint: {k: qd0[k] for k in joint.speeds if qd0[k] or joint.type.nv == 1} for joint in joints}


def surplus_rate_warnings(
    reading: Reading, loops: Closure, qd: Sequence[float], asked: Mapping[Joint, Mapping[int, float]]
) -> list[str]:
    """Warnings about values under `rates` that were changed; those that don't fit are refused."""
    warnings = []
    for joint, values in asked.items():
        off = max((abs(qd[k] - x) / max(loops.column_scale[k], abs(x)) for k, x in values.items()), default=0.0)
        if off <= ROUNDING:
            continue
        now = numbers_in_words(qd, joint.speeds)
        before = numbers_in_words({k: values.get(k, 0.0) for k in joint.speeds}, joint.speeds)
        if off > SLACK:
            raise reading.error(
                ("rates", joint.name),
                f"`{joint.name}` can't move so: its speed {follows_from_ties(loops.robot)} given",
                found=before,
                allowed=f"{joint.name}: {now}, or no entry",
            )
        warnings.append(
            f"`{joint.name}` starts with the speed {now} instead of {before}: it {follows_from_ties(loops.robot)} given"
        )
    return warnings


def _moved(
    loops: Closure, joints: Sequence[Joint], q: Sequence[float], asked: Sequence[float], far: float
) -> list[Joint]:
    """The joints that are farther than `far` from their given positions."""
    return [joint for joint in joints if joint_distance(loops, joint, q, asked) > far]


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
    ruled = {one.joint.name for one in start.prescribed}
    # joints that hold because of `all`, or for want of an entry, give way to the others
    gentle = [j for j, (law, path) in motions.items() if path[1:] in ((), ("all",)) and law == Hold(law="hold")]
    firm = [joint for joint in motions if joint.name in ruled and joint not in gentle]
    led = [joint for joint in motions if joint.name not in ruled]  # by a force law that follows a motion
    held, q0 = [joint for joint in gentle if joint.name in ruled], list(start.q0)
    for joint in (*firm, *(joint for joint in led if joint.name not in reading.file.initial)):
        for k, x in zip(joint.coordinates, references[joint.name].at(reading.span[0])[0]):
            q0[k] = float(x)
    order = list(dict.fromkeys([*firm, *map(reading.robot.joint, reading.file.initial), *led]))
    if reading.file.drives:  # a drive without a start of its own starts at the robot's position
        q0 = _coordinates(loop_closure(reading.robot), q0, [k for joint in order for k in joint.speeds])
        start = replace(start, driving=drives.laws(loops, q0))
        loops = loops.at(drives.values(loops, start.driving, reading.span[0]))
        drives.refuse_contradictions(loops, q0, [k for joint in firm for k in joint.speeds])
    q0, moved = read_surplus_coordinates(reading, loops, q0, order, held, start.q0)
    refuse_surplus_motions(reading, loops, q0, firm, motions)
    for kind in (ComputedTorque, Feedforward):
        planned = [joint for joint in led if isinstance(forces[joint][0], kind)]
        refuse_surplus_motions(reading, loops, q0, [*firm, *planned], motions)
    for joint in held:
        references[joint.name] = HeldJoint(joint, tuple(q0[k] for k in joint.coordinates))
    for joint in led:  # a motion without a start of its own starts at the robot's position
        references[joint.name] = motion.read_motion_of_joint(reading, joint, *motions[joint], q0)
    loose = {joint.name for joint in scenario_joints_decided_before(loops, q0, [*firm, *held])}
    prescribed = [references[one.joint.name] for one in start.prescribed if one.joint.name not in loose]
    qd0, changed = _speeds_at_start(reading, loops, replace(start, q0=q0, prescribed=prescribed))
    told = {joint.name for joint in motions} | {*reading.file.initial}
    return Start(q0, qd0, prescribed, start.driving, (*words_on_moved_initial(loops, q0, told), *moved, *changed))


def _speeds_at_start(reading: Reading, loops: Closure, start: Start) -> tuple[list[float], list[str]]:
    """The speeds that keep all loops closed, and warnings about changed `rates`."""
    t0, qd0 = reading.span[0], list(start.qd0)
    for one in start.prescribed:
        for k, x in zip(one.joint.speeds, one.at(t0)[1]):
            qd0[k] = float(x)
    asked = read_given_rates(reading, start.qd0)
    zeros = [[k for k in joint.speeds if k not in one] for joint, one in asked.items()]
    known = [*(one.joint.speeds for one in start.prescribed), *(list(one) for one in asked.values()), *zeros]
    qd0 = _speeds(loops, start.q0, qd0, known, [float(drive.curve(t0)[1]) for drive in start.driving])
    return qd0, surplus_rate_warnings(reading, loops, qd0, asked)


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
