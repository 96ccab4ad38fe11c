"""Linearised equations, and exported code, of robots with loops."""

import shutil
import subprocess

import numpy as np
import pytest

import denoc
import yamls
from augmented import by_multipliers, completed, coordinates, moving
from comparing import off
from denoc.machine.backend import using_backend
from denoc.machine.backend.account import noted_backend_runs
from denoc.mechanics.assembly.assembly import close_loops_by_newton
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.mechanisms.accelerations import Forward
from denoc.study import generate_code
from denoc.text import find_library_file
from displacing import eighth_order, moved

pytestmark = pytest.mark.smoke


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "three-rrr", "slider-crank"])
def test_against_differences(name):
    robot, q, part = coordinates(name)
    loops, chosen = loop_closure(robot), part.independent
    v = np.random.default_rng(3).normal(size=len(chosen))
    found = denoc.linearize(robot, q, completed(loops, part, q, v))
    assert list(found["independent"]) == chosen

    def acceleration(dq, dv, du):
        x = q.copy()
        x[chosen] += dq
        x, _ = close_loops_by_newton(loops, x, chosen)
        tau = found["tau"].copy()
        tau[list(robot.driven)] += du
        return denoc.forward(robot, x, completed(loops, part, x, v + dv), tau)[chosen]

    n, h = len(chosen), 1e-6
    none, unit = np.zeros(n), np.eye(n)
    columns = [(acceleration(h * e, none, none) - acceleration(-h * e, none, none)) / (2 * h) for e in unit]
    columns += [(acceleration(none, h * e, none) - acceleration(none, -h * e, none)) / (2 * h) for e in unit]
    A = np.column_stack(columns)
    assert found["A"][n:] == pytest.approx(A, abs=1e-7 * abs(A).max())
    B = np.column_stack([(acceleration(none, none, h * e) - acceleration(none, none, -h * e)) / (2 * h) for e in unit])
    assert found["B"][n:] == pytest.approx(B, abs=1e-7 * abs(B).max())


def test_what_holds_a_four_bar_is_an_equilibrium():
    robot, q, _ = coordinates("four-bar")
    found = denoc.linearize(robot, q)
    assert found["equilibrium"]
    assert found["A"].shape == (2, 2)


def test_other_assemblies_need_no_other_coordinates():
    """Legs bent the other way turn the signs of pivots, not their sizes: one text serves, and gives the right answer."""
    robot = denoc.load("three-rrr")
    rng, part = np.random.default_rng(2), coordinates("three-rrr")[2]
    places = np.array([assembled(robot, rng) for _ in range(6)])
    J = loop_closure(robot).jacobian(places)[0]
    assert min(part.share(one) for one in J) < 0.0 < min(part.share(one, signed=False) for one in J)
    tau = rng.normal(size=(6, robot.nv))
    found = denoc.forward(robot, places, np.zeros((6, robot.nv)), tau)
    assert len(robot.derived[Forward].known) == 1
    for q, qdd, push in zip(places, found, tau):
        expected = by_multipliers(robot, part, q, np.zeros(robot.nv), push)
        assert abs(qdd - expected).max() <= 1e-9 * abs(expected).max()


def assembled(robot, rng):
    """A state with closed loops, from a random guess."""
    while True:
        try:
            return denoc.assemble(robot, robot.q0 + rng.uniform(-1.2, 1.2, robot.nq))
        except denoc.DenocError:
            continue


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "slider-crank", "rssr", "suspension"])
def test_derivatives_are_differences_of_the_augmented_system(name):
    robot, part, q, qd, tau = moving(name, 8)
    found = denoc.derivatives(robot, q, qd, tau)
    unit = np.eye(robot.nv)
    ways = {
        "dq": lambda k: lambda h: by_multipliers(robot, part, moved(robot, q, k, h), qd, tau),
        "dqd": lambda k: lambda h: by_multipliers(robot, part, q, qd + h * unit[k], tau),
        "dtau": lambda k: lambda h: by_multipliers(robot, part, q, qd, tau + h * unit[k]),
    }
    np.testing.assert_allclose(found["qdd"], by_multipliers(robot, part, q, qd, tau), rtol=1e-9, atol=1e-9)
    for key, way in ways.items():
        expected = np.array([eighth_order(way(k), 4e-4) for k in range(robot.nv)]).T
        assert abs(found[key] - expected).max() < 1e-7 * abs(expected).max(), key


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "gough-stewart"])
def test_derivatives_along_the_closed_motions_are_those_of_the_linearised_equations(name):
    """With T the closed motions: ∂z̈/∂z = N (dq T + dqd ∂q̇/∂z), ∂z̈/∂ż = N dqd T, and N T = 1."""
    robot, part, q, _, tau = moving(name, 9)
    loops, count = loop_closure(robot), len(part.N)
    T = np.linalg.solve(part.matrix(loops.jacobian(q)[0]), np.eye(robot.nv))[:, len(part.rows) :]
    found = denoc.derivatives(robot, q, np.zeros(robot.nv), tau)
    linear = denoc.linearize(robot, q, np.zeros(robot.nv), tau)
    N, A = np.array(part.N), linear["A"][count:]
    for way, block in (("dq", A[:, :count]), ("dqd", A[:, count:])):  # at rest q̇ stays 0 wherever the mechanism is
        assert abs(N @ found[way] @ T - block).max() <= 1e-10 * abs(found[way]).max() * abs(T).max() + 1e-12, way
    assert abs((N @ found["dtau"])[:, list(robot.driven)] - linear["B"][count:]).max() <= 1e-11 * abs(linear["B"]).max()


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "slider-crank", "rssr"])
@pytest.mark.sampled(4)
def test_compiled_derivatives_are_the_plain_ones(name):
    robot, _, q, qd, tau = moving(name, 10)
    rows = np.linspace(-1, 1, 9)[:, None]
    found = {}
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            many = denoc.derivatives(robot, np.tile(q, (9, 1)), rows * qd, rows * tau)
            one = denoc.derivatives(robot, q, qd, tau)
            linear = denoc.linearize(robot, q, None, tau)
        found[backend] = [*many.values(), *one.values(), linear["A"], linear["B"]]
    for plain, compiled in zip(found["plain"], found["compiled"]):
        assert abs(plain - compiled).max() <= 1e-11 * abs(plain).max() + 1e-13


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "gough-stewart", "bricard", "suspension", "diff-drive"])
@pytest.mark.sampled(4)
def test_linearised_equations_are_one_text_compiled_or_not(name):
    robot, _, q, qd, tau = moving(name, 12)
    turns = any(joint.type.orientation is not None for joint in robot.moving) or robot.rolls
    for given in ((), (None, tau)) if turns else ((), (None, tau), (qd,), (qd, tau)):
        found = {}
        for backend in ("plain", "compiled"):
            with using_backend(backend):
                found[backend] = denoc.linearize(robot, q, *given)
        with noted_backend_runs() as notes:
            found["direct"] = denoc.linearize(robot, q, *given)
        assert not notes  # straight into compiled code
        for one in found.values():
            assert list(one) == ["A", "B", "q", "tau", "qdd", "equilibrium", "actuated", "independent"]
            for key in ("A", "B", "q", "tau"):
                size = max(abs(found["plain"][key]).max(initial=0.0), 1.0)
                assert abs(one[key] - found["plain"][key]).max(initial=0.0) <= 1e-11 * size, key
            for key in ("equilibrium", "actuated", "independent"):
                assert one[key] == found["plain"][key]
                assert type(one[key]) is type(found["plain"][key])


def test_speeds_that_open_the_loops_are_refused_before_and_after_there_is_code():
    robot, _, q, qd, _ = moving("three-rrr", 12)
    wrong = qd + np.eye(len(qd))[-1]
    for _ in range(3):
        with pytest.raises(denoc.InputError, match="would open the loops"):
            denoc.linearize(robot, q, wrong)
        with using_backend("compiled"):
            denoc.linearize(robot, q, qd)


def test_what_holds_a_state_keeps_the_limits_of_shared_actuators():
    data = yamls.load(find_library_file("four-bar", "robots").read_text())
    crank, rocker = (
        next(link["joint"] for link in data["links"] if link["name"] == name) for name in ("crank", "rocker")
    )
    rocker |= {"actuated": True, "effort": {"weight": 9}}
    robot, q, _ = denoc.loads(yamls.dump(data)), *coordinates("four-bar")[1:]
    still = np.zeros(robot.nv)
    free = denoc.linearize(robot, q)["tau"]
    most = 0.5 * abs(free[robot.joint(crank["name"]).speeds[0]])
    crank |= {"effort": {"limits": [-float(most), float(most)]}}
    robot = denoc.loads(yamls.dump(data))
    for backend in ("plain", "compiled", "auto"):
        with using_backend(backend):
            found = denoc.linearize(robot, q)
            needed = denoc.inverse(robot, q, still, still)
        assert found["equilibrium"]
        assert off(found["tau"][list(robot.driven)], needed) < 1e-12
        assert abs(needed[0]) == pytest.approx(most)


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "carpet-scraper"])
@pytest.mark.sampled(2)
def test_exported_code_is_closed(name, tmp_path):
    robot, q, part = coordinates(name)
    v = np.random.default_rng(4).normal(size=len(part.independent))
    qd = completed(loop_closure(robot), part, q, v)
    tau = np.zeros(robot.nv)
    tau[list(robot.driven)] = np.random.default_rng(5).normal(size=len(robot.driven))
    qdd = denoc.forward(robot, q, qd, tau)
    names = {}
    for what in ("idyn", "fdyn", "fdyn-derivatives"):
        file, text = generate_code(robot, what, "python")
        space: dict = {}
        exec(compile(text, file, "exec"), space)  # our own text
        names[what] = space[file.removesuffix(".py")]
    assert names["fdyn"](q, qd, tau) == pytest.approx(qdd, abs=1e-11 * abs(qdd).max())
    assert names["idyn"](q, qd, qdd) == pytest.approx(denoc.inverse(robot, q, qd, qdd), abs=1e-11)
    parts = np.concatenate([x.ravel() for x in denoc.derivatives(robot, q, qd, tau).values()])
    assert names["fdyn-derivatives"](q, qd, tau) == pytest.approx(parts, abs=1e-11 * abs(parts).max())
    if cc := shutil.which("cc"):
        file, text = generate_code(robot, "idyn", "c")
        (tmp_path / file).write_text(text)
        subprocess.run([cc, "-c", "-Wall", "-Werror", file, "-o", "x.o"], cwd=tmp_path, check=True)
