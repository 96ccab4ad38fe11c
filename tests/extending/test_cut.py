"""A type of cut is one row: a pin in a slot, as of the Scotch yoke, whose motion has a closed form."""

import numpy as np
import pytest

import denoc
import yamls
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.robot import CUTS, PARALLEL, CutType, Y, Z
from denoc.robot.read import robot_schema
from denoc.text.fields import json_schema_text

PIN = CutType("pin-in-slot", "second turns about z and slides along first's x", (Y, Z), PARALLEL)
R, CRANK, YOKE = 0.3, 0.02, 1.5  # radius of the pin; moment of inertia about the shaft; mass of the yoke

# the yoke slides along x, its slot is along y; the pin of the crank is in it
ROBOT = f"""
name: scotch-yoke
convention: frames
gravity: [0, 0, 0]
links:
  - name: crank
    joint: {{name: shaft, type: revolute, actuated: true}}
    mass: 1
    com: [0, 0, 0]
    inertia: {{xx: {CRANK}, yy: {CRANK}, zz: {CRANK}}}
    points: {{pin: [{R}, 0, 0]}}
  - name: yoke
    parent: base
    joint: {{name: slide, type: prismatic, axis: [1, 0, 0], actuated: false}}
    mass: {YOKE}
    com: [0, 0, 0]
    inertia: {{xx: 0.01, yy: 0.01, zz: 0.01}}
loops:
  - name: slot
    joint: pin-in-slot
    between: [yoke, crank]
    first: {{rpy: [0, 0, 90 deg]}}
    second: {{at: pin}}
assembly: {{shaft: 0.5, slide: {R}}}
"""
START, RATE = 0.5, 4.0


@pytest.fixture(autouse=True)
def _row(monkeypatch):
    monkeypatch.setitem(CUTS, PIN.name, PIN)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "scotch-yoke.yaml").write_text(ROBOT)
    scenario = {
        "robot": "scotch-yoke.yaml",
        "task": "simulate",
        "time": {"end": 1.0, "step": 0.05},
        "initial": {"shaft": START},
        "rates": {"shaft": RATE},
        "solver": {"rtol": 1e-10},
    }
    (tmp_path / "turns.yaml").write_text(yamls.dump(scenario))
    return tmp_path / "turns.yaml"


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_a_scenario_runs_with_it(file, backend):
    """x = r cos q, and (J + m r² sin² q) q̇² stays as it is; the pin pushes the yoke by m ẍ along x alone."""
    with using_backend(backend):
        result = denoc.run(file)
    assert result.ended == "done"
    q, qd, qdd, x = (result.table[name] for name in ("shaft.q", "shaft.qd", "shaft.qdd", "slide.q"))
    np.testing.assert_allclose(x, R * np.cos(q), atol=1e-10)
    energy = (CRANK + YOKE * (R * np.sin(q)) ** 2) * qd**2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)
    push = YOKE * -R * (np.cos(q) * qd**2 + np.sin(q) * qdd)
    lambdas = {key: result.table[f"slot.lambda.{key}"] for key in ("fx", "fy", "fz", "nx", "ny", "nz")}
    np.testing.assert_allclose(lambdas["fx"], -push, atol=1e-7 * abs(push).max())  # of the yoke on the crank
    assert abs(lambdas["fy"]).max() < 1e-9  # along the slot
    assert abs(lambdas["nz"]).max() < 1e-9  # about the pin
    assert abs(qd - qd[0]).max() > 1.0


def test_the_crank_needs_the_closed_forms_torque(file):
    robot = denoc.load(file.parent / "scotch-yoke.yaml")
    q, qd, qdd = 0.7, 2.0, -3.0
    x = [R * np.cos(q), -R * np.sin(q) * qd, -R * (np.cos(q) * qd**2 + np.sin(q) * qdd)]
    tau = denoc.inverse(robot, [q, x[0]], [qd, x[1]], [qdd, x[2]])
    assert tau == pytest.approx([CRANK * qdd - R * np.sin(q) * YOKE * x[2]], rel=1e-12)


def test_its_name_is_everywhere_without_a_word_more(tmp_path):
    assert json_schema_text(robot_schema()).count('"pin-in-slot"') == 2
    with pytest.raises(InputError, match="did you mean `pin-in-slot`") as told:
        denoc.loads(ROBOT.replace("joint: pin-in-slot", "joint: pin-in-slit"))
    assert told.value.allowed.endswith("skate, pin-in-slot")
