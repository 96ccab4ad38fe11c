"""Inverse dynamics is the regressor times the robot's numbers, for every type of joint, and with loops."""

import numpy as np
import pytest

import denoc
from comparing import off
from denoc.machine.backend import using_backend
from denoc.study.verification import Pinocchio
from random_mechanisms import mechanism
from random_robots import MOVING, drawn


def numbers(robot):
    return np.array(list(denoc.parameters(robot).values()))


def agrees(robot, q, qd, qdd, bound=1e-13):
    """Whether the product is inverse dynamics, to rounding of its largest term."""
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            Y = denoc.regressor(robot, q, qd, qdd)
            right = denoc.inverse(robot, q, qd, qdd)
        assert Y.shape == (*right.shape, len(numbers(robot)))
        assert abs(Y @ numbers(robot) - right).max() <= bound * abs(Y * numbers(robot)).max(), backend


@pytest.mark.parametrize("type_", MOVING)
@pytest.mark.sampled(2)
def test_of_every_type_of_joint(type_):
    case = drawn(3, types=(type_,), links=(3, 3), wrenches=False)
    agrees(case.robot, *case.state)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.sampled(16)
def test_of_random_trees(seed):
    """With fixed joints, springs, friction and rotors; then for many samples."""
    case = drawn(seed, wrenches=False)
    agrees(case.robot, *case.state)
    rng = np.random.default_rng(seed)
    many = case.later(np.linspace(0.0, 0.3, 11))[0]
    agrees(case.robot, many, *rng.standard_normal((2, 11, case.robot.nv)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.sampled(4)
def test_of_random_mechanisms(seed):
    """The actuators' forces, where they are as many as the freedoms, or share their work."""
    case = mechanism(seed, wrenches=False)
    agrees(case.robot, case.q, case.qd, case.qdd, 1e-11)


@pytest.mark.parametrize("name", ["three-rrr", "suspension", "rssr"])
@pytest.mark.sampled(2)
def test_of_mechanisms_many_at_once_and_one_by_one(name):
    robot = denoc.load(name)
    q = denoc.assemble(robot, robot.q0)
    x = np.random.default_rng(1).standard_normal((9, robot.nv))
    many = np.tile(q, (9, 1)), np.zeros((9, robot.nv)), x
    agrees(robot, *many)
    Y = denoc.regressor(robot, *many)
    for n in (0, 8):
        assert off(denoc.regressor(robot, q, np.zeros(robot.nv), x[n]), Y[n]) < 1e-13
    assert denoc.regressor(robot, *(rows[:0] for rows in many)).shape == (0, *Y.shape[1:])


def test_what_the_columns_are():
    """Numbers by name: by Steiner's theorem about the link's origin, in its axes; a spring's rest as an offset."""
    robot = denoc.loads(
        "name: r\nconvention: frames\nlinks:\n"
        "- name: a\n  joint: {type: cylindrical, name: j, axis: [1, 0, 0]}\n  mass: 2\n  com: [0.1, 0.2, 0]\n"
        "  inertia: {xx: 0.3, yy: 0.4, zz: 0.5, xy: 0.01, xz: 0.02, yz: 0.03}\n"
        "- name: b\n  joint: {type: revolute, rotor_inertia: 0.7, friction: {viscous: 0.8, coulomb: 0.9},\n"
        "    spring: {stiffness: 6, rest: 0.5}}\n  mass: 1\n  com: [0, 0, 0]\n"
    )
    found = denoc.parameters(robot)
    link = {"m": 2, "mx": 0.2, "my": 0.4, "mz": 0, "Ixx": 0.38, "Iyy": 0.42, "Izz": 0.6}
    link |= {"Ixy": 0.01 - 0.04, "Ixz": 0.02, "Iyz": 0.03}
    expected = {f"a.{name}": value for name, value in link.items()}
    expected |= {f"b.{name}": float(name == "m") for name in link}
    none = dict.fromkeys(("rotor", "viscous", "coulomb", "offset"), 0.0)
    expected |= {f"j.{speed}.{name}": 0.0 for speed in ("qd1", "qd2") for name in none}
    own = {"rotor": 0.7, "viscous": 0.8, "coulomb": 0.9, "offset": -3.0, "stiffness": 6.0}
    expected |= {f"joint2.{name}": value for name, value in own.items()}
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(2)
def test_pinocchio_has_the_same_regressor(seed):
    """Its numbers are m, m c, then Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each joint's body, in the joint's axes."""
    pin = pytest.importorskip("pinocchio")
    types = ("revolute", "prismatic", "spherical", "free", "helical", "universal")
    case = drawn(seed, types=types, links=(2, 6), conventions=("khalil",), drives=False, wrenches=False)
    robot, peer = case.robot, Pinocchio(case.robot)
    state = [x[place] for x, place in zip(case.state, (peer.coordinates, peer.speeds, peer.speeds))]
    Y = pin.computeJointTorqueRegressor(peer.model, peer.data, *state)
    found, columns = denoc.regressor(robot, *case.state), list(denoc.parameters(robot))
    names = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    for link in robot.links:
        body, _ = robot.tree.seats[link.name]
        joint = peer.ends[body]
        right = np.zeros((robot.nv, 10))
        right[peer.speeds] = Y[:, 10 * (joint - 1) : 10 * joint]
        own = found[:, [columns.index(f"{link.name}.{name}") for name in names]]
        assert off(own, right, scale=abs(Y).max()) < 1e-13


def test_no_robot_is_refused():
    with pytest.raises(denoc.InputError, match="not a robot"):
        denoc.regressor("puma", [0.0], [0.0], [0.0])
    with pytest.raises(denoc.InputError, match="not a robot"):
        denoc.parameters("puma")
