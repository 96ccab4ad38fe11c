"""Numbers of the file as arguments of exported functions: as good as a file with these numbers."""

import ctypes
import subprocess

import numpy as np
import pytest

import denoc
from comparing import off
from denoc.errors import InputError
from denoc.scenario import changed_robot_of_scenario
from denoc.study.arguments import codegen_program_with_arguments, numbers_named_by_patterns
from denoc.study.codegen import generate_code
from denoc.text import Change

EXACT = 1e-12


def function(robot, what, keys, **how):
    file, text = generate_code(robot, what, "python", keys=keys, **how)
    space = {}
    exec(text, space)
    return space[file.removesuffix(".py")]


def varied(robot, keys, rng):
    """Other values of these numbers, and the robot that a file with them describes."""
    chosen = numbers_named_by_patterns(robot, keys)
    values = [one.value * (1 + 0.05 * rng.uniform(-1, 1)) for one in chosen]
    changes = [Change(".".join(map(str, one.path)), x, one.key) for one, x in zip(chosen, values)]
    return values, changed_robot_of_scenario(robot, changes)


def random_coordinates(robot, rng):
    q = rng.uniform(-1, 1, robot.nq)
    for joint in robot.moving:
        if joint.type.orientation is not None:
            at = [joint.coordinates[joint.type.orientation + k] for k in range(4)]
            q[at] /= np.linalg.norm(q[at])
    return q


TREES = [
    ("puma", ["robot.links.*.mass", "links.*.r", "links.*.inertia", "gravity"], False),
    ("puma", ["links.*.mass", "links.*.inertia"], True),
    ("puma", ["links.*.joint.a", "links.*.joint.b", "links.*.joint.alpha"], False),
    (
        "rx90",
        ["links.*.first_moments", "links.*.joint.friction", "links.*.joint.d", "links.*.joint.rotor_inertia"],
        True,
    ),
    ("space-arm", ["links.*.mass", "links.*.inertia"], False),
    ("tree", ["links.*.joint.d", "links.*.mass"], False),
]


@pytest.mark.parametrize("name, keys, regroup", TREES)
def test_of_trees(name, keys, regroup):
    robot, rng = denoc.load(name), np.random.default_rng(3)
    values, other = varied(robot, keys, rng)
    assert len(values) > 5
    q, (qd, x) = random_coordinates(robot, rng), rng.uniform(-1, 1, (2, robot.nv))
    calls = {"idyn": denoc.inverse, "fdyn": denoc.forward}
    for what, call in calls.items():
        exported = function(robot, what, keys, regroup=regroup)
        assert off(exported(q, qd, x, values), call(other, q, qd, x)) < EXACT
        assert (
            off(
                exported(q, qd, x, [one.value for one in numbers_named_by_patterns(robot, keys)]), call(robot, q, qd, x)
            )
            < EXACT
        )
    assert off(calls["idyn"](other, q, qd, x), calls["idyn"](robot, q, qd, x)) > 1e-4


@pytest.mark.parametrize("what", ["energy", "kinematics", "reactions", "bias", "inertia"])
@pytest.mark.sampled(2)
def test_of_every_program(what):
    robot, rng, keys = denoc.load("puma"), np.random.default_rng(4), ["links.*.mass", "links.*.joint.a", "links.*.r"]
    values, other = varied(robot, keys, rng)
    made = codegen_program_with_arguments(robot, what, numbers_named_by_patterns(robot, keys))
    state = [rng.uniform(-1, 1, robot.nv) for _ in range(len(made.inputs) - 1)]
    assert off(function(robot, what, keys)(*state, values), function(other, what, [])(*state)) < EXACT


MECHANISMS = [
    ("four-bar", ["links.*.mass", "links.*.joint.xyz", "loops.*.first", "gravity"]),
    ("gough-stewart", ["links.*.mass"]),
    ("diff-drive", ["links.*.mass", "links.*.com"]),
    ("suspension", ["links.*.mass", "links.*.points", "links.*.joint.spring"]),
]


@pytest.mark.parametrize("name, keys", MECHANISMS)
@pytest.mark.sampled(2)
def test_of_mechanisms(name, keys):
    robot, rng = denoc.load(name), np.random.default_rng(5)
    values, other = varied(robot, keys, rng)
    q = denoc.assemble(other, other.q0)
    still, tau = np.zeros(robot.nv), np.zeros(robot.nv)
    tau[list(robot.driven)] = rng.uniform(-1, 1, len(robot.driven))
    qdd = denoc.forward(other, q, still, tau)
    assert off(function(robot, "fdyn", keys)(q, still, tau, values), qdd) < 1e-9
    if not robot.actuators:
        needed = denoc.inverse(other, q, still, qdd)
        assert off(function(robot, "idyn", keys)(q, still, qdd, values), needed) < 1e-9


def test_the_radius_of_a_wheel():
    robot = denoc.load("diff-drive")
    keys = ["loops.*.radius", "links.body.joint.xyz.2"]
    values = [0.12, 0.12, 0.12]
    changes = [
        Change(".".join(map(str, one.path)), x, one.key)
        for one, x in zip(numbers_named_by_patterns(robot, keys), values)
    ]
    other = changed_robot_of_scenario(robot, changes)
    q, qd, tau = [0.1, 0.2, 0.3, 1.0, 2.0], [0.0] * 5, [0, 0, 0, 0.3, 0.5]
    assert off(function(robot, "fdyn", keys)(q, qd, tau, values), denoc.forward(other, q, qd, tau)) < EXACT


def test_in_c(tmp_path):
    """The last array of the inputs; the head of the file says which number is which, and what it is in the file."""
    robot, rng, keys = denoc.load("planar3r"), np.random.default_rng(6), ["links.*.mass", "gravity"]
    values, other = varied(robot, keys, rng)
    file, text = generate_code(robot, "idyn", "c", keys=keys)
    assert "p, with the file's numbers: gravity.0 = 0.0" in text.replace("\n *    ", "")
    assert f"const double p[{len(values)}], double tau[3]" in text
    compiler = next((name for name in ("cc", "gcc", "clang") if _there(name)), None)
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / file).write_text(text)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", tmp_path / "it.so", tmp_path / file, "-lm"], check=True)
    code = getattr(ctypes.CDLL(str(tmp_path / "it.so")), file.removesuffix(".c"))
    q, qd, qdd = rng.uniform(-1, 1, (3, 3))
    arrays = [np.ascontiguousarray(x, dtype=float) for x in (q, qd, qdd, values, np.zeros(3))]
    code(*(ctypes.c_void_p(x.ctypes.data) for x in arrays))
    assert off(arrays[-1], denoc.inverse(other, q, qd, qdd)) < EXACT


def _there(name):
    import shutil

    return shutil.which(name) is not None


@pytest.mark.parametrize("key", ["links.link2.masss", "links.*.joint.limits", "robot.name", "loops", "links.*.com"])
def test_what_is_no_number_of_the_equations_is_refused(key):
    with pytest.raises(InputError, match="no number of the robot's file") as caught:
        generate_code(denoc.load("puma"), "idyn", keys=[key])
    assert "links.*.mass" in caught.value.allowed
