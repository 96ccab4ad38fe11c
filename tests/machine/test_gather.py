"""The same results from fewer operations, of any recorded program."""

from __future__ import annotations

import math

import numpy as np
import pytest

import denoc
from denoc.machine.program.counting import Count, count_operations
from denoc.machine.program.gather import gathered_nodes
from denoc.machine.program.languages import python_function
from denoc.machine.program.recording import Recording
from denoc.study import program_for_complexity

pytestmark = pytest.mark.smoke


def values(program, x):
    """What the program gives at x, by the Python text of its operations."""
    scope = {"floor": math.floor, "cos": math.cos, "sin": math.sin, "sqrt": math.sqrt}
    exec(python_function(program, "f", ""), scope)
    return np.ravel(scope["f"](x))


def test_constant_factors_of_one_product_are_gathered():
    """2 (x (3 y)) is 6 (x y), unless 3 y or x (3 y) is needed anyway; floors and all else stay as they are."""
    recording = Recording("product")
    x, y, z = recording.input("x", 3)
    made = recording.program([2.0 * (z * (5.0 * y))], out=[2.0 * (x * (3.0 * y)) + (z * (4.0 * x)).floor(), z / y])
    found = made.gathered()
    assert str(count_operations([*made.results(), *made.watched])) == "8M 1A 1D"
    assert str(count_operations([*found.results(), *found.watched])) == "6M 1A 1D"
    at = [0.3, -0.7, 1.9]
    assert values(found, at) == pytest.approx(values(made, at), rel=1e-15)
    shared = 3.0 * y
    kept = recording.program(out=[2.0 * (x * shared), shared])
    assert kept.gathered().results() == kept.results()


def test_common_addends_are_added_once():
    """Pairs with the same or with opposite signs, constants among them, and sums that are opposite to each other."""
    a, b, c, d = Recording("pairs").input("x", 4)
    assert count_operations(gathered_nodes([(a + c) + b, (b + d) + a])) == Count(additions=3)
    assert count_operations(gathered_nodes([(a + c) - b, (b + d) - a])) == Count(additions=3)
    assert count_operations(gathered_nodes([(a + c) + 2.0, (d + 2.0) + a])) == Count(additions=3)
    assert count_operations(gathered_nodes([(a - b) * c, (b - a) * d])) == Count(multiplications=2, additions=1)
    assert count_operations(gathered_nodes([((a + b) + c) * d, ((b + c) + a) * a])) == Count(2, additions=2)


def test_products_with_a_common_factor_are_added_first():
    """Unless another result needs one of them."""
    a, b, c, d = Recording("factors").input("x", 4)
    assert count_operations(gathered_nodes([a * b + d - c * a])) == Count(multiplications=1, additions=2)
    assert count_operations(gathered_nodes([3.0 * b + (a * d + 3.0 * c)])) == Count(multiplications=2, additions=2)
    kept = [a * b + c * a, c * a]
    assert gathered_nodes(kept) == kept


def test_what_adds_up_to_nothing_is_gone():
    a, b, c = Recording("nothing").input("x", 3)
    (found,) = gathered_nodes([(a + b) + (c - a) - (b + c)])
    assert found.value == 0.0
    (found,) = gathered_nodes([((a + 2.0) + b) - ((c + 2.0) - a)])
    assert count_operations([found]).additions <= 3


def test_sums_that_contain_others_are_written_in_full_where_that_is_shorter():
    """A difference of two sums with much in common, which are needed themselves."""
    a, b, c, d = Recording("whole").input("x", 4)
    one, other = (a + b) + c, (d + a) + (b + c)
    found = gathered_nodes([one * a, other * b, (one - other) * c])
    assert count_operations(found) == Count(multiplications=3, additions=3)


def random_sums(seed, x):
    """Sums of sums and products of four numbers, drawn with this seed."""
    rng = np.random.default_rng(seed)
    known = [*x, 0.5, 2.0]
    for _ in range(60):
        a, b = (known[int(k)] for k in rng.integers(max(0, len(known) - 12), len(known), 2))
        known.append((a + b, a - b, a * b, a + 0.25, -a)[int(rng.integers(0, 5))])
    return [y for y in known[-8:] if not isinstance(y, float)]


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_give_the_same(seed):
    recording = Recording("random")
    made = recording.program(out=random_sums(seed, recording.input("x", 4)))
    found = made.gathered()
    x = np.random.default_rng(seed + 100).uniform(-1, 1, 4).tolist()
    assert values(found, x) == pytest.approx(values(made, x), rel=1e-9, abs=1e-9)
    before, after = (count_operations(one.results()) for one in (made, found))
    assert after.multiplications + after.additions <= before.multiplications + before.additions


def test_the_same_program_is_gathered_alike():
    """Nothing but the program decides, so that code that was made once is found again."""
    robot = denoc.load("carpet-scraper")
    one, other = (python_function(program_for_complexity(robot, "forward"), "f", "") for _ in range(2))
    assert one == other
