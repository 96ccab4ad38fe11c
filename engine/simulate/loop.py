"""The time loop: steps, events, output rows.  Knows a plant by its derivative, events and unit quaternions only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from . import contact
from .events import first_crossing
from .integrate import METHODS, Stepper, start
from .plant import Evaluation, Plant

Progress = Callable[[float], None]


@dataclass
class Solver:
    """How to integrate; the defaults are the scenario's."""

    method: str = "rk45"
    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float = math.inf
    step: float | None = None
    max_steps: int = 1_000_000


@dataclass
class Trace:
    """What a run leaves: one row an instant, and how it ended."""

    t: list[float] = field(default_factory=list)
    rows: list[Evaluation] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    events: list[dict] = field(default_factory=list)
    ended: str = "done"
    reason: str = ""
    steps: int = 0
    rejected: int = 0
    evaluations: int = 0

    def keep(self, plant: Plant, t: float, y: np.ndarray) -> None:
        row = plant.evaluate(t, y)  # may be interrupted: before anything is kept
        self.t.append(t)
        self.rows.append(row)
        self.work.append(float(y[-2]))
        self.lost.append(float(y[-1]))


def integrate(
    plant: Plant, q: list[float], qd: list[float], grid: np.ndarray, solver: Solver, kinks: list[float], tell: Progress
) -> Trace:
    """The run over the grid; it ends early when the numbers fail or the user interrupts, and keeps what it had."""
    trace = Trace()
    try:
        _run(plant, plant.start(q, qd), grid, solver, kinks, tell, trace)
    except KeyboardInterrupt:
        if not trace.lost:
            raise
        whole = len(trace.lost)  # appended last
        del trace.t[whole:], trace.rows[whole:], trace.work[whole:]
        trace.ended, trace.reason = "interrupted", "interrupted by the user"
    trace.evaluations = plant.evaluations
    return trace


def _run(
    plant: Plant, y: np.ndarray, grid: np.ndarray, solver: Solver, kinks: list[float], tell: Progress, trace: Trace
) -> None:
    t, end, row = float(grid[0]), float(grid[-1]), 1
    plant.modes = contact.settle(plant, t, y)
    trace.keep(plant, t, y)
    lands = not METHODS[solver.method].dense  # without good dense output, steps end on the rows
    stops = sorted({float(x) for x in kinks if grid[0] < x < end} | {end})
    while t < end:
        # a new stepper after every event and every kink of a law: the derivative may jump there
        leg_end = next(x for x in stops if x > t)
        watched = contact.watches(plant)
        stepper = _stepper(plant, t, y, leg_end, solver)
        fired = False
        try:
            while stepper.t < leg_end and not fired:
                stepper.t_end = min(leg_end, float(grid[row])) if lands else leg_end
                failure = stepper.step()
                if not failure and trace.steps + stepper.accepted > solver.max_steps:
                    failure = f"more than {solver.max_steps} steps (`max_steps` of the solver)"
                if failure:
                    trace.ended, trace.reason = "failed", f"at t = {stepper.t:.9g} s: {_why(plant, stepper, failure)}"
                    return
                stepper.settle(plant.unit(stepper.y))
                reached, watch = stepper.t, None
                event = first_crossing([w.function for w in watched], stepper)
                if event is not None:
                    reached, watch = event[0], watched[event[1]]
                while row < len(grid) and grid[row] <= reached:
                    at = float(grid[row])
                    trace.keep(plant, at, stepper.y if at == stepper.t else plant.unit(stepper.between(at)))
                    row += 1
                t, y = reached, stepper.y
                if watch is not None:
                    y = y if reached == stepper.t else plant.unit(stepper.between(reached))
                    y = contact.happened(plant, watch, reached, y)
                    trace.events.append(_told(plant, watch, reached))
                    fired = True
                tell(t)
        finally:
            trace.steps += stepper.accepted
            trace.rejected += stepper.rejected


def _why(plant: Plant, stepper: Stepper, failure: str) -> str:
    """The failure in words of mechanics where it is one."""
    state = plant.evaluate(stepper.t, stepper.y)
    if all(map(math.isfinite, state.qdd)) or not all(map(math.isfinite, [*state.q, *state.qd])):
        return failure
    return (
        "no accelerations can be computed in this state: a joint has nothing to accelerate (a pivot of the generalized "
        "inertia matrix is 0); give the links beyond it a mass or the joint a rotor inertia"
    )


def _stepper(plant: Plant, t: float, y: np.ndarray, end: float, solver: Solver) -> Stepper:
    return start(
        solver.method,
        plant.derivative,
        t,
        y,
        end,
        rtol=solver.rtol,
        atol=solver.atol,
        max_step=solver.max_step,
        step=solver.step,
        measured=plant.measured,
    )


def _told(plant: Plant, watch: contact.Watch, t: float) -> dict:
    joint = next(joint for joint in plant.robot.moving if watch.speed in joint.speeds)
    held = watch.speed in plant.modes.held
    then = "held" if held else {1.0: "moves up", -1.0: "moves down"}.get(plant.modes.slip.get(watch.speed, 0.0), "free")
    return {"t": t, "joint": joint.name, "event": watch.what, "then": then}
