"""Loops over bodies beside the recursion, on random trees: the same text as machine code and as it stands."""

from types import SimpleNamespace

import numpy as np
import pytest

import denoc
import yamls
from comparing import off
from denoc.machine.backend import using_backend
from denoc.mechanics.bodies.body_tables import LONG, LOOPS, ROOM, tree_tables
from denoc.mechanics.numbers.regressor import parameters as regressor_parameters
from denoc.mechanics.numbers.regressor import regressor_entries, regressor_width
from denoc.mechanics.quantities import offered
from denoc.mechanics.quantities.programs import PROGRAMS, drives_are_of_single_rows, rows_follow_speeds
from denoc.mechanics.tree import dense
from random_robots import MOVING, drawn, random_robot

DIGITS = 1e-13


@pytest.fixture(autouse=True)
def loops_for_small_robots_too(monkeypatch):
    monkeypatch.setattr(offered, "FEW", 0)


def plain(what, robot, *given):
    """The text as it stands, on arrays."""
    text, n = LOOPS[what], robot.nv
    lengths, tables = tree_tables(robot).of(text)
    room = {name: np.zeros((count, lengths["places"])) for name, count in {**ROOM, **LONG}.items()}
    room |= {"P": np.zeros((36, n + 1, n)), "Z": np.zeros((6, lengths.get("columns", 0)))}
    width = lengths[text.result[1]]
    rows = {"fdyn-derivatives": 1 + 3 * n, "idyn": 1, "fdyn": 1}.get(what, n)
    result = np.zeros((rows, width))
    text.text(SimpleNamespace(**lengths, **{**room, **tables}), *(np.array(x)[None] for x in given), result)
    return result


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.sampled(4)
def test_inertia_of_random_trees(seed):
    """Joints of all types in all conventions, several roots, balls and free bodies anywhere in the tree."""
    case = drawn(seed, links=(2, 12))
    robot, q = case.robot, np.array(case.q)
    recursion = np.array(dense.inertia_matrix(robot.tree.bodies, q.tolist(), robot.nv), dtype=float)
    with using_backend("compiled"):
        one, many = denoc.inertia(robot, q), denoc.inertia(robot, np.array([q, q + 0.0]))
    assert off(one, recursion) < DIGITS
    assert off(many[1], recursion) < DIGITS
    if rows_follow_speeds(robot):
        assert off(plain("inertia", robot, q), recursion) < DIGITS
        assert robot.derived["builtin", "inertia"].aimed


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.sampled(4)
def test_dynamics_of_random_trees(seed):
    """Inverse and forward dynamics beside the recursion, which robots of up to 60 bodies have."""
    case = drawn(seed, links=(2, 12), wrenches=False)
    robot = case.robot
    q, qd, qdd, tau = (np.array(x) for x in (case.q, case.qd, case.qdd, case.tau))
    if not drives_are_of_single_rows(robot):
        return
    with using_backend("plain"):
        forces, accelerations = denoc.inverse(robot, q, qd, qdd), denoc.forward(robot, q, qd, tau)
    for what, x, right, digits in (("idyn", qdd, forces, DIGITS), ("fdyn", tau, accelerations, 1e-10)):
        code = tree_tables(robot).bound(LOOPS[what], (robot.nv,), False)
        assert off(code(q, qd, x), right) < digits
        assert off(plain(what, robot, q, qd, x).ravel(), right) < digits


@pytest.mark.parametrize("n", [61, 100])
def test_dynamics_of_long_trees_are_loops(n):
    """Beside the plain recursion; a wrench, a pattern of given motion, or many samples have the code of before."""
    robot = denoc.loads(yamls.dump(random_robot(n, links=(n, n), types=("revolute", "prismatic"), wrenches=False)))
    q, qd, x = np.random.default_rng(n).uniform(-1, 1, (3, n))
    with using_backend("plain"):
        forces, accelerations = denoc.inverse(robot, q, qd, x), denoc.forward(robot, q, qd, x)
    with using_backend("compiled"):
        assert off(denoc.inverse(robot, q, qd, x), forces) < DIGITS
        assert off(denoc.forward(robot, q, qd, x), accelerations) < 1e-10
        assert robot.derived["builtin", "inverse"].aimed
        assert robot.derived["builtin", "forward"].aimed
        assert off(denoc.inverse(robot, [q, q], [qd, qd], [x, x])[1], forces) < DIGITS
        pushed = denoc.inverse(robot, q, qd, x, {"link1": [0, 0, 0, 0, 0, 0]})
        assert off(pushed, forces) < DIGITS


def flat(found):
    return np.concatenate([found[name].ravel() for name in ("qdd", "dq", "dqd", "dtau")])


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.sampled(6)
def test_derivatives_of_random_trees(seed):
    """Beside dual numbers on the recursion: friction, springs, rotors, several roots, balls and free bodies anywhere."""
    case = drawn(seed, links=(2, 12), wrenches=False)
    robot, state = case.robot, (np.array(case.q), np.array(case.qd), np.array(case.tau))
    again = denoc.loads(yamls.dump(case.file))
    with using_backend("plain"):
        recursion = flat(denoc.derivatives(robot, *state))
    with using_backend("compiled"):
        one = flat(denoc.derivatives(again, *state))
    digits = 1e-11 * max(1.0, np.linalg.cond(denoc.inertia(robot, state[0])) / 1e4)
    assert off(one, recursion) < digits
    if PROGRAMS["fdyn-derivatives"].loops(robot):
        assert off(plain("fdyn-derivatives", robot, *state).ravel(), recursion) < digits
        assert again.derived["builtin", "fdyn-derivatives"].aimed


@pytest.mark.parametrize("n", [9, 61, 100])
def test_derivatives_of_long_trees(n):
    """By differences of the accelerations, since dual numbers take long; one sample and many."""
    robot = denoc.loads(yamls.dump(random_robot(n, links=(n, n), types=("revolute", "prismatic"), wrenches=False)))
    rng = np.random.default_rng(n)
    q, qd, tau = rng.uniform(-1, 1, (3, n))
    way = rng.uniform(-1, 1, n)
    with using_backend("compiled"):
        found = denoc.derivatives(robot, q, qd, tau)
        many = denoc.derivatives(robot, *(np.array([x, x]) for x in (q, qd, tau)))
    assert off(flat({name: x[1] for name, x in many.items()}), flat(found)) < DIGITS
    assert off(found["qdd"], denoc.forward(robot, q, qd, tau)) < 1e-10
    assert off(found["dtau"] @ denoc.inertia(robot, q), np.eye(n)) < 1e-8
    h = 1e-5
    for name, step in (("dq", (h * way, 0, 0)), ("dqd", (0, h * way, 0))):
        ahead, back = (denoc.forward(robot, *(x + sign * y for x, y in zip((q, qd, tau), step))) for sign in (1, -1))
        assert off(found[name] @ way, (ahead - back) / (2 * h)) < 1e-5


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.sampled(4)
def test_regressors_of_random_trees(seed):
    """Links on fixed joints, on the ground and doubled, springs, and joints at rest, which dry friction doesn't hold."""
    case = drawn(seed, links=(2, 9))
    robot, q, qd, qdd = case.robot, np.array(case.q), np.array(case.qd), np.array(case.qdd)
    qd[0] = 0.0
    shape = robot.nv, regressor_width(robot)
    recursion = np.array(regressor_entries(robot, q.tolist(), qd.tolist(), qdd.tolist()), dtype=float).reshape(shape)
    with using_backend("compiled"):
        one, many = (
            denoc.regressor(robot, q, qd, qdd),
            denoc.regressor(robot, *(np.array([x, x]) for x in (q, qd, qdd))),
        )
    assert off(one, recursion) < DIGITS
    assert off(many[1], recursion) < DIGITS
    if PROGRAMS["regressor"].loops(robot):
        assert off(plain("regressor", robot, q, qd, qdd), recursion) < DIGITS
    numbers = np.array([*regressor_parameters(robot).values()])
    free = denoc.loads(yamls.dump({key: x for key, x in case.file.items() if key != "wrenches"}))
    assert off(one @ numbers, denoc.inverse(free, q, qd, qdd)) < 1e-11


@pytest.mark.parametrize("n", [61, 100])
def test_regressors_of_long_trees(n):
    robot = denoc.loads(
        yamls.dump(random_robot(n, links=(n, n), types=("revolute", "prismatic", "fixed"), wrenches=False))
    )
    q, qd, qdd = np.random.default_rng(n).uniform(-1, 1, (3, robot.nv))
    numbers = np.array([*regressor_parameters(robot).values()])
    with using_backend("compiled"):
        assert off(denoc.regressor(robot, q, qd, qdd) @ numbers, denoc.inverse(robot, q, qd, qdd)) < 1e-11


@pytest.mark.parametrize("n", [7, 8, 61, 100])
def test_inertia_of_long_trees(n):
    """One sample and many, beyond the sizes of which straight code is made; most branch."""
    robot = denoc.loads(yamls.dump(random_robot(n, links=(n, n), types=("revolute", "prismatic", "helical"))))
    rng = np.random.default_rng(n)
    q = rng.uniform(-1, 1, (3, n))
    with using_backend("plain"):
        expected = denoc.inertia(robot, q)
    with using_backend("compiled"):
        assert off(denoc.inertia(robot, q), expected) < DIGITS
        assert off(denoc.inertia(robot, q[1]), expected[1]) < DIGITS


def test_two_robots_share_the_code_and_not_their_numbers():
    """Each has its own tables, and what one call leaves in them doesn't reach the next."""
    puma, chain = denoc.load("puma"), denoc.load("chain")
    q = np.full(6, 0.4), np.full(10, 0.2)
    with using_backend("compiled"):
        first = denoc.inertia(puma, q[0]), denoc.inertia(chain, q[1])
        again = denoc.inertia(puma, q[0]), denoc.inertia(chain, q[1])
    addresses = {robot.derived["builtin", "inertia"].aimed for robot in (puma, chain)}
    assert len(addresses) == 1
    for one, other in zip(first, again):
        assert (one == other).all()


def test_a_tree_far_away_loses_no_digits():
    """All motions are about its root, wherever that is: a quadrillionth of what a kilometre would leave."""
    joint = {"type": "free"}
    arm = {"type": "revolute", "xyz": [0.1, 0, 0], "axis": [0, 1, 0]}
    inertia = {"xx": 0.1, "yy": 0.2, "zz": 0.15}
    robot = denoc.loads(yamls.dump({"name": "far", "convention": "frames", "links": [
        {"name": "base0", "joint": joint, "mass": 3.0, "com": [0.02, 0, 0], "inertia": inertia},
        {"name": "arm", "joint": arm, "mass": 1.0, "com": [0, 0, 0.1], "inertia": inertia}]}))  # fmt: skip
    turn = [0.5, 0.5, -0.5, 0.5, 0.3]
    with using_backend("compiled"):
        near, far = (denoc.inertia(robot, [x, -x, x, *turn]) for x in (0.0, 1e5))
    assert (near == far).all()


def test_a_tree_with_its_root_far_away_loses_no_digits():
    """Where the root's joint is on the base doesn't matter to what is behind it."""
    joint, inertia = {"type": "revolute", "axis": [0, 1, 0]}, {"xx": 0.1, "yy": 0.2, "zz": 0.15}
    found = []
    for x in (0.0, 1e5):
        links = [
            {
                "name": "one",
                "joint": {**joint, "xyz": [x, -x, 0]},
                "mass": 3.0,
                "com": [0.02, 0, 0],
                "inertia": inertia,
            },
            {
                "name": "two",
                "joint": {**joint, "xyz": [0.1, 0, 0]},
                "mass": 1.0,
                "com": [0, 0, 0.1],
                "inertia": inertia,
            },
        ]
        with using_backend("compiled"):
            robot = denoc.loads(yamls.dump({"name": "far", "convention": "frames", "links": links}))
            found.append(denoc.inertia(robot, [0.3, -0.4]))
    assert (found[0] == found[1]).all()


def test_speeds_in_another_order_go_the_old_way():
    """A file that has a child before its parent: rows follow the file, bodies don't."""
    case = random_robot(5, links=(6, 6), types=("revolute", "prismatic"), shuffled=True)
    robot = denoc.loads(yamls.dump(case))
    assert not rows_follow_speeds(robot)
    q = np.linspace(-1, 1, robot.nq)
    recursion = np.array(dense.inertia_matrix(robot.tree.bodies, q.tolist(), robot.nv), dtype=float)
    with using_backend("compiled"):
        assert off(denoc.inertia(robot, q), recursion) < DIGITS


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_positions_that_are_no_numbers_are_refused(wrong):
    robot = denoc.load("chain")
    q = np.zeros(10)
    with using_backend("compiled"):
        denoc.inertia(robot, q)
        q[3] = wrong
        with pytest.raises(denoc.DenocError, match="not finite"):
            denoc.inertia(robot, q)


def test_enormous_results_are_left_to_the_plain_text():
    """It looks whether they can be right; these can."""
    link = {"name": "one", "joint": {"type": "revolute"}, "mass": 1e15, "com": [1, 0, 0]}
    robot = denoc.loads(yamls.dump({"name": "heavy", "convention": "frames", "links": [link]}))
    assert tree_tables(robot).bound(LOOPS["inertia"], (1, 1), False)(np.array([0.2])) is None
    with using_backend("compiled"):
        assert denoc.inertia(robot, [0.2]) == pytest.approx(1e15)


def test_angles_of_many_turns_have_their_sines():
    robot = denoc.load("chain")
    q = np.linspace(-1, 1, 10)
    with using_backend("compiled"):
        near = denoc.inertia(robot, q)
        assert off(denoc.inertia(robot, q + 2 * np.pi * 2.0**22), near) < 1e-8


def test_each_joint_type_is_met():
    """The drawn trees have all of them."""
    types = {joint.type.name for seed in range(40) for joint in drawn(seed, links=(2, 12)).robot.moving}
    assert types >= {*MOVING} - {"three-revolutes"}
