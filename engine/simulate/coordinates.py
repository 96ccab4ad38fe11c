"""The choice of a mechanism's independent coordinates during a run, and the states that its loops allow.

A tree has nothing to choose, and its states are as they are integrated, with Euler parameters of norm 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import InputError
from ..mechanics.assembly import CLOSED, close_loops_by_newton, close_many_positions_by_newton
from ..mechanics.closure import Partition, best_partition, independent_constraint_rows_of_many
from . import singular, svd_projection
from .integrators.events import Event
from .systems.discrete import Discrete, discrete_partition
from .systems.signals import prescribed_motion_at, wanted_row_signals, wanted_row_signals_over_time
from .systems.system import System

NEAR = 1e-3  # share of a pivot below which a singular position may be ahead
EARLY = 0.05  # share of a pivot below which a run that may switch takes other coordinates


# ---- the choice of independent coordinates


def discrete_state_at_start(system: System, q: np.ndarray) -> Discrete:
    """The discrete state of a run that starts at these coordinates, before any joint is held."""
    if not system.loops.m:
        return Discrete()
    wanted = system.robot.driven if system.preferred is None else system.preferred
    part = partition_at_run_positions(system, q, wanted)
    if preferred_speeds_at_start(system, part) != wanted:
        part = partition_at_run_positions(system, q, ())
    return Discrete(partition=part, near=nearness_of_pivot_guard(system))


def preferred_speeds_at_start(system: System, part: Partition) -> tuple[int, ...]:
    """The speeds that are to be independent: actuated ones only where they are as many as a partition's freedoms."""
    if system.preferred is not None:
        return system.preferred
    return system.robot.driven if len(part.N) + len(part.given) == len(system.robot.driven) else ()


def nearness_of_pivot_guard(system: System) -> float:
    """The share of a pivot at which the guard of a fresh partition is zero."""
    return EARLY if system.method.switches or system.switches or system.robot.rolls else NEAR


def partition_at_run_positions(
    system: System, q: np.ndarray, preferred: Sequence[int], held: Sequence[int] = ()
) -> Partition:
    """The partition at these positions that takes preferred speeds before others."""
    loops, given = system.loops, tuple(system.ruled)
    if held:
        ((given, _),) = speeds_given_at_positions(system, loops.scaled(loops.jacobian(q)[0])[None], held)
    return best_partition(loops, q, given, preferred, system.method.basis, summed=False)


def speeds_given_at_positions(
    system: System, J: np.ndarray, held: Sequence[int]
) -> list[tuple[tuple[int, ...], np.ndarray]]:
    """The speeds that are given where these are held, at positions with these scaled Jacobians, and at which of them.

    Of the held speeds, as many are given as are independent; the others then keep still by themselves.
    """
    ruled, more = system.ruled, [k for k in held if k not in system.ruled]
    m, first = J.shape[1], J.shape[1] + len(ruled)
    units = np.eye(system.robot.nv)[[*ruled, *more]]
    rows = np.concatenate([J, np.broadcast_to(units, (len(J), *units.shape))], axis=1)
    picks = independent_constraint_rows_of_many(rows, [range(m), range(m, first), range(first, rows.shape[1])])
    firm = (picks[:, :, None] == np.arange(first, rows.shape[1])).any(axis=1)
    return [
        ((*ruled, *(k for k, is_firm in zip(more, one) if is_firm)), np.flatnonzero((firm == one).all(axis=1)))
        for one in np.unique(firm, axis=0).tolist()
    ]


def independent_speeds_in_words(system: System, discrete: Discrete) -> str:
    """The joints whose speeds are independent, and how many combinations of all joints' speeds are."""
    part = discrete_partition(discrete)
    speeds, mixed = part.independent, len(part.N) - len(part.independent)
    words = [joint.name for joint in system.robot.moving if any(k in speeds for k in joint.speeds)]
    return ", ".join(words + [f"{mixed} combination{'s' * (mixed > 1)} of all joints' speeds"] * (mixed > 0))


# ---- the change to other coordinates


def guard_of_coordinates(system: System, discrete: Discrete) -> Event | None:
    """An event function with a zero where the independent coordinates become unusable; None if they can't."""
    if not system.loops.m or (system.method.recomputes_null_space and not discrete.passing):
        return None
    if discrete.passing:
        return lambda t, y: 1.0 - singular.singularity_rank_margin(system, discrete, t, y) / discrete.near
    return lambda t, y: (
        singular.pivot_share_at_state(system, discrete, positions_in_run(system, t, y)) / discrete.near - 1.0
    )


def positions_in_run(system: System, t: float, y: np.ndarray) -> np.ndarray:
    """All coordinates at t."""
    return np.array(system.expanded(prescribed_motion_at(system, t), y.tolist())[0])


def state_after_guard(
    system: System, discrete: Discrete, t: float, y: np.ndarray, how: str, ahead: singular.Singular | None
) -> tuple[Discrete, np.ndarray, str]:
    """The discrete and continuous state to go on with where the guard is zero, and what was done.

    `ahead` is the singular position to which the motion leads, as `singular.singular_position_ahead` has predicted it.
    """
    q, held = positions_in_run(system, t, y), discrete.bearing
    if discrete.passing:
        discrete = replace(
            discrete,
            partition=partition_at_run_positions(system, q, (), held),
            near=nearness_of_pivot_guard(system),
            passing=False,
        )
        return discrete, settled_state(system, discrete, t, y), "through"
    switches = system.method.switches or system.switches
    if ahead is None and not switches:
        part = discrete_partition(discrete)
        fresh = partition_at_run_positions(system, q, part.independent, held)
        again = replace(discrete, partition=fresh, near=nearness_of_pivot_guard(system))
        sound = fresh.independent == part.independent and min(map(abs, fresh.pivots), default=1.0) > 0.0
        if sound and singular.pivot_share_at_state(system, again, q) > 0.1:
            return again, y, ""  # the same coordinates, in a better order
        return replace(discrete, near=discrete.near / 10), y, ""
    if ahead is not None and how == "stop" and not ahead.turned:
        return (replace(discrete, near=NEAR), y, "") if discrete.near > NEAR else (discrete, y, "stop")
    if ahead is not None and how == "through" and not ahead.coordinates:
        near = 2 * max(singular.singularity_rank_margin(system, discrete, t, y), 10 * NEAR)
        return replace(discrete, passing=True, near=near), y, "into"
    y = settled_state(system, discrete, t, y)
    q = positions_in_run(system, t, y)
    kept = singular.speeds_apart_from_contacts(system, discrete, q) if ahead is not None and ahead.turned else ()
    fresh = partition_at_run_positions(system, q, kept, held)
    return replace(discrete, partition=fresh, near=nearness_of_pivot_guard(system)), y, "switch"


# ---- states that the loops allow


def state_at_start(system: System, discrete: Discrete, q: Sequence[float], qd: Sequence[float]) -> np.ndarray:
    """The state at the run's start."""
    y = system.state(q, qd)
    if system.method.recomputes_null_space:
        part = discrete_partition(svd_projection.discrete_state_with_null_space(system, discrete, q))
        y[len(system.state_coordinates) : system.measured] = svd_projection.state_with_folded_speeds(system, part, qd)
    return y


def settled_state(system: System, discrete: Discrete, t: float, y: np.ndarray) -> np.ndarray:
    """The state with Euler parameters of norm 1 and, where the method closes them, positions and speeds closed."""
    y = system.unit(y)
    if not system.method.closes:
        return y
    loops, part = system.loops, discrete_partition(discrete)
    q, qd = (np.array(x) for x in system.expanded(prescribed_motion_at(system, t), y.tolist())[:2])
    values, rates, _ = wanted_row_signals(system, t)
    if discrete.passing:
        q, qd = singular.state_closed_where_firm(loops.at(values), q, qd, rates, part.given)
    else:
        q, _ = close_loops_by_newton(loops.at(values), q, [*part.given, *part.independent], near=True)
        right = np.concatenate([rates[list(part.rows)], qd[list(part.given)], part.basis(system.robot.nv) @ qd])
        with contextlib.suppress(np.linalg.LinAlgError):
            qd = np.linalg.solve(part.matrix(loops.jacobian(q)[0]), right)
    return _replaced(system, y, q, qd, discrete)


def _replaced(system: System, y: np.ndarray, q: np.ndarray, qd: np.ndarray, discrete: Discrete) -> np.ndarray:
    """The state with other coordinates and speeds, in which held joints have the speed 0 exactly."""
    y = y.copy()
    y[: len(system.state_coordinates)] = q[system.state_coordinates]
    y[len(system.state_coordinates) : system.measured] = qd[system.state_speeds]
    for k in discrete.held:
        y[system.place_of(k)] = 0.0
    return y


def settled_states(system: System, discrete: Discrete, times: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The settled states of many instants, all at once, or one by one where that doesn't close them."""

    def each() -> np.ndarray:
        rows = [settled_state(system, discrete, float(t), y) for t, y in zip(times, states)]
        return np.array(rows).reshape(states.shape)

    if not system.loops.m:
        return system.unit(states)
    part = discrete_partition(discrete)
    usual = system.method.closes and not discrete.passing and not set(discrete.bearing) - set(part.given)
    if not usual or not len(times):
        return each()
    with np.errstate(all="ignore"):
        try:
            return _settled_together(system, discrete, times, states)
        except (InputError, np.linalg.LinAlgError):
            return each()


def _settled_together(system: System, discrete: Discrete, times: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The settled states of many instants; those that aren't closed after few steps are settled by themselves."""
    loops, part, nq, nv = system.loops, discrete_partition(discrete), system.robot.nq, system.robot.nv
    given, cq = list(part.given), len(system.state_coordinates)
    closed = system.unit(states.copy())
    q, qd = np.empty((len(closed), nq)), np.empty((len(closed), nv))
    q[:, system.state_coordinates], qd[:, system.state_speeds] = closed[:, :cq], closed[:, cq : system.measured]
    for one in system.inputs.prescribed:
        for target, columns, source in zip((q, qd), (one.joint.coordinates, one.joint.speeds), one.at(times)):
            for k, values in zip(columns, source):
                target[:, k] = values
    _, rates, _ = wanted_row_signals_over_time(system, times)
    q, left = positions_closed_at_instants(system, discrete, times, q)
    right = np.concatenate([rates[:, list(part.rows)], qd[:, given], qd @ part.basis(nv).T], axis=1)
    qd = np.linalg.solve(part.matrix(loops.jacobian(q)[0]), right[..., None])[..., 0]
    closed[:, :cq], closed[:, cq : system.measured] = q[:, system.state_coordinates], qd[:, system.state_speeds]
    closed = states_with_joints_held(system, discrete, closed)
    for n in np.flatnonzero(~(left <= CLOSED)).tolist():
        closed[n] = settled_state(system, discrete, float(times[n]), states[n])
    return closed


def positions_closed_at_instants(
    system: System, discrete: Discrete, times: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions at many instants with the loops closed by a few steps of Newton's method, and the gaps that are left.

    What is given or independent is in its place already.
    """
    part = discrete_partition(discrete)
    free = [k for k in range(system.robot.nv) if k not in (*part.given, *part.independent)]
    values = wanted_row_signals_over_time(system, times)[0]
    return close_many_positions_by_newton(system.loops, q, part.rows, free, values)


def states_with_joints_held(system: System, discrete: Discrete, states: np.ndarray) -> np.ndarray:
    """The states with the speed 0 for all held joints."""
    states = states.copy()
    states[:, [system.place_of(k) for k in discrete.held]] = 0.0
    return states


def complete_state_rates(
    system: System, discrete: Discrete, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Speeds and accelerations of all joints, from those that are given or independent."""
    loops, part = system.loops, discrete_partition(discrete)
    K, N = part.matrix(loops.jacobian(q)[0]), part.basis(system.robot.nv)
    given, rows = list(part.given), list(part.rows)
    _, rates, seconds = wanted_row_signals(system, t)
    speeds = np.linalg.solve(K, np.concatenate([rates[rows], qd[given], N @ qd]))
    _, drift = loops.jacobian(q, speeds)
    right = np.concatenate([(seconds - drift)[rows], qdd[given], N @ qdd])
    return speeds, np.linalg.solve(K, right)


def complete_state_rates_over_time(
    system: System, discrete: Discrete, times: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Speeds and accelerations of all joints at many instants, where all of them follow from prescribed motions."""
    loops, part, nv = system.loops, discrete_partition(discrete), system.robot.nv
    qd, qdd = np.zeros((2, len(times), nv))
    for motion in system.inputs.prescribed:
        for target, source in zip((qd, qdd), motion.at(times)[1:]):
            target[:, list(motion.joint.speeds)] = np.transpose(source)
    K, given, rows = part.matrix(loops.jacobian(q)[0]), list(part.given), list(part.rows)
    _, rates, seconds = wanted_row_signals_over_time(system, times)
    speeds = np.linalg.solve(K, np.concatenate([rates[:, rows], qd[:, given]], axis=1)[..., None])[..., 0]
    right = np.concatenate([(seconds - loops.jacobian(q, speeds)[1])[:, rows], qdd[:, given]], axis=1)
    return speeds, np.linalg.solve(K, right[..., None])[..., 0]
