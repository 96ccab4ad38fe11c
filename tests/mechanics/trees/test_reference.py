"""Open chains against independent numbers (tests/reference), at the tolerance that each file states.

The numbers come from two rigid-body libraries, from 60-digit Lagrange equations and from results that the authors of
the method published.
"""

import numpy as np
import pytest

import denoc
import references
from comparing import off
from denoc.machine.backend import native, using_backend
from references import called, read

pytestmark = pytest.mark.sampled(12)

FIXED_BASE = references.names(has=["cqd"])
TREES = references.names(has=["frames"])
FLOATING = references.names(has=["base"])
SAMPLES = {"one by one": False, "all at once": True}


WAYS = {
    "plain": ("plain", "auto", 8),
    "8 lanes": ("compiled", "straight", 8),
    "4 lanes": ("compiled", "straight", 4),
    "2 lanes": ("compiled", "straight", 2),
    "rolled": ("compiled", "rolled", 8),
}


@pytest.fixture(autouse=True, params=WAYS.values(), ids=WAYS)
def way(request, monkeypatch):
    """Every number of the files is met on the plain text, in lanes of every width, and in a loop over the bodies."""
    backend, form, lanes = request.param
    monkeypatch.setattr(native, "native_lanes", lambda: lanes)
    read.cache_clear()  # a robot keeps the code that was made for it
    with using_backend(backend, form):
        yield


def of_states(case, key):
    return np.array([state[key] for state in case["states"]])


def each(case, call, *keys, batch):
    """Results of a call of (*states, wrenches): wrenches differ from state to state, so they come as arrays too."""
    arrays = [of_states(case, key) for key in keys]
    on_links = [references.wrenches(case, state) for state in case["states"]]
    if not batch:
        return np.array([call(*one, wrenches=w) for *one, w in zip(*arrays, on_links)])
    links = sorted({link for w in on_links for link in w})
    stacked = {link: np.array([w.get(link, np.zeros(6)) for w in on_links]) for link in links}
    return call(*arrays, wrenches=stacked)


def worst(found, right):
    """The worst sample, each relative to its own largest entry."""
    return max(off(a, b) for a, b in zip(found, right, strict=True))


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name", FIXED_BASE)
def test_inverse_gives_the_torques(name, batch):
    case, robot = read(name)
    tau = each(case, lambda *x, wrenches: denoc.inverse(robot, *x, wrenches), "q", "qd", "qdd", batch=batch)
    assert worst(tau, of_states(case, "tau")) <= references.tolerance(case, "tau")


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name", FIXED_BASE)
def test_forward_gives_the_accelerations(name, batch):
    case, robot = read(name)
    qdd = each(case, lambda *x, wrenches: denoc.forward(robot, *x, wrenches), "q", "qd", "tau_fd", batch=batch)
    assert worst(qdd, of_states(case, "qdd_fd")) <= references.tolerance(case, "accelerations")


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name", FIXED_BASE)
def test_forward_gives_the_accelerations_of_free_fall(name, batch):
    case, robot = read(name)
    tau = np.zeros(robot.nv)
    fall = each(case, lambda *x, wrenches: denoc.forward(robot, *x, tau, wrenches), "q", "qd", batch=batch)
    assert worst(fall, of_states(case, "qdd_zero_torque")) <= references.tolerance(case, "accelerations")


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name", FIXED_BASE)
def test_inertia_gives_the_generalized_inertia_matrix(name, batch):
    case, robot = read(name)
    shown = [state for state in case["states"] if references.inertia_matrix(state) is not None]
    I = called(lambda q: denoc.inertia(robot, q), np.array([state["q"] for state in shown]), batch=batch)
    assert worst(I, [references.inertia_matrix(state) for state in shown]) <= references.tolerance(case, "tau")


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name", FIXED_BASE)
def test_bias_is_coriolis_and_centrifugal_and_gravity_and_friction(name, batch):
    case, robot = read(name)
    q, qd = of_states(case, "q"), of_states(case, "qd")
    h = called(lambda q, qd: denoc.bias(robot, q, qd), q, qd, batch=batch)
    g = called(lambda q: denoc.bias(robot, q, np.zeros(robot.nv)), q, batch=batch)
    right = of_states(case, "cqd") + of_states(case, "g") + references.friction(case, qd)
    assert worst(g, of_states(case, "g")) <= references.tolerance(case, "tau")
    assert worst(h, right) <= references.tolerance(case, "tau")


@pytest.mark.parametrize("name", FIXED_BASE)
def test_matrices_give_the_pivots_and_the_coriolis_matrix(name):
    case, robot = read(name)
    for state in case["states"]:
        m = denoc.matrices(robot, state["q"], state["qd"])
        if (M := references.inertia_matrix(state)) is not None:
            assert off(m["I"], M) <= references.tolerance(case, "tau")
        assert off(m["C"] @ state["qd"], state["cqd"]) <= references.tolerance(case, "tau")
        if "udut_D" in state:
            assert off(m["D"], state["udut_D"]) <= references.tolerance(case, "tau")


def test_pivots_are_in_all_files_but_that_of_the_spherical_joint():
    without = [name for name in FIXED_BASE if "udut_D" not in references.case(name)["states"][0]]
    assert without == ["spherical_arm"]


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name", FIXED_BASE + FLOATING)
def test_energy_is_kinetic_and_potential(name, batch):
    case, robot = read(name)
    q, qd = of_states(case, "q"), of_states(case, "v" if "base" in case else "qd")
    E = denoc.energy(robot, q, qd) if batch else [denoc.energy(robot, *one) for one in zip(q, qd)]
    kinetic = E["kinetic"] if batch else [e["kinetic"] for e in E]
    potential = E["potential"] if batch else [e["potential"] for e in E]
    assert off(kinetic, of_states(case, "T")) <= references.tolerance(case, "tau")
    assert off(potential, of_states(case, "V")) <= references.tolerance(case, "tau")


@pytest.mark.parametrize("name", TREES)
def test_frames_and_mass_centres_are_where_they_belong(name):
    case, robot = read(name)
    at = "link" if case["convention"] == "khalil" else "end"
    shown = [state for state in case["states"] if "frames" in state]
    assert shown
    placed = denoc.frames(robot, [state["q"] for state in shown], at=at)
    links = denoc.frames(robot, [state["q"] for state in shown])
    for k, state in enumerate(shown):
        for link, rows, com in zip(robot.links, state["frames"], state["com"], strict=True):
            T, near = placed[link.name][k], links[link.name][k]
            assert off(T, [*np.reshape(rows, (3, 4)), [0, 0, 0, 1]]) <= references.tolerance(case, "tau")
            centre = near @ [*link.com, 1.0]
            assert off(centre[:3], com, scale=1.0) <= references.tolerance(case, "tau")


TRAJECTORIES = ["trajectory", "trajectory_theta2_from_zero"]


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize(
    "name, section", [(name, s) for name in FIXED_BASE for s in TRAJECTORIES if s in references.case(name)]
)
def test_inverse_gives_the_torques_along_a_trajectory(name, section, batch):
    case, robot = read(name)
    path = {key: np.array(value) for key, value in case[section].items() if key in ("q", "qd", "qdd", "tau")}
    tau = called(lambda *x: denoc.inverse(robot, *x), path["q"], path["qd"], path["qdd"], batch=batch)
    assert off(tau, path["tau"]) <= references.tolerance(case, "tau")


# ---- drives and wrenches


def test_rotors_and_friction_are_told_apart_from_the_rest():
    case = references.case("rx90_friction")
    bare = denoc.loads(references.robot_text(case, drives=False))
    tau = denoc.inverse(bare, *(of_states(case, key) for key in ("q", "qd", "qdd")))
    assert worst(tau, case["tau_without_drives"]) <= references.tolerance(case, "tau")


def test_a_joint_at_rest_has_no_dry_friction():
    case, robot = read("rx90_friction")
    state = case["states"][1]
    assert state["qd"][2] == 0.0
    assert case["links"][2]["Fs"] > 1.0
    tau = denoc.inverse(robot, state["q"], state["qd"], state["qdd"])
    assert off(tau[2], state["tau"][2]) <= references.tolerance(case, "tau")


@pytest.mark.parametrize("name", references.names(has=["wrench_definition"]))
def test_wrenches_are_what_they_are_in_base_axes(name):
    """The file gives each wrench twice: in the end frame's axes, and in base axes with its point."""
    case, robot = read(name)
    for state in case["states"]:
        placed = denoc.frames(robot, state["q"])
        given = references.wrenches(case, state)
        for number, six in state["wrench_world"].items():
            R, O = placed[f"link{number}"][:3, :3], placed[f"link{number}"][:3, 3]
            n, f = R @ given[f"link{number}"][:3], R @ given[f"link{number}"][3:]
            point = np.array(state["wrench_point_world"][number])
            at_point = np.concatenate([f, n + np.cross(O - point, f)])
            assert off(at_point, -np.array(six)) <= references.tolerance(case, "tau")
        without = denoc.inverse(robot, state["q"], state["qd"], state["qdd"])
        assert off(without, state["tau_without_wrench"]) <= references.tolerance(case, "tau")


# ---- the spherical joint


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
def test_the_moment_of_a_spherical_joint_is_in_link_axes(batch):
    case, robot = read("spherical_arm")
    q, qd, qdd = (of_states(case, key) for key in ("q", "qd", "qdd"))
    tau = called(lambda *x: denoc.inverse(robot, *x), q, qd, qdd, batch=batch)
    placed = denoc.frames(robot, q)
    above = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # the frame before the joint, in link 2: alpha = 90 deg
    assert case["links"][2]["alpha"] == pytest.approx(np.pi / 2, abs=1e-15)
    before = placed["link2"][:, :3, :3] @ above
    moments = np.einsum("nji,njk,nk->ni", before, placed["link3"][:, :3, :3], tau[:, 2:5])
    assert worst(moments, of_states(case, "tau_parent")[:, 0]) <= references.tolerance(case, "tau")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_euler_parameters_of_either_sign_are_the_same_orientation(sign):
    case, robot = read("spherical_arm")
    q = of_states(case, "q")
    q[:, 2:6] *= sign
    tau = denoc.inverse(robot, q, of_states(case, "qd"), of_states(case, "qdd"))
    assert worst(tau, of_states(case, "tau")) <= references.tolerance(case, "tau")


# ---- elastic joints: their force is known (the spring's is the robot's own), their motion is sought


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
def test_hybrid_gives_elastic_accelerations_and_rigid_torques(batch):
    case, robot = read("elastic_arm")
    elastic = np.array(case["elastic"]["joints"]) - 1
    rigid = np.setdiff1d(np.arange(robot.nv), elastic)
    assert [joint.elastic for joint in robot.moving] == [k in elastic for k in range(robot.nv)]
    qdd, tau = (np.full((len(case["states"]), robot.nv), np.nan) for _ in range(2))
    qdd[:, rigid], tau[:, elastic] = of_states(case, "qdd_rigid"), 0.0
    found = called(
        lambda *x: np.array(denoc.hybrid(robot, *x)),
        *(of_states(case, key) for key in ("q", "qd")), qdd, tau, batch=batch,
    )  # fmt: skip
    qdd, tau = found if batch else np.swapaxes(found, 0, 1)
    assert worst(qdd[:, elastic], of_states(case, "qdd_elastic")) <= references.tolerance(case, "accelerations")
    assert worst(qdd, of_states(case, "qdd")) <= references.tolerance(case, "accelerations")
    assert worst(tau[:, rigid], of_states(case, "tau_rigid")) <= references.tolerance(case, "tau")
    assert not tau[:, elastic].any()


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
def test_forward_gives_the_accelerations_of_an_elastic_arm(batch):
    case, robot = read("elastic_arm")
    elastic = np.array(case["elastic"]["joints"]) - 1
    tau = np.insert(of_states(case, "tau_rigid_fd"), elastic - np.arange(elastic.size), 0.0, axis=1)
    qdd = called(lambda *x: denoc.forward(robot, *x), of_states(case, "q"), of_states(case, "qd"), tau, batch=batch)
    assert worst(qdd, of_states(case, "qdd_fd")) <= references.tolerance(case, "accelerations")


def test_inverse_of_an_elastic_arm_leaves_nothing_for_its_springs_to_do():
    case, robot = read("elastic_arm")
    elastic = np.array(case["elastic"]["joints"]) - 1
    q, qd, qdd = (of_states(case, key) for key in ("q", "qd", "qdd"))
    M = of_states(case, "M")
    tau = denoc.inverse(robot, q, qd, qdd)
    spring = np.array(case["elastic"]["K"]) * (q[:, elastic] - np.array(case["elastic"]["q_ref"]))
    assert off(-spring, of_states(case, "tau_elastic")) <= references.tolerance(case, "tau")
    assert off(tau[:, elastic], np.zeros_like(spring), scale=np.abs(spring).max()) <= references.tolerance(case, "tau")
    assert worst(denoc.inertia(robot, q), M) <= references.tolerance(case, "tau")
    h = denoc.bias(robot, q, qd)
    h[:, elastic] -= spring
    assert worst(h, of_states(case, "h")) <= references.tolerance(case, "tau")


# ---- floating bases: no force on the base, its motion is sought


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name", FLOATING)
def test_hybrid_gives_the_acceleration_of_the_base_and_the_torques(name, batch):
    case, robot = read(name)
    n = len(case["states"])
    qdd = np.hstack([np.full((n, 6), np.nan), of_states(case, "qdd")])
    tau = np.hstack([np.zeros((n, 6)), np.full((n, robot.nv - 6), np.nan)])
    found = called(
        lambda *x: np.array(denoc.hybrid(robot, *x)), of_states(case, "q"), of_states(case, "v"), qdd, tau, batch=batch
    )
    qdd, tau = found if batch else np.swapaxes(found, 0, 1)
    assert worst(qdd[:, :6], of_states(case, "base_acc_local")) <= references.tolerance(case, "accelerations")
    assert worst(classical(case, qdd[:, :6]), of_states(case, "base_acc")) <= references.tolerance(
        case, "accelerations"
    )
    assert worst(tau[:, 6:], of_states(case, "tau")) <= references.tolerance(case, "tau")
    assert not tau[:, :6].any()


@pytest.mark.parametrize("batch", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("name", FLOATING)
def test_forward_gives_the_accelerations_of_base_and_joints(name, batch):
    case, robot = read(name)
    tau = np.hstack([np.zeros((len(case["states"]), 6)), of_states(case, "tau_fd")])
    qdd = called(lambda *x: denoc.forward(robot, *x), of_states(case, "q"), of_states(case, "v"), tau, batch=batch)
    right = np.hstack([of_states(case, "base_acc_fd"), of_states(case, "qdd_fd")])
    found = np.hstack([classical(case, qdd[:, :6]), qdd[:, 6:]])
    assert worst(found, right) <= references.tolerance(case, "accelerations")


def classical(case, local):
    """Accelerations of the base's origin from time derivatives of its velocity's components in its own axes."""
    v = of_states(case, "v")
    return local + np.hstack([np.cross(v[:, 3:6], v[:, :3]), np.zeros_like(v[:, :3])])


@pytest.mark.parametrize("name", FLOATING)
def test_inertia_and_bias_are_those_of_khalils_equation(name):
    """0 = A11 a + A12 q̈ + H1, Γ = A21 a + A22 q̈ + H2, with the classical acceleration a of the base."""
    case, robot = read(name)
    q, v = of_states(case, "q"), of_states(case, "v")
    A, H = of_states(case, "A"), of_states(case, "H")
    assert worst(denoc.inertia(robot, q), A) <= references.tolerance(case, "tau")
    turning = np.cross(v[:, 3:6], v[:, :3])
    right = H + np.einsum("nij,nj->ni", A[:, :, :3], turning)
    assert worst(denoc.bias(robot, q, v), right) <= references.tolerance(case, "tau")


@pytest.mark.parametrize("name", FLOATING)
def test_matrices_give_the_momentum(name):
    """Linear, and angular about the mass centre of the whole, from M N_l N_d θ̇."""
    case, robot = read(name)
    for state in case["states"]:
        assert off(momentum(robot, state["q"], state["v"]), state["momentum"]) <= references.tolerance(case, "tau")


def momentum(robot, q, qd):
    m = denoc.matrices(robot, q, qd)
    placed = denoc.frames(robot, q)
    parts = (m["M"] @ m["N_l"] @ m["N_d"] @ qd).reshape(-1, 6)  # [angular about each mass centre; linear]
    masses = np.array([link.mass for link in robot.links])
    centres = np.array([(placed[link.name] @ [*link.com, 1.0])[:3] for link in robot.links])
    arms = centres - masses @ centres / masses.sum()
    return np.concatenate([parts[:, 3:].sum(axis=0), (parts[:, :3] + np.cross(arms, parts[:, 3:])).sum(axis=0)])


@pytest.mark.parametrize("name", FLOATING)
def test_hybrid_gives_base_accelerations_and_torques_along_a_trajectory(name):
    case, robot = read(name)
    path = {key: np.array(value) for key, value in case["trajectory"].items() if isinstance(value, list)}
    n = len(path["t"])
    qdd, tau = denoc.hybrid(
        robot,
        path["q"],
        path["v"],
        np.hstack([np.full((n, 6), np.nan), path["qdd"]]),
        np.hstack([np.zeros((n, 6)), np.full((n, robot.nv - 6), np.nan)]),
    )
    right = path["base_acc"].copy()
    right[:, :3] -= np.cross(path["v"][:, 3:6], path["v"][:, :3])
    assert off(qdd[:, :6], right) <= references.tolerance(case, "accelerations")
    assert off(tau[:, 6:], path["tau"]) <= references.tolerance(case, "tau")
