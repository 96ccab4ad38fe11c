"""Viscous friction and rotors of spherical and free joints act along each of their speeds."""

import numpy as np
import pytest

import denoc
from denoc.errors import InputError

ROBOT = """
name: ball
convention: frames
links:
  - {{name: a, joint: {{type: {0}, name: j{1}}}, mass: 2, com: [0.1, 0.2, -0.1], inertia: {{xx: 0.3, yy: 0.2, zz: 0.4}}}}
  - {{name: b, joint: {{type: revolute, xyz: [0, 0, 0.4], axis: [1, 1, 0]}}, mass: 1, com: [0, 0, 0.3],
     inertia: {{xx: 0.1, yy: 0.1, zz: 0.02}}}}
"""


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_along_each_speed(kind):
    bare, full = (
        denoc.loads(ROBOT.format(kind, text)) for text in ("", ", friction: {viscous: 0.7}, rotor_inertia: 0.05")
    )
    n, rng = full.nv - 1, np.random.default_rng(2)
    q = np.array(full.q0) + rng.uniform(-0.5, 0.5, full.nq)
    e = list(full.moving[0].coordinates)[-4:]
    q[e] /= np.linalg.norm(q[e])
    qd, qdd = rng.uniform(-1, 1, (2, full.nv))
    more = np.append(0.7 * qd[:n] + 0.05 * qdd[:n], 0.0)
    h = denoc.bias(full, q, qd)
    np.testing.assert_allclose(h, denoc.bias(bare, q, qd) + np.append(0.7 * qd[:n], 0.0), atol=1e-13)
    rotors = np.diag([0.05] * n + [0.0])
    np.testing.assert_allclose(denoc.inertia(full, q), denoc.inertia(bare, q) + rotors, atol=1e-14)
    tau = denoc.inertia(bare, q) @ qdd + denoc.bias(bare, q, qd) + more
    np.testing.assert_allclose(denoc.forward(full, q, qd, tau), qdd, rtol=1e-11)


def test_the_energy_balance_counts_the_loss():
    robot = denoc.loads(ROBOT.format("spherical", ", friction: {viscous: 0.7}, rotor_inertia: 0.05"))
    run = {"task": "simulate", "time": {"end": 0.5, "step": 0.1}, "rates": {"j": [1, -2, 3]}}
    assert denoc.run(run, robot).audit["energy"] < 1e-6


@pytest.mark.parametrize("text", ["friction: {coulomb: 1}"])
def test_dry_friction_is_refused(text):
    with pytest.raises(InputError, match="a spherical joint can't have this"):
        denoc.loads(ROBOT.format("spherical", ", " + text))
