"""Joints that have next to nothing to accelerate are named; what is merely small is not taken for nothing."""

from types import SimpleNamespace

import numpy as np
import pytest

import denoc
from denoc.machine.backend import choice
from denoc.mechanics.tree.vanishing import doubtful_joint_pivots, joints_of_vanishing_inertia
from denoc.scenario.course import _trusted

# yaw, pitch and roll about one point; only the last link has an inertia, so that yaw and roll can't be told apart
# where the pitch is 90 degrees: with skew first axes, rounding leaves a little of the pivot there
WRIST = """
name: wrist
convention: frames
gravity: [0, 0, -9.81]
links:
  - {name: yaw, joint: {name: yaw, type: revolute, rpy: [0.3, 0.5, 0.7]}, mass: 0}
  - {name: pitch, joint: {name: pitch, type: revolute, rpy: [1.5707963267948966, 0, 0]}, mass: 0}
  - name: hand
    joint: {name: roll, type: revolute, rpy: [-1.5707963267948966, 0, 0]}
    mass: 1
    com: [0.05, 0.02, 0.1]
    inertia: {xx: 0.01, yy: 0.012, zz: 0.008, xy: 0.001}
"""
LOCKED, FREE = [0.4, 0.0, 1.1], [0.4, 0.9, 1.1]  # the roll's axis is the yaw's where the pitch is 0
NAMED = "`(yaw|pitch|roll)` has nothing to accelerate, or next to nothing"


def turntable(small, rotor):
    """A heavy rotor on a small turntable about the same axis."""
    return denoc.loads(f"""
name: turntable
convention: frames
links:
  - {{name: table, joint: {{name: table, type: revolute, xyz: [0, 0, 1]}}, mass: 0, inertia: {{xx: 0, yy: 0, zz: {small}}}}}
  - {{name: rotor, joint: {{name: rotor, type: revolute}}, mass: 1, com: [0, 0, 0], inertia: {{xx: {rotor}, yy: {rotor}, zz: {rotor}}}}}
""")


def test_a_pivot_of_rounding_is_refused_by_name():
    robot, rest = denoc.loads(WRIST), [0.0] * 3
    with pytest.raises(denoc.NumericalError, match=NAMED):
        denoc.forward(robot, LOCKED, rest, rest)
    with pytest.raises(denoc.NumericalError, match=NAMED):
        denoc.hybrid(robot, LOCKED, rest, [np.nan] * 3, rest)
    # with the yaw's motion given, the two others have their own to accelerate
    qdd, tau = denoc.hybrid(robot, LOCKED, rest, [0, np.nan, np.nan], [np.nan, 0, 0])
    np.testing.assert_allclose(denoc.inverse(robot, LOCKED, rest, qdd), tau, atol=1e-12)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_pivot_that_is_lost_later_is_refused_too(backend):
    """The first sample is sound; one among many later ones isn't, nor is one that is asked for alone."""
    robot, rest = denoc.loads(WRIST), np.zeros(3)
    many = np.array([FREE] * 40 + [LOCKED] + [FREE] * 9)
    with choice.using_backend(backend):
        for _ in range(3):
            sound = denoc.forward(robot, np.array(FREE), rest, rest)
        np.testing.assert_allclose(denoc.inverse(robot, np.array(FREE), rest, sound), rest, atol=1e-12)
        np.testing.assert_allclose(denoc.forward(robot, many[:40], rest, rest), [sound] * 40, rtol=1e-9)
        for q in (many, np.array(LOCKED)):
            with pytest.raises(denoc.NumericalError, match=NAMED):
                denoc.forward(robot, q, rest, rest)


def test_a_run_that_starts_there_says_so_and_keeps_its_row():
    run = denoc.run({"task": "simulate", "time": {"end": 1}, "initial": {"pitch": 0.0}}, denoc.loads(WRIST))
    assert run.ended == "failed"
    assert len(run.t) == 1
    assert "`yaw` has nothing to accelerate, or next to nothing" in run.record["reason"]


@pytest.mark.parametrize(
    ("largest", "idle", "ended"), [(1e12, True, "failed"), (1e12, False, "done"), (1e3, True, "done")]
)
def test_rows_with_enormous_accelerations_of_nothing_are_no_result(largest, idle, ended):
    """Where the integrator has stepped over such a position: only where a joint has nothing to accelerate."""
    robot = denoc.loads(WRIST)
    run = SimpleNamespace(
        without_inertia=lambda t, y, discrete: [robot.joint("yaw")] if (t, y) == (2.0, "third") and idle else []
    )
    trace = SimpleNamespace(t=[0.0, 1.0, 2.0], states=["first", "second", "third"], discrete=[None] * 3, ended="done")
    _trusted(run, trace, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, -largest]]))
    assert trace.ended == ended
    if ended == "failed":
        assert trace.reason.startswith("at t = 2 s: `yaw` has nothing to accelerate")


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_enormous_accelerations_are_looked_at_wherever_they_come(backend):
    """A pitch of 3e-6 leaves 1e-11 of the pivot: the numbers are finite, and all wrong."""
    robot, tau, rest = denoc.loads(WRIST), np.array([1.0, 2.0, 3.0]), np.zeros(3)
    near = np.array([0.4, 3e-6, 1.1])
    many = np.array([FREE] * 30 + [near] * 10)
    with choice.using_backend(backend):
        for _ in range(3):
            denoc.forward(robot, np.array(FREE), rest, tau)
            denoc.forward(robot, many[:30], rest, tau)
        for q in (near, many):
            with pytest.raises(denoc.NumericalError, match=NAMED):
                denoc.forward(robot, q, rest, tau)


FAINT = WRIST.replace("-9.81", "-1e-9")  # where the accelerations are no more conspicuous than any others
NEARLY = [0.4, 1e-7, 1.1]  # a pivot of some 1e-14 of the inertia


@pytest.mark.parametrize("backend, form", [("plain", "auto"), ("compiled", "straight"), ("compiled", "rolled")])
def test_a_pivot_is_missed_even_if_the_accelerations_are_small(backend, form):
    """What is divided by is watched itself: in one sample and in many, in derivatives and in linearised equations."""
    robot, rest = denoc.loads(FAINT), np.zeros(3)
    with choice.using_backend(backend, form):
        for q in (np.array(FREE), np.array([FREE] * 40)):
            denoc.forward(robot, q, rest, rest)
            denoc.derivatives(robot, q, rest, rest)
        for q in (np.array(NEARLY), np.array([FREE] * 20 + [NEARLY] + [FREE] * 19)):
            with pytest.raises(denoc.NumericalError, match=NAMED):
                denoc.forward(robot, q, rest, rest)
            with pytest.raises(denoc.NumericalError, match=NAMED):
                denoc.derivatives(robot, q, rest, rest)
        with pytest.raises(denoc.NumericalError, match=NAMED):
            denoc.linearize(robot, NEARLY)


def test_runs_side_by_side_are_refused_as_alone():
    scenario = {"task": "simulate", "time": {"end": 0.1}, "initial": dict(zip(("yaw", "pitch", "roll"), FREE))}
    lost, sound = denoc.ensemble(scenario, [{"initial.pitch": NEARLY[1]}, {}], denoc.loads(FAINT))
    assert (lost.ended, sound.ended) == ("failed", "done")
    assert "has nothing to accelerate, or next to nothing" in lost.record["reason"]


def test_runs_that_differ_in_their_start_alone_are_refused_as_alone():
    scenario = {"task": "simulate", "time": {"end": 0.1}, "initial": dict(zip(("yaw", "pitch", "roll"), FREE))}
    starts = [{"initial.pitch": pitch} for pitch in (FREE[1], NEARLY[1], FREE[1] + 0.1)]
    results = denoc.ensemble(scenario, starts, denoc.loads(FAINT))
    assert [result.ended for result in results] == ["done", "failed", "done"]


def test_derivatives_and_matrices_of_what_has_no_inertia_name_the_joint():
    robot = denoc.loads(
        WRIST.replace("    inertia: {xx: 0.01, yy: 0.012, zz: 0.008, xy: 0.001}\n", "").replace("mass: 1", "mass: 0")
    )
    rest = np.zeros(3)
    for backend in ("plain", "compiled"):
        with choice.using_backend(backend):
            for call in (denoc.forward, denoc.derivatives):
                with pytest.raises(denoc.NumericalError, match="`roll`, `pitch`, `yaw` have nothing to accelerate"):
                    call(robot, FREE, rest, rest)
            with pytest.raises(denoc.NumericalError, match="`roll`, `pitch`, `yaw` have nothing to accelerate"):
                denoc.matrices(robot, FREE)


@pytest.mark.parametrize("small, rotor", [(1e-18, 1.0), (1e-18, 1e-18), (1e-9, 1.0)])
def test_a_tiny_pivot_that_is_exact_is_none_of_these(small, rotor):
    """Of two wheels on one axis each has its own inertia: q̈ of the table is (τ₁ − τ₂) / small."""
    robot = turntable(small, rotor)
    found = denoc.forward(robot, [0.3, 0.4], [0, 0], [3 * small, small])
    np.testing.assert_allclose(found, [2.0, small / rotor - 2.0], rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["puma", "stanford", "planar3r", "tree", "rx90", "space-arm", "spherical-arm", "chain"]
)
@pytest.mark.parametrize("mass, length", [(1e-15, 1e-6), (1e-9, 1e-3), (1e6, 1.0), (1.0, 1e3)])
def test_scale_is_no_defect(name, mass, length):
    """No robot of the library, however small or large it is built, has a joint with nothing to accelerate."""
    from dataclasses import replace

    robot = denoc.load(name)
    inertia = mass * length**2
    bodies = tuple(
        replace(
            body,
            m=body.m * mass,
            h=tuple(x * mass * length for x in body.h),
            E=tuple(tuple(x * inertia for x in row) for row in body.E),
            origin=tuple(x * length for x in body.origin),
            drives=tuple(replace(drive, rotor=drive.rotor * inertia) for drive in body.drives),
        )
        for body in robot.tree.bodies
    )
    small = replace(robot, tree=replace(robot.tree, bodies=bodies), vouched=True)
    slides = [k for joint in robot.moving if joint.type.name == "prismatic" for k in joint.coordinates]
    q = np.array(robot.q0) + 0.3 * np.sin(np.arange(robot.nq))
    q[slides] *= length
    assert not joints_of_vanishing_inertia(small, q)


def test_a_share_that_only_squares_of_rounding_errors_leave_is_nothing():
    """It is nothing even where it is the same beside; a small inertia of a tiny link stays what it is."""
    shares = np.array([1e-30, 1e-12, 0.1]), np.ones(3)
    assert doubtful_joint_pivots([0.1, 0.2, 0.3], lambda q: shares, 3) == [0]


def test_a_long_chain_is_no_defect():
    """The first of 1500 like rods has a share of some 1e-9 left; its accelerations are as good as any."""
    robot = denoc.loads("""
name: chain
convention: dh
gravity: [0, -9.81, 0]
links:
  - repeat: 1500
    links:
      - name: rod{k}
        joint: {type: revolute, a: 0.1}
        mass: 0.1
        com: [0.05, 0, 0]
        inertia: {xx: 1e-6, yy: 1e-4, zz: 1e-4}
""")
    assert not joints_of_vanishing_inertia(robot, np.full(robot.nq, 0.01))


@pytest.mark.parametrize(("pitch", "lost"), [(0.0, True), (3e-6, True), (-3e-6, True), (1e-4, False)])
def test_what_is_left_of_a_pivot_decides(pitch, lost):
    """Of the inertia that yaw feels, the square of the pitch is left when roll gives way: 1e-11 and 1e-8."""
    robot = denoc.loads(WRIST)
    for yaw, roll in np.random.default_rng(0).uniform(-3, 3, (12, 2)):
        assert bool(joints_of_vanishing_inertia(robot, [yaw, pitch, roll])) == lost


def test_the_longer_the_chain_the_smaller_the_pivots():
    """Of n like rods the first one's share is 3/n³; that it is no rounding can't be told by moving a little."""

    def shares(q):
        return np.array([3 / 5000**3 * (1 + 1e4 * q[0])]), np.ones(1)

    assert doubtful_joint_pivots([0.0], shares, 10) == [0]
    assert doubtful_joint_pivots([0.0], shares, 5000) == []


def test_all_that_have_nothing_are_named():
    """Two massless leaves on one hand; what is behind them is sound."""
    leaf = "{{name: {0}, parent: hand, joint: {{name: {0}, type: revolute, xyz: [0.1, 0, 0]}}, mass: 0}}"
    text = WRIST.replace("mass: 0}", "mass: 1, com: [0.1, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}")
    robot = denoc.loads(text + "".join(f"  - {leaf.format(name)}\n" for name in ("thumb", "finger")))
    assert [joint.name for joint in joints_of_vanishing_inertia(robot, [*FREE, 0.0, 0.0])] == ["finger", "thumb"]
    with pytest.raises(denoc.NumericalError, match="`finger`, `thumb` have nothing to accelerate"):
        denoc.forward(robot, [*FREE, 0, 0], [0] * 5, [0] * 5)
