"""A system's equations as compiled code: one evaluation at a time, or a whole time loop; one program for each mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..machine import kernel, march
from ..machine.choice import Ledger, give_up
from ..machine.kernel import Single
from ..machine.march import March, Scheme
from ..machine.trace import Program, Recording
from ..recursion.numbers import Path, planted
from .discrete import Discrete
from .equations import evaluate, rates
from .system import System

MOST_BODIES = 150  # straight-line code of a longer chain takes too long to compile


def program(system: System, discrete: Discrete, signals: int, symbols: Sequence[Path] = ()) -> Program:
    """The equations recorded: `rate` is y', `row` the rest of an evaluation, `guard` as it is there.

    The numbers of the model at the places `symbols` are inputs, too, behind the signals.
    """
    recording = Recording("system")
    u, y = recording.input("u", signals + len(symbols)), recording.input("y", system.measured)
    model = planted(system.regrouped, dict(zip(symbols, u[signals:]))) if symbols else system.regrouped
    now = evaluate(system, u[:signals], [*y, 0.0, 0.0], discrete, model)
    guard = {} if now.guard is None else {"guard": [now.guard]}
    row = [*now.q, *now.qd, *now.qdd, *now.tau, *now.resistance, *(now.support[k] for k in bearing(system, discrete))]
    return recording.program(rate=rates(system, now), row=row, **guard)


def bearing(system: System, discrete: Discrete) -> list[int]:
    """The held speeds whose support the equations find: in a mechanism those that are independent of each other."""
    part = discrete.partition
    return [k for k in discrete.still if part is None or k in part.given]


def identity(system: System, discrete: Discrete) -> tuple[str, ...]:
    """All that the recorded equations depend on."""
    return repr(system.model), repr(system.structure()), repr(discrete.program)


class Compiled:
    """What has been compiled of a system so far."""

    def __init__(self, system: System):
        self._system = system
        self._ledgers: dict[object, Ledger] = {}  # of each partition
        self._found: dict[tuple, Any] = {}
        self._missed: set[tuple] = set()  # looked for in the cache in vain

    def single(self, discrete: Discrete, signals: int) -> Single | None:
        """One evaluation of these modes, if compiling it pays by now."""
        system = self._system
        outputs = [system.measured + 2, system.robot.nq + 4 * system.robot.nv + len(bearing(system, discrete))]
        outputs += [1] * (system.loops is not None)

        def build(identity: Sequence[str], cached: bool) -> Single | None:
            inputs = [signals, system.measured]
            return kernel.build_single(lambda: program(system, discrete, signals), inputs, outputs, identity, cached)

        return self._built(("single",), discrete, signals, 1, build)

    def march(self, discrete: Discrete, signals: int, scheme: Scheme) -> March | None:
        """The time loop of these modes with this integrator, if compiling it pays by now."""
        system = self._system

        def build(identity: Sequence[str], cached: bool) -> March | None:
            sizes = system.measured + 2, system.measured, system.units
            recorded = lambda: program(system, discrete, signals)  # noqa: E731
            return march.build(recorded, scheme, *sizes, 1, identity, cached)

        return self._built(("march", scheme), discrete, signals, 0, build)

    def _built(
        self,
        form: tuple,
        discrete: Discrete,
        signals: int,
        samples: int,
        build: Callable[[Sequence[str], bool], Any],
    ) -> Any:
        key = (*form, discrete.program)
        found = self._found.get(key)
        if found is not None:
            return found
        system = self._system
        numeric = system.loops is not None and system.method.afresh
        bodies = len(system.model.bodies)
        ledger = self._ledgers.setdefault(discrete.program[1], Ledger(bodies))
        wanted = "plain" if numeric or bodies > MOST_BODIES else ledger.wants(samples)
        if wanted == "plain" or (wanted == "cached" and key in self._missed):
            return None
        self._missed.add(key)
        try:
            found = build((*identity(system, discrete), repr(signals)), wanted == "cached")
        except (ImportError, RuntimeError, OSError) as error:
            give_up(error)
        if found is not None:
            self._found[key] = found
        return found
