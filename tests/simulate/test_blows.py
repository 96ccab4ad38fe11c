"""Blows: of stops, of several at once, in mechanisms, and of prescribed rates that jump."""

import numpy as np
import pytest

import denoc
import yamls
from denoc.machine.backend import using_backend

METHODS = ["rk45", "rkck", "rk56", "rk4", "dop853", "radau", "bdf", "lsoda"]


def loaded(content):
    return denoc.loads(yamls.dump(content))


def block(name, **joint):
    shape = {"type": "prismatic", "name": name, "axis": [0, 0, 1], "initial": 0.5, **joint}
    return {"name": f"block-{name}", "parent": "base", "joint": shape, "mass": 1, "com": [0, 0, 0]}


def blocks(*entries, **more):
    gravity = [0, 0, -9.81]
    return loaded({"name": "blocks", "convention": "frames", "gravity": gravity, "links": list(entries), **more})


def falls(robot, end=1.0, **more):
    return denoc.run({"task": "simulate", "time": {"end": end, "step": 0.05}, **more}, robot)


@pytest.mark.parametrize("method", METHODS)
def test_joints_that_arrive_together_are_all_stopped(method):
    found = falls(blocks(*(block(f"j{k}", limits=[0, 1]) for k in range(3))), solver={"method": method})
    for k in range(3):
        assert found.table[f"j{k}.q"][-1] == pytest.approx(0.0, abs=1e-9)
        assert found.table[f"j{k}.qd"][-1] == 0.0
    # three blows take what 0.5 m of fall have given to each
    assert found.audit["energy"] < 1e-6
    assert found.ended == "done"


def test_a_serial_chain_whose_joints_arrive_together():
    """The outer slide is pushed against its stop by what stops the inner one: both end at rest, at once."""
    inner = {**block("inner", limits=[0, 2])}
    outer = {**block("outer", limits=[0.5, 2]), "parent": "block-inner"}
    found = falls(blocks(inner, outer))
    assert found.table["inner.q"][-1] == pytest.approx(0.0, abs=1e-9)
    assert found.table["outer.q"][-1] == pytest.approx(0.5, abs=1e-9)
    assert abs(found.table["inner.qd"][-1]) == abs(found.table["outer.qd"][-1]) == 0.0
    assert found.audit["energy"] < 1e-6


def test_a_gripper_with_two_fingers_closes_both():
    fingers = [
        block(name, axis=axis, limits=[0, 0.5], initial=0.3) for name, axis in (("l", [1, 0, 0]), ("r", [-1, 0, 0]))
    ]
    push = {"law": "constant", "value": -2.0}
    found = falls(blocks(*fingers), forces={"l": push, "r": push})
    assert found.table["l.q"][-1] == pytest.approx(0.0, abs=1e-9)
    assert found.table["r.q"][-1] == pytest.approx(0.0, abs=1e-9)


def test_a_coupling_leaves_the_stops_of_other_joints_alone():
    robot = blocks(
        block("a"),
        block("b"),
        block("c", limits=[0, 1]),
        couplings=[{"joint": "b", "to": "a", "ratio": 2.0, "offset": -0.5}],
    )
    found = falls(robot)
    assert found.table["c.q"][-1] == pytest.approx(0.0, abs=1e-9)
    # a and b are one body of inertia 1 + 2² that weighs 1 + 2
    assert found.table["a.q"][-1] == pytest.approx(0.5 - 0.5 * 9.81 * 3 / 5, rel=1e-7)


def test_a_coupling_takes_its_partner_along_to_the_stop():
    robot = blocks(
        block("a"), block("b", limits=[-1, 1]), couplings=[{"joint": "b", "to": "a", "ratio": 2.0, "offset": -0.5}]
    )
    found = falls(robot, end=2.0)
    assert found.table["b.q"][-1] == pytest.approx(-1.0, abs=1e-9)
    assert found.table["a.q"][-1] == pytest.approx(-0.25, abs=1e-9)
    assert found.audit["energy"] < 1e-6


def slider_crank(**piston):
    document = yamls.load(denoc.load("slider-crank").document.text)
    document["links"][2]["joint"] |= piston
    return loaded(document)


def planar_energy(c, r, cd, rd, xd):
    """Kinetic energy of the library's slider-crank from its drawing: crank, rod, piston."""
    crank = np.array([-0.05 * np.sin(c), 0.05 * np.cos(c)]) * cd
    pin = np.array([-0.1 * np.sin(c), 0.1 * np.cos(c)]) * cd
    rod = pin + np.array([-0.15 * np.sin(c + r), 0.15 * np.cos(c + r)]) * (cd + rd)
    spin = (1 / 1200 * cd**2 + 1.5 * 0.3**2 / 12 * (cd + rd) ** 2) / 2
    return crank @ crank / 2 + 1.5 * rod @ rod / 2 + spin + 0.8 * xd**2 / 2


def test_a_slider_runs_into_its_stop():
    """With one freedom a stop brings all to rest; what is lost is the kinetic energy, which the fall has given."""
    robot = slider_crank(limits=[0.3, 0.5])
    start = {"crank": "60 deg"}
    found = denoc.run(
        {"task": "simulate", "time": {"end": 1.0, "step": 0.01}, "initial": start, "rates": {"crank": 6.0}}, robot
    )
    free = denoc.run(
        {"task": "simulate", "time": {"end": 1.0, "step": 0.01}, "initial": start, "rates": {"crank": 6.0}},
        slider_crank(),
    )
    (blow, *_) = found.record["events"]
    assert blow["event"] == "reaches its lower limit"
    before = found.t < blow["t"]
    np.testing.assert_allclose(found.table["crank.q"][before], free.table["crank.q"][before], atol=1e-7)
    assert free.table["piston.q"].min() < 0.25  # without the stop it goes on
    assert found.table["piston.q"].min() >= 0.3 - 1e-9
    after = int(np.argmin(before))
    state = [
        np.interp(blow["t"], free.t, free.table[name])
        for name in ("crank.q", "rod.q", "crank.qd", "rod.qd", "piston.qd")
    ]
    lost = found.table["energy.total"][0] - found.table["energy.total"][after]
    assert lost == pytest.approx(planar_energy(*state), rel=1e-3)  # rows are interpolated linearly
    assert found.audit["energy"] < 1e-6
    assert found.audit["closure"] < 1e-12


def test_a_stop_of_a_dependent_joint_takes_one_of_two_freedoms():
    """Of a five-bar: v⁺ = v − I⁻¹ aᵀ (a I⁻¹ aᵀ)⁻¹ a v with the reduced inertia and a the joint's rate by differences."""
    document = yamls.load(denoc.load("five-bar").document.text)
    robot = denoc.load("five-bar")
    tree = [joint.name for joint in robot.moving]
    driven = [joint.name for joint in robot.moving if joint.actuated]
    free = denoc.run({"robot": "five-bar", "task": "simulate", "time": {"end": 0.8, "step": 0.01}})
    name = next(one for one in tree if one not in driven)
    place, at = tree.index(name), 40
    bound = float(free.table[f"{name}.q"][at])
    falls = free.table[f"{name}.qd"][at] < 0
    limits = [bound, bound + 6.0] if falls else [bound - 6.0, bound]
    link = next(one for one in document["links"] if one["joint"].get("name") == name)
    link["joint"]["limits"] = limits
    scenario = {"task": "simulate", "time": {"end": float(free.t[at]) + 1e-6}, "solver": {"rtol": 1e-10}}
    found = denoc.run(scenario, loaded(document))
    assert len(found.record["events"]) >= 1
    q = np.array([free.table[f"{one}.q"][at] for one in tree])
    v = np.array([free.table[f"{one}.qd"][at] for one in driven])
    I, _ = denoc.reduced(robot, q, np.array([free.table[f"{one}.qd"][at] for one in tree]))
    a = np.empty(2)
    for k, one in enumerate(driven):
        places = []
        for step in (1e-5, -1e-5):
            moved = q.copy()
            moved[tree.index(one)] += step
            places.append(denoc.assemble(robot, moved)[place])
        a[k] = (places[0] - places[1]) / 2e-5
    expected = v - np.linalg.solve(I, a) * (a @ v) / (a @ np.linalg.solve(I, a))
    after = np.array([found.table[f"{one}.qd"][-1] for one in driven])
    np.testing.assert_allclose(after, expected, atol=1e-4 * abs(v).max())
    lost = found.table["energy.total"][0] - found.table["energy.total"][-1]
    assert lost == pytest.approx((v @ I @ v - expected @ I @ expected) / 2, rel=1e-4)
    assert found.audit["energy"] < 1e-7


# ---- prescribed rates that jump


def arm_link(name, joint, length, mass, com, inertia):
    about = dict.fromkeys(("xx", "yy", "zz"), inertia)
    return {
        "name": name,
        "joint": {"type": "revolute", "name": joint, "a": length},
        "mass": mass,
        "com": com,
        "inertia": about,
    }


ARM = {
    "name": "arm",
    "convention": "dh",
    "gravity": [0, 0, 0],
    "links": [
        arm_link("one", "A", 0.5, 2, [0.2, 0, 0], 0.05),
        arm_link("two", "B", 0.4, 1, [0.2, 0, 0], 0.02),
        arm_link("three", "C", 0.3, 0.7, [0.15, 0.02, 0], 0.01),
    ],
}


def ramp(tmp_path, rates=(1.0,), until=0.5):
    t = np.linspace(0.0, until, 11)
    (tmp_path / "ramp.csv").write_text("t,A\n" + "".join(f"{x!r},{rates[0] * x!r}\n" for x in t.tolist()))
    (tmp_path / "arm.yaml").write_text(yamls.dump(ARM))
    scenario = {
        "robot": "arm",
        "task": "simulate",
        "time": {"end": 1.0, "step": 0.05},
        "motion": {"A": {"law": "table", "file": "ramp.csv", "column": "A"}, "B": {"law": "hold"}},
    }
    (tmp_path / "s.yaml").write_text(yamls.dump(scenario))
    return denoc.run(tmp_path / "s.yaml")


def test_a_ramp_that_ends_gives_a_blow(tmp_path):
    """The pin gives link three no moment about itself: (J + m c²) Δω = −m c × Δv of the pin."""
    found = ramp(tmp_path)
    before, after = 10, 11
    assert found.t[before] == pytest.approx(0.5)
    a, c = found.table["A.q"][before], found.table["C.q"][before]
    pin = np.array([0.5 * np.cos(a) + 0.4 * np.cos(a), 0.5 * np.sin(a) + 0.4 * np.sin(a)])
    speed_lost = -np.array([-pin[1], pin[0]])  # A's rate of 1 ends
    R = np.array([[np.cos(a + c), -np.sin(a + c)], [np.sin(a + c), np.cos(a + c)]])
    arm = R @ np.array([0.15, 0.02])
    inertia = 0.01 + 0.7 * (0.15**2 + 0.02**2)
    jump = -0.7 * (arm[0] * speed_lost[1] - arm[1] * speed_lost[0]) / inertia
    expected = found.table["C.qd"][before] + 1.0 + jump  # relative to link two, which has stopped
    np.testing.assert_allclose(found.table["C.qd"][after:], expected, rtol=1e-6)
    assert found.audit["energy"] < 1e-7
    assert [event["joint"] for event in found.record["events"]] == ["A"]


def test_a_ramp_over_the_whole_run_gives_none(tmp_path):
    found = ramp(tmp_path, until=1.0)
    assert not found.record["events"]
    assert found.audit["energy"] < 1e-7


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_row_where_a_ramp_starts_is_before_the_blow(tmp_path, backend):
    """Of a five-bar, one of whose drives begins at 0.05 s: the other independent speed jumps by Lagrange's equation."""
    robot, (led, free) = denoc.load("five-bar"), ("J1^1", "J1^2")
    start = float(robot.joint(led).initial[0])
    (tmp_path / "ramp.csv").write_text(f"t,q\n0.05,{start}\n0.1,{start + 0.1}\n0.15,{start + 0.12}\n")
    law = {"law": "table", "file": str(tmp_path / "ramp.csv"), "column": "q"}
    scenario = {"robot": "five-bar", "task": "simulate", "time": {"end": 0.0501, "step": 0.05}, "motion": {led: law}}
    with using_backend(backend):
        found = denoc.run({**scenario, "solver": {"rtol": 1e-10}})
    before, after = ({name: found.table[name][row] for name in found.table} for row in (1, 2))
    assert before[f"{led}.qd"] == 0.0
    assert after[f"{led}.qd"] == pytest.approx(2.8, abs=0.01)
    I, _ = denoc.reduced(robot, np.array([before[f"{joint.name}.q"] for joint in robot.moving]), np.zeros(4))
    jump = -I[1, 0] / I[1, 1] * after[f"{led}.qd"]
    assert after[f"{free}.qd"] - before[f"{free}.qd"] == pytest.approx(jump, abs=0.01)  # a tenth of a millisecond later
    assert found.audit["energy"] < 1e-8


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize(("name", "led", "mass"), [("five-bar", "J1^1", "2^2"), ("planar3r", "joint1", "link2")])
def test_a_run_that_begins_where_a_ramp_ends_is_behind_it(tmp_path, name, led, mass, backend, many):
    """The joint rests from the first row on, as it does by `hold`; the table ends there but for rounding."""
    robot = denoc.load(name)
    start = float(robot.joint(led).initial[0])
    (tmp_path / "ramp.csv").write_text(f"t,q\n0,{start - 0.7}\n0.15,{start - 0.35}\n{3 * 0.1},{start}\n")
    ramp = {"law": "table", "file": str(tmp_path / "ramp.csv"), "column": "q"}
    scenario = {"robot": name, "task": "simulate", "time": {"start": 0.3, "end": 0.6, "step": 0.05}}
    runs = []
    with using_backend(backend):
        for law in (ramp, {"law": "hold"}):
            one = {**scenario, "motion": {led: law}, "solver": {"rtol": 1e-10}}
            variations = [{f"robot.links.{mass}.mass": x} for x in (1.5, 1.0)]
            runs.append(denoc.ensemble(one, variations)[1] if many else denoc.run(one))
    ours, held = runs
    assert (ours.table[f"{led}.qd"] == 0.0).all()
    for column, values in held.table.items():
        if column.endswith((".q", ".qd")):
            np.testing.assert_allclose(ours.table[column], values, rtol=0, atol=1e-8)
    assert ours.audit["energy"] < 1e-8
    assert not ours.record["events"]


def test_a_blow_at_the_start_is_no_part_of_the_balance():
    """What starts at its stop and moves outwards is stopped before the first row."""
    links = [
        {"name": x, "parent": "base", "mass": 2, "com": [0, 0, 0], "joint": {"type": "prismatic", "name": x, **more}}
        for x, more in (("a", {"limits": [-1, 0]}), ("b", {}))
    ]
    robot = denoc.loads(yamls.dump({"name": "two", "convention": "frames", "gravity": [0, 0, 0], "links": links}))
    scenario = {"task": "simulate", "time": {"end": 0.1, "step": 0.05}, "rates": {"a": 3.0, "b": 1.0}}
    found = denoc.run(scenario, robot)
    assert (found.table["a.qd"] == 0.0).all()
    assert found.table["energy.kinetic"] == pytest.approx(1.0)
    assert found.audit["energy"] < 1e-12
