"""The explicit matrices of many states, compiled and plain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import denoc
from comparing import off
from denoc.machine.backend import using_backend
from denoc.machine.backend.account import noted_backend_runs
from random_robots import Drawn, drawn

pytestmark = pytest.mark.smoke

laws = settings()  # those of the tier


def numbers(found):
    return {name: x for name, x in found.items() if name != "order"}


@settings(laws, max_examples=3)
@given(seed=st.integers(0, 2**32 - 1))
def test_many_states_are_each_state_compiled_or_not(seed):
    case = drawn(seed, links=(1, 4))
    states = [Drawn(case.file, np.random.default_rng(k)) for k in range(11)]
    q, qd = (np.array([getattr(state, key) for state in states]) for key in ("q", "qd"))
    with using_backend("plain"):
        plain, each = denoc.matrices(case.robot, q, qd), [denoc.matrices(case.robot, *x) for x in zip(q, qd)]
    with using_backend("compiled"):
        many, one = denoc.matrices(case.robot, q, qd), denoc.matrices(case.robot, q[4], qd[4])
    for name, x in numbers(plain).items():
        assert off(x, np.array([single[name] for single in each])) < 1e-13, name
        assert off(many[name], x) < 1e-11, name
        assert off(one[name], x[4]) < 1e-11, name


def test_calls_go_straight_into_code_and_rest_is_the_default():
    robot, q = denoc.load("puma"), np.full((8, 6), 0.3)
    with using_backend("compiled"):
        denoc.matrices(robot, q[0])
        denoc.matrices(robot, q)
    with noted_backend_runs() as notes:
        one, many = denoc.matrices(robot, q[0]), denoc.matrices(robot, q, 0.0 * q)
        resting = denoc.matrices(robot, q)
    assert not notes
    assert many["N_l"].shape == (8, 36, 36)
    assert not many["C"].any()
    for name, x in numbers(many).items():
        assert off(x, resting[name]) < 1e-13
        assert off(x[3], one[name]) < 1e-13


def test_no_states_and_no_freedoms():
    assert denoc.matrices(denoc.load("puma"), np.empty((0, 6)))["M_hat"].shape == (0, 6, 6, 6)
    plinth = denoc.loads("{name: plinth, convention: frames, links: [{name: a, joint: {type: fixed}, mass: 0}]}")
    found = denoc.matrices(plinth, [])
    assert found["order"] == ()
    assert found["I"].shape == (0, 0)


@pytest.mark.parametrize("count", [501, 3000])
def test_chains_whose_matrices_would_fill_the_memory_are_refused(count):
    link = "  - {{name: l{0}, mass: 1, com: [0.1, 0, 0], joint: {{type: revolute, name: j{0}}}}}\n"
    robot = denoc.loads("name: long\nconvention: frames\nlinks:\n" + "".join(map(link.format, range(count))))
    with pytest.raises(denoc.InputError, match="up to 500"):
        denoc.matrices(robot, robot.q0, [0.0] * count)
