"""Compiled code, in whatever form, agrees with the plain text to 1e-13; and with the references when exported."""

from __future__ import annotations

import json

import numpy as np
import pytest

import denoc
import references
from denoc.machine.backend import native
from denoc.machine.backend.choice import using_backend
from denoc.mechanics.quantities import Mixed
from denoc.study import chain_robot_for_times, generate_code
from denoc.text import library_names

pytestmark = pytest.mark.sound

OPEN = [name for name in library_names("robots") if not denoc.load(name).closed]


def samples(robot, count=19):
    rng = np.random.default_rng(11)
    q = np.array(robot.q0) + rng.normal(size=(count, robot.nq))
    for joint in robot.moving:
        if joint.type.orientation is not None:
            e = list(joint.coordinates[joint.type.orientation :][:4])
            q[:, e] /= np.linalg.norm(q[:, e], axis=1, keepdims=True)
    return q, rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nv))


@pytest.mark.parametrize("way", [("straight", 2), ("straight", 4), ("straight", 8), ("rolled", 8), ("rolled", 2)])
@pytest.mark.parametrize("name", OPEN)
@pytest.mark.sampled(8)
def test_compiled_and_plain(name, way, monkeypatch):
    form, lanes = way
    monkeypatch.setattr(native, "native_lanes", lambda: lanes)
    robot = denoc.load(name)
    q, qd, x = samples(robot)
    with using_backend("plain"):
        tau, qdd = denoc.inverse(robot, q, qd, x), denoc.forward(robot, q, qd, x)
    with using_backend("compiled", form):
        found_tau, found_qdd = denoc.inverse(robot, q, qd, x), denoc.forward(robot, q, qd, x)
    for k in range(len(q)):
        cond = np.linalg.cond(denoc.inertia(robot, q[k]))
        assert abs(found_tau[k] - tau[k]).max() <= 1e-13 * abs(tau[k]).max()
        assert abs(found_qdd[k] - qdd[k]).max() <= max(1e-13, 1e-15 * cond) * abs(qdd[k]).max()


@pytest.mark.parametrize("words, lanes", [("2", 2), ("4", 4), ("8", 8), ("", 4)])
def test_the_variable_says_how_many_lanes(words, lanes, monkeypatch):
    """Where it says nothing, they are the processor's; other words are refused (test_settings.py)."""
    monkeypatch.setenv("DENOC_LANES", words)
    monkeypatch.setattr(native, "native_processor", lambda: ("any", "+sse2,+avx2,-avx512f"))
    native._fitting.cache_clear()
    try:
        assert native.native_lanes() == lanes
        with using_backend("compiled", lanes=2):
            assert native.native_lanes() == 2
    finally:
        native._fitting.cache_clear()


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.sampled(2)
def test_one_sample_and_many(name):
    robot = denoc.load(name)
    q, qd, x = samples(robot, 3)
    with using_backend("compiled"):
        many = denoc.inverse(robot, q, qd, x)
        one = np.array([denoc.inverse(robot, *state) for state in zip(q, qd, x)])
    assert abs(one - many).max() <= 1e-13 * abs(many).max()


def test_a_thousand_links_fit():
    robot = chain_robot_for_times(1000)
    q, qd, x = samples(robot, 8)
    with using_backend("compiled"):
        tau = denoc.inverse(robot, q, qd, x)
        qdd = denoc.forward(robot, q, qd, tau)
    assert abs(qdd - x).max() < 1e-5 * abs(x).max()  # the inertia matrix has a condition number of some 1e12
    used = [
        work.nbytes
        for problem in robot.derived.values()
        if isinstance(problem, Mixed)
        for kernel in problem.offer._code.values()
        for work in kernel._free
    ]
    assert len(used) == 2
    assert sum(used) < 8 * 2**20


@pytest.mark.parametrize("regroup", [False, True])
@pytest.mark.parametrize("name", ["puma", "stanford_s001", "tree_khalil", "rx90_friction", "chain10", "spherical_arm"])
@pytest.mark.sampled(4)
def test_exported_code_meets_the_references(name, regroup):
    case = references.case(name)
    robot = denoc.loads(references.robot_text(case))
    codes = {}
    for what in ("idyn", "fdyn"):
        file, text = generate_code(robot, what, "python", regroup=regroup)
        space: dict = {}
        exec(compile(text, file, "exec"), space)
        codes[what] = space[file.removesuffix(".py")]
    for state in case["states"]:
        tau = np.array(codes["idyn"](state["q"], state["qd"], state["qdd"]))
        qdd = np.array(codes["fdyn"](state["q"], state["qd"], state["tau_fd"]))
        for found, key, kind in ((tau, "tau", "tau"), (qdd, "qdd_fd", "accelerations")):
            expected = np.array(state[key])
            worth = references.tolerance(case, kind)
            assert abs(found - expected).max() <= worth * max(abs(expected).max(), 1e-6), json.dumps(state["q"])
