"""Entries that do nothing are said or refused, one by one; and those that do something, or are defaults, are not."""

import json
import sys

import pytest

import denoc
from denoc.cli.main import main
from denoc.robot.read import build_robot
from denoc.text import document_from_mapping

pytestmark = pytest.mark.smoke

TIME = {"end": 0.1, "step": 0.05}
LOOP = {"robot": "four-bar", "time": TIME}
TURNED = {"task": "inverse", "motion": {"A0": {"law": "rate", "rate": 1.0}}}


def pendulum(joint=None, **link):
    """Two rods on revolute joints j1, j2; `joint` are further keys of the first joint, `link` of the first link."""
    links = []
    for k, place in enumerate([0.0, 0.5], start=1):
        own = {"type": "revolute", "name": f"j{k}", "axis": [0, 1, 0], "xyz": [place, 0, 0]}
        inertia = {"xx": 0.001, "yy": 0.02, "zz": 0.02}
        links.append({"name": f"l{k}", "joint": own, "mass": 1, "com": [0.25, 0, 0], "inertia": inertia})
    links[0]["joint"] |= joint or {}
    links[0] |= link
    kept = [{key: value for key, value in one.items() if value is not None} for one in links]
    return build_robot(document_from_mapping({"name": "pendulum", "convention": "frames", "links": kept}))


def warned(scenario, robot=None):
    return denoc.run({"time": TIME, **scenario}, robot).record["warnings"]


AT_ORIGIN = {"xx": 0.001, "yy": 0.1, "zz": 0.1}
ROUGH = {"friction": {"coulomb": 0.5}}


@pytest.mark.parametrize(
    "joint, scenario, words",
    [
        (ROUGH, {"task": "simulate", "solver": {"friction_rate": 0.1}}, "friction_rate does nothing: it belongs to"),
        (None, {"task": "simulate", "solver": {"friction": "smooth"}}, "no joint of pendulum has dry friction"),
        (None, {"task": "simulate", "solver": {"limits": "ignore"}}, "no joint whose motion is sought has `limits`"),
        (None, {"task": "simulate", "solver": {"at_singularity": "switch"}}, "at_singularity does nothing: pendulum"),
        (None, {"task": "simulate", "solver": {"method": "rk4", "rtol": 1e-3}}, "rtol does nothing: `rk4` takes steps"),
        (None, {"task": "inverse", "solver": {"rtol": 1e-3}}, "solver.rtol does nothing: all motion is given"),
        (None, {"task": "inverse", "solver": {"method": "radau"}}, "solver.method does nothing: all motion is given"),
        (None, {"task": "simulate", "closure": {"method": "penalty"}}, "closure.method does nothing: pendulum has no"),
        (None, {"task": "simulate", "closure": {"independent": ["j1"]}}, "closure.independent does nothing: pendulum"),
        (
            None,
            {"task": "simulate", "motion": {"all": {"law": "hold"}, "j1": {"law": "hold"}, "j2": {"law": "hold"}}},
            "motion.all does nothing",
        ),
        (
            None,
            {
                "task": "simulate",
                "motion": {"j1": {"law": "hold"}, "j2": {"law": "hold"}},
                "forces": {"all": {"law": "zero"}},
            },
            "forces.all does nothing",
        ),
    ],
)
def test_entries_of_trees_that_do_nothing_are_said(joint, scenario, words):
    assert [text for text in warned(scenario, pendulum(joint)) if words in text]


@pytest.mark.parametrize(
    "scenario, words",
    [
        ({**TURNED, "closure": {"method": "penalty"}}, "closure.method does nothing: all motion is given"),
        ({**TURNED, "solver": {"at_singularity": "through"}}, "at_singularity does nothing: all motion is given"),
        ({"task": "simulate", "closure": {"sigma": 3}}, "closure.sigma does nothing: it belongs to `projection-qr`"),
        (
            {"task": "simulate", "closure": {"method": "projection-qr", "independent": ["A0"]}},
            "closure.independent does nothing: `projection-qr` chooses",
        ),
        (
            {
                "task": "simulate",
                "closure": {"method": "projection-qr"},
                "solver": {"at_singularity": "switch", "friction": "smooth"},
            },
            "at_singularity does nothing: `projection-qr` takes other coordinates",
        ),
    ],
)
def test_entries_of_mechanisms_that_do_nothing_are_said(scenario, words):
    assert [text for text in warned({**LOOP, **scenario}) if words in text]


@pytest.mark.parametrize(
    "joint, scenario",
    [
        (ROUGH, {"task": "simulate", "solver": {"friction": "smooth", "friction_rate": 0.1}}),
        ({"limits": [-9, 9]}, {"task": "simulate", "solver": {"limits": "ignore", "rtol": 1e-5, "max_step": 0.01}}),
        (None, {"task": "simulate", "solver": {"method": "rk4", "max_step": 0.01}}),
        (None, {"task": "inverse", "solver": {"energy": "accept", "rtol": 1e-8}, "closure": {"sigma": 20}}),
        (None, {"task": "simulate", "motion": {"all": {"law": "hold"}}, "rates": {"j1": 0}}),
        ({"actuated": False}, {"task": "inverse", "forces": {"j1": {"law": "zero"}}, "solver": {"rtol": 1e-6}}),
        (None, {"task": "simulate", "robot": "four-bar", "solver": {"at_singularity": "switch"}}),
        (None, {"task": "simulate", "robot": "four-bar", "closure": {"method": "projection-qr", "sigma": 5}}),
    ],
)
def test_entries_that_do_something_are_not(joint, scenario):
    assert warned(scenario, None if "robot" in scenario else pendulum(joint)) == []


@pytest.mark.parametrize(
    "scenario, words",
    [
        ({"motion": {"j1": {"law": "rate", "rate": 2}}, "rates": {"j1": 3}}, "its speed at the start"),
        ({"motion": {"j1": {"law": "cycloid", "to": 1, "from": 0.5}}, "initial": {"j1": 0.2}}, "its place at the"),
        ({"task": "inverse", "rates": {"j1": 1}}, "its speed at the start"),
        ({"task": "inverse", "forces": {"all": {"law": "zero"}}}, "the force of every actuated joint is sought"),
    ],
)
def test_entries_that_contradict_a_motion_are_refused(scenario, words):
    with pytest.raises(denoc.InputError, match=words):
        warned({"task": "simulate", **scenario}, pendulum())


@pytest.mark.parametrize(
    "scenario",
    [
        {"motion": {"j1": {"law": "rate", "rate": 2}}, "rates": {"j1": 2}},
        {"motion": {"j1": {"law": "cycloid", "to": 1}}, "initial": {"j1": 0.2}},
        {"motion": {"j1": {"law": "hold"}}, "forces": {"j1": {"law": "pd", "kp": 9}}, "initial": {"j1": 0.2}},
    ],
)
def test_entries_that_agree_with_a_motion_are_taken(scenario):
    assert warned({"task": "simulate", **scenario}, pendulum()) == []


def command(monkeypatch, *words):
    """The exit code of a command."""
    monkeypatch.setattr(sys, "argv", ["denoc", *words])
    with pytest.raises(SystemExit) as leaving:
        main()
    return leaving.value.code or 0


@pytest.mark.parametrize("options", [["--to", "1"], ["--law", "trapezoid"]])
def test_a_goal_beside_a_scenario_is_refused(monkeypatch, capsys, tmp_path, options):
    monkeypatch.chdir(tmp_path)
    assert command(monkeypatch, "idyn", "puma", "--scenario", "puma-idyn", "--no-plot", *options) == 2
    assert f"--scenario and {options[0]} exclude each other" in capsys.readouterr().err


def test_a_method_of_fixed_steps_takes_no_tolerances_of_a_scenario_along(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = ["--method", "rk4", "--step", "0.001", "--time", "0.002", "--no-plot"]
    assert command(monkeypatch, "simulate", "four-bar", *words) == 0
    record = json.loads((tmp_path / "outputs" / "four-bar-fall" / "four-bar-fall.json").read_text())
    assert record["warnings"] == []


@pytest.mark.parametrize(
    "joint, link, words",
    [
        ({"actuated": False, "effort": {"limits": [-1, 1]}}, {}, "joint.effort: does nothing: `j1` isn't actuated"),
        ({"spring": {"stiffness": 9}, "effort": {"limits": [-1, 1]}}, {}, "joint.effort: does nothing"),
        ({"effort": {"weight": 2}}, {}, "joint.effort.weight: does nothing"),
        ({}, {"inertia": None, "about": "origin"}, "about: does nothing: the link has no `inertia`"),
        ({}, {"inertia": None, "frame": "link"}, "frame: does nothing: the link has no `inertia`"),
    ],
)
def test_entries_of_robots_that_do_nothing_are_said(joint, link, words):
    assert [text for text in pendulum(joint, **link).warnings if words in text]


@pytest.mark.parametrize(
    "joint, link", [({"effort": {"limits": [-1, 1]}}, {}), ({}, {"about": "origin", "inertia": AT_ORIGIN})]
)
def test_entries_of_robots_that_do_something_are_not(joint, link):
    assert pendulum(joint, **link).warnings == ()
