"""The library's closed chains against the independent numbers of tests/reference, at the instants that both have."""

import re

import numpy as np
import pytest

import closed
import denoc
from comparing import off, slope
from denoc.scenario.carry_out import prepare_scenario
from denoc.text import library_folder

pytestmark = pytest.mark.smoke

EXACT = 1e-9


def rows(result, t):
    """The result's rows at the file's instants."""
    found = [int(np.argmin(np.abs(result.t - x))) for x in t]
    assert np.abs(result.t[found] - t).max() <= 1e-12 * max(1.0, t[-1])
    return found


PLANAR = [
    ("four-bar-idyn", "four_bar", "gravity_minus_Y"),
    ("five-bar-idyn", "five_bar", "inverse_dynamics_P_below"),
    ("carpet-scraper-idyn", "carpet_scraper", "knee_left_gravity_minus_Y"),
    ("three-rrr-idyn", "three_rrr", "inverse_dynamics_gravity_minus_Y"),
]


@pytest.mark.parametrize("scenario, name, case", PLANAR)
@pytest.mark.sampled(4)
def test_inverse_dynamics_of_the_planar_mechanisms(scenario, name, case):
    _, one = closed.one_case(name, case)
    result = denoc.run(scenario)
    k = rows(result, np.array(one["t"]))
    joints = denoc.load(scenario.removesuffix("-idyn")).joints
    assert set(joints) < set(one["q"])
    for key in ("q", "qd", "qdd"):
        scale = max(np.abs(one[key][joint]).max() for joint in joints)
        for joint in joints:
            assert off(result.table[f"{joint}.{key}"][k], one[key][joint], scale) <= EXACT
    for joint, torque in one["actuator_torque"].items():
        assert off(result.table[f"{joint}.tau"][k], torque) <= EXACT
    scale = max(np.abs(force).max() for force in one["joint_force"].values())
    for joint, force in one["joint_force"].items():
        column = f"{joint}.reaction" if joint in joints else f"{joint}.lambda"
        if f"{column}.fx" not in result.table:
            assert not prepare_scenario(scenario).file.record.reactions
            continue
        found = np.column_stack([result.table[f"{column}.f{axis}"][k] for axis in "xyz"])
        assert off(found[:, :2], force, scale) <= EXACT
        assert off(found[:, 2], np.zeros(len(k)), scale) <= EXACT
    for part in ("kinetic", "potential"):
        assert off(result.table[f"energy.{part}"][k], one[f"{part}_energy"]) <= EXACT


@pytest.mark.parametrize(
    "name, mechanism, case",
    [
        ("five-bar", "five_bar", "inverse_dynamics_P_above"),
        ("carpet-scraper", "carpet_scraper", "knee_right_gravity_minus_Y"),
    ],
)
@pytest.mark.sampled(2)
def test_the_other_branch_is_the_one_that_the_robots_file_tells(name, mechanism, case):
    """A comment in the file has the `assembly` with which the loops close the other way."""
    text = (library_folder("robots") / f"{name}.yaml").read_text()
    other = re.search(r"`(assembly: {.*?})`", text)[1]
    robot = denoc.loads(re.sub(r"^assembly: .*$", other, text, flags=re.MULTILINE))
    one = closed.one_case(mechanism, case)[1]
    result = denoc.run(f"{name}-idyn", robot)
    k = rows(result, np.array(one["t"]))
    for joint, torque in one["actuator_torque"].items():
        assert off(result.table[f"{joint}.tau"][k], torque) <= EXACT
    for joint in robot.joints:
        assert off(result.table[f"{joint}.qd"][k], one["qd"][joint], 1.0) <= EXACT


@pytest.mark.parametrize(
    "scenario, name, case, end",
    [
        ("five-bar-fall", "five_bar", "free_fall_P_below", 1.2),
        ("four-bar-fall", "four_bar", "free_motion_from_60deg_at_rest", 2.0),
    ],
)
def test_free_motions(scenario, name, case, end):
    """To 1e-7 rad: the scenarios' tolerances are not the tightest."""
    _, one = closed.one_case(name, case)
    result = denoc.run(scenario)
    t = np.array(one["t"])
    t = t[t <= end + 1e-9]
    k = rows(result, t)
    for joint in denoc.load(name.replace("_", "-")).joints:
        assert off(result.table[f"{joint}.q"][k], one["q"][joint][: len(t)], 1.0) <= 1e-7
        assert off(result.table[f"{joint}.qd"][k], one["qd"][joint][: len(t)], 10.0) <= 1e-7


def test_the_five_bar_stops_where_it_is_singular():
    result = denoc.run("five-bar-fall")
    assert result.ended == "singularity"
    assert result.audit["singular"]["t"] == pytest.approx(1.3667184416, abs=1e-7)
    assert result.audit["singular"]["loop"] == "P"


def test_feedforward_of_the_3_rrr():
    one = closed.one_case("three_rrr", "inverse_dynamics_gravity_minus_Y")[1]
    result = denoc.run("three-rrr-feedforward")
    k = rows(result, np.array(one["t"]))
    for joint in ("J1", "J2", "J3"):
        assert off(result.table[f"{joint}.q"][k], one["q"][joint], 1.0) <= 1e-6
        assert off(result.table[f"{joint}.tau"][k], one["actuator_torque"][joint]) <= EXACT


def test_torque_and_forces_of_the_rssr_linkage():
    one = closed.one_case("rssr", "spin_free")[1]
    result = denoc.run("rssr-idyn")
    k = rows(result, np.array(one["t"]))
    table = {key: values[k] for key, values in result.table.items()}
    assert off(table["joint1.tau"], one["tau"]) <= EXACT
    for key, suffix in (("theta", "q"), ("theta_d", "qd"), ("theta_dd", "qdd")):
        assert off(table[f"joint4.{suffix}"], one[key]) <= EXACT
    for column, key in (
        ("joint3.lambda", "B_on_link2_by_link3"),
        ("joint1.reaction", "joint1_on_link1_by_ground"),
        ("joint2.reaction", "joint2_on_link2_by_link1"),
        ("joint4.reaction", "joint4_on_link3_by_ground"),
    ):
        found = np.column_stack([table[f"{column}.f{axis}"] for axis in "xyz"])
        assert off(found, one[f"force_{key}"]) <= EXACT


def test_leg_forces_of_the_gough_stewart_platform():
    one = closed.one_case("gough_stewart", "translation")[1]
    result = denoc.run("gough-stewart-idyn")
    k = rows(result, np.array(one["t"]))
    for n in range(6):
        for suffix, key in (("q", "leg_length"), ("qd", "leg_rate"), ("qdd", "leg_acc"), ("tau", "leg_force")):
            right = np.array(one[key])
            assert off(result.table[f"leg{n + 1}.{suffix}"][k], right[:, n], np.abs(right).max()) <= EXACT
        force = np.column_stack([result.table[f"ball{n + 1}.lambda.f{axis}"][k] for axis in "xyz"])
        right = np.array(one["S_force_on_platform"])
        assert off(force, right[:, n], np.abs(right).max()) <= EXACT
    for key in ("yaw", "pitch", "roll"):
        assert np.abs(result.table[f"{key}.q"]).max() == 0.0


def test_the_place_of_the_platform_can_turn_too():
    """Yaw, pitch and roll by harmonics of their own: the file's combined motion."""
    one = closed.one_case("gough_stewart", "combined")[1]
    t = one["t"]

    def swing(amplitude, rate, offset=0.0, phase=0.0):
        frequency = rate / (2 * np.pi)
        return {"law": "harmonic", "amplitude": amplitude, "frequency": frequency, "offset": offset, "phase": phase}

    motion = {"x": swing(0.1, 6, -1.5), "y": swing(0.15, 3, 0.0, np.pi / 2), "z": swing(0.1, 3, 1.0)}
    motion |= {"yaw": swing(0.25, 3), "pitch": swing(-0.2, 6), "roll": swing(0.15, 3)}
    time = {"end": t[-1], "step": t[1]}
    result = denoc.run({"robot": "gough-stewart", "task": "inverse", "time": time, "motion": motion})
    for n in range(6):
        for suffix, key in (("q", "leg_length"), ("qd", "leg_rate"), ("qdd", "leg_acc"), ("tau", "leg_force")):
            right = np.array(one[key])
            assert off(result.table[f"leg{n + 1}.{suffix}"], right[:, n], np.abs(right).max()) <= EXACT


# ---- mechanisms without a file: their geometry is the carpet scraper's, or simple enough for Lagrange's equation


def test_hoekens_point_moves_as_the_carpet_scrapers():
    alone, whole = denoc.run("hoeken-idyn"), denoc.run("carpet-scraper-idyn")
    one = closed.one_case("carpet_scraper", "knee_left_gravity_minus_Y")[1]
    k = rows(alone, np.array(one["t"]))
    place = np.column_stack([alone.table["I-2.B.x"], alone.table["I-2.B.y"]])
    assert off(place[k], one["points"]["coupler_point_B"]["pos"]) <= EXACT
    assert off(place, np.column_stack([whole.table["I-2.B.x"], whole.table["I-2.B.y"]])) <= EXACT
    tip = np.column_stack([whole.table["III-2^0.E.x"], whole.table["III-2^0.E.y"]])
    assert off(tip[k], one["points"]["scraper_tip_E"]["pos"]) <= EXACT
    crank = np.mod(alone.table["II-1.q"] + np.pi / 2, 2 * np.pi)
    straight = place[crank <= np.pi + 1e-9, 1]
    assert len(straight) == 122
    assert np.ptp(straight) <= 2.8e-4


def test_jansens_foot_by_circles():
    """Each joint of the leg is where two circles about others meet; the lengths are Jansen's eleven, in centimetres."""
    b, c, d, e, f, g, h, i, j, k = np.array([41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9]) / 100

    def meeting(one, far, other, wide, side):
        way = other - one
        distance = np.hypot(*way)
        along = (far**2 - wide**2 + distance**2) / (2 * distance)
        across = side * np.sqrt(far**2 - along**2)
        return one + (along * way + across * np.array([-way[1], way[0]])) / distance

    result, hip = denoc.run("jansen-walk"), np.array([-0.38, -0.078])
    places = []
    for turn in result["axle.q"]:
        pin = 0.15 * np.array([np.cos(turn), np.sin(turn)])
        top, knee = meeting(pin, j, hip, b, -1), meeting(pin, k, hip, c, 1)
        shoulder = meeting(top, e, hip, d, -1)
        places.append(meeting(meeting(shoulder, f, knee, g, -1), h, knee, i, -1))
    assert off(np.column_stack([result["lower.foot.x"], result["lower.foot.y"]]), np.array(places)) <= EXACT


@pytest.mark.parametrize("scenario", ["hoeken-idyn", "slider-crank-idyn", "jansen-walk"])
@pytest.mark.sampled(2)
def test_torque_is_that_of_lagranges_equation(scenario):
    """With the crank's rate constant, τ = I'(θ) ω²/2 + V'(θ), from energies at neighbouring positions."""
    robot, result = denoc.load(scenario.rpartition("-")[0]), denoc.run(scenario)
    crank = next(joint for joint in robot.moving if joint.actuated)
    names = robot.joints
    for k in range(3, len(result.t), 40):
        q = np.array([result.table[f"{name}.q"][k] for name in names])
        rate = result.table[f"{crank.name}.qd"][k]

        def lagrangian(steps, q=q, rate=rate):
            found = []
            for step in steps:
                at = q.copy()
                at[crank.coordinates[0]] += step
                at = denoc.assemble(robot, at)
                I, _ = denoc.reduced(robot, at, np.zeros(robot.nv))
                energy = denoc.energy(robot, at, np.zeros(robot.nv))["potential"]
                found.append(I[0, 0] * rate**2 / 2 + energy)
            return found

        assert result.table[f"{crank.name}.tau"][k] == pytest.approx(slope(lagrangian, 0.01), rel=1e-7, abs=1e-7)
