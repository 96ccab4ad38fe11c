"""Texts with loops: machine code gives what Python gives, and what can't be translated is said with its line."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

from denoc.machine.backend import native
from denoc.machine.loops.compiled import LoopText
from denoc.machine.loops.emit import Lines
from denoc.machine.loops.translate import Translator
from denoc.machine.loops.values import Fields, Integers, LoopTextError, Rows, Stack, Stored, Value
from denoc.machine.loops.words import (
    across,
    cosine_sine,
    dot,
    larger,
    power,
    recorded_step,
    rolled,
    shares,
    shifted,
    smaller,
    some,
    spacing,
    sqrt,
    squares,
    sums,
    taken,
    weighted,
    where,
)

pytestmark = pytest.mark.smoke


@recorded_step
def polar(x, k):
    c, s = cosine_sine(x)
    return [k * c / 2.0, 0.0 * c + 1.0 * s - k, -x]


@recorded_step
def total(x):
    return sum(x[1:], x[0])


def inner(tables, x, k):
    """A text that another one calls, for a number that is known."""
    for i in across(0, tables.n):
        tables.F[0:3, i] = polar(x[0, shifted(i, 1)], k)


def everything(tables, x, y):
    inner(tables, x, 3)
    for i in rolled(1, tables.n):
        for k in range(3):
            tables.F[k, i] = tables.F[k, i] + 0.5 * tables.F[k, tables.back[i]]
    for i in across(0, tables.n):
        tables.L[0, i] = total(tables.F[0:3, i])
    for k in rolled(tables.parts):
        for i in across(tables.low[k], tables.low[k + 1]):
            y[k, i] = tables.L[0, i]
            y[i, k] = tables.L[0, i] * 2.0
    end = tables.n - 1
    while end > 0:
        if tables.back[end] < end - 1:
            y[end, end] = 100.0 * x[0, end]
        end = tables.back[end]


TABLES = {"back": Integers(), "low": Integers(), "F": Fields(3), "L": Rows("places")}
TEXT = LoopText("everything", everything, ("n", "places", "parts", "width"), {"x": "width"}, ("y", "n"), TABLES)


def given(n, seed):
    rng = np.random.default_rng(seed)
    back = np.array([0, *(rng.integers(0, i) for i in range(1, n))])
    low = np.array([0, *sorted(rng.integers(0, n, 2)), n])
    lengths = {"n": n, "places": (n // 8 + 2) * 8, "parts": 3, "width": n + 1}
    return lengths, {"back": back, "low": low}, rng.uniform(-3, 3, n + 1)


def plain(lengths, tables, x):
    room = {"F": np.zeros((3, lengths["places"])), "L": np.zeros((1, lengths["places"]))}
    y = np.zeros((lengths["n"], lengths["n"]))
    everything(SimpleNamespace(**lengths, **tables, **room), x[None], y)
    return y


@pytest.mark.parametrize("n", [3, 7, 8, 9, 16, 31])
def test_machine_code_gives_what_python_gives(n):
    """Around multiples of eight, so that the last pass of a loop across is full, or holds a single body."""
    for seed in range(4):
        lengths, tables, x = given(n, seed)
        code = TEXT.bound(lengths, tables, (n, n), False)
        expected = plain(lengths, tables, x)
        for _ in range(2):  # what the first call has left behind doesn't matter
            np.testing.assert_allclose(code(x).reshape(n, n), expected, rtol=1e-14, atol=1e-14)


def test_what_python_has_to_look_at_is_seen():
    """Numbers that aren't finite, angles out of the reach of sines, and results that are enormous."""
    lengths, tables, x = given(9, 1)
    code = TEXT.bound(lengths, tables, (9, 9), False)
    assert code(x) is not None
    for wrong in (np.nan, np.inf, 1e300):
        assert code(np.array([*x[:-1], wrong])) is None
    assert code(x) is not None


def test_robots_of_other_sizes_share_the_code():
    one, other = (TEXT.bound(*given(n, 1)[:2], (n, n), False) for n in (5, 20))
    assert one.address == other.address


# ---- what can't be translated


def text_with(body):
    return LoopText("wrong", body, ("n",), {"x": "n"}, ("y", "n"), {"F": Fields(2)})


def has_else(tables, x, y):
    if tables.n > 3:
        y[0, 0] = x[0, 0]
    else:
        y[0, 0] = x[0, 1]


def ranges_over_what_is_unknown(tables, x, y):
    for i in range(tables.n):
        y[0, i] = x[0, i]


def has_other_numbers(tables, x, y):
    for i in rolled(tables.n):
        y[0:2, i] = [x[0, i]]


def calls_strangers(tables, x, y):
    y[0, 0] = max(x[0, 0], x[0, 1])


def names_nothing(tables, x, y):
    y[0, 0] = z[0, 0]  # noqa: F821


def changes_kind(tables, x, y):
    end = tables.n
    while end > 0:
        end = x[0, 0]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (has_else, "line 2: `else` is for tests that are known"),
        (ranges_over_what_is_unknown, "line 2: the bounds of `range` must be known; `rolled` takes others"),
        (has_other_numbers, "line 3: 1 numbers for 2 places"),
        (calls_strangers, "line 2: no such name: `max`"),
        (names_nothing, "line 2: no such name: `z`"),
        (changes_kind, "line 4: `end` was integer, and is to be float"),
    ],
)
def test_what_a_text_may_not_do(body, why):
    with pytest.raises(LoopTextError, match=f"{body.__name__}, {why}"):
        text_with(body).ir()


def says_where(tables, x, y):
    for i in rolled(tables.n):
        y[0, i] = 1.0 - x[0, i] ** 2


def test_a_mistake_is_shown_in_its_line_with_what_is_allowed():
    with pytest.raises(LoopTextError) as refused:
        text_with(says_where).ir()
    line, shown, caret, allowed = str(refused.value).splitlines()
    assert line == "says_where, line 3: no such expression may stand in a text with loops"
    assert shown == "    y[0, i] = 1.0 - x[0, i] ** 2"
    assert shown[caret.index("^") :] == "x[0, i] ** 2"
    assert allowed.startswith("allowed: numbers, names, + - * / & |")


# ---- whole vectors, and runs side by side

ROWS = (0.5, 0.0, 2.0), (1.0, -1.0, 0.25)
POWERS = (0.5, 1.0), (0.0, -1.0), (2.0, 0.25)


def mixed(x, y):
    """A text that this one calls."""
    return where(x > 0.0, x, -0.5 * x) + y


def runs(tables, k, x, t):
    """Vectors of a length that comes with the call, numbers that differ from run to run, and loops that some go on in."""
    for s in range(len(ROWS)):
        k[s + 1] = t * x + weighted(ROWS[s], k)
    v = mixed(k[2], abs(k[1]))
    v[1] = +v[0] * 2.0
    count = 0.0 * t
    going = t > 0.0
    while some(going):
        count = where(going, count + 1.0, count)
        t = where(going, t - 1.0, t)
        going = t > 0.0
    if tables.n > 2:
        for i in rolled(1, tables.n):
            v[i] = larger(+v[i], smaller(v[i - 1], count))
    x[:] = v + weighted(shares(POWERS, t), k)
    k[0], k[1] = [k[1 - s] * x for s in range(2)]
    x[1:] = x[1:] - k[0][1:] * taken(k[1], where(k[2][1:] > 0.0, 1.0, 0.0))
    both = sums(x[1:] * x[1:], x[1 : tables.n] * k[1][1:])
    x[0] = both[0] + both[1] + dot(x, k[1])
    return sqrt(squares(x[: tables.n])) + power(abs(t) + 1.0, -0.5), count, spacing(count)


def compiled_runs(lanes):
    emit, m = Lines(lanes), Value("integer", "%m")
    arguments = [{"n": m}, Stack(m, "%k"), Stored(m, "%x"), emit.component(Stored(3, "%t"), 0)]
    for k, found in enumerate(Translator(emit, runs=True).text(runs, arguments)):
        emit.put_component(Stored(3, "%t"), k, found)
    head = f"define void @runs(i64 %m, ptr %k, ptr %x, ptr %t) {{\n{emit.body()}\n  ret void\n}}\n"
    code = native.Loaded(native.compile_ir(f"{emit.declarations()}\n{head}", passes=("sroa",)))
    function = ctypes.CFUNCTYPE(None, ctypes.c_long, *[ctypes.c_void_p] * 3)(code.address("runs"))

    def go(k, x, t):
        numbers = np.stack([t, t, t])
        function(len(x), k.ctypes.data, x.ctypes.data, numbers.ctypes.data)
        return (*numbers, code)[:3]

    return go


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("n", [3, 17, 40])
def test_runs_side_by_side_are_runs_alone(lanes, n):
    """On floats, on arrays, and in lanes of machine code."""
    rng = np.random.default_rng(n)
    k, x, t = rng.uniform(-2, 2, (3, n, lanes)), rng.uniform(-2, 2, (n, lanes)), rng.uniform(-1, 5, lanes)
    alone = []
    for lane in range(lanes):
        own = np.array(k[:, :, lane], order="C"), np.array(x[:, lane], order="C")
        alone.append((*runs(SimpleNamespace(n=n), *own, float(t[lane])), *own[1]))
    many, places = (k.copy(), x.copy()), (k.copy(), x.copy())
    for found, y in (
        (runs(SimpleNamespace(n=n), *many, t.copy()), many[1]),
        (compiled_runs(lanes)(*places, t.copy()), places[1]),
    ):
        np.testing.assert_allclose(np.vstack([*found, y]).T, alone, rtol=1e-13, atol=1e-13)


def takes_a_view(tables, k, x, t):
    v = k[1]
    v[0] = 1.0
    return t, t, t


def shifts_a_part(tables, k, x, t):
    x[1:] = +x
    return t, t, t


def asks_of_all(tables, k, x, t):
    if t > 0.0:
        x[0] = 1.0
    return t, t, t


def mixes_lengths(tables, k, x, t):
    x[:] = x[:2] + x[:3]
    return t, t, t


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (takes_a_view, "line 2: `v` would be a view in Python; write `\\+` before its value"),
        (shifts_a_part, "line 2: vectors have the lengths 4, 5"),
        (asks_of_all, "line 2: a test that differs from run to run goes into `some` or `where`"),
        (mixes_lengths, "line 2: vectors have the lengths 2, 3"),
    ],
)
def test_what_a_text_of_runs_may_not_do(body, why):
    emit = Lines(4)
    arguments = [{"n": 5}, Stack(5, "%k"), Stored(5, "%x"), Value("eight", "%t")]
    with pytest.raises(LoopTextError, match=f"{body.__name__}, {why}"):
        Translator(emit, runs=True).text(body, arguments)
