"""The signals of a run, which are inputs of its equations, in this order: motions, laws, effort limits, wrenches,
directions of slipping, drives, the inverse bounds of a partition's pivots, and the model's numbers that are inputs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .discrete import Discrete, partition_of
from .system import System, constraints_of

Planned = Callable[[float], list[float]]


def signals(system: System, t: float, discrete: Discrete, planned: Planned) -> list[float]:
    """All signals at t; `planned` is the function for the forces of feedforward."""
    inputs = system.inputs
    numbers = motion(system, t)
    for one in inputs.commanded:
        for values in one.reference.at(t):
            numbers += map(float, values)
    for driven in inputs.driven:
        if driven.timed:
            numbers.append(float(driven.force(t, 0.0, 0.0, None)))
        elif driven.reference is not None:
            places, rates, _ = driven.reference.at(t)
            numbers += (float(places[driven.place]), float(rates[driven.place]))
    if inputs.feedforward:
        wanted = planned(t)
        numbers += (wanted[k] for one in inputs.feedforward for k in one.joint.speeds)
    for k in system.bounded:  # the factor of the law's force, and the force in its place
        numbers += (0.0, discrete.saturated[k]) if k in discrete.saturated else (1.0, 0.0)
    numbers += wrenches(system, t)
    if not system.smooth:
        numbers += (discrete.slip.get(k, 0.0) for k in system.coulomb)
    if system.loops is not None:
        numbers += (float(x) for part in driven_rows(system, t) for x in part)
        numbers += _limits(discrete)
    return numbers + system.numbers


def motion(system: System, t: float) -> list[float]:
    """Coordinates, speeds and accelerations of the prescribed joints at t."""
    return [float(x) for one in system.inputs.prescribed for values in one.at(t) for x in values]


def wrenches(system: System, t: float) -> list[float]:
    """The six components of each wrench of the scenario at t."""
    return [float(component(t)) for one in system.inputs.wrenches for component in one.components]


def driven_rows(system: System, t: float) -> np.ndarray:
    """Values that the drives prescribe for their rows at t, with first and second rates: an array with three rows."""
    curves = [drive.curve(t) for drive in system.inputs.drives]
    return np.array([[float(x) for x in part] for part in zip(*curves)]).reshape(3, len(curves))


def wanted(system: System, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of all constraint rows at t, with first and second rates; 0 except in the rows of drives."""
    loops = constraints_of(system)
    rows = np.zeros((3, loops.m))
    rows[:, loops.driven_rows()] = driven_rows(system, t)
    return rows[0], rows[1], rows[2]


def _limits(discrete: Discrete) -> list[float]:
    near = 1.0 if discrete.passing else discrete.near
    return [1.0 / (x * near) if x else 0.0 for x in partition_of(discrete).pivots]
