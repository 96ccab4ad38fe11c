"""What is run, compiled, counted and exported of a tree or a mechanism comes from the same functions.

A function is made to give twice what it gives; whatever doesn't follow comes from somewhere else.
"""

import numpy as np
import pytest

import denoc
from balanced import accelerations
from comparing import off
from denoc.machine.backend import using_backend
from denoc.machine.program import python_function
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.closure.rank import constraint_null_space
from denoc.mechanics.mechanisms import accelerations as compiled
from denoc.mechanics.mechanisms import branches, slopes
from denoc.mechanics.mechanisms import gradients as adjoint
from denoc.mechanics.mechanisms import reaction_wrenches as reactions
from denoc.mechanics.mechanisms import regressor_columns as regressor
from denoc.mechanics.mechanisms.exported import TEXTS, program_of_mechanism_quantity
from denoc.mechanics.quantities import mixed
from denoc.mechanics.quantities import programs as tree_programs

# robot, what, and where the text is found by those that run it and those that record it
CASES = [
    ("puma", "idyn", ((mixed, "sweep_tree"), (tree_programs, "sweep_tree"))),
    ("puma", "fdyn", ((mixed, "sweep_tree"), (tree_programs, "sweep_tree"))),
    ("carpet-scraper", "idyn", ((branches.Inverse, "text"),)),
    ("carpet-scraper", "fdyn", ((compiled.Forward, "text"),)),
    ("rssr", "idyn", ((branches.Inverse, "text"),)),
    ("carpet-scraper", "fdyn-derivatives", ((slopes.Slopes, "text"),)),
    ("carpet-scraper", "fdyn-adjoint", ((adjoint.AlongState, "text"),)),
    ("carpet-scraper", "reactions", ((reactions.Reactions, "text"),)),
    ("carpet-scraper", "regressor", ((regressor.Regressor, "text"),)),
    ("gough-stewart", "reactions", ((reactions.Reactions, "text"),)),
]
CALL = {
    "idyn": denoc.inverse,
    "fdyn": denoc.forward,
    "fdyn-derivatives": lambda *given: together(denoc.derivatives(*given), np.ndim(given[1]) - 1),
    "fdyn-adjoint": lambda *given: together(denoc.adjoint(*given, given[-1]), np.ndim(given[1]) - 1),
    "regressor": lambda *given: denoc.regressor(*given).reshape(*np.shape(given[1])[:-1], -1),
    "reactions": lambda *given: together(denoc.reactions(*given), np.ndim(given[1]) - 1),
}


def together(parts, samples):
    """A dictionary's arrays in one row a sample."""
    return np.concatenate([x.reshape(*x.shape[:samples], -1) for x in parts.values()], axis=-1)


def test_every_program_of_a_mechanism_is_tested():
    assert {what for _, what, _ in CASES} == set(TEXTS)


def doubled(text):
    def twice(*given, **named):
        found, rest = text(*given, **named)
        return [2.0 * x for x in found], rest

    return twice


def state(robot):
    q = denoc.assemble(robot, robot.q0) if robot.tied else np.array(robot.q0) + 0.3
    return q, np.zeros(robot.nv), np.random.default_rng(1).standard_normal(robot.nv)


def exported(robot, what, arguments):
    made = program_of_mechanism_quantity(robot, what)
    space: dict = {}
    exec("from math import cos, sin, sqrt\n" + python_function(made, "found", ""), space)
    more = arguments[-1:] * (len(made.inputs) - len(arguments))  # what `CALL` takes for a costate
    return np.array(space["found"](*(list(x) for x in (*arguments, *more))))


def ways(name, what):
    """By plain text for one sample and many, by code for one sample and many, and by exported code."""
    found, robot = {}, denoc.load(name)
    one = state(robot)
    many = [np.array([x] * 9) for x in one]
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            found[backend, 1] = CALL[what](denoc.load(name), *one)
            found[backend, 9] = CALL[what](denoc.load(name), *many)[-1]
    return found | {"exported": exported(robot, what, one)}


@pytest.mark.parametrize(("name", "what", "texts"), CASES)
def test_all_ways_follow_one_text(name, what, texts, monkeypatch, own_code):
    own_code("before")
    before = ways(name, what)
    first = before["plain", 1]
    assert max(off(found, first) for found in before.values()) < 1e-10
    own_code("after")
    for place, text in texts:
        monkeypatch.setattr(place, text, doubled(getattr(place, text)))
    for way, found in ways(name, what).items():
        assert off(found, 2.0 * first) < 1e-10, way


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "carpet-scraper", "bricard", "n-four-bar", "suspension"])
@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_forward_dynamics_by_the_null_space(name, backend):
    """A dense oracle: no partition, no elimination in a chosen order."""
    robot = denoc.load(name)
    loops, rng = loop_closure(robot), np.random.default_rng(2)
    q = denoc.assemble(robot, robot.q0)
    N = loops.column_scale[:, None] * constraint_null_space(loops.scaled(loops.jacobian(q)[0]))
    qd, tau = N @ rng.standard_normal(N.shape[1]), rng.standard_normal(robot.nv)
    with using_backend(backend):
        found = denoc.forward(robot, q, qd, tau)
    expected = accelerations(robot, loops, q, qd, tau, denoc.inertia(robot, q), denoc.bias(robot, q, qd))
    assert off(found, expected) < 1e-9


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "carpet-scraper"])
def test_reduced_equations_are_those_of_inverse_dynamics(name):
    """I q̈ + h is what the actuators have to do, column by column."""
    robot = denoc.load(name)
    loops, rng, driven = loop_closure(robot), np.random.default_rng(3), list(robot.driven)
    q = denoc.assemble(robot, robot.q0)
    N = loops.column_scale[:, None] * constraint_null_space(loops.scaled(loops.jacobian(q)[0]))
    N = N @ np.linalg.inv(N[driven])  # a column for each actuated joint
    qd = N @ rng.standard_normal(len(driven))
    J, drift = loops.jacobian(q, qd)
    start = -np.linalg.lstsq(loops.scaled(J), drift * loops.row_scale, rcond=1e-10)[0] * loops.column_scale
    start = start - N @ start[driven]
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            I, h = denoc.reduced(robot, q, qd)
            bias = denoc.inverse(robot, q, qd, start)
            columns = [denoc.inverse(robot, q, qd, start + column) - bias for column in N.T]
        assert off(h, bias) < 1e-10
        assert off(I, np.array(columns).T) < 1e-10


def nearby(robot, rng):
    """A closed position not far from the first one, and speeds that keep it closed."""
    loops, start = loop_closure(robot), denoc.assemble(robot, robot.q0)
    N = loops.column_scale[:, None] * constraint_null_space(loops.scaled(loops.jacobian(start)[0]))
    q = denoc.assemble(robot, start + 0.1 * N @ rng.standard_normal(N.shape[1]))
    N = loops.column_scale[:, None] * constraint_null_space(loops.scaled(loops.jacobian(q)[0]))
    return q, N @ rng.standard_normal(N.shape[1])


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("name", ["three-rrr", "bricard", "andrews", "five-bar"])
@pytest.mark.sampled(8)
def test_coordinates_do_not_depend_on_earlier_calls(name, backend):
    rng = np.random.default_rng(8)
    states = [nearby(denoc.load(name), rng) for _ in range(3)]
    used = denoc.load(name)
    with using_backend(backend):
        for q, qd in states:
            for call in (denoc.reduced, lambda robot, q, qd: [denoc.linearize(robot, q)[key] for key in "AB"]):
                for found, right in zip(call(used, q, qd), call(denoc.load(name), q, qd)):
                    assert found.shape == right.shape
                    assert off(found, right) < 1e-9 if right.size else True
        first = denoc.load(name)
        some = denoc.linearize(first, states[0][0])["independent"]
        assert some == denoc.linearize(first, states[1][0])["independent"]


def test_a_linearisation_closes_its_position_and_keeps_a_closed_one():
    robot = denoc.load("four-bar")
    closed = denoc.assemble(robot, robot.q0)
    with using_backend("compiled"):
        right = denoc.linearize(robot, closed)
        assert right["q"] is not closed
        assert np.array_equal(right["q"], closed)
        found = denoc.linearize(robot, closed + np.array([0.0, 1e-3, -1e-3]))
    assert abs(loop_closure(robot).gap(found["q"])).max() < 1e-12
    assert off(found["A"], right["A"]) < 1e-9
