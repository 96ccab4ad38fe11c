"""Which joints with dry friction or stops stick, and which move.

A joint that sticks or lies at a stop has its motion given (it keeps still); the force that holds it, in addition to the
forces that act there already, is its support.  Friction gives a support from −F_c to F_c, a lower stop any force
upwards, an upper stop any downwards; outside that range the joint breaks loose.  Which of several joints break loose is
a complementarity problem (`complementarity.py`).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ..machine.program.scalars import as_float, as_floats
from . import coordinates, saturation
from .blows import joint_is_placed_at_stop, joint_touches_stops, state_with_joints_at_stops
from .complementarity import balance_contacts
from .discrete import Discrete
from .equations import Evaluation
from .response import Response, allowed_motions
from .runner import Runner
from .sharing import Sharing
from .signals import wrench_signals_at
from .situation import planned_feedforward_forces
from .system import System

RESTING = 1e-10  # radians or lengths of the mechanism per second: a slower joint is at rest at an event
SHORT = 0.1  # a joint that moves less than this with the mechanism is at rest only where it is slower by as much
MOVING = 1e-8  # radians or lengths of the mechanism per second: an idle joint that is faster isn't idle any more
DRIFTING = 1e-8  # of the square of speeds: a joint without lever and with more acceleration than this isn't idle
# A mode is left as soon as its event function is not positive, but many a mode starts where that function is zero: at
# rest, at the stop, at break-away itself. If it then goes the wrong way, that must be seen too, hence a little slack.
SLACK = 1e-12
NOISE = 1e-11  # of what meets in an acceleration: anything less is rounding
LEAST_SCALE = 1e-12  # of forces that overloads are compared with
SOON = 1e-6  # of a run's length: a joint that breaks loose within it does so at once
WEAKER = 1e-6  # relative: friction at break-away is reduced by this much, so that a joint that breaks loose moves


def settle_sticking_modes(
    run: Runner, t: float, y: np.ndarray, *, loose: Collection[int] = (), dead: Collection[int] = ()
) -> np.ndarray:
    """Chooses the modes in which the run goes on from (t, y); returns the state with held joints exactly at rest.

    `loose` are speeds whose supports have just reached their bounds, `dead` those that are 0 at a dead centre.
    """
    system = run.system
    run.discrete = saturation.discrete_state_with_saturation(run, t, y)
    if not system.switching:
        return y
    y = _placed_at_stops(run, t, y)
    q, qd = run.complete(t, y)
    ranges, idle = _ranges_at_rest(system, q, qd)
    idle = (*idle, *(k for k in dead if ranges.pop(k, None) is not None))
    still = {*ranges, *idle}
    moving = {k: math.copysign(1.0, qd[k]) for k in system.coulomb if system.switching.get(k) and k not in still}
    y = y.copy()
    for k in still:
        y[system.place_of(k)] = 0.0
    if idle:
        moving |= _carried_off(run, t, y, discrete_state_with_contacts(run, q, moving, ranges), idle)
    if (idle := tuple(k for k in idle if k not in moving)) != run.discrete.idle:
        run.discrete = replace(run.discrete, idle=idle)
    trial = discrete_state_with_contacts(run, q, moving, ranges)
    if ranges and (loose or not _holds(run, t, y, trial)):
        trial = _released(run, t, y, trial, moving, loose)
    run.discrete = trial
    return y


def _placed_at_stops(run: Runner, t: float, y: np.ndarray) -> np.ndarray:
    """The state in which those joints of a mechanism that rest at a stop are exactly there.

    Where stops of joints that move together are reached at once, a joint with a wider range would touch its own from
    farther away than the others, and bear alone what they all do.
    """
    system = run.system
    if not system.loops.m or not system.stopped:
        return y
    q, qd = run.complete(t, y)
    resting = _ranges_at_rest(system, q, qd)[0].items()
    at = {k: int(math.isfinite(high)) for k, (low, high) in resting if math.isinf(low) or math.isinf(high)}
    if all(joint_is_placed_at_stop(system.stopped[k], q, side) for k, side in at.items()):
        return y
    return state_with_joints_at_stops(run, t, y, at)


def _ranges_at_rest(
    system: System, q: list[float], qd: list[float]
) -> tuple[dict[int, tuple[float, float]], tuple[int, ...]]:
    """The ranges of forces that can hold the speeds at rest, where anything can hold them, and those that are idle.

    A joint without lever, at a dead centre or because the loops lock it, is idle: nothing presses on it, and its forces
    hold nothing, however large they are.
    """
    ranges = {k: bounds for k in system.switching if (bounds := _range(system, q, qd, k)) is not None}
    if not system.loops.m or not ranges:
        return ranges, ()
    scale = system.loops.column_scale
    levers = np.linalg.norm(allowed_motions(system, q, system.ruled), axis=1) / scale
    slow = RESTING * scale * np.where(levers > 0.0, np.minimum(1.0, levers / SHORT), 1.0)
    ranges = {k: bounds for k, bounds in ranges.items() if abs(qd[k]) <= slow[k]}
    return {k: bounds for k, bounds in ranges.items() if levers[k]}, tuple(k for k in ranges if not levers[k])


def _range(system: System, q: list[float], qd: list[float], k: int) -> tuple[float, float] | None:
    """The range of forces that can hold speed k here; None where it moves, or where nothing can hold it."""
    scale = system.loops.column_scale[k] if system.loops.m else 1.0
    coulomb, (low, high) = system.switching[k], joint_touches_stops(system, q, k)
    if abs(qd[k]) > RESTING * scale or not (coulomb or low or high):
        return None
    return -math.inf if high else -coulomb, math.inf if low else coulomb


def _carried_off(run: Runner, t: float, y: np.ndarray, trial: Discrete, idle: Collection[int]) -> dict[int, float]:
    """The ways of those rough idle joints that the mechanism carries off: at a dead centre a joint's speed is 0 for an
    instant only, whatever forces act in it.
    """
    qd, scale = np.array(run.complete(t, y)[1]), run.system.loops.column_scale
    if not qd.any():
        return {}
    rates = run.accelerations(t, y, trial)
    least = max(DRIFTING * abs(qd / scale).max() ** 2, SLACK * abs(rates / scale).max())
    clear = [k for k in idle if run.system.switching[k] and abs(rates[k]) > least * scale[k]]
    return {k: math.copysign(1.0, rates[k]) for k in clear}


def discrete_state_with_contacts(
    run: Runner, q: list[float], slip: dict[int, float], held: dict[int, tuple[float, float]]
) -> Discrete:
    """The discrete state with other joints held; in a mechanism, with a partition that fits them."""
    now, part = run.discrete, run.discrete.partition
    if part is not None and tuple(sorted(held)) != now.still:
        preferred = run.system.preferred if run.system.preferred is not None else run.robot.driven
        part = coordinates.partition_at_run_positions(run.system, np.array(q), preferred, tuple(sorted(held)))
        now = replace(now, near=coordinates.nearness_of_pivot_guard(run.system))
    return now.with_contacts(slip, held, part)


def _holds(run: Runner, t: float, y: np.ndarray, trial: Discrete) -> bool:
    """Whether all joints that are held in this discrete state can be."""
    if trial.partition is None:
        supports = run.supports(t, y, trial)
        return all(_excess(run.system, k, supports[k], bounds) <= SLACK for k, bounds in trial.held.items())
    now = run.evaluate(t, y, trial)
    if len(now.support) < len(trial.held):
        return margin_of_shared_supports(run, trial, now) >= -SLACK
    return all(_excess(run.system, k, as_float(now.support[k]), trial.held[k]) <= SLACK for k in trial.held)


def margin_of_shared_supports(run: Runner, discrete: Discrete, now: Evaluation) -> float:
    """The margin within which all supports together can hold the mechanism."""
    if now.margin is not None:
        return as_float(now.margin)
    return Sharing(run.system, discrete, np.array(now.q)).margin(supports_of_held_speeds(now))


def supports_of_held_speeds(now: Evaluation) -> dict[int, float]:
    """The supports of held speeds as numbers."""
    return {k: as_float(x) for k, x in now.support.items()}


def _excess(system: System, k: int, support: float, limits: tuple[float, float]) -> float:
    """The distance of a support beyond its range, relative to the size of the forces; negative within the range."""
    return max(support - limits[1], limits[0] - support) / support_scale_of_sticking(system, k, support)


def overloaded(run: Runner, t: float, y: np.ndarray) -> tuple[int, float] | None:
    """The held joint whose support is farthest beyond its range, and the way in which it would move, if there is one.

    Supports of joints that share them have no ranges of their own.
    """
    held = run.discrete.held
    now = run.evaluate(t, y) if held else None
    if now is None or len(now.support) < len(held):
        return None
    supports = supports_of_held_speeds(now)
    excess = {k: _excess(run.system, k, supports[k], bounds) for k, bounds in held.items()}
    worst = max(excess, key=excess.__getitem__)
    return (worst, -1.0 if supports[worst] > held[worst][1] else 1.0) if excess[worst] > 2 * SLACK else None


def support_scale_of_sticking(system: System, k: int, support: float) -> float:
    """The force with which an overload of joint k is compared."""
    return max(LEAST_SCALE, system.switching[k], abs(support))


def _released(
    run: Runner, t: float, y: np.ndarray, trial: Discrete, moving: dict[int, float], loose: Collection[int]
) -> Discrete:
    """The discrete state in which those joints move, out of those at rest, whose holding forces are at their bounds."""
    system, still = run.system, list(trial.still)
    q = run.complete(t, y)[0]
    free, response = discrete_state_with_contacts(run, q, moving, {}), Response.of(system, q, system.ruled)
    if not system.loops.m:
        rates = run.accelerations(t, y, free)
        acting = abs(response.M @ rates)  # but for gravity and terms of speed
    else:
        now = run.evaluate(t, y, free)
        rates = np.array(as_floats(now.qdd))
        acting = abs(np.array(as_floats(now.tau))) + abs(np.array(as_floats(now.resistance)))
    b, G = rates[still], response.compliance(still)
    size = _sizes(run, t, y, rates, acting, response)[still]
    low, high = np.array([trial.held[k] for k in still]).T
    if loose:
        low, high = weaker_bounds(G, b, low, high)
    s, a = balance_contacts(G, b, low, high, size)
    slip, held = dict(moving), dict(trial.held)
    for k, x, least in zip(still, a.tolist(), (NOISE * (size + abs(G) @ abs(s))).tolist()):
        if abs(x) > least:
            del held[k]
            if system.switching[k]:
                slip[k] = math.copysign(1.0, x)
    return discrete_state_with_contacts(run, q, slip, held)


def _sizes(
    run: Runner, t: float, y: np.ndarray, rates: np.ndarray, acting: np.ndarray, response: Response
) -> np.ndarray:
    """The sizes of what meets in each acceleration: forces of the sizes `acting`, gravity, terms of speed, constraints.

    Rounding is relative to these, and so to nothing that goes on elsewhere in the system.
    """
    system, (q, qd) = run.system, run.complete(t, y)
    wrenches = iter(wrench_signals_at(system, run.within(t)))
    bias = planned_feedforward_forces(system, q, qd, [0.0] * len(qd), wrenches, {})
    return response.sizes(rates, acting + abs(np.array(as_floats(bias))))


def weaker_bounds(G: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slightly narrower bounds, with which a joint that has just come to its bound moves."""
    gain = np.diag(G)
    needed = np.where(gain > 0.0, abs(b) / np.maximum(gain, 1e-300), 0.0)
    rough = np.maximum(*(np.where(np.isfinite(x), abs(x), 0.0) for x in (low, high)))
    less = WEAKER * np.where(rough > 0.0, rough, needed)  # a pure stop has no limit, so the force on it is the measure
    return low + less, high - less
