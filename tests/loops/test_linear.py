"""Linearised equations, and exported code, of robots with loops."""

import shutil
import subprocess

import numpy as np
import pytest

import denoc
from denoc.loops.assembly import newton
from denoc.loops.constraints import closure
from denoc.loops.partition import partition
from denoc.study.codegen import generate

pytestmark = pytest.mark.smoke


def coordinates(name):
    robot = denoc.load(name)
    q = denoc.assemble(robot, robot.q0)
    return robot, q, partition(closure(robot), q, (), robot.driven)


def completed(loops, part, q, v):
    """All speeds from the independent ones."""
    return np.linalg.solve(part.matrix(loops.jacobian(q)[0]), np.concatenate([np.zeros(len(part.rows)), v]))


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "three-rrr", "slider-crank"])
def test_against_differences(name):
    robot, q, part = coordinates(name)
    loops, chosen = closure(robot), part.independent
    v = np.random.default_rng(3).normal(size=len(chosen))
    found = denoc.linearize(robot, q, completed(loops, part, q, v))
    assert list(found["independent"]) == chosen

    def acceleration(dq, dv, du):
        x = q.copy()
        x[chosen] += dq
        x, _ = newton(loops, x, chosen)
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
    with pytest.raises(denoc.DenocError, match="linearize"):
        denoc.derivatives(robot, q, 0 * q, 0 * q)


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "carpet-scraper"])
def test_exported_code_is_closed(name, tmp_path):
    robot, q, part = coordinates(name)
    v = np.random.default_rng(4).normal(size=len(part.independent))
    qd = completed(closure(robot), part, q, v)
    tau = np.zeros(robot.nv)
    tau[list(robot.driven)] = np.random.default_rng(5).normal(size=len(robot.driven))
    qdd = denoc.forward(robot, q, qd, tau)
    names = {}
    for what in ("idyn", "fdyn"):
        file, text = generate(robot, what, "python")
        space: dict = {}
        exec(compile(text, file, "exec"), space)  # our own text
        names[what] = space[file.removesuffix(".py")]
    assert names["fdyn"](q, qd, tau) == pytest.approx(qdd, abs=1e-11 * abs(qdd).max())
    assert names["idyn"](q, qd, qdd) == pytest.approx(denoc.inverse(robot, q, qd, qdd), abs=1e-11)
    if cc := shutil.which("cc"):
        file, text = generate(robot, "idyn", "c")
        (tmp_path / file).write_text(text)
        subprocess.run([cc, "-c", "-Wall", "-Werror", file, "-o", "x.o"], cwd=tmp_path, check=True)
