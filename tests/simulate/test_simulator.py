"""Robots that move step by step under given forces: as a run with the same steps, closed, alone or side by side."""

import numpy as np
import pytest

import denoc
import yamls
from denoc.errors import DenocError, InputError
from denoc.machine.backend import using_backend
from denoc.mechanics.closure import loop_closure
from denoc.text import library_folder

NAMES = ["puma", "four-bar", "cart-pole", "space-arm"]
TENDON = {"name": "pull", "gear": -2.0, "effort": {"limits": [-0.2, 0.25]}}
PUSH = {"name": "push", "at": [0.1, 0.2, 0], "direction": [0.6, 0.8, 0]}


def with_actuators(name):
    """A robot of the library with a tendon over two joints and a push at a link, beside a motor of its own."""
    first, second, motor, link = {
        "planar3r": ("joint1", "joint3", "joint2", "link3"),
        "four-bar": ("A0", "B0", "A0", "coupler"),
    }[name]
    data = yamls.load((library_folder("robots") / f"{name}.yaml").read_text())
    for k, entry in enumerate(data["links"], start=1):
        entry["joint"]["actuated"] = entry["joint"].get("name", f"joint{k}") == motor
    more = [{**TENDON, "joints": {first: 1.0, second: -0.5}}, {**PUSH, "link": link, "axes": "base"}]
    return denoc.loads(yamls.dump({**data, "actuators": more}))


def marched(simulator, count, torques):
    return [np.concatenate(simulator.step(2e-3, tau), axis=-1) for tau in torques[:count]]


def torques(robot, count, rows=()):
    size = len(denoc.simulator(robot).forces)
    return np.random.default_rng(7).normal(size=(count, *rows, size))


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("name", ["puma", "four-bar", "cart-pole"])
def test_steps_are_those_of_a_run(name, backend):
    """Under a force of time that is held through each step, as `run` holds what a function gives."""
    robot = denoc.load(name)
    driven = [joint.name for joint in robot.moving if joint.actuated]
    with using_backend(backend):
        one = denoc.simulator(robot)
        for k in range(6):
            one.step(5e-3, [0.3 * np.cos(5e-3 * k)] * len(driven))
    given = {joint: lambda t, state: 0.3 * np.cos(t) for joint in driven}
    scenario = {
        "task": "simulate",
        "time": {"end": 0.03, "step": 0.03},
        "solver": {"method": "rk4", "step": 0.005, "limits": "ignore"},
    }
    run = denoc.run({"robot": name, **scenario}, forces=given, when="step")
    for joint in robot.moving:
        for suffix, places, values in (
            (joint.type.coordinates, joint.coordinates, one.q),
            (joint.type.speeds, joint.speeds, one.qd),
        ):
            for x, k in zip(suffix, places):
                assert values[k] == pytest.approx(run[f"{joint.name}.{x}"][-1], abs=1e-12)
    assert one.t == pytest.approx(0.03)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("name", ["planar3r", "four-bar"])
def test_tendons_and_pushes_are_those_of_a_run(name, backend):
    """Each under a force of its own that is held through a step; the tendon's ends at its limits."""
    robot = with_actuators(name)
    laws = [lambda t, state, k=k: (0.3 + 0.2 * k) * np.cos((k + 1) * 40 * t) for k in range(3)]
    with using_backend(backend):
        one = denoc.simulator(robot)
        assert one.forces[1:] == ("pull.force", "push.force")
        assert one.forces[0] in ("joint2.tau", "A0.tau")
        for k in range(6):
            one.step(5e-3, [law(5e-3 * k, None) for law in laws])
    names = [one.forces[0].split(".")[0], "pull", "push"]
    scenario = {
        "task": "simulate",
        "time": {"end": 0.03, "step": 0.005},
        "solver": {"method": "rk4", "step": 0.005, "limits": "ignore"},
    }
    run = denoc.run(scenario, robot, forces=dict(zip(names, laws)), when="step")
    for k, joint in enumerate(robot.joints):
        assert one.q[k] == pytest.approx(run[f"{joint}.q"][-1], abs=1e-12)
        assert one.qd[k] == pytest.approx(run[f"{joint}.qd"][-1], abs=1e-11)
    assert {-0.2, 0.25} <= set(run["pull.force"])


def test_a_tendon_pulls_like_forces_of_its_joints():
    """Its force times gear and coefficients, along joints that have motors."""
    robot, plain = with_actuators("planar3r"), denoc.load("planar3r")
    pulled, driven = denoc.simulator(robot, 2), denoc.simulator(plain, 2)
    for force in (0.1, -0.15, 0.7):
        pulled.step(0.01, [[0.0, force, 0.0], [0.3, 0.0, 0.0]])
        along = min(max(force, -0.2), 0.25) * -2.0
        driven.step(0.01, [[along, 0.0, -0.5 * along], [0.0, 0.3, 0.0]])
        np.testing.assert_allclose(pulled.state, driven.state, rtol=1e-12, atol=1e-14)
    assert abs(pulled.qd[0]).max() > 1e-3


@pytest.mark.parametrize("name", [*NAMES, "planar3r with actuators", "four-bar with actuators"])
@pytest.mark.sampled(2)
def test_plain_compiled_and_side_by_side_are_one(name):
    robot = with_actuators(name.split()[0]) if " " in name else denoc.load(name)
    forces = torques(robot, 5, (3,))
    many = denoc.simulator(robot, 3)
    together = np.array(marched(many, 5, forces))
    assert together.shape == (5, 3, robot.nq + robot.nv)
    for k in range(3):
        compiled = np.array(marched(denoc.simulator(robot), 5, forces[:, k]))
        np.testing.assert_allclose(together[:, k], compiled, rtol=1e-12, atol=1e-12)
    with using_backend("plain"):
        plain = np.array(marched(denoc.simulator(robot), 5, forces[:, 0]))
        np.testing.assert_allclose(plain, together[:, 0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(marched(denoc.simulator(robot, 3), 5, forces), together, rtol=1e-12, atol=1e-12)


def test_loops_are_closed_at_every_step_and_coordinates_change_on_the_way():
    """A slider-crank that is driven at its piston turns over both dead centres, where the piston's place says nothing."""
    text = (library_folder("robots") / "slider-crank.yaml").read_text()
    text = text.replace(", actuated: true", "").replace("axis: [1, 0, 0]}", "axis: [1, 0, 0], actuated: true}")
    robot = denoc.loads(text)
    loops, one, many = loop_closure(robot), denoc.simulator(robot), denoc.simulator(robot, 3)
    start = denoc.assemble(robot, [1.0, -1.3, 0.3])
    one.reset(start, [9.0, 0.0, 0.0])
    # speeds that fit: the crank's 9 rad/s in terms of the piston, which is the independent one here
    J = loops.jacobian(start)[0]
    speeds = np.linalg.lstsq(np.vstack([J, [1.0, 0.0, 0.0]]), [*np.zeros(len(J)), 9.0], rcond=None)[0]
    one.reset(start, speeds)
    many.reset(start, [speeds, speeds, 0.5 * speeds])
    first = denoc.energy(robot, one.q, one.qd)
    assert one.qd[0] == pytest.approx(9.0)
    for _ in range(1500):
        q, qd = one.step(1e-3, [0.0])
        assert abs(loops.gap(q)).max() < 1e-13
        assert abs(loops.jacobian(q)[0] @ qd).max() < 1e-11
        many.step(1e-3, np.zeros((3, 1)))
    assert q[0] > 6.0
    last = denoc.energy(robot, q, qd)
    assert sum(last.values()) == pytest.approx(sum(first.values()), abs=3e-7)
    np.testing.assert_allclose(many.q[:2], [q, q], atol=1e-9)


def test_efforts_end_at_their_limits_and_quaternions_have_norm_1():
    robot = denoc.load("cart-pole")
    one, other = denoc.simulator(robot), denoc.simulator(robot)
    np.testing.assert_allclose(one.step(0.01, [50.0])[1], other.step(0.01, [8.0])[1], rtol=1e-14)
    arm = denoc.load("space-arm")
    one = denoc.simulator(arm, substeps=3)
    joint = next(joint for joint in arm.moving if joint.type.orientation is not None)
    at = joint.coordinates[joint.type.orientation]
    for _ in range(20):
        q, _ = one.step(0.02, [0.3] * len(one.forces))
        assert np.linalg.norm(q[at : at + 4]) == pytest.approx(1.0, abs=1e-15)
    assert one.t == pytest.approx(0.4)


def test_some_of_many_start_anew():
    robot = denoc.load("four-bar")
    many = denoc.simulator(robot, 5)
    start = many.q.copy()
    for _ in range(3):
        many.step(0.01, np.ones((5, 1)))
    before = many.q
    many.reset(which=[1, 3])
    np.testing.assert_array_equal(many.q[[1, 3]], start[[1, 3]])
    np.testing.assert_array_equal(many.q[[0, 2, 4]], before[[0, 2, 4]])
    mask = np.array([True, False, False, False, True])
    q = denoc.assemble(robot, [[x, *start[0, 1:]] for x in (0.9, 1.4)])
    many.reset(q, which=mask)
    np.testing.assert_allclose(many.q[mask], q, atol=1e-12)
    single = denoc.simulator(robot)
    single.reset(q[1])
    np.testing.assert_allclose(many.step(0.01, np.ones((5, 1)))[0][4], single.step(0.01, [1.0])[0], atol=1e-12)


def test_a_state_stays_as_it_was():
    one = denoc.simulator(denoc.load("puma"))
    q, qd = one.state
    kept = q.copy(), qd.copy()
    one.step(0.01, [1.0] * 6)
    np.testing.assert_array_equal((q, qd), kept)
    assert abs(one.q - q).max() > 0


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda robot: denoc.simulator("puma"), "not a robot"),
        (lambda robot: denoc.simulator(robot, 0), "`count` must be"),
        (lambda robot: denoc.simulator(robot, substeps=1.5), "`substeps` must be"),
        (lambda robot: denoc.simulator(robot).step(0.01, [1.0]), "`tau` doesn't fit"),
        (lambda robot: denoc.simulator(robot).step(0.01, 1.0), "`tau` doesn't fit"),
        (lambda robot: denoc.simulator(robot).step(0.01, [np.nan] * 6), "`tau` has a number that isn't finite"),
        (lambda robot: denoc.simulator(robot, 2).step(0.1, np.full((2, 6), np.nan)), "`tau` has a number that isn't"),
        (lambda robot: denoc.simulator(robot).step(0.1, [10**400] * 6), "`tau` is not an array of numbers"),
        (lambda robot: denoc.simulator(robot).step(0.1, np.zeros(6) + 1j), "`tau` is not an array of numbers"),
        (lambda robot: denoc.simulator(robot).step(0.1, ["1.0"] * 6), "`tau` is not an array of numbers"),
        (lambda robot: denoc.simulator(robot).step(10**5000, [1.0] * 6), "a step has a positive length"),
        (lambda robot: denoc.simulator(robot, 2).reset(which=[2]), "`which` has to say which robots"),
        (lambda robot: denoc.simulator(robot, 2).reset(which="all"), "`which` has to say which robots"),
        (lambda robot: denoc.simulator(robot, 10**5000), "`count` must be"),
        (lambda robot: denoc.simulator(robot, friction_rate=-0.01), "friction_rate: a rate is a positive number"),
        (lambda robot: denoc.simulator(robot, friction_rate="slow"), "friction_rate: a rate is a positive number"),
        (lambda robot: denoc.simulator(robot, friction_rate=np.nan), "friction_rate: a rate is a positive number"),
        (lambda robot: denoc.simulator(robot).step(0.0, [1.0] * 6), "a step has a positive length"),
        (
            lambda robot: denoc.simulator(robot, 2).step(0.1, np.full((2, 6), 1e200)),
            "of robot 0 at t = 0 s has no finite",
        ),
        (lambda robot: denoc.simulator(robot, 2).reset([1.0, 2.0]), "`q` doesn't fit"),
        (lambda robot: denoc.simulator(robot).reset(qd=[np.inf] * 6), "`qd` has a number"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(DenocError, match=message):
        call(denoc.load("puma"))


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize(("dt", "tau"), [("1", [0.0] * 3), (None, [0.0] * 3), (0.1, ["a", 0, 0]), (0.1, {"joint1": 1})])
def test_what_is_no_number_is_refused_by_name(backend, dt, tau):
    with using_backend(backend):
        for substeps in (1, 2):
            simulator = denoc.simulator(denoc.load("planar3r"), substeps=substeps)
            with pytest.raises(
                InputError, match="`tau` is not an array of numbers" if dt == 0.1 else "dt: a step has a positive"
            ):
                simulator.step(dt, tau)
            assert simulator.t == 0.0
