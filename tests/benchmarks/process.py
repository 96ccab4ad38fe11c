"""What the user of the command line waits for: whole processes, on the clock."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Row, within

DENOC = Path(sys.executable).with_name("denoc")
RUNS = 25
MOST = 0.5  # seconds of a whole run


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        words = {
            "idyn": [DENOC, "idyn", "puma.yaml", "--no-plot", "--out", folder],
            "help": [DENOC, "--help"],
            "empty": [sys.executable, "-c", "pass"],
        }
        least = dict.fromkeys(words, float("inf"))
        for _ in range(RUNS):
            for name, command in words.items():
                begun = time.perf_counter()
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
                least[name] = min(least[name], time.perf_counter() - begun)
    return [
        within("`denoc idyn puma.yaml --no-plot`", least["idyn"], MOST),
        Row("`denoc --help`", least["help"], "`python -c pass`", least["empty"]),
    ]
