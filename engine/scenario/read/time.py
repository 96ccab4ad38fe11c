"""Section `time`: the instants of the output's rows."""

from __future__ import annotations

import numpy as np

from .reading import Reading

MOST_ROWS = 1_000_000
MOST_NUMBERS = 50_000_000  # rows × columns


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
