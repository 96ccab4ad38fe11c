"""Wrenches in the joints and cuts of mechanisms: one text, by dense linear algebra, on random mechanisms."""

import numpy as np
import pytest

import denoc
import yamls
from balanced import apart, exerted, whole
from comparing import off
from denoc.machine.backend import using_backend
from denoc.mechanics.assembly.search import closing_position_moved_along_speeds
from denoc.mechanics.mechanisms.balance import Balance
from denoc.mechanics.mechanisms.reaction_wrenches import mechanism_multiplier_texts
from denoc.mechanics.quantities import calls as tree
from denoc.mechanics.quantities import quantities
from denoc.text import find_library_file
from random_mechanisms import mechanism

BACKENDS = ("plain", "compiled")
PLANAR = {"planar": True, "cuts": ("revolute", "cylindrical", "spherical")}  # its rows are redundant


def dense(case, q, qd, qdd, wrenches):
    """All wrenches of one sample: multipliers as one system, put on the links of the spanning tree."""
    robot = case.robot
    balance = Balance(robot, q)
    on_links, cuts = exerted(robot, case.loops, q, whole(balance, tree.inverse(robot, q, qd, qdd, wrenches)))
    together = {link: six + wrenches.get(link, 0.0) for link, six in on_links.items()}
    return {**quantities.reactions(robot, q, qd, qdd, together), **cuts}


def largest(wrenches):
    return max(abs(six).max() for six in wrenches.values())


def motions(case, count):
    """Other positions of the mechanism near by, with speeds that keep the loops closed."""
    for k in range(count):
        off_it = closing_position_moved_along_speeds(case.robot, case.q, case.N @ np.full(case.N.shape[1], 0.01 * k))
        q = denoc.assemble(case.robot, off_it)
        J, _ = case.loops.jacobian(q)
        _, s, V = np.linalg.svd(case.loops.scaled(J))
        N = case.loops.column_scale[:, None] * V[(s > 1e-9 * s.max()).sum() :].T
        qd = N @ np.linalg.lstsq(N, case.qd, rcond=None)[0]
        _, drift = case.loops.jacobian(q, qd)
        yield q, qd, case.N @ np.ones(case.N.shape[1]) - np.linalg.pinv(J, rcond=1e-9) @ drift


@pytest.mark.parametrize("how", [{}, PLANAR], ids=["spatial", "planar"])
@pytest.mark.parametrize("seed", range(10))
def test_reactions_by_dense_linear_algebra(seed, how):
    case = mechanism(seed, **how)
    robot, rng = case.robot, np.random.default_rng(seed)
    wrenches = {robot.links[k].name: rng.standard_normal(6) for k in {0, len(robot.links) - 1}}
    for given in ({}, wrenches):
        right = dense(case, *case.state, given)
        for backend in BACKENDS:
            with using_backend(backend):
                found = denoc.reactions(robot, *case.state, given or None)
                again = denoc.reactions(robot, *case.state, given or None)  # by the quick way, if there is one
            assert list(found) == list(right)
            for name, six in right.items():
                assert off(found[name], six, largest(right)) < 1e-10
                assert off(again[name], found[name], largest(right)) == 0.0


@pytest.mark.parametrize("how", [{}, PLANAR], ids=["spatial", "planar"])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.sampled(4)
def test_many_samples_are_as_one_by_one(seed, how):
    case = mechanism(seed, **how)
    many = [np.array(x) for x in zip(*motions(case, 9))]
    wrenches = {case.robot.links[-1].name: np.random.default_rng(1).standard_normal((9, 6))}
    found = {}
    for backend in BACKENDS:
        with using_backend(backend):
            found[backend] = denoc.reactions(case.robot, *many, wrenches)
    for n in (0, 4, 8):
        one = dense(case, *(x[n] for x in many), {link: six[n] for link, six in wrenches.items()})
        for name, six in one.items():
            for backend in BACKENDS:
                assert off(found[backend][name][n], six, largest(one)) < 1e-10
    for name, six in found["plain"].items():
        assert off(found["compiled"][name], six, largest(found["plain"])) < 1e-13 * condition(case)


def condition(case):
    """How much the multipliers can amplify rounding."""
    s = np.linalg.svd(case.loops.scaled(case.loops.jacobian(case.q)[0]), compute_uv=False)
    return s.max() / s[s > 1e-8 * s.max()].min()


@pytest.mark.parametrize("how", [{}, PLANAR], ids=["spatial", "planar"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5])
@pytest.mark.sampled(2)
def test_transmitted_forces_have_the_least_norm(seed, how):
    """Those of a simulation, whose actuators' forces are known: by the pseudo-inverse."""
    case = mechanism(seed, **how)
    q = np.array([q for q, _, _ in motions(case, 9)])
    J, _ = case.loops.jacobian(q)
    left = np.einsum("nmk,nm->nk", J, np.random.default_rng(seed).standard_normal((9, case.loops.m)))
    right = apart(case.loops, q, left)
    for backend in BACKENDS:
        with using_backend(backend):
            assert (
                off(mechanism_multiplier_texts(case.loops).rows({"q": q, "tau": left}), right)
                < 1e-13 * condition(case) ** 2
            )


def test_limits_of_actuators_hold_at_every_call():
    """Crank and rocker of a four-bar share its work; the crank can do less than it would."""
    data = yamls.load(find_library_file("four-bar", "robots").read_text())
    next(link for link in data["links"] if link["name"] == "rocker")["joint"]["actuated"] = True
    free = denoc.loads(yamls.dump(data))
    q, still = denoc.assemble(free, free.q0), np.zeros(free.nv)
    crank, rocker = denoc.inverse(free, q, still, still)
    most = abs(crank) / 2
    data["links"][0]["joint"]["effort"] = {"limits": [-float(most), float(most)]}
    robot = denoc.loads(yamls.dump(data))
    for backend in BACKENDS:
        with using_backend(backend):
            for _ in range(3):
                u = denoc.inverse(robot, q, still, still)
                assert abs(u[0]) == pytest.approx(most, rel=1e-12)
                found = denoc.reactions(robot, q, still, still)
                assert abs(found[robot.links[0].joint.name][2]) == pytest.approx(most, rel=1e-12)  # about its axis
                many = denoc.reactions(robot, *(np.array([x] * 9) for x in (q, still, still)))
                for name, six in found.items():
                    assert off(many[name], np.array([six] * 9), largest(found)) < 1e-12
    assert abs(u[1]) > abs(rocker)


def test_no_sample_has_no_reactions():
    robot = denoc.load("four-bar")
    none = np.empty((0, robot.nv))
    assert {six.shape for six in denoc.reactions(robot, none, none, none).values()} == {(0, 6)}
