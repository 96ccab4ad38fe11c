"""Force laws on joints without actuators in mechanisms, by Lagrange's equation and by virtual work."""

import numpy as np
import pytest

import denoc
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.text import Change
from fourbar import GRAVITY, MASSES, ROCKER, inertia_and_weight

CYCLOID = {"A0": {"law": "cycloid", "to": 0.5}}


def torque(table, force_A, force_B0, h=1e-4):
    """A0's moment by Lagrange's equation, the forces of the passive joints as generalized forces."""
    a, rate, second = (table[f"A0.{what}"] for what in ("q", "qd", "qdd"))
    M, _, rates = inertia_and_weight(a)
    turns = rates[:, 2]
    by_A, by_B0 = turns[1] - turns[0], turns[2]
    slope_M, slope_V = ((inertia_and_weight(a + h)[k] - inertia_and_weight(a - h)[k]) / (2 * h) for k in (0, 1))
    return M * second + slope_M * rate**2 / 2 + slope_V - force_A * by_A - force_B0 * by_B0


LAWS = {
    "none": {},
    "constant": {"A": {"law": "constant", "value": 5}},
    "spring": {"A": {"law": "spring", "stiffness": 20}},
    "set point": {"A": {"law": "pd", "to": 1.2, "kp": 20, "kd": 0.7}},
    "two": {
        "A": {"law": "harmonic", "amplitude": 4, "period": 0.3},
        "B0": {"law": "spring", "stiffness": 9, "rest": 2},
    },
}
FORCES = {
    "none": lambda t, A, Ad: 0 * t,
    "constant": lambda t, A, Ad: 5 + 0 * t,
    "spring": lambda t, A, Ad: -20 * A,
    "set point": lambda t, A, Ad: 20 * (1.2 - A) - 0.7 * Ad,
    "two": lambda t, A, Ad: 4 * np.sin(2 * np.pi * t / 0.3),
}


def run(forces, task="inverse", step=0.01, **more):
    time = {"end": 0.5, "step": step}
    return denoc.run({"robot": "four-bar", "task": task, "time": time, "motion": CYCLOID, "forces": forces, **more})


@pytest.mark.parametrize("task", ["inverse", "simulate"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.sampled(4)
def test_the_crank_feels_the_forces_of_passive_joints(law, task):
    result = run(LAWS[law], task)
    table = result.table
    force_A = FORCES[law](result.t, table["A.q"], table["A.qd"])
    force_B0 = 9 * (2 - table["B0.q"]) if law == "two" else 0 * result.t
    assert table["A.tau"] == pytest.approx(force_A, abs=1e-12)
    assert table["B0.tau"] == pytest.approx(force_B0, abs=1e-12)
    wanted = torque(table, force_A, force_B0)
    assert abs(table["A0.tau"] - wanted).max() <= 1e-6 * abs(wanted).max()
    assert result.audit["energy"] <= 1e-11  # a hundredth of the step's fifth power; rounding from 0.002 s on


def test_the_numbers_of_a_quarter_second():
    assert run(LAWS["constant"], step=0.05).table["A0.tau"][5] == pytest.approx(9.16996, rel=1e-6)
    assert run(LAWS["spring"], step=0.05).table["A0.tau"][5] == pytest.approx(-16.515, rel=2e-5)


@pytest.mark.parametrize("law", ["spring", "set point", "two"])
@pytest.mark.sampled(2)
def test_their_power_is_in_the_energy_balance(law):
    assert run(LAWS[law], step=0.002).audit["energy"] <= 1e-14


def test_the_cut_feels_them():
    """Moments about the rocker's joint: the cut's force and the rocker's own, nothing else."""
    table = run(LAWS["two"]).table
    b, moment = table["B0.q"], table["B0.tau"]
    push = ROCKER * (np.cos(b) * table["B.lambda.fy"] - np.sin(b) * table["B.lambda.fx"])
    weight = -MASSES[2] * GRAVITY * ROCKER / 2 * np.cos(b)
    wanted = MASSES[2] * ROCKER**2 / 3 * table["B0.qdd"]
    assert push + weight + moment == pytest.approx(wanted, abs=1e-11 * abs(push).max())


def test_a_table_acts_as_its_spline(tmp_path):
    t = np.linspace(0, 0.5, 11)
    (tmp_path / "push.csv").write_text("t,m\n" + "\n".join(f"{x!r},{3 - 4 * x!r}" for x in t.tolist()))
    (tmp_path / "s.yaml").write_text(
        "robot: four-bar\ntask: inverse\ntime: {end: 0.5, step: 0.01}\nmotion: {A0: {law: cycloid, to: 0.5}}\n"
        "forces: {A: {law: table, file: push.csv, column: m}}\n"
    )
    result = denoc.run(tmp_path / "s.yaml")
    assert result.table["A.tau"] == pytest.approx(3 - 4 * result.t, abs=1e-12)
    wanted = torque(result.table, 3 - 4 * result.t, 0.0)
    assert abs(result.table["A0.tau"] - wanted).max() <= 1e-6 * abs(wanted).max()


@pytest.mark.parametrize("name", ["five-bar-idyn", "three-rrr-idyn", "carpet-scraper-idyn", "hoeken-idyn"])
@pytest.mark.sampled(4)
def test_what_actuators_do_besides_is_the_virtual_work(name):
    """What a force on a passive joint takes off the actuators is its work on the way that a unit of theirs makes it go.

    The ways are differences of positions that `assemble` closes.
    """
    plan = prepare_scenario(name)
    robot = plan.robot
    passive = [joint for joint in robot.moving if not joint.actuated]
    ruled = {motion.joint.name for motion in plan.system.inputs.prescribed}
    laws = {j.name: {"law": "constant", "value": 1.5 - k} for k, j in enumerate(passive) if j.name not in ruled}
    changes = [Change(f"forces.{joint}", law, f"forces.{joint}") for joint, law in laws.items()]
    bare, loaded = denoc.run(name), carry_out_plan(prepare_scenario(name, changes=changes))
    driven = list(robot.driven)
    for row in (0, len(bare.t) // 3, len(bare.t) - 1):
        q = np.array([bare.table[f"{joint.name}.q"][row] for joint in robot.moving])
        ways = np.array([way(robot, q, k) for k in driven])
        pushes = np.array([laws.get(joint.name, {"value": 0.0})["value"] for joint in robot.moving])
        taken = [
            bare.table[f"{joint.name}.tau"][row] - loaded.table[f"{joint.name}.tau"][row]
            for joint in robot.moving
            if joint.actuated
        ]
        assert taken == pytest.approx(ways @ pushes, abs=1e-7 * max(1.0, abs(ways).max()))


def way(robot, q, k, h=1e-4):
    """How all joints move with a unit of one actuated joint, the other actuated ones kept."""
    found = []
    for step in (h, -h):
        start = q.copy()
        start[k] += step
        found.append(denoc.assemble(robot, start))
    return (found[0] - found[1]) / (2 * h)


GEARS = """
name: gears
convention: frames
gravity: [0, 0, 0]
links:
  - {name: one, parent: base, joint: {type: revolute, name: a}, mass: 1, com: [0, 0, 0],
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {name: two, parent: base, joint: {type: revolute, name: b, xyz: [1, 0, 0]}, mass: 2, com: [0, 0, 0],
     inertia: {xx: 0.2, yy: 0.2, zz: 0.2}}
couplings:
  - {joint: b, to: a, ratio: -2, offset: 0.3}
"""


@pytest.mark.parametrize("task", ["inverse", "simulate"])
def test_couplings_in_an_open_tree(task):
    """(I_a + r² I_b) ä = τ + r m: a spring on the follower is felt r times by who leads."""
    result = denoc.run(
        {
            "robot": "gears",
            "task": task,
            "time": {"end": 1, "step": 0.01},
            "motion": {"a": {"law": "cycloid", "to": 0.7}},
            "forces": {"b": {"law": "spring", "stiffness": 6, "damping": 0.4}},
        },
        robot=denoc.loads(GEARS),
    )
    table = result.table
    moment = -6 * table["b.q"] - 0.4 * table["b.qd"]
    assert table["b.tau"] == pytest.approx(moment, abs=1e-12)
    assert table["a.tau"] == pytest.approx((0.1 + 4 * 0.2) * table["a.qdd"] + 2 * moment, abs=1e-11)
    assert result.audit["energy"] <= 1e-11


def test_a_law_of_a_loop_ends_at_its_limits_in_inverse_tasks_too():
    """The crank's moment is cut off; so is what the rocker's moment has to balance, by virtual power."""
    scenario = {
        "robot": "four-bar",
        "task": "simulate",
        "time": {"end": 0.5, "step": 0.01},
        "motion": {"B0": {"law": "cycloid", "to": 1.8}},
        "forces": {"A0": {"law": "harmonic", "amplitude": 2, "period": 0.4}},
    }
    (result,) = denoc.ensemble(scenario, [{"robot.links.crank.joint.effort": {"limits": [-1, 1.5]}}])
    wanted = np.clip(2 * np.sin(2 * np.pi * result.t / 0.4), -1, 1.5)
    assert result.table["A0.tau"] == pytest.approx(wanted, abs=1e-12)
    assert torque(result.table, 0.0, result.table["B0.tau"]) == pytest.approx(wanted, abs=1e-5)


def test_an_actuated_joint_under_a_law_is_not_sought():
    """The crank's moment is given, the rocker's motion too: the rocker's moment is the output, by virtual power."""
    result = denoc.run(
        {
            "robot": "four-bar",
            "task": "simulate",
            "time": {"end": 0.5, "step": 0.01},
            "motion": {"B0": {"law": "cycloid", "to": 1.8}},
            "forces": {"A0": {"law": "constant", "value": 2}},
        }
    )
    table = result.table
    assert table["A0.tau"] == pytest.approx(2.0, abs=0)
    assert torque(table, 0.0, table["B0.tau"]) == pytest.approx(2.0, abs=1e-5)
    assert result.audit["energy"] <= 1e-10
