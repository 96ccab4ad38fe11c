"""Functions that Python calls straight into machine code: what they take, what they leave, and what they keep alive."""

from __future__ import annotations

import gc
import sys
import sysconfig
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from denoc.machine.backend import choice
from denoc.machine.jit import interpreter, kernel
from denoc.machine.jit.builtin import Builtin
from denoc.machine.jit.builtin_words import PLACES
from denoc.machine.jit.trigonometry import REACH
from denoc.machine.program.recording import Recording
from denoc.machine.program.result_parts import Part, kernel_parts_divided, kernel_parts_in_order


def program(together=False):
    """Three numbers of `a`, two of `b`: four numbers, and one more that serves as a check, perhaps in the same group."""
    recording = Recording("toy")
    a, b = recording.input("a", 3), recording.input("b", 2)
    cosine, sine = a[0].cosine_sine()
    found = [cosine * b[0], sine * b[1], a[1] + a[2], a[1] * b[0] - 2.0 * b[1]]
    more = [b[1] + 100.0]
    return recording.program(found=[*found, *more]) if together else recording.program(found=found, more=more)


def expected(a, b):
    return [np.cos(a[0]) * b[0], np.sin(a[0]) * b[1], a[1] + a[2], a[1] * b[0] - 2.0 * b[1]]


@pytest.fixture(params=["builtin", "by ctypes"], autouse=True)
def way(request, monkeypatch):
    """The same contract with the layout that is expected and with any other."""
    if request.param == "by ctypes":
        monkeypatch.setattr(interpreter, "interpreter_addresses", lambda: None)
    elif sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this interpreter has no such functions, or no lock")
    return request.param


@pytest.fixture
def single():
    made = kernel.build_single_kernel(program, [3, 2], [4, 1], ["toy of test_builtin"], False)
    assert made is not None
    return made


def left(*given, **named):
    return "left", given, named


@pytest.fixture
def call(single):
    builtin = Builtin([3, 2], left)
    single.serve(builtin, (4,), checks=1)
    return builtin.call


A, B = np.array([0.3, -1.5, 2.0]), np.array([2.0, 5.0])


def test_the_way_is_the_one_that_is_tested(call, way):
    assert (type(call).__name__ == "builtin_function_or_method") == (way == "builtin")


def test_what_is_taken(call):
    column = np.arange(12.0).reshape(3, 4)[:, 1]
    frozen = A.copy()
    frozen.flags.writeable = False
    taken = [
        (A, B),
        (A.tolist(), tuple(B.tolist())),
        ([1, 2.5, np.float64(-3.0)], (-1, 10**6)),
        (column, B),
        (A[::-1], np.arange(8.0)[::4]),
        (frozen, B),
        (np.array([REACH, 0.0, -0.0]), B),
    ]
    for a, b in taken:
        found = call(a, b)
        assert type(found) is np.ndarray
        assert found.dtype == float
        assert found.flags.owndata
        assert abs(found - expected(a, b)).max() <= 1e-9 * max(1.0, abs(found).max())


def test_a_result_behind_which_nothing_comes_is_written_where_it_stays():
    """Then only its two watches are elsewhere; checks would be written behind the array's end, and parts have views."""
    whole = kernel.build_single_kernel(lambda: program(together=True), [3, 2], [5], ["whole toy"], False)
    builtin = Builtin([3, 2], left)
    for shape in ((5,), (5, 1), (1, 5)):
        whole.serve(builtin, shape)
        found = builtin.call(A, B)
        assert found.shape == shape
        assert found.flags.owndata
        assert found.flags.c_contiguous
        assert found.flags.writeable
        assert abs(found.ravel() - [*expected(A, B), B[1] + 100.0]).max() <= 1e-14
        for bad in (np.array([np.nan, 0.0, 0.0]), np.array([2.0 * REACH, 0.0, 0.0]), np.array([0.0, np.inf, 0.0])):
            assert builtin.call(bad, B) == left(bad, B)
        assert builtin._words[PLACES["apart"]] > 0
    for one in (dict(shape=(4,), checks=1), dict(shape=(5,), parts=kernel_parts_in_order([("all", (5,))]))):
        other = Builtin([3, 2], left)
        whole.serve(other, **one)
        other.call(A, B)
        assert not other._words[PLACES["apart"]]


PARTS = {
    "dict": kernel_parts_in_order([("first", ()), ("others", (3,))]),
    "tuple": kernel_parts_in_order([("", (2,)), ("", ()), ("", (1, 1))]),
    "without the first": kernel_parts_in_order([("", (1, 3))], first=1),
    "in three dimensions": kernel_parts_in_order([("whole", (2, 2, 1))]),
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.sampled(3)
def test_a_result_in_parts(name, single):
    parts = PARTS[name]
    builtin = Builtin([3, 2], left)
    single.serve(builtin, (4,), 1, parts)
    many = kernel.build_kernel(lambda: program(True), [3, 2], [5], ["rows in parts of test_builtin"], False)
    many.serve(builtin, (4,), 1, parts)
    for a, b in ((A, B), (np.array([A] * 9), np.array([B] * 9))):
        if a.ndim == 2 and type(builtin.call).__name__ != "builtin_function_or_method":
            continue  # batches go the general way there
        right = kernel_parts_divided(np.broadcast_to(expected(A, B), (*a.shape[:-1], 4)), parts)
        found = builtin.call(a, b)
        assert type(found) is type(right)
        pairs = (
            [(found[k], right[k]) for k in right] if isinstance(right, dict) else list(zip(found, right, strict=True))
        )
        for x, y in pairs:
            assert type(x) is type(y)
            assert np.shape(x) == np.shape(y)
            assert abs(x - y).max() < 1e-14
        arrays = [x for x, _ in pairs if isinstance(x, np.ndarray)]
        arrays[0][...] = np.nan
        assert all(np.isfinite(x).all() for x in arrays[1:]), "parts don't overlap"
        del found, pairs
        gc.collect()
        assert np.isnan(arrays[0]).all(), "each part keeps the numbers alive"


def test_a_dictionary_may_have_verdicts_and_other_objects(single):
    names = ("of", "the", "file")
    parts = (*PARTS["dict"], Part("well", 3, verdict=True), Part("names", 0, thing=names))
    builtin = Builtin([3, 2], left)
    single.serve(builtin, (4,), 1, parts)
    for a, b in ((A, B), (A, B - 5.0), ([0.0, 1.0, 0.0], [0.0, -0.0]), ([0.0, 1.0, 0.0], [0.0, 1e-300])):
        found, last = builtin.call(a, b), expected(np.array(a), np.array(b))[3]
        assert list(found) == ["first", "others", "well", "names"]
        assert found["well"] is bool(last >= 0.0)
        assert found["names"] is names
        assert found["others"][2] == last


@pytest.mark.sampled(2)
def test_parts_are_freed(single):
    builtin = Builtin([3, 2], left)
    single.serve(builtin, (4,), 1, PARTS["dict"])
    seen = weakref.ref(builtin.call(A, B)["others"])
    gc.collect()
    assert seen() is None
    tracemalloc.start()
    try:
        for _ in range(100):
            builtin.call(A, B)
            builtin.call([1.001 * REACH, 0.0, 0.0], B)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1000):
            builtin.call(A, B)
            builtin.call([1.001 * REACH, 0.0, 0.0], B)
        assert tracemalloc.get_traced_memory()[0] - before < 2000
    finally:
        tracemalloc.stop()


class Sub(np.ndarray):
    pass


MISFITS = {
    "too few": (A,),
    "too many": (A, B, B),
    "none": (),
    "short": (A[:2], B),
    "long": (np.append(A, 1.0), B),
    "long list": ([*A.tolist(), 1.0], B),
    "long last": (A, np.append(B, 1.0)),
    "rows": (A[None], B),
    "single precision": (A.astype("f4"), B),
    "other byte order": (A.astype(">f8"), B),
    "integers": (np.array([1, 2, 3]), B),
    "subclass": (A.view(Sub), B),
    "not aligned": (np.frombuffer(b"\0" + A.tobytes(), np.uint8)[1:].view(float), B),
    "short list": ([1.0, 2.0], B),
    "empty list": ([], B),
    "list of bools": ([True, 1.0, 1.0], B),
    "list of text": (["1", 1.0, 1.0], B),
    "list of arrays": ([A, A, A], B),
    "huge integer": ([10**400, 0, 0], B),
    "nothing": (None, B),
    "text": ("123", B),
    "NaN": (np.array([0.0, np.nan, 0.0]), B),
    "infinite": ([0.0, float("inf"), 0.0], B),
    "beyond reach": ([1.001 * REACH, 0.0, 0.0], B),
    "overflow": ([0.0, 1e200, 0.0], [1e200, 0.0]),
    "failed check": (A, [0.0, -100.1]),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_is_left_to_the_general_function_is_left_as_it_came(name, call, single):
    given = MISFITS[name]
    word, passed, named = call(*given)
    assert word == "left"
    assert not named
    assert len(passed) == len(given)
    assert all(one is other for one, other in zip(passed, given))
    if name not in ("failed check",):
        alone = Builtin([3, 2])
        single.serve(alone, (4,))
        assert alone.call(*given) is None


def test_no_error_is_left_behind(call):
    for _ in range(3):
        assert call([10**400, 0, 0], B)[0] == "left"
    assert np.isfinite(call([-1, 0, 0], B)).all()  # -1 is what a failed conversion gives, too


def test_names_and_errors_of_the_general_function(single):
    def general(a, b=None, *, c=None):
        if c == "raise":
            raise KeyError(a)
        return a, b, c

    builtin = Builtin([3, 2], general, about="what it does")
    single.serve(builtin, (4,), checks=1)
    assert builtin.call(1, b=2) == (1, 2, None)
    assert builtin.call(1, c=3) == (1, None, 3)
    with pytest.raises(KeyError, match="here"):
        builtin.call("here", c="raise")


def test_without_code_everything_is_left():
    builtin = Builtin([3, 2], left)
    assert builtin.call(A, B)[0] == "left"
    assert Builtin([3, 2]).call(A, B) is None


def test_another_code_and_another_shape(single):
    builtin = Builtin([3, 2], left)
    single.serve(builtin, (4,), checks=1)
    flat = builtin.call(A, B)
    single.serve(builtin, (2, 2), checks=1)
    assert np.array_equal(builtin.call(A, B), flat.reshape(2, 2))


def test_all_groups_of_outputs(single):
    found, more = single.groups(A, B)
    assert np.allclose(found, expected(A, B), rtol=1e-15)
    assert more == [B[1] + 100.0]
    assert np.array_equal(single(A.astype("f4"), [2, 5]), single.groups(A.astype("f4").astype(float), B)[0])


def test_code_serves_only_while_nothing_is_chosen(single):
    builtin = Builtin([3, 2], left, asking=True)
    single.serve(builtin, (4,), checks=1)
    assert np.array_equal(builtin.call(A, B), single(A, B))
    with choice.using_backend("plain"):
        assert builtin.call(A, B)[0] == "left"
    with choice.journalled_backend_choices():
        assert builtin.call(A, B)[0] == "left"
    assert np.array_equal(builtin.call(A, B), single(A, B))
    before = sys.getrefcount(choice.NOTHING)
    for _ in range(2000):
        builtin.call(A, B)
    assert abs(sys.getrefcount(choice.NOTHING) - before) < 50


def test_the_last_arguments_may_be_one_group(single):
    builtin = Builtin([3, 1, 1], left, joined=1)
    single.serve(builtin, (4,), checks=1)
    for last in ([[2.0], [5.0]], [B[:1].copy(), B[1:]], [np.array([2.0]), (5,)]):
        assert np.array_equal(builtin.call(A, *last), single(A, B))
    assert builtin.call(A, B)[0] == "left"


def test_groups_of_four_are_brought_to_norm_1():
    def turned():
        recording = Recording("turned")
        q = recording.input("q", 6)
        return recording.program(found=[*q])

    code = kernel.build_single_kernel(turned, [6], [6], ["turned of test_builtin"], False)
    builtin = Builtin([6], left, units=(1,))
    code.serve(builtin, (6,))
    q = np.array([7.0, 1.0, -2.0, 3.0, 0.5, 9.0])
    kept = q.copy()
    found = builtin.call(q)
    assert np.array_equal(q, kept)  # the caller's own numbers stay
    assert np.allclose(found[1:5], q[1:5] / np.linalg.norm(q[1:5]), rtol=1e-15)
    assert found[[0, 5]].tolist() == [7.0, 9.0]
    assert np.array_equal(builtin.call(q.tolist()), found)
    assert np.array_equal(builtin.call(found), found)  # what is good to the last place isn't touched
    for four in ([0.0] * 4, [1e-7, 0, 0, 0], [1e200] * 4, [np.nan, 1, 0, 0]):
        assert builtin.call([0.0, *four, 0.0])[0] == "left"


@pytest.mark.sampled(2)
def test_nothing_leaks(call, way):
    watched = (A, B, None, call, left)
    given = [(A, B), (A, [1.0, 2.0]), (A[::-1], (1, 2)), (A,), (A, [1, "x"])]
    for each in given:
        call(*each)
    gc.collect()
    before = [sys.getrefcount(one) for one in watched]
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    for _ in range(20_000 if way == "builtin" else 500):
        for each in given:
            call(*each)
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 50_000  # a single leaked object a call would be a hundred times as much
    assert all(abs(now - then) < 50 for now, then in zip(map(sys.getrefcount, watched), before))


@pytest.mark.sampled(2)
def test_a_builtin_goes_with_whoever_had_it(single):
    """Also where its general function leads back to it."""

    class Owner:
        def general(self, *given):
            return None

    owner = Owner()
    owner.builtin = Builtin([3, 2], owner.general)
    single.serve(owner.builtin, (4,), checks=1)
    call, gone = owner.builtin.call, weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is not None  # the function holds what it may have to call
    assert abs(call(A, B) - expected(A, B)).max() < 1e-14
    del call
    gc.collect()
    assert gone() is None


def test_several_threads(call):
    states = np.random.default_rng(1).uniform(-3, 3, (4000, 5))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda x: call(x[:3], x[3:]), states))
    assert np.array_equal(found, [call(x[:3], x[3:]) for x in states])


@pytest.mark.parametrize(
    "name, value",
    [
        ("TYPE", 0),
        ("SIZE", 8),
        ("TUPLE_ITEMS", 16),
        ("FLOAT", 8),
        ("DATA", 48),
        ("SHAPE", 40),
        ("FLAGS", 60),
        ("_NEW", 92),
    ],
)
def test_another_layout_is_noticed(name, value, monkeypatch, way):
    if way != "builtin":
        return
    if name == "_NEW":  # another function's place isn't called: the version of the table says what is where
        monkeypatch.setattr(interpreter, "_VERSIONS", (1,))
    else:
        monkeypatch.setattr(interpreter, name, value)
    assert interpreter.interpreter_addresses.__wrapped__() is None


@pytest.mark.parametrize("what", ["implementation", "no lock", "table"])
def test_another_interpreter_is_noticed(what, monkeypatch, way):
    if way != "builtin":
        return
    if what == "implementation":
        monkeypatch.setattr(interpreter.sys.implementation, "name", "pypy")
    elif what == "no lock":
        monkeypatch.setattr(interpreter.sysconfig, "get_config_var", lambda name: 1)
    else:
        monkeypatch.setattr(interpreter, "_ARRAY_TYPE", 3)
    assert interpreter.interpreter_addresses.__wrapped__() is None
