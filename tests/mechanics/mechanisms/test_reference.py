"""Closed chains against independent numbers (tests/reference), to 1e-9 of the largest value of a quantity in a case.

The numbers come from Newton's and Euler's equations of the free bodies with multipliers, solved in one dense system.
"""

from functools import cache

import numpy as np
import pytest

import closed
import denoc
import yamls
from balanced import whole
from comparing import off
from denoc.machine.backend import using_backend
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.mechanisms.balance import Balance
from denoc.mechanics.mechanisms.subsystems import branch_links_of_subsystems
from references import called

pytestmark = pytest.mark.sampled(10)

EXACT = 1e-9
PLANAR = closed.names("inverse_dynamics")
MOTIONS = closed.names("forward_dynamics", ["five_bar", "four_bar"])
RSSR = [one["name"] for one in closed.file("rssr")["cases"] if one["name"].startswith("spin_free")]
GOUGH = [one["name"] for one in closed.file("gough_stewart")["cases"]]
WAYS = {
    "plain": ("plain", "auto"),
    "8 lanes": ("compiled", "straight", 8),
    "4 lanes": ("compiled", "straight", 4),
    "2 lanes": ("compiled", "straight", 2),
    "rolled": ("compiled", "rolled"),
}
SAMPLES = {"one by one": False, "all at once": True}


@pytest.fixture(autouse=True, params=WAYS.values(), ids=WAYS)
def way(request):
    for one in (read, read_rssr, read_gough):
        one.cache_clear()  # a robot keeps the code that was made for it
    with using_backend(*request.param):
        yield


@cache
def read(name, case):
    """The case, its robot, and its samples q, qd, qdd."""
    whole, one = closed.one_case(name, case)
    robot = denoc.loads(closed.planar_text(whole, one))
    return one, robot, [closed.of_joints(robot, one[key]) for key in ("q", "qd", "qdd")]


@cache
def read_rssr(case):
    whole, one = closed.one_case("rssr", case)
    kinematics = one if "R2_admissible" in one else closed.one_case("rssr", "spin_free")[1]
    return one, denoc.loads(closed.rssr_text(whole, one)), closed.rssr_samples(whole, kinematics)


@cache
def read_gough(case, platform):
    whole, one = closed.one_case("gough_stewart", case)
    return one, denoc.loads(closed.gough_text(whole, platform)), closed.gough_samples(whole, one, platform)


def by_name(found):
    """One mapping of stacked arrays from a mapping a sample."""
    return {key: np.array([one[key] for one in found]) for key in found[0]}


# ---- planar mechanisms: inverse dynamics


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name, case", PLANAR)
def test_inverse_gives_the_torques_of_the_actuators(name, case, batch):
    one, robot, samples = read(name, case)
    actuated = [joint.name for joint in robot.moving if joint.actuated]
    tau = called(lambda *x: denoc.inverse(robot, *x), *samples, batch=batch)
    assert off(tau, np.array([one["actuator_torque"][joint] for joint in actuated]).T) <= EXACT


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name, case", PLANAR)
def test_reactions_are_those_of_all_joints_and_cuts(name, case, batch):
    one, robot, samples = read(name, case)
    found = denoc.reactions(robot, *samples) if batch else by_name([denoc.reactions(robot, *x) for x in zip(*samples)])
    assert set(found) == set(one["joint_force"])
    scale = max(np.abs(force).max() for force in one["joint_force"].values())
    for joint, force in one["joint_force"].items():
        assert off(found[joint][:, 3:5], force, scale) <= EXACT
        assert off(found[joint][:, 5], np.zeros(len(force)), scale) <= EXACT
        # of moments only the actuator's is left: the motion is plane, and revolute joints transmit none about Z
        moment = np.zeros((len(force), 3))
        moment[:, 2] = one["actuator_torque"].get(joint, 0.0)
        assert off(found[joint][:, :3], moment, scale) <= EXACT


@pytest.mark.parametrize("name, case", PLANAR)
def test_assemble_finds_the_positions_from_a_guess(name, case):
    _, robot, (q, _, _) = read(name, case)
    driven = [joint.coordinates[0] for joint in robot.moving if joint.actuated]
    guess = q + np.random.default_rng(7).uniform(-0.05, 0.05, q.shape)
    guess[:, driven] = q[:, driven]
    assert off(denoc.assemble(robot, guess), q, 1.0) <= EXACT
    assert off(denoc.assemble(robot, guess[0]), q[0], 1.0) <= EXACT
    assert off(denoc.assemble(robot, guess)[:, driven], q[:, driven], 1.0) == 0.0


@pytest.mark.parametrize("name, case", PLANAR)
def test_the_first_position_is_found_from_what_the_file_guesses(name, case):
    """The guess of the robot's file picks the branch; actuated joints are where they are told to be."""
    _, robot, (q, _, _) = read(name, case)
    guess = np.round(robot.q0, 1)
    driven = [joint.coordinates[0] for joint in robot.moving if joint.actuated]
    guess[driven] = q[0][driven]
    assert off(denoc.assemble(robot, guess), q[0], 1.0) <= EXACT


@pytest.mark.parametrize("name, case", PLANAR + MOTIONS)
def test_rates_and_accelerations_follow_from_those_of_the_actuated_joints(name, case):
    one, robot, (q, qd, qdd) = read(name, case)
    regular = slice(None) if one["kind"] == "inverse_dynamics" else slice(0, -1)  # the last may be singular
    q, qd, qdd = q[regular], qd[regular], qdd[regular]
    driven = [joint.speeds[0] for joint in robot.moving if joint.actuated]
    others = [k for k in range(robot.nv) if k not in driven]
    loops = loop_closure(robot)
    J, drift = loops.jacobian(q, qd)
    found = qd.copy(), qdd.copy()
    found[0][:, others] = least(J[:, :, others], -np.einsum("nmk,nk->nm", J[:, :, driven], qd[:, driven]))
    found[1][:, others] = least(J[:, :, others], -np.einsum("nmk,nk->nm", J[:, :, driven], qdd[:, driven]) - drift)
    assert off(found[0], qd) <= EXACT
    assert off(found[1], qdd) <= EXACT


def least(A, b):
    return np.array([np.linalg.lstsq(a, x, rcond=None)[0] for a, x in zip(A, b)])


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name, case", PLANAR)
def test_forward_undoes_inverse(name, case, batch):
    one, robot, (q, qd, qdd) = read(name, case)
    tau = np.zeros_like(qd)
    for joint, torque in one["actuator_torque"].items():
        tau[:, robot.joint(joint).speeds[0]] = torque
    found = called(lambda *x: denoc.forward(robot, *x), q, qd, tau, batch=batch)
    # where a case has no acceleration to speak of, what the torques could make is the scale
    scale = max(np.abs(qdd).max(), np.abs(denoc.forward(robot, q, qd, 0 * tau)).max())
    assert off(found, qdd, scale) <= EXACT


@pytest.mark.parametrize("name, case", MOTIONS)
def test_forward_gives_the_accelerations_of_free_motion(name, case):
    _, robot, (q, qd, qdd) = read(name, case)
    found = denoc.forward(robot, q[:-1], qd[:-1], np.zeros_like(qd[:-1]))
    assert off(found, qdd[:-1]) <= EXACT


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name, case", PLANAR + MOTIONS)
def test_reduced_gives_inertia_and_bias_in_the_actuated_joints(name, case, batch):
    one, robot, (q, qd, _) = read(name, case)
    known = [k for k, I in enumerate(one["reduced_inertia"]) if I is not None]
    regular = [k for k in known if name != "five_bar" or one["kind"] == "inverse_dynamics" or k < len(q) - 1]
    right = [np.array([one[key][k] for k in regular]) for key in ("reduced_inertia", "reduced_bias")]
    if batch:
        I, h = denoc.reduced(robot, q[regular], qd[regular])
    else:
        I, h = (np.array(part) for part in zip(*(denoc.reduced(robot, *x) for x in zip(q[regular], qd[regular]))))
    # the five-bar's grow without bound on the way to its singular position: each by its own size
    assert max(off(a, b) for a, b in zip(I, right[0])) <= EXACT
    assert off(h, right[1]) <= EXACT


@pytest.mark.parametrize("name, case", PLANAR)
def test_energies_are_those_of_the_free_bodies(name, case):
    one, robot, (q, qd, _) = read(name, case)
    found = denoc.energy(robot, q, qd)
    scale = max(np.abs(one["kinetic_energy"]).max(), np.abs(one["potential_energy"]).max())
    for part in ("kinetic", "potential"):
        assert off(found[part], one[f"{part}_energy"], scale) <= EXACT


# ---- subsystems


@pytest.mark.parametrize("name, case", PLANAR)
def test_branch_by_branch_is_the_same_as_all_at_once(name, case):
    _, robot, (q, qd, qdd) = read(name, case)
    balance = Balance(robot, q)
    tau = tree_forces(robot, q, qd, qdd)
    one, other = balance.solve(tau), whole(balance, tau)
    assert off(one.actuated, other.actuated) <= 1e-11
    assert off(one.multipliers, other.multipliers) <= 1e-11


def tree_forces(robot, q, qd, qdd):
    """Of the spanning tree, as if nothing were cut."""
    I, h = denoc.inertia(robot, q), denoc.bias(robot, q, qd)
    return np.einsum("nij,nj->ni", I, qdd) + h


@pytest.mark.parametrize("case", [case for name, case in PLANAR if name == "carpet_scraper"])
def test_the_carpet_scraper_is_solved_in_the_papers_order(case):
    """III for two cut forces, I for the third, II for the crank's torque: never more than four unknowns at once."""
    _, robot, (q, *_) = read("carpet_scraper", case)
    steps = Balance(robot, q).steps()
    links = branch_links_of_subsystems(robot)
    assert [{link.split("-")[0] for b in step.branches for link in links[b]} for step in steps] == [
        {"III"},
        {"I"},
        {"II"},
    ]
    assert [len(step.unknowns) for step in steps] == [4, 2, 1]
    assert all(step.determinate for step in steps)


@pytest.mark.parametrize(
    "name, sizes", [("four_bar", [3]), ("five_bar", [4]), ("three_rrr", [7]), ("carpet_scraper", [4, 2, 1])]
)
def test_only_what_is_not_determinate_alone_is_solved_together(name, sizes):
    case = next(case for mechanism, case in PLANAR if mechanism == name)
    _, robot, (q, *_) = read(name, case)
    steps = Balance(robot, q).steps()
    assert [len(step.unknowns) for step in steps] == sizes


# ---- the RSSR linkage; the coupler's Euler parameters are free up to its idle spin and aren't compared


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("case", RSSR)
def test_rssr_torque_and_force_in_the_spherical_joint(case, batch):
    one, robot, samples = read_rssr(case)
    tau = called(lambda *x: denoc.inverse(robot, *x), *samples, batch=batch)
    assert off(tau[:, 0], one["tau"]) <= EXACT
    found = denoc.reactions(robot, *samples) if batch else by_name([denoc.reactions(robot, *x) for x in zip(*samples)])
    forces = {"joint3": "B_on_link2_by_link3"}
    if "force_joint1_on_link1_by_ground" in one:
        forces |= {"joint1": "joint1_on_link1_by_ground", "joint4": "joint4_on_link3_by_ground"}
        forces |= {"joint2": "joint2_on_link2_by_link1"}
    scale = max(np.abs(one["force_" + key]).max() for key in forces.values())
    for joint, key in forces.items():
        assert off(found[joint][:, 3:], one["force_" + key], scale) <= EXACT
        if joint in ("joint1", "joint4") and "moment_" + key in one:
            assert (
                off(found[joint][:, :3], one["moment_" + key], np.abs(one["moment_joint1_on_link1_by_ground"]).max())
                <= EXACT
            )
        else:
            assert np.abs(found[joint][:, :3]).max() <= EXACT * np.abs(one["tau"]).max()


@pytest.mark.parametrize("case", [case for case in RSSR if "mass_centre" not in case])
def test_rssr_swings_as_the_file_says(case):
    one, robot, (q, qd, _) = read_rssr(case)
    guess = q + np.random.default_rng(3).uniform(-0.05, 0.05, q.shape)
    guess[:, 0] = q[:, 0]
    guess[:, 1:5] /= np.linalg.norm(guess[:, 1:5], axis=1)[:, None]
    found = denoc.assemble(robot, guess)
    assert off(found[:, 5], one["theta"], 1.0) <= EXACT
    forces = np.zeros_like(qd)
    forces[:, 0] = one["tau"]
    forward = denoc.forward(robot, q, qd, forces)
    assert off(forward[:, 4], one["theta_dd"]) <= EXACT
    assert off(forward[:, 0], one["psi_dd"], np.abs(one["theta_dd"]).max()) <= EXACT
    energy = denoc.energy(robot, q, qd)
    assert off(energy["kinetic"], one["kinetic_energy"]) <= EXACT


def test_rssr_scenario_finds_rates_and_forces_from_the_crank_alone():
    whole, one = closed.one_case("rssr", "spin_free")
    period = whole["trajectory"]["T"]
    rate = {"law": "rate", "from": 0, "rate": 2 * np.pi / period}
    near = {"joint2": [0.4427, -0.6528, -0.3688, 0.4919], "joint4": 2.131}
    result = denoc.run(
        {
            "task": "inverse",
            "time": {"end": period, "step": period / 24},
            "motion": {"joint1": rate},
            "rates": {"joint2": [float(-spin_of_crank(one)), 0, 0]},
            "initial": {"joint1": 0, "joint4": one["theta"][0]},
            "solver": {"rtol": 1e-12, "atol": 1e-14},
            "record": {"reactions": True},
            "robot": "rssr",
        },
        denoc.loads(yamls.dump(yamls.load(closed.rssr_text(whole, one)) | {"assembly": near})),
    )
    assert result.ended == "done"
    assert off(result.table["joint4.q"], one["theta"]) <= EXACT
    assert off(result.table["joint4.qd"], one["theta_d"]) <= EXACT
    assert off(result.table["joint4.qdd"], one["theta_dd"]) <= EXACT
    assert off(result.table["joint1.tau"], one["tau"]) <= EXACT
    cut = np.column_stack([result.table[f"joint3.lambda.f{axis}"] for axis in "xyz"])
    assert off(cut, one["force_B_on_link2_by_link3"]) <= EXACT


def spin_of_crank(one):
    """The share of the crank's angular velocity along the coupler at the start."""
    whole = closed.file("rssr")
    return one["psi_d"][0] * np.dot(whole["geometry"]["z1"], one["x2"][0])


# ---- the Gough-Stewart platform, with the platform on leg 1 and as a free body between six cuts


@pytest.mark.parametrize("platform", ["leg", "free"])
@pytest.mark.parametrize("case", GOUGH)
def test_gough_leg_forces(case, platform):
    one, robot, samples = read_gough(case, platform)
    assert off(denoc.inverse(robot, *samples), one["leg_force"]) <= EXACT
    assert off(denoc.inverse(robot, *(x[3] for x in samples)), one["leg_force"][3]) <= EXACT


@pytest.mark.parametrize("platform", ["leg", "free"])
@pytest.mark.parametrize("case", GOUGH)
def test_gough_reactions(case, platform):
    one, robot, samples = read_gough(case, platform)
    found = denoc.reactions(robot, *samples)
    for key, joint, part in (
        ("S_force_on_platform", "S", slice(3, 6)),
        ("U_force_on_cylinder", "U", slice(3, 6)),
        ("U_moment_on_cylinder", "U", slice(0, 3)),
        ("P_force_on_piston", "P", slice(3, 6)),
        ("P_moment_on_piston", "P", slice(0, 3)),
    ):
        right = np.array(one[key])
        scale = np.abs(one[key.replace("moment", "force")]).max()
        for k in range(6):
            assert off(found[f"{joint}{k + 1}"][:, part], right[:, k], scale) <= EXACT


@pytest.mark.parametrize("platform", ["leg", "free"])
@pytest.mark.parametrize("case", GOUGH)
def test_gough_forward_undoes_inverse(case, platform):
    one, robot, (q, qd, qdd) = read_gough(case, platform)
    tau = np.zeros_like(qd)
    for k in range(6):
        tau[:, robot.joint(f"P{k + 1}").speeds[0]] = np.array(one["leg_force"])[:, k]
    assert off(denoc.forward(robot, q, qd, tau), qdd) <= EXACT


@pytest.mark.parametrize("platform", ["leg", "free"])
def test_gough_positions_from_a_guess(platform):
    _, robot, (q, _, _) = read_gough("combined", platform)
    legs = [joint.coordinates[0] for joint in robot.moving if joint.actuated]
    guess = q + np.random.default_rng(5).uniform(-0.03, 0.03, q.shape)
    guess[:, legs] = q[:, legs]
    turn = next(joint for joint in robot.moving if joint.type.orientation is not None)
    at = [turn.coordinates[turn.type.orientation + k] for k in range(4)]
    guess[:, at] /= np.linalg.norm(guess[:, at], axis=1)[:, None]
    found = denoc.assemble(robot, guess)
    found[:, at] *= np.sign((found[:, at] * q[:, at]).sum(axis=1))[:, None]
    assert off(found, q) <= EXACT


def test_gough_energies():
    one, robot, (q, qd, _) = read_gough("combined", "free")
    found = denoc.energy(robot, q, qd)
    assert off(found["kinetic"], one["kinetic_energy"]) <= EXACT


def test_rssr_with_a_hooke_joint():
    """The spin is tied: a moment along z2 x Z appears in the cut, and the torque changes a little (by 4.6e-6 N m)."""
    whole, one = closed.one_case("rssr", "hooke")
    data = yamls.load(closed.rssr_text(whole, one))
    loop = data["loops"][0]
    loop["spin"] = "hooke"  # the second's y, link 2's z, stays square to the first's x, Z
    loop["first"]["rpy"], loop["second"]["rpy"] = [0, "-90 deg", 0], ["90 deg", 0, 0]
    robot = denoc.loads(yamls.dump(data))
    samples = closed.rssr_samples(whole, closed.one_case("rssr", "hooke")[1])
    tau = denoc.inverse(robot, *samples)[:, 0]
    assert tau == pytest.approx(np.array(one["tau"]), abs=1e-9 * abs(np.array(one["tau"])).max())
    cut = denoc.reactions(robot, *samples)["joint3"]
    for key, part in (("force_B_on_link2_by_link3", cut[:, 3:]), ("moment_B_on_link2_by_link3", cut[:, :3])):
        expected = np.array(one[key])
        assert part == pytest.approx(expected, abs=1e-9 * abs(expected).max())
