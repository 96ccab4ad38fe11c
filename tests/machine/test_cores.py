"""Batches that processors share without Python's lock: always the same bits, whoever does which rows."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import denoc
from denoc.machine.backend import cores
from denoc.machine.backend.choice import using_backend
from denoc.machine.jit.interpreter import interpreter_addresses
from denoc.mechanics.quantities.direct import tree_euler_parameter_places

pytestmark = [
    pytest.mark.sound,
    pytest.mark.skipif(interpreter_addresses() is None, reason="no builtin functions are made for this interpreter"),
]
COUNT = 1003  # not a multiple of lanes or parts


@pytest.fixture
def robot(monkeypatch):
    """An arm whose calls for some hundred samples are shared, and go straight into machine code."""
    monkeypatch.setattr(cores, "FEWEST", 100)
    made = denoc.load("spherical-arm")  # Euler parameters are normalised in a copy
    with using_backend("compiled"):
        denoc.forward(made, *samples(made, 150))
    return made


def samples(robot, count):
    rng = np.random.default_rng(5)
    q = rng.uniform(-1, 1, (count, robot.nq))
    for first in tree_euler_parameter_places(robot):
        q[:, first : first + 4] /= np.linalg.norm(q[:, first : first + 4], axis=1)[:, None]
    return q, rng.uniform(-1, 1, (count, robot.nv)), rng.uniform(-1, 1, (count, robot.nv))


@pytest.fixture
def helpers(monkeypatch):
    """How many helpers were called, for each batch that was shared."""
    called, threads = [], cores._threads

    def noted(wanted):
        called.append(wanted)
        return threads(wanted)

    monkeypatch.setattr(cores, "_threads", noted)
    return called


def alone(monkeypatch, robot, given):
    monkeypatch.setenv("DENOC_CORES", "1")
    return denoc.forward(robot, *given)


@pytest.mark.parametrize("processors", [2, 3, 7])
@pytest.mark.parametrize("count", [COUNT, 1024, 20_011])
def test_any_number_of_helpers_gives_the_same_bits(processors, count, robot, helpers, monkeypatch):
    given = samples(robot, count)
    right = alone(monkeypatch, robot, given)
    assert helpers == []
    monkeypatch.setenv("DENOC_CORES", str(processors))
    for form in (given, [x[:, ::-1].copy()[:, ::-1] for x in given]):  # the second is copied block by block
        out = np.full((count + 2, robot.nv), np.nan)
        assert np.array_equal(denoc.forward(robot, *form), right)
        assert np.array_equal(denoc.forward(robot, *form, out=out[1:-1]), right)
        assert np.isnan(out[[0, -1]]).all()
    assert helpers == [processors - 1] * 4


@pytest.mark.parametrize(("helpers", "rows"), [(1, 1000), (2, 1003), (3, 100_003), (3, 255)])
def test_all_rows_are_done_once_before_the_caller_goes_on(helpers, rows, monkeypatch):
    monkeypatch.setattr(cores, "FEWEST", 50)
    monkeypatch.setenv("DENOC_CORES", str(helpers + 1))
    done, own = np.zeros(rows, dtype=int), threading.get_ident()

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    def work(given, first, end):
        time.sleep(0.0 if threading.get_ident() == own else 0.002)
        done[first:end] += 1

    share = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(cores.SHARE_ROWS)
    for again in range(1, 4):
        assert share(ctypes.cast(work, ctypes.c_void_p).value, 0, rows)
        assert (done == again).all()


def test_ctrl_c_while_rows_are_shared_is_heard_in_the_end(robot, monkeypatch):
    given, run = samples(robot, COUNT), cores._run_parts
    right = alone(monkeypatch, robot, given)
    monkeypatch.setenv("DENOC_CORES", "2")

    def struck(*parts):
        run(*parts)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cores, "_run_parts", struck)
        with pytest.raises(KeyboardInterrupt):
            denoc.forward(robot, *given)
    assert np.array_equal(denoc.forward(robot, *given), right)


@pytest.mark.parametrize("row", [0, 600, COUNT - 1])
def test_a_bad_sample_is_found_in_any_part(row, robot, monkeypatch):
    monkeypatch.setenv("DENOC_CORES", "3")
    q, qd, tau = samples(robot, COUNT)
    qd[row, 1] = np.nan
    with pytest.raises(denoc.InputError, match="`qd`"):
        denoc.forward(robot, q, qd, tau)


def test_threads_of_the_caller_share_helpers(robot, monkeypatch):
    given = samples(robot, COUNT)
    right = alone(monkeypatch, robot, given)
    monkeypatch.setenv("DENOC_CORES", "2")
    wrong = []

    def repeat():
        for _ in range(200):
            if not np.array_equal(denoc.forward(robot, *given), right):
                wrong.append(threading.current_thread())

    threads = [threading.Thread(target=repeat) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_process_has_helpers_of_its_own(robot, monkeypatch):
    given = samples(robot, COUNT)
    right = alone(monkeypatch, robot, given)
    monkeypatch.setenv("DENOC_CORES", "2")
    denoc.forward(robot, *given)
    child = os.fork()
    if child == 0:
        has_none = not cores._pool
        os._exit(not (has_none and np.array_equal(denoc.forward(robot, *given), right) and cores._pool))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_helpers_do_not_outlive_their_process():
    text = """
import denoc, numpy as np
from denoc.machine.backend import cores
from denoc.machine.backend.choice import using_backend
cores.FEWEST = 100
robot = denoc.load("puma")
x = np.ones((1003, 6))
with using_backend("compiled"):
    denoc.forward(robot, x, x, x)
denoc.forward(robot, x, x, x)
assert cores._pool
"""
    own = os.environ | {"DENOC_CORES": "3", "DENOC_BACKEND": "auto"}
    done = subprocess.run(
        [sys.executable, "-c", text], env=own, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
