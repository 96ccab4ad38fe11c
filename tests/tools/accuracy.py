"""What each integrator gives at its defaults over 10 and 100 s: docs/accuracy.json, of which docs/reference.md has a table.

    python tests/tools/accuracy.py

The angles of each run are compared with those of a run of `dop853` at a tolerance of 1e-13. A robot that falls freely is
chaotic: from some instant on, no tolerance helps, and the table says when.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import denoc
from denoc.scenario.error_estimate import TURN
from denoc.simulate.integrators import INTEGRATORS

KEPT = Path(__file__).resolve().parents[2] / "docs" / "accuracy.json"
FALLS = {"four-bar": {"A0": "60 deg"}, "puma": {}}  # robots of the library, and where they begin
SPANS = 10, 100
ROWS = 0.05  # s
STEP = 0.001  # s, of methods whose step is fixed


def fall(robot: str, end: float, **solver: Any) -> denoc.Result:
    """The free fall of a robot of the library."""
    start = {"initial": FALLS[robot]} if FALLS[robot] else {}
    solver = {"energy": "accept", **solver}
    return denoc.run(
        {"robot": robot, "task": "simulate", "time": {"end": end, "step": ROWS}, **start, "solver": solver}
    )


def largest_error(run: denoc.Result, true: denoc.Result) -> dict[str, float]:
    """By how many radians angles are off at most, and from when on by more than `TURN`."""
    names = [one.name for one in run.columns if one.family == "position"]
    rows = len(run.t)
    off = np.max([abs(run.table[name] - true.table[name][:rows]) for name in names], axis=0)
    lost = off > TURN
    return {"error": float(off.max()), **({"lost": float(run.t[lost.argmax()])} if lost.any() else {})}


def measured() -> dict[str, dict[str, dict[str, float]]]:
    """By method and case, the largest errors."""
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in INTEGRATORS}
    for robot in FALLS:
        true = fall(robot, SPANS[-1], method="dop853", rtol=1e-13)
        for name, row in INTEGRATORS.items():
            whole = fall(robot, SPANS[-1], method=name, **({} if row.adaptive else {"step": STEP}))
            for span in SPANS:
                off = largest_error(whole, true) if span == SPANS[-1] else largest_error(fall_until(whole, span), true)
                found[name][f"{robot}, {span} s"] = off
    return found


def fall_until(run: denoc.Result, end: float) -> denoc.Result:
    """The rows of a run up to an instant."""
    rows = int(np.searchsorted(run.t, end, side="right"))
    table = {name: values[:rows] for name, values in run.table.items()}
    return denoc.Result(run.name, run.t[:rows], table, run.ended, run.audit, run.record, run.columns)


def kept_accuracy() -> dict[str, dict[str, dict[str, float]]]:
    return dict(json.loads(KEPT.read_text(encoding="utf-8")))


def accuracy_table(kept: dict[str, dict[str, dict[str, float]]]) -> str:
    """The table of docs/reference.md."""
    cases = list(next(iter(kept.values())))
    lines = ["| method | " + " | ".join(cases) + " |", "|---" * (len(cases) + 1) + "|"]
    for name, row in kept.items():
        cells = [f"lost at {one['lost']:.0f} s" if "lost" in one else f"{one['error']:.1g} rad" for one in row.values()]
        fixed = "" if INTEGRATORS[name].adaptive else f", steps of {1000 * STEP:g} ms"
        lines.append(f"| `{name}`{fixed} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    KEPT.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(accuracy_table(kept_accuracy()))
