"""The events that end the modes of dry friction and stops, and what holds after them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..machine.program.scalars import as_float, as_floats
from ..mechanics.assembly import close_loops_by_newton
from . import coordinates, saturation
from .blows import jumping_rates, states_after_blows
from .contacts import NEAR, Contacts, Limits, discrete_state_of_contacts, joints_touching_stops
from .discrete import Discrete, discrete_states_are_alike
from .events import Rule, Watch, watch_by_rule
from .instants import Instants, Moved
from .response import Scaled
from .runner import Runner
from .signals import prescribed_motion_at, wanted_row_signals
from .sticking import settled_modes, states_brought_to_rest
from .system import System

LOOSE = "breaks loose"
STOPS = "stops slipping"
TURNS = "turns back at its stop"
MOVES = "begins to move"
AT_LIMITS = "reaches its lower limit", "reaches its upper limit"
MOVING = 1e-8  # radians or lengths of the mechanism per second: an idle joint that is faster isn't idle any more
# A mode is left as soon as its event function is not positive, but many a mode starts where that function is zero: at
# rest, or at the stop itself. If it then goes the wrong way, that must be seen too, hence a little slack.
SLACK = 1e-12
SOON = 1e-6  # of a run's length: a joint that breaks loose within it does so at once
WIDER = 10.0  # times the slack of a support, where rounding still holds what has been let go


class Alone(Instants):
    """A single run at one instant."""

    def __init__(self, run: Runner, t: float):
        self.run, self.system, self.at = run, run.system, t
        self.t, self.limits, self.bodies = np.array([run.within(t)]), Limits.of(run.system, 1), run.system.model.bodies
        loops = run.system.loops
        self.scale = np.ones((1, run.robot.nv)) if not loops.m else loops.column_scale[None]

    def some(self, these: np.ndarray) -> Instants:
        """The run itself."""
        return self

    def motion(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All coordinates and speeds of the robot."""
        q, qd = self.run.complete(self.at, y[0])
        return np.array([q]), np.array([qd])

    def demanded(self, y: np.ndarray) -> np.ndarray:
        """The forces by the laws of bounded actuators, whatever their limits."""
        forces = saturation.demanded_actuator_forces(self.run, self.at, y[0])
        return np.array([[forces[k] for k in self.system.bounded]])

    def moved(self, y: np.ndarray, contacts: Contacts) -> Moved:
        """How the system moves with these contacts, if no joint is held."""
        discrete = self.discrete(y, contacts)
        if not self.system.loops.m:
            qdd = self.run.accelerations(self.at, y[0], discrete)[None]
            return Moved(qdd, np.zeros_like(qdd))
        now = self.run.evaluate(self.at, y[0], discrete)
        qdd, tau, resistance = (np.array([as_floats(x)]) for x in (now.qdd, now.tau, now.resistance))
        return Moved(qdd, abs(tau) + abs(resistance))

    def accelerations(self, y: np.ndarray) -> np.ndarray:
        """All accelerations in the present modes."""
        return self.run.accelerations(self.at, y[0], self.run.discrete)[None]

    def constraints(self, q: np.ndarray) -> Scaled:
        """The scaled constraints at these coordinates."""
        loops = self.system.loops
        if not loops.m:
            return Scaled(np.zeros((1, 0, self.run.robot.nv)), np.zeros((1, 0)))
        rates = wanted_row_signals(self.system, self.at)[1] * loops.row_scale
        return Scaled(loops.scaled(loops.jacobian(q[0])[0])[None], rates[None])

    def closed(self, q: np.ndarray, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates nearby with closed loops, where these speeds keep theirs, and the gap that is left."""
        values = wanted_row_signals(self.system, self.at)[0]
        moved, left = close_loops_by_newton(self.system.loops.at(values), q[0], kept, near=True)
        return moved[None], np.array([left])

    def discrete(self, y: np.ndarray, contacts: Contacts) -> Discrete:
        """The discrete state of the run with these contacts; in a mechanism, with a partition that fits them."""
        now, run = self.run.discrete, self.run
        made = discrete_state_of_contacts(now, contacts, self.limits, self.system, 0)
        if discrete_states_are_alike(made, now):
            return now
        if made.partition is None or made.bearing == now.bearing:
            return made
        preferred = run.system.preferred if run.system.preferred is not None else run.robot.driven
        part = coordinates.partition_at_run_positions(run.system, self.motion(y)[0][0], preferred, made.bearing)
        return replace(made, partition=part, near=coordinates.nearness_of_pivot_guard(run.system))


def watches_of_present_modes(run: Runner, t: float, y: np.ndarray) -> list[Watch]:
    """The event functions of the present modes from (t, y) on; an event is a fall from positive to not positive."""
    system, discrete = run.system, run.discrete
    watched = [_speed(system, k, sign, STOPS) for k, sign in discrete.slip.items()]
    for k in (*discrete.idle, *discrete.kept):
        most = MOVING * system.loops.column_scale[k]
        watched += [_component(system.place_of(k), Rule(-sign, sign * most), MOVES, k, sign) for sign in (1.0, -1.0)]
    supports = Supports(run)
    for k in discrete.bearing:
        for bound, direction in zip(discrete.held[k], (1.0, -1.0)):
            if math.isfinite(bound):
                watched.append(_margin(supports, k, Rule(direction, bound, discrete.slack[k]), direction))
    alone = Alone(run, t)
    touched = joints_touching_stops(system, alone.limits, alone.motion(y[None])[0]) if system.stopped else ()
    for k, stop in system.stopped.items():
        if k not in discrete.held:
            for sides, bound, inwards, what in zip(touched, (stop.low, stop.high), (1.0, -1.0), AT_LIMITS):
                side = sides[0, alone.columns.index(k)]
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


def breaks_loose_at_once(run: Runner, watched: Sequence[Watch], t: float, y: np.ndarray, duration: float) -> bool:
    """Whether laws of time press a held joint beyond its bound right behind t.

    Where forces follow a plan with the joints' friction, they are at the bound as soon as the motion begins. Compiled
    code, whose signals are continuous, doesn't see that they aren't there before.
    """
    if run.system.inputs.timeless or not run.discrete.held:
        return False
    return any(one.what == LOOSE and not one.function(t + SOON * duration, y) > 0.0 for one in watched)


def _margin(supports: Supports, k: int, rule: Rule, direction: float) -> Watch:
    """The watch on the distance of a support from its bound."""
    return watch_by_rule(lambda t, y: supports(t, y, k), ("support", k), rule, LOOSE, k, direction)


def joint_is_at_limit(run: Runner, watch: Watch, t: float, y: np.ndarray) -> bool:
    """Whether the joint of a watch on its limits is stopped there: by its state after the event.

    Between steps its place is known less closely than the loops say, and at the end of a stroke it turns by itself.
    """
    alone = Alone(run, t)
    lower, upper = joints_touching_stops(run.system, alone.limits, alone.motion(y[None])[0])
    touched = bool((lower | upper)[0, alone.columns.index(watch.speed)])
    return touched and not y[run.system.place_of(watch.speed)] * watch.direction > 0.0


def state_after_event(run: Runner, watch: Watch, t: float, y: np.ndarray) -> np.ndarray:
    """The state just after the event; the run gets the modes in which it goes on."""
    k, before, dead = watch.speed, run.discrete, False
    if watch.what in (STOPS, TURNS):
        rested, at_dead_centre = states_brought_to_rest(Alone(run, t), y[None], k)
        y, dead = rested[0], bool(at_dead_centre[0])
    y = state_after_blows(run, t, y)
    y = settle_sticking_modes(run, t, y, dead=(k,) if dead else ())
    if watch.what == LOOSE and (before.slip, before.bearing) == (run.discrete.slip, run.discrete.bearing):
        run.discrete = replace(run.discrete, slack={j: WIDER * x for j, x in before.slack.items()})
    return y


def state_after_blows(run: Runner, t: float, y: np.ndarray) -> np.ndarray:
    """The state of a single run after the blows of all joints that are at their stops and move outwards."""
    return np.asarray(states_after_blows(Alone(run, t), y[None])[0])


def settle_sticking_modes(run: Runner, t: float, y: np.ndarray, *, dead: tuple[int, ...] = ()) -> np.ndarray:
    """Chooses the modes in which a single run goes on from (t, y); returns the state with held joints exactly at rest.

    `dead` are speeds that are 0 at a dead centre.
    """
    at = Alone(run, t)
    states, contacts = settled_modes(at, y[None], np.array([[k in dead for k in at.columns]], dtype=bool))
    run.discrete = at.discrete(states, contacts)
    return np.asarray(states[0])


def state_after_rate_jump(run: Runner, earlier: float, later: float, y: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The state behind a kink, and the names of joints and drives whose prescribed rates jump there.

    A rate that jumps is a blow, by the same equations as at a stop; the drive exerts the impulse.
    """
    system = run.system
    names = jumping_rates(system, earlier, later)
    if not names:
        return y, []
    before = run.complete(later, y)[1]
    ahead = system.expanded(prescribed_motion_at(system, earlier), y.tolist())[1]
    for k in system.prescribed:
        before[k] = as_float(ahead[k])
    return states_after_blows(Alone(run, later), y[None], np.array([before]))[0], names
