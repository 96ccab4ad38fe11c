"""Runs by other integrators, and runs that once were slow: through singular positions, and the first of a process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial

import numpy as np
from measure import Row, against, checked, quickest
from pace import within

import denoc
from denoc.machine.jit.choice import using_backend
from peers import Pinocchio

FALL = {"robot": "puma", "task": "simulate", "time": {"end": 2.0, "step": 0.4}}
METHODS = {"dop853": "DOP853", "radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}  # scipy's names
SINGULAR, PASSED = "n-four-bar-fall", 0.3  # seconds of a run that was done before in the process
COLD, FIRST = "gough-stewart-fall", 0.6  # seconds of the first run in a process, with an empty cache
TIMED = "import denoc, time; begun = time.process_time(); denoc.run({!r}); print(time.process_time() - begun)"


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
        within(f"`denoc.run('{COLD}')`, the first, with an empty cache", first(COLD), FIRST),
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


def first(name: str, processes: int = 3) -> float:
    """CPU seconds of a library scenario's first run in a process, with all that it imports, the least of some.

    Byte code is kept, as it is for users, even if this process doesn't keep its own.
    """
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    least = float("inf")
    for _ in range(processes):
        with tempfile.TemporaryDirectory() as folder:
            env = {**kept, "DENOC_CACHE": folder, "DENOC_BACKEND": "auto"}
            command = [sys.executable, "-c", TIMED.format(name)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env)
        least = min(least, float(done.stdout))
    return least
