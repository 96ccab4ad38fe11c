"""Every call of the interface runs compiled code on every robot of the library, for one sample and for many.

The offers' notes say what has run; no clock is looked at.  Direct calls that don't leave a note went straight into code.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend
from denoc.machine.backend.account import noted_backend_runs
from denoc.machine.jit import interpreter
from denoc.text import library_names

sys.path.append(str(Path(__file__).parent / "benchmarks"))
interface = pytest.importorskip("interface")

COUNTS = (None, 8, 10_000)
LONG = ("chain",)  # thirty links: every call of it compiles for as long as five of others
OF_PLATFORMS = ("parallel_matrices", "platform_inverse")
REFUSED = (
    "hybrid",
    "inverse",
    "inverse_inertia",
    "linearize",
    "regressor",
    "reactions",
    "matrices",
    "parallel_matrices",
    "platform_inverse",
)  # by some mechanisms


def given(motion, count):
    return tuple(x[0] if count is None else np.resize(x, (count, x.shape[1])) for x in motion)


def ways(robot, what, motion, count):
    """How the call runs once there is code, or None if the robot refuses it."""
    call = interface.CALLS[what](robot, given(motion, count), count)
    try:
        with using_backend("compiled"):
            call()
    except denoc.DenocError:
        return None
    with noted_backend_runs() as notes:
        call()
    return set(notes)


@pytest.mark.skipif(interpreter.interpreter_addresses() is None, reason="this interpreter is called in the general way")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name in LONG)) for name in library_names("robots")]
)
@pytest.mark.sampled(24)
def test_every_call_runs_compiled_code(name):
    robot = denoc.load(name)
    motion = interface.motions(robot)
    for what in interface.CALLS:
        for count in COUNTS[:1] if what in interface.ONE_STATE else COUNTS:
            ran = ways(robot, what, motion, count)
            if ran is None:
                assert what.partition(",")[0] in REFUSED, (what, count)
                assert robot.closed or what.partition(",")[0] in OF_PLATFORMS, (what, count)
            else:
                assert not ran, (what, count, ran)


def test_notes_tell_plain_and_compiled_and_direct_calls_apart():
    robot, rest = denoc.load("puma"), np.zeros(6)
    with noted_backend_runs() as notes, using_backend("plain"):
        denoc.inverse(robot, rest, rest, rest)
    assert set(notes) == {"general", "plain"}
    with noted_backend_runs() as notes, using_backend("compiled"):
        denoc.inverse(robot, rest, rest, rest)
    assert set(notes) == {"general", "single"}
    with noted_backend_runs() as notes:
        denoc.inverse(robot, rest, rest, rest)
    assert not notes
