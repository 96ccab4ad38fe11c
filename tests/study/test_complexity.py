"""Operation counts: of the papers as printed, of our recursion as it runs."""

from __future__ import annotations

from itertools import pairwise

import pytest

import denoc
from denoc.dynamics.programs import program
from denoc.machine.program.trace import count
from denoc.study import complexity

pytestmark = pytest.mark.smoke


@pytest.mark.parametrize(
    ("row", "at_six"),
    [
        (0, (2195, 1719)),
        (1, (852, 834)),
        (2, (800, 595)),
        (3, (676, 527)),
        (4, (538, 478)),
        (5, (521, 435)),
        (6, (489, 421)),
    ],
)
def test_table_1_as_printed(row, at_six):
    assert complexity.INVERSE[row].at(6) == at_six


def test_table_2_as_printed():
    rows = {row.algorithm: row for row in complexity.FORWARD}
    assert rows["Mohan and Saha (2007)"].at(10)[0] == 1602
    assert rows["Mohan and Saha (2007)"].at(12) == (1948, 1667)
    assert rows["Saha (2003)"].at(14) == (2390, 2293)
    assert rows["Saha (1999), proposed"].at(6) == (871, 797)
    assert rows["Featherstone (1983)"].at(12) == (2190, 1915)
    assert rows["Walker and Orin (as implemented by Featherstone)"].at(12) == (2357, 1716)


@pytest.mark.parametrize(("what", "most"), [("idyn", (175, 143, 0)), ("fdyn", (353, 279, 4))])
def test_puma_costs_no_more_than_this(what, most):
    found = count(program(denoc.load("puma"), what).results())
    assert found.multiplications <= most[0]
    assert found.additions <= most[1]
    assert found.divisions <= most[2]


def test_dense_puma_costs_no_more_than_this():
    found = count(complexity.recorded_program(denoc.load("puma"), "forward, dense").results())
    assert (found.multiplications, found.additions) <= (328, 280)


def test_a_general_chain_costs_a_constant_for_each_joint():
    counts = [complexity.of_chain("inverse", n) for n in range(4, 12)]
    steps = {(b.multiplications - a.multiplications, b.additions - a.additions) for a, b in pairwise(counts)}
    assert steps == {(81, 69)}


def test_the_recursion_overtakes_the_dense_way():
    counts = {n: (complexity.of_chain("forward", n), complexity.of_chain("forward, dense", n)) for n in range(1, 16)}
    assert complexity.crossover(counts) == {"multiplications": 9, "operations": 10}


def test_formulas_read_as_printed():
    assert complexity.INVERSE[0].formulas() == ("412n - 277", "320n - 201")
    assert complexity.FORWARD[-1].formulas()[1] == "1/6n^3 + 7n^2 + 233/6n - 46"
