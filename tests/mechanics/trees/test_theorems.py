"""Theorems on random trees of all joint types in all conventions.

Each test is named after the identity that it proves.  `drawn(seed)` is a random robot in a random state; `newton` is
the same robot by Newton's and Euler's equations, link by link, with nothing shared with the engine.
"""

import copy
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import denoc
import newton
import yamls
from comparing import off, off_accelerations, slope
from denoc.machine.backend import using_backend
from denoc.mechanics.numbers.regroup import regrouped_bodies
from denoc.mechanics.tree.sweeps import sweep_tree
from random_robots import ALL, CHAINS, FREE, MOVING, WITH_AXIS, Drawn, coordinate_rates, drawn, moves

laws = settings()  # those of the tier
seeds = given(seed=st.integers(0, 2**32 - 1))
EXACT = 1e-11


def largest(vectors):
    return max(np.abs(v).max() for v in vectors)


# ---- the recursion against Newton and Euler


@pytest.mark.parametrize("type_", ALL)
@settings(laws, max_examples=12)
@seeds
def test_a_joint_of_each_type_obeys_newton_and_euler(type_, seed):
    """Two of the type among others: torques, reactions, energies, frames."""
    agrees_with_newton(drawn(seed, types=(type_, type_, "revolute", "spherical"), links=(2, 5)))


@pytest.mark.parametrize("convention", ["dh", "khalil", "frames"])
@settings(laws, max_examples=20)
@seeds
def test_a_tree_in_each_convention_obeys_newton_and_euler(convention, seed):
    agrees_with_newton(drawn(seed, conventions=(convention,)))


@laws
@seeds
@pytest.mark.smoke
def test_a_tree_of_mixed_conventions_in_any_order_obeys_newton_and_euler(seed):
    agrees_with_newton(drawn(seed, shuffled=True, links=(3, 9)))


def agrees_with_newton(case):
    robot, right = case.robot, case.newton
    assert off(denoc.inverse(robot, *case.state), right.tau) <= EXACT
    reactions = denoc.reactions(robot, *case.state)
    assert set(reactions) == set(right.reactions)
    for joint, wrench in right.reactions.items():
        assert off(reactions[joint], wrench, scale=largest(right.reactions.values())) <= EXACT
    frames, ends = denoc.frames(robot, case.q), denoc.frames(robot, case.q, at="end")
    for link in frames:
        assert off(frames[link], right.frames[link].matrix()) <= EXACT
        assert off(ends[link], right.ends[link]) <= EXACT
    energy = denoc.energy(robot, case.q, case.qd)
    assert off(energy["kinetic"], right.kinetic) <= EXACT
    assert off(energy["elastic"], right.elastic) <= EXACT
    lifted = sum(link.mass for link in robot.links) * np.linalg.norm(robot.gravity)
    assert off(energy["potential"], right.potential, scale=lifted) <= EXACT
    # a random mass centre may look as if `r` had the sign of other toolboxes
    assert [text for text in robot.warnings if ".r: the mass centre lies beyond" not in text] == []


@laws
@seeds
def test_reactions_keep_every_link_in_equilibrium(seed):
    """Parent's wrench − children's wrenches + gravity + wrenches from outside = rate of momentum, fixed joints too."""
    case = drawn(seed, types=(*MOVING, "fixed", "fixed"), links=(3, 7))
    reactions, right = denoc.reactions(case.robot, *case.state), case.newton
    scale = largest(reactions.values())
    for link in case.robot.links:
        frame, centre = right.frames[link.name], right.centres[link.name]
        rate_p, rate_L = right.rates[link.name]
        n, f = np.split(reactions[link.joint.name] + newton.external_wrench(case.file, link.name, frame), 2)
        for joint in right.children[link.name]:
            child = right.frames[case.robot.joint(joint).link]
            n_c, f_c = np.split(reactions[joint], 2)
            n, f = n - n_c - np.cross(child.p - frame.p, f_c), f - f_c
        f = f + link.mass * np.array(case.robot.gravity)
        n = n + np.cross(centre.p - frame.p, link.mass * np.array(case.robot.gravity))
        assert off(f, rate_p, scale=scale) <= EXACT
        assert off(n, rate_L + np.cross(centre.p - frame.p, rate_p), scale=scale) <= EXACT


@laws
@seeds
def test_motions_of_newton_are_derivatives_of_the_frames(seed):
    """What the checks above stand on: twists are the rates of the engine's frames, accelerations those of the twists."""
    case = drawn(seed)
    step, right = 0.02 / case.bends(), case.newton
    scale = case.bends()

    def poses(t):
        placed = denoc.frames(case.robot, case.later(t)[0])
        return np.stack([placed[link][:, :3, :] for link in placed], axis=1)

    def twists(t):
        moved = [newton.motion(case.file, q, qd, 0 * qd).frames for q, qd in zip(*case.later(t))]
        return np.array([[(frame.w, frame.v) for frame in frames.values()] for frames in moved])

    T_rate, t_rate = slope(poses, step), slope(twists, step)
    links = [link.name for link in case.robot.links]
    for k, frame in enumerate(right.frames[link] for link in links):
        assert off(T_rate[k], np.column_stack([newton.skew(frame.w) @ frame.R, frame.v]), scale=scale) <= EXACT
    for k, frame in enumerate(right.frames.values()):
        assert off(t_rate[k], (frame.wd, frame.a), scale=scale**2) <= EXACT


# ---- the recursion against the DeNOC matrices


def in_order(case, m):
    """Places in qd of the matrices' columns."""
    joints = [case.robot.link(name).joint for name in m["order"]]
    return [k for joint in joints for k in joint.speeds]


@laws
@seeds
def test_recursion_gives_the_matrices(seed):
    """I = (N_l N_d)ᵀ M N_l N_d + rotors, and the same by recursion; h − h(q, 0) = C q̇ + friction."""
    case = drawn(seed, shuffled=bool(seed % 2))
    m = denoc.matrices(case.robot, case.q, case.qd)
    columns = in_order(case, m)
    N = m["N_l"] @ m["N_d"]
    rotors = np.zeros(case.robot.nv)
    losses = np.zeros(case.robot.nv)
    for joint in case.robot.moving:
        file = next(link["joint"] for link in case.file["links"] if link["joint"]["name"] == joint.name)
        friction, spring = file.get("friction", {}), file.get("spring", {})
        qd = case.qd[list(joint.speeds)]
        rotors[list(joint.speeds)] = file.get("rotor_inertia", 0.0)
        viscous = friction.get("viscous", 0.0) + spring.get("damping", 0.0)
        losses[list(joint.speeds)] = friction.get("coulomb", 0.0) * np.sign(qd) + viscous * qd
    I = denoc.inertia(case.robot, case.q)
    assert off(I[np.ix_(columns, columns)], m["I"]) <= EXACT
    assert off(N.T @ m["M"] @ N + np.diag(rotors[columns]), m["I"]) <= EXACT
    h, g = (denoc.bias(case.robot, case.q, qd) for qd in (case.qd, 0 * case.qd))
    assert off(m["h"], h[columns]) <= EXACT
    assert off(m["C"] @ case.qd[columns], (h - g - losses)[columns], scale=np.abs([h, g]).max()) <= EXACT


@laws
@seeds
def test_inertia_is_u_d_ut(seed):
    """With U unit upper triangular and D positive; so D's product is I's determinant."""
    case = drawn(seed, shuffled=bool(seed % 2))
    m = denoc.matrices(case.robot, case.q)
    assert off(np.tril(m["U"]), np.eye(case.robot.nv)) == 0.0
    assert (m["D"] > 0).all()
    assert off(m["U"] @ np.diag(m["D"]) @ m["U"].T, m["I"]) <= EXACT


@laws
@seeds
def test_the_inverse_of_the_inertia_is_u_t_d_u_inverted(seed):
    """Explicitly, by the program, and column by column as accelerations by unit forces."""
    case = drawn(seed, shuffled=bool(seed % 2))
    robot, n = case.robot, case.robot.nv
    m = denoc.matrices(robot, case.q)
    bound = off_accelerations(m["I"])
    inverse, columns = denoc.inverse_inertia(robot, case.q), in_order(case, m)
    U_inverse = np.linalg.inv(m["U"])
    assert off(m["I_inverse"], U_inverse.T @ np.diag(1 / m["D"]) @ U_inverse) <= bound
    assert off(inverse[np.ix_(columns, columns)], m["I_inverse"]) <= bound
    at, still = np.tile(case.q, (n + 1, 1)), np.zeros((n + 1, n))
    accelerations = denoc.forward(robot, at, still, np.eye(n + 1, n, -1))
    assert off(accelerations[1:] - accelerations[0], inverse, scale=abs(accelerations).max()) <= bound


@laws
@seeds
def test_twists_at_the_mass_centres_are_n_l_n_d_qd(seed):
    case = drawn(seed, types=MOVING, shuffled=bool(seed % 2))
    m = denoc.matrices(case.robot, case.q, case.qd)
    twists = (m["N_l"] @ m["N_d"] @ case.qd[in_order(case, m)]).reshape(-1, 6)
    right = [(c.w, c.v) for c in (case.newton.centres[name] for name in m["order"])]
    assert off(twists, np.reshape(right, (-1, 6))) <= EXACT


@laws
@seeds
def test_twists_are_n_l_p_times_the_rates_of_euler_parameters(seed):
    """Hanzaki's P: with ė of spherical and free joints in the place of ω the links move as they do."""
    case = drawn(seed, types=("spherical", "free", "revolute"), shuffled=bool(seed % 2))
    m = denoc.matrices(case.robot, case.q, case.qd)
    rates = coordinate_rates(case.file, case.q, case.qd)
    speeds = case.qd.copy()
    for joint in case.robot.moving:
        if joint.type.orientation is not None:  # ω stands in the last three speeds, e_0 before the others in q
            at = [joint.coordinates[joint.type.orientation + k] for k in (1, 2, 3)]
            speeds[list(joint.speeds[-3:])] = rates[at]
    order = in_order(case, m)
    right = m["N_l"] @ m["N_d"] @ case.qd[order]
    assert off(m["N_l"] @ m["P"] @ speeds[order], right) <= 1e-10


def test_p_of_a_spherical_joint_is_the_papers():
    """G* = [B + 1] / e_0 of eq. 14 in axes of the preceding link, here the base, about the joint's own point."""
    link = {"name": "a", "joint": {"type": "spherical", "name": "s"}, "mass": 1, "com": [0, 0, 0],
            "inertia": {"xx": 1, "yy": 1, "zz": 1}}  # fmt: skip
    robot = denoc.loads(yamls.dump({"name": "ball", "convention": "frames", "links": [link]}))
    q = np.array([0.5, -0.1, 0.7, 0.5])
    B = denoc.frames(robot, q)["a"][:3, :3]
    P = denoc.matrices(robot, q)["P"]
    assert P[:3] == pytest.approx((B + np.eye(3)) / 0.5, abs=1e-12)
    assert not P[3:].any()
    many = denoc.matrices(robot, np.array([q, [0.0, 1.0, 0.0, 0.0]]))["P"]
    assert many[0] == pytest.approx(P, abs=1e-15)
    assert not np.isfinite(many[1]).all()  # e_0 is 0 there
    assert "P" not in denoc.matrices(denoc.load("puma"), np.zeros(6))


@laws
@seeds
def test_composite_and_articulated_inertias_are_what_they_stand_for(seed):
    """Of a floating root: the inertia of the whole as if rigid, and as if all joints were loose (Schur's complement)."""
    case = drawn(seed, first="free", links=(2, 6))
    m = denoc.matrices(case.robot, case.q)
    I, P = m["I"], m["N_d"][:6, :6]
    loose = I[:6, :6] - I[:6, 6:] @ np.linalg.solve(I[6:, 6:], I[6:, :6])
    assert off(P.T @ m["M_tilde"][0] @ P, I[:6, :6]) <= EXACT
    assert off(P.T @ m["M_hat"][0] @ P, loose, scale=np.abs(I).max()) <= EXACT


@laws
@seeds
def test_rate_of_inertia_minus_two_c_is_skew(seed):
    case = drawn(seed)
    m = denoc.matrices(case.robot, case.q, case.qd)
    columns = in_order(case, m)
    I_rate = slope(lambda t: denoc.inertia(case.robot, case.later(t)[0]), 0.02 / case.bends())
    S = I_rate[np.ix_(columns, columns)] - 2 * m["C"]
    assert off(S, -S.T, scale=case.bends() * np.abs(m["I"]).max()) <= EXACT


@laws
@seeds
def test_kinetic_energy_is_half_of_qd_i_qd(seed):
    case = drawn(seed)
    T = denoc.energy(case.robot, case.q, case.qd)["kinetic"]
    assert off(case.qd @ denoc.inertia(case.robot, case.q) @ case.qd / 2, T) <= EXACT
    assert off(case.newton.kinetic, T) <= EXACT


@laws
@seeds
def test_jacobian_gives_the_twist_of_a_point(seed):
    case = drawn(seed)
    point = np.random.default_rng(seed).uniform(-0.5, 0.5, 3)
    for name, frame in case.newton.frames.items():
        J = denoc.jacobian(case.robot, case.q, name, at=point)
        twist = (frame.w, frame.v + np.cross(frame.w, frame.R @ point))
        assert off(J @ case.qd, np.ravel(twist), scale=case.bends()) <= EXACT


# ---- directions of the dynamics


@laws
@seeds
def test_forward_undoes_inverse(seed):
    case = drawn(seed)
    tau = denoc.inverse(case.robot, *case.state)
    qdd = denoc.forward(case.robot, case.q, case.qd, tau)
    assert off(qdd, case.qdd) <= off_accelerations(denoc.inertia(case.robot, case.q))


@laws
@seeds
@pytest.mark.smoke
def test_inverse_undoes_forward(seed):
    case = drawn(seed)
    qdd = denoc.forward(case.robot, case.q, case.qd, case.tau)
    tau = denoc.inverse(case.robot, case.q, case.qd, qdd)
    scale = np.abs(denoc.inertia(case.robot, case.q)).max() * np.abs(qdd).max() + np.abs(case.tau).max()
    assert off(tau, case.tau, scale=scale) <= EXACT


@laws
@seeds
def test_equations_of_motion_are_linear_in_the_accelerations(seed):
    """τ = I q̈ + h."""
    case = drawn(seed)
    I, h = denoc.inertia(case.robot, case.q), denoc.bias(case.robot, case.q, case.qd)
    tau = denoc.inverse(case.robot, *case.state)
    assert off(I @ case.qdd + h, tau, scale=np.abs(h).max() + np.abs(tau).max()) <= EXACT


@laws
@seeds
def test_hybrid_obeys_the_same_equations_whatever_is_given(seed):
    """Any mixture of given motion and given force, even within one joint."""
    case = drawn(seed, links=(2, 7))
    tau = denoc.inverse(case.robot, *case.state)
    motion_given = np.random.default_rng(seed).random(case.robot.nv) < 0.5
    found_qdd, found_tau = denoc.hybrid(
        case.robot, case.q, case.qd, np.where(motion_given, case.qdd, np.nan), np.where(motion_given, np.nan, tau)
    )
    assert (found_qdd[motion_given] == case.qdd[motion_given]).all()
    assert (found_tau[~motion_given] == tau[~motion_given]).all()
    I = denoc.inertia(case.robot, case.q)
    sought = np.flatnonzero(~motion_given)
    worth = off_accelerations(I[np.ix_(sought, sought)]) if sought.size else 0.0
    assert off(found_qdd, case.qdd) <= worth
    scale = np.abs(I).max() * np.abs(case.qdd).max() + np.abs(tau).max()
    assert off(denoc.inverse(case.robot, case.q, case.qd, found_qdd), found_tau, scale=scale) <= EXACT


@laws
@seeds
def test_hybrid_is_inverse_where_all_motion_is_given_and_forward_where_none_is(seed):
    case = drawn(seed)
    unknown = np.full(case.robot.nv, np.nan)
    qdd, tau = denoc.hybrid(case.robot, *case.state, unknown)
    assert (qdd == case.qdd).all()
    assert off(tau, denoc.inverse(case.robot, *case.state)) <= EXACT
    qdd, tau = denoc.hybrid(case.robot, case.q, case.qd, unknown, case.tau)
    assert (tau == case.tau).all()
    assert off(qdd, denoc.forward(case.robot, case.q, case.qd, case.tau)) <= off_accelerations(
        denoc.inertia(case.robot, case.q)
    )


# ---- energy and momentum


@laws
@seeds
@pytest.mark.smoke
def test_energy_grows_by_what_is_put_in_less_what_is_lost(seed):
    """d(T + V + elastic)/dt = τ · q̇ + power of the wrenches − friction's and damping's."""
    case = drawn(seed)
    tau, right = denoc.inverse(case.robot, *case.state), case.newton

    def energies(t):
        return np.stack(list(denoc.energy(case.robot, *case.later(t)).values()), axis=-1)

    rates = slope(energies, 0.02 / case.bends())
    powers = [*(tau * case.qd), right.power, -right.losses]
    assert off(rates.sum(), sum(powers), scale=np.abs([*powers, *rates]).sum()) <= EXACT


@laws
@seeds
def test_a_floating_robot_without_gravity_keeps_its_momentum(seed):
    """Whatever its joints' forces are: a free first joint, no force on it, no wrenches."""
    case = drawn(seed, first="free", gravity=(0, 0, 0), wrenches=False, links=(2, 6))
    robot = case.robot
    assert robot.moving[0].type.name == "free"
    assert [link.parent for link in robot.links].count("base") == 1
    tau = np.concatenate([np.zeros(6), case.tau[6:]])
    case.qdd = denoc.forward(robot, case.q, case.qd, tau)
    rate = slope(lambda t: np.array([momentum(robot, *one) for one in zip(*case.later(t))]), 0.02 / case.bends())
    pushes = [np.abs(w).max() for w in denoc.reactions(robot, *case.state).values()]
    scale = max(pushes) + case.bends() * np.abs(momentum(robot, case.q, case.qd)).max()
    assert off(rate, np.zeros(6), scale=scale) <= EXACT


@laws
@seeds
def test_momentum_changes_by_gravity_wrenches_and_the_base(seed):
    """Rate of [angular about the base's origin; linear] = reactions on the base + what acts from outside."""
    case = drawn(seed)
    right, reactions = case.newton, denoc.reactions(case.robot, *case.state)
    rate = slope(
        lambda t: np.array([newton.motion(case.file, *one, 0 * case.qd).momentum for one in zip(*case.later(t))]),
        0.02 / case.bends(),
    )
    total = np.zeros(6)
    for link in case.robot.links:
        frame = right.frames[link.name]
        n, f = np.split(newton.external_wrench(case.file, link.name, frame), 2)
        if link.parent == "base":
            n, f = n + reactions[link.joint.name][:3], f + reactions[link.joint.name][3:]
        weight = link.mass * np.array(case.robot.gravity)
        total += np.concatenate([n + np.cross(frame.p, f) + np.cross(right.centres[link.name].p, weight), f + weight])
    scale = largest(reactions.values()) * case.bends()
    assert off(rate, total, scale=scale) <= EXACT


def momentum(robot, q, qd):
    """[about the base's origin; linear] of links without fixed ones among them, or with them: M N_l N_d θ̇ has all."""
    m = denoc.matrices(robot, q, qd)
    columns = [k for name in m["order"] for k in robot.link(name).joint.speeds]
    total = np.zeros(6)
    parts = (m["M"] @ m["N_l"] @ m["N_d"] @ qd[columns]).reshape(-1, 6)
    placed = denoc.frames(robot, q)
    for name, part in zip(m["order"], parts, strict=True):
        rigid = [link for link in robot.links if carrier(robot, link) == name]
        heavy = sum(link.mass for link in rigid)
        centre = sum(link.mass * (placed[link.name] @ [*link.com, 1.0])[:3] for link in rigid) / heavy
        total += np.concatenate([part[:3] + np.cross(centre, part[3:]), part[3:]])
    return total


def carrier(robot, link):
    """The moving link that a link is, or is fixed to."""
    while link.joint.type.name == "fixed" and link.parent != "base":
        link = robot.link(link.parent)
    return link.name


# ---- wrenches


@laws
@seeds
def test_wrenches_of_a_call_are_those_of_a_robot_file(seed):
    """On every link, fixed ones too: [n; f] at the link's origin in its axes."""
    case = drawn(seed, wrenches=False)
    rng = np.random.default_rng(seed)
    given_ = {link.name: rng.uniform(-10, 10, 6) for link in case.robot.links if rng.random() < 0.6}
    file = copy.deepcopy(case.file)
    file["wrenches"] = [
        {"link": link, "moment": [float(x) for x in six[:3]], "force": [float(x) for x in six[3:]]}
        for link, six in given_.items()
    ]
    same = Drawn(file, case.rng).robot
    worth = off_accelerations(denoc.inertia(case.robot, case.q))
    for call, third, exact in ((denoc.inverse, case.qdd, EXACT), (denoc.forward, case.tau, worth)):
        asked = call(case.robot, case.q, case.qd, third, wrenches=given_)
        assert off(asked, call(same, case.q, case.qd, third)) <= exact
    asked = denoc.bias(case.robot, case.q, case.qd, wrenches=given_)
    assert off(asked, denoc.bias(same, case.q, case.qd)) <= EXACT
    asked, inside = denoc.reactions(case.robot, *case.state, wrenches=given_), denoc.reactions(same, *case.state)
    assert max(off(asked[joint], inside[joint], scale=largest(inside.values())) for joint in inside) <= EXACT


@laws
@seeds
def test_a_wrench_takes_off_its_jacobian_transposed(seed):
    """τ(w) = τ − Jᵀ w; and the accelerations that it causes are I⁻¹ Jᵀ w."""
    case = drawn(seed)
    rng = np.random.default_rng(seed)
    link = str(rng.choice([link.name for link in case.robot.links]))
    six = rng.uniform(-10, 10, 6)
    R = case.newton.frames[link].R
    w = np.concatenate([R @ six[:3], R @ six[3:]])
    push = denoc.jacobian(case.robot, case.q, link).T @ w
    with_, without = (denoc.inverse(case.robot, *case.state, wrenches=x) for x in ({link: six}, None))
    assert off(with_, without - push, scale=np.abs([with_, without]).max()) <= EXACT
    with_, without = (denoc.forward(case.robot, case.q, case.qd, case.tau, wrenches=x) for x in ({link: six}, None))
    I = denoc.inertia(case.robot, case.q)
    assert off(I @ (with_ - without), push, scale=np.abs(I).max() * np.abs([with_, without]).max()) <= EXACT


@laws
@seeds
def test_wrenches_add_up(seed):
    case = drawn(seed)
    rng = np.random.default_rng(seed)
    first, second = ({link.name: rng.uniform(-10, 10, 6) for link in case.robot.links} for _ in range(2))
    both = {link: first[link] + second[link] for link in first}
    a, b, c, nothing = (denoc.inverse(case.robot, *case.state, wrenches=w) for w in (first, second, both, None))
    assert off(a + b, c + nothing, scale=np.abs([a, b]).max()) <= EXACT


# ---- the same robot, told otherwise


@laws
@seeds
def test_a_robot_is_the_same_in_every_convention(seed):
    """Denavit-Hartenberg's tree in Khalil's parameters and as frames: link axes are the same, and so is all else."""
    case = drawn(seed, types=(*MOVING, "fixed"), conventions=("dh",), offsets=False)
    right = everything(case)
    for convention in ("khalil", "frames"):
        file = copy.deepcopy(case.file)
        file["convention"] = convention
        for link in file["links"]:
            link.pop("convention", None)
            link["joint"] = retold(case.file, link, convention)
            _, com, J = newton.masses(place(case.file, link["name"]))
            for key in ("r", "first_moments", "about", "frame"):
                link.pop(key, None)
            link["com"] = com.tolist()
            link["inertia"] = {"xyz"[i] + "xyz"[j]: float(J[i, j]) for i in range(3) for j in range(i, 3)}
        same(everything(Drawn(file, case.rng), case), right)


def place(file, name):
    places, _ = newton.tree(file)
    return next(place for place in places if place.link["name"] == name)


def retold(file, link, convention):
    """The joint of a link of a Denavit-Hartenberg tree in another convention."""
    old = link["joint"]
    joint = {key: value for key, value in old.items() if key not in ("a", "b", "alpha", "theta")}
    parent = next((other["joint"] for other in file["links"] if other["name"] == link["parent"]), {})
    sliding = parent.get("type") == "prismatic"  # then b is the parent's own variable
    a, alpha = parent.get("a", 0.0), parent.get("alpha", 0.0)
    b = 0.0 if sliding else parent.get("b", 0.0)
    theta = old.get("theta", 0.0) if old["type"] in ("prismatic", "fixed") else 0.0
    if convention == "khalil":
        joint |= {"b": b, "alpha": alpha, "d": a}
        return joint | ({"theta": theta} if theta else {})
    R = newton.turned(newton.X, alpha) @ newton.turned(newton.Z, theta)
    return joint | {"xyz": [a, 0.0, b], "rpy": angles(R)}


def angles(R):
    """Roll, pitch, yaw of a rotation."""
    return [
        float(np.arctan2(R[2, 1], R[2, 2])),
        float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))),
        float(np.arctan2(R[1, 0], R[0, 0])),
    ]


def everything(case, state=None):
    """Results by name, in a state of another robot where it is given."""
    robot, state = case.robot, state or case
    found = {
        "tau": denoc.inverse(robot, *state.state),
        "inertia": denoc.inertia(robot, state.q),
        "qdd": denoc.forward(robot, state.q, state.qd, state.tau),
        "frames": np.array([denoc.frames(robot, state.q)[f"link{k + 1}"] for k in range(len(robot.links))]),
        "energy": np.array(list(denoc.energy(robot, state.q, state.qd).values())),
    }
    reactions = denoc.reactions(robot, *state.state)
    return found | {"reactions": np.array([reactions[joint] for joint in sorted(reactions)])}


def same(found, right):
    for what, values in right.items():
        exact = off_accelerations(right["inertia"]) if what == "qdd" else EXACT
        assert off(found[what], values) <= exact, what


@laws
@seeds
def test_reactions_do_not_depend_on_the_link_axes(seed):
    """Links described in other axes at the same origins: torques and reactions in base axes are the same."""
    case = drawn(seed, types=(*WITH_AXIS, "fixed"), conventions=("frames",), wrenches=False, offsets=False)
    rng = np.random.default_rng(seed)
    turned = {link["name"]: newton.oriented(rng.normal(size=4)) for link in case.file["links"]} | {"base": np.eye(3)}
    file = copy.deepcopy(case.file)
    for link in file["links"]:
        Q, Q_parent = turned[link["name"]], turned[link["parent"]]
        joint = link["joint"]
        R = newton.rpy((0, 0, 0), joint["rpy"])[:3, :3]
        joint["xyz"] = (Q_parent.T @ joint["xyz"]).tolist()
        joint["rpy"] = angles(Q_parent.T @ R @ Q)
        if joint["type"] != "fixed":
            joint["axis"] = (Q.T @ joint.get("axis", [0.0, 0.0, 1.0])).tolist()
        _, com, J = newton.masses(place(case.file, link["name"]))
        for key in ("first_moments", "about"):
            link.pop(key, None)
        J = Q.T @ J @ Q
        link["com"] = (Q.T @ com).tolist()
        link["inertia"] = {"xyz"[i] + "xyz"[j]: float(J[i, j] + J[j, i]) / 2 for i in range(3) for j in range(i, 3)}
    found, right = everything(Drawn(file, case.rng), case), everything(case)
    for k, name in enumerate(f"link{k + 1}" for k in range(len(file["links"]))):
        found["frames"][k][:3, :3] = found["frames"][k][:3, :3] @ turned[name].T
    same(found, right)


@laws
@seeds
def test_the_order_of_the_links_in_the_file_does_not_matter(seed):
    """Children may come before their parents: the same, joint by joint."""
    case = drawn(seed, links=(2, 8))
    rng = np.random.default_rng(seed)
    file = copy.deepcopy(case.file)
    file["links"] = [file["links"][k] for k in rng.permutation(len(file["links"]))]
    other = Drawn(file, case.rng)
    q, v = places(case.robot, other.robot)
    other.q, other.qd, other.qdd, other.tau = case.q[q], case.qd[v], case.qdd[v], case.tau[v]
    right, found = everything(case), everything(other)
    for key in ("tau", "inertia", "qdd"):
        right[key] = right[key][v] if right[key].ndim == 1 else right[key][np.ix_(v, v)]
    same(found, right)
    pattern = rng.random(v.size) < 0.5
    tau = denoc.inverse(case.robot, *case.state)
    hybrid = partial(denoc.hybrid, case.robot, case.q, case.qd)
    first = hybrid(np.where(pattern, case.qdd, np.nan), np.where(pattern, np.nan, tau))
    second = denoc.hybrid(
        other.robot, other.q, other.qd,
        np.where(pattern, case.qdd, np.nan)[v], np.where(pattern, np.nan, tau)[v],
    )  # fmt: skip
    assert off(second[0], first[0][v]) <= off_accelerations(right["inertia"])


def places(robot, other):
    """Where the other robot's coordinates and speeds are among the first one's, joint by joint."""
    q = [k for joint in other.moving for k in robot.joint(joint.name).coordinates]
    v = [k for joint in other.moving for k in robot.joint(joint.name).speeds]
    return np.array(q), np.array(v)


@laws
@seeds
def test_joints_of_several_degrees_are_chains_of_simple_ones(seed):
    """Cylindrical, universal and planar joints, and a spherical one as three revolutes, with massless links between."""
    case = drawn(seed, types=(*CHAINS, "revolute"), conventions=("frames",), links=(1, 4))
    file = copy.deepcopy(case.file)
    file["links"] = [part for link in file["links"] for part in taken_apart(link)]
    chained = Drawn(file, case.rng).robot
    assert off(denoc.inverse(chained, *case.state), denoc.inverse(case.robot, *case.state)) <= EXACT
    assert off(denoc.inertia(chained, case.q), denoc.inertia(case.robot, case.q)) <= EXACT
    found, right = (denoc.reactions(robot, *case.state) for robot in (chained, case.robot))
    assert max(off(found[joint], right[joint], scale=largest(right.values())) for joint in right) <= EXACT


def taken_apart(link):
    """The link on a chain of massless ones, each with one of its joint's motions; the first one has the placement."""
    joint, motions = link["joint"], newton.MOTIONS[newton.kind(link["joint"])]
    drives = {key: joint[key] for key in ("rotor_inertia", "friction", "spring") if key in joint}
    parts = []
    for k, (what, axis) in enumerate(motions):
        one = {"type": {"turn": "revolute", "slide": "prismatic"}[what], "name": f"{joint['name']}-{k}", **drives}
        one["axis"] = joint.get("axis", [float(x) for x in axis])
        part = {"name": f"{link['name']}-{k}", "joint": one, "mass": 0.0}
        parts.append(part | {"parent": parts[-1]["name"] if parts else link["parent"]})
    parts[0]["joint"] |= {key: joint[key] for key in ("xyz", "rpy")}
    parts[0] |= {"offset": link["offset"]} if "offset" in link else {}
    rest = {key: value for key, value in link.items() if key not in ("parent", "joint", "offset")}
    parts[-1] |= rest | {"joint": parts[-1]["joint"] | {"name": joint["name"]}}
    return parts


@laws
@seeds
def test_three_revolutes_are_a_spherical_joint(seed):
    """In the same motion reactions are the same, and so is the power of the joints' forces."""
    case = drawn(seed, types=("three-revolutes", "revolute"), drives=False, links=(1, 5))
    file, q, qd, qdd = copy.deepcopy(case.file), [], [], []
    for link in file["links"]:
        joint = case.robot.link(link["name"]).joint
        x, xd, xdd = case.q[list(joint.coordinates)], case.qd[list(joint.speeds)], case.qdd[list(joint.speeds)]
        if link["joint"].pop("as", None):
            moved = newton.GROUND
            for k, axis in enumerate((newton.Z, newton.Y, newton.X)):
                moved, _ = newton.step(moved, "turn", axis, 0.0, x[k : k + 1], xd[k : k + 1], xdd[k : k + 1])
            x, xd, xdd = euler_parameters(moved.R), moved.R.T @ moved.w, moved.R.T @ moved.wd
        q, qd, qdd = [*q, *x], [*qd, *xd], [*qdd, *xdd]
    round_ = Drawn(file, case.rng).robot
    found, right = denoc.reactions(round_, q, qd, qdd), denoc.reactions(case.robot, *case.state)
    assert max(off(found[joint], right[joint], scale=largest(right.values())) for joint in right) <= EXACT
    powers = denoc.inverse(round_, q, qd, qdd) * qd, denoc.inverse(case.robot, *case.state) * case.qd
    assert off(powers[0].sum(), powers[1].sum(), scale=np.abs(np.concatenate(powers)).sum()) <= EXACT


def euler_parameters(R):
    """Of a rotation, scalar first: the eigenvector of its symmetric 4 × 4 matrix that belongs to the eigenvalue 1."""
    anti = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    K = np.zeros((4, 4))
    K[0, 0], K[0, 1:], K[1:, 0] = np.trace(R), anti, anti
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    return np.linalg.eigh(K / 3)[1][:, -1]


@laws
@seeds
def test_many_samples_are_one_after_the_other(seed):
    """All calls, with one sample among many arguments spread over the rest."""
    case = drawn(seed)
    rng = np.random.default_rng(seed)
    states = [Drawn(case.file, rng) for _ in range(4)]
    q, qd, qdd, tau = (np.array([getattr(state, key) for state in states]) for key in ("q", "qd", "qdd", "tau"))
    link = case.robot.links[-1].name
    w = {link: rng.uniform(-5, 5, (4, 6))}
    motion_given = rng.random(case.robot.nv) < 0.5
    mixed = np.where(motion_given, qdd, np.nan), np.where(motion_given, np.nan, tau)
    robot = case.robot
    worth = max(off_accelerations(I) for I in denoc.inertia(robot, q))
    for call, arguments, exact in (
        (denoc.inverse, (q, qd, qdd), EXACT),
        (denoc.forward, (q, qd, tau), worth),
        (denoc.hybrid, (q, qd, *mixed), worth),
        (denoc.bias, (q, qd), EXACT),
        (denoc.reactions, (q, qd, qdd), EXACT),
    ):
        many = rows(call(robot, *arguments, wrenches=w), 4)
        single = [rows(call(robot, *(x[k] for x in arguments), wrenches={link: w[link][k]}), 1) for k in range(4)]
        assert max(off(a, b[0]) for a, b in zip(many, single, strict=True)) <= exact
        spread = rows(call(robot, q[0], *arguments[1:], wrenches={link: w[link][0]}), 4)
        alone = rows(call(robot, *(x[0] for x in arguments), wrenches={link: w[link][0]}), 1)
        assert off(spread[0], alone[0]) <= exact
    for call, arguments in ((denoc.inertia, (q,)), (denoc.frames, (q,)), (denoc.energy, (q, qd))):
        many = rows(call(robot, *arguments), 4)
        single = [rows(call(robot, *(x[k] for x in arguments)), 1) for k in range(4)]
        assert max(off(a, b[0]) for a, b in zip(many, single, strict=True)) <= EXACT


def rows(result, count):
    """All numbers of a result, one row a sample."""
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, tuple) else [result]
    return np.concatenate([np.reshape(x, (count, -1)) for x in parts], axis=1)


@pytest.mark.sound
@pytest.mark.parametrize("form", ["straight", "rolled"])
@settings(laws, max_examples=max(1, laws.max_examples // 8))  # each robot is compiled a dozen times
@seeds
def test_compiled_code_is_the_plain_text(form, seed):
    """With regrouped inertias, in a straight line and in a loop over the bodies, in lanes and one sample at a time."""
    in_the_file = form == "straight"  # where wrenches in base axes may be; a loop doesn't have the way to the base
    compiled_is_plain(drawn(seed, links=(1, 5), wrenches=in_the_file), form)


def test_helical_joints_are_compiled_in_a_loop_over_the_bodies():
    compiled_is_plain(drawn(1, types=("helical",), links=(3, 3), wrenches=False), "rolled")


def compiled_is_plain(case, form):
    rng = np.random.default_rng(1)
    states = [Drawn(case.file, rng) for _ in range(11)]  # a full set of lanes and a part of one
    q, qd, qdd, tau = (np.array([getattr(state, key) for state in states]) for key in ("q", "qd", "qdd", "tau"))
    motion_given = rng.random(case.robot.nv) < 0.5
    mixed = np.where(motion_given, qdd, np.nan), np.where(motion_given, np.nan, tau)
    w = {link.name: rng.uniform(-5, 5, 6) for link in case.robot.links}
    worth = max(off_accelerations(I) for I in denoc.inertia(case.robot, q))
    for call, arguments, exact in (
        (denoc.inverse, (q, qd, qdd), EXACT),
        (denoc.forward, (q, qd, tau), worth),
        (denoc.hybrid, (q, qd, *mixed), worth),
    ):
        for wrenches in (None, w):
            found = []
            for way in (("plain", "auto"), ("compiled", form)):
                with using_backend(*way):
                    many = rows(call(case.robot, *arguments, wrenches=wrenches), 11)
                    one = rows(call(case.robot, *(x[-1] for x in arguments), wrenches=wrenches), 1)
                    found.append(np.concatenate([many, one]))
            assert max(off(a, b) for a, b in zip(*found, strict=True)) <= exact


@settings(laws, max_examples=6)
@seeds
def test_compiled_code_takes_angles_of_any_size(seed):
    """Up to the millions its own sines are good; beyond, angles are first taken back to one turn."""
    case = drawn(seed, types=("revolute", "universal", "prismatic"), drives=False, links=(2, 4))
    compiled, plain = of_large_angles(case)
    assert max(off(a, b) for a, b in zip(compiled, plain, strict=True)) <= EXACT


@pytest.mark.parametrize("joint", ["type: helical, pitch: 0.01", "type: revolute, spring: {stiffness: 2}"])
def test_springs_and_screws_count_the_turns_of_compiled_code(joint):
    """A turn more is a pitch more, and a spring wound up further."""
    file = yamls.load(f"""
name: wound
convention: frames
links:
  - {{name: arm, parent: base, joint: {{type: revolute}}, mass: 1, com: [1, 0, 0]}}
  - {{name: screw, parent: arm, joint: {{rpy: [1, 0, 0], {joint}}}, mass: 1, com: [0.1, 0, 0]}}
""")
    compiled, plain = of_large_angles(Drawn(file, np.random.default_rng(1)))
    assert max(off(a, b) for a, b in zip(compiled, plain, strict=True)) <= EXACT


def of_large_angles(case):
    """Torques at angles from 1 to some 1e7, compiled and not, in lanes and one by one."""
    q = np.tile(case.q, (8, 1))
    for what, at, _ in moves(case.file):
        if what in ("turn", "screw"):
            q[:, at] *= 10.0 ** np.arange(8)[:, None]
    qd, qdd = (np.tile(x, (8, 1)) for x in (case.qd, case.qdd))
    found = []
    for way in ("compiled", "plain"):
        with using_backend(way):
            one = [denoc.inverse(case.robot, *x) for x in zip(q, qd, qdd)]
            found.append(np.concatenate([denoc.inverse(case.robot, q, qd, qdd), one]))
    return found


@laws
@seeds
def test_regrouped_inertias_change_no_force_and_no_acceleration(seed):
    case = drawn(seed, wrenches=False)
    bodies = case.robot.tree.bodies
    known = [bool(x) for x in np.random.default_rng(seed).random(case.robot.nv) < 0.5]
    x = np.where(known, case.qdd, case.tau).tolist()
    found, right = (
        sweep_tree(some, case.robot.gravity, case.q.tolist(), case.qd.tolist(), x, known)[0]
        for some in (regrouped_bodies(bodies), bodies)
    )
    assert off(found, right) <= off_accelerations(denoc.inertia(case.robot, case.q))


@laws
@seeds
def test_no_sample_is_no_result(seed):
    case = drawn(seed)
    none = np.zeros((0, case.robot.nv))
    q = np.zeros((0, case.robot.nq))
    assert denoc.inverse(case.robot, q, none, none).shape == none.shape
    assert denoc.forward(case.robot, q, none, none).shape == none.shape


@laws
@seeds
def test_euler_parameters_of_any_length_are_the_same_orientation(seed):
    case = drawn(seed, types=(*FREE, "revolute"), first="spherical")
    q = case.q.copy()
    for joint in case.robot.moving:
        if joint.type.orientation is not None:
            q[list(joint.coordinates[joint.type.orientation :])] *= -1.7
    assert off(denoc.inverse(case.robot, q, case.qd, case.qdd), denoc.inverse(case.robot, *case.state)) <= EXACT


@laws
@seeds
def test_speeds_of_euler_parameters_are_the_angular_velocity(seed):
    """Rates of the coordinates that the engine integrates are those that make its frames move so."""
    from denoc.mechanics.tree.kinematics import coordinate_rates as engine_rates

    case = drawn(seed, types=(*FREE, "planar", "revolute"))
    assert off(engine_rates(case.robot, [*case.q], [*case.qd]), coordinate_rates(case.file, case.q, case.qd)) <= EXACT
