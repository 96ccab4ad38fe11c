"""Runs of systems that differ in numbers only, side by side: their numbers are inputs of one program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...machine.backend import native_lanes
from ...machine.jit import Kernel, Offer
from ...machine.program import Program, Recording
from ...machine.stepping import March, build_compiled_loop
from ...mechanics.assembly import CLOSED, Alike, Measures
from ...mechanics.numbers import (
    Path,
    inertias_moved_towards_base,
    number_leaves_of_bodies,
    planted_bodies,
    shape_of_bodies,
)
from ...robot import Body
from ..contacts import Contacts, ModeLimits
from ..instants import Instants, Moved
from ..integrators.integrate import INTEGRATORS
from ..marching import ROWS_CLOSED
from ..recorded import held_speeds_with_supports, run_equations_outputs
from ..response import Scaled
from ..row_outputs import quantities_beside_state, widths_beside_state
from ..runner import Runner
from ..systems.discrete import Discrete
from ..systems.signals import mode_columns, own_signal_columns, signals_at, wanted_row_signals_over_time
from ..systems.system import Model, System, bodies_without_dry_friction, dry_friction_of_system
from ..trace import Solver

PASSES = 4  # of the equations' own closing, two iterations each, until a state's loops are closed
# (runs, states, contacts, without held joints) → accelerations with forces of actuators and friction; what is demanded
Ask = Callable[[np.ndarray, np.ndarray, Contacts, bool], tuple[np.ndarray, np.ndarray]]
Motion = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Numbers(NamedTuple):
    """All numbers of systems that may differ from run to run: with regrouped inertias, and the bodies' own.

    Those that do differ are arrays with a number for each run.
    """

    regrouped: Model
    bodies: tuple[Body, ...]
    length: float  # of a mechanism

    def arrays(self) -> dict[Path, np.ndarray]:
        """The arrays by their places."""
        return {path: x for path, x in number_leaves_of_bodies(self) if isinstance(x, np.ndarray)}

    def some(self, these: slice | np.ndarray) -> Numbers:
        """The numbers of some of the runs."""
        picked: Numbers = planted_bodies(self, {path: x[these] for path, x in self.arrays().items()})
        return picked


def numbers_of_system(system: System) -> Numbers:
    """The numbers of a system."""
    return Numbers(system.regrouped, system.model.bodies, system.loops.length)


def system_numbers_of_bodies(system: System, bodies: Sequence[Body]) -> Numbers:
    """The numbers of a system with the same structure but these bodies, whose numbers may be arrays."""
    own = bodies_without_dry_friction(bodies)
    model = system.model._replace(
        bodies=inertias_moved_towards_base(own), coulomb=dry_friction_of_system(system, bodies)
    )
    made = Numbers(model, own, system.loops.length)
    zeros: Numbers = planted_bodies(made, {path: 0.0 for path, x in made.arrays().items() if not x.any()})
    return zeros  # which belong to the structure


def joined_system_numbers(each: Sequence[Numbers]) -> Numbers:
    """The numbers of many systems of the same structure, each given by itself."""
    listed = np.array([[x for _, x in number_leaves_of_bodies(one)] for one in each]).T
    differ = (listed != listed[:, :1]).any(axis=1)
    places = zip((path for path, _ in number_leaves_of_bodies(each[0])), np.ascontiguousarray(listed), differ)
    result: Numbers = planted_bodies(each[0], {path: values for path, values, apart in places if apart})
    return result


def likeness_of_systems(run: Runner) -> tuple[str, ...]:
    """A key that is equal for runs whose systems, at their starts, differ in `Numbers` only."""
    system, robot = run.system, run.robot
    grounded = [(x.mass, x.com, robot.tree.seats[x.name]) for x in robot.links if robot.tree.seats[x.name][0] is None]
    return repr(system.structure()), repr(run.discrete.program), repr(shape_of_bodies(system.regrouped)), repr(grounded)


@dataclass(frozen=True)
class Starts:
    """The starts of runs that are alike, with a row for each run in all arrays; `run` is one of these runs."""

    run: Runner
    symbols: tuple[Path, ...]  # the places in `Numbers` of the numbers that differ
    numbers: np.ndarray  # these numbers
    constants: np.ndarray  # the signals that `own_columns` lists
    y: np.ndarray
    own: Numbers  # of all runs
    limits: ModeLimits
    known: dict[str, Equations] = field(default_factory=dict)  # by what they depend on; parts of the runs share them

    @staticmethod
    def of(run: Runner, signals: np.ndarray, y: np.ndarray, numbers: Numbers, limits: ModeLimits) -> Starts:
        """The starts of runs with these numbers, and these signals there."""
        # numbers that happen to be equal are inputs as well, so that the code is the same for other runs
        arrays = numbers.arrays()
        columns = np.column_stack([np.zeros((len(y), 0)), *arrays.values()])
        return Starts(run, tuple(arrays), columns, signals[:, own_signal_columns(run.system)], y, numbers, limits)

    @cached_property
    def modal(self) -> bool:
        """Whether the runs have modes: joints that stick or come to stops, actuators that reach their limits."""
        return bool(self.run.system.switching or self.run.system.bounded)

    @cached_property
    def discrete(self) -> Discrete:
        """The discrete state in which all runs start, before any joint is held.

        Which joints of trees are held is among the signals.
        """
        system = self.run.system
        return replace(self.run.discrete, switched=system.signalled)

    @cached_property
    def signals(self) -> int:
        """The number of signals without the numbers that differ."""
        blank = replace(self.run.system, symbols=None)
        return len(signals_at(blank, 0.0, self.discrete, self.run.planned))

    @cached_property
    def timed(self) -> list[int]:
        """The places of the signals that may depend on time: neither a run's own nor those of modes."""
        own = {*own_signal_columns(self.run.system), *mode_columns(self.run.system)}
        return [k for k in range(self.signals) if k not in own]

    @cached_property
    def bounds(self) -> slice:
        """The places of the inverse bounds of pivots among the signals; there are none for trees."""
        return slice(self.signals - self.run.system.pivots, self.signals)

    @cached_property
    def alike(self) -> Alike:
        """The constraints of all these mechanisms."""
        numbers = self.own.regrouped
        measures = Measures(self.own.bodies, numbers.ties, numbers.couplings)
        return Alike(self.run.system.loops, measures, len(self.y))

    def equations(self, discrete: Discrete) -> Equations:
        """The equations of all runs in a discrete state, made at the first request."""
        if discrete.name not in self.known:
            self.known[discrete.name] = Equations(self.run, self.symbols, self.own, self.signals, discrete)
        return self.known[discrete.name]

    # ---- inputs

    def inputs(self, signals: np.ndarray, these: np.ndarray) -> np.ndarray:
        """The inputs of the equations: (runs, instants, signals) of these runs, with what is their own."""
        signals[:, :, own_signal_columns(self.run.system)] = self.constants[these, None]
        numbers = np.broadcast_to(self.numbers[these, None], (*signals.shape[:2], len(self.symbols)))
        return np.concatenate([signals, numbers], axis=2)

    def bodies(self, these: np.ndarray) -> tuple[Body, ...]:
        """The bodies of these runs, with arrays in the places of numbers that differ."""
        return self.own.some(these).bodies

    def some(self, these: slice) -> Starts:
        """A part of the runs, with the same programs."""
        own = self.own.some(these)
        rows = {name: getattr(self, name)[these] for name in ("numbers", "constants", "y")}
        return replace(self, **rows, own=own, limits=self.limits.some(these))


@dataclass(frozen=True)
class Equations:
    """The equations of runs that are alike, in one discrete state, as programs with their numbers among the inputs."""

    run: Runner
    symbols: tuple[Path, ...]
    own: Numbers  # of all runs
    signals: int
    discrete: Discrete

    @cached_property
    def watched(self) -> int:
        """The number of quantities besides the state that watches read."""
        return self.widths.get("quantities", 0)

    @cached_property
    def widths(self) -> dict[str, int]:
        """The widths of the program's groups of outputs, in their order."""
        system = self.run.system
        row = system.robot.nq + 4 * system.robot.nv + len(held_speeds_with_supports(system, self.discrete))
        guard = {} if not system.loops.m else {"guard": 1}
        return {"rate": system.measured + 2, "row": row, **guard, **widths_beside_state(system, self.discrete)}

    @cached_property
    def offer(self) -> Offer:
        """The offer of the equations, with the numbers that differ among the inputs."""
        system, run = self.run.system, self.run
        mark = dict.fromkeys(self.symbols, "a number")
        own = planted_bodies(self.own, mark)
        key = (
            *likeness_of_systems(run),
            self.discrete.name,
            repr(own),
            repr(self.symbols),
            repr(self.signals),
        )
        inputs = self.signals + len(self.symbols), system.measured
        return Offer(self.program, inputs, list(self.widths.values()), lambda: key)

    def program(self) -> Program:
        """The recorded equations of a run, with all that its rows need."""
        system, recording = self.run.system, Recording("together")
        u, y = recording.input("u", self.signals + len(self.symbols)), recording.input("y", system.measured)
        numbers: Numbers = planted_bodies(self.own, dict(zip(self.symbols, u[self.signals :])))
        signals = u[: self.signals]
        now, groups = run_equations_outputs(system, self.discrete, signals, y, numbers.regrouped)
        more = quantities_beside_state(system, self.discrete, signals, y, now, *numbers)
        return recording.program(**groups, **more)

    def march(self, solver: Solver) -> March | None:
        """The compiled loop of these runs; None where there is no compiled code."""
        scheme, system, offer = INTEGRATORS[solver.method].abreast, self.run.system, self.offer
        assert scheme is not None, "these runs go by the compiled loop"
        sizes = system.measured + 2, system.measured, system.units

        def build(cached: bool) -> March | None:
            return build_compiled_loop(offer.program, scheme, *sizes, native_lanes(), offer.identity, cached)

        return offer.at_once("march", build)

    def code(self, cached: bool) -> Kernel | None:
        """The equations as compiled code for many samples; with `cached`, None if the cache doesn't have it."""
        return self.offer.kernel(cached)

    def groups(self, code: Kernel, inputs: np.ndarray, states: np.ndarray) -> dict[str, np.ndarray]:
        """What the code says about these states without quadratures, by the names of its groups of outputs."""
        found, _, _ = code(inputs, np.ascontiguousarray(states))
        return dict(zip(self.widths, found))


def shut_states(equations: Equations, code: Kernel, inputs: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Close the loops of all states, each by itself until nothing makes its gap smaller; say which are closed."""
    left, going = np.full(len(states), np.inf), np.arange(len(states))
    for _ in range(PASSES):
        found = equations.groups(code, inputs[going], states[going])["settled"]
        with np.errstate(all="ignore"):
            gap = np.sqrt(found[:, -1])
            better = gap < left[going]  # which isn't true of NaN
        these = going[better]
        states[these], left[these] = found[better, :-1], gap[better]
        going = these[gap[better] > ROWS_CLOSED]
        if not len(going):
            break
    return left <= CLOSED


class BatchInstants(Instants):
    """Some of the runs side by side, with the instants, and the contacts, at which they are."""

    def __init__(self, starts: Starts, these: np.ndarray, t: np.ndarray, present: Contacts, ask: Ask, motion: Motion):
        self.starts, self.these, self.t, self.present, self.ask, self.expanded = starts, these, t, present, ask, motion
        self.system, self.limits = starts.run.system, starts.limits.some(these)
        tree = not self.system.loops.m
        self.scale = np.ones((len(t), starts.run.robot.nv)) if tree else starts.alike.column_scale[these]

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of these runs."""
        return self.starts.bodies(self.these)

    def some(self, these: np.ndarray) -> Instants:
        """Some of them."""
        here = self.these[these], self.t[these], self.present.some(these)
        return BatchInstants(self.starts, *here, self.ask, self.expanded)

    def motion(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All coordinates and speeds of the robots."""
        return self.expanded(self.t, y)

    def demanded(self, y: np.ndarray) -> np.ndarray:
        """The forces by the laws of bounded actuators, whatever their limits."""
        none = Contacts.none(len(y), len(self.columns), len(self.system.bounded))
        return self.ask(self.these, y, none, True)[1]

    def moved(self, y: np.ndarray, contacts: Contacts) -> Moved:
        """How the systems move with these contacts, if no joint is held."""
        qdd, tau, resistance = np.split(self.ask(self.these, y, contacts, True)[0], 3, axis=1)
        return Moved(qdd, (abs(tau) + abs(resistance)) * (self.system.loops.m > 0))

    def accelerations(self, y: np.ndarray) -> np.ndarray:
        """All accelerations in the present modes."""
        return np.split(self.ask(self.these, y, self.present, False)[0], 3, axis=1)[0]

    def constraints(self, q: np.ndarray) -> Scaled:
        """The scaled constraints at these coordinates."""
        if not self.system.loops.m:
            return Scaled(np.zeros((len(q), 0, self.scale.shape[1])), np.zeros((len(q), 0)))
        alike = self.starts.alike
        rates = wanted_row_signals_over_time(self.system, self.t)[1] * alike.row_scale[self.these]
        return Scaled(alike.near(q, self.these)[1], rates)

    def closed(self, q: np.ndarray, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates nearby with closed loops, where these speeds keep theirs, and 0 where they are closed."""
        shut, closed = self.starts.alike.closed(q, kept, self.these, angled=False)
        return shut, np.where(closed, 0.0, np.inf)
