"""Sections `time` and `solver`: the output's instants, steps and tolerances, and the short steps that laws need."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...laws import ForceLaw, MotionLaw
from ...simulate import Solver
from ...simulate.integrators import INTEGRATORS
from ...text import Keys, yaml_value_in_words
from . import wrenches
from .reading import Reading

PlacedLaw = tuple[MotionLaw | ForceLaw, Keys]  # a law, and the path of its entry
MOST_ROWS = 1_000_000
MOST_NUMBERS = 50_000_000  # rows × columns


def read_solver_section(reading: Reading, grid: np.ndarray, laws: Sequence[PlacedLaw]) -> Solver:
    """The entries of the section, with the short steps that the laws of motion and force need."""
    entry = reading.file.solver
    paces = (law.pace(*reading.span, reading.folder) for law, _ in [*laws, *wrenches.read_wrench_laws(reading)])
    return Solver(
        method=entry.method,
        rtol=float(entry.rtol),
        atol=float(entry.atol) if entry.atol is not None else float(entry.rtol) / 100,
        max_step=float(entry.max_step) if entry.max_step is not None else math.inf,
        step=_fixed_step(reading, grid),
        max_steps=entry.max_steps,
        at_singularity=entry.at_singularity,
        paces=tuple(dict.fromkeys(pace for pace in paces if pace is not None)),
    )


def scenario_law_swings_are_countable(reading: Reading, laws: Sequence[PlacedLaw]) -> None:
    """Raises an error if a law swings too often for the allowed number of steps."""
    t0, t1 = reading.span
    for law, path in [*laws, *wrenches.read_wrench_laws(reading)]:
        begin, end, step = law.pace(t0, t1, reading.folder) or (t0, t0, math.inf)
        steps = (min(end, t1) - max(begin, t0)) / step if step else math.inf
        if steps > reading.file.solver.max_steps:
            raise reading.error(
                path,
                f"following this law would take more than {reading.file.solver.max_steps} steps",
                found=f"{steps:.3g} steps",
                allowed="a slower law, a shorter time, or more `max_steps` under `solver`",
            )


def _fixed_step(reading: Reading, grid: np.ndarray) -> float | None:
    """The step of a fixed-step method, after a check that the run doesn't take too many."""
    entry, duration = reading.file.solver, float(grid[-1] - grid[0])
    adaptive = INTEGRATORS[entry.method].adaptive
    if adaptive and entry.step is not None:
        raise reading.error(
            ("solver", "step"),
            f"`{entry.method}` chooses its steps itself",
            found=yaml_value_in_words(entry.step),
            hint="`max_step` bounds them; `method: rk4` has a fixed step; the rows' is `step` under `time`",
        )
    step = None if adaptive else float(entry.step or grid[1] - grid[0])
    for key, length in (("step", step), ("max_step", entry.max_step)):
        if length is not None and duration / length > entry.max_steps:
            raise reading.error(
                ("solver", key),
                f"the run would take more than {entry.max_steps} steps",
                found=f"{duration / length:.3g} steps",
                allowed=f"a {key} of {duration / entry.max_steps:.3g} s or more, or more `max_steps`",
            )
    return step


def read_time_grid(reading: Reading) -> np.ndarray:
    """The instants, a step apart, with the end of the run as the last one."""
    start, end = reading.span
    time = reading.file.time
    step = float(time.step) if time.step is not None else (end - start) / 200
    count = (end - start) / step
    width = 8 * max(reading.robot.nv, 1)
    if not count + 1 <= min(MOST_ROWS, MOST_NUMBERS // width):
        raise reading.error(
            ("time", "step"),
            "the run would have too many rows",
            found=f"{count + 1:.4g} rows",
            allowed=f"at most {min(MOST_ROWS, MOST_NUMBERS // width)} for this robot",
            hint="a longer `step` or a shorter time",
        )
    whole = round(count)
    if whole >= 1 and abs(count - whole) < 1e-9 * max(1.0, count):
        instants = np.array([start + (end - start) * k / whole for k in range(whole + 1)])
    else:
        rows = [start + step * k for k in range(int(count) + 1)]
        instants = np.array([*rows, end] if rows[-1] < end else rows)
    if not (np.diff(instants) > 0).all():
        raise reading.error(
            ("time", "step"),
            "rows this close can't be told apart at times this large",
            found=f"{step:g} s apart at {max(abs(start), abs(end)):g} s",
            hint="let the time start at 0",
        )
    return instants
