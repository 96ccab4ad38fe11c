"""Plain numbers of a robot's and a scenario's file that differ from run to run, read for all runs at once.

One of the runs is planned in full. The others differ from it in numbers on which nothing else of a plan depends:
masses, mass centres, inertias, dampers and springs of links, gravity, where and how fast joints start, constant forces
and wrenches, and the gains of force laws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import DenocError
from ..laws import Constant
from ..mechanics.closure import freedom_pivots_are_sound
from ..mechanics.tree import joint_pivots_are_sound
from ..robot import Body, Robot
from ..robot.read import Draft, LinkEntry, ReadLink, bodies_with_link_masses, inertia_of_link, joint_drives
from ..scenario import Plan
from ..simulate import ModeLimits, Runner, runner_with_feedforward
from ..simulate.many import Numbers, system_numbers_of_bodies
from ..simulate.systems import discrete_partition, gain_signal_columns, steady_signal_columns, steady_wrench_columns
from ..text import Keys
from ..text.fields import NO_BOUNDS, Bounds, Strict, reader_of_quantity_field
from .arguments import codegen_draft_with_arguments, codegen_file_part_with_value
from .vary_geometry import (
    OtherError,
    put_varied_limit,
    rebuild_varied_robots,
    runs_with_sound_limits,
    start_depends_on_inertia,
    start_varied_runs,
    varied_path_is_limit,
    varied_run_with_partition,
)

Values = Sequence[Any]  # of one key, one for each run
OF_MASS = ("mass", "com", "r", "first_moments", "inertia")  # keys of a link
OF_PLACE = ("a", "b", "alpha", "gamma", "d", "theta", "xyz", "rpy")  # keys of a joint
OF_RATIO = ("ratio", "offset")  # of a coupling
OF_DRIVE = (
    ("rotor_inertia",),
    ("friction", "viscous"),
    ("friction", "coulomb"),
    *(("spring", key) for key in ("stiffness", "rest", "damping")),
)
STATE, ALL = ("initial", "rates"), "all"  # sections of a scenario; the joints that a section doesn't name
FORCED = ("forces", "wrenches")  # further sections
GRAVITY = "gravity"  # of a robot


@dataclass(frozen=True)
class Varied:
    """The numbers of many runs, with a row for each in all arrays; runs that aren't `plain` are to be planned alone."""

    plain: np.ndarray
    y: np.ndarray
    signals: np.ndarray
    numbers: Numbers
    limits: ModeLimits
    run: Runner  # with the coordinates that all of them have


def varied_numbers_of_runs(
    plan: Plan,
    run: Runner,
    count: int,
    of_scenario: Mapping[Keys, Values],
    of_robot: Mapping[Keys, Values],
    base: Callable[[], Plan],
    *,
    independent: bool = False,
) -> Varied | None:
    """The numbers of so many runs, of which `plan` is the first, from their values by path in the files.

    None if other things differ as well. Where runs are to be `independent`, zeros aren't plain, whatever the others
    have, and numbers that no run has otherwise may be of any kind. `base` plans the scenario without variations.
    """
    robot = plan.robot
    if robot.document is None or (robot.closed and not plan.system.loops.m):
        return None
    acting = of_robot or any(path[0] == "wrenches" for path in of_scenario)
    if acting and plan.system.inputs.feedforward and not plan.system.planning:  # forces are those of each robot
        if plan.system.loops.m or plan.system.pushing:
            return None
        plan = replace(plan, system=replace(plan.system, planning=True))
        run = runner_with_feedforward(plan.system, plan.q0)
    draft = codegen_draft_with_arguments(robot) if of_robot else None
    if draft is not None and not draft.direct:
        return None
    plain = np.ones(count, dtype=bool)
    try:
        states = _columns(plan.file, of_scenario, plain, independent)
        numbers = _columns(draft.file, of_robot, plain, independent) if draft is not None else {}
        limited = {path: numbers.pop(path) for path in [*numbers] if varied_path_is_limit(path)}
        weights = {path: numbers.pop(path) for path in [*numbers] if path[0] == GRAVITY}
        for path, values in numbers.items():
            if _of_link(path):  # zero may mean that there is nothing
                plain &= (values != 0.0) == (independent or values[0] != 0.0)
            if draft is not None and _of_link(path) and path[2] == "mass":
                entry = draft.file.links[int(path[1])]  # only a link without mass may lack a mass centre
                plain &= entry.com is not None or entry.r is not None or entry.first_moments is not None
        placed = not all(_of_link(path) for path in numbers)
        if placed:
            made = rebuild_varied_robots(plan, numbers, plain)
        else:
            made = system_numbers_of_bodies(
                plan.system, robot.tree.bodies if draft is None else _bodies(robot, draft, numbers, plain)
            )
        gravity = tuple(weights.get((GRAVITY, k), x) for k, x in enumerate(robot.gravity))
        made = made._replace(regrouped=made.regrouped._replace(gravity=gravity))  # type: ignore[arg-type]
        moved = plan.system.loops.m and (placed or any(path[0] in STATE for path in states))
        if numbers and start_depends_on_inertia(plan):
            return None
        return _started(plan, base() if moved else None, run, made, states | limited, plain)
    except (OtherError, DenocError):
        return None


def _started(
    plan: Plan,
    base: Plan | None,
    run: Runner,
    numbers: Numbers,
    columns: Mapping[Keys, np.ndarray],
    plain: np.ndarray,
) -> Varied:
    """The runs at their starts; those of a mechanism that differ there go by the partition of `base`."""
    system, count = plan.system, len(plain)
    run = run if base is None else varied_run_with_partition(plan, base)
    signals = np.tile(run.signals(float(plan.grid[0])), (count, 1))
    start = (plan.q0, plan.qd0) if base is None else plan.asked
    q, qd = (np.tile(np.array(x, dtype=float), (count, 1)) for x in start)
    limits = ModeLimits.of(system, count)
    for path, values in columns.items():
        if varied_path_is_limit(path):
            put_varied_limit(plan, path, values, limits)
        else:
            _put(plan, path, values, q, qd, signals, plain)
    runs_with_sound_limits(system, columns, q, limits, plain)
    if base is not None:
        q, qd, bounds, numbers = start_varied_runs(plan, base, run, numbers, q, qd, plain)
        signals[:, signals.shape[1] - system.robot.nv :] = bounds
    y = np.column_stack([q[:, system.state_coordinates], qd[:, system.state_speeds], np.zeros((count, 2))])
    plain &= _movable(plan, run, numbers, y)
    if (coulomb := numbers.regrouped.coulomb) and not system.smooth:
        own = dict(zip(system.coulomb, coulomb))
        for c, k in enumerate(system.switching):
            limits.coulomb[:, c] = own.get(k, 0.0)
    return Varied(plain, y, signals, numbers, limits, run)


def varied_key_may_be_plain(key: str) -> bool:
    """Whether a dotted key, of the scenario or after `robot.` of the robot, may lead to a number that is known here."""
    first, *rest = key.split(".")
    if first != "robot":
        return first in (*STATE, *FORCED)
    if rest[:1] == [GRAVITY] or (len(rest) >= 3 and rest[0] == "links" and _known(rest[2], tuple(rest[3:]))):
        return True
    return _placed(rest) or varied_path_is_limit(rest)


def varied_key_is_of_dynamics(key: str) -> bool:
    """Whether a dotted key leads to a number of a link on which only forces depend, such as a mass."""
    first, *rest = key.split(".")
    if first != "robot" or len(rest) < 3 or rest[0] != "links":
        return False
    return (rest[2] in OF_MASS) if len(rest) < 4 or rest[2] != "joint" else tuple(rest[3:]) in OF_DRIVE


# ---- the numbers of one key


def _columns(
    model: Strict, given: Mapping[Keys, Values], plain: np.ndarray, independent: bool
) -> dict[Keys, np.ndarray]:
    """The values as arrays by path, with a column for each number of a list."""
    result: dict[Keys, np.ndarray] = {}
    for path, values in given.items():
        for whole, one in _each(path, values):
            known = (
                path[0] in (*STATE, *FORCED, GRAVITY) or _of_link(path) or _placed(path) or varied_path_is_limit(path)
            )
            differ = any(x is not one[0] and x != one[0] for x in one)
            if differ and not known:
                raise OtherError
            if differ or (independent and known):
                result[whole] = _column(model, whole, one, plain)
    return result


def _each(path: Keys, values: Values) -> list[tuple[Keys, Values]]:
    """The values of a key or, where these are lists, those of each place in the lists."""
    if not isinstance(values[0], list | tuple):
        return [(path, values)]
    size = len(values[0])
    rows = [value if isinstance(value, list | tuple) and len(value) == size else [math.nan] * size for value in values]
    return [((*path, k), [row[k] for row in rows]) for k in range(size)]


def _column(model: Strict, path: Keys, values: Values, plain: np.ndarray) -> np.ndarray:
    """The values of a key as an array; runs whose value the reader may not take for a number are struck off `plain`."""
    usual, bounds = _at(model, path)
    if _number(values[0]) != usual:  # another change has replaced it
        raise OtherError
    numbers = values if {*map(type, values)} == {float} else [_number(value) for value in values]
    column = np.array(numbers)
    plain &= np.isfinite(column)
    if bounds != NO_BOUNDS:
        plain &= ~np.array([bool(bounds.missed(x)) for x in column.tolist()])
    return np.where(plain, column, usual)


def _number(value: Any) -> float:
    """A plain number; NaN for everything else."""
    if isinstance(value, bool) or not isinstance(value, float | int):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _at(model: Strict, path: Keys) -> tuple[float, Bounds]:
    """The number at a path in a model, and its bounds."""
    value: Any = model
    reader = None
    try:
        for step in path:
            if isinstance(value, Strict):
                reader = reader_of_quantity_field(type(value), str(step))
                value = getattr(value, str(step))
            else:
                value = value[step]
    except (AttributeError, KeyError, IndexError, TypeError):
        raise OtherError from None
    if not isinstance(value, float):
        raise OtherError
    if reader is None and path[:1] != ("loops",) and not varied_path_is_limit(path):  # which may have other forms
        raise OtherError
    return value, reader.bounds if reader is not None else NO_BOUNDS


# ---- where joints start, forces and wrenches


def _put(
    plan: Plan,
    path: Keys,
    values: np.ndarray,
    q: np.ndarray,
    qd: np.ndarray,
    signals: np.ndarray,
    plain: np.ndarray,
) -> None:
    """Put the values of a key of the scenario into coordinates and speeds at the start or into the signals."""
    system, (section, name, *rest) = plan.system, path
    if section == "forces" and len(rest) == 1:
        _put_force(plan, str(name), str(rest[0]), values, signals, plain)
        return
    if section == "wrenches":
        column = steady_wrench_columns(system).get((name, *rest))
        if column is None:
            raise OtherError
        signals[:, column] = values
        return
    joint = next((one for one in plan.robot.moving if one.name == name), None)  # other sections name no joints
    if section not in STATE or rest or joint is None or joint.type.nq != 1 or joint not in system.free:
        raise OtherError
    inputs = system.inputs
    led = [*(one.joint for one in inputs.commanded), *(one.joint for one in inputs.feedforward)]
    if joint in led or any(one.speed in joint.speeds and one.reference is not None for one in inputs.driven):
        raise OtherError  # it follows a motion, which may begin there
    if section == "initial":
        q[:, joint.coordinates[0]] = values
    else:
        qd[:, joint.speeds[0]] = values


def _put_force(plan: Plan, name: str, key: str, values: np.ndarray, signals: np.ndarray, plain: np.ndarray) -> None:
    """Put the values of a law's key into the signals, for the joint of this name or for `all` that have the law."""
    system, law = plan.system, plan.file.forces[name]
    named = (lambda joint: joint.name not in plan.file.forces) if name == ALL else (lambda joint: joint.name == name)
    speeds = [k for joint in plan.robot.moving if named(joint) for k in joint.speeds]
    constant, gains = steady_signal_columns(system), gain_signal_columns(system)
    found = [k for k in speeds if k in constant or k in gains]
    if not found:
        raise OtherError
    for k in found:
        if key == "value" and isinstance(law, Constant) and k in constant:
            driven = next(one for one in system.inputs.driven if one.speed == k)
            plain &= (driven.low < values) & (values < driven.high)  # others end at the actuator's limits
            signals[:, constant[k]] = values
        elif key in law.gains() and k in gains:
            signals[:, gains[k][law.gains().index(key)]] = values
        else:
            raise OtherError


# ---- numbers of links


def _of_link(path: Keys) -> bool:
    """Whether a path of the robot's file leads to numbers of a link that are known here."""
    if len(path) < 3 or path[0] != "links" or not isinstance(path[1], int):
        return False
    return _known(path[2], path[3:])


def _known(key: str | int, within: Keys) -> bool:
    """Whether a link's key, and the path within its value, lead to numbers that are known here."""
    return key in OF_MASS or (key == "joint" and within in OF_DRIVE)


def _placed(path: Sequence[str | int]) -> bool:
    """Whether a path of the robot's file leads to numbers on which its geometry depends."""
    if len(path) < 3:
        return False
    room, _, key, *within = path
    if room == "links":
        return key == "points" or (key == "joint" and bool(within) and within[0] in OF_PLACE)
    return (room == "loops" and key in ("first", "second")) or (room == "couplings" and path[-1] in OF_RATIO)


def _bodies(robot: Robot, draft: Draft, columns: Mapping[Keys, np.ndarray], plain: np.ndarray) -> tuple[Body, ...]:
    """The bodies of the tree, with arrays in the places of the numbers that vary."""
    bodies, links = list(robot.tree.bodies), list(draft.links)
    changed: dict[int, dict[Keys, np.ndarray]] = {}
    for (_, k, *rest), values in columns.items():
        changed.setdefault(int(k), {})[tuple(rest)] = values
    for k, numbers in changed.items():
        if robot.tree.seats[links[k].link.name][0] is None:
            raise OtherError  # the ground
        entry = draft.file.links[k]
        for path, values in numbers.items():
            entry = codegen_file_part_with_value(entry, path, values)
        if any(path[0] in OF_MASS for path in numbers):
            links[k] = _with_inertia(links[k], entry, plain)
        joint = links[k].link.joint
        new = dict(
            zip(joint.speeds, joint_drives(entry.joint, joint.type, joint.coordinates[0] if joint.coordinates else 0))
        )
        bodies = [
            replace(body, drives=tuple(replace(new[k], pulls=old.pulls) for k, old in zip(body.speeds, body.drives)))
            if set(body.speeds) & set(new)
            else body
            for body in bodies
        ]
    return bodies_with_link_masses(bodies, robot.tree.seats, [links[k] for k in draft.order])


def _movable(plan: Plan, run: Runner, numbers: Numbers, y: np.ndarray) -> np.ndarray:
    """Whether each run, at its start, has an inertia to accelerate at every joint; what is in doubt isn't."""
    system, bodies = plan.system, numbers.bodies
    if not system.loops.m:  # where all runs begin at the same place, most of them have the same pivots
        columns = [x[0].item() if (x == x[0]).all() else np.ascontiguousarray(x) for x in y.T]
    else:
        columns = [np.ascontiguousarray(x) for x in y.T]
    motion = run.signals(float(plan.grid[0]))[: system.motion_signals]
    q, _, given = system.expanded(motion, columns)
    if not system.loops.m:
        sound = joint_pivots_are_sound(bodies, q, [k in given for k in range(plan.robot.nv)])
        return np.broadcast_to(sound, len(y))
    loops = system.loops.with_numbers(bodies, numbers.regrouped.ties, numbers.regrouped.couplings)
    known = freedom_pivots_are_sound(loops, discrete_partition(run.discrete), q)
    return np.zeros(len(y), dtype=bool) if known is None else known


def _with_inertia(link: ReadLink, entry: LinkEntry, plain: np.ndarray) -> ReadLink:
    """The link with the inertia that its entry now has; runs with numbers beyond floating point aren't `plain`."""
    with np.errstate(all="ignore"):
        made = inertia_of_link(entry, link.link.end)
    finite = np.isfinite(made.G).all(axis=(-2, -1)) & np.isfinite(made.about_com).all(axis=(-2, -1))
    plain &= finite
    return replace(link, G=np.where(finite[..., None, None], made.G, link.G))
