"""Runs of systems that differ in numbers only, side by side: their numbers are inputs of one program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..dynamics.energy import energies
from ..dynamics.regroup import moved_inwards
from ..dynamics.symbols import Path, leaves, planted, shape
from ..machine.jit import choice, march, native
from ..machine.jit.block import ENORMOUS
from ..machine.jit.march import ACCEPTED, REJECTED, ROW, STATUS, March
from ..machine.jit.offer import Offer
from ..machine.jit.trigonometry import REACH
from ..machine.program.trace import Program, Recording
from ..robot.model import Body
from .compiled import bearing, outputs
from .integrate import INTEGRATORS
from .loop import ATTEMPTS, Solver
from .runge_kutta import first_step
from .runner import ROW as FIELDS
from .runner import Runner
from .stepper import LEAST_ATOL, LEAST_RTOL
from .system import Model, System, without_dry_friction

FEW = 16  # runs for which code that is not in the cache isn't compiled to make their rows


class Numbers(NamedTuple):
    """All numbers of systems that may differ from run to run: with regrouped inertias, and the bodies' own.

    Those that do differ are arrays with a number for each run.
    """

    regrouped: Model
    bodies: tuple[Body, ...]

    def arrays(self) -> dict[Path, np.ndarray]:
        """The arrays by their places."""
        return {path: x for path, x in leaves(self) if isinstance(x, np.ndarray)}

    def some(self, these: slice | np.ndarray) -> Numbers:
        """The numbers of some of the runs."""
        picked: Numbers = planted(self, {path: x[these] for path, x in self.arrays().items()})
        return picked


def numbers_of(system: System) -> Numbers:
    """The numbers of a system."""
    return Numbers(system.regrouped, system.model.bodies)


def of_bodies(system: System, bodies: Sequence[Body]) -> Numbers:
    """The numbers of a system with the same structure but these bodies, whose numbers may be arrays."""
    own = without_dry_friction(bodies)
    return Numbers(system.model._replace(bodies=moved_inwards(own)), own)


def joined(each: Sequence[Numbers]) -> Numbers:
    """The numbers of many systems of the same structure, each given by itself."""
    listed = np.array([[x for _, x in leaves(one)] for one in each]).T
    differ = (listed != listed[:, :1]).any(axis=1)
    places = zip((path for path, _ in leaves(each[0])), np.ascontiguousarray(listed), differ)
    result: Numbers = planted(each[0], {path: values for path, values, apart in places if apart})
    return result


def likeness(run: Runner) -> tuple[str, ...]:
    """A key that is equal for runs whose systems, at their starts, differ in `Numbers` only."""
    system, robot = run.system, run.robot
    grounded = [(x.mass, x.com, robot.tree.seats[x.name]) for x in robot.links if robot.tree.seats[x.name][0] is None]
    return repr(system.structure()), repr(run.discrete.program), repr(shape(system.regrouped)), repr(grounded)


@dataclass(frozen=True)
class Starts:
    """The starts of runs that are alike, with a row for each run in all arrays; `run` is one of these runs."""

    run: Runner
    symbols: tuple[Path, ...]  # the places in `Numbers` of the numbers that differ
    inputs: np.ndarray  # the signals and these numbers
    y: np.ndarray

    @staticmethod
    def of(run: Runner, signals: np.ndarray, y: np.ndarray, numbers: Numbers) -> Starts:
        """The starts of runs with these numbers."""
        # numbers that happen to be equal are inputs as well, so that the code is the same for other runs; zeros are not
        arrays = {path: values for path, values in numbers.arrays().items() if values.any()}
        return Starts(run, tuple(arrays), np.column_stack([signals, *arrays.values()]), y)

    @cached_property
    def signals(self) -> int:
        return int(self.inputs.shape[1]) - len(self.symbols)

    @cached_property
    def offer(self) -> Offer:
        """The offer of the equations, with the numbers that differ among the inputs."""
        system, run = self.run.system, self.run
        mark = dict.fromkeys(self.symbols, "a number")
        own = planted(numbers_of(system), mark)
        key = (*likeness(run), repr(own), repr(self.symbols), repr(self.signals))
        rows = system.robot.nq + 4 * system.robot.nv + len(bearing(system, run.discrete))
        outputs = [system.measured + 2, rows, 3]
        return Offer(self.program, (self.inputs.shape[1], system.measured), outputs, lambda: key)

    def program(self) -> Program:
        """The recorded equations of a run, for a tree with its energies."""
        system, recording = self.run.system, Recording("together")
        u, y = recording.input("u", self.inputs.shape[1]), recording.input("y", system.measured)
        numbers: Numbers = planted(numbers_of(system), dict(zip(self.symbols, u[self.signals :])))
        now, groups = outputs(system, self.run.discrete, u[: self.signals], y, numbers.regrouped)
        if system.loops is None:
            robot = replace(system.robot, tree=replace(system.robot.tree, bodies=numbers.bodies))
            groups["energy"] = list(energies(robot, now.q, now.qd))
        return recording.program(**groups)

    def some(self, these: slice) -> Starts:
        """A part of the runs, with the same program."""
        part = replace(self, inputs=self.inputs[these], y=self.y[these])
        part.__dict__["offer"] = self.offer
        return part


@dataclass(frozen=True)
class Traces:
    """What runs side by side have left: for each run its states at all instants, and counts of steps."""

    t: np.ndarray
    states: np.ndarray  # (runs, instants, components), as they are integrated
    whole: np.ndarray  # whether the run has come to its end
    steps: np.ndarray
    rejected: np.ndarray
    evaluations: np.ndarray


def integrated(starts: Starts, grid: np.ndarray, solver: Solver) -> Traces | None:
    """The runs over the grid, by the compiled loop; None where there is no compiled code."""
    loop = _loop(starts, solver)
    if loop is None:
        return None
    scheme, system, y = INTEGRATORS[solver.method].scheme, starts.run.system, starts.y
    assert scheme is not None, "these runs go by the compiled loop"
    rtol, atol, n = max(solver.rtol, LEAST_RTOL), max(solver.atol, LEAST_ATOL), system.measured
    rest = float(grid[-1] - grid[0])

    def later(h: np.ndarray) -> np.ndarray:
        return loop.rates(starts.inputs, y + h[:, None] * f)[:, :n]

    with np.errstate(all="ignore"):
        f = loop.rates(starts.inputs, y)
        scale = atol + abs(y[:, :n]) * rtol
        h = first_step(later, y[:, :n], f[:, :n], scale, rest, min(rest, solver.max_step), scheme.exponent)
    ahead = np.ascontiguousarray(grid[1:])
    rows, control = loop.carry(
        starts.inputs,
        y,
        f,
        ahead,
        solver.max_steps,
        ATTEMPTS,
        T=float(grid[0]),
        H=h,
        T_END=float(grid[-1]),
        RTOL=rtol,
        ATOL=atol,
        MAX_STEP=solver.max_step,
    )
    steps, rejected = control[ACCEPTED].astype(int), control[REJECTED].astype(int)
    whole = (control[STATUS] == 0.0) & (control[ROW] >= len(ahead)) & (steps <= solver.max_steps)
    states = np.concatenate([y[:, None], rows], axis=1)
    evaluations = loop.evaluated(control) + 2  # with those for the length of the first step
    return Traces(grid, states, whole, steps, rejected, evaluations)


def _loop(starts: Starts, solver: Solver) -> March | None:
    """The compiled loop of these runs."""
    scheme, system, offer = INTEGRATORS[solver.method].scheme, starts.run.system, starts.offer
    assert scheme is not None, "these runs go by the compiled loop"
    sizes = system.measured + 2, system.measured, system.units

    def build(cached: bool) -> March | None:
        return march.build(offer.program, scheme, *sizes, native.lanes(), offer.identity, cached)

    return offer.at_once("march", build)


# ---- rows


@dataclass(frozen=True)
class Evaluated:
    """The rows of runs of a tree; arrays have the shape (runs, instants, …)."""

    fields: Mapping[str, np.ndarray]  # those that `FIELDS` names
    energies: np.ndarray  # kinetic, potential, elastic
    sound: np.ndarray  # whether all numbers of a run are finite, and none is so large that it has to be looked into


def evaluated(starts: Starts, traces: Traces) -> Evaluated | None:
    """The rows of the runs, by compiled code; None where there is none."""
    system, offer = starts.run.system, starts.offer
    states = system.unit(traces.states)
    count, instants, _ = states.shape

    code = offer.kernel(cached=count < FEW and choice.backend() != "compiled")
    if code is None:
        return None
    inputs = np.repeat(starts.inputs, instants, axis=0)
    measured = np.ascontiguousarray(states.reshape(count * instants, -1)[:, : system.measured])
    (rates, rows, energy), _, _ = code(inputs, measured)
    numbers = [x.reshape(count, -1) for x in (rates, rows, energy)]
    with np.errstate(all="ignore"):
        within = [(abs(measured).reshape(count, -1) <= REACH), *(abs(x) < ENORMOUS for x in numbers)]
    sound = np.all([one.all(axis=1) for one in within], axis=0)
    nq, nv = system.robot.nq, system.robot.nv
    ends = np.cumsum([nq, *[nv] * (len(FIELDS) - 1)])
    parts = np.split(rows.reshape(count, instants, -1), ends, axis=2)
    return Evaluated(dict(zip(FIELDS, parts)), energy.reshape(count, instants, 3), sound)
