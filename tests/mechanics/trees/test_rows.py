"""All rows of the table of programs on random trees: compiled, plain and exported results are those of one text.

What the plain text gives is compared with Newton's equations in `test_theorems.py`.
"""

import numpy as np
import pytest

import denoc
from comparing import off
from denoc.machine.backend import using_backend
from denoc.machine.program import python_function
from denoc.mechanics.quantities import mixed, offered, programs
from denoc.mechanics.quantities.programs import PROGRAMS, program_of_tree_quantity
from denoc.study import chain_robot_for_times
from random_robots import drawn

POINT = np.array([0.1, -0.2, 0.3])
SAMPLES = 11  # more than the lanes of any processor, and no multiple of them


def derivatives(robot, *state):
    """The numbers of all parts, one behind the other."""
    parts = denoc.derivatives(robot, *state)
    matrices = [parts[name].reshape(*np.shape(parts["qdd"])[:-1], robot.nv**2) for name in ("dq", "dqd", "dtau")]
    return np.concatenate([parts["qdd"], *matrices], axis=-1)


CALLS = {
    "idyn": lambda robot, q, qd, x: denoc.inverse(robot, q, qd, x),
    "fdyn": lambda robot, q, qd, x: denoc.forward(robot, q, qd, x),
    "fdyn-derivatives": lambda robot, q, qd, x: derivatives(robot, q, qd, x),
    "fdyn-adjoint": lambda robot, q, qd, x: np.concatenate(list(denoc.adjoint(robot, q, qd, x, x).values()), axis=-1),
    "inertial-adjoint": lambda robot, q, qd, x: np.stack(
        list(denoc.adjoint(robot, q, qd, x, x, inertial=True)["links"].values()), axis=-2
    ),
    "regressor": lambda robot, q, qd, x: denoc.regressor(robot, q, qd, x),
    "inertia": lambda robot, q, qd, x: denoc.inertia(robot, q),
    "inverse-inertia": lambda robot, q, qd, x: denoc.inverse_inertia(robot, q),
    "bias": lambda robot, q, qd, x: denoc.bias(robot, q, qd),
    "kinematics": lambda robot, q, qd, x: np.stack(list(denoc.frames(robot, q).values()), axis=-3)[..., :3, :],
    "jacobian": lambda robot, q, qd, x: denoc.jacobian(robot, q, robot.links[-1].name, POINT),
    "energy": lambda robot, q, qd, x: np.stack(list(denoc.energy(robot, q, qd).values()), axis=-1),
    "reactions": lambda robot, q, qd, x: np.stack(list(denoc.reactions(robot, q, qd, x).values()), axis=-2),
}
# where the function that a row is made of is found by those that run it and those that record it
TEXTS = {
    "idyn": [(mixed, "sweep_tree"), (programs, "sweep_tree")],
    "fdyn": [(mixed, "sweep_tree"), (programs, "sweep_tree")],
    "bias": [(programs, "sweep_tree")],
    "fdyn-derivatives": [(programs, "numbers_with_solved_columns")],
    "fdyn-adjoint": [(programs, "acceleration_gradient_along_state")],
    "inertial-adjoint": [(programs, "acceleration_gradient_along_inertias")],
    "reactions": [(programs, "sweep_tree")],
    "regressor": [(programs, "regressor_entries")],
    "inertia": [(programs, "inertia_matrix")],
    "inverse-inertia": [(programs, "inverse_inertia_matrix")],
    "kinematics": [(programs, "link_placements")],
    "jacobian": [(programs, "jacobian")],
    "energy": [(programs, "energies")],
}


def test_every_row_is_tested():
    assert set(CALLS) == set(TEXTS) == set(PROGRAMS)


def states(case):
    """A state of a random tree, then so many around it."""
    q, qd, x = case.state
    many = case.later(np.linspace(0.0, 0.3, SAMPLES))[0]
    rng = np.random.default_rng(7)
    return (q, qd, x), (many, *(rng.standard_normal((SAMPLES, case.robot.nv)) for _ in range(2)))


FORWARD = (
    "fdyn",
    "fdyn-derivatives",
    "fdyn-adjoint",
    "inertial-adjoint",
    "inverse-inertia",
)  # rows with accelerations in them


def worth(case, what, q):
    """What results are good to: accelerations as the inertia matrix is conditioned."""
    kappa = np.linalg.cond(denoc.inertia(case.robot, q)).max() if what in FORWARD else 1.0
    return max(1e-13, 2e-15 * kappa)


@pytest.mark.parametrize("what", PROGRAMS)
@pytest.mark.parametrize("seed", range(32))
@pytest.mark.sampled(104)
def test_compiled_is_plain(what, seed):
    case = drawn(seed)
    for given in states(case):
        found = {}
        for backend in ("plain", "compiled"):
            with using_backend(backend):
                found[backend] = CALLS[what](case.robot, *given)
        assert off(found["compiled"], found["plain"]) < worth(case, what, given[0])


@pytest.mark.parametrize("backend", ["plain", "compiled", "auto"])
@pytest.mark.parametrize("seed", range(4))
def test_reduced_equations_of_trees_are_inertia_and_bias(seed, backend):
    """Of one sample, of many, and of one position with many speeds."""
    case = drawn(seed)
    (q, qd, _), (many, rates, _) = states(case)
    with using_backend("plain"):
        expected = [(denoc.inertia(case.robot, x), denoc.bias(case.robot, x, v)) for x, v in zip(many, rates)]
        first = [denoc.bias(case.robot, q, v) for v in (qd, *rates)]
        own = denoc.inertia(case.robot, q)
    with using_backend(backend):
        I, h = denoc.reduced(case.robot, q, qd)
        assert off(I, own) < 1e-13
        assert off(h, first[0]) < 1e-13
        for found, right in zip(denoc.reduced(case.robot, many, rates), map(np.array, zip(*expected))):
            assert found.shape == right.shape
            assert off(found, right) < 1e-13
        I, h = denoc.reduced(case.robot, q, rates)
        assert I.shape == (SAMPLES, *own.shape)
        assert off(I, np.broadcast_to(own, I.shape)) < 1e-13
        assert off(h, np.array(first[1:])) < 1e-13


@pytest.mark.parametrize(
    "what", ["fdyn-derivatives", "bias", "inertia", "kinematics", "jacobian", "energy", "reactions"]
)
@pytest.mark.parametrize("name", ["puma", "space-arm"])
@pytest.mark.sampled(8)
def test_code_runs_once_it_is_there(what, name, monkeypatch):
    """The plain text isn't asked again, for one sample, for many, with a list, or at the second call.

    Many samples may have another algorithm than one has, whose rounding is another one.
    """
    robot = denoc.load(name)
    q, x = np.array(robot.q0), np.full(robot.nv, 0.3)
    one, many = (q, x, x), tuple(np.array([row] * 9) for row in (q, x, x))
    with using_backend("compiled"):
        before = CALLS[what](robot, *one)

    def asked(*_):
        raise AssertionError("the plain text was asked")

    monkeypatch.setattr(offered.Offered, "_plain", asked)
    with using_backend("compiled"):
        for given in (one, many, tuple(row.tolist() for row in one)):
            found = CALLS[what](robot, *given)
            assert off(found, np.broadcast_to(before, np.shape(found))) < (1e-12 if given is many else 1e-13)
    first = CALLS[what](robot, *one)  # by the code that is there, whatever the ledger says
    first[...] = np.nan
    assert off(CALLS[what](robot, *one), before) == 0.0, "a result belongs to its caller"


def test_bias_with_wrenches_is_inverse_dynamics_without_acceleration():
    case = drawn(5)
    _, (q, qd, _) = states(case)
    wrenches = {case.file["links"][0]["name"]: np.random.default_rng(1).standard_normal((SAMPLES, 6))}
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            right = denoc.inverse(case.robot, q, qd, np.zeros_like(qd), wrenches)
            assert off(denoc.bias(case.robot, q, qd, wrenches), right) < 1e-13


def test_reactions_with_wrenches_in_lanes_and_one_by_one():
    case = drawn(5)
    links = [link["name"] for link in case.file["links"]][:2]
    _, many = states(case)
    wrenches = {name: np.random.default_rng(k).standard_normal((SAMPLES, 6)) for k, name in enumerate(links)}
    with using_backend("plain"):
        right = denoc.reactions(case.robot, *many, wrenches)
    with using_backend("compiled"):
        together = denoc.reactions(case.robot, *many, wrenches)
        for n in (0, 5, 10):
            alone = {name: six[n] for name, six in wrenches.items()}
            one = denoc.reactions(case.robot, *(x[n] for x in many), alone)
            for joint, six in right.items():
                size = max(abs(x).max() for x in right.values())
                assert off(together[joint], six, size) < 1e-13
                assert off(one[joint], six[n], size) < 1e-13


def test_huge_angles_and_numbers_that_are_not_finite():
    robot = denoc.load("puma")
    q = np.array([[0.3] * 6, [0.3 + 2.0**24 * np.pi] + [0.3] * 5])
    with using_backend("plain"):
        right = denoc.jacobian(robot, q, "link6")
    with using_backend("compiled"):
        assert off(denoc.jacobian(robot, q, "link6"), right) < 1e-13
        assert off(denoc.jacobian(robot, q[1], "link6"), right[1]) < 1e-13
        with pytest.raises(denoc.DenocError, match="not finite"):
            denoc.jacobian(robot, np.full((3, 6), np.nan), "link6")
        with pytest.raises(denoc.DenocError, match="not finite"):
            denoc.energy(robot, q[0], np.array([np.inf] * 6))
        with pytest.raises(denoc.DenocError, match="no finite number"):
            denoc.energy(robot, q[0], np.full(6, 1e200))


@pytest.mark.parametrize(
    "what", ["fdyn-derivatives", "bias", "inertia", "kinematics", "jacobian", "energy", "reactions"]
)
def test_no_sample_at_all(what):
    robot = denoc.load("puma")
    none = np.empty((0, 6))
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            assert CALLS[what](robot, none, none, none).shape[0] == 0


# ---- one text


def doubled(text):
    """The function, which gives twice what it gives."""

    def twice(x):
        return type(x)(twice(part) for part in x) if isinstance(x, list | tuple) else 2.0 * x

    return lambda *given, **named: twice(text(*given, **named))


def exported(robot, what, arguments):
    made = program_of_tree_quantity(robot, what)
    space: dict = {}
    exec("from math import cos, sin, sqrt\n" + python_function(made, "found", ""), space)
    return np.array(space["found"](*(list(arguments[name]) for name in made.inputs)))


def ways(what):
    """By plain text for one sample and many, by code for one sample and many, and by exported code."""
    robot = denoc.load("puma")
    q, qd, x = np.random.default_rng(3).standard_normal((3, 6))
    found = {}
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            found[backend, "one"] = CALLS[what](denoc.load("puma"), q, qd, x).ravel()
            many = [np.array([row] * 9) for row in (q, qd, x)]
            found[backend, "many"] = CALLS[what](denoc.load("puma"), *many)[-1].ravel()
    arguments = {"q": q, "qd": qd, "qdd": x, "tau": x, "costate": x, "at": POINT}
    return found | {"exported": exported(robot, what, arguments)}


@pytest.mark.parametrize("what", PROGRAMS)
@pytest.mark.sampled(2)
def test_all_ways_follow_one_text(what, monkeypatch, own_code):
    """A function is made to give twice what it gives; whatever doesn't follow comes from somewhere else."""
    own_code("before")
    before = ways(what)
    first = before["plain", "one"]
    assert max(off(found, first) for found in before.values()) < 1e-13 * 100
    own_code("after")
    for place, text in TEXTS[what]:
        monkeypatch.setattr(place, text, doubled(getattr(place, text)))
    for way, found in ways(what).items():
        assert off(found, 2.0 * first) < 1e-11, way


def test_long_robots_have_plain_text_only_where_code_would_be_too_long():
    robot = chain_robot_for_times(60)
    q = np.full(60, 0.1)
    with using_backend("compiled"):
        denoc.inverse_inertia(robot, q)
        denoc.energy(robot, q, q)
    assert not robot.derived["builtin", "inverse-inertia"].aimed
    assert robot.derived["builtin", "energy"].aimed
