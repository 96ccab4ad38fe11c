"""Masses moved across cuts: no acceleration changes, and fewer numbers are left."""

from dataclasses import replace

import numpy as np
import pytest

import denoc
from comparing import off
from denoc.machine.backend import using_backend
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.closure.exchange import exchange, exchanged
from denoc.mechanics.mechanisms.accelerations import Forward
from denoc.mechanics.mechanisms.texts import CHECKS, Reduced
from denoc.mechanics.numbers.regroup import pseudo_inertia, regrouped_bodies, with_numbers
from random_mechanisms import mechanism
from series import in_series, states


def with_first_moments(bodies):
    return sum(any(body.h) for body in bodies)


def accelerations(robot, q, qd, tau, bodies):
    """By the plain text, with these bodies."""
    text = Forward.at(loop_closure(robot), q, robot.driven)
    given = {"q": list(map(float, q)), "qd": list(map(float, qd)), "tau": list(map(float, tau))}
    return np.array(text.text(given, bodies)[0], dtype=float)


CUTS = ("revolute", "spherical", "universal", "fixed", "prismatic", "cylindrical", "point-on-line")


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.sampled(4)
def test_any_mass_may_be_exchanged(seed):
    """Whether it is of use or not: cuts that keep two points together have an exchange, others none."""
    case = mechanism(seed, wrenches=False, cuts=CUTS, loops=(2, 2))
    loops, tau = loop_closure(case.robot), case.rng.uniform(-5, 5, case.robot.nv)
    own = accelerations(case.robot, case.q, case.qd, tau, loops.bodies)
    G = np.array([pseudo_inertia(body) for body in regrouped_bodies(loops.bodies)])
    for loop, tie in zip(case.robot.loops, loops.ties):
        one = exchange(loops.bodies, tie)
        assert (one is None) == (loop.type.name not in CUTS[:4])
        if one is not None:
            there = with_numbers(loops.bodies, G + 0.7 * one.change)
            assert off(accelerations(case.robot, case.q, case.qd, tau, there), own) < 1e-10


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.sampled(8)
def test_random_mechanisms_move_as_with_their_own_masses(seed):
    """Cuts of all types in trees of all joints; only some of the cuts keep two points together."""
    case = mechanism(seed, wrenches=False)
    loops, tau = loop_closure(case.robot), case.rng.uniform(-5, 5, case.robot.nv)
    own = accelerations(case.robot, case.q, case.qd, tau, loops.bodies)
    assert off(accelerations(case.robot, case.q, case.qd, tau, exchanged(loops)), own) < 1e-10


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.sampled(4)
def test_mechanisms_with_ball_joints_and_hinges_for_cuts(seed):
    """Masses do move here, in space and in a plane."""
    for planar in (False, True):
        cuts = ("revolute", "spherical") if planar else ("revolute", "spherical", "universal")
        case = mechanism(seed, wrenches=False, cuts=cuts, planar=planar)
        loops, tau = loop_closure(case.robot), case.rng.uniform(-5, 5, case.robot.nv)
        there = exchanged(loops)
        own = accelerations(case.robot, case.q, case.qd, tau, loops.bodies)
        assert off(accelerations(case.robot, case.q, case.qd, tau, there), own) < 1e-10
        text = Reduced(loops, Forward.at(loops, case.q, case.robot.driven).part)
        given = {"q": case.q.tolist(), "qd": case.qd.tolist()}
        one, other = (np.array(text.text(given, bodies)[0], dtype=float) for bodies in (loops.bodies, there))
        assert off(other, one) < 1e-10


@pytest.mark.parametrize(
    "name, before, left",
    [
        ("four-bar", 3, 2),  # the coupler's are gone
        ("slider-crank", 2, 1),
        ("carpet-scraper", 6, 4),  # three links are freed, of which one had none
        ("five-bar", 4, 3),
        ("three-rrr", 7, 6),
        ("andrews", 7, 4),
    ],
)
def test_links_between_two_joints_have_no_first_moments(name, before, left):
    """Each cut serves to free one link."""
    robot = denoc.load(name)
    assert with_first_moments(regrouped_bodies(robot.tree.bodies)) == before
    assert with_first_moments(exchanged(loop_closure(robot))) == left


def test_of_many_loops_in_series_those_beyond_come_first():
    robot = denoc.loads(in_series(5))
    loops, rng = loop_closure(robot), np.random.default_rng(4)
    q = denoc.assemble(robot, robot.q0)
    tau, still = rng.standard_normal(robot.nv), np.zeros(robot.nv)
    own = accelerations(robot, q, still, tau, loops.bodies)
    assert off(accelerations(robot, q, still, tau, exchanged(loops)), own) < 1e-11
    assert with_first_moments(regrouped_bodies(loops.bodies)) == 15
    assert with_first_moments(exchanged(loops)) == 10


@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_units_are_no_numbers(length):
    """A mechanism in micrometres or megametres has as many numbers: masses, moments and inertias aren't compared."""
    for name in ("four-bar", "carpet-scraper", "rssr"):
        robot = denoc.load(name)
        loops = loop_closure(robot)
        origins = [tuple(length * x for x in body.origin) for body in loops.bodies]
        masses = [
            {"h": tuple(length * x for x in b.h), "E": tuple(tuple(length**2 * x for x in row) for row in b.E)}
            for b in loops.bodies
        ]
        bodies = tuple(replace(b, origin=o, **own) for b, o, own in zip(loops.bodies, origins, masses))
        ties = tuple(
            replace(
                tie,
                first=replace(tie.first, origin=tuple(length * x for x in tie.first.origin)),
                second=replace(tie.second, origin=tuple(length * x for x in tie.second.origin)),
            )
            for tie in loops.ties
        )
        found = exchanged(loops.with_numbers(bodies, ties, loops.couplings))
        for one, other in zip(exchanged(loops), found):
            assert np.array(other.h) / length == pytest.approx(np.array(one.h), rel=1e-9, abs=1e-14)
            assert np.array(other.E) / length**2 == pytest.approx(np.array(one.E), rel=1e-9, abs=1e-14)


def test_points_that_are_held_apart_exchange_nothing():
    """Where a cut is to stay open, its points aren't the same."""
    loops = loop_closure(denoc.load("four-bar"))
    apart = loops.at(np.full(loops.m, 0.01))
    assert [body.h for body in exchanged(apart)] == [body.h for body in regrouped_bodies(loops.bodies)]
    assert [body.h for body in exchanged(loops)] != [body.h for body in regrouped_bodies(loops.bodies)]


@pytest.mark.parametrize("name", ["four-bar", "carpet-scraper", "rssr"])
def test_what_is_recorded_is_what_the_plain_text_does(name):
    """Program and plain text take the same bodies, so that they agree where loops are a little open, too."""
    robot = denoc.load(name)
    text = Forward.at(loop_closure(robot), denoc.assemble(robot, robot.q0), robot.driven)
    rng, q = np.random.default_rng(7), denoc.assemble(robot, robot.q0)
    rows = {"q": np.tile(q, (9, 1)) + 1e-8 * rng.standard_normal((9, robot.nq)), "qd": np.zeros((9, robot.nv))}
    rows["tau"] = rng.standard_normal((9, robot.nv))
    results = []
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            results.append(text.rows(rows)[:, :-CHECKS])
    assert off(results[1], results[0]) < 1e-11


def test_a_loop_over_equal_subsystems_has_moved_masses_too():
    """Its numbers are those of the straight text, and the accelerations those of the real links."""
    robot = denoc.loads(in_series(6))
    loops, (q, qd, tau) = loop_closure(robot), states(robot, 9)
    text = Forward.at(loops, q[0], robot.driven)
    elements, again = text._elements
    assert again
    numbers = [body.h for one in elements for body in one.numbers.bodies]
    assert numbers == [body.h for body in exchanged(loops)]
    with using_backend("compiled"):
        found = denoc.forward(robot, q, qd, tau)
    for k in range(9):
        given = {"q": q[k].tolist(), "qd": qd[k].tolist(), "tau": tau[k].tolist()}
        assert off(found[k], np.array(text.text(given, loops.bodies)[0], dtype=float)) < 1e-10
