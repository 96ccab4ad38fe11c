"""Laws with dead time: what they can't be asked for, and the instants at which their forces break."""

from __future__ import annotations

from collections.abc import Sequence

from ...laws import ForceLaw
from ...simulate.integrate import INTEGRATORS
from . import wrenches
from .reading import Reading
from .solver import Law

BREAKS = 8  # that follow from one break, for the n-th is one of the (n + 1)-th derivative only


def dead_time_kinks_of_scenario(
    reading: Reading, laws: Sequence[Law], step: float | None, kinks: Sequence[float]
) -> list[float]:
    """The instants at which breaks of the motion, the start of the run and kinks of laws, come back by dead time."""
    late = [(law.delay(), path) for law, path in laws if isinstance(law, ForceLaw) and law.delay()]
    for law, path in wrenches.read_wrench_laws(reading):
        if law.delay():
            raise reading.error(
                (*path, "dead_time"), "a wrench has no dead time", key=True, allowed="laws of actuators"
            )
    begin, end = reading.span
    for delay, path in late:
        at = (*path, "dead_time")
        if not reading.simulating:
            raise reading.error(at, "only in a simulation is there a motion to look back on", key=True)
        method = reading.file.solver.method
        if not INTEGRATORS[method].adaptive and step is not None and step > delay * (1 + 1e-9):
            raise reading.error(
                at,
                f"the steps of `{method}` are longer, so the state of that time ago isn't known",
                found=f"{delay:g} s, and steps of {step:g} s",
                hint="a smaller `step` under `solver`",
            )
    back = [begin + n * delay for delay, _ in late for n in range(1, BREAKS + 1)]
    back += [kink + delay for delay, _ in late for kink in kinks]
    return [t for t in back if t < end]


def doubts_about_scenario_dead_times(reading: Reading, laws: Sequence[Law]) -> list[str]:
    """Warnings about laws that see nothing but the start of the run."""
    begin, end = reading.span
    late = [(law.delay(), ".".join(map(str, path))) for law, path in laws if isinstance(law, ForceLaw)]
    return [
        f"{place}.dead_time: {delay:g} s is as long as the run, or longer; the law sees the first state all the time"
        for delay, place in late
        if delay >= end - begin
    ]
