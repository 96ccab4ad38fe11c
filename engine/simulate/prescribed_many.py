"""Runs of trees in which all motion is prescribed, for many robots at once: only works are integrated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..machine.jit import choice
from .many_rows import FEW
from .patterns import Patterns
from .prescribed import NODES, WEIGHTS
from .signals import signal_rows
from .together import Starts
from .traces import Traces


def trace_prescribed_runs(starts: Starts, grid: np.ndarray, *, works: bool) -> Traces | None:
    """The runs over the grid; None without code.

    Where `works` are wanted, those less losses between the rows are found by Gauss's rule.
    """
    equations, count = starts.equations(starts.discrete), len(starts.y)
    code = equations.code(cached=count < FEW and choice.chosen_backend() != "compiled")
    if code is None:
        return None
    blank, everyone = replace(starts.run.system, symbols=None), np.arange(count)

    def signals(t: np.ndarray) -> np.ndarray:
        return np.repeat(signal_rows(blank, t, starts.discrete, starts.run.planned)[None], count, axis=0)

    states, steps = np.zeros((count, len(grid), 2)), np.diff(grid)
    for node, weight in zip(NODES, WEIGHTS) if works else ():
        inputs = starts.inputs(signals(grid[:-1] + node * steps), everyone).reshape(count * len(steps), -1)
        rates = equations.groups(code, inputs, np.zeros((len(inputs), 0)))["rate"]
        with np.errstate(all="ignore"):  # what overflows is carried out again by itself
            states[:, 1:, 0] += weight * steps * (rates[:, -2] - rates[:, -1]).reshape(count, len(steps))
    with np.errstate(all="ignore"):
        states = np.cumsum(states, axis=1)
    none = np.zeros(count, dtype=int)
    return Traces(
        t=grid,
        instants=grid,
        states=states,
        whole=np.ones(count, dtype=bool),
        steps=none,
        rejected=none,
        evaluations=none + len(grid),
        signals=signals(grid),
        modes=np.zeros((count, len(grid)), dtype=int),
        kept=np.zeros((count, len(grid), 0)),
        log=(),
        patterns=Patterns(starts.run, starts.limits, starts.discrete),
    )
