"""What the user of the command line waits for: whole processes, on the clock and in CPU time of all their threads."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Row, within

DENOC = Path(sys.executable).with_name("denoc")
RUNS = 25
MOST = 0.5  # seconds of a whole run
IDYN, HELP, EMPTY = "`denoc idyn puma.yaml --no-plot`", "`denoc --help`", "`python -c pass`"


def rows() -> list[Row]:
    """On a machine that is busy the clock shows up to twice the CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        commands: dict[str, list[str | Path]] = {
            IDYN: [DENOC, "idyn", "puma.yaml", "--no-plot", "--out", folder],
            HELP: [DENOC, "--help"],
            EMPTY: [sys.executable, "-c", "pass"],
        }
        waited, worked = (dict.fromkeys(commands, float("inf")) for _ in range(2))
        for _ in range(RUNS):
            for name, command in commands.items():
                begun, before = time.perf_counter(), _worked()
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
                waited[name] = min(waited[name], time.perf_counter() - begun)
                worked[name] = min(worked[name], _worked() - before)
    return [
        within(IDYN, waited[IDYN], MOST),
        Row(f"{IDYN}, CPU time", worked[IDYN]),
        Row(HELP, waited[HELP], EMPTY, waited[EMPTY]),
        Row(f"{HELP}, CPU time", worked[HELP], EMPTY, worked[EMPTY]),
    ]


def _worked() -> float:
    """CPU seconds of all processes that this one has started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
