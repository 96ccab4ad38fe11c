"""Columns of points, resultants and formulas beside Newton's and Euler's equations, and beside differences of others."""

import json

import numpy as np
import pytest

import denoc
import newton
from denoc.errors import InputError
from denoc.mechanics.tree import rates_of_link_points
from denoc.scenario.carry_out import carry_out_plan, prepare_scenario
from denoc.scenario.rows import Rows
from denoc.scenario.stored import stored_scenario_result
from denoc.study import animation_force_arrows
from denoc.study.verification import verify_result
from denoc.text import Change
from displacing import eighth_order
from random_robots import drawn

AXES = ("x", "y", "z")


def rows_of(case, wrenches=None):
    """The rows of a run of one row."""
    q, qd, qdd = (np.array([x]) for x in case.state)
    none = np.zeros((1, len(case.qd)))
    return Rows(case.robot, q, qd, qdd, none, np.zeros(1), [], None, None, {}, lambda: wrenches)


@pytest.mark.parametrize("seed", range(12))
def test_points_move_as_newton_says(seed):
    """The velocity and acceleration of each mass centre, in trees of all joint types."""
    case = drawn(1100 + seed)
    centres = [(link.name, link.com) for link in case.robot.links]
    rates = rates_of_link_points(case.robot, *(list(x) for x in case.state), centres)
    for link, (v, a) in zip(case.robot.links, rates):
        centre = case.newton.centres[link.name]
        np.testing.assert_allclose(v, centre.v, atol=1e-11 * case.bends() ** 2)
        np.testing.assert_allclose(a, centre.a, atol=1e-11 * case.bends() ** 2)


@pytest.mark.parametrize("seed", range(12))
def test_the_ground_gives_what_the_whole_machine_needs(seed):
    """Newton's law: what passes from the ground is the rate of momentum less weight and outer wrenches."""
    case = drawn(1200 + seed)
    right, g = case.newton, np.array(case.file["gravity"])
    needed = np.zeros(6)
    for link in case.robot.links:
        place, (rate_p, rate_L) = right.frames[link.name], right.rates[link.name]
        n, f = np.split(newton.external_wrench(case.file, link.name, place), 2)
        weight, centre = link.mass * g, right.centres[link.name].p
        needed[3:] += rate_p - weight - f
        needed[:3] += rate_L + np.cross(centre, rate_p - weight) - n - np.cross(place.p, f)
    found = rows_of(case).from_ground[0]
    np.testing.assert_allclose(found, needed, atol=1e-10 * (1 + abs(needed).max()))


TURN = {"task": "inverse", "time": {"end": 1.0, "step": 0.01}, "motion": {"wheel": {"law": "rate", "rate": 3.0}}}
WHEEL = """
name: wheel
convention: frames
links:
  - name: disc
    joint: {type: revolute, name: wheel, axis: [0, 0, 1]}
    mass: 1
    com: [0.1, 0, 0]
    inertia: {xx: 1, yy: 1, zz: 1}
    points: {rim: [0.5, 0, 0.2]}
"""


def xyz(result, name):
    return np.stack([result[f"{name}{axis}"] for axis in AXES], axis=1)


def test_a_point_on_a_circle():
    record = {"points": ["disc.rim"], "point_velocities": True, "point_accelerations": True, "resultants": True}
    result = denoc.run({**TURN, "record": record}, denoc.loads(WHEEL))
    c, s, zero = np.cos(3 * result.t), np.sin(3 * result.t), 0 * result.t
    np.testing.assert_allclose(xyz(result, "disc.rim.v"), 1.5 * np.stack([-s, c, zero], 1), atol=1e-14)
    np.testing.assert_allclose(xyz(result, "disc.rim.a"), -4.5 * np.stack([c, s, zero], 1), atol=1e-14)
    # m ω² r inwards, and the weight
    np.testing.assert_allclose(
        xyz(result, "base.resultant.f"), np.stack([-0.9 * c, -0.9 * s, zero + 9.81], 1), atol=1e-14
    )
    np.testing.assert_allclose(result["wheel.reaction.f"], np.hypot(0.9, 9.81), rtol=1e-14)
    names = [name for name in result if name.startswith("disc.")]
    assert names == [f"disc.rim.{kind}{axis}" for kind in ("", "v", "a") for axis in AXES]
    units = {column.name: column.unit for column in result.columns}
    assert [units[f"disc.rim.{x}"] for x in ("x", "vx", "ax")] == ["m", "m/s", "m/s²"]


H = 1e-4
LIFT = {"robot": "four-bar", "task": "simulate", "drives": [{"name": "lift", "link": "coupler", "at": [0.1, 0.02, 0],
        "along": [0, 1, 0], "law": "rate", "rate": 0.4}]}  # fmt: skip


@pytest.mark.parametrize("scenario", ["four-bar-idyn", "suspension-idyn", "three-rrr-fall", LIFT], ids=str)
@pytest.mark.sampled(2)
def test_the_ground_holds_mechanisms(scenario):
    """Differences of the momenta of all links, from positions and Jacobians, beside reactions, cuts and drives."""
    changed = {"time": {"end": 0.1 + 4 * H, "step": H}, "record.resultants": True, "solver.rtol": 1e-12}
    if scenario is LIFT:
        changed["robot.links.crank.joint.actuated"] = False
    plan = prepare_scenario(scenario, changes=[Change(key, value, "test", "") for key, value in changed.items()])
    result, robot = carry_out_plan(plan), plan.robot
    assert result.ended == "done"
    q, qd = (coordinates(result, robot)[-9:], speeds(result, robot)[-9:])
    frames, momentum, weight = denoc.frames(robot, q), np.zeros((9, 6)), np.zeros(6)
    for link in robot.links:
        spin, v = np.split(np.einsum("nij,nj->ni", denoc.jacobian(robot, q, link.name, link.com), qd), 2, axis=1)
        T = frames[link.name]
        centre = (T @ [*link.com, 1.0])[:, :3]
        J = T[:, :3, :3] @ np.array(link.inertia) @ T[:, :3, :3].swapaxes(1, 2)
        momentum[:, 3:] += link.mass * v
        momentum[:, :3] += np.einsum("nij,nj->ni", J, spin) + np.cross(centre, link.mass * v)
        weight += link.mass * np.concatenate([np.cross(centre[4], robot.gravity), robot.gravity])
    rate = eighth_order(lambda dt: momentum[4 + round(dt / H)], H)
    middle = {name: T[4] for name, T in frames.items()}
    outer = sum(outer_wrenches(plan, result, middle), np.zeros(6))
    found = np.array([result[f"base.resultant.{kind}{axis}"][-5] for kind in "nf" for axis in AXES])
    np.testing.assert_allclose(found, rate - weight - outer, atol=1e-6 * abs(weight).max())
    if scenario is LIFT:
        assert abs(result["lift.force"]).min() > 1.0  # it is a drive of its own that holds the coupler


def coordinates(result, robot):
    return np.stack([result[f"{joint.name}.{s}"] for joint in robot.moving for s in joint.type.coordinates], 1)


def speeds(result, robot):
    return np.stack([result[f"{joint.name}.{s}"] for joint in robot.moving for s in joint.type.speeds], 1)


def outer_wrenches(plan, result, frames):
    """What acts from outside five rows before the end, [n; f] about the origin: given wrenches, actuators of links."""
    acting = [(one, [component(result.t[-5]) for component in one.components]) for one in plan.system.inputs.wrenches]
    for one in plan.robot.actuators:
        size = result[f"{one.name}.force"][-5] * np.array(one.direction)
        acting.append((one, np.concatenate([size * one.moment, size * (not one.moment)])))
    for one, six in acting:
        T = frames[one.link]
        turn = np.eye(3) if one.axes == "base" else T[:3, :3]
        n, f = (turn @ np.array(part, dtype=float) for part in (six[:3], six[3:]))
        yield np.concatenate([n + np.cross((T @ [*one.at, 1.0])[:3], f), f])


def test_wrenches_in_axes_of_links():
    """Turned back they are those in base axes; what can't be known is marked in the axes that are shown."""
    swing = {"robot": "tree", "task": "inverse", "time": {"end": 1}, "motion": {"all": {"law": "cycloid", "to": 1.0}}}
    bars = {"robot": "four-bar", "task": "inverse", "time": {"end": 1}, "motion": {"A0": {"law": "cycloid", "to": 2.0}}}
    for scenario, cuts in ((swing, {}), (bars, {"B.lambda": "rocker"})):
        robot = denoc.load(scenario["robot"])
        one, other = (denoc.run({**scenario, "record": {"reactions": True, "axes": axes}}) for axes in ("base", "link"))
        frames = denoc.frames(robot, coordinates(one, robot))
        on = {f"{link.joint.name}.reaction": link.name for link in robot.links} | cuts
        for wrench, link in on.items():
            for kind in "fn":
                base, own = xyz(one, f"{wrench}.{kind}"), xyz(other, f"{wrench}.{kind}")
                turned = np.einsum("nij,nj->ni", frames[link][:, :3, :3], own)
                np.testing.assert_allclose(turned, base, atol=1e-12 * (1 + abs(base).max()))
        assert other.record["input"]["record"]["axes"] == "link"
    assert "B.lambda.fz" in other.record["undetermined"]
    assert "B.lambda.fx" not in other.record["undetermined"]


def test_wrenches_in_axes_of_links_are_verified_and_not_drawn_in_others(tmp_path):
    bars = {"name": "bars", "robot": "four-bar", "task": "inverse", "time": {"end": 0.2}}
    bars |= {"motion": {"A0": {"law": "cycloid", "to": 2.0}}, "plots": []}
    drawn = {}
    for axes in ("base", "link"):
        denoc.run({**bars, "record": {"axes": axes}}).write(tmp_path / axes, plot=False)
        kept = stored_scenario_result(tmp_path / axes)
        assert verify_result(kept).ok
        drawn[axes] = {
            one["joint"] for one in animation_force_arrows(kept, denoc.load("four-bar")) if one["kind"] == "reaction"
        }
    assert drawn == {"base": {"B"}, "link": set()}


def test_sizes_of_what_is_not_determined_are_marked():
    scenario = {
        "robot": "four-bar",
        "task": "inverse",
        "time": {"end": 1},
        "motion": {"A0": {"law": "cycloid", "to": 2}},
    }
    result = denoc.run({**scenario, "record": {"resultants": True}})
    lost = result.record["undetermined"]
    assert {"A.reaction.f", "A.reaction.n", "B.lambda.f"} <= {*lost}
    assert not any(name.startswith("base.") or name.endswith("reaction.fz") for name in lost)
    np.testing.assert_allclose(
        result["B.lambda.f"], np.sqrt(sum(result[f"B.lambda.f{axis}"] ** 2 for axis in AXES)), rtol=1e-14
    )


# ---- formulas

FORMULAS = {
    "power": {"formula": "joint2.tau * joint2.qd", "unit": "W"},
    "elbow": {"formula": "joint3.q", "unit": "deg"},
    "both": "power + joint3.tau * joint3.qd",
    "late": "step(t - 0.5)",
    "half": "0.5",
}
ARM = {
    "name": "arm",
    "robot": "planar3r",
    "task": "inverse",
    "time": {"end": 1, "step": 0.1},
    "motion": {"all": {"law": "cycloid", "to": 1.2}},
    "record": {"expressions": FORMULAS},
}


def test_formulas_are_what_they_say(tmp_path):
    result = denoc.run(ARM)
    power = result["joint2.tau"] * result["joint2.qd"]
    np.testing.assert_array_equal(result["power"], power)
    np.testing.assert_allclose(result["elbow"], np.rad2deg(result["joint3.q"]), rtol=1e-15)
    np.testing.assert_array_equal(result["both"], power + result["joint3.tau"] * result["joint3.qd"])
    np.testing.assert_array_equal(result["late"], np.heaviside(result.t - 0.5, 0.5))
    assert (result["half"] == 0.5).all()
    kept = json.loads(next(file for file in result.write(tmp_path, plot=False) if file.suffix == ".json").read_text())
    assert {c["name"]: c["unit"] for c in kept["columns"]}["elbow"] == "deg"
    again = denoc.run(tmp_path / "arm.scenario.yaml")
    assert list(again) == list(result)
    np.testing.assert_array_equal(again["both"], result["both"])


def test_formulas_with_tables_travel_with_their_run(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "gain.csv").write_text("x,y\n0,0\n1,10\n2,0\n")
    file = tmp_path / "here" / "looked.yaml"
    file.write_text(json.dumps({**ARM, "record": {"expressions": {"up": 'lookup("gain.csv", joint1.q, linear)'}}}))
    result = denoc.run(file)
    np.testing.assert_allclose(result["up"], 10 - 10 * abs(result["joint1.q"] - 1), atol=1e-12)
    result.write(tmp_path / "there", plot=False)
    assert (tmp_path / "there" / "arm.gain.csv").is_file()
    np.testing.assert_array_equal(denoc.run(tmp_path / "there" / "arm.scenario.yaml")["up"], result["up"])


def test_formulas_of_runs_side_by_side_are_those_of_runs_alone():
    fall = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.2, "step": 0.05}}
    fall["record"] = {"expressions": {"fast": {"formula": "t * joint1.qd", "unit": "deg"}}}
    runs = denoc.ensemble(fall, [{"initial.joint1": 0.1 * k} for k in range(4)])
    for k, run in enumerate(runs):
        np.testing.assert_allclose(run["fast"], np.rad2deg(run.t * run["joint1.qd"]), rtol=1e-14)
        assert [c.unit for c in run.columns if c.name == "fast"] == ["deg"], k


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"expressions": {"p": "joint2.tua"}}, "did you mean `joint2.tau`"),
        ({"expressions": {"p": "2 * joint1.reaction.fx"}}, "`record: {reactions: true}` makes it"),
        ({"expressions": {"p": "energy.total"}, "energy": False}, "`record: {energy: true}` makes it"),
        ({"expressions": {"p": {"formula": "q + 1"}}}, "at character 1: unknown name `q`"),
        ({"expressions": {"a": "b", "b": "t"}}, "unknown name `b`"),
        ({"expressions": {"t": "1"}}, "there is a column `t` already"),
        ({"expressions": {"p": {"formula": "t", "unit": "furlong"}}}, "not a unit"),
        ({"expressions": {"p": {"formula": "t", "unit": "2 m"}}}, "not a unit"),
        ({"expressions": {"a.b": "1"}}, "not a name"),
        ({"point_velocities": True}, "no points are recorded"),
        ({"axes": "both"}, "allowed: base, link"),
    ],
)
def test_what_can_not_be_recorded_is_said_before_the_run(record, said):
    with pytest.raises(InputError) as error:
        denoc.run({**ARM, "record": record})
    assert said in str(error.value)
