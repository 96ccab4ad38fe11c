"""Small robots whose motion is known by hand: what each key of a robot file means."""

import math

import numpy as np
import pytest

import denoc

G = 9.81
HALF = math.sqrt(0.5)


def robot(text):
    return denoc.loads(text)


def close(found, right):
    assert np.shape(found) == np.shape(right)
    assert np.asarray(found, dtype=float) == pytest.approx(np.asarray(right, dtype=float), rel=1e-13, abs=1e-13)


def torque(robot, q, qd=None, qdd=None, **more):
    zero = np.zeros(robot.nv)
    return denoc.inverse(robot, q, zero if qd is None else qd, zero if qdd is None else qdd, **more)


# ---- one pendulum, told in every way: 2 kg, mass centre 0.5 m from the axis, 0.03 kg m² about it
# (0.03 + 2 · 0.5²) q̈ + 2 · 9.81 · 0.5 · cos q, with q from the horizontal

PENDULUMS = {
    "frames": """
convention: frames
links:
  - {name: rod, joint: {type: revolute}, mass: 2, com: [0.5, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
""",
    "frames, first moments": """
convention: frames
links:
  - {name: rod, joint: {type: revolute}, mass: 2, first_moments: [1, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
""",
    "frames, inertia about the origin": """
convention: frames
links:
  - name: rod
    joint: {type: revolute}
    mass: 2
    com: [0.5, 0, 0]
    about: origin
    inertia: {xx: 0.01, yy: 0.52, zz: 0.53}
""",
    "frames, about its own x": """
convention: frames
links:
  - name: rod
    joint: {type: revolute, axis: [2, 0, 0], rpy: [90 deg, 0, 90 deg]}  # x, y, z of the link along Y, Z, X
    mass: 2
    com: [0, 0, -0.5]
    inertia: {xx: 0.03, yy: 0.02, zz: 0.01}
""",
    "khalil": """
convention: khalil
links:
  - {name: rod, joint: {type: revolute, r: 0.7}, mass: 2, com: [0.5, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
""",
    "dh, mass centre before the end": """
convention: dh
links:
  - {name: rod, joint: {type: revolute, a: 0.8, b: 0.1, alpha: 0}, mass: 2, r: [0.3, 0, 0.1], inertia: {xx: 1, yy: 1, zz: 0.03}}
""",
    "dh, end frame turned": """
convention: dh
links:  # y of the end frame along z of the link
  - {name: rod, joint: {type: revolute, a: 0.8, alpha: 90 deg}, mass: 2, r: [0.3, 0, 0], inertia: {xx: 1, yy: 0.03, zz: 1}}
""",
    "dh, end frame turned, inertia in link axes": """
convention: dh
links:
  - name: rod
    joint: {type: revolute, a: 0.8, alpha: 90 deg}
    mass: 2
    r: [0.3, 0, 0]
    inertia: {xx: 1, yy: 1, zz: 0.03}
    frame: link
""",
    "dh, link axes": """
convention: dh
links:
  - {name: rod, joint: {type: revolute, a: 0.8, alpha: 90 deg}, mass: 2, com: [0.5, 0, 0], inertia: {xx: 1, yy: 1, zz: 0.03}}
""",
    "dh, mass centre in link axes, inertia in the end frame's": """
convention: dh
links:
  - name: rod
    joint: {type: revolute, a: 0.8, alpha: 90 deg}
    mass: 2
    com: [0.5, 0, 0]
    inertia: {xx: 1, yy: 0.03, zz: 1}
    frame: end
""",
    "dh, inertia about the origin in the end frame's axes": """
convention: dh
links:
  - name: rod
    joint: {type: revolute, a: 0.8, alpha: 90 deg}
    mass: 2
    r: [0.3, 0, 0]
    about: origin
    inertia: {xx: 1, yy: 0.53, zz: 1}
""",
    "units": """
convention: frames
gravity: [0, -9.81 m/s^2, 0]
links:
  - {name: rod, joint: {type: revolute}, mass: 2000 g, com: [500 mm, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
""",
}


@pytest.mark.parametrize("text", PENDULUMS.values(), ids=PENDULUMS)
def test_a_pendulum_is_the_same_however_it_is_told(text):
    gravity = "" if "gravity" in text else "gravity: [0, -9.81, 0]\n"
    pendulum = robot("name: pendulum\n" + gravity + text)
    for q, qd, qdd in ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.2, 3.0, -2.0), (-2.5, 1.0, 0.5)):
        if "its own x" in text:  # turns about X from Y: gravity along -Y, hanging where q = 0
            right = 0.53 * qdd + G * math.cos(q)
        else:
            right = 0.53 * qdd + G * math.cos(q)
        close(torque(pendulum, [q], [qd], [qdd]), [right])
        close(denoc.energy(pendulum, [q], [qd])["kinetic"], 0.53 * qd**2 / 2)
        close(denoc.energy(pendulum, [q], [qd])["potential"], G * math.sin(q))
        if qd:  # the axis carries the weight and the centripetal force 2 · 0.5 · q̇²
            f = denoc.reactions(pendulum, [q], [qd], [0.0])["joint1"][3:]
            close(np.sort(np.abs(f)), np.sort(np.abs([qd**2 * math.cos(q), 2 * G - qd**2 * math.sin(q), 0])))
