"""A system's equations as compiled code, for one evaluation or a whole time loop.

The modes of a tree have one program, in which signals say what is held; those of a mechanism have a program each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..machine.backend import MOST_IN_LOOP, QUICK, RUNS, SOUND, present_backend_choice
from ..machine.jit import REACH, Offer, Single, Text
from ..machine.program import Program, Recording, as_floats, as_samples
from ..machine.stepping import ImplicitMethod, LoopMethod, March, build_compiled_loop
from ..mechanics.bodies import runs_as_loop_over_bodies
from ..mechanics.numbers import FIELDS_OF_INERTIA, Own, ProgramOfNumbers, own_numbers
from .equations import Evaluation, Recursion
from .integrators.stepper import Fun
from .many_bodies import recursion_in_discrete_state
from .recorded import (
    Record,
    fixed_identity_of_run_equations,
    held_speeds_with_supports,
    run_equations_close_state,
    run_equations_program,
    run_rows_program,
    state_rate_tangents,
    state_rate_tangents_program,
    time_loop_program,
)
from .systems.discrete import Discrete
from .systems.system import Model, System

MOST_BODIES = 150  # straight-line code of a longer chain takes too long to compile
FEWEST = 2  # joints with modes, from which on these have one program
PRICE = 0.01  # seconds, to compile one body of a large tree; beside a loop over bodies the plain text is no measure


EQUATIONS, LOOP, ROWS, TANGENTS = "", "loop", "rows", "tangents"
PROGRAMS: dict[str, Record] = {
    EQUATIONS: run_equations_program,
    LOOP: time_loop_program,
    ROWS: run_rows_program,
    TANGENTS: state_rate_tangents_program,
}


class RunProgram(ProgramOfNumbers[Model]):
    """One of `PROGRAMS` of a system in a discrete state, for all systems that have other masses and drives."""

    title = "system"

    def __init__(
        self, system: System, discrete: Discrete, signals: int, what: str, fixed: tuple[str, ...], shareable: bool
    ):
        """`fixed` is what no discrete state changes, and which is written down once."""
        self._system, self._discrete, self._signals, self._what = system, discrete, signals, what
        self._fixed, self.shareable = fixed, shareable

    def record(self, recording: Recording, numbers: Model) -> Program:
        """The recorded program."""
        return PROGRAMS[self._what](recording, numbers, self._system, self._discrete, self._signals)

    def leaves(self) -> Model:
        """The numbers of the equations, with regrouped inertias."""
        return self._system.regrouped

    def structure(self) -> tuple[str, ...]:
        """What is computed, of which structure, and what is held."""
        return self._what, self._fixed[-1], self._discrete.name, repr(self._signals)

    def identity(self) -> tuple[str, ...]:
        """Everything that the recorded equations depend on."""
        return *(one for one in (self._what,) if one), *self._fixed, self._discrete.name, repr(self._signals)

    def own(self, numbers: Model) -> Own:
        """The inertial numbers; in a tree they are the robot's alone."""
        derived = self._system.robot.derived
        if self._system.loops.m:
            return own_numbers(numbers, FIELDS_OF_INERTIA)
        if "own numbers of a tree" not in derived:
            derived["own numbers of a tree"] = own_numbers(numbers, FIELDS_OF_INERTIA)
        own: Own = derived["own numbers of a tree"]
        return own


class Compiled:
    """The offers of a system's equations, one for each discrete state with equations of its own."""

    def __init__(self, system: System):
        self._system = system
        self._offers: dict[tuple[str, str], Offer] = {}  # by what is computed and the discrete state
        self._recursions: dict[str, Recursion | None] = {}
        # the code by which evaluations that stand alone go on, with the discrete state and the context that it is for
        self._alone: tuple[Discrete | None, Any, Single | None] = None, None, None

    def in_one_program(self, discrete: Discrete) -> Discrete:
        """The discrete state with which a run begins, so that all of its modes have one program where that pays.

        A tree with one modal joint has only two, which are quicker in programs of their own.
        """
        modal = self._system.signalled if self._able or self._large else ()
        return replace(discrete, switched=modal) if len(modal) >= FEWEST else discrete

    def single(self, discrete: Discrete, signals: int) -> Single | None:
        """Machine code of one evaluation in this discrete state, or None where the plain text is to run."""
        return self._offer(discrete, signals).single(self._price) if self._able else None

    def rate(self, discrete: Discrete, signals: Sequence[float], y: np.ndarray, *, alone: bool) -> np.ndarray | None:
        """The rate of the state by machine code, that of the time loop if it runs; None: the plain text is to run.

        Code for one evaluation is wanted only if it stands `alone`, because no loop can carry the run.
        """
        if not self._able:
            return None
        here, way, single = self._alone
        if not (alone and here is discrete and way is present_backend_choice()):
            loop = self._running(discrete, len(signals))
            if loop is not None:
                rate = loop.rate(signals, y)
                return rate if np.isfinite(rate).all() else None
            single = self.single(discrete, len(signals)) if alone else None
            if single is not None:
                self._alone = discrete, present_backend_choice(), single
        return single(signals, y[: self._system.measured]) if single is not None else None

    def quick_rate(self, discrete: Discrete, signals: Sequence[float], otherwise: Fun) -> Fun:
        """The rate under constant signals, by the code that evaluations go on by; `otherwise` where there is none."""
        here, way, single = self._alone
        if single is None or here is not discrete or way is not present_backend_choice():
            return otherwise
        quick, values, n = single.quick, np.array(signals, dtype=float), self._system.measured

        def rate(t: float, y: np.ndarray) -> np.ndarray:
            found = quick(values, y[:n])
            return otherwise(t, y) if found is None else found

        return rate

    def supports(self, discrete: Discrete, signals: Sequence[float], y: np.ndarray) -> dict[int, float] | None:
        """The supports of held speeds by the code of the time loop; None where no loop runs that finds them all."""
        loop = self._running(discrete, len(signals)) if self._able else None
        if loop is None or discrete.partition is not None:
            return None
        bearers = held_speeds_with_supports(self._system, discrete)
        found = loop.watched(signals, y, len(bearers) + len(self._system.bounded))[: len(bearers)]
        return dict(zip(bearers, found.tolist())) if np.isfinite(found).all() else None

    def _running(self, discrete: Discrete, signals: int) -> March | None:
        """The time loop of this discrete state, if it runs."""
        loop: March | None = self._offer(discrete, signals, LOOP).settled("march")
        return loop or self._offer(discrete, signals).settled("march")

    @property
    def differentiable(self) -> bool:
        """Whether derivatives of the equations come from their text in a reasonable time."""
        return self._able and not self._large

    def slopes(self, discrete: Discrete, signals: Sequence[float], y: np.ndarray) -> np.ndarray:
        """The derivatives of the state's rate along all of its components, of which quadratures have none."""
        system, n = self._system, self._system.measured
        offer, measured = self._offer(discrete, len(signals), TANGENTS), y[:n]
        loop = self._running(discrete, len(signals))
        single = loop.derivatives if loop is not None else offer.single()
        rows = single(signals, measured) if single is not None else None
        if rows is None:
            # with Euler parameters that aren't of norm 1, regrouped bodies move otherwise: text and code have the same
            text = partial(state_rate_tangents, system, discrete, signals, measured.tolist(), system.regrouped)
            rows = np.array(as_floats(offer.plain(1, text)))
        whole = np.zeros((len(y), len(y)))
        whole[:, :n] = rows.reshape(-1, n)
        return whole

    def slope_rows(self, discrete: Discrete, signals: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The derivatives of the state's rate in many states at once, (states, components, components)."""
        system, n = self._system, self._system.measured
        offer, measured = self._offer(discrete, signals.shape[1], TANGENTS), np.ascontiguousarray(states[:, :n])
        code = offer.lanes(len(states)) if self._able else None
        whole = np.zeros((len(states), states.shape[1], states.shape[1]))
        if code is not None:
            (rows,), finite, largest = code(np.ascontiguousarray(signals), measured)
            if finite and largest <= REACH:
                whole[:, :, :n] = rows.reshape(len(states), -1, n)
                return whole
        columns = [np.ascontiguousarray(x) for x in signals.T], [np.ascontiguousarray(x) for x in measured.T]
        with np.errstate(all="ignore"):
            text = partial(state_rate_tangents, system, discrete, *columns, system.regrouped)
            entries = offer.plain(len(states), text)
        for k, x in enumerate(entries):
            whole[:, k // n, k % n] = as_samples(x)
        return whole

    def march(self, discrete: Discrete, signals: int, scheme: LoopMethod, ahead: float) -> March | None:
        """Machine code of the time loop in this discrete state, or None where the plain text is to run.

        `ahead` is the number of evaluations that the run still needs in this state, where that can be foreseen.
        It comes from the quick code generator until its runs have taken as long as better code takes to compile.
        """
        implicit = isinstance(scheme, ImplicitMethod)
        if not (self.differentiable if implicit else self._able):
            return None
        system = self._system
        sizes = system.measured + 2, system.measured, system.units

        def build(offer: Offer, cached: bool) -> March | None:

            def make(text: Text, identity: Sequence[str], only: bool, numbers: Sequence[float]) -> March | None:
                given = identity, only, offer.level
                tangents = self._offer(discrete, signals, TANGENTS) if implicit else None
                own = tangents.called(only, shares=len(numbers) > 0) if tangents is not None else None
                if tangents is not None and own is None:
                    return None
                more: dict[str, Any] = {"derivatives": own, "numbers": numbers}
                return build_compiled_loop(
                    text, scheme, *sizes, 1, *given, closes=run_equations_close_state(system), **more
                )

            text = self._program(discrete, signals, LOOP)
            return offer.chosen("march", make, cached, text.program, text.shared if text.shareable else None)

        quick, sound = self._offer(discrete, signals), self._offer(discrete, signals, LOOP)
        price = self._price or 2 * RUNS * quick.ledger.run
        loop = sound.form("march", partial(build, sound), price=price)
        return loop or quick.form("march", partial(build, quick), price=self._price, ahead=ahead)

    def marched(self, discrete: Discrete, signals: int, seconds: float) -> None:
        """Charge the time that a loop has taken to the account of better code for it."""
        self._offer(discrete, signals, LOOP).charge(seconds)

    def rows(self, discrete: Discrete, signals: np.ndarray, states: np.ndarray) -> np.ndarray | None:
        """The outputs `row` at many instants in this discrete state, or None where the plain text is to run."""
        code = self._offer(discrete, signals.shape[1], ROWS).lanes(len(states)) if self._able else None
        if code is None:
            return None
        (row,), finite, largest = code(
            np.ascontiguousarray(signals), np.ascontiguousarray(states[:, : self._system.measured])
        )
        return row if finite and largest <= REACH else None

    def plain_rows(self, discrete: Discrete, signals: int, samples: int, text: Callable[[], Evaluation]) -> Evaluation:
        """The evaluation of many instants by the plain text; its time is charged to their offer."""
        return self._offer(discrete, signals, ROWS).plain(samples, text) if self._able else text()

    def recursion(self, discrete: Discrete) -> Recursion | None:
        """The recursion by compiled code that loops over the bodies of a large tree; None for all others."""
        if not self._large:
            return None
        if discrete.name not in self._recursions:
            self._recursions[discrete.name] = recursion_in_discrete_state(self._system, discrete)
        return self._recursions[discrete.name]

    def plain(self, discrete: Discrete, signals: int, text: Callable[[], Evaluation]) -> Evaluation:
        """One evaluation by the plain text; its time is charged to the offer."""
        return self._offer(discrete, signals).plain(1, text) if self._able else text()

    @cached_property
    def _able(self) -> bool:
        """Whether the equations can be recorded and are short enough for straight-line code."""
        system = self._system
        short = len(system.model.bodies) <= MOST_BODIES
        return short and system.inputs.recordable and not system.method.recomputes_null_space

    @property
    def _large(self) -> bool:
        """Whether evaluations loop over the bodies."""
        return not self._system.loops.m and runs_as_loop_over_bodies(self._system.model.bodies, MOST_IN_LOOP)

    @property
    def _price(self) -> float | None:
        """The time that straight-line code takes to compile, where that doesn't follow from the plain text."""
        return PRICE * len(self._system.model.bodies) if self._large else None

    def _offer(self, discrete: Discrete, signals: int, what: str = EQUATIONS) -> Offer:
        """The offer of one of `PROGRAMS` in this discrete state, made at the first request.

        That of the time loop is for better code than the equations' own; costs of rows are accounted for by themselves.
        """
        offer = self._offers.get((what, discrete.name))
        if offer is None:
            n, width = self._system.measured, self._width(discrete)
            equations = [n + 2, width] + [1] * (self._system.loops.m > 0)
            outputs = {EQUATIONS: equations, LOOP: [], ROWS: [width], TANGENTS: [(n + 2) * n]}
            level = SOUND if what == LOOP else QUICK
            offer = self._program(discrete, signals, what).offered((signals, n), outputs[what], level, runs=True)
            self._offers[what, discrete.name] = offer
        return offer

    def _program(self, discrete: Discrete, signals: int, what: str) -> RunProgram:
        # of a large tree, to find out what it shares takes as long as some hundred evaluations
        shares = self._system.symbols is None and not self._large
        return RunProgram(self._system, discrete, signals, what, self._fixed, shares)

    def _width(self, discrete: Discrete) -> int:
        """The number of quantities in the output `row`."""
        robot = self._system.robot
        return robot.nq + 4 * robot.nv + len(held_speeds_with_supports(self._system, discrete))

    @cached_property
    def _fixed(self) -> tuple[str, ...]:
        system, derived = self._system, self._system.robot.derived
        if system.loops.m or system.symbols is not None:
            return fixed_identity_of_run_equations(system)
        if "model of a tree" not in derived:  # of the robot alone, and the longest of all texts
            derived["model of a tree"] = repr(system.model)
        return derived["model of a tree"], repr(system.structure())
