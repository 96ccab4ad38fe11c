"""Springs and dampers over weighted sums of joints: tendons, shafts between gears."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import denoc
import yamls
from comparing import off
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.mechanics.platforms.parallel_robot import bodies_shared_by_legs
from denoc.scenario import prepare_scenario, stored_scenario_result
from denoc.study import generate_code
from denoc.study.distribution import distribution_part_count
from denoc.study.verification import verify_result
from denoc.text import library_folder

SHORT = {"task": "simulate", "time": {"end": 0.06, "step": 0.02}, "solver": {"rtol": 1e-11}}
CORDS = (
    ("cord", {"FIRST": 2.0, "SECOND": -0.5}, 30.0, 0.2, 0.7),
    ("damper", {"SECOND": 1.5, "FIRST": 0.3}, 0.0, 0.0, 0.4),
)
ROBOTS = [("planar3r", "joint1", "joint3"), ("four-bar", "A0", "B0")]


def with_springs(name, first, second, **more):
    """A robot of the library with a spring and a damper, and its data."""
    data = yamls.load((library_folder("robots") / f"{name}.yaml").read_text())
    place = {"FIRST": first, "SECOND": second}
    springs = [
        {"name": own, "joints": {place[k]: r for k, r in ratios.items()}, "stiffness": k, "rest": rest, "damping": d}
        for own, ratios, k, rest, d in CORDS
    ]
    return {**data, "springs": springs, **more}


def needed(robot, first, second, q, qd):
    """The forces that actuators need against these springs, by the definition, joint by joint."""
    result = np.zeros_like(qd)
    for _, ratios, k, rest, d in CORDS:
        r = np.zeros(robot.nv)
        r[[robot.joint(first).speeds[0], robot.joint(second).speeds[0]]] = ratios["FIRST"], ratios["SECOND"]
        result += np.multiply.outer(k * (q @ r - rest) + d * (qd @ r), r)
    return result


def states(robot, count=5, seed=3):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, (count, robot.nv)) for _ in range(3)]


@pytest.mark.parametrize("form", ["plain", "straight", "rolled"])
@pytest.mark.parametrize("count", [1, 5])
def test_every_call_has_their_forces(form, count):
    """Inverse and forward dynamics, mixed ones, derivatives: those without springs and the springs' own forces."""
    plain, robot = denoc.load("planar3r"), denoc.loads(yamls.dump(with_springs(*ROBOTS[0])))
    q, qd, qdd = states(robot, count)
    if count == 1:
        q, qd, qdd = q[0], qd[0], qdd[0]
    own = needed(robot, "joint1", "joint3", q, qd)
    with using_backend("plain" if form == "plain" else "compiled", **({} if form == "plain" else {"form": form})):
        tau = denoc.inverse(robot, q, qd, qdd)
        np.testing.assert_allclose(tau, denoc.inverse(plain, q, qd, qdd) + own, atol=1e-12)
        np.testing.assert_allclose(denoc.forward(robot, q, qd, tau), qdd, atol=1e-9)
        np.testing.assert_allclose(denoc.bias(robot, q, qd), denoc.bias(plain, q, qd) + own, atol=1e-12)
        np.testing.assert_allclose(denoc.inertia(robot, q), denoc.inertia(plain, q), atol=1e-14)
        unknown = np.array([np.nan, 1, np.nan])
        found, forces = denoc.hybrid(robot, q, qd, qdd * unknown, tau * np.array([1, np.nan, 1]))
        np.testing.assert_allclose(found, qdd, atol=1e-9)
        np.testing.assert_allclose(forces, tau, atol=1e-9)
        slopes = denoc.derivatives(robot, q, qd, tau)
        h = 1e-6
        for k in range(3):
            e = h * np.eye(3)[k]
            ahead, behind = (denoc.forward(robot, q + s * e, qd, tau) for s in (1, -1))
            np.testing.assert_allclose(slopes["dq"][..., k], (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_huge_angles_stretch_them(backend):
    """Angles beyond the reach of compiled sines are reduced to a turn only where no spring measures them."""
    robot, plain = denoc.loads(yamls.dump(with_springs(*ROBOTS[0]))), denoc.load("planar3r")
    q, qd, qdd = states(robot, 4)
    q[2] = [1e7, 3e6, -2e7]
    own = needed(robot, "joint1", "joint3", q, qd)
    with using_backend(backend):
        np.testing.assert_allclose(
            denoc.inverse(robot, q, qd, qdd), denoc.inverse(plain, q, qd, qdd) + own, rtol=1e-9, atol=1e-6
        )


def test_energies_and_what_a_number_does():
    plain, robot = denoc.load("planar3r"), denoc.loads(yamls.dump(with_springs(*ROBOTS[0])))
    q, qd, tau = (x[0] for x in states(robot))
    more = denoc.energy(robot, q, qd)["elastic"] - denoc.energy(plain, q, qd)["elastic"]
    assert more == pytest.approx(0.5 * 30 * (2 * q[0] - 0.5 * q[2] - 0.2) ** 2, rel=1e-13)
    keys = ["springs.cord.stiffness", "springs.cord.rest", "springs.damper.damping", "springs.cord.joints.joint3"]
    slopes = denoc.derivatives(robot, q, qd, tau, with_respect_to=keys)
    for key in keys:
        h, found = 1e-5, []
        for sign in (1, -1):
            data = with_springs(*ROBOTS[0])
            spring = data["springs"][key.startswith("springs.damper")]
            where, name = (spring["joints"], "joint3") if "joints" in key else (spring, key.split(".")[-1])
            where[name] += sign * h
            found.append(denoc.forward(denoc.loads(yamls.dump(data)), q, qd, tau))
        np.testing.assert_allclose(slopes[key], (found[0] - found[1]) / (2 * h), rtol=1e-6, atol=1e-7)


SLACK = {"name": "loose", "joints": {"joint1": 1.0, "joint3": -0.5}, "stiffness": 25.0, "rest": -0.3, "slack": 0.4}


@pytest.mark.parametrize("form", ["plain", "straight", "rolled"])
def test_a_slack_spring_pulls_only_beyond_its_slack(form):
    """Its forces by the definition on both sides and in between, its energy, and derivatives that fit both."""
    plain = denoc.load("planar3r")
    robot = denoc.loads(yamls.dump({**with_springs(*ROBOTS[0]), "springs": [SLACK]}))
    q, qd, qdd = states(robot, 12)
    r = np.array([1.0, 0.0, -0.5])
    stretch = np.where(q @ r < -0.3, q @ r + 0.3, np.where(q @ r > 0.1, q @ r - 0.1, 0.0))
    assert {-1.0, 0.0, 1.0} == set(np.sign(stretch))
    with using_backend("plain" if form == "plain" else "compiled", **({} if form == "plain" else {"form": form})):
        tau = denoc.inverse(robot, q, qd, qdd)
        own = np.multiply.outer(25.0 * stretch, r)
        np.testing.assert_allclose(tau, denoc.inverse(plain, q, qd, qdd) + own, atol=1e-12)
        np.testing.assert_allclose(denoc.forward(robot, q, qd, tau), qdd, atol=1e-9)
        slopes = denoc.derivatives(robot, q, qd, tau)
    more = denoc.energy(robot, q, qd)["elastic"] - denoc.energy(plain, q, qd)["elastic"]
    np.testing.assert_allclose(more, 12.5 * stretch**2, atol=1e-14)
    h = 1e-6
    for k in range(3):
        ahead, behind = (denoc.forward(robot, q + s * h * np.eye(3)[k], qd, tau) for s in (1, -1))
        np.testing.assert_allclose(slopes["dq"][..., k], (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_a_run_with_a_slack_spring_is_that_under_a_formula(backend):
    data = {**with_springs(*ROBOTS[0]), "springs": [SLACK]}
    pulled = {**data, "actuators": [{"name": "loose", "joints": SLACK["joints"]}]}
    del pulled["springs"]
    way = "(joint1.q - 0.5 * joint3.q)"
    law = f"-25 * (max({way} - 0.1, 0) + min({way} + 0.3, 0))"
    start = {"initial": {"joint1": -0.2, "joint3": -0.3}, "time": {"end": 0.2, "step": 0.02}}
    with using_backend(backend):
        run = denoc.run({**SHORT, **start}, denoc.loads(yamls.dump(data)))
        forces = {"loose": {"law": "expression", "force": law}}
        same = denoc.run({**SHORT, **start, "forces": forces}, denoc.loads(yamls.dump(pulled)))
    stretched = run.table["energy.elastic"] > 0
    assert stretched.any()
    assert not stretched.all()
    for joint in ("joint1", "joint2", "joint3"):
        np.testing.assert_allclose(run.table[f"{joint}.q"], same.table[f"{joint}.q"], rtol=0, atol=1e-7)
    assert run.audit["energy_share"] < 1e-8


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("name, first, second", ROBOTS)
@pytest.mark.sampled(2)
def test_a_run_is_that_under_forces_of_these_sizes(name, first, second, backend, tmp_path):
    """As formulas of the state on actuators over the same joints; and energy is kept, but for the dampers' losses."""
    data = with_springs(name, first, second)
    pulled = {**data, "actuators": [{"name": s["name"], "joints": s["joints"]} for s in data["springs"]]}
    del pulled["springs"]
    forces = {own: {"law": "spring", "stiffness": k, "rest": rest, "damping": d} for own, _, k, rest, d in CORDS}
    with using_backend(backend):
        run = denoc.run({**SHORT, "record": {"reactions": True}}, denoc.loads(yamls.dump(data)))
        same = denoc.run({**SHORT, "forces": forces, "record": {"reactions": True}}, denoc.loads(yamls.dump(pulled)))
    for column in run.table:
        if column.endswith((".q", ".qd", ".qdd")) or ".reaction." in column or ".lambda." in column:
            size = 1.0 + abs(same.table[column]).max()
            np.testing.assert_allclose(run.table[column], same.table[column], rtol=0, atol=2e-9 * size)
    assert run.audit["energy_share"] < 1e-9
    assert np.ptp(run.table["energy.elastic"]) > 1e-3
    run.write(tmp_path, plot=False)
    assert verify_result(stored_scenario_result(tmp_path / run.name)).ok


def test_two_wheels_on_a_shaft_swing_as_they_should():
    """Two inertias, a gear of 3 and a soft shaft: against the closed form, and against scipy with a damper."""
    wheel = "{name: NAME, parent: base, joint: {name: NAME, type: revolute}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: J}}"
    links = ", ".join(wheel.replace("NAME", name).replace("J", str(J)) for name, J in (("a", 0.5), ("b", 2.0)))
    text = f"{{name: w, convention: frames, links: [{links}], springs: [{{name: s, joints: {{a: 1, b: -3}}, stiffness: 40, damping: D}}]}}"
    scenario = {"task": "simulate", "time": {"end": 1, "step": 0.1}, "initial": {"a": 0.3}, "solver": {"rtol": 1e-11}}
    run = denoc.run(scenario, denoc.loads(text.replace("damping: D", "damping: 0")))
    compliance = 1 / 0.5 + 9 / 2.0  # of the sum of a − 3 b
    stretch = 0.3 * np.cos(np.sqrt(40 * compliance) * run.t)
    a = 0.3 + (stretch - 0.3) * (1 / 0.5) / compliance
    np.testing.assert_allclose(run.table["a.q"], a, atol=1e-9)
    run = denoc.run(scenario, denoc.loads(text.replace("damping: D", "damping: 0.8")))

    def slope(t, y):
        T = 40 * (y[0] - 3 * y[1]) + 0.8 * (y[2] - 3 * y[3])
        return [y[2], y[3], -T / 0.5, 3 * T / 2.0]

    other = solve_ivp(slope, (0, 1), [0.3, 0, 0, 0], t_eval=run.t, method="DOP853", rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(run.table["b.q"], other.y[1], atol=1e-9)


def test_runs_side_by_side_are_those_alone(tmp_path):
    """With other numbers of the springs, and of links and joints on which they pull."""
    for name, first, second in ROBOTS:
        (tmp_path / f"{name}.yaml").write_text(yamls.dump(with_springs(name, first, second)))
        scenario = {**SHORT, "robot": str(tmp_path / f"{name}.yaml")}
        link = "link2" if name == "planar3r" else "coupler"
        for key, values in (
            (f"robot.links.{link}.mass", (0.5, 0.8, 1.1)),
            ("robot.springs.cord.stiffness", (10.0, 20.0, 40.0)),
        ):
            variations = [{key: value} for value in values]
            for one, variation in zip(denoc.ensemble(scenario, variations), variations):
                alone = denoc.ensemble(scenario, [variation])[0]
                for column in (f"{first}.q", f"{second}.qd"):
                    np.testing.assert_allclose(one.table[column], alone.table[column], rtol=0, atol=1e-9)


def test_exported_code_has_them_and_takes_their_numbers():
    robot = denoc.loads(yamls.dump(with_springs(*ROBOTS[0])))
    q, qd, qdd = (x[0] for x in states(robot))
    file, text = generate_code(robot, "idyn", "python", keys=["springs.cord.stiffness", "springs.cord.joints.joint3"])
    space: dict = {}
    exec(compile(text, file, "exec"), space)
    code = space[file.removesuffix(".py")]
    tau = denoc.inverse(robot, q, qd, qdd)
    np.testing.assert_allclose(code(q, qd, qdd, [-0.5, 30.0]), tau, rtol=1e-12)
    data = with_springs(*ROBOTS[0])
    data["springs"][0] |= {"stiffness": 12.0, "joints": {"joint1": 2.0, "joint3": 0.7}}
    other = denoc.inverse(denoc.loads(yamls.dump(data)), q, qd, qdd)
    np.testing.assert_allclose(code(q, qd, qdd, [0.7, 12.0]), other, rtol=1e-12)


def test_the_regressor_leaves_them_out():
    robot, plain = denoc.loads(yamls.dump(with_springs(*ROBOTS[0]))), denoc.load("planar3r")
    q, qd, qdd = (x[0] for x in states(robot))
    assert off(denoc.regressor(robot, q, qd, qdd), denoc.regressor(plain, q, qd, qdd)) < 1e-14


def test_legs_are_not_divided_where_they_may_reach_from_one_to_another():
    data = yamls.load((library_folder("robots") / "three-rrr.yaml").read_text())
    robot = denoc.loads(yamls.dump({**data, "springs": [{"name": "s", "joints": {"J1": 1, "J3": 2}, "stiffness": 3}]}))
    for split in (denoc.legs, bodies_shared_by_legs):
        with pytest.raises(InputError, match=r"springs: .* aren't divided among legs"):
            split(robot)
    with pytest.raises(InputError) as caught:
        distribution_part_count(plan := prepare_scenario({**SHORT, "name": "x"}, robot), lambda: plan)
    assert not caught.value.hint  # no other form takes them, either


@pytest.mark.parametrize(
    "entry, message",
    [
        ({"joints": {}}, "must not be empty"),
        ({"joints": {"joint1": 0}}, "a spring is stretched by something"),
        ({"joints": {"joint9": 1}}, "no such joint"),
        ({"name": "joint1", "joints": {"joint2": 1}}, "the name `joint1` is taken"),
        ({"joints": {"joint1": 1}, "stiffness": -1}, "stiffness"),
        ({"joints": {"joint1": 1}, "stiffness": "1 N/m"}, "N m/rad"),
        ({"joints": {"joint1": 1}, "rest": "1 m"}, "angle"),
    ],
)
def test_mistakes_stand_at_their_places(entry, message):
    data = yamls.load((library_folder("robots") / "planar3r.yaml").read_text())
    with pytest.raises(InputError) as error:
        denoc.loads(yamls.dump({**data, "springs": [{"name": "s", **entry}]}))
    assert message in str(error.value) + error.value.allowed + error.value.key


@pytest.mark.parametrize(
    ("spring", "where", "says"),
    [
        ({"stiffness": 0}, "springs[0]", "does nothing: the spring has neither `stiffness` nor `damping`"),
        ({"rest": 1, "damping": 2}, "springs[0].rest", "does nothing: the spring has no `stiffness`"),
        ({"stiffness": 3, "joints": {"A0": 1, "B0": 0}}, "springs[0].joints.B0", "does nothing: its coefficient is 0"),
        ({"slack": 1, "damping": 2}, "springs[0].slack", "does nothing: the spring has no `stiffness`"),
        ({"stiffness": 3, "rest": 90}, "springs[0].rest", "90 without a unit is in radians"),
        ({"stiffness": 3, "slack": 90}, "springs[0].slack", "90 without a unit is in radians"),
        ({"stiffness": 3, "rest": "90 deg"}, "", ""),
        ({"damping": 3}, "", ""),
    ],
)
def test_springs_that_do_nothing_and_angles_in_degrees_are_warned_of(spring, where, says):
    data = with_springs(*ROBOTS[1])
    data["springs"] = [{"name": "cord", "joints": {"A0": 1}, **spring}]
    warnings = denoc.loads(yamls.dump(data)).warnings
    assert len(warnings) == (1 if says else 0)
    assert all(f"{where}: {says}" in one for one in warnings)


def test_a_cut_without_a_coordinate_is_no_joint_of_a_spring():
    data = with_springs(*ROBOTS[1])
    data["springs"] = [{"name": "cord", "joints": {"B": 1, "A0": 1}, "stiffness": 3}]
    with pytest.raises(InputError, match="no such joint") as caught:
        denoc.loads(yamls.dump(data))
    assert "`B` is a cut; one of limits, actuated, friction" in caught.value.hint
    data["loops"][0]["friction"] = {"viscous": 0.01}
    assert len(denoc.loads(yamls.dump(data)).springs[0][1].joints) == 2
