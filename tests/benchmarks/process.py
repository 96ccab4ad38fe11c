"""What the user of the command line waits for: whole processes, on the clock and in CPU time of all their threads."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Row
from pace import within

DENOC = Path(sys.executable).with_name("denoc")
RUNS = 25
MOST = 0.5  # seconds of a whole run
MOST_WORK, MOST_WORK_WITH_PLOTS = 0.3, 0.9  # s of CPU
PLOTS = "`denoc idyn puma.yaml` with its four plots"
IDYN, HELP, EMPTY = "`denoc idyn puma.yaml --no-plot`", "`denoc --help`", "`python -c pass`"


def rows() -> list[Row]:
    """On a machine that is busy the clock shows up to twice the CPU time.

    Byte code is kept, as it is for users, even if this process doesn't keep its own.
    """
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        commands: dict[str, list[str | Path]] = {
            IDYN: [DENOC, "idyn", "puma.yaml", "--no-plot", "--out", folder],
            PLOTS: [DENOC, "idyn", "puma.yaml", "--out", folder],
            HELP: [DENOC, "--help"],
            EMPTY: [sys.executable, "-c", "pass"],
        }
        waited, worked = (dict.fromkeys(commands, float("inf")) for _ in range(2))
        for _ in range(RUNS):
            for name, command in commands.items():
                begun, before = time.perf_counter(), _worked()
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=kept)
                waited[name] = min(waited[name], time.perf_counter() - begun)
                worked[name] = min(worked[name], _worked() - before)
    return [
        within(IDYN, waited[IDYN], MOST),
        within(f"{IDYN}, CPU time", worked[IDYN], MOST_WORK),
        within(f"{PLOTS}, CPU time", worked[PLOTS], MOST_WORK_WITH_PLOTS),
        Row(HELP, waited[HELP], EMPTY, waited[EMPTY]),
        Row(f"{HELP}, CPU time", worked[HELP], EMPTY, worked[EMPTY]),
    ]


def _worked() -> float:
    """CPU seconds of all processes that this one has started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
