"""What the user of the command line waits for: whole processes, on the clock and in CPU time of all their threads."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from measure import Row
from pace import within

from denoc.text import library_names

DENOC = Path(sys.executable).with_name("denoc")
RUNS = 25
MOST = 0.5  # seconds of a whole run
MOST_WORK, MOST_WORK_WITH_PLOTS = 0.3, 0.9  # s of CPU
ALL = {"--plot": 1.1, "--no-plot": 0.4}  # s of CPU of a run of the library, the median of all
PLOTS = "`denoc idyn puma.yaml` with its four plots"
IDYN, HELP, EMPTY = "`denoc idyn puma.yaml --no-plot`", "`denoc --help`", "`python -c pass`"


def rows() -> list[Row]:
    """On a machine that is busy the clock shows up to twice the CPU time.

    Byte code is kept, as it is for users, even if this process doesn't keep its own.
    """
    kept = _environment()
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
        *library(),
    ]


def library() -> list[Row]:
    """Runs of all scenarios of the library, each in a process of its own and not for the first time: their median."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**_environment(), "DENOC_CACHE": str(Path(folder) / "cache")}
        taken = [_runs_again(name, Path(folder), env) for name in library_names("scenarios")]
    work = f"`denoc run`, the median of {len(taken)} scenarios that ran before"
    return [
        within(f"{work}, {option}, CPU time", median(each[option] for each in taken), most)
        for option, most in ALL.items()
    ]


def _runs_again(name: str, folder: Path, env: dict[str, str]) -> dict[str, float]:
    """CPU seconds of a scenario's processes after a first one, by what is asked for."""
    _run_alone(name, "--plot", folder / "first", env)
    taken = {option: _run_alone(name, option, folder / option, env) for option in ALL}
    for option in ALL:
        files = {path.suffix for path in (folder / option / name).iterdir()}
        if ".csv" not in files or (".png" in files) != (option == "--plot"):
            raise ArithmeticError(f"{name} {option}: wrote {files}")
    return taken


def _run_alone(name: str, option: str, out: Path, env: dict[str, str]) -> float:
    """CPU seconds of a scenario's process."""
    before = _worked()
    subprocess.run([DENOC, "run", name, option, "--out", out], stdout=subprocess.DEVNULL, check=True, env=env)
    return _worked() - before


def _environment() -> dict[str, str]:
    """This process's, but byte code is kept."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def _worked() -> float:
    """CPU seconds of all processes that this one has started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
