"""Texts with loops: machine code gives what Python gives, and what can't be translated is said with its line."""

from types import SimpleNamespace

import numpy as np
import pytest

from denoc.machine.loops.compiled import LoopText
from denoc.machine.loops.values import Fields, Integers, LoopTextError, Rows
from denoc.machine.loops.words import across, cosine_sine, rolled, shifted, step

pytestmark = pytest.mark.smoke


@step
def polar(x, k):
    c, s = cosine_sine(x)
    return [k * c / 2.0, 0.0 * c + 1.0 * s - k, -x]


@step
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
        (has_else, "line 2: no such statement"),
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
