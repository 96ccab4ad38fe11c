"""The signals of a run, which are inputs of its equations, in this order: motions, laws, effort limits, wrenches,
directions of slipping, supports that are kept, which speeds are held, drives, the inverse bounds of a partition's
pivots, and the model's numbers that are inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...machine.program import as_floats
from .delayed_state import DelayedInput, late_state, late_values
from .discrete import Discrete
from .inputs import Commanded, Driven
from .memory import ROUNDING
from .system import System

SIXES = "moment", "force"  # the keys of a wrench, in the order of its components
Before = tuple[np.ndarray, list[Any]]  # what is remembered of an earlier instant, and the prescribed motions there
Planned = Callable[[Any], Sequence[Any]]  # the forces of feedforward, for each speed, at one instant or at many


def sides_of_kink(t: float, grid: np.ndarray) -> tuple[float, float]:
    """Instants just before and just behind a kink of a law in a run over this grid.

    They are so far apart that the law, whose own kink is at t but for rounding, is on one side and on the other.
    """
    near = ROUNDING * float(np.spacing(abs(grid).max()))
    return t - near, t + near


def begin_of_run(grid: np.ndarray, kinks: Sequence[float]) -> float:
    """The instant at which a run over this grid begins: behind a kink of a law that is there."""
    first = float(grid[0])
    before, behind = sides_of_kink(first, grid)
    return behind if any(before <= x <= behind for x in kinks) else first


def signals_at(system: System, t: float, discrete: Discrete, planned: Planned, *, recalls: bool = True) -> list[float]:
    """All signals at t; `planned` is the function for the forces of feedforward.

    Without `recalls`, what laws with dead time see of the state is 0, for it isn't known yet.
    """
    return as_floats(_listed(system, t, discrete, planned, recalls))


def signal_rows(
    system: System, times: np.ndarray, discrete: Discrete, planned: Planned, *, recalls: bool = True
) -> np.ndarray:
    """All signals at many instants, with a row for each of them."""
    columns = _listed(system, times, discrete, planned, recalls)
    rows = np.empty((len(times), len(columns)))
    for k, column in enumerate(columns):
        rows[:, k] = column
    return rows


def _listed(system: System, t: Any, discrete: Discrete, planned: Planned, recalls: bool) -> list[Any]:
    """All signals at one instant, or as arrays at an array of instants; those that don't vary may be numbers."""
    inputs, before = system.inputs, dict[float, Before]()
    numbers = _motion(system, t)
    for one in inputs.commanded:
        for values in one.reference.at(t):
            numbers += values
        if system.tuned:
            numbers += one.gains
    for driven, seen in zip(inputs.driven, system.seen):
        if seen is not None:
            if driven.dead_time not in before:
                before[driven.dead_time] = _before(system, t - driven.dead_time, recalls)
            numbers += late_values(seen, *before[driven.dead_time])
        if driven.timed:
            numbers.append(_each(lambda x: driven.at_time(x, system.tuned), t))  # noqa: B023
        elif driven.whole is not None:
            numbers += [t] * driven.whole.timed
        elif driven.reference is not None:
            places, rates, _ = driven.reference.at(t)
            numbers += (places[driven.place], rates[driven.place])
        if system.tuned:
            numbers += driven.gains
    if system.planning and system.follows:
        numbers += planned(t)
    elif system.planning:
        numbers += _planned_motion(system, t)
    elif inputs.feedforward:
        wanted = planned(t)
        numbers += (wanted[k] for one in inputs.feedforward for k in one.joint.speeds)
    for k in system.bounded:  # the factor of the law's force, and the force in its place
        numbers += (0.0, discrete.saturated[k]) if k in discrete.saturated else (1.0, 0.0)
    numbers += wrench_signals_at(system, t)
    if not system.smooth:
        numbers += (discrete.slip.get(k, 0.0) for k in system.coulomb)
    numbers += (discrete.kept.get(k, 0.0) for k in system.keeping)
    numbers += (float(k in discrete.held) for k in discrete.switched)
    numbers += (x for part in zip(*(drive.curve(t) for drive in inputs.drives)) for x in part)
    return numbers + _limits(discrete) + system.numbers


def _before(system: System, t: Any, recalls: bool = True) -> Before:
    """What is remembered of an earlier instant, or of many, and the prescribed motions there."""
    memory = system.inputs.memory
    assert memory is not None
    begun = np.maximum(t, memory.start) if isinstance(t, np.ndarray) else max(t, memory.start)
    return memory.at(t) if recalls else np.zeros((*np.shape(t), len(system.remembered))), _motion(system, begun)


def late_state_at(system: System, driven: Driven, seen: DelayedInput, t: Any) -> tuple[list[Any], list[Any]]:
    """All coordinates and speeds as a law with dead time sees them at t, which is 0 for those that it doesn't read."""
    return late_state(system.robot, seen, iter(late_values(seen, *_before(system, t - driven.dead_time))))


def late_signal_columns(system: System) -> list[list[tuple[int, int]]]:
    """The places of signals that are components of an earlier state, and those components; for each dead time."""
    memory, at = system.inputs.memory, _first_of_forces(system)
    assert memory is not None
    columns: list[list[tuple[int, int]]] = [[] for _ in memory.dead_times]
    for one, seen in zip(system.inputs.driven, system.seen):
        if seen is not None:
            pairs = [(at + k, source) for k, source in enumerate(seen.sources) if source >= 0]
            columns[memory.dead_times.index(one.dead_time)] += pairs
        at += _width(system, one, seen)
    return columns


def steady_signal_columns(system: System) -> dict[int, int]:
    """The places of forces that are constant among the signals, by their speeds."""
    places, at = {}, _first_of_forces(system)
    for one, seen in zip(system.inputs.driven, system.seen):
        if one.timed and one.steady:
            places[one.speed] = at
        at += _width(system, one, seen)
    return places


def gain_signal_columns(system: System) -> dict[int, range]:
    """The places of gains among the signals, by the speeds of their laws."""
    places: dict[int, range] = {}
    if not system.tuned:
        return places
    at = system.motion_signals
    for commanded in system.inputs.commanded:
        at += _width_of_commanded(system, commanded)
        places |= dict.fromkeys(commanded.joint.speeds, range(at - len(commanded.gains), at))
    for one, seen in zip(system.inputs.driven, system.seen):
        at += _width(system, one, seen)
        if one.gains:
            places[one.speed] = range(at - len(one.gains), at)
    return places


def steady_wrench_columns(system: System) -> dict[tuple[int | str, ...], int]:
    """The places of constant components of wrenches among the signals, by their wrench, key and place."""
    first, sixes = first_mode_signal(system) + 2 * len(system.bounded), [(key, k) for key in SIXES for k in range(3)]
    wrenches = enumerate(system.inputs.wrenches)
    return {(w, *sixes[k]): first + 6 * w + k for w, one in wrenches for k in one.steady}


def own_signal_columns(system: System) -> list[int]:
    """The places of a run's signals that don't depend on time, nor on modes.

    These are constant forces and wrenches, gains, and pivots' bounds.
    """
    gains = sorted({place for places in gain_signal_columns(system).values() for place in places})
    forces = [*steady_signal_columns(system).values(), *gains, *steady_wrench_columns(system).values()]
    inputs = system.inputs
    behind = first_mode_signal(system) + 2 * len(system.bounded) + 6 * len(inputs.wrenches)
    behind += 0 if system.smooth else len(system.coulomb)
    behind += len(system.keeping) + 3 * len(inputs.drives)
    return [*forces, *range(behind, behind + system.pivots)]


def mode_columns(system: System) -> list[int]:
    """The places of signals that modes decide, in runs in which all joints of trees that may be held are switched."""
    first, bounded = first_mode_signal(system), 2 * len(system.bounded)
    behind = first + bounded + 6 * len(system.inputs.wrenches)
    slipping = 0 if system.smooth else len(system.coulomb)
    width = slipping + len(system.keeping) + len(system.signalled)
    return [*range(first, first + bounded), *range(behind, behind + width)]


def first_mode_signal(system: System) -> int:
    """The place of the first signal of modes: behind those of motions, laws and feedforward."""
    inputs = system.inputs
    joints = [one.joint for one in inputs.feedforward]
    planned = sum(joint.type.nv for joint in joints)
    if system.planning and system.follows:
        planned = system.robot.nq + 2 * system.robot.nv
    elif system.planning:
        planned = sum(joint.type.nq + 2 * joint.type.nv for joint in joints) + len(rubbing(system))
    return _first_of_forces(system) + sum(map(partial(_width, system), inputs.driven, system.seen)) + planned


def _first_of_forces(system: System) -> int:
    return system.motion_signals + sum(_width_of_commanded(system, one) for one in system.inputs.commanded)


def _width_of_commanded(system: System, one: Commanded) -> int:
    """The number of signals of a joint under computed torque."""
    return 3 * len(one.joint.speeds) + len(one.gains) * system.tuned


def _width(system: System, driven: Driven, seen: DelayedInput | None) -> int:
    """The number of signals of a force law."""
    gains = len(driven.gains) if system.tuned else 0
    gains += 0 if seen is None else len(seen.sources)
    if driven.whole is not None:
        return int(driven.whole.timed) + gains
    return (1 if driven.timed else 2 if driven.reference is not None else 0) + gains


def _each(function: Callable[[float], Any], t: Any) -> Any:
    """The values of a function that takes one instant at a time, at one instant or at an array of them."""
    return np.array([function(float(x)) for x in t]) if isinstance(t, np.ndarray) else np.array(function(t))


def prescribed_motion_at(system: System, t: float) -> list[float]:
    """Coordinates, speeds and accelerations of the prescribed joints at t."""
    return as_floats(_motion(system, t))


def _motion(system: System, t: Any) -> list[Any]:
    return [x for one in system.inputs.prescribed for values in one.at(t) for x in values]


def _planned_motion(system: System, t: Any) -> list[Any]:
    """The planned motion of all joints under feedforward, and the directions in which they rub."""
    motions = [one.at(t) for one in system.inputs.feedforward]
    speeds = dict(zip((k for one in system.inputs.feedforward for k in one.joint.speeds), _flat(m[1] for m in motions)))
    return [*_flat(part for motion in motions for part in motion), *(np.sign(speeds[k]) for k in rubbing(system))]


def rubbing(system: System) -> list[int]:
    """The speeds under feedforward that have dry friction."""
    led = [k for one in system.inputs.feedforward for k in one.joint.speeds]
    return [k for k in system.coulomb if k in led]


def _flat(parts: Iterable[Iterable[Any]]) -> list[Any]:
    return [x for part in parts for x in part]


def wrench_signals_at(system: System, t: Any) -> list[Any]:
    """The six components of each wrench of the scenario at t, or as arrays at an array of instants."""
    return [component(t) for one in system.inputs.wrenches for component in one.components]


def driven_row_signals(system: System, t: float) -> np.ndarray:
    """Values that the drives prescribe for their rows at t, with first and second rates: an array with three rows."""
    curves = [drive.curve(t) for drive in system.inputs.drives]
    return np.array([[float(x) for x in part] for part in zip(*curves)]).reshape(3, len(curves))


def wanted_row_signals(system: System, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of all constraint rows at t, with first and second rates; 0 except in the rows of drives."""
    loops = system.loops
    rows = np.zeros((3, loops.m))
    rows[:, loops.driven_rows()] = driven_row_signals(system, t)
    return rows[0], rows[1], rows[2]


def wanted_row_signals_over_time(system: System, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of all constraint rows at many instants, with first and second rates; each has a row for each instant."""
    loops = system.loops
    values, rates, seconds = np.zeros((3, len(times), loops.m))
    for row, drive in zip(loops.driven_rows(), system.inputs.drives):
        values[:, row], rates[:, row], seconds[:, row] = drive.curve(times)
    return values, rates, seconds


def _limits(discrete: Discrete) -> list[float]:
    near = 1.0 if discrete.passing else discrete.near
    limits: list[float] = pivot_limit_signals(np.array(discrete.pivots), near).tolist()
    return limits


def pivot_limit_signals(pivots: np.ndarray, near: float) -> np.ndarray:
    """The inverse bounds of pivots, of which no more than this share may be left; 0 where there is none."""
    with np.errstate(all="ignore"):
        return np.where(pivots == 0.0, 0.0, 1.0 / (pivots * near))
