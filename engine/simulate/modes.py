"""The events that end the modes of dry friction and stops, and what holds after them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .blows import NEAR, joint_touches_stops, state_after_blows
from .events import Rule, Watch, watch_by_rule
from .runner import Runner
from .signals import wanted_row_signals
from .sticking import (
    MOVING,
    SLACK,
    WEAKER,
    discrete_state_with_contacts,
    margin_of_shared_supports,
    overloaded,
    settle_sticking_modes,
    support_scale_of_sticking,
)
from .system import System

LOOSE = "breaks loose"
STOPS = "stops slipping"
TURNS = "turns back at its stop"
MOVES = "begins to move"
TINY = 1e-11  # singular values, relative to the largest, that are taken for 0
DEAD = 1e-5  # jumps of scaled speeds from which on there is a dead centre: a speed is 0 while the mechanism moves
AT_LIMITS = "reaches its lower limit", "reaches its upper limit"


def watches_of_present_modes(run: Runner, t: float, y: np.ndarray) -> list[Watch]:
    """The event functions of the present modes from (t, y) on; an event is a fall from positive to not positive."""
    system, discrete = run.system, run.discrete
    watched = [_speed(system, k, sign, STOPS) for k, sign in discrete.slip.items()]
    for k in discrete.idle:
        most = MOVING * system.loops.column_scale[k]
        watched += [_component(system.place_of(k), Rule(-sign, sign * most), MOVES, k, sign) for sign in (1.0, -1.0)]
    part = discrete.partition
    if part is not None and any(k not in part.given for k in discrete.held):
        watched.append(_shared_margin(run, t, y))
    else:
        supports = Supports(run)
        for k, (low, high) in discrete.held.items():
            for bound, direction in ((high, -1.0), (low, 1.0)):
                if math.isfinite(bound):
                    watched.append(_margin(supports, k, bound, direction))
    q = run.complete(t, y)[0] if system.stopped else []
    for k, stop in system.stopped.items():
        if k not in discrete.held:
            touched = joint_touches_stops(system, q, k)
            for side, bound, inwards, what in zip(touched, (stop.low, stop.high), (1.0, -1.0), AT_LIMITS):
                if side and k not in discrete.slip and k not in discrete.idle:
                    watched.append(_speed(system, k, inwards, TURNS))  # before its place is sampled again
                grazes = side and y[system.place_of(k)] * inwards < 0.0
                rule = Rule(inwards, bound, (2 * NEAR if grazes else SLACK) * (stop.high - stop.low))
                place = system.state_coordinates.index(stop.coordinate)
                watched.append(_component(place, rule, what, k, -inwards))
    return watched


def _speed(system: System, k: int, direction: float, what: str) -> Watch:
    """The watch on a speed in one direction."""
    return _component(system.place_of(k), Rule(direction, slack=SLACK), what, k, direction)


def _component(place: int, rule: Rule, what: str, k: int, direction: float) -> Watch:
    """The watch by a rule on a component of the state."""
    return watch_by_rule(lambda t, y: float(y[place]), ("state", place), rule, what, k, direction)


class Supports:
    """The supports at an instant, evaluated once for all event functions that ask for them."""

    def __init__(self, run: Runner):
        self.run = run
        self._at: tuple[float, np.ndarray | None] = math.nan, None
        self._supports: dict[int, float] = {}

    def __call__(self, t: float, y: np.ndarray, k: int) -> float:
        """The support of speed k."""
        if self._at[0] != t or self._at[1] is not y:
            self._at, self._supports = (t, y), self.run.supports(t, y, self.run.discrete)
        return self._supports[k]


def _margin(supports: Supports, k: int, bound: float, direction: float) -> Watch:
    """The watch on the distance of a support from its bound (upper with direction −1, lower with 1)."""
    rule = Rule(direction, bound, share=2 * SLACK, floor=support_scale_of_sticking(supports.run.system, k, 0.0))
    return watch_by_rule(lambda t, y: supports(t, y, k), ("support", k), rule, LOOSE, k, direction)


def _shared_margin(run: Runner, t: float, y: np.ndarray) -> Watch:
    """The watch on the margin within which all supports together can hold the mechanism."""
    k = run.discrete.still[0]

    def margin(t: float, y: np.ndarray) -> float:
        return margin_of_shared_supports(run, run.discrete, run.evaluate(t, y))

    if run.discrete.sharing:
        return watch_by_rule(margin, ("margin", k), Rule(1.0, slack=2 * SLACK), LOOSE, k, 0.0)
    # where rounding still holds what has been let go, that is asked again ten times as far behind
    rule = Rule(1.0, slack=min(max(2 * SLACK, -10.0 * margin(t, y)), WEAKER))
    return Watch(lambda t, y: rule(margin(t, y)), LOOSE, k)


def watches_of_pressed_joints(watched: Sequence[Watch], t: float, y: np.ndarray, soon: float) -> list[Watch]:
    """The watches on held joints that laws of time press beyond their bounds right behind t, `soon` at the latest.

    Where forces follow a plan with the joints' friction, they are at the bound as soon as the motion begins.
    """
    held = [one for one in watched if one.what == LOOSE and one.direction]
    return [one for one in held if not (then := one.function(soon, y)) > 0.0 and then < one.function(t, y)]


def let_go_of_pressed_joints(run: Runner, pressed: Sequence[Watch], t: float, y: np.ndarray) -> bool:
    """Let those of these joints go that are at their bounds already; their watches would see no fall to zero."""
    these = [one for one in pressed if not one.function(t, y) > 0.0]
    for one in these:
        _let_go(run, t, y, one.speed, one.direction)
    return bool(these)


def joint_is_at_limit(run: Runner, watch: Watch, t: float, y: np.ndarray) -> bool:
    """Whether the joint of a watch on its limits is stopped there: by its state after the event.

    Between steps its place is known less closely than the loops say, and at the end of a stroke it turns by itself.
    """
    touched = any(joint_touches_stops(run.system, run.complete(t, y)[0], watch.speed))
    return touched and not y[run.system.place_of(watch.speed)] * watch.direction > 0.0


def state_after_event(run: Runner, watch: Watch, t: float, y: np.ndarray) -> np.ndarray:
    """The state just after the event; the run gets the modes in which it goes on."""
    k, system = watch.speed, run.system
    dead = False
    if watch.what in (STOPS, TURNS):
        y, dead = _brought_to_rest(run, t, y, k)
    y = state_after_blows(run, t, y)
    y = settle_sticking_modes(run, t, y, loose=(k,) if watch.what == LOOSE else (), dead=(k,) if dead else ())
    if watch.what == LOOSE and watch.direction:
        if k in run.discrete.held:  # rounding must not hold a joint at its bound
            _let_go(run, t, y, k, watch.direction)
        for _ in system.switching:  # friction that is a little weaker may have held another one beyond its own
            over = overloaded(run, t, y)
            if over is None:
                break
            _let_go(run, t, y, *over)
    return y


def _let_go(run: Runner, t: float, y: np.ndarray, k: int, direction: float) -> None:
    """Let joint k go in this direction."""
    held, slip = dict(run.discrete.held), dict(run.discrete.slip)
    del held[k]
    if run.system.switching[k]:
        slip[k] = direction
    run.discrete = discrete_state_with_contacts(run, run.complete(t, y)[0], slip, held)


def least_change_of_speeds(J: np.ndarray, rates: np.ndarray, speeds: np.ndarray, kept: Sequence[int]) -> np.ndarray:
    """The least change with which constraints have these rates and the `kept` speeds stay; samples come first.

    The Jacobian J, the rates and the speeds are scaled, so that turns and shifts can be compared.
    """
    n = speeds.shape[-1]
    units = np.broadcast_to(np.eye(n)[list(kept)], (*J.shape[:-2], len(kept), n))
    rows = np.concatenate([J, units], axis=-2)
    off = np.concatenate([rates, speeds[..., list(kept)]], axis=-1) - (rows @ speeds[..., None])[..., 0]
    change: np.ndarray = (np.linalg.pinv(rows, rcond=TINY) @ off[..., None])[..., 0]
    return change


def _brought_to_rest(run: Runner, t: float, y: np.ndarray, k: int) -> tuple[np.ndarray, bool]:
    """The state with speed k exactly 0, and in a mechanism the other speeds to match, unless it is at a dead centre."""
    system, place = run.system, run.system.place_of(k)
    y = y.copy()
    y[place] = 0.0
    if not system.loops.m:
        return y, False
    q, qd = (np.array(x) for x in run.complete(t, y))
    loops, scale = system.loops, system.loops.column_scale
    rates = wanted_row_signals(system, t)[1] * loops.row_scale
    change = least_change_of_speeds(loops.scaled(loops.jacobian(q)[0]), rates, qd / scale, [*system.prescribed, k])
    if abs(change).max() > DEAD:
        return y, True
    for j in system.state_speeds:
        y[system.place_of(j)] += scale[j] * change[j]
    y[place] = 0.0
    return y, False
