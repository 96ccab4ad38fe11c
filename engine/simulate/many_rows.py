"""The rows of runs that went side by side, by compiled code for all of them at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from ..dataclass import dataclass
from ..machine.jit import choice
from ..machine.jit.block import ENORMOUS
from ..machine.jit.trigonometry import REACH
from .abreast import Traces
from .recorded import run_equations_close_state
from .row_parts import ROW as FIELDS
from .shut import shut_states
from .together import Starts

FEW = 16  # runs, one after the other in this process, for whose rows code that is not in the cache isn't compiled


_without: Counter[str] = Counter()  # runs whose rows were made without code, by the names of their programs


@dataclass(frozen=True)
class Evaluated:
    """The rows of runs; arrays have the shape (runs, instants, …). Those of mechanisms have what holds the loops."""

    fields: Mapping[str, np.ndarray]  # those that `FIELDS` names
    energies: np.ndarray  # kinetic, potential, elastic
    sound: np.ndarray  # whether all numbers of a run are finite, and none is so large that it has to be looked into
    gaps: np.ndarray | None = None  # of all constraint rows
    multipliers: np.ndarray | None = None
    cuts: np.ndarray | None = None  # (runs, instants, cuts, 6), in base axes


def evaluate_many_run_rows(starts: Starts, traces: Traces) -> Evaluated | None:
    """The rows of the runs, by compiled code; None where there is none, or where rows aren't closed by it."""
    system = starts.run.system
    if system.loops is not None and system.method.closes and not run_equations_close_state(system):
        return None
    with np.errstate(all="ignore"):  # runs that left the lanes have zeros for orientations
        states = system.unit(traces.states)
    count, instants, _ = states.shape
    few = _without[starts.offer.name] + count < FEW
    code = starts.code(cached=few and choice.chosen_backend() != "compiled")
    if code is None:
        _without[starts.offer.name] += count
        return None
    inputs = starts.inputs(traces.signals, np.arange(count)).reshape(count * instants, -1)
    measured = np.ascontiguousarray(states.reshape(count * instants, -1)[:, : system.measured])
    shut = (
        shut_states(starts, code, inputs, measured)
        if run_equations_close_state(system)
        else np.ones(len(measured), dtype=bool)
    )
    found = starts.groups(code, inputs, measured)
    with np.errstate(all="ignore"):
        numbers = [abs(found[name]) < ENORMOUS for name in starts.widths if name not in ("guard", "quantities")]
        within = [x.reshape(count, -1) for x in (abs(measured) <= REACH, shut, *numbers)]
    sound = np.all([one.all(axis=1) for one in within], axis=0)
    nq, nv = system.robot.nq, system.robot.nv
    ends = np.cumsum([nq, *[nv] * (len(FIELDS) - 1)])
    each = {name: x.reshape(count, instants, -1) for name, x in found.items()}
    fields = dict(zip(FIELDS, np.split(each["row"], ends, axis=2)))
    if system.loops is None:
        return Evaluated(fields, each["energy"], sound)
    cuts = each["cuts"].reshape(count, instants, -1, 6)
    return Evaluated(fields, each["energy"], sound, each["gaps"], each["multipliers"], cuts)
