"""Many samples: straight into a kernel, in any number, on several processors, and always the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import denoc
from denoc.machine.backend import cores
from denoc.machine.backend.choice import using_backend
from denoc.machine.jit import interpreter, kernel
from denoc.machine.jit.builtin import Builtin
from denoc.machine.jit.trigonometry import REACH
from denoc.machine.program.recording import Recording
from limits import HANGS

pytestmark = pytest.mark.sound


def program():
    recording = Recording("toy")
    a, b = recording.input("a", 3), recording.input("b", 2)
    cosine, sine = a[0].cosine_sine()
    return recording.program(found=[cosine * b[0], sine * b[1], a[1] + a[2], a[1] * b[0] - 2.0 * b[1]])


def expected(a, b):
    found = [np.cos(a[:, 0]) * b[:, 0], np.sin(a[:, 0]) * b[:, 1], a[:, 1] + a[:, 2], a[:, 1] * b[:, 0] - 2.0 * b[:, 1]]
    return np.stack(found, axis=1)


def left(*given, **named):
    return "left", given


@pytest.fixture(scope="module", params=[2, 4, 8])
def code(request):
    with using_backend("compiled", lanes=request.param):
        made = kernel.build_kernel(program, [3, 2], [4], ["toy of test_batches"], False)
    assert made is not None
    assert made.lanes == request.param
    return made


@pytest.fixture
def call(code):
    builtin = Builtin([3, 2], left)
    code.serve(builtin, (4,))
    return builtin.call


def rows(count):
    rng = np.random.default_rng(count)
    return rng.uniform(-9, 9, (count, 3)), rng.uniform(-9, 9, (count, 2))


COUNTS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 64, 499, 500, 501, 2001]
needs_builtins = pytest.mark.skipif(
    sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="no builtin functions are made for this interpreter",
)


@needs_builtins
@pytest.mark.parametrize("count", COUNTS)
def test_results_are_written_into_the_callers_array(count, call):
    a, b = rows(count)
    right, room = call(a, b), np.full((count + 2, 4), np.nan)
    assert call(a, b, out=room[1:-1]) is not None
    assert np.array_equal(room[1:-1], right)
    assert np.isnan(room[[0, -1]]).all()  # nothing is written before it or behind it
    out = np.empty((count, 4))
    before = sys.getrefcount(out)
    for given in ((a, b), (a[::-1].copy()[::-1], b), (a, b[0]), (a, [1.0, 2.0])):
        found = call(*given, out=out)
        assert found is out
        assert np.array_equal(out, call(*given))
    del found
    assert sys.getrefcount(out) == before


def test_results_of_very_many_samples_may_go_over_an_argument():
    """Results go straight into the caller's array where there are so many, but not over what is still to be read."""
    robot, count = denoc.load("planar3r"), 20_011
    given = np.random.default_rng(3).uniform(-1, 1, (3, count, 3))
    with using_backend("compiled"):
        right = denoc.inverse(robot, *given)
    for begin in (0, 1, 700):
        memory = np.empty((count + begin, 3))
        memory[:count] = given[2]
        out = memory[begin:]
        assert denoc.inverse(robot, *given[:2], memory[:count], out=out) is out
        assert np.array_equal(out, right)


@needs_builtins
def test_arrays_that_cannot_take_results_are_left_to_the_general_function(call):
    a, b = rows(21)
    memory, frozen = np.zeros(21 * 7), np.zeros((21, 4))
    frozen.flags.writeable = False
    first, apart = memory[:63].reshape(21, 3), memory[63:].reshape(21, 4)
    first[:] = a
    assert call(first, b, out=apart) is apart  # side by side in one array
    for begin in (0, 40, 62):
        first[:] = a
        overlapping = memory[begin : begin + 84].reshape(21, 4)
        assert call(first, b, out=overlapping) is overlapping
        assert np.array_equal(overlapping, call(a, b))
    for out in (
        frozen,
        np.zeros((21, 8))[:, ::2],
        np.zeros((4, 21)).T,
        np.zeros((21, 4), "f4"),
        np.zeros((20, 4)),
        np.zeros((21, 5)),
        np.zeros(84),
        np.zeros((21, 4, 1)),
        np.frombuffer(bytearray(8 * 84 + 1), np.uint8)[1:].view(float).reshape(21, 4),
        [0.0],
        None,
    ):
        before = memory.copy()
        assert call(first, b, out=out)[0] == "left"
        assert np.array_equal(memory, before)
    assert call(a, b, into=apart)[0] == "left"
    assert call(a[0], b[0], out=apart[0])[0] == "left"


@needs_builtins
@pytest.mark.parametrize("count", [1, 9, 1100])
def test_what_fails_leaves_the_callers_array_as_it_was(count, call):
    a, b = rows(count)
    bad, far = a.copy(), a.copy()
    bad[-1, 1], far[-1, 0] = np.nan, 2 * REACH
    out = np.full((count, 4), 7.0)
    for given in ((bad, b), (far, b), (bad, b[0])):
        assert call(*given, out=out)[0] == "left"
        assert (out == 7.0).all()


@needs_builtins
@pytest.mark.parametrize("count", COUNTS)
def test_any_number_of_samples(count, call, code):
    a, b = rows(count)
    found = call(a, b)
    assert type(found) is np.ndarray
    assert found.shape == (count, 4)
    assert abs(found - expected(a, b)).max() < 1e-13
    assert np.array_equal(found, code(a, b)[0][0])
    assert np.array_equal(found, np.concatenate([call(a[k : k + 1], b[k : k + 1]) for k in range(count)]))


@needs_builtins
def test_a_matrix_for_each_sample(code):
    builtin = Builtin([3, 2], left)
    code.serve(builtin, (2, 2))
    a, b = rows(11)
    assert np.array_equal(builtin.call(a, b), code(a, b)[0][0].reshape(11, 2, 2))


@pytest.mark.parametrize("count", [5, 600])
def test_what_is_left_to_the_general_function(count, call):
    a, b = rows(count)
    bad = a.copy()
    bad[-1, 1] = np.nan
    far = a.copy()
    far[count // 2, 0] = 2 * REACH
    misfits = [
        (a, b[:-1]),
        (a[:-1], b),
        (a[0], b),
        (a[:, :2], b),
        (a.astype("f4"), b),
        (a.tolist(), b),
        (a, b.tolist()),
        (a, [1.0]),
        (a, b[:, 0]),
        (a, np.full((2, 2), np.nan)),
        (a[None], b[None]),
        (a[:0], b[:0]),
        (bad, b),
        (far, b),
        (a,),
    ]
    for given in misfits:
        word, passed = call(*given)
        assert word == "left"
        assert all(one is other for one, other in zip(passed, given))


@needs_builtins
@pytest.mark.parametrize("count", COUNTS)
def test_rows_that_lie_anywhere(count, call):
    a, b = rows(count)
    right = call(a, b)
    apart = np.zeros((3 * count, 7))
    apart[::3, 1:7:2] = a
    backwards = b[::-1].copy()[::-1]
    for given in ((apart[::3, 1:7:2], b), (np.asfortranarray(a), np.asfortranarray(b)), (a, backwards)):
        assert np.array_equal(call(*given), right)


@needs_builtins
@pytest.mark.parametrize("count", [1, 2, 3, 5, 7])
def test_nothing_behind_the_last_sample_is_read(count, call):
    """Lanes that are left over repeat it: whatever lies in memory there must not be computed with."""
    a, b = rows(count)
    longer = [np.concatenate([x, np.full((9, x.shape[1]), np.nan)]) for x in (a, b)]
    assert np.array_equal(call(*(x[:count] for x in longer)), call(a, b))


@needs_builtins
def test_more_samples_than_one_call_takes_are_shared_among_processors(code, monkeypatch):
    monkeypatch.setattr(cores, "FEWEST", 10)
    builtin = Builtin([3, 2], left)
    code.serve(builtin, (4,))
    assert np.array_equal(builtin.call(*rows(19)), code(*rows(19))[0][0])
    assert builtin.call(*rows(20))[0] == "left"


@needs_builtins
@pytest.mark.parametrize("count", COUNTS)
def test_one_row_for_all_samples(count, call):
    a, b = rows(count)
    right = call(a, np.repeat(b[:1], count, axis=0))
    for row in (b[0], b[0].tolist(), tuple(b[0]), b[0].repeat(2)[::2]):
        assert np.array_equal(call(a, row), right)


@needs_builtins
@pytest.mark.parametrize("count", COUNTS)
def test_arguments_that_are_one_group_of_the_code(count):
    """As those of several wrenches are; also where one of them holds for all samples."""

    def sums():
        recording = Recording("sums")
        q, w = recording.input("q", 2), recording.input("w", 5)
        return recording.program(found=[q[0] + w[0], q[1] + w[1], w[2] - w[3], w[4] * q[0]])

    code = kernel.build_kernel(sums, [2, 5], [4], ["sums of test_batches"], False)
    builtin = Builtin([2, 2, 1, 2], left, joined=1)
    code.serve(builtin, (4,))
    rng = np.random.default_rng(count)
    q, first, second, third = (rng.uniform(-9, 9, (count, width)) for width in (2, 2, 1, 2))
    w = np.concatenate([first, second, third], axis=1)
    expected = np.stack([q[:, 0] + w[:, 0], q[:, 1] + w[:, 1], w[:, 2] - w[:, 3], w[:, 4] * q[:, 0]], axis=1)
    assert np.array_equal(builtin.call(q, first, second, third), expected)
    constant = np.concatenate([first[:1].repeat(count, 0), second, third], axis=1)
    assert np.array_equal(builtin.call(q, first[0], second, third), code(q, constant)[0][0])


@needs_builtins
@pytest.mark.parametrize("count", COUNTS)
def test_groups_of_four_are_brought_to_norm_1(count):
    def turned():
        recording = Recording("turned")
        return recording.program(found=[*recording.input("q", 9)])

    code = kernel.build_kernel(turned, [9], [9], ["turned of test_batches"], False)
    builtin = Builtin([9], left, units=(0, 5))
    code.serve(builtin, (9,))
    q = np.random.default_rng(count).uniform(0.5, 9, (count, 9))
    kept, expected = q.copy(), q.copy()
    for at in (0, 5):
        expected[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
    found = builtin.call(q)
    assert np.array_equal(q, kept)  # the caller's own numbers stay
    assert abs(found - expected).max() < 1e-14
    q[-1, 5:] = 0.0
    assert builtin.call(q)[0] == "left"


@needs_builtins
@pytest.mark.parametrize("count", COUNTS)
def test_the_last_results_are_checks_of_each_sample(count, code):
    builtin = Builtin([3, 2], left)
    code.serve(builtin, (3,), checks=1)
    a, b = rows(count)
    b[:, 1] = -abs(b[:, 1])  # the fourth result is a1 b0 - 2 b1
    a[:, 1] = 0.0
    a[:, 2] = abs(a[:, 2])  # the third one a1 + a2
    found = builtin.call(a, b)
    assert found.flags.owndata
    assert np.array_equal(found, code(a, b)[0][0][:, :3])
    two = Builtin([3, 2], left)
    code.serve(two, (2,), checks=2)
    assert np.array_equal(two.call(a, b), found[:, :2])
    for bad in {0, count // 2, count - 1}:
        wrong, other = b.copy(), a.copy()
        wrong[bad, 1], other[bad, 2] = 0.1, -0.1
        assert builtin.call(a, wrong)[0] == two.call(a, wrong)[0] == two.call(other, b)[0] == "left"


@needs_builtins
def test_nothing_leaks(call):
    a, b = rows(5)
    bad = a * np.nan
    before = [sys.getrefcount(x) for x in (a, b, bad, None)]
    for _ in range(5000):
        call(a, b)
        call(bad, b)
        call(a, b[0].tolist())
    after = [sys.getrefcount(x) for x in (a, b, bad, None)]
    assert all(abs(x - y) < 50 for x, y in zip(before, after))


@pytest.mark.parametrize("processors", ["1", "2", "3", "7"])
def test_any_number_of_processors_gives_the_same_bits(processors, code, monkeypatch):
    monkeypatch.setattr(cores, "FEWEST", 50)
    a, b = rows(1003)
    monkeypatch.setenv("DENOC_CORES", "1")
    (alone,), *_ = code(a, b)
    calls = []
    begun = code._call
    monkeypatch.setattr(code, "_call", lambda count, *rest: (calls.append(count), begun(count, *rest)))
    monkeypatch.setenv("DENOC_CORES", processors)
    (found,), finite, largest = code(a, b)
    assert len(calls) == (1 if processors == "1" else cores.SHARE * int(processors))
    assert sum(calls) == 1003
    assert finite
    assert largest == abs(a[:, 0]).max()
    assert np.array_equal(found, alone)
    bad = a.copy()
    bad[1000, 2] = np.inf
    assert not code(bad, b)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_process_has_threads_of_its_own(code, monkeypatch):
    monkeypatch.setattr(cores, "FEWEST", 50)
    monkeypatch.setenv("DENOC_CORES", "2")
    a, b = rows(1000)
    (before,), *_ = code(a, b)
    assert cores._pool
    child = os.fork()
    if child == 0:
        os._exit(not (not cores._pool and np.array_equal(code(a, b)[0][0], before)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("name", ["puma", "tree"])
@pytest.mark.sampled(2)
def test_batches_of_the_interface_go_straight_into_the_kernel(name, monkeypatch):
    robot = denoc.load(name)
    rng = np.random.default_rng(3)
    state = rng.uniform(-2, 2, (40, robot.nq)), *rng.uniform(-2, 2, (2, 40, robot.nv))
    for call in (denoc.inverse, denoc.forward):
        with using_backend("plain"):
            plain = call(robot, *state)
        with using_backend("compiled"):
            found = call(robot, *state)
        if interpreter.interpreter_addresses() is not None:
            monkeypatch.setattr("denoc.mechanics.quantities.calls.Samples", None)  # whoever comes there fails
        assert np.array_equal(call(robot, *state), found)
        assert np.array_equal(call(robot, *(x[:3] for x in state)), found[:3])
        monkeypatch.undo()
        assert abs(found - plain).max() <= 1e-12 * abs(plain).max()


def test_very_many_samples_take_no_memory_beside_their_arrays():
    """Every number for each sample besides would be 1.6 MB here, a byte for each argument 1.2 MB."""
    robot, given = denoc.load("puma"), np.full((3, 200_000, 6), 0.3)
    out = np.ones((200_000, 6))
    for call in (denoc.inverse, denoc.forward):
        with using_backend("compiled"):
            call(robot, *given[:, :100])
            tracemalloc.start()
            try:
                call(robot, *given, out=out)
                _, most = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
        assert most < 300_000, call.__name__


SMALL_STACK = """
import sys, threading
import numpy as np, denoc
from denoc.machine.backend.choice import using_backend
robot = denoc.load("tree")
one = np.array(robot.q0), np.zeros(robot.nv), np.ones(robot.nv)
many = tuple(np.array([x] * 600) for x in one)
calls = denoc.derivatives, denoc.regressor, denoc.inverse

def work():
    for call in calls:
        call(robot, *one), call(robot, *many)

with using_backend("compiled"):
    work()
threading.stack_size(256 * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_threads_with_small_stacks_compute_batches():
    """What does not fit beside a thread's own frames is on the heap; it had ended the process."""
    done = subprocess.run([sys.executable, "-c", SMALL_STACK], capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
