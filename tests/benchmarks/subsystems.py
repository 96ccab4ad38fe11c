"""Forward dynamics by subsystems against the same equations in one system: operations, and times of compiled code.

python tests/benchmarks/subsystems.py             the table of docs/theory.md
python tests/benchmarks/subsystems.py 4 8 16      four-bars in series, as many as these, with the times of compiling

Times are the processor's, for one of 512 samples on one core.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
os.environ["DENOC_CACHE"] = tempfile.mkdtemp(prefix="denoc-bench-")
os.environ["DENOC_CORES"] = "1"

import denoc
import series
from denoc.machine.backend import using_backend
from denoc.machine.program import count_operations
from denoc.mechanics.closure import loop_closure
from denoc.mechanics.mechanisms import Forward
from denoc.robot import Robot
from denoc.study import DenseForward, program_for_complexity

SAMPLES, ROUNDS = 512, 200
MOST_DENSE = 16  # four-bars; dense code for more takes minutes to compile
LIBRARY = ("carpet-scraper", "three-rrr", "gough-stewart", "suspension")
TREE = tuple(k // 2 for k in range(15))  # each four-bar carries two


def least(call: Callable[[], object]) -> float:
    """The least time of a call, in seconds of the processor."""
    best = np.inf
    for _ in range(ROUNDS):
        begun = time.thread_time_ns()
        call()
        best = min(best, time.thread_time_ns() - begun)
    return best / 1e9


def measured(robot: Robot, kind: type[Forward], states: tuple[np.ndarray, ...]) -> tuple[float, float]:
    """Seconds for the making of code, and for one sample."""
    q, qd, tau = states
    text = kind.at(loop_closure(robot), q[0], robot.driven)
    arrays = {"q": q, "qd": qd, "tau": tau}
    with using_backend("compiled"):
        begun = time.process_time()
        code = (text.rolled(len(q)) if text.divided else None) or text.offer.lanes(len(q))
        made = time.process_time() - begun
        text.rows(arrays)
        assert code is not None
        return made, least(lambda: code(q, qd, tau)) / len(q)


def states(robot: Robot) -> tuple[np.ndarray, ...]:
    """Some closed states, again and again."""
    return tuple(np.tile(x, (SAMPLES // 8, 1)) for x in series.states(robot, 8))


def row(name: str, robot: Robot, dense: bool = True) -> str:
    """A row of the table."""
    whole = str(count_operations(program_for_complexity(robot, "forward, dense").results())) if dense else ""
    own = str(count_operations(program_for_complexity(robot, "forward").results()))
    inverse = str(count_operations(program_for_complexity(robot, "inverse").results())) if dense else ""
    here = states(robot)
    _, seconds = measured(robot, Forward, here)
    beside = f"{1e9 * measured(robot, DenseForward, here)[1]:.0f}" if dense else ""
    groups = [block for block in loop_closure(robot).blocks if block.tied]
    sizes = f"{len(groups)} of {max(len(block.speeds) for block in groups)}"
    return f"| {name} | {sizes} | {inverse} | {own} | {1e9 * seconds:.0f} | {whole} | {beside} |"


def main() -> None:
    """Prints the table, or lines for as many four-bars in series as the arguments say."""
    sys.setrecursionlimit(100_000)
    if sys.argv[1:]:
        for n in map(int, sys.argv[1:]):
            robot = denoc.loads(series.in_series(n))
            made, seconds = measured(robot, Forward, states(robot))
            print(f"{n} four-bars: {1e9 * seconds:.0f} ns a sample, {1e9 * seconds / n:.1f} each; made in {made:.2f} s")
        return
    print(
        "| mechanism | subsystems, of speeds | inverse | forward | ns | in one system | ns |\n|---|---|---|---|---|---|---|"
    )
    for name in LIBRARY:
        print(row(name, denoc.load(name)), flush=True)
    for n in (1, 4, 8, 16, 32, 64):
        print(row(f"{n} four-bars in series", denoc.loads(series.in_series(n)), n <= MOST_DENSE), flush=True)
    print(row("a tree of 15 four-bars", denoc.loads(series.written_out(TREE))), flush=True)


if __name__ == "__main__":
    main()
