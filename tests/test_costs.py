"""What the tests' own house promises: CPU time is counted wherever it is spent, and the user's caches stay untouched."""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
import pytest

from costs import Costs, cpu_seconds
from denoc.machine.backend import cache

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
    assert 2e6 < costs._whole() <= 2e6 + cpu_seconds()


@pytest.mark.parametrize("folder", [cache.cache_folder, matplotlib.get_cachedir, matplotlib.get_configdir])
def test_caches_are_in_a_folder_of_this_run(folder):
    assert Path(tempfile.gettempdir()) in Path(folder()).parents
    assert Path.home() not in Path(folder()).parents
