"""States of many mechanisms at once that their loops allow: closed, and with a joint at rest."""

from __future__ import annotations

import numpy as np

from ..loops.search import CLOSED
from ..machine.jit.kernel import Kernel
from .marching import ROWS_CLOSED
from .modes import DEAD, least_change_of_speeds
from .signals import wanted_row_signals_over_time
from .together import Equations, Starts

PASSES = 4  # of the equations' own closing, two iterations each, until a state's loops are closed


def shut_states(equations: Equations, code: Kernel, inputs: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Close the loops of all states, each by itself until nothing makes its gap smaller; say which are closed."""
    left, going = np.full(len(states), np.inf), np.arange(len(states))
    for _ in range(PASSES):
        found = equations.groups(code, inputs[going], states[going])["settled"]
        with np.errstate(all="ignore"):
            gap = np.sqrt(found[:, -1])
            better = gap < left[going]  # which isn't true of NaN
        these = going[better]
        states[these], left[these] = found[better, :-1], gap[better]
        going = these[gap[better] > ROWS_CLOSED]
        if not len(going):
            break
    return left <= CLOSED


def rested(
    starts: Starts, these: np.ndarray, t: np.ndarray, y: np.ndarray, q: np.ndarray, qd: np.ndarray, k: int
) -> np.ndarray:
    """The states of these mechanisms with the other speeds to match speed k, which is 0."""
    system, alike = starts.run.system, starts.alike
    scale = alike.column_scale[these]
    rates = wanted_row_signals_over_time(system, t)[1] * alike.row_scale[these]
    change = least_change_of_speeds(alike.near(q, these)[1], rates, qd / scale, [*system.prescribed, k])
    change[abs(change).max(axis=1) > DEAD] = 0.0
    y, places = y.copy(), [system.place_of(j) for j in system.state_speeds]
    y[:, places] += (scale * change)[:, system.state_speeds]
    y[:, system.place_of(k)] = 0.0
    return y
