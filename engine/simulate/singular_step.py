"""A single step across a position where the loops lose rank, on the branch on which the run is.

The equations are regular on both sides and singular in one instant.  A step whose stages all keep away from that
instant sees a smooth motion, which inertia carries through; what it ends with has to show that this is so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..mechanics.closure import Partition
from . import coordinates
from .integrators.events import Watched, first_event_crossing
from .integrators.runge_kutta import RungeKutta
from .integrators.tableau import DORMAND_PRINCE
from .runner import Runner
from .singular import Singular
from .systems.discrete import Discrete, discrete_partition

PLACE = DORMAND_PRINCE.C[1] / 2  # share of the step at which it crosses: all other stages are as far behind, or farther
SAME = 0.01  # share of the step's motion and speeds that closing the loops may correct: the other branch is farther off


@dataclass(frozen=True)
class Passage:
    """A step across a singular position, with the state and the discrete state at its end."""

    stepper: RungeKutta
    y: np.ndarray
    discrete: Discrete


def step_across_singular_position(
    run: Runner,
    y: np.ndarray,
    ahead: Singular,
    t: float,
    end: float,
    watched: list[Watched],
    *,
    rtol: float,
    atol: float,
) -> Passage | None:
    """The step from (t, y) across the position ahead; None where it doesn't end on the same branch, as it should."""
    h = (ahead.t - t) / PLACE
    if not 0.0 < h <= end - t:
        return None
    stepper = RungeKutta(
        DORMAND_PRINCE,
        run.derivative,
        t,
        y,
        t + h,
        rtol=rtol,
        atol=atol,
        first_step=h,
        measured=run.system.measured,
    )
    if stepper.step() or stepper.rejected or stepper.t < t + h:
        return None
    if first_event_crossing([one.function for one in watched], stepper) is not None:
        return None
    part = _beyond(run, stepper.t, stepper.y)
    if part is None:
        return None
    discrete = replace(run.discrete, partition=part)
    closed = coordinates.settled_state(run.system, discrete, stepper.t, stepper.y)
    return Passage(stepper, closed, discrete) if _same(run, stepper, closed) else None


def _beyond(run: Runner, t: float, y: np.ndarray) -> Partition | None:
    """The partition with its pivots on the other side of 0; None if one of them is still too small there."""
    part, loops = discrete_partition(run.discrete), run.system.loops
    now = part.pivots_at(loops.jacobian(coordinates.positions_in_run(run.system, t, y))[0])
    if not np.isfinite(now).all():
        return None
    beyond = replace(part, pivots=tuple(np.copysign(part.pivots, now).tolist()))
    return beyond if beyond.share_of(now) > run.discrete.near else None


def _same(run: Runner, stepper: RungeKutta, closed: np.ndarray) -> bool:
    """Whether closing the loops has hardly changed the state at the step's end."""
    places = len(run.system.state_coordinates)
    change, motion = abs(closed - stepper.y), abs(stepper.y - stepper.y_old)
    speeds = abs(stepper.y[places : run.system.measured]).max(initial=0.0)
    near = change[:places].max(initial=0.0) <= SAME * motion[:places].max(initial=0.0)
    return bool(near and change[places : run.system.measured].max(initial=0.0) <= SAME * speeds)
