"""CPU time is counted wherever it is spent."""

import subprocess
import sys

from costs import Costs, cpu_seconds

WORK = "import time\nwhile time.process_time() < 0.2: pass"


def test_the_time_of_children_counts():
    begun = cpu_seconds()
    subprocess.run([sys.executable, "-c", WORK], check=True)
    assert cpu_seconds() - begun > 0.15  # some systems count in ticks of a hundredth


def test_the_whole_is_that_of_this_process_and_of_all_workers():
    class Node:
        workeroutput = {"cpu_seconds": 1e6}

    costs = Costs()
    for _ in range(2):
        costs.pytest_testnodedown(Node())
    assert 2e6 < costs._whole() < 2e6 + cpu_seconds()
