"""A system's equations as compiled code, for one evaluation or a whole time loop; each mode has its own program."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from ..dynamics.symbols import Path, planted
from ..machine.jit import march
from ..machine.jit.kernel import Single
from ..machine.jit.march import March, Scheme
from ..machine.jit.offer import Offer
from ..machine.program.trace import Program, Recording
from .discrete import Discrete
from .equations import Evaluation, evaluate, rates
from .system import System

MOST_BODIES = 150  # straight-line code of a longer chain takes too long to compile


def program(system: System, discrete: Discrete, signals: int, symbols: Sequence[Path] = ()) -> Program:
    """The recorded equations, with outputs `rate` (y'), `row` (the rest of an evaluation) and `guard` if there is one.

    The numbers of the model at the places `symbols` are inputs as well, behind the signals.
    """
    recording = Recording("system")
    u, y = recording.input("u", signals + len(symbols)), recording.input("y", system.measured)
    model = planted(system.regrouped, dict(zip(symbols, u[signals:]))) if symbols else system.regrouped
    now = evaluate(system, u[:signals], [*y, 0.0, 0.0], discrete, model)
    guard = {} if now.guard is None else {"guard": [now.guard]}
    row = [*now.q, *now.qd, *now.qdd, *now.tau, *now.resistance, *(now.support[k] for k in bearing(system, discrete))]
    return recording.program(rate=rates(system, now), row=row, **guard)


def bearing(system: System, discrete: Discrete) -> list[int]:
    """Held speeds whose supports the equations find; in a mechanism, those that are independent of each other."""
    part = discrete.partition
    return [k for k in discrete.still if part is None or k in part.given]


def identity(system: System, discrete: Discrete) -> tuple[str, ...]:
    """Everything that the recorded equations depend on, as strings for the key of the cache."""
    return repr(system.model), repr(system.structure()), repr(discrete.program)


class Compiled:
    """The offers of a system's equations, one for each discrete state with equations of its own."""

    def __init__(self, system: System):
        self._system = system
        self._offers: dict[Hashable, Offer] = {}

    def single(self, discrete: Discrete, signals: int) -> Single | None:
        """Machine code of one evaluation in this discrete state, or None where the plain text is to run."""
        return self._offer(discrete, signals).single() if self._able else None

    def march(self, discrete: Discrete, signals: int, scheme: Scheme) -> March | None:
        """Machine code of the time loop in this discrete state, or None where the plain text is to run."""
        if not self._able:
            return None
        system, offer = self._system, self._offer(discrete, signals)
        sizes = system.measured + 2, system.measured, system.units

        def build(cached: bool) -> March | None:
            return march.build(offer.program, scheme, *sizes, 1, offer.identity, cached)

        return offer.form("march", build)

    def plain(self, discrete: Discrete, signals: int, text: Callable[[], Evaluation]) -> Evaluation:
        """One evaluation by the plain text; its time is charged to the offer."""
        return self._offer(discrete, signals).plain(1, text) if self._able else text()

    @property
    def _able(self) -> bool:
        """Whether the equations can be recorded and are short enough for straight-line code."""
        system = self._system
        numeric = system.loops is not None and system.method.afresh
        return not numeric and len(system.model.bodies) <= MOST_BODIES

    def _offer(self, discrete: Discrete, signals: int) -> Offer:
        """The offer of the equations in this discrete state, made at the first request."""
        offer = self._offers.get(discrete.program)
        if offer is None:
            system = self._system
            outputs = [system.measured + 2, system.robot.nq + 4 * system.robot.nv + len(bearing(system, discrete))]
            outputs += [1] * (system.loops is not None)
            given = (*identity(system, discrete), repr(signals))
            inputs = signals, system.measured
            offer = Offer(lambda: program(system, discrete, signals), inputs, outputs, lambda: given)
            self._offers[discrete.program] = offer
        return offer
