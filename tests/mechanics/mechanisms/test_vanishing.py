"""Freedoms of a mechanism that have next to nothing to accelerate are named."""

import numpy as np
import pytest

import denoc
from denoc.machine.backend import choice
from denoc.mechanics.closure.partition import Partition

# a crank and a rocker, joined by a rod between two spherical joints; the rod lies askew in its own frame
LENGTH = 0.11
ROD = """
name: askew
convention: frames
gravity: [0, 0, -9.81]
links:
  - name: crank
    joint: {{name: drive, type: revolute, xyz: [-0.13, -0.02, -0.02], rpy: [0.5, 0, 0], actuated: true}}
    mass: 0.045
    com: [0.025, 0, 0]
    inertia: {{xx: 0.00001, yy: 0.0001, zz: 0.0001}}
  - name: rod
    joint: {{name: ball, type: spherical, xyz: [0.05, 0, 0]}}
    mass: 0.091
    com: [{c}, {c}, {c}]
    inertia: {{xx: {d}, yy: {d}, zz: {d}, xy: {p}, xz: {p}, yz: {p}}}
  - name: rocker
    parent: base
    joint: {{name: rocker, type: revolute}}
    mass: 0.084
    com: [0.05, 0, 0]
    inertia: {{xx: 0.00001, yy: 0.001, zz: 0.001}}
loops:
  - {{name: far, joint: spherical, between: [rocker, rod], first: {{at: [0.1, 0, 0]}}, second: {{at: [{e}, {e}, {e}]}}}}
assembly: {{ball: [1, 0, 0, 0], rocker: 2.1}}
"""


def rod(thickness):
    """The mechanism with a rod of this moment of inertia about its own axis."""
    along = LENGTH / np.sqrt(3)
    across = 0.091 * LENGTH**2 / 12  # I = across (1 − u uᵀ) + thickness u uᵀ, u = (1, 1, 1)/√3
    d, p = across * 2 / 3 + thickness / 3, (thickness - across) / 3
    return denoc.loads(ROD.format(c=along / 2, e=along, d=d, p=p))


def forward(robot):
    q, rest = denoc.assemble(robot, robot.q0), np.zeros(robot.nv)
    return denoc.forward(robot, q, rest, rest)


def test_a_rod_that_spins_without_inertia_is_refused_by_name():
    with pytest.raises(denoc.NumericalError, match="`ball` has nothing to accelerate, or next to nothing"):
        forward(rod(0.0))
    run = denoc.run({"task": "simulate", "time": {"end": 0.1}}, rod(0.0))
    assert run.ended == "failed"
    assert "`ball` has nothing to accelerate" in run.record["reason"]


def test_a_thin_rod_is_as_good_as_any():
    """How much the rod resists its idle spin changes no other acceleration."""
    thin, thick = forward(rod(1e-11)), forward(rod(1e-6))
    np.testing.assert_allclose(thin[[0, 4]], thick[[0, 4]], rtol=1e-6)


# a wrist without inertia but in its hand, on the rocker: yaw and roll turn about one axis where the pitch is 0
WRIST = """
  - {{name: yaw, parent: rocker, joint: {{name: yaw, type: revolute, rpy: [0.3, 0.5, 0.7]}}, mass: 0}}
  - {{name: pitch, joint: {{name: pitch, type: revolute, rpy: [1.5707963267948966, 0, 0]}}, mass: 0}}
  - name: hand
    joint: {{name: roll, type: revolute, rpy: [-1.5707963267948966, 0, 0]}}
    mass: 1e-3
    com: [0.05, 0.02, 0.1]
    inertia: {{xx: 1e-5, yy: 1.2e-5, zz: 8e-6}}
loops:"""


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_a_freedom_that_is_lost_later_is_refused_even_if_the_accelerations_are_small(backend):
    text = ROD.replace("loops:", WRIST.strip("\n")).replace("-9.81", "-1e-9")
    along = LENGTH / np.sqrt(3)
    robot = denoc.loads(text.format(c=along / 2, e=along, d=1e-4, p=0))
    rest, q = np.zeros(robot.nv), np.array(denoc.assemble(robot, robot.q0))
    wrist = list(robot.joint("yaw").coordinates + robot.joint("pitch").coordinates + robot.joint("roll").coordinates)
    sound, lost = q.copy(), q.copy()
    sound[wrist], lost[wrist] = [0.4, 0.9, 1.1], [0.4, 1e-7, 1.1]
    with choice.using_backend(backend):
        for call in (denoc.forward, denoc.derivatives):
            call(robot, np.array([sound] * 20), rest, rest)
            call(robot, sound, rest, rest)
            for where in (lost, np.array([sound] * 9 + [lost])):
                with pytest.raises(denoc.NumericalError, match=r"`(yaw|roll)` has nothing to accelerate"):
                    call(robot, where, rest, rest)
        with pytest.raises(denoc.NumericalError, match=r"`(yaw|roll)` has nothing to accelerate"):
            denoc.linearize(robot, lost, tau=rest)


def test_a_row_of_a_null_space_along_one_speed_may_be_turned_round():
    """As that of a pendulum beside a loop may be, in a singular value decomposition."""
    part = Partition((), (), ((0.0, -1.0, 0.0), (0.6, 0.0, 0.8), (0.0, 0.0, 1.0)), (), ())
    assert part.independent == [2]
