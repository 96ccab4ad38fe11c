"""Runs by other integrators, and runs that once were slow: through singular positions, and the first of a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from measure import Row, against, checked, quickest
from pace import within
from peers import Pinocchio

import denoc
from denoc.machine.backend import using_backend
from denoc.text import library_folder

FALL = {"robot": "puma", "task": "simulate", "time": {"end": 2.0, "step": 0.4}}
METHODS = {"dop853": "DOP853", "radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}  # scipy's names
SINGULAR, PASSED = "n-four-bar-fall", 0.3  # seconds of a run that was done before in the process
WINDOWS = {20: 10.0, 40: 20.0}  # of the same mechanism: seconds of the first run in a process, with an empty cache
COLD, FIRST = "gough-stewart-fall", 0.6  # likewise
LARGE = {"pr2 (10 couplings)": 1.43, "tiago_dual (101 freedoms, dry friction)": 2.2}  # likewise
SHORT = {"task": "simulate", "time": {"end": 0.1, "step": 0.01}}
TIMED = """
import denoc, json, time
begun = time.process_time()
run = denoc.run(*{!r})
seconds = time.process_time() - begun
print(json.dumps([seconds, {{name: float(column[-1]) for name, column in run.table.items()}}]))
"""


def rows(peer: Pinocchio) -> list[Row]:
    """Whole runs of the PUMA by each method, beside scipy's with Pinocchio; then those that are to take so long at most."""
    found = []
    for method, kind in METHODS.items():
        work = f"free fall 2 s by {method}, whole run"
        ours = partial(denoc.run, {**FALL, "solver": {"method": method}})
        theirs = scipy(peer, kind)
        for _ in range(12):  # until denoc has found out what pays
            last = ours().table
        names = [f"joint{k}.{what}" for what in ("q", "qd") for k in range(1, 7)]
        with using_backend("compiled"):
            tight = denoc.run({**FALL, "solver": {"method": "dop853", "rtol": 1e-12, "atol": 1e-14}}).table
        checked(work, "scipy, tight", _ends(tight, names), scipy(peer, "DOP853", 1e-12)())
        if abs(_ends(last, names) - _ends(tight, names)).max() > 1e-5:
            raise ArithmeticError(f"{work}: not within its tolerance")
        took = quickest({"ours": ours, "theirs": theirs}, seconds=3.0)
        found.append(against(work, took["ours"], f"scipy {kind} + Pinocchio", took["theirs"]))
    for _ in range(4):
        denoc.run(SINGULAR)
    again = quickest({"run": partial(denoc.run, SINGULAR)}, seconds=3.0)["run"]
    return [
        *found,
        within(f"`denoc.run('{SINGULAR}')` again", again, PASSED),
        *windows(),
        within(f"`denoc.run('{COLD}')`, the first, with an empty cache", first(COLD)[0], FIRST),
        *large(),
    ]


def _ends(table: dict, names: list[str]) -> np.ndarray:
    return np.array([table[name][-1] for name in names])


def scipy(peer: Pinocchio, kind: str, rtol: float = 1e-8) -> Callable[[], np.ndarray]:
    """The same fall by scipy: coordinates and speeds at its end."""
    from scipy.integrate import solve_ivp

    aba, model, data, n = peer.pin.aba, peer.model, peer.data, peer.model.nv
    still, end = np.zeros(n), FALL["time"]["end"]
    grid = np.linspace(0.0, end, 6)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], aba(model, data, y[:n], y[n:], still)])

    start = np.zeros(2 * n)
    return lambda: solve_ivp(rate, (0.0, end), start, kind, grid, rtol=rtol, atol=rtol / 100).y[:, -1]


def windows() -> list[Row]:
    """More windows, each number once in a process of its own; all bars stay parallel, as those of one pendulum."""
    found, text = [], (library_folder("robots") / "n-four-bar.yaml").read_text(encoding="utf-8")
    for count, most in WINDOWS.items():
        work = f"`denoc.run('{SINGULAR}')`, {count} windows, the first, with an empty cache"
        with tempfile.TemporaryDirectory() as folder:
            robot = Path(folder) / "windows.yaml"
            robot.write_text(text.replace("repeat: 2", f"repeat: {count}"), encoding="utf-8")
            seconds, last = first(SINGULAR, str(robot), processes=1)
        off = max(abs(last[f"A{k}.q"] - pendulum(count)) for k in range(count + 1))
        if not off < 1e-5:
            raise ArithmeticError(f"{work}: {off:.1e} rad beside the pendulum")
        found.append(within(work, seconds, most))
    return found


def pendulum(count: int) -> float:
    """The angle of all bars of so many windows after 10 s: slender rods, of which those along the top don't turn."""
    from scipy.integrate import solve_ivp

    pull = 9.81 * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    tight = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
    return solve_ivp(lambda t, y: [y[1], pull * np.sin(y[0])], (0.0, 10.0), [0.0, -1.0], **tight).y[0, -1]


def large() -> list[Row]:
    """A short fall of large robots, once they are found to move as by the plain text."""
    found = []
    for name, most in LARGE.items():
        work = f"a fall of 0.1 s of {name}, the first, with an empty cache"
        scenario = {**SHORT, "robot": str(Path(__file__).with_name(f"{name.split()[0]}.yaml"))}
        seconds, last = first(scenario)
        with using_backend("plain"):
            table = denoc.run(scenario).table
        names = [column for column in table if column.endswith((".q", ".qd"))]
        checked(work, "plain text", np.array([last[column] for column in names]), _ends(table, names))
        found.append(within(work, seconds, most))
    return found


def first(*given: object, processes: int = 3) -> tuple[float, dict[str, float]]:
    """CPU seconds of a process's first call of `denoc.run`, with all that it imports, the least of some; its last row.

    Byte code is kept, as it is for users, even if this process doesn't keep its own.
    """
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    least, last = float("inf"), dict[str, float]()
    for _ in range(processes):
        with tempfile.TemporaryDirectory() as folder:
            env = {**kept, "DENOC_CACHE": folder, "DENOC_BACKEND": "auto"}
            command = [sys.executable, "-c", TIMED.format(given)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env)
        seconds, last = json.loads(done.stdout)
        least = min(least, seconds)
    return least, last
