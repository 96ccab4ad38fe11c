"""Derivatives by dual numbers are those of forward dynamics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import denoc
import references
from comparing import off, off_accelerations
from denoc.machine.backend import using_backend
from denoc.mechanics.quantities import derivatives as slopes
from denoc.mechanics.quantities import subject
from displacing import eighth_order, moved, state
from random_robots import Drawn, drawn

pytestmark = pytest.mark.smoke

laws = settings()  # those of the tier
seeds = given(seed=st.integers(0, 2**32 - 1))
ROBOTS = ("puma", "tree", "spherical-arm", "space-arm", "elastic-arm", "planar3r")


@pytest.mark.parametrize("name", ROBOTS)
def test_differences_of_forward_dynamics(name):
    robot = denoc.load(name)
    q, qd, tau = state(robot)
    found = denoc.derivatives(robot, q, qd, tau)
    np.testing.assert_allclose(found["qdd"], denoc.forward(robot, q, qd, tau), rtol=1e-12)
    unit = np.eye(robot.nv)
    ways = {
        "dq": lambda k: lambda h: denoc.forward(robot, moved(robot, q, k, h), qd, tau),
        "dqd": lambda k: lambda h: denoc.forward(robot, q, qd + h * unit[k], tau),
        "dtau": lambda k: lambda h: denoc.forward(robot, q, qd, tau + h * unit[k]),
    }
    for key, way in ways.items():
        expected = np.array([eighth_order(way(k)) for k in range(robot.nv)]).T
        assert abs(found[key] - expected).max() < 1e-8 * abs(expected).max(), key


@pytest.mark.parametrize("name", ROBOTS)
def test_forces_act_through_the_inverse_inertia(name):
    robot = denoc.load(name)
    q, qd, tau = state(robot)
    I = denoc.inertia(robot, q)
    product_ = denoc.derivatives(robot, q, qd, tau)["dtau"] @ I
    assert abs(product_ - np.eye(robot.nv)).max() < 1e-14 * np.linalg.cond(I) + 1e-12


@pytest.mark.parametrize("name", sorted(set(references.names(has=["cqd"])) - {"chain100"}))  # 300 directions are slow
@pytest.mark.sampled(2)
def test_the_references_accelerations_and_inertia(name):
    """What duals carry is the files' acceleration; its slope in the forces is the inverse of the files' inertia."""
    case = references.case(name)
    robot = denoc.loads(references.robot_text(case))
    for one in case["states"][:3]:
        found = denoc.derivatives(robot, one["q"], one["qd"], one["tau_fd"])
        expected = np.array(one["qdd_fd"])
        if "wrench" not in one:
            worth = references.tolerance(case, "accelerations") * max(abs(expected).max(), 1e-6)
            assert abs(found["qdd"] - expected).max() <= worth
        I = references.inertia_matrix(one)
        assert abs(found["dtau"] @ I - np.eye(robot.nv)).max() <= 1e-13 * np.linalg.cond(I) + 1e-11


def test_many_states_at_once():
    robot = denoc.load("puma")
    rng = np.random.default_rng(1)
    q, qd, tau = rng.normal(size=(3, 4, 6))
    many = denoc.derivatives(robot, q, qd, tau)
    for k in range(4):
        one = denoc.derivatives(robot, q[k], qd[k], tau[k])
        for key in one:
            np.testing.assert_allclose(many[key][k], one[key], rtol=1e-12, atol=1e-12)


@settings(laws, max_examples=6)
@seeds
def test_compiled_code_is_the_plain_text(seed):
    """Of random trees of every joint type, friction and springs and wrenches included, in lanes and one at a time."""
    case = drawn(seed, links=(1, 4))
    rng = np.random.default_rng(1)
    states = [Drawn(case.file, rng) for _ in range(11)]  # a full set of lanes and a part of one
    q, qd, tau = (np.array([getattr(state, key) for state in states]) for key in ("q", "qd", "tau"))
    worth = 10 * max(off_accelerations(I) for I in denoc.inertia(case.robot, q))
    found = {}
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            many = denoc.derivatives(case.robot, q, qd, tau)
            one = denoc.derivatives(case.robot, q[-1], qd[-1], tau[-1])
        found[backend] = {name: np.concatenate([block, one[name][None]]) for name, block in many.items()}
    for name, block in found["plain"].items():
        off = abs(found["compiled"][name] - block).max(initial=0.0)
        assert off <= max(worth, 1e-11) * max(abs(block).max(initial=0.0), 1e-6), name


@pytest.mark.parametrize("most", [2, 1000])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.sampled(6)
def test_linearised_equations_are_made_of_the_derivatives(seed, most, monkeypatch):
    """Compiled or not, in a loop over columns or not; `tau` is what inverse dynamics asks of the actuators."""
    monkeypatch.setattr(subject, "MANY", most)
    case = drawn(seed, links=(1, 4))
    robot, n = case.robot, case.robot.nv
    actuated = [k for joint in robot.moving if joint.actuated for k in joint.speeds]
    holding = np.where(np.isin(np.arange(n), actuated), denoc.bias(robot, case.q, case.qd), 0.0)
    worth = max(off_accelerations(denoc.inertia(robot, case.q)), 1e-11)
    for forces, tau in (((), holding), ((case.tau,), case.tau)):
        with using_backend("plain"):
            right = denoc.derivatives(robot, case.q, case.qd, tau)
        for backend in ("plain", "compiled", "auto"):
            with using_backend(backend):
                found = denoc.linearize(robot, case.q, case.qd, *forces)
            assert found["actuated"] == tuple(actuated)
            assert found["independent"] == tuple(range(n))
            assert found["equilibrium"] is False
            assert off(found["tau"], tau) < 1e-12
            assert off(found["qdd"], right["qdd"]) <= worth
            assert off(found["A"][n:], np.hstack([right["dq"], right["dqd"]])) <= 10 * worth
            assert off(found["B"][n:], right["dtau"][:, actuated]) <= 10 * worth
            assert (found["A"][:n, n:] == np.eye(n)).all()
            assert not found["B"][:n].any()


def test_an_equilibrium_has_no_speeds_and_no_accelerations():
    robot = denoc.load("puma")
    rest, little = np.zeros(6), np.array([0.0, 0.0, 1e-200, 0.0, 0.0, 0.0])
    held = denoc.linearize(robot, robot.q0)["tau"]
    for backend in ("plain", "compiled", "auto"):
        with using_backend(backend):
            for qd, tau, right in (
                (None, None, True),
                (rest, held, True),
                (little, held, False),
                (None, held + 1e-3, False),
            ):
                assert denoc.linearize(robot, robot.q0, qd, tau)["equilibrium"] is right


def test_pinocchios_analytic_derivatives():
    pin = pytest.importorskip("pinocchio")
    robot = denoc.load("puma")
    model, joint, placement = pin.Model(), 0, pin.SE3.Identity()
    for link in robot.links:
        joint = model.addJoint(joint, pin.JointModelRZ(), placement, link.joint.name)
        model.appendBodyToJoint(
            joint, pin.Inertia(link.mass, np.array(link.com), np.array(link.inertia)), pin.SE3.Identity()
        )
        placement = pin.SE3(link.end.rotation(), np.array(link.end.origin))
    data = model.createData()
    q, qd, tau = state(robot)
    pin.computeABADerivatives(model, data, q, qd, tau)
    found = denoc.derivatives(robot, q, qd, tau)
    for key, expected in (("dq", data.ddq_dq), ("dqd", data.ddq_dv)):
        assert abs(found[key] - expected).max() < 1e-11 * abs(expected).max()


def test_small_swings_of_a_pendulum():
    robot = denoc.loads("""
name: pendulum
convention: dh
gravity: [0, -9.81, 0]
links:
  - {name: rod, joint: {type: revolute, a: 2, theta: -pi/2}, mass: 3, com: [2, 0, 0]}
""")
    found = denoc.linearize(robot, robot.q0)
    assert found["equilibrium"]
    np.testing.assert_allclose(found["A"], [[0, 1], [-9.81 / 2, 0]], atol=1e-14)
    np.testing.assert_allclose(found["B"], [[0], [1 / 12]], atol=1e-15)


def test_a_turning_top_precesses_in_the_linearised_equations():
    """Directions that turn with the body: dδ/dt = −ω × δ + δω."""
    robot = denoc.loads("""
name: ball
convention: frames
gravity: [0, 0, 0]
links:
  - {name: ball, joint: {type: spherical, actuated: true}, mass: 1, com: [0, 0, 0], inertia: {xx: 2, yy: 2, zz: 2}}
""")
    found = denoc.linearize(robot, robot.q0, [0, 0, 3.0])
    np.testing.assert_allclose(found["A"][:3, :3], [[0, 3, 0], [-3, 0, 0], [0, 0, 0]], atol=1e-15)
    assert not found["A"][3:].any()


FLOATING = """
name: floating
convention: frames
gravity: [0.3, -0.4, -9.81]
links:
  - {{name: hull, joint: {{type: {root}}}, mass: 4, com: [0.1, 0.2, -0.1], inertia: {{xx: 1, yy: 2, zz: 2.5, xy: 0.1}}}}
  - name: arm
    joint: {{type: revolute, axis: [0, 1, 0], xyz: [0.3, 0, 0.1], friction: {{viscous: 0.2}}}}
    mass: 2
    com: [0.2, 0.1, 0]
    inertia: {{xx: 0.1, yy: 0.2, zz: 0.2, yz: 0.05}}
  - name: ball
    parent: base
    joint: {{type: free}}
    mass: 1
    com: [0.1, 0, 0]
    inertia: {{xx: 0.1, yy: 0.1, zz: 0.1}}
{more}
"""
SHIFTED, TURNED = {0, 1, 2}, {3, 4, 5}  # the base's speeds
BALL = {7, 8, 9, 10, 11, 12}
ROOTS = {  # the joint's text, more of the file, and the base's directions of q and q̇ that are seen at once
    "free": ("free", "", SHIFTED | TURNED, SHIFTED),
    "damped": ("free, friction: {viscous: 0.5}", "", set(), set()),
    "sprung": ("free, spring: {stiffness: 3}", "", set(), set()),
    "pushed in its own axes": (
        "free",
        "wrenches: [{link: arm, force: [1, 2, 3], moment: [4, 5, 6], axes: link}]",
        SHIFTED | TURNED,
        SHIFTED,
    ),
    "pushed in the base's axes": (
        "free",
        "wrenches: [{link: arm, force: [1, 2, 3], moment: [4, 5, 6], axes: base}]",
        None,
        None,
    ),
}


@pytest.mark.parametrize("name", ROOTS)
def test_a_base_that_floats_does_not_notice_which_way_it_falls(name, monkeypatch):
    """Columns that are seen at once are those of duals, and nothing else is said to be seen."""
    root, more, places, rates = ROOTS[name]
    robot = denoc.loads(FLOATING.format(root=root, more=more))
    n, (q, qd, tau) = robot.nv, state(robot)
    expected = set()
    if places is not None:
        expected = places | {n + k for k in rates} | BALL | {n + k for k in BALL if k < 10}
    seen = []
    at_once = slopes.slopes_of_free_bases
    monkeypatch.setattr(slopes, "slopes_of_free_bases", lambda *given: seen.append(at_once(*given)) or seen[-1])
    with using_backend("plain"):
        found = denoc.derivatives(robot, q, qd, tau)
        assert {k for known in seen for k in known} == expected
        monkeypatch.setattr(slopes, "slopes_of_free_bases", lambda *given: {})
        right = denoc.derivatives(robot, q, qd, tau)
    for key, x in right.items():
        assert off(found[key], x) < 1e-13, key
    monkeypatch.setattr(slopes, "slopes_of_free_bases", at_once)
    for most in (2, 1000):  # in a loop over columns or not
        monkeypatch.setattr(subject, "MANY", most)
        with using_backend("compiled"):
            compiled = denoc.derivatives(denoc.loads(FLOATING.format(root=root, more=more)), q, qd, tau)
        for key, x in right.items():
            assert off(compiled[key], x) < 1e-13, key
