"""An engine as one row of a table: a pendulum by its own formula, with which results are then verified."""

import json
import sys

import numpy as np
import pytest

import denoc
from denoc.cli.main import main
from denoc.study.verification import PEERS, Peer

ARM, MASS, INERTIA, G = 0.4, 2.0, 0.05, 9.81
ROD = f"""
name: rod
convention: frames
gravity: [0, -{G}, 0]
links:
  - {{name: rod, joint: {{name: hinge, type: revolute, friction: {{viscous: 0.3}}}}, mass: {MASS}, com: [{ARM}, 0, 0],
     inertia: {{xx: 0.05, yy: 0.05, zz: {INERTIA}}}}}
"""


class Pendulum:
    """The forces of a rod that turns about a horizontal axis, and its acceleration."""

    title = "pendulum 1.0"
    mass = MASS

    def __init__(self, robot):
        assert robot.joints == ("hinge",)

    def inverse(self, q, qd, qdd, wrenches):
        return (INERTIA + self.mass * ARM**2) * qdd + self.mass * G * ARM * np.cos(q)

    def forward(self, q, qd, force, wrenches):
        return (force - self.mass * G * ARM * np.cos(q)) / (INERTIA + self.mass * ARM**2)


@pytest.mark.parametrize(("mass", "code"), [(MASS, 0), (1.001 * MASS, 1)])
def test_an_engine_is_one_row(mass, code, tmp_path, monkeypatch, capsys):
    swing = {"name": "swing", "robot": "rod", "task": "simulate", "time": {"end": 0.2, "step": 0.05}}
    denoc.run(swing, denoc.loads(ROD)).write(tmp_path, plot=False)
    monkeypatch.setattr(Pendulum, "mass", mass)
    monkeypatch.setitem(PEERS, "pendulum", Peer("Pendulum", "pendulum", Pendulum))
    monkeypatch.setattr(sys, "argv", ["denoc", "verify", str(tmp_path), "--with", "pendulum", "--json"])
    with pytest.raises(SystemExit) as leaving:
        main()
    checks = {
        check["by"]: check for check in json.loads(capsys.readouterr().out)["checks"] if check["check"] == "motion"
    }
    assert (leaving.value.code or 0) == code
    assert checks["plain text"]["ok"]
    assert checks["pendulum 1.0"]["ok"] == (code == 0)
