"""The interface of integrators, and what they say when a step fails.

A stepper integrates y' = f(t, y) from t0 towards t_end, one step at a call, forwards in time. It only takes steps:
output rows, events and messages about failures are its caller's job.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

Fun = Callable[[float, np.ndarray], np.ndarray]

TOO_SMALL = "the tolerance asks for a step below the spacing of floating-point numbers: the motion may be singular here"
NOT_FINITE = "the derivative or the state is not a finite number (NaN or infinity), however small the step"
AT_END = "the end of the integration has been reached already"

SHIFTED = 1000.0  # tolerances by which a state may be changed without loss of the history of a multistep method
CARRIED = 1e100  # absolute tolerance of quadratures, so large that their errors never matter
LEAST_RTOL = 100 * float(np.finfo(float).eps)
LEAST_ATOL = 1e-300  # gives a state that stays zero the error 0, not 0/0


def finite(x: np.ndarray) -> bool:
    """Whether all numbers are finite; a sum of squares is quicker to look at, but overflows sooner."""
    return math.isfinite(x.dot(x)) or bool(np.isfinite(x).all())


class Stepper(Protocol):
    """The interface of integrators; `t_end` may be moved on between steps, to land on given instants."""

    t: float
    y: np.ndarray
    t_old: float  # the start of the last step; t itself before the first
    t_end: float
    evaluations: int  # all calls of the derivative
    accepted: int
    rejected: int

    def step(self) -> str:
        """Takes a step; if it fails, leaves the state as it was and returns the reason as a sentence."""
        ...

    def between(self, t: float) -> np.ndarray:
        """The state at an instant within the last step, as it was computed, not as it was settled."""
        ...

    def course(self) -> Callable[[float], np.ndarray]:
        """The states within the last step as a function that later steps don't change."""
        ...

    def renew(self) -> None:
        """Forgets the derivative at the last step's end, where inputs may have changed."""
        ...

    def settle(self, y: np.ndarray) -> None:
        """Replaces the state at the last step's end by another one: a new array, not `y` changed in place."""
        ...
