"""Where mechanisms start: what a scenario says beyond the freedoms fits, is moved by a hair and said, or is refused."""

import numpy as np
import pytest

import denoc
import yamls
from denoc.mechanics.mechanisms.freedoms import mobility
from fourbar import angles

FALL = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.1, "step": 0.05}}
GEARS = """
name: gears
convention: frames
links:
  - {name: one, parent: base, joint: {type: revolute, name: a}, mass: 1, com: [0, 0, 0],
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {name: two, parent: base, joint: {type: revolute, name: b, xyz: [1, 0, 0]}, mass: 2, com: [0, 0, 0],
     inertia: {xx: 0.2, yy: 0.2, zz: 0.2}}
couplings:
  - {joint: b, to: a, ratio: -2, offset: 0.3}
"""


def joints(crank):
    """A and B0 of the crank's angle."""
    coupler, rocker = angles(crank)
    return coupler - crank, rocker


def joint_rates(crank, h=1e-5):
    """Of A and B0, for a unit of the crank's."""
    return (np.array(joints(crank + h)) - np.array(joints(crank - h))) / (2 * h)


@pytest.mark.parametrize(
    "entries, place, fit",
    [
        ({"initial": {"A0": 0.3, "A": 2.5}}, "initial.A", {"A": joints(0.3)[0]}),
        (
            {"initial": {"A0": "0 deg", "A": "145.54 deg", "B0": "93 deg"}},
            "initial.A",
            {"A": joints(0.0)[0], "B0": joints(0.0)[1]},
        ),
        ({"initial": {"A0": 0.3, "B0": joints(0.3)[1] + 2e-3}}, "initial.B0", {"B0": joints(0.3)[1]}),
        ({"rates": {"A0": 1, "B0": 5}}, "rates.B0", {"B0": joint_rates(0.0)[1]}),
        ({"initial": {"A0": 0.3}, "rates": {"A0": 4, "A": 0}}, "rates.A", {"A": 4 * joint_rates(0.3)[0]}),
        (
            {"motion": {"A0": {"law": "rate", "rate": 2}}, "rates": {"A": 1}},
            "rates.A",
            {"A": 2 * joint_rates(0.0)[0]},
        ),
        (
            {"motion": {"A0": {"law": "cycloid", "from": 0.2, "to": 1}}, "initial": {"A0": 0.3}},
            "initial.A0",
            {"A0": 0.2},
        ),
    ],
)
def test_what_contradicts_the_loops_is_refused_with_what_would_fit(entries, place, fit):
    with pytest.raises(denoc.InputError) as told:
        denoc.run({**FALL, **entries})
    message = str(told.value)
    assert message.startswith(place)
    allowed = message.split("allowed: ")[1].split("\n")[0]
    said = dict(part.split(": ") for part in allowed.removesuffix(", or no entry").split(", "))
    assert {name: float(x) for name, x in said.items()} == pytest.approx(fit, abs=1e-8)
    assert ("assembly" in message) == place.startswith("initial")


@pytest.mark.parametrize("task", ["inverse", "simulate"])
@pytest.mark.parametrize("second", [{"law": "cycloid", "to": 1}, {"law": "hold"}])
def test_a_motion_that_follows_from_another_is_refused(task, second):
    motion = {"A0": {"law": "cycloid", "to": 0.5}, "B0": second}
    with pytest.raises(denoc.InputError, match="the motion of `B0` follows from the loops"):
        denoc.run({**FALL, "task": task, "motion": motion})


@pytest.mark.parametrize("law", ["computed-torque", "feedforward"])
def test_a_planned_motion_that_follows_from_another_is_refused(law):
    motion = {"A0": {"law": "cycloid", "to": 0.5}, "A": {"law": "cycloid", "to": 1}}
    force = {"law": law, "kp": 3} if law == "computed-torque" else {"law": law}
    with pytest.raises(denoc.InputError, match="the motion of `A` follows from the loops"):
        denoc.run({**FALL, "motion": motion, "forces": {"A": force}})


@pytest.mark.parametrize(
    "entries, name, moved",
    [
        ({"initial": {"A0": 0.3, "A": joints(0.3)[0] + 5e-4}}, "A", joints(0.3)[0]),
        ({"initial": {"A0": 0.3, "B0": joints(0.3)[1] - 9e-4}}, "B0", joints(0.3)[1]),
    ],
)
def test_a_place_that_nearly_fits_is_moved_and_said(entries, name, moved):
    result = denoc.run({**FALL, **entries})
    assert result.table["A0.q"][0] == 0.3  # who comes first stays
    assert result.table[f"{name}.q"][0] == pytest.approx(moved, abs=1e-10)
    (said,) = result.record["warnings"]
    assert f"`{name}` starts at {moved:.9g}" in said


def test_a_speed_that_nearly_fits_is_moved_and_said():
    fit = joint_rates(0.0)[1]
    result = denoc.run({**FALL, "rates": {"A0": 1, "B0": fit + 5e-4}})
    assert result.table["A0.qd"][0] == 1.0
    assert result.table["B0.qd"][0] == pytest.approx(fit, abs=1e-9)
    assert len(result.record["warnings"]) == 1
    with pytest.raises(denoc.InputError, match=r"rates\.B0"):
        denoc.run({**FALL, "rates": {"A0": 1, "B0": fit + 2e-3}})
    denoc.run({**FALL, "rates": {"A0": 100, "B0": 100 * fit + 5e-2}})  # a thousandth of itself


def test_what_fits_is_taken_without_a_word():
    A, B0 = joints(0.3)
    rates = joint_rates(0.3)
    entries = {"initial": {"A0": 0.3, "A": A, "B0": B0}, "rates": {"A0": 1, "A": rates[0], "B0": rates[1]}}
    result = denoc.run({**FALL, **entries})
    assert result.record["warnings"] == []


def test_one_coordinate_is_enough_whichever_it_is():
    _, B0 = joints(0.3)
    table = denoc.run({**FALL, "initial": {"B0": B0}}).table
    assert table["B0.q"][0] == pytest.approx(B0, abs=1e-15)
    assert joints(table["A0.q"][0])[1] == pytest.approx(B0, abs=1e-10)


def test_couplings_are_no_exception():
    fall = {**FALL, "robot": "gears"}
    robot = denoc.loads(GEARS)
    table = denoc.run({**fall, "initial": {"a": 0.4, "b": -0.5}, "rates": {"a": 1, "b": -2}}, robot=robot).table
    assert (table["a.q"][0], table["b.qd"][0]) == (0.4, -2.0)
    with pytest.raises(denoc.InputError, match=r"initial\.b(.|\n)*allowed: b: -0\.5, or"):
        denoc.run({**fall, "initial": {"a": 0.4, "b": 0.5}}, robot=robot)
    with pytest.raises(denoc.InputError, match=r"rates\.b(.|\n)*allowed: b: -2, or"):
        denoc.run({**fall, "rates": {"a": 1, "b": 2}}, robot=robot)
    with pytest.raises(denoc.InputError, match="the motion of `b` follows"):
        denoc.run({**fall, "motion": {"a": {"law": "rate", "rate": 1}, "b": {"law": "rate", "rate": -2}}}, robot=robot)


def test_lengths_are_measured_by_the_mechanism():
    """The piston may be off by a thousandth of the rod, 0.3 mm."""
    fall = {"robot": "slider-crank", "task": "simulate", "time": {"end": 0.01, "step": 0.01}}
    at = 0.1 * np.cos(1.0) + np.sqrt(0.3**2 - (0.1 * np.sin(1.0)) ** 2)
    result = denoc.run({**fall, "initial": {"crank": 1.0, "piston": at + 2.9e-4}})
    assert result.table["piston.q"][0] == pytest.approx(at, abs=1e-12)
    assert len(result.record["warnings"]) == 1
    with pytest.raises(denoc.InputError, match=r"initial\.piston"):
        denoc.run({**fall, "initial": {"crank": 1.0, "piston": at + 3.1e-4}})


def test_an_actuated_joint_without_an_entry_stays_where_it_is():
    motion = {"J1^1": {"law": "cycloid", "to": "50 deg"}}
    result = denoc.run({"robot": "five-bar", "task": "inverse", "time": {"end": 0.5, "step": 0.1}, "motion": motion})
    assert result.table["J1^2.q"] == pytest.approx(np.radians(30.0), abs=1e-15)


def test_a_joint_that_is_led_starts_where_the_loops_put_it():
    """Its motion without a `from` starts there too, so that the controller has nothing to do at first."""
    motion = {"A0": {"law": "cycloid", "to": 0.5}, "A": {"law": "cycloid", "to": 1.1}}
    scenario = {**FALL, "time": {"end": 0.5, "step": 0.01}, "motion": motion, "forces": {"A": {"law": "pd", "kp": 30}}}
    result = denoc.run(scenario)
    assert result.table["A0.q"][0] == 0.0
    assert result.table["A.q"][0] == pytest.approx(joints(0.0)[0], abs=1e-12)
    assert result.table["A.tau"][0] == pytest.approx(0.0, abs=1e-12)
    assert result.audit["energy"] < 1e-10


def test_rods_do_not_spin_about_themselves_at_the_start():
    """The coupler of a linkage between two spherical joints has no momentum about its own axis, which is its x."""
    result = denoc.run(
        {"robot": "rssr", "task": "simulate", "time": {"end": 0.01, "step": 0.01}, "rates": {"joint1": 4}}
    )
    robot, table = denoc.load("rssr"), result.table
    q, qd = (
        np.array([table[f"{joint.name}.{name}"][0] for joint in robot.moving for name in getattr(joint.type, names)])
        for names in ("coordinates", "speeds")
    )
    w = denoc.jacobian(robot, q, "link2")[:3] @ qd
    axis = denoc.frames(robot, q)["link2"][:3, 0]
    assert np.linalg.norm(w) > 1
    assert w @ axis == pytest.approx(0.0, abs=1e-9)


# ---- `initial` in the robot's file


def slider_crank(*, actuated=False, assembly="{rod: 0, piston: 0.4}", **initial):
    """The library's, with places of joints in its file."""
    document = yamls.load(denoc.load("slider-crank").document.text)
    for link in document["links"]:
        if link["name"] in initial:
            link["joint"]["initial"] = initial[link["name"]]
    if not actuated:
        del document["links"][0]["joint"]["actuated"]
    return denoc.loads(yamls.dump(document | {"assembly": yamls.load(assembly)}))


def started(robot, **more):
    """The places at which a run starts, as `denoc.assemble` and `inspect` have them, and its warnings."""
    found = denoc.run({"task": "simulate", "time": {"end": 0.1, "step": 0.1}, **more}, robot)
    places = np.array([found.table[f"{name}.q"][0] for name in robot.joints])
    if not more:
        np.testing.assert_allclose(places, denoc.assemble(robot, robot.q0), atol=1e-12)
        np.testing.assert_allclose(places, mobility(robot).q, atol=1e-12)
        assert {one for one in found.record["warnings"] if "initial" in one} <= set(mobility(robot).warnings)
    crank, rod, piston = places
    assert abs(0.1 * np.exp(1j * crank) + 0.3 * np.exp(1j * (crank + rod)) - piston) < 1e-12
    return places, " ".join(found.record["warnings"])


@pytest.mark.parametrize("assembly", ["{}", "{crank: 0.2, piston: 0.39}"])
@pytest.mark.parametrize("actuated", [False, True])
def test_a_joint_with_initial_stays_there(actuated, assembly):
    (crank, _, _), told = started(slider_crank(crank=0.6, actuated=actuated, assembly=assembly))
    assert crank == pytest.approx(0.6, abs=1e-12)
    assert not told


@pytest.mark.parametrize("assembly", ["{}", "{rod: 0, piston: 0.4}", "{crank: 0.3, rod: -0.3, piston: 0.39}"])
@pytest.mark.parametrize("actuated", [False, True])
def test_a_passive_joint_with_initial_moves_what_has_none(actuated, assembly):
    """An actuated one, too; also from a dead centre, where the crank is by default."""
    places, told = started(slider_crank(piston=0.35, actuated=actuated, assembly=assembly))
    assert places[2] == pytest.approx(0.35, abs=1e-12)
    assert assembly != "{crank: 0.3, rod: -0.3, piston: 0.39}" or places[0] > 0, "the branch of `assembly`"
    assert not told


@pytest.mark.parametrize(("actuated", "kept"), [("crank", 0), ("piston", 2)])
def test_as_many_joints_with_initial_stay_as_there_are_freedoms(actuated, kept):
    robot = slider_crank(crank=0.6, piston=0.35, assembly="{}")
    document = yamls.load(robot.document.text)
    document["links"][kept]["joint"]["actuated"] = True
    places, told = started(denoc.loads(yamls.dump(document)))
    assert places[kept] == pytest.approx([0.6, 0, 0.35][kept], abs=1e-12)
    assert "`piston` at 0.377172, not at 0.35" in told or kept == 2
    assert (
        f"`crank` at {np.arccos((0.1**2 + 0.35**2 - 0.3**2) / (2 * 0.1 * 0.35)):.6g}, not at 0.6" in told or kept == 0
    )


def test_an_initial_out_of_reach_is_named():
    _, told = started(slider_crank(piston=0.7, assembly="{crank: 0.1}"))
    assert "`piston` at" in told
    assert "not at 0.7" in told


def test_what_the_scenario_places_comes_first():
    places, told = started(slider_crank(crank=0.6, piston=0.35, assembly="{}"), initial={"rod": -0.5})
    assert places[1] == pytest.approx(-0.5, abs=1e-12)
    assert "`crank` at" in told
    assert "`piston` at" in told


def test_two_freedoms_keep_one_place_of_the_scenario_and_one_of_the_file():
    robot = denoc.load("five-bar")  # both driven joints have an `initial`
    found = denoc.run({"task": "simulate", "time": {"end": 0.1, "step": 0.1}, "initial": {"J1^1": 0.6}}, robot)
    np.testing.assert_allclose([found.table[f"J1^{k}.q"][0] for k in (1, 2)], [0.6, np.deg2rad(30)], atol=1e-12)


@pytest.mark.parametrize(("rate", "told"), [(-3.0, True), (3.0, False)])
def test_rates_into_a_stop_at_the_start_are_named(rate, told):
    document = yamls.load(denoc.load("slider-crank").document.text)
    document["links"][0]["joint"] |= {"limits": [0.5, 2.0], "initial": 0.5}
    robot = denoc.loads(yamls.dump(document))
    found = denoc.run({"task": "simulate", "time": {"end": 0.1, "step": 0.1}, "rates": {"crank": rate}}, robot)
    words = "`crank` starts at its lower limit, 0.5, and moves into it with -3: a blow"
    assert any(one.startswith(words) for one in found.record["warnings"]) is told
    assert found.table["crank.qd"][0] == max(rate, 0.0)
