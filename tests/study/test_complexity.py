"""Operation counts: of the papers as printed, of our recursion as it runs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import denoc
from denoc.formats import loads
from denoc.machine.program import Recording, count_operations
from denoc.machine.program.nodes import live_nodes
from denoc.mechanics.quantities import program_of_tree_quantity
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


@pytest.mark.parametrize(("what", "most"), [("idyn", (175, 143, 0)), ("fdyn", (311, 254, 4))])
def test_puma_costs_no_more_than_this(what, most):
    found = count_operations(program_of_tree_quantity(denoc.load("puma"), what).results())
    assert found.multiplications <= most[0]
    assert found.additions <= most[1]
    assert found.divisions <= most[2]


def test_dense_puma_costs_no_more_than_this():
    found = count_operations(complexity.program_for_complexity(denoc.load("puma"), "forward, dense").results())
    assert (found.multiplications, found.additions) <= (328, 280)


@pytest.mark.parametrize(("what", "step"), [("inverse", (78, 69)), ("forward", (183, 174))])
def test_a_general_chain_costs_a_constant_for_each_joint(what, step):
    counts = [complexity.complexity_of_chain(what, n) for n in range(4, 12)]
    totals = [(x.multiplications + x.divisions, x.additions) for x in counts]
    assert {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(totals)} == {step}


def test_forward_dynamics_of_a_chain_costs_no_more_than_published_recursions():
    """Of six joints neither operation, of twelve no multiplication; docs/theory.md says where the additions are."""
    linear = [row for row in complexity.FORWARD if len(row.multiplications) == 2]
    at_six, at_twelve = ([min(counts) for counts in zip(*(row.at(n) for row in linear))] for n in (6, 12))
    assert (at_six, at_twelve) == ([862, 767], [1948, 1667])
    for n, most in ((6, at_six), (12, (at_twelve[0], 1801))):
        ours = complexity.complexity_of_chain("forward", n)
        assert ours.multiplications + ours.divisions <= most[0]
        assert ours.additions <= most[1]


def chain(n, placed):
    """A robot with Khalil's frames and no other zeros than those of the places of its joints."""
    body = (
        "mass: 0.12, com: [0.05, 0.01, -0.02], inertia: {xx: 6e-5, yy: 1e-4, zz: 1e-4, xy: 1e-5, xz: -2e-6, yz: 4e-6}"
    )
    return loads(f"""
name: chain
convention: khalil
links:
  - {{name: first, joint: {{type: revolute}}, {body}}}
  - repeat: {n - 1}
    links:
      - {{name: "link{{k}}", joint: {{type: revolute, {placed}}}, {body}}}
""")


def test_the_chain_that_is_counted_can_be_written_as_a_file():
    """A robot in numbers takes no more than the symbols do."""
    robot = chain(7, "d: 0.11, r: 0.03, alpha: 0.7")
    found, known = (
        count_operations(program_of_tree_quantity(robot, "fdyn").results()),
        complexity.complexity_of_chain("forward", 7),
    )
    assert found.multiplications + found.divisions <= known.multiplications + known.divisions
    assert found.additions <= known.additions


@pytest.mark.parametrize("n", [6, 12])
def test_chains_with_square_axes_cost_less_than_every_linear_row(n):
    """140n - 225 and 142n - 259: both factors of n are below those of all linear rows."""
    robot = chain(n, "d: 0.11, r: 0.03, alpha: pi/2")
    found = count_operations(program_of_tree_quantity(robot, "fdyn").results())
    own = found.multiplications + found.divisions, found.additions
    assert own[0] <= 140 * n - 225
    assert own[1] <= 142 * n - 259
    for row in complexity.FORWARD[:-1]:
        assert all(x < y for x, y in zip(own, row.at(n)))
        assert row.multiplications[1] > 140
        assert row.additions[1] > 142


def test_what_follows_from_known_numbers_is_not_counted():
    recording = Recording("product")
    (a, b), (x,) = recording.input("number", 2), recording.input("x", 1)
    made = recording.program(out=[-(a * b) * x + a / b])
    assert str(count_operations(made.results())) == "2M 1A 1D"
    assert str(count_operations(made.results(), [a, b])) == "1M 1A"


def test_the_recursion_overtakes_the_dense_way():
    counts = {
        n: (complexity.complexity_of_chain("forward", n), complexity.complexity_of_chain("forward, dense", n))
        for n in range(1, 16)
    }
    assert complexity.complexity_crossover(counts) == {"multiplications": 7, "operations": 8}


def test_subsystems_cost_less_than_one_system():
    """Inverse dynamics branch by branch and forward dynamics group by group, beside the same equations all at once."""
    robot = denoc.load("carpet-scraper")
    branches, whole = (
        count_operations(complexity.program_for_complexity(robot, what).results())
        for what in ("inverse", "inverse, dense")
    )
    assert branches.multiplications < whole.multiplications
    found = count_operations(complexity.program_for_complexity(robot, "forward").results())
    assert found.multiplications <= 1.4 * branches.multiplications
    assert found.additions <= 1.4 * branches.additions
    assert "inverse, dense" in complexity.complexity_of_robot(robot)
    assert "inverse, dense" not in complexity.complexity_of_robot(denoc.load("puma"))


def test_formulas_read_as_printed():
    assert complexity.INVERSE[0].formulas() == ("412n - 277", "320n - 201")
    assert complexity.FORWARD[-1].formulas()[1] == "1/6n^3 + 7n^2 + 233/6n - 46"


@pytest.mark.parametrize("name", ["four-bar", "three-rrr"])
def test_the_dense_way_of_a_mechanism_is_about_the_same_system(name):
    """Both programs of forward dynamics give the same accelerations, those of the closed mechanism."""
    robot = denoc.load(name)
    q, qd = denoc.assemble(robot, robot.q0), np.zeros(robot.nv)
    tau = np.cos(np.arange(robot.nv))
    wanted = denoc.forward(robot, q, qd, tau)
    for what in ("forward", "forward, dense"):
        made = complexity.program_for_complexity(robot, what)
        values = dict(zip((node.value for group in made.inputs.values() for node in group), [*q, *qd, *tau]))
        np.testing.assert_allclose(computed(made, values), wanted, atol=1e-9 * abs(wanted).max())


def computed(program, values):
    """The program's results, one operation after the other."""
    at = {}
    of = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
        "neg": lambda a, _: -a, "cos": lambda a, _: np.cos(a), "sin": lambda a, _: np.sin(a),
        "sqrt": lambda a, _: np.sqrt(a), "sign": lambda a, _: np.sign(a),
    }  # fmt: skip
    for node in live_nodes(program.results()):
        if node.op in ("const", "input"):
            at[node.id] = node.value if node.op == "const" else values[node.value]
        else:
            at[node.id] = of[node.op](at[node.a.id], at[node.b.id] if node.b is not None else None)
    return [at[node.id] for node in program.results()]
