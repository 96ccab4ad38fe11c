"""The rows of runs that went side by side, and of those with all motion prescribed, by code for all of them at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...machine.backend import chosen_backend
from ...machine.jit import ENORMOUS, REACH
from ..recorded import run_equations_close_state
from ..row_parts import ROW_FIELDS as FIELDS
from ..systems.prescribed import NODES, WEIGHTS
from ..systems.signals import signal_rows
from .batch_program import Equations, Starts, shut_states
from .mode_table import ModeTable
from .traces import RunTraces

FEW = 16  # runs, one after the other in this process, for whose rows code that is not in the cache isn't compiled


_without: Counter[str] = Counter()  # runs whose rows were made without code, by the names of their programs


@dataclass(frozen=True)
class EvaluatedRows:
    """The rows of runs; arrays have the shape (runs, instants, …). Those of mechanisms have what holds the loops."""

    fields: Mapping[str, np.ndarray]  # those that `FIELDS` names
    energies: np.ndarray  # kinetic, potential, elastic
    sound: np.ndarray  # whether all numbers of a run are finite, and none is so large that it has to be looked into
    gaps: np.ndarray | None = None  # of all constraint rows
    multipliers: np.ndarray | None = None
    cuts: np.ndarray | None = None  # (runs, instants, cuts, 6), in base axes


def evaluate_many_run_rows(starts: Starts, traces: RunTraces) -> EvaluatedRows | None:
    """The rows of the runs, by compiled code; None where there is none, or where rows aren't closed by it."""
    system = starts.run.system
    if system.method.closes and not run_equations_close_state(system):
        return None
    with np.errstate(all="ignore"):  # runs that left the lanes have zeros for orientations
        states = system.unit(traces.states)
    count, instants, _ = states.shape
    inputs = starts.inputs(traces.signals, np.arange(count)).reshape(count * instants, -1)
    measured = np.ascontiguousarray(states.reshape(count * instants, -1)[:, : system.measured])
    regimes, parts = traces.regimes().ravel(), list[tuple[np.ndarray | slice, dict[str, np.ndarray]]]()
    sound = np.ones(count * instants, dtype=bool)
    for regime in np.unique(regimes).tolist():
        these = np.flatnonzero(regimes == regime) if len(traces.patterns.regimes) > 1 else slice(None)
        found = _evaluated(starts.equations(traces.patterns.regimes[regime]), count, inputs[these], measured[these])
        if found is None:
            return None
        groups, sound[these] = found
        parts.append((these, groups))
    each = {name: x.reshape(count, instants, -1) for name, x in _joined(parts, count * instants).items()}
    nq, nv = system.robot.nq, system.robot.nv
    fields = dict(zip(FIELDS, np.split(each["row"], np.cumsum([nq, *[nv] * (len(FIELDS) - 1)]), axis=2)))
    whole = np.logical_and.reduce(sound.reshape(count, instants), axis=1)
    if not system.loops.m:
        return EvaluatedRows(fields, each["energy"], whole)
    cuts = each["cuts"].reshape(count, instants, -1, 6)
    return EvaluatedRows(fields, each["energy"], whole, each["gaps"], each["multipliers"], cuts)


def _evaluated(
    equations: Equations, count: int, inputs: np.ndarray, states: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """The groups of outputs in rows of one regime, and whether each row is sound; None where there is no code.

    The rows are those of `count` runs.
    """
    few = _without[equations.offer.name] + count < FEW
    code = equations.code(cached=few and chosen_backend() != "compiled")
    if code is None:
        _without[equations.offer.name] += count
        return None
    closes = run_equations_close_state(equations.run.system)
    shut = shut_states(equations, code, inputs, states) if closes else np.ones(len(states), dtype=bool)
    found = equations.groups(code, inputs, states)
    with np.errstate(all="ignore"):
        numbers = [abs(found[name]) < ENORMOUS for name in found if name not in ("guard", "quantities")]
        within = [x.all(axis=1) for x in (abs(states) <= REACH, *numbers)]
    return found, np.all([shut, *within], axis=0)


def _joined(parts: Sequence[tuple[np.ndarray | slice, dict[str, np.ndarray]]], rows: int) -> dict[str, np.ndarray]:
    """The groups of outputs of all rows, from those of each regime; what not all regimes have is left out."""
    if len(parts) == 1:
        return parts[0][1]
    joined = {}
    for name in parts[0][1]:
        width = min(groups[name].shape[1] for _, groups in parts)
        joined[name] = np.zeros((rows, width))
        for these, groups in parts:
            joined[name][these] = groups[name][:, :width]
    return joined


def trace_prescribed_runs(starts: Starts, grid: np.ndarray, *, works: bool) -> RunTraces | None:
    """The runs over the grid; None without code.

    Where `works` are wanted, those less losses between the rows are found by Gauss's rule.
    """
    equations, count = starts.equations(starts.discrete), len(starts.y)
    code = equations.code(cached=count < FEW and chosen_backend() != "compiled")
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
    return RunTraces(
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
        patterns=ModeTable(starts.run, starts.limits, starts.discrete),
    )
