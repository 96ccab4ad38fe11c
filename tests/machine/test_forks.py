"""Forks while another thread compiles: the copy of the process has none of that thread's locks."""

import os
import subprocess
import sys

import pytest

from limits import HANGS

pytestmark = [pytest.mark.smoke, pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")]

# a process that forks just when another thread has begun to compile; the copy, which would hang, ends by an alarm
FORKED = """
import os, signal, sys, threading, warnings
import numpy as np
import denoc
from denoc.machine.jit import native
from denoc.machine.jit.choice import using_backend

warnings.simplefilter("ignore")
robots = [denoc.load(name) for name in ("planar3r", "stanford")]
begun, compiled = threading.Event(), native.compile_ir

def compile_ir(*given):
    begun.set()
    return compiled(*given)

def computed():
    with using_backend("compiled"):
        return [denoc.forward(robot, *np.ones((3, 4, robot.nv))).tolist() for robot in robots]

native.compile_ir = compile_ir
found = []
thread = threading.Thread(target=lambda: found.extend(computed()))
thread.start()
assert begun.wait(60)
for _ in range(3):
    child = os.fork()
    if not child:
        signal.alarm(15)
        os._exit(0 if computed() and not threading.active_count() > 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
thread.join()
assert found == computed()
"""


def test_a_copy_of_a_process_that_compiles_does_not_hang(tmp_path):
    env = dict(os.environ, DENOC_CACHE=str(tmp_path / "empty"))
    done = subprocess.run(
        [sys.executable, "-c", FORKED], env=env, capture_output=True, text=True, timeout=HANGS, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
