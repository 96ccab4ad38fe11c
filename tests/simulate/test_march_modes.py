"""Laws of time, sticking, stops and effort limits in the compiled loop: the same steps, events and rows as in Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import denoc
import yamls
from denoc.machine.backend import using_backend
from denoc.robot.read import build_robot
from denoc.scenario import prepare_scenario
from denoc.simulate.feedforward import feedforward_path
from denoc.simulate.integrators.runge_kutta import RungeKutta
from denoc.text import document_from_mapping
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
AHEAD = {joint.name: joint.initial[0] + 0.1 * k for k, joint in enumerate(denoc.load("three-rrr").moving[:3])}
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
    "feedforward in a mechanism": (
        "four-bar",
        {"motion": {"A0": {"law": "cycloid", "to": 2.0}}, "forces": {"A0": {"law": "feedforward"}}},
    ),
    "feedforward in two loops, beside a wrench": (
        "three-rrr",
        {
            "motion": {name: {"law": "cycloid", "to": x} for name, x in AHEAD.items()},
            "forces": {name: {"law": "feedforward"} for name in AHEAD},
            "wrenches": [{"link": "platform", "force": [{"law": "harmonic", "amplitude": 5, "frequency": 1}, 0, 0]}],
        },
    ),
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


def test_a_run_that_begins_where_a_table_ends_is_at_rest(taken, tmp_path):
    """A block on a cart that has come to rest stays; the table brakes by 4 m/s2 up to its last instant."""
    (tmp_path / "table.csv").write_text("t,s\n0,0.5\n0.25,0.125\n0.5,0\n")
    rail = {"type": "prismatic", "axis": [1, 0, 0]}
    links = [
        {"name": name, "joint": {**rail, "name": joint}, "mass": 1, "com": [0, 0, 0]}
        for name, joint in (("cart", "s"), ("block", "r"))
    ]
    (tmp_path / "robot.yaml").write_text(str({"name": "cart", "convention": "frames", "links": links}))
    law = {"law": "table", "file": "table.csv", "column": "s"}
    late = {"time": {"start": 0.5, "end": 0.8, "step": 0.1}, "motion": {"s": law}, "solver": TIGHT}
    (tmp_path / "late.yaml").write_text(str(scenario("robot.yaml", **late)))
    with using_backend("compiled"):
        found = denoc.run(tmp_path / "late.yaml")
    assert found.ended == "done"
    assert taken == [0]
    assert found.table["r.q"] == pytest.approx(0.0, abs=1e-9)


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


@pytest.mark.sampled(80)
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


FIXED = {
    "a tree": (None, {"end": 0.5, "step": 0.05}, 0.002),
    "steps that don't fit between rows": (None, {"end": 0.5, "step": 0.035}, 0.01),
    "rows that are nearer than steps": (None, {"end": 0.1, "step": 0.004}, 0.01),
    "a mechanism": ("four-bar", {"end": 0.3, "step": 0.05}, 0.002),
    "events": ("slider", {"end": 1.5, "step": 0.05}, 0.005),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", FIXED)
def test_steps_of_one_length_are_in_the_loop(taken, what):
    name, time, step = FIXED[what]
    joint, more, least = MODES["friction and stops"] if name == "slider" else ({}, {}, 0)
    robot = slider(**joint) if name == "slider" else denoc.load(name or "planar3r")
    run = {"task": "simulate", "time": time, "solver": {"method": "rk4", "step": step}, **more}
    found, steps = both(taken, run, robot)
    assert least <= len(events(found))
    assert steps <= 3 * len(events(found))


def test_steps_of_one_length_that_lead_beyond_numbers_end_as_in_the_plain_run():
    stiff = {"law": "spring", "stiffness": 1e9}
    run = scenario("planar3r", forces={"joint2": stiff}, solver={"method": "rk4", "step": 0.05})
    ends = []
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            found = denoc.run(run)
        ends.append((found.ended, found.record["reason"].split(" s: ")[1]))
    assert ends[0] == ends[1]
    assert ends[0][0] == "failed"


def test_a_mechanism_along_a_plan_whose_crank_rubs_is_in_the_loop(taken):
    document = yamls.load(denoc.load("four-bar").document.text)
    document["links"][0]["joint"]["friction"] = {"coulomb": 0.1}
    plan = {"motion": {"A0": {"law": "cycloid", "to": 2.5}}, "forces": {"A0": {"law": "feedforward"}}}
    run = {"task": "simulate", "time": {"end": 0.5, "step": 0.05}, **plan}
    found, steps = both(taken, run, denoc.loads(yamls.dump(document)), within=1e-6, smooth=False)
    assert len(events(found)) >= 2
    assert steps < found.audit["steps"] / 3


def test_plans_that_cannot_be_followed_end_as_in_the_plain_run(taken):
    """The crank of a linkage whose other links are too short for it to turn round."""
    document = yamls.load(denoc.load("four-bar").document.text)
    next(one for one in document["links"] if one["name"] == "rocker")["joint"]["xyz"] = [0.45, 0, 0]
    plan = {"motion": {"A0": {"law": "cycloid", "to": 7.0}}, "forces": {"A0": {"law": "feedforward"}}}
    run = {"task": "simulate", "time": {"end": 0.5, "step": 0.05}, **plan}
    robot = denoc.loads(yamls.dump(document))
    with using_backend("plain"):
        plain = denoc.run(run, robot)
    with using_backend("compiled"):
        compiled = denoc.run(run, robot)
    assert (compiled.ended, len(compiled.t)) == (plain.ended, len(plain.t))


# ---- the path


@pytest.mark.parametrize("name", ["four-bar", "three-rrr"])
def test_a_path_at_many_instants_is_the_path_at_each(name):
    robot = denoc.load(name)
    to = {joint: 0.4 + robot.joint(joint).initial[0] for joint in (robot.joints[k] for k in robot.driven)}
    plan = {"motion": {joint: {"law": "cycloid", "to": x} for joint, x in to.items()}}
    made = prepare_scenario(
        {"task": "simulate", "time": {"end": 1.0}, "forces": {joint: {"law": "feedforward"} for joint in to}, **plan},
        robot,
    )
    t = np.random.default_rng(1).uniform(0.0, 1.0, size=70)
    many, each = (feedforward_path(made.system, made.q0, 0.0) for _ in range(2))
    found = [many.many(t), many.many(t[:30] + 0.002)]
    assert (many.many(t).qdd == found[0].qdd).all()  # to the last bit, whatever was asked for in between
    for motion, times in zip(found, (t, t[:30] + 0.002)):
        rows = [each.at(float(x)) for x in times]
        for k, what in enumerate((motion.q, motion.qd, motion.qdd)):
            expected = np.array([row[k] for row in rows])
            np.testing.assert_allclose(what, expected, rtol=0, atol=1e-10 * max(1.0, abs(expected).max()))
        assert np.isfinite(motion.tau).all()


@pytest.mark.parametrize("law", ["cycloid", "polynomial"])
@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_joint_whose_plan_has_its_friction_starts_at_once(law, backend):
    """Its force is at the bound of friction at the first instant, or right behind it, and beyond from then on."""
    led = {"motion": {"all": {"law": law, "to": "90 deg"}}, "forces": {"all": {"law": "feedforward"}}}
    scenario = {"robot": "puma", "task": "simulate", "time": {"end": 0.4, "step": 0.05}, **led}
    rough = [{"robot.links.link1.joint.friction.coulomb": 3.0 + k} for k in range(3)]
    with using_backend(backend):
        alone, together = denoc.ensemble(scenario, rough[:1]), denoc.ensemble(scenario, rough)
    for run in (*alone, *together):
        assert run.table["joint1.q"][-1] == pytest.approx(math.pi / 2, abs=1e-6)
        assert all(event["t"] < 1e-6 for event in run.record["events"] if event["event"] == "breaks loose")


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_friction_far_below_the_forces_of_a_plan_holds_nothing_back(backend):
    """At the first instant the plan has no friction yet; right behind it, its force is at the bound but for rounding.

    That is rounding of the largest forces of the plan, beside which friction and what is left to rounding are nothing.
    """
    body = "mass: 1000, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}"
    joint = "type: prismatic, axis: [1, 0, 0], friction: {coulomb: 0.1}"
    links = "".join(f"  - {{name: {x}, {body}, joint: {{name: {x}, {joint}}}}}\n" for x in "ab")
    robot = denoc.loads(f"name: sliders\nconvention: frames\ngravity: [0, 0, 0]\nlinks:\n{links}")
    led = {"motion": {"all": {"law": "cycloid", "to": 2}}, "forces": {"all": {"law": "feedforward"}}}
    scenario = {"task": "simulate", "time": {"end": 1, "step": 0.1}, **led}
    heavy = [{"robot.links.b.mass": 1000 + k} for k in range(3)]
    with using_backend(backend):
        for run in (*denoc.ensemble(scenario, heavy[:1], robot), *denoc.ensemble(scenario, heavy, robot)):
            assert run.table["a.q"][-1] == pytest.approx(2, abs=1e-6)
            assert run.table["b.q"][-1] == pytest.approx(2, abs=1e-6)
