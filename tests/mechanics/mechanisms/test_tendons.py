"""Actuators on weighted sums of joints: tendons, and motors behind gears."""

import numpy as np
import pytest

import denoc
import yamls
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.scenario import stored_scenario_result
from denoc.study.verification import verify_result
from denoc.text import library_folder

SHORT = {"task": "simulate", "time": {"end": 0.06, "step": 0.02}, "solver": {"rtol": 1e-11}}
PULLED = {"name": "pull", "joints": {"FIRST": 1.0, "SECOND": -0.5}, "gear": 2.0}


def with_tendons(name, *tendons, **joints):
    """A robot of the library with these actuators; `joints` are keys of its joints, by the joints' names."""
    data = yamls.load((library_folder("robots") / f"{name}.yaml").read_text())
    for k, link in enumerate(data["links"], start=1):
        link["joint"] = {**link["joint"], **joints.get(link["joint"].get("name", f"joint{k}"), {})}
    return denoc.loads(yamls.dump({**data, "actuators": list(tendons)}))


def tendon(first, second, **more):
    return {**PULLED, "joints": {first: 1.0, second: -0.5}, **more}


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("name, first, second", [("planar3r", "joint1", "joint2"), ("four-bar", "A0", "B0")])
def test_a_tendon_pulls_each_joint_by_its_coefficient(name, first, second, backend, tmp_path):
    """The force is that of a formula over the sum of joints, and the joints have their shares of it."""
    own = f"(2*{first}.q - {second}.q)", f"(2*{first}.qd - {second}.qd)"
    formula = "3*cos(4*t) - 5*(LENGTH - 0.1) - 0.4*RATE"
    along = formula.replace("LENGTH", "q").replace("RATE", "qd")
    share = formula.replace("LENGTH", own[0]).replace("RATE", own[1])
    forces = {
        first: {"law": "expression", "force": f"2*({share})"},
        second: {"law": "expression", "force": f"-({share})"},
    }
    with using_backend(backend):
        pulled = denoc.run(
            {**SHORT, "forces": {"pull": {"law": "expression", "force": along}}, "record": {"reactions": True}},
            with_tendons(name, tendon(first, second)),
        )
        shared = denoc.run({**SHORT, "robot": name, "forces": forces, "record": {"reactions": True}})
    for column in shared.table:
        if column.endswith((".q", ".qd", ".qdd")) or ".reaction." in column or ".lambda." in column:
            size = 1.0 + abs(shared.table[column]).max()
            np.testing.assert_allclose(pulled.table[column], shared.table[column], rtol=0, atol=1e-9 * size)
    force = shared.table[f"{first}.tau"] / 2
    np.testing.assert_allclose(pulled.table["pull.force"], force, atol=1e-9)
    assert not pulled.table[f"{first}.tau"].any()
    assert abs(force * (2 * pulled.table[f"{first}.qd"] - pulled.table[f"{second}.qd"])).max() > 0.3  # it does work
    assert pulled.audit["energy_share"] < 1e-9
    pulled.write(tmp_path, plot=False)
    assert verify_result(stored_scenario_result(tmp_path / pulled.name)).ok


def test_laws_of_one_joint_act_on_the_sum():
    """A spring and a set point of a tendon, beside the same as formulas."""
    robot = with_tendons("planar3r", tendon("joint1", "joint3"))
    for law, formula in (
        ({"law": "spring", "stiffness": 20, "rest": 0.3, "damping": 0.1}, "-20*(q - 0.3) - 0.1*qd"),
        ({"law": "pd", "kp": 30, "kd": 2, "to": 0.4}, "30*(0.4 - q) - 2*qd"),
    ):
        own, written = (
            denoc.run({**SHORT, "forces": {"pull": one}}, robot)
            for one in (law, {"law": "expression", "force": formula})
        )
        np.testing.assert_allclose(own.table["pull.force"], written.table["pull.force"], atol=1e-11)
        np.testing.assert_allclose(own.table["joint2.q"], written.table["joint2.q"], atol=1e-11)


def test_limits_are_those_of_the_tendon_itself():
    """A motor of 1.5 N m behind a gear of -3: the joint gets no more than 4.5 N m, from the same instants on."""
    law = {"law": "expression", "force": "40*sin(20*t) + joint1.qd"}
    scenario = {**SHORT, "time": {"end": 0.3, "step": 0.05}}
    geared = with_tendons(
        "planar3r", {"name": "motor", "joints": {"joint1": 1}, "gear": -3, "effort": {"limits": [-1.5, 1.5]}}
    )
    run = denoc.run({**scenario, "forces": {"motor": law}}, geared)
    alone = with_tendons("planar3r", joint1={"effort": {"limits": [-4.5, 4.5]}})
    same = denoc.run({**scenario, "forces": {"joint1": {**law, "force": f"-3*({law['force']})"}}}, alone)
    np.testing.assert_allclose(run.table["joint1.q"], same.table["joint1.q"], atol=1e-9)
    np.testing.assert_allclose(-3 * run.table["motor.force"], same.table["joint1.tau"], atol=1e-8)
    assert abs(run.table["motor.force"]).max() == 1.5
    events = [event["event"] for event in run.record["events"]]
    assert events[:2] == ["reaches its effort limit", "leaves its effort limit"]
    assert [event["actuator"] for event in run.record["events"]] == ["motor"] * len(events)
    times = [[event["t"] for event in one.record["events"]] for one in (run, same)]
    np.testing.assert_allclose(*times, atol=1e-9)


@pytest.mark.parametrize("name, first, second", [("planar3r", "joint1", "joint2"), ("four-bar", "A0", "B0")])
@pytest.mark.sampled(2)
def test_runs_side_by_side_are_those_alone(name, first, second, tmp_path):
    (tmp_path / "r.yaml").write_text(yamls.dump(with_tendons(name, tendon(first, second)).document.data))
    law = {"law": "expression", "force": "3*cos(4*t) - 5*q - 0.4*qd"}
    scenario = {**SHORT, "robot": str(tmp_path / "r.yaml"), "forces": {"pull": law}}
    link = "link2" if name == "planar3r" else "coupler"
    variations = [{f"robot.links.{link}.mass": mass} for mass in (0.5, 0.8, 1.1)]
    for one, variation in zip(denoc.ensemble(scenario, variations), variations):
        alone = denoc.ensemble(scenario, [variation])[0]
        for column in (f"{first}.q", f"{second}.qd", "pull.force"):
            np.testing.assert_allclose(one.table[column], alone.table[column], rtol=0, atol=1e-9)
        length = 2 * one.table[f"{first}.q"] - one.table[f"{second}.q"]
        rate = 2 * one.table[f"{first}.qd"] - one.table[f"{second}.qd"]
        wanted = 3 * np.cos(4 * one.t) - 5 * length - 0.4 * rate
        np.testing.assert_allclose(one.table["pull.force"], wanted, atol=1e-9)


def motion(robot, seed=3):
    generator = np.random.default_rng(seed)
    return [generator.uniform(-1, 1, (5, robot.nv)) for _ in range(3)]


def test_three_tendons_move_three_joints():
    """As many tendons as joints: their forces are the solution of Rᵀ u = τ."""
    R = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.5], [2.0, 0.0, 1.0]])
    tendons = [{"name": f"t{k}", "joints": {f"joint{n + 1}": x for n, x in enumerate(row)}} for k, row in enumerate(R)]
    robot = with_tendons("planar3r", *tendons)
    assert [joint.actuated for joint in robot.moving] == [False] * 3
    tau = denoc.inverse(denoc.load("planar3r"), *motion(robot))
    np.testing.assert_allclose(denoc.inverse(robot, *motion(robot)), np.linalg.solve(R.T, tau.T).T, rtol=1e-10)


def test_tendons_beside_motors_share_the_work():
    """Three motors and a tendon: the least Σ weight u², with and without a limit of the tendon."""
    pull = {"name": "pull", "joints": {"joint1": 2, "joint2": -1}, "effort": {"weight": 3.0}}
    free = {key: {"actuated": True} for key in ("joint1", "joint2", "joint3")}
    robot = with_tendons("planar3r", pull, **free)
    tau = denoc.inverse(denoc.load("planar3r"), *motion(robot))
    S = np.hstack([np.eye(3), [[2.0], [-1.0], [0.0]]])
    W = np.diag([1, 1, 1, 3.0])
    u = np.linalg.solve(W, S.T) @ np.linalg.solve(S @ np.linalg.solve(W, S.T), tau.T)
    found = denoc.inverse(robot, *motion(robot))
    np.testing.assert_allclose(found, u.T, rtol=1e-10, atol=1e-12)
    least = 0.5 * abs(u[3]).min()  # at which the tendon always is, then
    limited = with_tendons("planar3r", {**pull, "effort": {"weight": 3.0, "limits": [-least, least]}}, **free)
    held = denoc.inverse(limited, *motion(robot))
    np.testing.assert_allclose(held[:, 3], least * np.sign(u[3]), rtol=1e-10)
    np.testing.assert_allclose(held @ S.T, tau, rtol=1e-9)


def test_a_mechanism_is_moved_by_a_tendon():
    """The power of the tendon is that of the crank's motor for the same motion."""
    scenario = {"task": "inverse", "time": {"end": 1, "step": 0.1}, "motion": {"A0": {"law": "rate", "rate": 2}}}
    geared = with_tendons("four-bar", {"name": "pull", "joints": {"A": 1, "B0": 0.7}}, A0={"actuated": False})
    pulled, driven = denoc.run(scenario, geared), denoc.run({**scenario, "robot": "four-bar"})
    speed = driven.table["A.qd"] + 0.7 * driven.table["B0.qd"]
    np.testing.assert_allclose(pulled.table["pull.force"] * speed, driven.table["A0.tau"] * 2, rtol=1e-9)


@pytest.mark.parametrize("name", ["planar3r", "four-bar"])
@pytest.mark.sampled(2)
def test_feedforward_knows_what_tendons_do(name):
    """The planned forces leave to a tendon and to a push at a link what these do, so that the motion is the planned one."""
    planned = {"law": "cycloid", "to": 0.5}
    first, second = ("joint1", "joint3") if name == "planar3r" else ("A0", "B0")
    moved = {"joint1": planned, "joint2": planned, "joint3": planned} if name == "planar3r" else {"A0": planned}
    link = "link2" if name == "planar3r" else "coupler"
    robot = with_tendons(
        name,
        tendon(first, second),
        {"name": "push", "link": link, "direction": [0, 1, 0]},
        **{joint: {"actuated": True} for joint in moved},
    )
    follow = {joint: {"law": "feedforward"} for joint in moved}
    pushed = {"pull": {"law": "expression", "force": "2*t - 3*q"}, "push": {"law": "constant", "value": "2 N"}}
    scenario = {**SHORT, "time": {"end": 0.2, "step": 0.05}, "motion": moved}
    run = denoc.run({**scenario, "forces": {**follow, **pushed}}, robot)
    led = denoc.run({**scenario, "task": "inverse", "robot": name, "record": {"energy": False}})
    for joint in moved:
        np.testing.assert_allclose(run.table[f"{joint}.q"], led.table[f"{joint}.q"], atol=1e-8)


@pytest.mark.parametrize(
    "entry, message",
    [
        ({"joints": {}}, "an actuator moves something"),
        ({"joints": {"joint1": 1}, "gear": 0}, "an actuator moves something"),
        ({"joints": {"joint9": 1}}, "no such joint"),
        ({"joints": {"joint1": 1}, "at": [0, 0, 1]}, "this actuator acts on joints"),
        ({"joints": {"joint1": "1 m"}}, "joints.joint1"),
        ({"direction": [1, 0, 0]}, "`link` is missing"),
        ({"link": "link1", "direction": [1, 0, 0], "gear": 2}, "a gear multiplies"),
        ({"joints": {"joint1": 1}, "effort": {"limits": ["-1 N", "1 N"]}}, "N m"),
    ],
)
def test_mistakes_stand_at_their_places(entry, message):
    with pytest.raises(InputError) as error:
        with_tendons("planar3r", {"name": "pull", **entry})
    assert message in str(error.value) + error.value.allowed
