"""The events that end the modes of dry friction and stops, and what holds after them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..machine.loops import RULE_SIZE
from ..machine.program import as_float, as_floats
from ..mechanics.assembly import close_loops_by_newton
from ..robot import Body
from . import coordinates, saturation
from .contacts import (
    NEAR,
    Contacts,
    ModeLimits,
    contacts_of_discrete_state,
    discrete_state_of_contacts,
    joints_that_graze,
    joints_touching_stops,
    stiction_force_ranges,
)
from .impacts import jumping_rates, states_after_blows
from .instants import Instants, Moved
from .integrators.events import Rule, Watch, Watched
from .response import Scaled
from .runner import Runner
from .sticking import settled_modes, states_brought_to_rest
from .systems.discrete import Discrete, discrete_states_are_alike
from .systems.signals import prescribed_motion_at, wanted_row_signals
from .systems.system import System

LOOSE = "breaks loose"
STOPS = "stops slipping"
TURNS = "turns back at its stop"
MOVES = "begins to move"
AT_LIMITS = "reaches its lower limit", "reaches its upper limit"
MOVING = 1e-8  # radians or lengths of the mechanism per second: an idle joint that is faster isn't idle any more
# A mode is left as soon as its event function is not positive, but many a mode starts where that function is zero: at
# rest, or at the stop itself. If it then goes the wrong way, that must be seen too, hence a little slack.
SLACK = 1e-12
WAYS = np.array([1.0, -1.0])  # upwards and downwards, off a lower bound and off an upper one
BOTH = np.ones(2, dtype=bool)
NONE = (0.0, 0.0, 1.0)  # the first numbers of a rule that is always positive; the others are 0
# whether watches are here, (runs, …, sides), with the first numbers of their rules
Part = tuple[np.ndarray, np.ndarray, np.ndarray | float, np.ndarray | float]
SOON = 1e-6  # of a run's length: a joint that breaks loose within it does so at once
WIDER = 10.0  # times the slack of a support, where rounding still holds what has been let go


class SingleInstant(Instants):
    """A single run at one instant."""

    def __init__(self, run: Runner, t: float):
        self.run, self.system, self.at = run, run.system, t
        self.t, self.limits = np.array([run.within(t)]), ModeLimits.of(run.system, 1)
        loops = run.system.loops
        self.scale = np.ones((1, run.robot.nv)) if not loops.m else loops.column_scale[None]

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of its system."""
        return self.system.model.bodies

    def some(self, these: np.ndarray) -> Instants:
        """The run itself."""
        return self

    def motion(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All coordinates and speeds of the robot."""
        q, qd = self.run.complete(self.at, y[0])
        return np.array([q]), np.array([qd])

    def present(self, y: np.ndarray) -> Contacts:
        """What holds the run in its present modes, and the stops that it touches in this state."""
        contacts = contacts_of_discrete_state(self.run.discrete, self.system)
        if not self.system.stopped:
            return contacts
        q, qd = self.motion(y[None])
        lower, upper = joints_touching_stops(self.system, self.limits, q)
        grazing = joints_that_graze(lower, upper, qd[:, self.columns])
        held = contacts.held
        sides = np.where(held, contacts.lower, lower), np.where(held, contacts.upper, upper)
        return replace(contacts, lower=sides[0], upper=sides[1], grazing=grazing)

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
        made = discrete_state_of_contacts(now, contacts, self.limits, self.system)
        if discrete_states_are_alike(made, now):
            return now
        if made.partition is None or made.bearing == now.bearing:
            return made
        preferred = run.system.preferred if run.system.preferred is not None else run.robot.driven
        part = coordinates.partition_at_run_positions(run.system, self.motion(y)[0][0], preferred, made.bearing)
        return replace(made, partition=part, near=coordinates.nearness_of_pivot_guard(run.system))


def watches_of_system(system: System) -> list[Watch]:
    """All that may be watched in a system's modes, in the order of `rules_of_watches`."""
    columns = list(system.switching)
    speeds = [(k, sign) for k in columns for sign in WAYS.tolist()]
    watches = [Watch(("state", system.place_of(k)), STOPS, k, sign) for k, sign in speeds]
    watches += [Watch(("state", system.place_of(k)), MOVES, k, sign) for k, sign in speeds] * 2
    watches += [Watch(("support", k), LOOSE, k, sign) for k, sign in speeds]
    for k, sign in speeds:
        if k in system.stopped:
            place = system.state_coordinates.index(system.stopped[k].coordinate)
            watches.append(Watch(("state", system.place_of(k)), TURNS, k, sign))
            watches.append(Watch(("state", place), AT_LIMITS[0 if sign > 0.0 else 1], k, -sign))
    for k, sign in ((k, sign) for k in system.bounded for sign in WAYS.tolist()):
        watches.append(Watch(("demand", k), saturation.LEAVES, k, sign))
        watches.append(Watch(("demand", k), saturation.REACHES, k, -sign))
    return watches


def rules_of_watches(at: Instants, contacts: Contacts) -> tuple[np.ndarray, np.ndarray]:
    """Those of a system's watches that any of the runs has in these modes, and their rules, (runs, watches, numbers).

    An event is a fall from positive to not positive. What watches have in pairs is upwards first: `WAYS`. The rule of a
    watch that a run hasn't begins with `NONE`.
    """
    limits, free = at.limits, ~contacts.held
    slips = (contacts.slip[:, :, None] == WAYS) & free[:, :, None]
    parts: list[Part] = [(slips, WAYS, 0.0, SLACK)]
    most = WAYS * MOVING * at.scale[:, at.columns, None]
    for still in (contacts.idle, contacts.held & ~contacts.bear):
        parts.append((still[:, :, None] & BOTH, -WAYS, most, 0.0))
    bounds = np.stack(stiction_force_ranges(limits.coulomb, contacts.lower, contacts.upper), axis=2)
    bearing = (contacts.held & contacts.bear)[:, :, None] & np.isfinite(bounds)
    parts.append((bearing, WAYS, bounds, contacts.slack[:, :, None]))
    if at.system.stopped:
        S = [c for c, k in enumerate(at.columns) if k in at.system.stopped]
        low, high = limits.low[:, S], limits.high[:, S]
        sides = np.stack([contacts.lower[:, S], contacts.upper[:, S]], axis=2)
        turns = sides & (free & (contacts.slip == 0.0) & ~contacts.idle)[:, S, None]  # before a place is sampled again
        slack = np.where(sides & contacts.grazing[:, S, None], 2 * NEAR, SLACK) * (high - low)[:, :, None]
        zeros = np.stack([np.zeros_like(slack), np.stack([low, high], axis=2)], axis=3)
        here = np.stack([turns, free[:, S, None] & BOTH], axis=3)
        parts.append((here, WAYS[:, None], zeros, np.stack([np.full_like(slack, SLACK), slack], axis=3)))
    if at.system.bounded:
        bounds = np.stack([limits.least, limits.most], axis=2)
        size = np.where(np.isfinite(bounds), abs(bounds), 0.0).max(axis=2, keepdims=True)
        factor = WAYS / np.where(size, size, 1.0)
        there = contacts.saturated[:, :, None] == -WAYS
        here = np.stack([there, ~there & np.isfinite(bounds)], axis=3)
        parts.append((here, np.stack([-factor, factor], axis=3), bounds[..., None], saturation.SLACK))
    return _joined(parts)


def _joined(parts: Sequence[Part]) -> tuple[np.ndarray, np.ndarray]:
    """The places of watches that are here for any run, and their rules, from whether they are and three numbers."""
    first, places, rules = 0, [np.zeros(0, dtype=int)], [np.zeros((len(parts[0][0]), 0, RULE_SIZE))]
    for here, *numbers in parts:
        some = np.flatnonzero(here.reshape(len(here), -1).any(axis=0))
        if len(some):
            table = np.zeros((*here.shape, RULE_SIZE))
            for k, x in enumerate(numbers):
                table[..., k] = np.where(here, x, NONE[k])
            rules.append(table.reshape(len(here), -1, RULE_SIZE)[:, some])
            places.append(first + some)
        first += here[0].size
    return np.concatenate(places), np.concatenate(rules, axis=1)


def watches_of_present_modes(run: Runner, t: float, y: np.ndarray) -> list[Watched]:
    """The event functions of the present modes of a single run from (t, y) on."""
    system = run.system
    if not (system.switching or system.bounded):
        return []
    at, supports, watches = SingleInstant(run, t), Supports(run), watches_of_system(system)
    places, rules = rules_of_watches(at, at.present(y))
    return [_watched(run, supports, watches[n], Rule(*rule)) for n, rule in zip(places.tolist(), rules[0].tolist())]


def _watched(run: Runner, supports: Supports, watch: Watch, rule: Rule) -> Watched:
    """A watch by a rule, with its event function."""
    what, which = watch.source
    if what == "state":
        return Watched(watch, rule, lambda t, y: rule(float(y[which])))
    if what == "support":
        return Watched(watch, rule, lambda t, y: rule(supports(t, y, which)))
    return Watched(watch, rule, lambda t, y: rule(saturation.demanded_actuator_forces(run, t, y)[which]))


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


def breaks_loose_at_once(run: Runner, watched: Sequence[Watched], t: float, y: np.ndarray, duration: float) -> bool:
    """Whether laws of time press a held joint beyond its bound right behind t.

    Where forces follow a plan with the joints' friction, they are at the bound as soon as the motion begins. Compiled
    code, whose signals are continuous, doesn't see that they aren't there before.
    """
    if run.system.inputs.timeless or not run.discrete.held:
        return False
    return any(one.watch.what == LOOSE and not one.function(t + SOON * duration, y) > 0.0 for one in watched)


class After(NamedTuple):
    """Runs just after their events, as arrays with a row for each run."""

    y: np.ndarray
    contacts: Contacts
    dead: np.ndarray  # which joints are at rest because they are at a dead centre
    off: np.ndarray  # whether the joint that was to reach its limit isn't there, but for rounding between steps


def runs_after_events(at: Instants, y: np.ndarray, watches: Sequence[Watch], which: np.ndarray) -> After:
    """Runs at events, `which` of these watches' they are (−1: none), and the modes in which they go on.

    Between steps a place is known less closely than the loops say, and at the end of a stroke a joint turns by itself.
    """
    dead, off = np.zeros((len(y), len(at.columns)), dtype=bool), np.zeros(len(y), dtype=bool)
    met = [(watches[n], np.flatnonzero(which == n)) for n in np.unique(which[which >= 0]).tolist()]
    for watch, rows in met:
        if watch.what in (STOPS, TURNS):
            c, y = at.columns.index(watch.speed), y.copy()
            y[rows], dead[rows, c] = states_brought_to_rest(at.some(rows), y[rows], watch.speed)
    y, contacts = settled_modes(at, states_after_blows(at, y), dead)
    there = (contacts.lower | contacts.upper) & ~contacts.grazing
    for watch, rows in met:
        if watch.what in AT_LIMITS:
            off[rows] = ~there[rows, at.columns.index(watch.speed)]
    return After(y, contacts, dead, off)


def state_after_event(run: Runner, watch: Watch, t: float, y: np.ndarray) -> tuple[np.ndarray, bool]:
    """The state just after the event, and whether its joint isn't at its limit; the run gets its new modes."""
    at, before = SingleInstant(run, t), run.discrete
    after = runs_after_events(at, y[None], [watch], np.zeros(1, dtype=int))
    run.discrete = at.discrete(after.y, after.contacts)
    if watch.what == LOOSE and (before.slip, before.bearing) == (run.discrete.slip, run.discrete.bearing):
        run.discrete = replace(run.discrete, slack={j: WIDER * x for j, x in before.slack.items()})
    return after.y[0], bool(after.off[0])


def state_after_blows(run: Runner, t: float, y: np.ndarray) -> np.ndarray:
    """The state of a single run after the blows of all joints that are at their stops and move outwards."""
    return np.asarray(states_after_blows(SingleInstant(run, t), y[None])[0])


def settle_sticking_modes(run: Runner, t: float, y: np.ndarray) -> np.ndarray:
    """Chooses the modes in which a single run goes on from (t, y); returns the state with held joints at rest."""
    at = SingleInstant(run, t)
    states, contacts = settled_modes(at, y[None], np.zeros((1, len(at.columns)), dtype=bool))
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
    return states_after_blows(SingleInstant(run, later), y[None], np.array([before]))[0], names
