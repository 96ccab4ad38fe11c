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
from denoc.machine.backend import native
from denoc.machine.backend.choice import using_backend

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


# compiling that takes much of the stack, as LLVM may, in a thread that has little: the process would end without a word
SMALL_STACK = """
import json, sys, threading
import numpy as np
import denoc
from denoc.machine.backend import native
from denoc.machine.backend.choice import using_backend

sys.setrecursionlimit(20_000)
robot, found, before = denoc.load("planar3r"), [], native._compile

def costly(*given):
    json.loads(3000 * "[" + 3000 * "]")
    return before(*given)

def work():
    with using_backend("compiled"):
        found.append(denoc.forward(robot, *np.ones((3, 4, robot.nv))).tolist())
    try:
        native.compile_ir("no IR")
    except RuntimeError as error:
        found.append(str(error))

native._compile = costly
threading.stack_size(256 * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert threading.stack_size() == 256 * 1024
assert "expected top-level entity" in found.pop()
assert len(*found) == 4
"""


def test_threads_with_small_stacks_compile(tmp_path):
    env = dict(os.environ, DENOC_CACHE=str(tmp_path / "empty"))
    done = subprocess.run(
        [sys.executable, "-c", SMALL_STACK], env=env, capture_output=True, text=True, timeout=HANGS, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
