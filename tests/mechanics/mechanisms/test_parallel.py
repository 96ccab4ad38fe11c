"""Parallel robots as legs and a platform: N_l N_c N_d, Khalil's eq. 66, Khan's cut platform."""

import copy
from functools import cache

import numpy as np
import pytest

import closed
import denoc
import yamls
from balanced import closed_states, motions
from comparing import off, slope
from denoc.machine.backend import using_backend
from denoc.machine.backend.account import noted_backend_runs
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.platforms.platform import inverse_by_platform_shares
from denoc.mechanics.platforms.platform_text import ByLegs, PlatformInverse, platform_order_at

pytestmark = pytest.mark.smoke

EXACT = 1e-11
PLANAR = closed.names("inverse_dynamics", ["three_rrr", "five_bar", "four_bar"])
GOUGH = [one["name"] for one in closed.file("gough_stewart")["cases"]]
LIBRARY = ["three-rrr", "gough-stewart", "five-bar", "four-bar", "slider-crank"]


@cache
def planar(name, case):
    """The robot's text, and its samples q, qd, qdd."""
    whole, one = closed.one_case(name, case)
    text = closed.planar_text(whole, one)
    return one, text, [closed.of_joints(denoc.loads(text), one[key]) for key in ("q", "qd", "qdd")]


@cache
def gough(case, platform):
    whole, one = closed.one_case("gough_stewart", case)
    return one, closed.gough_text(whole, platform), closed.gough_samples(whole, one, platform)


def edited(text, **joints):
    """The robot with entries of some joints changed."""
    file = yamls.load(text)
    for link in file["links"]:
        link["joint"] |= joints.get(link["joint"]["name"], {})
    return file


def loaded(file):
    return denoc.loads(yamls.dump(file))


# ---- legs


def test_the_legs_of_the_3_rrr_robot():
    robot = denoc.load("three-rrr")
    found = denoc.legs(robot)
    assert found.platform == "platform"
    assert [leg.links for leg in found.legs] == [("link1", "link4"), ("link2", "link5"), ("link3", "link6")]
    assert [leg.joints for leg in found.legs] == [("J1", "J4", "B1"), ("J2", "J5"), ("J3", "J6")]
    assert [leg.actuated for leg in found.legs] == [("J1",), ("J2",), ("J3",)]
    assert [leg.hangs for leg in found.legs] == ["B1", "B2", "B3"]
    assert [leg.loop for leg in found.legs] == [None, 0, 1]


def test_the_legs_of_a_gough_stewart_platform():
    found = denoc.legs(denoc.load("gough-stewart"))
    assert found.platform == "platform"
    assert found.legs[0].actuated == ()
    assert [leg.links for leg in found.legs[1:]] == [(f"cylinder{k}", f"piston{k}") for k in range(1, 7)]
    assert [leg.actuated for leg in found.legs[1:]] == [(f"leg{k}",) for k in range(1, 7)]
    assert [leg.hangs for leg in found.legs[1:]] == [f"ball{k}" for k in range(1, 7)]


def test_the_platform_may_be_named():
    robot = denoc.load("five-bar")
    assert {denoc.legs(robot, link).platform for link in ("2^1", "2^2")} == {"2^1", "2^2"}
    state = closed_states(robot)
    for link in ("2^1", "2^2"):
        assert off(denoc.platform_inverse(robot, *state, platform=link), denoc.inverse(robot, *state)) <= EXACT


@pytest.mark.parametrize(
    "robot, platform, words",
    [
        ("puma", None, "no loops"),
        ("three-rrr", "nothing", "no such link"),
        ("three-rrr", "link1", "isn't the platform"),
        ("carpet-scraper", None, "has no link that could be the platform"),
    ],
)
def test_what_is_no_platform_with_legs_is_refused(robot, platform, words):
    with pytest.raises(denoc.InputError, match=words):
        denoc.legs(denoc.load(robot), platform)


def test_open_loops_are_refused():
    robot = denoc.load("three-rrr")
    q, qd, qdd = (x[0] for x in closed_states(robot, 1))
    for wrong in ((q + 0.01, qd, qdd), (q, qd + 0.1, qdd)):
        with pytest.raises(denoc.InputError, match=r"aren't closed|would open the loops"):
            denoc.platform_inverse(robot, *wrong)
        with pytest.raises(denoc.InputError, match=r"aren't closed|would open the loops"):
            denoc.parallel_matrices(robot, *wrong[:2])


# ---- t = N_l N_c N_d θ̇


@pytest.mark.parametrize("name", LIBRARY)
def test_twists_are_the_rates_of_the_frames(name):
    robot = denoc.load(name)
    q, qd, _ = (x[0] for x in closed_states(robot, 1))
    found = denoc.parallel_matrices(robot, q, qd)
    moved = slope(
        lambda t: np.array([[denoc.frames(robot, q + x * qd)[link] for link in found["order"]] for x in t]), 1e-2
    )
    here = denoc.frames(robot, q)
    right = []
    for link, rate in zip(found["order"], moved):
        W = rate[:3, :3] @ here[link][:3, :3].T
        com = np.array([*robot.link(link).com, 1.0])
        right.append([W[2, 1], W[0, 2], W[1, 0], *(rate @ com)[:3]])
    assert off(found["t"].reshape(-1, 6), right) <= 1e-9
    N = found["N_l"] @ found["N_c"] @ found["N_d"]
    own = [next(k for joint in robot.moving if joint.name == one for k in joint.speeds) for one in found["independent"]]
    assert off(N @ qd[own], np.ravel(right)) <= 1e-9
    assert off(found["J_e"] @ qd[own], right[-1]) <= 1e-9
    assert off(found["J"] @ qd[own], qd) <= EXACT


@pytest.mark.parametrize("name", [*LIBRARY, "rssr"])
def test_the_matrices_have_the_shapes_of_the_paper(name):
    robot = denoc.load(name)
    q, qd, _ = (x[0] for x in closed_states(robot, 1))
    found, parts = denoc.parallel_matrices(robot, q, qd), denoc.legs(robot)
    n = len(found["order"])
    N_l, N_c, N_d = (found[key] for key in ("N_l", "N_c", "N_d"))
    assert N_l.shape == (6 * n, 6 * n)
    assert N_c.shape == (6 * n, N_d.shape[0])
    assert N_d.shape[1] == len(found["independent"])
    assert found["order"][-1] == parts.platform
    # N_l: unit blocks on the diagonal, nothing above it and nothing between legs
    home = {link: k for k, leg in enumerate(parts.legs) for link in leg.links} | {parts.platform: -1}
    for i, one in enumerate(found["order"]):
        for j, other in enumerate(found["order"]):
            block = N_l[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
            if i == j:
                assert (block == np.eye(6)).all()
            elif j > i or home[one] != home[other]:
                assert not block.any()
    assert not (N_d.reshape(-1, 6, N_d.shape[1]).any(axis=1).sum(axis=0) - 1).any()  # one block in each column
    K = found["K"]
    assert np.linalg.matrix_rank(K) == 6


@pytest.mark.parametrize("name", [*LIBRARY, "rssr"])
def test_what_legs_leave_is_square_to_what_they_take_in_lengths_of_the_mechanism(name):
    """The sum of projectors in a metric is symmetric in it, and each has the rank that its leg's kept joints give."""
    robot = denoc.load(name)
    K = denoc.parallel_matrices(robot, closed_states(robot, 1)[0][0])["K"]
    weighted = np.diag([1.0] * 3 + [loop_closure(robot).length ** -2] * 3) @ K
    assert off(weighted, weighted.T) <= 1e-13
    assert np.trace(K) == pytest.approx(round(np.trace(K)), abs=1e-12)


@pytest.mark.parametrize("name", [*LIBRARY, "rssr", "three-rrr-platform"])
@pytest.mark.sampled(2)
def test_the_matrices_are_one_text_compiled_or_not(name):
    robot, found = denoc.load(name), {}
    q, qd, _ = closed_states(robot, 3)
    for given in ((q[0],), (q[1],), (q[1], qd[1]), (q[2], qd[2])):
        for backend in ("plain", "compiled"):
            with using_backend(backend):
                found[backend] = denoc.parallel_matrices(robot, *given)
        with noted_backend_runs() as notes:
            found["direct"] = denoc.parallel_matrices(robot, *given)
        assert not notes  # straight into compiled code
        for one in found.values():
            assert list(one) == list(found["plain"])
            assert ("t" in one) == (len(given) == 2)
            for key, x in one.items():
                assert type(x) is type(found["plain"][key])
                assert x == found["plain"][key] if isinstance(x, tuple) else off(x, found["plain"][key]) <= 1e-13


@pytest.mark.parametrize("name", LIBRARY)
def test_the_reduced_inertia_is_the_product_of_the_matrices(name):
    robot = denoc.load(name)
    q, qd, _ = (x[0] for x in closed_states(robot, 1))
    found = denoc.parallel_matrices(robot, q, qd)
    N = found["N_l"] @ found["N_c"] @ found["N_d"]
    I, _ = denoc.reduced(robot, q, qd)
    assert off(found["I"], I) <= EXACT
    assert off(N.T @ found["M"] @ N, I) <= EXACT  # these robots have no rotors


@pytest.mark.parametrize("name, case", closed.names("inverse_dynamics", ["three_rrr", "five_bar"]))
def test_the_product_is_the_reduced_inertia_of_the_reference(name, case):
    one, text, samples = planar(name, case)
    robot = denoc.loads(text)
    for k in range(0, len(one["t"]), 5):
        if one["reduced_inertia"][k] is not None:
            found = denoc.parallel_matrices(robot, samples[0][k])
            actuated = [joint["name"] for joint in closed.file(name)["joints"] if joint["actuated"]]
            at = [actuated.index(joint) for joint in found["independent"]]
            assert off(found["I"], np.array(one["reduced_inertia"][k])[np.ix_(at, at)]) <= 1e-9


def test_rotors_are_in_the_reduced_inertia():
    _, text, samples = planar(*PLANAR[0])
    robot = loaded(edited(text, J1={"rotor_inertia": 0.3}, J5={"rotor_inertia": 0.2}, B1={"rotor_inertia": 0.1}))
    q, qd, _ = (x[3] for x in samples)
    assert off(denoc.parallel_matrices(robot, q)["I"], denoc.reduced(robot, q, qd)[0]) <= EXACT


# ---- the platform and the legs


@pytest.mark.parametrize("name, case", PLANAR)
def test_planar_torques_are_those_of_the_reference(name, case):
    one, text, samples = planar(name, case)
    robot = denoc.loads(text)
    right = np.array([one["actuator_torque"][joint.name] for joint in robot.moving if joint.actuated]).T
    found = denoc.platform_inverse(robot, *samples)
    assert off(found, right) <= 1e-9
    assert off(found, denoc.inverse(robot, *samples)) <= EXACT


@pytest.mark.parametrize("platform", ["leg", "free"])
@pytest.mark.parametrize("case", GOUGH)
@pytest.mark.sampled(2)
def test_leg_forces_of_the_gough_stewart_platform_are_those_of_the_reference(case, platform):
    one, text, samples = gough(case, platform)
    robot = denoc.loads(text)
    found = denoc.platform_inverse(robot, *samples)
    assert off(found, one["leg_force"]) <= 1e-9
    assert off(found, denoc.inverse(robot, *samples)) <= EXACT


def pushed(robot, rng):
    """Wrenches on the platform and on a link of a leg."""
    parts = denoc.legs(robot)
    return {parts.platform: 3.0 * rng.normal(size=6), parts.legs[-1].links[-1]: rng.normal(size=6)}


@pytest.mark.parametrize("name", LIBRARY)
def test_wrenches_drives_and_gravity_are_in_the_forces(name):
    file = yamls.load((closed.references.FOLDER.parents[1] / "robots" / f"{name}.yaml").read_text())
    file["gravity"] = [1.0, -2.0, 3.0]
    for k, link in enumerate(file["links"]):
        if link["joint"]["type"] in ("revolute", "prismatic") and link.get("mass", 0.0):
            link["joint"] |= {"rotor_inertia": 0.1 + 0.01 * k, "friction": {"viscous": 0.3, "coulomb": 0.1}}
    base = {"force": [1.0, 2.0, 3.0], "moment": [0.1, 0.2, 0.3], "at": [0.1, 0.2, 0.3]}
    found = denoc.legs(loaded(file))
    file["wrenches"] = [
        {"link": link, **base, "axes": axes}
        for link in (found.platform, found.legs[-1].links[0])
        for axes in ("link", "base")
    ]
    robot = loaded(file)
    q, qd, qdd = closed_states(robot)
    wrenches = pushed(robot, np.random.default_rng(3))
    right = denoc.inverse(robot, q, qd, qdd, wrenches)
    assert off(denoc.platform_inverse(robot, q, qd, qdd, wrenches), right) <= EXACT
    for sharing in ("even", "conditioned"):  # with as many actuators as freedoms it doesn't matter who carries what
        assert off(denoc.inverse(robot, q, qd, qdd, wrenches, sharing), right) <= EXACT
    one_by_one = [denoc.platform_inverse(robot, *one, wrenches) for one in zip(q, qd, qdd)]
    assert off(one_by_one, right) <= EXACT


@pytest.mark.parametrize("name", [*LIBRARY, "three-rrr-platform"])
@pytest.mark.sampled(6)
def test_the_text_by_parts_is_the_same_compiled(name):
    robot = denoc.load(name)
    state, wrenches = closed_states(robot, 9), pushed(robot, np.random.default_rng(4))
    for more in ((), (wrenches,)):
        with using_backend("plain"):
            right = denoc.platform_inverse(robot, *state, *more)
        for lanes in (2, 4, 8):
            with using_backend("compiled", lanes=lanes):
                assert off(denoc.platform_inverse(robot, *state, *more), right) <= 1e-13
        with using_backend("compiled"):
            alone = [denoc.platform_inverse(robot, *one, *more) for one in zip(*state)]
        assert off(alone, right) <= 1e-13
        with noted_backend_runs() as notes:
            denoc.platform_inverse(robot, *(x[0] for x in state), *more)
        assert not notes  # straight into compiled code


def test_an_open_sample_among_many_is_refused_by_compiled_code():
    robot = denoc.load("five-bar")
    state = closed_states(robot, 40, seed=5)
    with using_backend("plain"):
        right = denoc.inverse(robot, *state)
    with using_backend("compiled"):
        assert off(denoc.platform_inverse(robot, *state), right) <= EXACT
        wide = [np.tile(x, (3, 1)) for x in state]
        wide[0][50] += 0.01
        with pytest.raises(denoc.InputError, match="aren't closed"):
            denoc.platform_inverse(robot, *wide)


def test_limits_of_effort_are_kept_by_parts():
    _, text, samples = planar("three_rrr", "inverse_dynamics_gravity_minus_Y")
    file = edited(text, J4={"actuated": True}, J5={"actuated": True, "effort": {"weight": 3.0}})
    robot = loaded(file)
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            tau = denoc.platform_inverse(robot, *samples)
        assert off(tau, denoc.inverse(robot, *samples)) <= EXACT
    most = 0.95 * float(abs(tau[:, 2]).max())
    robot = loaded(edited(yamls.dump(file), J3={"effort": {"limits": [-most, most]}}))
    limited = denoc.platform_inverse(robot, *samples)
    assert abs(limited[:, 2]).max() <= most * (1 + 1e-9)
    assert off(limited, denoc.inverse(robot, *samples)) <= EXACT


def test_one_choice_of_equations_need_not_do_for_all_samples():
    """The row that suits the first sample has no grip where coupler and rocker are square to each other."""
    crank, coupler, rocker, ground = 0.15, 0.2, 0.25, 0.28

    def link(name, parent, length, **joint):
        joint |= {"name": name, "type": "revolute"}
        return {"name": name, "parent": parent, "joint": joint, "mass": 1.0, "com": [length / 2, 0.0, 0.0]}

    file = {
        "name": "square",
        "convention": "frames",
        "gravity": [0.0, -9.81, 0.0],
        "links": [
            link("crank", "base", crank, actuated=True),
            link("coupler", "crank", coupler, xyz=[crank, 0.0, 0.0]),
            link("rocker", "base", rocker, xyz=[ground, 0.0, 0.0]),
        ],
        "loops": [
            {
                "name": "pin",
                "joint": "revolute",
                "between": ["coupler", "rocker"],
                "first": {"at": [coupler, 0.0, 0.0]},
                "second": {"at": [rocker, 0.0, 0.0]},
            }
        ],
    }
    robot = loaded(file)
    square = np.arccos((crank**2 + ground**2 - coupler**2 - rocker**2) / (2 * crank * ground))
    q = np.array([denoc.assemble(robot, [angle, 1.0, 1.5]) for angle in (0.1, square, 2.0)])
    J, _ = loop_closure(robot).jacobian(q)
    slides = abs(J[:, :2, 2])  # what the rocker does to the two slides of the pin
    assert (slides.min(axis=1)[1], slides[0].argmax()) == (pytest.approx(0.0, abs=1e-12), slides[1].argmin())
    qd = motions(loop_closure(robot), J, np.zeros((3, loop_closure(robot).m)), [0])[0][:, :, 0]
    _, drift = loop_closure(robot).jacobian(q, qd)
    B, c = motions(loop_closure(robot), J, drift, [0])
    state = q, qd, c + 2.0 * B[:, :, 0]
    assert off(denoc.platform_inverse(robot, *state), denoc.inverse(robot, *state)) <= EXACT


def test_a_leg_that_can_move_by_itself_is_refused():
    robot = denoc.load("rssr")
    state = [x[0] for x in closed_states(robot, 1)]
    with pytest.raises(denoc.InputError, match="idle spins"):
        denoc.platform_inverse(robot, *state)


# ---- the cut platform


def cut_platform(case):
    """Khan's fully redundant robot: a part of the platform in each leg, all nine joints actuated, parts locked."""
    one, text, samples = planar("three_rrr", case)
    file = yamls.load(text)
    whole, side = closed.file("three_rrr"), 0.4
    B = {"B1": np.zeros(3), "B2": np.array([side, 0.0, 0.0]), "B3": np.array([side / 2, side * np.sqrt(3) / 2, 0.0])}
    file["loops"] = []
    for name, above in (("B2", "5"), ("B3", "6")):
        joint = {"name": name, "type": "revolute", "xyz": [0.6, 0.0, 0.0]}
        file["links"].append({"name": f"part-{name}", "parent": above, "joint": joint, "mass": 0.0})
        first = {"at": (-B[name]).tolist()}
        file["loops"].append(
            {"name": f"weld-{name}", "joint": "fixed", "between": [f"part-{name}", "7"], "first": first}
        )
    for link in file["links"]:
        link["joint"]["actuated"] = True
    file.pop("assembly", None)
    assert {joint["name"] for joint in whole["joints"]} == {link["joint"]["name"] for link in file["links"]}
    samples = [np.array([one[key][link["joint"]["name"]] for link in file["links"]]).T for key in ("q", "qd", "qdd")]
    return file, samples, B


def open_leg(file, leg, B, share):
    """A leg as an open chain whose last link is its share of the platform."""
    links = {link["joint"]["name"]: link for link in file["links"]}
    platform = links["B1"]
    chain = [copy.deepcopy(links[joint]) for joint in leg]
    com = np.array(platform["com"]) - B[leg[-1]]
    chain[-1] |= {
        "mass": share * platform["mass"],
        "com": com.tolist(),
        "inertia": {key: share * x for key, x in platform["inertia"].items()},
    }
    return loaded({"name": "leg", "convention": "frames", "gravity": file["gravity"], "links": chain})


LEGS = (("J1", "J4", "B1"), ("J2", "J5", "B2"), ("J3", "J6", "B3"))


@pytest.mark.parametrize("case", [case for name, case in PLANAR if name == "three_rrr"])
def test_fully_redundant_each_leg_carries_its_part_of_the_platform(case):
    """Even shares of mass, inertia and working wrench: the torques are those of three open chains (Khan, eq. 3.34)."""
    file, samples, B = cut_platform(case)
    robot = loaded(file)
    wrench = np.array([0.0, 0.0, 2.0, 3.0, -1.0, 0.0])
    tau = dict(zip(robot.joints, denoc.inverse(robot, *samples, {"7": wrench}, "even").T))
    places = {joint: k for k, joint in enumerate(robot.joints)}
    for leg in LEGS:
        chain = open_leg(file, leg, B, 1 / 3)
        own = [x[:, [places[joint] for joint in leg]] for x in samples]
        moved = wrench / 3 + np.concatenate([np.cross(-B[leg[-1]], wrench[3:] / 3), np.zeros(3)])
        right = denoc.inverse(chain, *own, {chain.links[-1].name: moved})
        assert off(np.array([tau[joint] for joint in leg]).T, right) <= EXACT


def test_all_sharings_make_the_same_motion():
    """Their power on any motion that keeps the loops closed is the same; `least` is the smallest."""
    file, samples, _ = cut_platform("inverse_dynamics_gravity_minus_Y")
    robot, loops = loaded(file), loop_closure(loaded(file))
    found = {how: denoc.inverse(robot, *samples, sharing=how) for how in ("least", "even", "conditioned")}
    J, _ = loops.jacobian(samples[0])
    N, _ = motions(loops, J, np.zeros((len(J), loops.m)), [0, 1, 2])
    work = {how: np.einsum("nki,nk->ni", N, tau) for how, tau in found.items()}
    for how in ("even", "conditioned"):
        assert off(work[how], work["least"]) <= EXACT
        assert ((found[how] ** 2).sum(axis=1) >= (found["least"] ** 2).sum(axis=1) - 1e-9).all()
    assert off(found["even"], found["conditioned"]) > 1e-3
    assert off(denoc.platform_inverse(robot, *samples), found["least"]) <= EXACT


def test_a_leg_with_a_better_conditioned_jacobian_carries_more():
    """Torques of the working wrench alone, against the open chains with shares from numpy's condition numbers."""
    file, samples, B = cut_platform("inverse_dynamics_no_gravity")
    file["gravity"] = [0.0, 0.0, 0.0]
    robot = loaded(file)
    q = samples[0][4]
    still = np.zeros(robot.nv)
    wrench = np.array([0.0, 0.0, 2.0, 3.0, -1.0, 0.0])
    tau = dict(zip(robot.joints, denoc.inverse(robot, q, still, still, {"7": wrench}, "conditioned")))
    length, places = loop_closure(robot).length, {joint: k for k, joint in enumerate(robot.joints)}
    share, columns = {}, {}
    frame = denoc.frames(robot, q)["7"]
    for leg in LEGS:
        last = robot.joint(leg[-1]).link
        J = denoc.jacobian(robot, q, last, at=-B[leg[-1]])[:, [places[joint] for joint in leg]]
        columns[leg] = J
        J = J / np.array([1.0] * 3 + [length] * 3)[:, None]
        sizes = np.linalg.svd(J / np.linalg.norm(J, axis=0), compute_uv=False)
        share[leg] = sizes[2] / sizes[0]
    in_base = np.concatenate([frame[:3, :3] @ wrench[:3], frame[:3, :3] @ wrench[3:]])
    for leg in LEGS:
        right = -share[leg] / sum(share.values()) * columns[leg].T @ in_base
        assert off([tau[joint] for joint in leg], right) <= EXACT


@pytest.mark.parametrize("sharing", ["least", "even", "conditioned"])
def test_more_actuators_than_freedoms_but_not_all_joints(sharing):
    """Six actuated joints, the platform's not: the torques make the motion, and limits are kept."""
    _, text, samples = planar("three_rrr", "inverse_dynamics_gravity_minus_Y")
    file = edited(text, J4={"actuated": True}, J5={"actuated": True}, J6={"actuated": True})
    robot = loaded(file)
    tau = denoc.inverse(robot, *samples, sharing=sharing)
    whole = np.zeros_like(samples[0])
    whole[:, list(robot.driven)] = tau
    assert off(denoc.forward(robot, samples[0], samples[1], whole), samples[2]) <= 1e-9
    most = 0.95 * float(abs(tau[:, 2]).max())
    file = edited(yamls.dump(file), J3={"effort": {"limits": [-most, most]}})
    limited = denoc.inverse(loaded(file), *samples, sharing=sharing)
    assert abs(limited[:, 2]).max() <= most * (1 + 1e-9)
    assert abs(limited - tau).max() > 1e-3
    whole[:, list(robot.driven)] = limited
    assert off(denoc.forward(robot, samples[0], samples[1], whole), samples[2]) <= 1e-9


def test_an_unknown_sharing_is_refused():
    robot = denoc.load("three-rrr")
    state = [x[0] for x in closed_states(robot, 1)]
    with pytest.raises(denoc.InputError, match="evem"):
        denoc.inverse(robot, *state, sharing="evem")
    with pytest.raises(denoc.InputError, match="no loops"):
        denoc.inverse(denoc.load("puma"), *np.zeros((3, 6)), sharing="even")


def test_the_rates_of_the_legs_follow_from_the_platforms_twist():
    """Khalil's q̇ = J⁻¹ J_v V_p, of every leg."""
    robot = denoc.load("gough-stewart")
    q, qd, _ = closed_states(robot)
    parts, loops = denoc.legs(robot), loop_closure(robot)
    for place, speeds in zip(q, qd):
        text = PlatformInverse(loops, parts, platform_order_at(loops, parts, place), ())
        by_legs = ByLegs(text, place.tolist(), loops.bodies)
        t = speeds[list(parts.legs[0].speeds)] @ np.array(by_legs.hanging.columns[0])
        assert off(np.array([by_legs.X[k] for k in range(robot.nv)]) @ t, speeds) <= EXACT
        assert np.shape(by_legs.T) == (6, 6)  # each leg has six freedoms
    assert off(inverse_by_platform_shares(robot, q, qd, 0 * qd), denoc.inverse(robot, q, qd, 0 * qd)) <= EXACT


def test_who_asks_for_shares_hears_of_open_loops_what_others_hear():
    robot = denoc.load("three-rrr")
    q, qd, qdd = closed_states(robot)
    q[2, 0] += 0.1
    told = []
    for sharing in ("least", "even", "conditioned"):
        with pytest.raises(denoc.InputError, match="the loops aren't closed") as caught:
            denoc.inverse(robot, q, qd, qdd, sharing=sharing)
        told.append(str(caught.value))
    assert told[1:] == told[:1] * 2
