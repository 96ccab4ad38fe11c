"""Speeds of turns about parallel axes, eliminated as their sums: the same solutions from fewer operations."""

import numpy as np
import pytest

import denoc
from comparing import off
from denoc.machine.program import count_operations
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.closure.elimination import Elimination, pivot_order_of_constraints
from denoc.mechanics.closure.partition import best_partition, combined_columns
from denoc.mechanics.mechanisms.accelerations import Forward
from denoc.study import program_for_complexity
from random_mechanisms import mechanism

# one loop, its second and third axis against the first and the second
FLIPPED = """
name: flipped
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: a, joint: {name: a, type: revolute, actuated: true}, mass: 1, com: [0.2, 0.01, 0],
     inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
  - {name: b, joint: {name: b, type: revolute, xyz: [0.4, 0, 0], rpy: [180 deg, 0, 0]}, mass: 2, com: [0.5, 0.02, 0],
     inertia: {xx: 0.01, yy: 0.2, zz: 0.2}}
  - {name: c, joint: {name: c, type: revolute, xyz: [1, 0, 0], rpy: [180 deg, 0, 0]}, mass: 1.5, com: [0.4, 0, 0],
     inertia: {xx: 0.01, yy: 0.1, zz: 0.1}}
loops:
  - {name: pin, joint: revolute, between: [c, base], first: {at: [0.8, 0, 0]}, second: {at: [0.9, 0, 0]}}
assembly: {a: 60 deg, b: -20 deg, c: -100 deg}
"""


@pytest.mark.parametrize("seed", range(10))
def test_sums_solve_the_same_equations(seed):
    """Any sums of unknowns, of both signs and one of another, in both directions of solution."""
    rng = np.random.default_rng(seed)
    K, b = rng.standard_normal((6, 6)), rng.standard_normal(6)
    sums = ((1, 0, 1), (2, 1, -1), (3, 1, 1), (5, 4, -1))
    order = pivot_order_of_constraints(combined_columns(K, sums))
    solver = Elimination(K.tolist(), order, sums)
    assert np.array(solver.solve(b.tolist()), dtype=float) == pytest.approx(np.linalg.solve(K, b), rel=1e-9)
    assert np.array(solver.transposed(b.tolist()), dtype=float) == pytest.approx(np.linalg.solve(K.T, b), rel=1e-9)


@pytest.mark.parametrize(
    "name, sums",
    [
        ("carpet-scraper", ((1, 0, 1), (4, 3, 1), (5, 4, 1), (6, 3, 1))),
        ("gough-stewart", ()),  # no two axes are parallel
        ("bricard", ()),
        ("two-carriers", ((5, 2, 1), (6, 5, 1), (12, 9, 1), (13, 12, 1))),
        ("slider-crank", ((1, 0, 1),)),  # a slide isn't taken into a sum
    ],
)
def test_which_speeds_are_taken_together(name, sums):
    assert loop_closure(denoc.load(name)).sums == sums


def test_axes_against_each_other_count_with_their_signs():
    assert loop_closure(denoc.loads(FLIPPED)).sums == ((1, 0, -1), (2, 1, -1))


def accelerations(loops, q, qd, tau, by_sums):
    """By the plain text, with sums of speeds or without."""
    text = Forward(loops, best_partition(loops, q, (), loops.robot.driven, summed=by_sums))
    assert text.part.sums == (loops.sums if by_sums else ())
    given = {"q": list(map(float, q)), "qd": list(map(float, qd)), "tau": list(map(float, tau))}
    return np.array(text.text(given, text.regrouped())[0], dtype=float)


@pytest.mark.parametrize("seed", [0, 1, 5, 7, 8, 19, 21, 22])
@pytest.mark.sampled(2)
def test_random_mechanisms_move_as_without_sums(seed):
    case = mechanism(seed, wrenches=False, planar=True, cuts=("revolute", "spherical"))
    loops, tau = loop_closure(case.robot), case.rng.uniform(-5, 5, case.robot.nv)
    assert loops.sums
    one, other = (accelerations(loops, case.q, case.qd, tau, by_sums) for by_sums in (True, False))
    assert off(one, other) < 1e-10


@pytest.mark.parametrize("name", ["carpet-scraper", "three-rrr", "andrews", "two-carriers", "flipped"])
def test_robots_move_as_without_sums(name):
    robot = denoc.loads(FLIPPED) if name == "flipped" else denoc.load(name)
    loops, rng = loop_closure(robot), np.random.default_rng(3)
    q = denoc.assemble(robot, robot.q0)
    part = best_partition(loops, q, (), robot.driven)
    J, _ = loops.jacobian(q)
    known = len(part.matrix(J)) - len(part.N)
    qd = np.linalg.solve(part.matrix(J), [*np.zeros(known), *rng.standard_normal(len(part.N))])
    tau = rng.standard_normal(robot.nv)
    one, other = (accelerations(loops, q, qd, tau, by_sums) for by_sums in (True, False))
    assert off(one, other) < 1e-10


def test_the_carpet_scraper_is_at_most_two_fifths_above_its_inverse():
    """The papers leave forward dynamics by subsystems open; this is what it costs here."""
    robot = denoc.load("carpet-scraper")
    forward, inverse = (count_operations(program_for_complexity(robot, w).results()) for w in ("forward", "inverse"))
    assert (forward.multiplications, forward.additions) == (164, 121)
    assert forward.multiplications <= 1.4 * inverse.multiplications
    assert forward.additions <= 1.4 * inverse.additions
