"""Couplings: two geared pendulums against their one equation of motion."""

import numpy as np
import pytest

import denoc

pytestmark = pytest.mark.smoke

GEARS = """
name: gears
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: one, parent: base, joint: {type: revolute, name: a}, mass: 1, com: [0.2, 0, 0],
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {name: two, parent: base, joint: {type: revolute, name: b, xyz: [1, 0, 0]}, mass: 2, com: [0.1, 0, 0],
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
couplings:
  - {joint: b, to: a, ratio: -2, offset: 0.3}
"""
INERTIA = (0.1 + 0.04) + 4 * (0.1 + 0.02)


def weight(q):
    """The moment of both weights about the first axle, by virtual work."""
    return -1 * 0.2 * 9.81 * np.cos(q) + 2 * (2 * 0.1 * 9.81 * np.cos(0.3 - 2 * q))


def test_simulation():
    table = denoc.run(
        {"robot": "gears", "task": "simulate", "time": {"end": 1, "step": 0.1}}, robot=denoc.loads(GEARS)
    ).table
    assert table["b.q"] == pytest.approx(0.3 - 2 * table["a.q"], abs=1e-14)
    assert table["b.qd"] == pytest.approx(-2 * table["a.qd"], abs=1e-13)
    assert table["a.qdd"] == pytest.approx(weight(table["a.q"]) / INERTIA, abs=1e-12)


def test_calls():
    robot = denoc.loads(GEARS)
    assert [joint.name for joint in robot.moving if joint.actuated] == ["a"]  # who follows has no actuator of its own
    a, rate, second = 0.7, -1.3, 2.1
    q, qd, qdd = np.array([a, 0.3 - 2 * a]), np.array([rate, -2 * rate]), np.array([second, -2 * second])
    assert denoc.inverse(robot, q, qd, qdd) == pytest.approx([INERTIA * second - weight(a)], abs=1e-13)
    I, h = denoc.reduced(robot, q, qd)
    assert float(I[0, 0]) == pytest.approx(INERTIA, abs=1e-14)
    assert h == pytest.approx([-weight(a)], abs=1e-13)
    tau = np.array([0.4, 0.2])  # the second wheel's torque counts −2 times
    assert denoc.forward(robot, q, qd, tau)[0] == pytest.approx((0.4 - 2 * 0.2 + weight(a)) / INERTIA, abs=1e-12)
    with pytest.raises(denoc.DenocError, match="a coupling isn't kept"):
        denoc.inverse(robot, np.add(q, [0, 0.1]), qd, qdd)


DIFFERENTIAL = (
    GEARS[: GEARS.index("couplings:")]
    + """  - {name: three, parent: base, joint: {type: revolute, name: c, xyz: [2, 0, 0]}, mass: 1.5, com: [0, 0.2, 0],
     inertia: {xx: 0.1, yy: 0.1, zz: 0.2}}
couplings:
  - {joint: c, to: [a, b], ratio: [0.5, -1.5], offset: 0.1}
"""
)


def test_a_joint_may_follow_the_sum_of_others():
    """By Lagrange: the third shaft's inertia and weight in the coordinates of the two that lead."""
    robot = denoc.loads(DIFFERENTIAL)
    assert [joint.name for joint in robot.moving if joint.actuated] == ["a", "b"]
    a, b = 0.4, -0.7
    q = denoc.assemble(robot, [a, b, 0.0])
    c = 0.5 * a - 1.5 * b + 0.1
    assert q == pytest.approx([a, b, c], abs=1e-14)
    r = np.array([0.5, -1.5])
    I, h = denoc.reduced(robot, q, np.zeros(3))
    np.testing.assert_allclose(I, np.diag([0.14, 0.12]) + (0.2 + 1.5 * 0.04) * np.outer(r, r), atol=1e-13)
    weights = np.array([0.2 * np.cos(a), 2 * 0.1 * np.cos(b)]) - 1.5 * 0.2 * np.sin(c) * r
    assert h == pytest.approx(9.81 * weights, abs=1e-13)
    table = denoc.run({"robot": "gears", "task": "simulate", "time": {"end": 0.5, "step": 0.1}}, robot=robot).table
    assert table["c.q"] == pytest.approx(0.5 * table["a.q"] - 1.5 * table["b.q"] + 0.1, abs=1e-12)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{joint: c, to: [a, b], ratio: 2}", "each joint that leads needs a ratio"),
        ("{joint: c, to: [a, a], ratio: [1, 2]}", "`a` leads twice"),
        ("{joint: c, to: [a, c], ratio: [1, 2]}", "coupled to itself"),
        ("{joint: c, to: [], ratio: []}", "must not be empty"),
        ("{joint: c, to: [a, d], ratio: [1, 2]}", "no such joint"),
        ("{joint: c, to: [a, b], ratio: [1, 2]}\n  - {joint: a, to: [b, c], ratio: [1, 1]}", "round in a circle"),
    ],
)
def test_sums_that_make_no_sense_are_refused(entry, words):
    text = DIFFERENTIAL[: DIFFERENTIAL.index("  - {joint: c, to")] + f"  - {entry}\n"
    with pytest.raises(denoc.DenocError) as caught:
        denoc.loads(text)
    assert words in str(caught.value)


GRIPPER = """
name: gripper
convention: frames
links:
  - {name: l, joint: {type: prismatic, name: lj, actuated: true}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
  - {name: r, parent: base, joint: {type: revolute, name: rj}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
couplings: [{joint: rj, to: lj, ratio: -2, offset: 0.5}]
"""


def said_by(call):
    with pytest.raises(denoc.DenocError) as caught:
        call()
    assert "loop" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("call", ["inverse", "forward"])
def test_values_that_do_not_fit_a_coupling_are_told_with_those_that_do(call):
    """Not as loops, of which the robot has none; the values that are told fit."""
    robot, zero = denoc.loads(GRIPPER), [0.0, 0.0]
    words = said_by(lambda: getattr(denoc, call)(robot, [0.1, 0.2], zero, zero))
    assert "a coupling isn't kept at this `q`" in words
    assert "`rj` at 0.2 rad; coupled to `lj` at 0.1 m it has to be at 0.3 rad" in words
    words = said_by(lambda: getattr(denoc, call)(robot, [0.1, 0.3], [1, 0], zero))
    assert "these speeds don't fit a coupling" in words
    assert "`rj` at 0 rad/s; coupled to `lj` at 1 m/s it has to be at -2 rad/s" in words
    assert np.isfinite(getattr(denoc, call)(robot, [0.1, 0.3], [1, -2], zero)).all()
    widest = [[0.1, 0.3], [0.2, 0.1], [0.3, -0.4]]  # of many samples the worst one is told
    assert "`lj` at 0.3 m it has to be at -0.1 rad" in said_by(
        lambda: getattr(denoc, call)(robot, widest, np.zeros((3, 2)), np.zeros((3, 2)))
    )


RUN = {"task": "simulate", "time": {"end": 1, "step": 0.5}}


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ({"initial": {"lj": 0.1, "rj": 0.1}}, "its place follows from the couplings and what else is given"),
        ({"rates": {"lj": 1, "rj": 1}}, "its speed follows from the couplings and what else is given"),
        (
            {"task": "inverse", "motion": {"lj": {"law": "hold"}, "rj": {"law": "hold"}}},
            "the motion of `rj` follows from the couplings and what else is prescribed",
        ),
    ],
)
def test_scenarios_are_told_of_couplings(scenario, words):
    assert words in said_by(lambda: denoc.run({**RUN, **scenario}, denoc.loads(GRIPPER)))


def test_calls_of_trees_are_told_of_couplings():
    robot, zero = denoc.loads(GRIPPER), [0.0, 0.0]
    assert "gripper has couplings; `hybrid`" in said_by(lambda: denoc.hybrid(robot, *[zero] * 4))
    words = said_by(lambda: denoc.adjoint(robot, [0.1, 0.3], zero, zero, zero, inertial=True))
    assert "gripper has couplings; derivatives along" in words


def test_inspect_speaks_of_couplings(tmp_path, command_line):
    (tmp_path / "g.yaml").write_text(GRIPPER)
    _, out, _ = command_line("inspect", tmp_path / "g.yaml")
    assert "the couplings hold all bodies together" in out
    assert [line for line in out.splitlines() if "loop" in line] == [
        "2 links, 0 independent loops; gravity [0, 0, -9.81] m/s²"
    ]
    both = denoc.load("four-bar")
    assert (both.ties_in_words, denoc.loads(GRIPPER).ties_in_words) == ("loops", "couplings")
