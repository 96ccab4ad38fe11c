"""Laws of time, sticking, stops and effort limits in the compiled loop: the same steps, events and rows as in Python."""

from __future__ import annotations

import numpy as np
import pytest

import denoc
import yamls
from denoc.machine.jit.choice import using_backend
from denoc.robot.build import build_robot
from denoc.simulate.runge_kutta import RungeKutta
from denoc.text.source import document_from_mapping
from random_contacts import drawn, with_contacts


@pytest.fixture
def taken(monkeypatch):
    """The number of steps that Python has taken."""
    count, step = [0], RungeKutta.step

    def counted(self):
        count[0] += 1
        return step(self)

    monkeypatch.setattr(RungeKutta, "step", counted)
    return count


def events(result):
    return [(one.get("joint"), one["event"], one["then"]) for one in result.record["events"]]


def both(taken, scenario, robot=None, within=1e-9, *, smooth=True):
    """The run by compiled code, after a comparison with the plain one; the number of steps in Python.

    Where a law isn't smooth, a step that ends at a kink sees one side of it or the other, so steps may differ.
    """
    with using_backend("plain"):
        plain = denoc.run(scenario, robot)
    taken[0] = 0
    with using_backend("compiled"):
        compiled = denoc.run(scenario, robot)
    assert compiled.ended == plain.ended, compiled.record["reason"]
    if smooth:
        assert compiled.audit["steps"] == plain.audit["steps"]
        assert compiled.audit["rejected"] == plain.audit["rejected"]
    assert events(compiled) == events(plain)
    for one, other in zip(compiled.record["events"], plain.record["events"]):
        assert one["t"] == pytest.approx(other["t"], abs=1e-9)
    for column, values in plain.table.items():
        scale = max(1.0, abs(values[np.isfinite(values)]).max(initial=0.0))
        np.testing.assert_allclose(compiled.table[column], values, rtol=0, atol=within * scale, err_msg=column)
    return compiled, taken[0]


def scenario(robot, end=0.5, **more):
    return {"robot": robot, "task": "simulate", "time": {"end": end, "step": end / 10}, **more}


TIGHT = {"rtol": 1e-11, "atol": 1e-13}
TO = {"law": "cycloid", "to": 0.5}
LAWS = {
    "harmonic forces": ("planar3r", {"forces": {"joint2": {"law": "harmonic", "amplitude": 3, "frequency": 2}}}),
    "prescribed motion": ("planar3r", {"motion": {"joint1": TO}}),
    "a trapezoid with kinks": (
        "planar3r",
        {"motion": {"joint2": {"law": "trapezoid", "to": 0.4, "over": 0.3}}, "solver": TIGHT},
    ),
    "a late start": ("planar3r", {"motion": {"joint3": {"law": "polynomial", "to": 1, "delay": 0.1, "over": 0.25}}}),
    "pd along a motion": (
        "planar3r",
        {"motion": {"joint1": TO}, "forces": {"joint1": {"law": "pd", "kp": 300, "kd": 20}}},
    ),
    "computed torque": (
        "planar3r",
        {"motion": {"joint1": TO}, "forces": {"joint1": {"law": "computed-torque", "kp": 100, "kd": 20}}},
    ),
    "feedforward": (
        "planar3r",
        {
            "motion": dict.fromkeys(("joint1", "joint2", "joint3"), TO),
            "forces": {"all": {"law": "feedforward"}},
        },
    ),
    "wrenches": (
        "planar3r",
        {"wrenches": [{"link": "link3", "force": [{"law": "harmonic", "amplitude": 5, "frequency": 1}, 0, 0]}]},
    ),
    "Euler parameters": ("space-arm", {"forces": {"joint2": {"law": "harmonic", "amplitude": 9, "frequency": 1}}}),
    "a force in a mechanism": ("four-bar", {"forces": {"A": {"law": "harmonic", "amplitude": 3, "frequency": 2}}}),
}


@pytest.mark.parametrize("what", LAWS)
@pytest.mark.sampled(2)
def test_laws_of_time_are_in_the_loop(taken, what):
    robot, more = LAWS[what]
    _, steps = both(taken, scenario(robot, **more), within=1e-7, smooth="kinks" not in what)
    assert steps == 0


@pytest.mark.parametrize("interpolation", ["spline", "pchip", "linear"])
@pytest.mark.sampled(3)
def test_tables_are_in_the_loop(taken, tmp_path, interpolation):
    t = np.linspace(0, 0.5, 9)
    rows = "\n".join(f"{a},{np.sin(9 * a)}" for a in t)
    (tmp_path / "table.csv").write_text(f"t,force\n{rows}\n")
    law = {"law": "table", "file": "table.csv", "column": "force", "interpolation": interpolation}
    file = tmp_path / "tabled.yaml"
    smooth = interpolation == "spline"
    file.write_text(str(scenario("planar3r", forces={"joint2": law}, solver={} if smooth else TIGHT)))
    _, steps = both(taken, file, within=1e-7, smooth=smooth)
    assert steps == 0


def slider(**joint):
    """A block on a horizontal line, and a pendulum on it."""
    first = {"type": "prismatic", "name": "x", "axis": [1, 0, 0], **joint}
    second = {"type": "revolute", "name": "swing", "axis": [0, 1, 0]}
    body = {"mass": 1, "com": [0.2, 0, 0.1], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    links = [{"name": "block", "joint": first, **body}, {"name": "rod", "joint": second, **body}]
    return build_robot(document_from_mapping({"name": "slider", "convention": "frames", "links": links}))


PUSH = {"law": "harmonic", "amplitude": 12, "frequency": 1.5}
MODES = {
    "dry friction": ({"friction": {"coulomb": 4}}, {"forces": {"x": PUSH}}, 4),
    "stops": ({"limits": [-0.02, 0.03]}, {"forces": {"x": PUSH}}, 2),
    "friction and stops": ({"limits": [-0.02, 0.03], "friction": {"coulomb": 2}}, {"forces": {"x": PUSH}}, 3),
    "an effort limit": ({"effort": {"limits": [-5, 7]}}, {"forces": {"x": PUSH}}, 4),
    "a controller at its limit": (
        {"effort": {"limits": [-5, 7]}},
        {"forces": {"x": {"law": "pd", "to": 0.3, "kp": 90, "kd": 2}}},
        2,
    ),
}


@pytest.mark.parametrize(("what", "method"), [*((what, "rk45") for what in MODES), ("friction and stops", "dop853")])
def test_modes_are_in_the_loop(taken, what, method):
    """Python takes the few steps in which something may happen, and no others."""
    joint, more, least = MODES[what]
    scenario = {"task": "simulate", "time": {"end": 1.5, "step": 0.05}, "solver": {"method": method}, **more}
    found, steps = both(taken, scenario, slider(**joint))
    assert len(events(found)) >= least
    assert 0 < steps <= 3 * len(events(found)) < found.audit["steps"] / 2


@pytest.mark.sampled(40)
@pytest.mark.parametrize(
    ("kind", "seed"), [(kind, seed) for kind in ("tree", "planar", "spatial") for seed in range(20)]
)
def test_contacts_of_random_robots_are_those_of_the_plain_run(taken, kind, seed):
    robot = with_contacts(drawn(kind, seed), seed)
    forces = [joint.name for joint in robot.moving if joint.actuated and len(joint.speeds) == 1][: seed % 2]
    law = {"law": "harmonic", "amplitude": 2, "frequency": 3}
    more = {"forces": dict.fromkeys(forces, law)} if forces else {}
    both(taken, {"task": "simulate", "time": {"end": 0.2, "step": 0.02}, **more}, robot, within=1e-7)


def test_a_mechanism_that_friction_in_all_joints_holds_goes_on_in_the_loop(taken):
    document = yamls.load(denoc.load("four-bar").document.text)
    for link in document["links"]:
        link["joint"]["friction"] = {"coulomb": 0.6}
    law = {"law": "harmonic", "amplitude": 9, "frequency": 1}
    run = {"task": "simulate", "time": {"end": 0.4, "step": 0.05}, "forces": {"A0": law}}
    found, steps = both(taken, run, denoc.loads(yamls.dump(document)), within=1e-7)
    assert {"breaks loose", "stops slipping"} <= {one["event"] for one in found.record["events"]}
    assert 0 < steps <= 3 * len(events(found))
