"""Base parameters: published sets, Gautier and Khalil's formulas, and the rank of the regressor."""

import numpy as np
import pytest

import denoc
from comparing import off
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.mechanisms import base
from denoc.mechanics.numbers.grouping import inertial_changes_without_force
from random_mechanisms import mechanism
from random_robots import CHAINS, ONE, UNITS, coordinate_rates, drawn, moves, random_coordinates

KINDS = (
    {},
    {"types": ONE},
    {"types": (*ONE, *CHAINS), "gravity": (0, 0, -9.81), "conventions": ("dh",), "first": "prismatic"},
    {"types": ONE, "gravity": (0, 0, -9.81), "conventions": ("khalil",), "first": "revolute"},
    {"gravity": (0, 0, 0)},
)


def shown(case, places=slice(None)):
    """Rows of the regressor at random states."""
    width = len(denoc.parameters(case.robot))
    rng, count = np.random.default_rng(5), 3 * width // case.robot.nv + 8
    q = np.array([random_coordinates(case.file, rng) for _ in range(count)])
    qd, qdd = rng.normal(size=(2, count, case.robot.nv))
    return denoc.regressor(case.robot, q, qd, qdd).reshape(-1, width)[:, places]


def unseen(Y):
    """The number of combinations of columns that no row shows."""
    sizes = np.linalg.norm(Y, axis=0)
    return Y.shape[1] - np.linalg.matrix_rank(
        Y / np.where(sizes > 1e-12 * sizes.max(initial=0.0), sizes, np.inf), 1e-10
    )


@pytest.mark.parametrize("how", KINDS, ids=range(len(KINDS)))
@pytest.mark.parametrize("seed", range(16))
@pytest.mark.sampled(8)
def test_rules_find_all_that_forces_do_not_show(seed, how):
    """In a tree of any joints, however its first axes lie: no more and no less than the rank leaves."""
    case = drawn(seed, wrenches=False, offsets=False, links=(1, 6), **how)
    rules, Y = inertial_changes_without_force(case.robot), shown(case)
    assert abs(Y @ rules).max(initial=0.0) <= 1e-11 * abs(Y).max()
    assert np.linalg.matrix_rank(rules, tol=1e-9) == unseen(Y)
    known = denoc.base_parameters(case.robot)
    assert known.rules
    everything = denoc.base_parameters(case.robot, denoc.parameters(case.robot))
    assert everything.rules
    assert len(everything.names) + unseen(Y) == len(everything.numbers)


R, P, H = "revolute", "prismatic", "helical"
ARMS = {  # types, twists α before each joint in quarter turns, gravity
    "turn and two slides": ((R, P, P), (0, 0, 1), -9.81),
    "turn and a slide aside": ((R, P), (0, 1), -9.81),
    "scara": ((R, R, R, P), (0, 0, 0, 0), -9.81),
    "scara on a column": ((P, R, R, R), (0, 0, 0, 0), -9.81),
    "gantry with a wrist": ((P, P, P, R, R, R), (1, 1, 1, 0, 1, 1), -9.81),
    "wrist": ((R, R, R), (0, 1, 1), -9.81),
    "wrist without weight": ((R, R, R), (0, 1, 1), 0.0),
    "turn without weight on a slide": ((P, R, R), (0, 1, 0), 0.0),
    "turn and slide on a slide aside": ((P, R, P), (1, 1, 0), -9.81),
    "screw on a screw": ((H, H), (0, 0), -9.81),
    "screw on a screw upside down, level": ((H, H, R), (1, 2, 1), -9.81),
    "screw on screws of one pitch": ((H, H, H, R), (0, 0, 0, 1), -9.81),
    "screw on screws of two pitches": ((H, H, H), (0, 0, 0), -9.81),
    "screw on a slide and a screw": ((P, H, H), (0, 0, 0), -9.81),
    "screw on a slide aside and a screw": ((P, H, H), (0, 1, 0), -9.81),
}


@pytest.mark.parametrize("arm", ARMS)
def test_rules_on_arms_with_square_axes(arm):
    """Axes that are parallel, square or the same, where the rules for first joints matter."""
    types, twists, g = ARMS[arm]
    rng = np.random.default_rng(3)
    case = drawn(1, types=(R,), conventions=("khalil",), links=(len(types),) * 2, offsets=False, wrenches=False)
    case.file["gravity"] = [0.0, 0.0, g]
    for k, (link, type_, twist) in enumerate(zip(case.file["links"], types, twists)):
        aside = 0.0 if "wrist" in arm else float(rng.uniform(0.1, 0.3))
        link["parent"] = f"link{k}" if k else "base"
        link["joint"] = {"type": type_, "name": f"j{k + 1}", "alpha": twist * np.pi / 2, "d": aside if k else 0.0}
        if type_ == H:
            link["joint"]["pitch"] = 0.1 if k < 2 and "one pitch" in arm else 0.1 + 0.07 * k
    everything = denoc.base_parameters(case.robot, denoc.parameters(case.robot))
    assert everything.rules
    Y = shown(case)
    assert len(everything.names) == len(everything.numbers) - unseen(Y)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.sampled(4)
def test_forces_are_those_of_the_base_parameters(seed):
    """Inverse dynamics is made of the columns of the groups' own numbers and of the groups' values."""
    case = drawn(seed, wrenches=False)
    known = denoc.base_parameters(case.robot)
    Y = denoc.regressor(case.robot, *case.state)
    terms = Y[:, known.columns] * known.values
    assert abs(terms.sum(axis=1) - denoc.inverse(case.robot, *case.state)).max() <= 1e-10 * abs(terms).max()
    assert [list(denoc.parameters(case.robot))[k] for k in known.columns] == list(known.names)
    assert off(known.grouping[:, [known.numbers.index(name) for name in known.names]], np.eye(len(known.names))) == 0


D3 = RL4 = 0.45  # of the robot's file
RX90 = {  # W. Khalil, E. Dombre: Modeling, Identification and Control of Robots (2002), the table of the RX-90
    "link1.Izz": "joint1.rotor + link1.Izz + link2.Iyy + D3**2 * (M3 + M4 + M5 + M6) + link3.Iyy",
    "link2.Ixx": "link2.Ixx - link2.Iyy - D3**2 * (M3 + M4 + M5 + M6)",
    "link2.Ixy": "link2.Ixy",
    "link2.Ixz": "link2.Ixz - D3 * link3.mz",
    "link2.Iyz": "link2.Iyz",
    "link2.Izz": "joint2.rotor + link2.Izz + D3**2 * (M3 + M4 + M5 + M6)",
    "link2.mx": "link2.mx + D3 * (M3 + M4 + M5 + M6)",
    "link2.my": "link2.my",
    "link3.Ixx": "link3.Ixx - link3.Iyy + link4.Iyy + 2 * RL4 * link4.mz + RL4**2 * (M4 + M5 + M6)",
    "link3.Izz": "link3.Izz + link4.Iyy + 2 * RL4 * link4.mz + RL4**2 * (M4 + M5 + M6)",
    "link3.my": "link3.my + link4.mz + RL4 * (M4 + M5 + M6)",
    "link4.Ixx": "link4.Ixx + link5.Iyy - link4.Iyy",
    "link4.Izz": "link4.Izz + link5.Iyy",
    "link4.my": "link4.my - link5.mz",
    "link5.Ixx": "link5.Ixx + link6.Iyy - link5.Iyy",
    "link5.Izz": "link5.Izz + link6.Iyy",
    "link5.my": "link5.my + link6.mz",
    "link6.Ixx": "link6.Ixx - link6.Iyy",
}
ALONE = {3: "mx Ixy Ixz Iyz", 4: "mx Ixy Ixz Iyz", 5: "mx Ixy Ixz Iyz", 6: "mx my Izz Ixy Ixz Iyz"}


def test_the_published_set_of_the_rx90():
    """The 40 base parameters of the textbook by Khalil and Dombre, group by group, rotor inertias included."""
    robot = denoc.load("rx90")
    values = denoc.parameters(robot)
    inertial = [name for name in values if name.startswith("link") or name.endswith(".rotor")]
    known = denoc.base_parameters(robot, inertial)
    groups = dict(RX90) | {f"link{k}.{one}": f"link{k}.{one}" for k, names in ALONE.items() for one in names.split()}
    groups |= {f"joint{k}.rotor": f"joint{k}.rotor" for k in (3, 4, 5, 6)}
    assert len(groups) == 40
    assert set(known.names) == set(groups)
    given = {name.replace(".", "_"): x for name, x in values.items()}
    given |= {f"M{k}": values[f"link{k}.m"] for k in range(1, 7)} | {"D3": D3, "RL4": RL4}
    for name, value in zip(known.names, known.values):
        right = eval(groups[name].replace(".", "_"), {}, given)
        assert value == pytest.approx(right, abs=1e-13), name
    assert known.words("link4.my") == "link4.my - link5.mz"


def test_the_puma_has_36_and_their_groups_are_those_of_the_formulas():
    """The number of Gautier and Khalil (1990), with a vertical first axis and no rotors."""
    known = denoc.base_parameters(denoc.load("puma"))
    assert (len(known.names), known.rules) == (36, True)


def by_formulas(links):
    """Values of links 2 … n, Gautier and Khalil's grouping for revolute joints, from the tips to the base."""
    for k in reversed(range(1, len(links))):
        x, up = links[k], links[k - 1]
        a, d, r = (x[name] for name in ("alpha", "d", "r"))
        S, C = np.sin(a), np.cos(a)
        up["Ixx"] += x["Iyy"] + 2 * r * x["mz"] + r * r * x["m"]
        up["Ixy"] += d * S * (x["mz"] + r * x["m"])
        up["Ixz"] -= d * C * (x["mz"] + r * x["m"])
        up["Iyy"] += C * C * (x["Iyy"] + 2 * r * x["mz"] + r * r * x["m"]) + d * d * x["m"]
        up["Iyz"] += C * S * (x["Iyy"] + 2 * r * x["mz"] + r * r * x["m"])
        up["Izz"] += S * S * (x["Iyy"] + 2 * r * x["mz"] + r * r * x["m"]) + d * d * x["m"]
        up["mx"] += d * x["m"]
        up["my"] -= S * (x["mz"] + r * x["m"])
        up["mz"] += C * (x["mz"] + r * x["m"])
        up["m"] += x["m"]
        x["Ixx"] -= x["Iyy"]
        x["Iyy"] = x["mz"] = x["m"] = 0.0
    return links


def test_a_chain_by_the_formulas_of_gautier_and_khalil():
    """α, d and r without zeros; the links behind the first, which has its own rule."""
    case = drawn(4, types=("revolute",), conventions=("khalil",), links=(5, 5), drives=False, offsets=False)
    for k, link in enumerate(case.file["links"]):
        link["parent"] = f"link{k}" if k else "base"
        link["joint"] |= {"alpha": 0.5 + k, "d": 0.1 + 0.05 * k, "r": 0.2 - 0.03 * k, "gamma": 0.0, "b": 0.0}
    values = denoc.parameters(case.robot)
    names = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
    links = [{name: values[f"link{k}.{name}"] for name in names} for k in range(1, 6)]
    for own, link in zip(links, case.file["links"]):
        own.update({name: link["joint"][name] for name in ("alpha", "d", "r")})
    grouped, known = by_formulas(links), denoc.base_parameters(case.robot)
    for k in range(2, 6):
        for name in ("mx", "my", "Ixx", "Izz", "Ixy", "Ixz", "Iyz"):
            value = known.values[known.names.index(f"link{k}.{name}")]
            assert value == pytest.approx(grouped[k - 1][name], abs=1e-12), (k, name)


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.sampled(8)
def test_of_random_mechanisms(seed):
    """At a state that the search hasn't seen, the forces along the motions of the loops are those of the groups."""
    case = mechanism(seed, wrenches=False)
    known = denoc.base_parameters(case.robot)
    assert not known.rules
    values = denoc.parameters(case.robot)
    numbers = np.array([values[name] for name in known.numbers])
    assert off(known.grouping @ numbers, known.values) < 1e-12
    forces = case.N.T @ denoc.mechanics.quantities.quantities.inverse(case.robot, case.q, case.qd, case.qdd)
    Y = case.N.T @ denoc.mechanics.quantities.quantities.regressor(case.robot, case.q, case.qd, case.qdd)
    terms = Y[:, known.columns] * known.values
    assert abs(terms.sum(axis=1) - forces).max() <= 1e-12 * abs(terms).max()


PARALLELOGRAM = """
name: parallelogram
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: crank, joint: {type: revolute, name: A0, actuated: true}, mass: 1, com: [0.1, 0.01, 0], inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}
  - name: coupler
    joint: {type: revolute, name: A, xyz: [0.2, 0, 0]}
    mass: 2
    com: [0.2, 0.02, 0]
    inertia: {xx: 0.01, yy: 0.02, zz: 0.02}
  - name: rocker
    parent: base
    joint: {type: revolute, name: B0, xyz: [0.5, 0, 0]}
    mass: 3
    com: [0.12, 0.03, 0]
    inertia: {xx: 0.01, yy: 0.03, zz: 0.03}
loops:
  - {name: B, joint: revolute, between: [coupler, rocker], first: {at: [0.5, 0, 0]}, second: {at: [0.2, 0, 0]}}
assembly: {A0: 60 deg, A: -60 deg, B0: 60 deg}
"""


def test_a_parallelogram_knows_three_numbers():
    """Crank and rocker turn alike, and the coupler doesn't: I = Σ I about the pivots + m l², and m g r along x and y."""
    known = denoc.base_parameters(denoc.loads(PARALLELOGRAM))
    values = dict(zip(known.names, known.values))
    assert set(values) == {"crank.mx", "crank.my", "crank.Izz"}
    l, about = 0.2, lambda m, x, y, I: I + m * (x * x + y * y)
    inertia = about(1, 0.1, 0.01, 0.01) + about(3, 0.12, 0.03, 0.03) + 2 * l * l
    assert values["crank.Izz"] == pytest.approx(inertia, abs=1e-9)
    assert values["crank.mx"] == pytest.approx(0.1 + 3 * 0.12 + 2 * l, abs=1e-9)
    assert values["crank.my"] == pytest.approx(0.01 + 3 * 0.03, abs=1e-9)


def test_a_rank_that_can_hardly_be_told_is_said_to_be_in_doubt():
    """The loop of the one mechanism hardly turns; that of the other does."""
    assert base_parameters_of(16).doubtful
    assert not base_parameters_of(3).doubtful
    assert base_parameters_of(3).faintest > 1e-3
    assert not denoc.base_parameters(denoc.load("puma")).doubtful


@pytest.mark.parametrize("seed", [3, 7])
@pytest.mark.sampled(2)
def test_groups_that_miss_forces_at_further_states_are_in_doubt(seed, monkeypatch):
    """Where the rank is told too low, though the singular value that counts the least stands far above rounding."""
    robot = mechanism(seed, wrenches=False).robot
    assert denoc.base_parameters(robot).missed < 1e-9
    told = base._told
    monkeypatch.setattr(base, "_told", lambda s: told(s) - 2)
    wrong = denoc.base_parameters(robot)
    assert wrong.faintest > 1e-6
    assert wrong.missed > 1e-6
    assert wrong.doubtful


@pytest.mark.parametrize("seed", [1, 8])
@pytest.mark.sampled(2)
def test_states_stay_within_the_mechanisms_size(seed):
    """No joint slides farther than twice the largest distance of a joint or a cut from the one before."""
    robot = mechanism(seed, wrenches=False).robot
    first, size = base.assemble(robot, np.array(robot.q0)), loop_closure(robot).length
    slides = [k for one in robot.moving for k, kind in zip(one.coordinates, one.type.kinds) if kind == "length"]
    states = base._closed(robot, 300, np.random.default_rng(1))
    motions = states[0][1].shape[1]
    assert len(states) == -(-300 // motions)
    away = np.array([abs(q - first)[slides].max(initial=0.0) for q, _ in states])
    assert away.max() <= 2 * size
    assert away.max() > 0.3 * size


def base_parameters_of(seed):
    return denoc.base_parameters(mechanism(seed, wrenches=False).robot)


@pytest.mark.parametrize("seed", [1, 4])
@pytest.mark.sampled(2)
def test_what_shows_beyond_a_dead_point_counts(seed):
    """As many groups as numbers that forces tell apart at positions that an independent way leads to.

    It closes the loops by pseudo-inverses, in small steps in one direction, and so comes past the positions in which
    the actuators can't move them; from a neighbourhood of the first position, a dozen numbers are below rounding.
    """
    case = mechanism(seed, wrenches=False)
    known, loops = denoc.base_parameters(case.robot), case.loops
    rng, rows = np.random.default_rng(0), []
    for _ in range(4):
        q, way = case.q, rng.normal(size=len(case.N))
        for step in range(100):
            N = motions(loops.jacobian(q)[0])
            way = N @ (N.T @ way)
            way /= np.linalg.norm(way)
            if step % 3 == 0:
                qd = N @ rng.normal(size=N.shape[1])
                J, drift = loops.jacobian(q, qd)
                qdd = N @ rng.normal(size=N.shape[1]) - np.linalg.pinv(J, rcond=1e-9) @ drift
                rows.append(N.T @ denoc.mechanics.quantities.quantities.regressor(case.robot, q, qd, qdd))
            q = closed(case, q, 0.08 * way)
    numbers = list(denoc.parameters(case.robot))
    Y = np.concatenate(rows)[:, [numbers.index(name) for name in known.numbers]]
    size = np.linalg.norm(Y, axis=0)
    s = np.linalg.svd(Y / np.where(size > 1e-9, size, np.inf), compute_uv=False)
    assert s[len(known.names) - 1] > 1e-8 * s[0]
    assert s[len(known.names)] < 1e-12 * s[0]


def motions(J):
    """Columns that keep the loops closed."""
    _, s, V = np.linalg.svd(J)
    return V[(s > 1e-9).sum() :].T


def closed(case, q, step):
    """The position after a step along the speeds, with the loops closed again by Newton's method."""
    for _ in range(4):
        q = q + coordinate_rates(case.file, q, step)
        for what, at, _ in moves(case.file):
            if what not in UNITS:
                q[at][-4:] /= np.linalg.norm(q[at][-4:])
        gap, J = case.loops.near(q)
        step = -np.linalg.pinv(J, rcond=1e-9) @ gap
    return q


def test_numbers_that_are_not_there_are_refused():
    robot = denoc.load("puma")
    with pytest.raises(denoc.InputError, match="no such number"):
        denoc.base_parameters(robot, ["link1.Ixxx"])
    with pytest.raises(denoc.InputError, match="not a robot"):
        denoc.base_parameters("puma")
