"""The rows of runs that went side by side, by compiled code for all of them at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..machine.jit import choice
from ..machine.jit.block import ENORMOUS
from ..machine.jit.trigonometry import REACH
from .abreast import Traces
from .runner import ROW as FIELDS
from .together import Starts

FEW = 16  # runs for which code that is not in the cache isn't compiled to make their rows


@dataclass(frozen=True)
class Evaluated:
    """The rows of runs of a tree; arrays have the shape (runs, instants, …)."""

    fields: Mapping[str, np.ndarray]  # those that `FIELDS` names
    energies: np.ndarray  # kinetic, potential, elastic
    sound: np.ndarray  # whether all numbers of a run are finite, and none is so large that it has to be looked into


def evaluated(starts: Starts, traces: Traces) -> Evaluated | None:
    """The rows of the runs, by compiled code; None where there is none."""
    system = starts.run.system
    states = system.unit(traces.states)
    count, instants, _ = states.shape
    code = starts.code(cached=count < FEW and choice.backend() != "compiled")
    if code is None:
        return None
    inputs = starts.inputs(traces.signals, np.arange(count)).reshape(count * instants, -1)
    measured = np.ascontiguousarray(states.reshape(count * instants, -1)[:, : system.measured])
    (rates, rows, energy, _), _, _ = code(inputs, measured)
    numbers = [x.reshape(count, -1) for x in (rates, rows, energy)]
    with np.errstate(all="ignore"):
        within = [(abs(measured).reshape(count, -1) <= REACH), *(abs(x) < ENORMOUS for x in numbers)]
    sound = np.all([one.all(axis=1) for one in within], axis=0)
    nq, nv = system.robot.nq, system.robot.nv
    ends = np.cumsum([nq, *[nv] * (len(FIELDS) - 1)])
    parts = np.split(rows.reshape(count, instants, -1), ends, axis=2)
    return Evaluated(dict(zip(FIELDS, parts)), energy.reshape(count, instants, 3), sound)
