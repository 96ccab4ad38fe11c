"""A joint type is one row: a slot with a pin in it, which slides along x and then turns about z."""

import numpy as np
import pytest

import denoc
import yamls
from denoc.machine.backend import using_backend
from denoc.robot import ANGLE, LENGTH, TURN_Z, TYPES, JointPart, JointType
from denoc.robot.read import robot_schema
from denoc.text.fields import json_schema_text

SLOT = JointType(
    "pin-slot",
    "slides along x (1), then turns about z (2)",
    (JointPart((("slide", 0, 0),), (3,), 1), TURN_Z),
    coordinates=("q1", "q2"),
    speeds=("qd1", "qd2"),
    accelerations=("qdd1", "qdd2"),
    forces=("tau1", "tau2"),
    kinds=(LENGTH, ANGLE),
    turning=(False, True),
)
MASS, ARM, INERTIA, G = 2.0, 0.4, 0.05, 9.81  # of the bob; from the pin to its centre; about that centre
SLIDE, ANGLE_AT, SPEED, RATE = 0.1, 0.7, 0.3, -1.2

ROBOT = f"""
name: bob
convention: frames
gravity: [0, -{G}, 0]
links:
  - name: bob
    joint: {{name: slot, type: pin-slot, actuated: true}}
    mass: {MASS}
    com: [{ARM}, 0, 0]
    inertia: {{xx: 0.01, yy: 0.02, zz: {INERTIA}}}
"""


@pytest.fixture(autouse=True)
def _row(monkeypatch):
    monkeypatch.setitem(TYPES, SLOT.name, SLOT)


@pytest.fixture
def robot(tmp_path):
    (tmp_path / "bob.yaml").write_text(ROBOT)
    return denoc.load(tmp_path / "bob.yaml")


def forces(q, rates, accelerations):
    """Lagrange's equations of the bob, by hand: x and the angle from x."""
    angle = q[1]
    (_, spin), (ax, turn) = rates, accelerations
    push = MASS * (ax - ARM * (turn * np.sin(angle) + spin**2 * np.cos(angle)))
    moment = (INERTIA + MASS * ARM**2) * turn - MASS * ARM * np.sin(angle) * ax + MASS * G * ARM * np.cos(angle)
    return np.array([push, moment])


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_forces_and_accelerations_are_those_of_lagrange(robot, backend):
    q, rates, accelerations = np.array([SLIDE, ANGLE_AT]), np.array([SPEED, RATE]), np.array([0.8, -2.1])
    with using_backend(backend):
        tau = denoc.inverse(robot, q, rates, accelerations)
        back = denoc.forward(robot, q, rates, tau)
    np.testing.assert_allclose(tau, forces(q, rates, accelerations), rtol=1e-13)
    np.testing.assert_allclose(back, accelerations, rtol=1e-12)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_a_scenario_runs_with_it(robot, tmp_path, backend):
    """Nothing pushes along the slot: momentum along it stays, and so does the energy."""
    scenario = {
        "robot": "bob.yaml",
        "task": "simulate",
        "time": {"end": 1.0, "step": 0.05},
        "initial": {"slot": [SLIDE, ANGLE_AT]},
        "rates": {"slot": [SPEED, RATE]},
        "solver": {"rtol": 1e-10},
    }
    (tmp_path / "swing.yaml").write_text(yamls.dump(scenario))
    with using_backend(backend):
        result = denoc.run(tmp_path / "swing.yaml")
    angle, speed, spin = (result.table[f"slot.{name}"] for name in ("q2", "qd1", "qd2"))
    across, along = ARM * np.cos(angle) * spin, speed - ARM * np.sin(angle) * spin
    np.testing.assert_allclose(along, along[0], atol=1e-9)
    energy = MASS / 2 * (along**2 + across**2) + INERTIA / 2 * spin**2 + MASS * G * ARM * np.sin(angle)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)
    assert np.ptp(angle) > 1.0


def test_the_schema_names_it():
    assert SLOT.name in json_schema_text(robot_schema())
