"""Derivatives along numbers of a robot's file are differences between the robots that nearby files describe."""

import numpy as np
import pytest

import denoc
from augmented import by_multipliers, completed, moving
from denoc.machine.backend import using_backend
from denoc.machine.backend.account import noted_backend_runs
from denoc.mechanics.assembly.assembly import close_loops_by_newton
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.closure.partition import best_partition
from denoc.mechanics.mechanisms.mechanism import independent_coordinates
from denoc.robot.read import robot_file_number
from displacing import eighth_order, state

pytestmark = pytest.mark.smoke

TREES = {
    "puma": (
        "links.link3.mass",
        "links.link2.inertia.xx",
        "links.link2.joint.a",
        "links.link3.joint.alpha",
        "gravity.2",
    ),
    "elastic-arm": (
        "links.link1.joint.rotor_inertia",
        "links.link2.joint.spring.stiffness",
        "links.link2.first_moments.0",
    ),
    "space-arm": ("links.satellite.mass", "links.arm1.first_moments.1", "links.arm1.joint.d", "links.arm1.joint.alpha"),
    "spherical-arm": ("links.2.mass", "links.1.joint.friction.viscous"),
}
MECHANISMS = {
    "four-bar": (
        "links.coupler.mass",
        "links.coupler.joint.xyz.0",
        "links.rocker.inertia.zz",
        "loops.B.first.at.0",
        "gravity.1",
    ),
    "slider-crank": ("links.0.mass", "links.1.joint.xyz.0"),
    "three-rrr": ("links.0.mass", "loops.0.first.at.0", "links.platform.points.B2.0"),
    "suspension": ("links.0.mass",),
}
WITH_UNITS = """
name: lift
convention: frames
gravity: [0, 0, -9.81]
wrenches: [{link: car, force: [3, 0, 5], at: [0.1, 0.2, 0], axes: base}]
links:
  - {name: arm, joint: {type: revolute, axis: [0.6, 0.8, 0], friction: {viscous: 0.1}}, mass: 2, com: [300 mm, 0, 0],
     inertia: {xx: 0.1, yy: 0.2, zz: 0.3}}
  - {name: fin, joint: {type: fixed, xyz: [0.2, 0, 0.1], rpy: [0, 30 deg, 0]}, mass: 0, com: [0, 0.1, 0],
     inertia: {xx: 0.1, yy: 0.2, zz: 0.3}}
  - {name: car, joint: {type: helical, pitch: 0.02, axis: [1, 0, 0], xyz: [0.4, 0, 0]}, mass: 1, com: [0.1, 0, 0],
     inertia: {xx: 0.1, yy: 0.2, zz: 0.3}}
"""


def differences(robot, key, accelerations):
    """The same by eighth-order differences; of numbers that can't be negative, of squares of their roots."""
    at = robot_file_number(robot, key)
    if at.value:
        return eighth_order(lambda h: accelerations(at.robot(at.value * (1.0 + h)))) / at.value
    h = 1e-3  # one-sided, by the polynomial through nine places
    values = [accelerations(at.robot(k * h)) for k in range(9)]
    weights = (-761 / 280, 8, -14, 56 / 3, -35 / 2, 56 / 5, -14 / 3, 8 / 7, -1 / 8)
    return sum(w * x for w, x in zip(weights, values)) / h


def compare(robot, keys, given, accelerations):
    found = denoc.derivatives(robot, *given, with_respect_to=keys)
    assert abs(found["qdd"] - accelerations(robot)).max() <= 1e-10 * abs(found["qdd"]).max()
    for key in keys:
        expected = differences(robot, key, accelerations)
        assert abs(found[key] - expected).max() <= 1e-8 * max(abs(expected).max(), 1e-3), key
        assert abs(expected).max() > 1e-6, f"{key} should matter"


@pytest.mark.parametrize("name", TREES)
def test_of_trees(name):
    robot = denoc.load(name)
    given = state(robot)
    compare(robot, TREES[name], given, lambda other: denoc.forward(other, *given))


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.sampled(2)
def test_of_mechanisms(name):
    """The independent coordinates and speeds stay, and the loops stay closed."""
    robot, _, q, qd, tau = moving(name, 8)
    chosen = independent_coordinates(loop_closure(robot), q)

    def accelerations(other):
        loops = loop_closure(other)
        at, _ = close_loops_by_newton(loops, q.copy(), chosen)
        part = best_partition(loops, at, (), chosen)
        return by_multipliers(other, part, at, completed(loops, part, at, qd[chosen]), tau)

    compare(robot, MECHANISMS[name], (q, qd, tau), accelerations)


def test_numbers_with_units_of_wrenches_fixed_links_and_screws():
    robot = denoc.loads(WITH_UNITS)
    given = state(robot)
    keys = ("links.arm.com.0", "links.arm.joint.axis.0", "links.arm.joint.friction.viscous", "links.fin.mass")
    keys += (
        "links.fin.joint.rpy.1",
        "links.fin.joint.rpy.2",
        "links.car.joint.pitch",
        "wrenches.0.force.2",
        "wrenches.0.at.1",
        "gravity.0",
    )
    compare(robot, keys, given, lambda other: denoc.forward(other, *given))


def test_compiled_code_is_the_plain_text_and_takes_batches():
    robot = denoc.load("puma")
    keys = ["state", "links.link3.mass", "robot.links.link2.joint.alpha", "force"]
    given = np.random.default_rng(1).normal(size=(3, 11, 6))
    whole = denoc.derivatives(robot, *given)
    with using_backend("plain"):
        plain = denoc.derivatives(robot, *given, with_respect_to=keys)
    with using_backend("compiled"):
        many = denoc.derivatives(robot, *given, with_respect_to=keys)
        one = denoc.derivatives(robot, *given[:, 3], with_respect_to=keys)
    assert list(many) == ["qdd", "dq", "dqd", keys[1], keys[2], "dtau"]
    for name, block in many.items():
        assert abs(block - plain[name]).max() <= 1e-11 * abs(block).max(), name
        assert abs(block[3] - one[name]).max() <= 1e-11 * abs(block).max(), name
        if name in whole:
            assert abs(block - whole[name]).max() <= 1e-11 * abs(block).max(), name
    with noted_backend_runs() as notes:
        denoc.derivatives(robot, *given[:, 3], with_respect_to=keys)
        denoc.derivatives(robot, *given, with_respect_to=keys)
    assert not notes, "both went straight into code"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("links.link9.mass", "no entry `link9`"),
        ("links.link2.name", "not a number"),
        ("links.link2.joint.type", "not a number"),
        ("stat", "unknown key"),
        (3, "has to be text"),
    ],
)
def test_what_is_no_number_of_the_file_is_refused(key, words):
    robot = denoc.load("puma")
    with pytest.raises(denoc.DenocError, match=words):
        denoc.derivatives(robot, *np.zeros((3, 6)), with_respect_to=[key])


def test_directions_in_which_the_file_is_not_smooth_are_refused():
    robot = denoc.loads(WITH_UNITS.replace("axis: [1, 0, 0]", "axis: [0, 0, 1]"))
    with pytest.raises(denoc.DenocError, match="smoothly"):
        denoc.derivatives(robot, *np.zeros((3, 2)), with_respect_to="links.car.joint.axis.1")
