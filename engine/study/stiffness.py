"""What the equations of motion of a planned run cost to evaluate, and how stiff they are."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from ..scenario import Plan
from ..simulate.follow import Path
from ..simulate.runner import Runner
from .playback import RecordedMotion

INSTANTS = 5  # along the reference, at which eigenvalues are computed


def evaluation_time_for_comparison(plan: Plan, run: Runner) -> float:
    """The processor's seconds of one evaluation of the equations of motion at the start, the least of ten."""
    y, t = run.start(plan.q0, plan.qd0), float(plan.grid[0])
    times = []
    for _ in range(10):
        begun = time.thread_time()
        run.derivative(t, y)
        times.append(time.thread_time() - begun)
    return min(times)


def largest_eigenvalue(plan: Plan, path: Path | RecordedMotion, run: Runner) -> float:
    """The largest |eigenvalue| of the equations of motion along the reference, in 1/s."""
    largest = 0.0
    for t in np.linspace(plan.grid[0], plan.grid[-1], INSTANTS).tolist():
        q, qd, *_ = path.at(t)
        J = stiffness_jacobian_for_comparison(
            partial(run.derivative, t), run.start(q.tolist(), qd.tolist()), run.system.measured
        )
        if np.isfinite(J).all():
            largest = max(largest, float(abs(np.linalg.eigvals(J)).max(initial=0.0)))
    return largest


def stiffness_jacobian_for_comparison(
    f: Callable[[np.ndarray], np.ndarray], y: np.ndarray, count: int, step: float = 1e-6
) -> np.ndarray:
    """The Jacobian of the first `count` components by central differences."""
    J = np.empty((count, count))
    for k in range(count):
        h = step * max(abs(float(y[k])), 1.0)
        ahead, behind = y.copy(), y.copy()
        ahead[k], behind[k] = y[k] + h, y[k] - h
        J[:, k] = (np.array(f(ahead)) - f(behind))[:count] / (2 * h)
    return J
