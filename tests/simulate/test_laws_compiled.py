"""Every force law runs in the compiled loop, in trees and mechanisms, and in lanes where no law looks back."""

import numpy as np
import pytest

import denoc
from denoc.laws import FORCE_LAWS
from denoc.machine.backend import using_backend
from denoc.simulate import loop
from denoc.study import ensemble_runs

TABLE = "x,force\n" + "".join(f"{x},{np.sin(x)}\n" for x in np.linspace(-8, 8, 17))
# law → its parameters for a joint and another one
PARAMETERS = {
    "zero": {},
    "constant": {"value": 0.5},
    "harmonic": {"amplitude": 0.5, "frequency": 1},
    "table": {"file": "FILE", "column": "force"},
    "spring": {"stiffness": 5, "damping": 0.2},
    "pd": {"kp": 5, "kd": 0.5, "to": 0.2},
    "computed-torque": {"kp": 25, "kd": 10},
    "feedforward": {},
    "expression": {"force": "-2*q - 0.3*qd + 0.1*sin(t) + 0.05*OTHER.qd"},
    "lookup": {"file": "FILE", "over": "q"},
    "state-feedback": {"K": {"q": 3, "qd": 0.3, "OTHER.qd": 0.1}},
}
LATE = [name for name, law in FORCE_LAWS.items() if "dead_time" in law.model_fields]
JOINTS = {
    "planar3r": ("joint1", "joint2", "robot.links.link3.mass"),
    "four-bar": ("A0", "B0", "robot.links.rocker.mass"),
}


def scenario_under(name, robot, path, late):
    joint, other, _ = JOINTS[robot]
    law = eval(repr({"law": name, **PARAMETERS[name]}).replace("OTHER", other).replace("FILE", str(path)))
    forces = {joint: law | ({"dead_time": 0.05} if late else {})}
    motion = {}
    if name in ("computed-torque", "feedforward"):
        motion = {joint: {"law": "rate", "rate": 0.5}}
    if name == "feedforward" and robot == "planar3r":
        motion, forces = {"all": {"law": "rate", "rate": 0.5}}, {"all": law}
    return {"robot": robot, "task": "simulate", "time": {"end": 0.3, "step": 0.1}, "forces": forces, "motion": motion}


@pytest.mark.parametrize("robot", JOINTS)
@pytest.mark.parametrize("name, late", [*((name, False) for name in FORCE_LAWS), *((name, True) for name in LATE)])
def test_a_law_is_in_the_loop(name, late, robot, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    scenario, alone, lanes = scenario_under(name, robot, path, late), [], []
    step, abreast = loop._stepped, ensemble_runs.integrate_batch

    def stepped(*of):
        alone.append(of)
        return step(*of)

    def carried(*of):
        traces = abreast(*of)
        lanes.append(traces.whole.sum())
        return traces

    monkeypatch.setattr(loop, "_stepped", stepped)
    monkeypatch.setattr(ensemble_runs, "integrate_batch", carried)
    with using_backend("compiled"):
        single = denoc.run(scenario)
        assert not alone
        runs = denoc.ensemble(scenario, [{JOINTS[robot][2]: x} for x in (1.0, 1.1, 1.2, 1.3)])
    assert sum(lanes) == (0 if late else 4)
    assert {single.ended, *(run.ended for run in runs)} == {"done"}
