"""Gradients of forward dynamics are weighted rows of its derivatives, and differences over the numbers of robots' files."""

from copy import deepcopy

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend
from denoc.robot.read import build_robot
from denoc.text import Change, changed_document, document_from_mapping
from displacing import eighth_order
from random_mechanisms import mechanism
from random_robots import drawn

WAYS = ("dq", "dqd", "dtau")


def compare(robot, q, qd, tau, costate, bound):
    expected = denoc.derivatives(robot, q, qd, tau)
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            found = denoc.adjoint(robot, q, qd, tau, costate)
        assert list(found) == list(WAYS)
        for way in WAYS:
            right = np.einsum("...i,...ik->...k", costate, expected[way])
            assert abs(found[way] - right).max() <= bound * abs(expected[way]).max(initial=1e-9), (backend, way)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.sampled(16)
def test_of_random_trees(seed):
    case = drawn(seed)
    q, qd, x = case.state
    rng = np.random.default_rng(seed)
    bound = 1e-11 * max(1.0, np.linalg.cond(denoc.inertia(case.robot, q)) / 1e4)
    compare(case.robot, q, qd, x, rng.normal(size=case.robot.nv), bound)
    many = case.later(np.linspace(0.0, 0.3, 11))[0]
    compare(case.robot, many, *(rng.normal(size=(11, case.robot.nv)) for _ in range(3)), 10 * bound)


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "rssr", "gough-stewart", "suspension"])
@pytest.mark.sampled(4)
def test_of_mechanisms(name):
    robot = denoc.load(name)
    q = denoc.assemble(robot, robot.q0)
    rng = np.random.default_rng(2)
    tau, costate = rng.normal(size=(2, robot.nv))
    compare(robot, q, np.zeros(robot.nv), tau, costate, 1e-10)
    compare(robot, np.tile(q, (9, 1)), np.zeros((9, robot.nv)), np.tile(tau, (9, 1)), np.tile(costate, (9, 1)), 1e-10)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.sampled(8)
def test_of_random_mechanisms_that_move(seed):
    case = mechanism(seed)
    rng = np.random.default_rng(seed)
    compare(case.robot, case.q, case.qd, *rng.normal(size=(2, case.robot.nv)), 1e-9)


@pytest.mark.parametrize("name", ["puma", "tree", "space-arm"])
@pytest.mark.sampled(3)
def test_inertial_numbers_against_differences_over_files(name):
    """A file's mass, mass centre and inertia about it lead to the ten numbers by Steiner's theorem."""
    robot = denoc.load(name)
    rng = np.random.default_rng(5)
    q, (qd, tau, costate) = np.array(robot.q0), rng.normal(size=(3, robot.nv))
    link = robot.links[-2]
    gradient = denoc.adjoint(robot, q, qd, tau, costate, inertial=True)["links"]
    assert list(gradient) == [one.name for one in robot.links]
    places = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))

    def ten(mass, com, inertia):
        J = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
        return np.array([mass, *(mass * com), *(J[place] for place in places)])

    own = float(link.mass), np.array(link.com), np.array(link.inertia)
    moves = [(own[0], np.zeros(3), np.zeros((3, 3)))]  # as large as the numbers themselves
    moves += [(0.0, step, np.zeros((3, 3))) for step in 0.1 * np.eye(3)]
    for r, s in places:
        step = np.zeros((3, 3))
        step[r, s] = step[s, r] = 0.1 * np.trace(own[2])
        moves.append((0.0, np.zeros(3), step))

    def text(com, inertia):
        names = ("xx", "yy", "zz", "xy", "xz", "yz")
        return {"com": com.tolist(), "inertia": {n: inertia[p] for n, p in zip(names, places)}}

    def at(h, move):
        mass, com, inertia = (x + h * d for x, d in zip(own, move))
        data = {"mass": mass, **text(com, inertia)}
        keys = [Change(f"links.{link.name}.{key}", value, "test", "") for key, value in data.items()]
        return build_robot(changed_document(without_r(robot, link.name), keys))

    for move in moves:
        slope = eighth_order(lambda h, move=move: np.array([costate @ denoc.forward(at(h, move), q, qd, tau)]))[0]
        along = eighth_order(lambda h, move=move: ten(*(x + h * d for x, d in zip(own, move))))
        expected = gradient[link.name] @ along
        assert abs(slope - expected) < 1e-8 * max(1.0, abs(expected)), move


def without_r(robot, link):
    """The robot's file without other words for its mass centre and inertia than `com` and a tensor about it."""
    data = deepcopy(robot.document.data)
    own = next(one for one in data["links"] if one["name"] == link)
    for key in ("r", "first_moments", "about", "frame"):
        own.pop(key, None)
    return document_from_mapping(data)


def test_mechanisms_have_no_inertial_numbers():
    robot = denoc.load("four-bar")
    q = denoc.assemble(robot, robot.q0)
    with pytest.raises(denoc.InputError, match="are those of trees"):
        denoc.adjoint(robot, q, [0.0] * 3, [0.0] * 3, [1.0] * 3, inertial=True)
    with pytest.raises(denoc.InputError, match="not a robot"):
        denoc.adjoint("puma", q, [0.0] * 3, [0.0] * 3, [1.0] * 3)
