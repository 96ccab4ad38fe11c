"""Theorems on random mechanisms: random trees, closed by cuts of every type.

`mechanism(seed)` is a random one in a random state in which its loops are closed; each test is named after what it
proves. How the loop is cut must not matter: for that, one loop is built joint by joint and cut everywhere in turn.
"""

import numpy as np
import pytest

import denoc
from balanced import whole
from comparing import off, slope
from denoc.mechanics.assembly.search import closing_position_moved_along_speeds
from denoc.mechanics.closure.methods import METHODS
from denoc.mechanics.mechanisms.balance import Balance, undetermined_multipliers
from denoc.robot import CUTS
from denoc.simulate import Runner
from denoc.simulate.systems import System
from random_mechanisms import mechanism, ring
from random_robots import coordinate_rates

EXACT = 1e-11
seeds = pytest.mark.parametrize("seed", range(14))
of_each_type = pytest.mark.parametrize("cut", CUTS)


def of_type(cut, seed=0, **how):
    return mechanism(seed, cuts=(cut,), loops=(1, 1), links=(5, 8), **how)


def every(cut):
    return [of_type(cut, seed) for seed in (0, 1)]


# ---- constraints


@pytest.mark.parametrize("seed", [0, 1])
@of_each_type
def test_jacobian_and_drift_are_the_rates_of_the_gap(cut, seed):
    """Along any motion, closed or not."""
    case, rng = of_type(cut, seed), np.random.default_rng(5)
    loops, nv = case.loops, case.robot.nv
    q = closing_position_moved_along_speeds(case.robot, case.q, rng.uniform(-0.2, 0.2, nv))
    qd, qdd = rng.uniform(-1, 1, (2, nv))
    J, drift = loops.jacobian(q, qd)
    step = 0.02 / (1 + abs(qd).sum())
    rates = coordinate_rates(case.file, q, qd)
    gaps = slope(lambda t: loops.gap(q + np.multiply.outer(t, rates)), step)
    assert off((J @ qd)[~loops.on_speeds], gaps[~loops.on_speeds], 1.0) < 1e-8

    def opening_rates(t):
        return [loops.jacobian(q + x * rates)[0] @ (qd + x * qdd) for x in t]

    assert off(J @ qdd + drift, slope(opening_rates, step), 1.0) < 1e-7


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.sampled(4)
def test_dampers_see_a_gap_from_the_body_where_the_loop_begins(seed):
    """Of points that are held: how fast they move apart in that body's axes, whatever turns with the first link."""
    case, rng = of_type(("revolute", "spherical")[seed % 2], seed), np.random.default_rng(5)
    loops, nv = case.loops, case.robot.nv
    q = closing_position_moved_along_speeds(case.robot, case.q, rng.uniform(-0.2, 0.2, nv))
    qd = rng.uniform(-1, 1, nv)
    tied = loops.ties_at(q.tolist())
    rows = loops.damped(tied, loops.rates(q.tolist(), None, tied)[0])
    rates = coordinate_rates(case.file, q, qd)
    parents = {link["name"]: link["parent"] for link in case.file["links"]}

    def way(link):
        return [*way(parents[link]), link] if link in parents else [link]

    for tie, place in zip(loops.ties, loops.places):
        first, second = (way(link) for link in tie.links)
        meeting = [a for a, b in zip(first, second) if a == b][-1]

        def apart(t, tie=tie, meeting=meeting):
            frames = {"base": np.eye(4), **denoc.frames(case.robot, q + t * rates)}
            ends = [(frames[link] @ [*at.origin, 1])[:3] for link, at in zip(tie.links, tie.frames)]
            return frames[meeting][:3, :3].T @ (ends[1] - ends[0])

        right = slope(lambda t, apart=apart: [apart(x) for x in t], 0.02 / (1 + abs(qd).sum()))
        found = [sum(x * qd[k] for k, x in row.items()) for row in rows[place][:3]]
        assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(right), rel=1e-7)


@of_each_type
@pytest.mark.sampled(3)
def test_loops_close_again_from_nearby(cut):
    for case in every(cut):
        off_it = closing_position_moved_along_speeds(
            case.robot, case.q, np.random.default_rng(3).uniform(-0.02, 0.02, case.robot.nv)
        )
        q = denoc.assemble(case.robot, off_it)
        assert abs(case.loops.gap(q)).max() < 1e-11
        kept = [k for joint in case.robot.moving if joint.actuated for k in joint.coordinates]
        if case.robot.driven and len(case.robot.driven) <= case.robot.nv - case.loops.m:
            assert off(q[kept], off_it[kept], 1.0) < 1e-9


# ---- forces


@seeds
@pytest.mark.sampled(2)
def test_branch_by_branch_is_all_at_once(seed):
    case = mechanism(seed)
    tau = case.rng.uniform(-10, 10, (3, case.robot.nv))
    balance = Balance(case.robot, np.array([case.q] * 3))
    by_steps, at_once = balance.solve(tau), whole(balance, tau)
    scale = abs(at_once.actuated).max() + abs(at_once.multipliers).max()
    assert off(by_steps.actuated, at_once.actuated, scale) < EXACT
    assert off(by_steps.multipliers, at_once.multipliers, scale) < EXACT


@seeds
@pytest.mark.smoke
@pytest.mark.sampled(2)
def test_inverse_of_forward_is_the_identity(seed):
    case = mechanism(seed)
    size = len(case.robot.driven) + len(case.robot.actuators)
    forces = case.rng.uniform(-10, 10, size)
    tau, wrenches = case.pushes(forces)
    qdd = denoc.forward(case.robot, case.q, case.qd, tau, wrenches=wrenches)
    found = denoc.inverse(case.robot, case.q, case.qd, qdd)
    scale = abs(denoc.bias(case.robot, case.q, case.qd)).max() + abs(forces).max()
    assert off(found, forces, scale) < 1e-10


@seeds
def test_forward_of_inverse_is_the_identity(seed):
    case = mechanism(seed)
    tau, wrenches = case.pushes(denoc.inverse(case.robot, case.q, case.qd, case.qdd))
    assert off(denoc.forward(case.robot, case.q, case.qd, tau, wrenches=wrenches), case.qdd) < 1e-9


@of_each_type
@pytest.mark.sampled(4)
def test_cuts_do_no_work_on_motions_that_keep_loops_closed(cut):
    """By the velocities of their points, from differences of frames."""
    for case in every(cut):
        robot, (loop,) = case.robot, case.robot.loops
        wrench = denoc.reactions(robot, case.q, case.qd, case.qdd)[loop.name]
        for motion in case.N.T:
            w, v = _velocity(case, motion, loop, 1) - _velocity(case, motion, loop, 0)
            assert abs(wrench[:3] @ w + wrench[3:] @ v) < 1e-7 * (1 + abs(wrench).max())


def _velocity(case, motion, loop, side):
    """Angular velocity of a link of the loop, and the velocity of its point at the second's origin."""
    rates, steps = coordinate_rates(case.file, case.q, motion), 0.02 / (1 + abs(motion).sum())
    name, second = loop.between[side], loop.between[1]

    def placed(name, t):
        return (
            [np.eye(4)] * len(t)
            if name == "base"
            else denoc.frames(case.robot, case.q + np.multiply.outer(t, rates))[name]
        )

    there = (placed(second, [0.0])[0] @ loop.second.matrix())[:, 3]
    here = placed(name, [0.0])[0]
    T_dot = slope(lambda t: np.array(placed(name, t)), steps)
    W = T_dot[:3, :3] @ here[:3, :3].T
    w = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
    return np.array([w, (T_dot @ np.linalg.inv(here) @ there)[:3]])


@seeds
@pytest.mark.sampled(2)
def test_power_of_actuators_is_the_rate_of_energy_and_what_friction_takes(seed):
    case = mechanism(seed, wrenches=False)
    robot, q, qd, qdd = case.robot, case.q, case.qd, case.qdd
    tau, wrenches = case.pushes(denoc.inverse(robot, q, qd, qdd))
    power = tau @ qd + sum(wrench @ _twist(case, link) for link, wrench in wrenches.items())
    loss = 0.0
    for joint in robot.moving:
        for k, drive in zip(joint.speeds, joint.drives):
            loss += (drive.viscous * qd[k] + drive.coulomb * np.sign(qd[k])) * qd[k]
    rates = coordinate_rates(case.file, q, qd)

    def energies(t):
        return [sum(denoc.energy(robot, q + x * rates, qd + x * qdd).values()) for x in t]

    rate = slope(energies, 0.02 / (1 + abs(qd).sum() + abs(qdd).sum() / 5))
    assert off(rate + loss, power, 1 + abs(tau * qd).max() + abs(loss)) < 1e-7


def _twist(case, name):
    """[w; v] of a link's frame, in its axes."""
    rates = coordinate_rates(case.file, case.q, case.qd)
    here = denoc.frames(case.robot, case.q)[name]
    T_dot = slope(lambda t: denoc.frames(case.robot, case.q + np.multiply.outer(t, rates))[name], 0.02 / case.bends())
    own = np.linalg.inv(here) @ T_dot
    return np.array([own[2, 1], own[0, 2], own[1, 0], *own[:3, 3]])


# ---- redundant constraints: loops in a plane


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(2)
def test_loops_in_a_plane_are_redundant_and_their_forces_least(seed):
    case = mechanism(seed, planar=True, cuts=("revolute", "cylindrical", "spherical"))
    robot, loops = case.robot, case.loops
    balance = Balance(robot, case.q)
    assert len(balance.rows) == 2 * len(robot.loops)
    tau = denoc.inverse(robot, case.q, case.qd, case.qdd)
    push, wrenches = case.pushes(tau)
    assert off(denoc.forward(robot, case.q, case.qd, push, wrenches=wrenches), case.qdd) < 1e-9
    loads = case.rng.uniform(-10, 10, robot.nv)
    by_steps, at_once = balance.solve(loads), whole(balance, loads)
    assert off(by_steps.actuated, at_once.actuated) < EXACT
    assert off(by_steps.multipliers, at_once.multipliers) < EXACT
    lost = undetermined_multipliers(loops, case.q)
    for loop, place in zip(robot.loops, loops.places):  # axes are those of the base, turned about z
        rows = [("f", k) for k in loop.type.slides] + [("n", 3 - j - k) for j, k in loop.type.aligned]
        assert [rows[k] for k in np.flatnonzero(lost[place])] == [row for row in rows if row in OUT_OF_PLANE]
        wrench = denoc.reactions(robot, case.q, case.qd, case.qdd)[loop.name]
        assert abs(wrench[[0, 1, 5]]).max() < 1e-9 * (1 + abs(wrench).max())


OUT_OF_PLANE = (("f", 2), ("n", 0), ("n", 1))


# ---- closure methods


@pytest.mark.parametrize("method", [name for name in METHODS if name != "penalty"])  # which gives way a little
@pytest.mark.sampled(4)
def test_every_closure_method_has_the_accelerations_of_forward(method):
    for seed in range(6):
        case = mechanism(seed, drives=False, types=("revolute", "prismatic", "universal", "spherical"))
        system = System(case.robot, loops=case.loops, closure=method, preferred=case.robot.driven, smooth=1e-3)
        run = Runner(system, case.q)
        found = run.evaluate(0.0, run.start(case.q, case.qd))
        right = denoc.forward(case.robot, case.q, case.qd, np.zeros(case.robot.nv))
        assert off(found.qdd, right) < 1e-8


def test_penalties_come_near_as_they_grow_stiff():
    """From rest, pushed out of balance, the loops give way as 1/k."""
    case = mechanism(0, drives=False, types=("revolute", "prismatic"))
    gaps = []
    for k in (1e5, 1e7):
        result = denoc.run(_fall(case, 0.05, closure={"method": "penalty", "k": k}, rates={}), robot=case.robot)
        assert result.ended == "done"
        gaps.append(result.audit["closure"])
    assert gaps[1] < gaps[0] / 20


# ---- where the loop is cut


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(2)
def test_the_answer_does_not_depend_on_the_joint_that_is_cut(seed):
    """Forces, accelerations and every joint's reaction, of one ring cut at each of its joints."""
    whole = ring(seed)
    right = None
    for cut in range(whole.actuated, len(whole.types)):
        robot = whole.cut_at(cut)
        q, qd, qdd = whole.state(robot, cut)
        tau = denoc.inverse(robot, q, qd, qdd)
        force = np.zeros(robot.nv)
        force[list(robot.driven)] = [3.0, -2.0, 1.0, 2.5][: len(robot.driven)]
        found = {
            "forces": tau,
            "accelerations": denoc.forward(robot, q, qd, force)[list(robot.driven)],
            "accelerations that were given": qdd[list(robot.driven)],
            "energy": sum(denoc.energy(robot, q, qd).values()),
        }
        # of the next link on the one before; cut or hung from the other side, the same wrench
        reactions = denoc.reactions(robot, q, qd, qdd)
        for k in range(len(whole.types)):
            sign = -1.0 if k > cut else 1.0
            found[f"reaction {k}"] = sign * whole.at_second(k, reactions[f"j{k}"], k > cut)
        right = right or found
        for what, x in found.items():
            assert off(x, right[what], 1 + abs(np.asarray(right[what])).max()) < 1e-8, what


# ---- along a motion


def _fall(case, end, **more):
    robot = case.robot
    initial = {j.name: [float(case.q[k]) for k in j.coordinates] for j in robot.moving}
    rates = {j.name: [float(case.qd[k]) / 4 for k in j.speeds] for j in robot.moving}
    return {"robot": robot.name, "task": "simulate", "time": {"end": end, "step": end / 10}, "initial": initial,
            "rates": rates, "record": {"energy": True}, "solver": {"rtol": 1e-9}} | more  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.sampled(4)
def test_energy_is_kept_where_nothing_takes_it(seed):
    case = mechanism(seed, drives=False, wrenches=False)
    result = denoc.run(_fall(case, 0.1), robot=case.robot)
    assert result.ended == "done"
    assert result.audit["closure"] < 1e-10
    total = result.table["energy.total"]
    assert abs(total - total[0]).max() < 1e-6 * (1 + result.table["energy.kinetic"].max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled(3)
def test_momentum_is_kept_where_nothing_holds_the_base(seed):
    for trial in range(100 * seed, 100 * seed + 100):
        case = mechanism(
            trial,
            first="free",
            gravity=(0, 0, 0),
            drives=False,
            wrenches=False,
            types=("revolute", "spherical", "prismatic"),
            links=(4, 6),
            loops=(1, 1),
        )
        if "base" not in case.robot.loops[0].between:
            break
    result = denoc.run(_fall(case, 0.1), robot=case.robot)
    assert result.ended == "done"
    momenta = [_momentum(case.robot, result.table, row) for row in (0, 5, 10)]
    for found in momenta[1:]:
        assert off(found, momenta[0]) < 1e-7


def _momentum(robot, table, row):
    """Linear and angular, about the base's origin."""
    q = np.array([table[f"{j.name}.{s}"][row] for j in robot.moving for s in j.type.coordinates])
    qd = np.array([table[f"{j.name}.{s}"][row] for j in robot.moving for s in j.type.speeds])
    free = robot.moving[0]
    own = (denoc.inertia(robot, q) @ qd)[list(free.speeds)]
    T = denoc.frames(robot, q)[free.link] @ np.linalg.inv(robot.tree.seats[free.link][1].matrix())
    p, L = T[:3, :3] @ own[:3], T[:3, :3] @ own[3:]
    return np.concatenate([p, L + np.cross(T[:3, 3], p)])
