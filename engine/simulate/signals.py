"""What depends on time alone, as numbers that the equations take in this order: motions, laws, wrenches, directions of
slipping, drives, and how far each pivot of a partition may shrink.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .discrete import Discrete, partition_of
from .system import System, constraints_of

Planned = Callable[[float], list[float]]


def signals(system: System, t: float, discrete: Discrete, planned: Planned) -> list[float]:
    """All signals at t; `planned` gives the forces that feedforward has planned."""
    inputs = system.inputs
    found = motion(system, t)
    for one in inputs.commanded:
        for values in one.reference.at(t):
            found += map(float, values)
    for driven in inputs.driven:
        if driven.timed:
            found.append(float(driven.force(t, 0.0, 0.0, None)))
        elif driven.reference is not None:
            places, rates, _ = driven.reference.at(t)
            found += (float(places[driven.place]), float(rates[driven.place]))
    if inputs.feedforward:
        wanted = planned(t)
        found += (wanted[k] for one in inputs.feedforward for k in one.joint.speeds)
    found += wrenches(system, t)
    if not system.smooth:
        found += (discrete.slip.get(k, 0.0) for k in system.coulomb)
    if system.loops is not None:
        found += (float(x) for part in driven_rows(system, t) for x in part)
        found += _limits(discrete)
    return found


def motion(system: System, t: float) -> list[float]:
    """Coordinates, speeds and accelerations of the prescribed joints."""
    return [float(x) for one in system.inputs.prescribed for values in one.at(t) for x in values]


def wrenches(system: System, t: float) -> list[float]:
    """Six components of each of the scenario's wrenches."""
    return [float(component(t)) for one in system.inputs.wrenches for component in one.components]


def driven_rows(system: System, t: float) -> np.ndarray:
    """Of each drive the value that it wants of its row at t, the rate and the second rate: three rows of numbers."""
    curves = [drive.curve(t) for drive in system.inputs.drives]
    return np.array([[float(x) for x in part] for part in zip(*curves)]).reshape(3, len(curves))


def wanted(system: System, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every row of the constraints its value at t, its rate and second rate: 0 but for those of drives."""
    loops = constraints_of(system)
    found = np.zeros((3, loops.m))
    found[:, loops.driven_rows()] = driven_rows(system, t)
    return found[0], found[1], found[2]


def _limits(discrete: Discrete) -> list[float]:
    near = 1.0 if discrete.passing else discrete.near
    return [1.0 / (x * near) if x else 0.0 for x in partition_of(discrete).pivots]
