"""How long quick commands take beyond `python -c pass`; exits with 1 where one takes longer than it may."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

RUNS = 15
DENOC = Path(sys.executable).with_name("denoc")
MOST = {("--help",): 0.15, ("list",): 0.25}  # seconds more than an empty program


def shortest(*command: str | Path) -> float:
    """Seconds of the quickest of several runs: what the machine was busy with otherwise is not in it."""
    best = float("inf")
    for _ in range(RUNS):
        begun = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        best = min(best, time.perf_counter() - begun)
    return best


def main() -> int:
    empty = shortest(sys.executable, "-c", "pass")
    print(f"python -c pass  {empty:.3f} s")
    late = False
    for words, most in MOST.items():
        more = shortest(DENOC, *words) - empty
        late = late or more > most
        print(f"denoc {' '.join(words):9} {more:+.3f} s, may take {most:+.3f} s")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
