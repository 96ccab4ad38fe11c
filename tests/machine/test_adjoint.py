"""The gradient by going back is what dual numbers give by going forward, on floats, arrays and nodes."""

import math

import numpy as np
import pytest

from denoc.machine.program.adjoint import Taped, recorded_gradient
from denoc.machine.program.dual import Dual, dual_derivative
from denoc.machine.program.languages import python_function
from denoc.machine.program.recording import Recording
from denoc.machine.program.scalars import cosine_sine, sign, square_root

SIZE = 4


def text(x, seed):
    """A few results that use every operation, with numbers on both sides, and each intermediate value many times."""
    rng = np.random.default_rng(seed)
    known = list(x)
    for _ in range(30):
        a, b = (known[k] for k in rng.integers(0, len(known), 2))
        number = float(rng.normal())
        c, s = cosine_sine(a)
        made = (
            a + b,
            a - b,
            a * b,
            a / (2.5 + b * b),
            number - a,
            number * a + 0.0,
            a - number,
            number / (3.0 + a * a),
            -a,
            c * 0.7 + s,
            square_root(1.0 + a * a) * sign(b),
            a / number + 0.0 * b,
            0.0 / (3.0 + b * b) + a,
        )
        known.append(made[rng.integers(len(made))])
    return known[-3:]


def forward(x, weights, seed):
    results = text([Dual(value, {k: 1.0}) for k, value in enumerate(x)], seed)
    return [sum(w * dual_derivative(r, k) for w, r in zip(weights, results)) for k in range(len(x))]


def backward(x, weights, seed):
    inputs = [Taped(value) for value in x]
    return recorded_gradient(text(inputs, seed), weights, inputs)


@pytest.mark.parametrize("seed", range(12))
def test_going_back_is_going_forward(seed):
    rng = np.random.default_rng(100 + seed)
    x, weights = rng.normal(size=SIZE).tolist(), rng.normal(size=3).tolist()
    expected = forward(x, weights, seed)
    assert backward(x, weights, seed) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    many = [value + np.linspace(0.0, 0.5, 5) for value in x]
    found = [np.broadcast_to(g, 5) for g in backward(many, weights, seed)]
    assert np.array(found)[:, 0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    recording = Recording("gradient")
    nodes = recording.input("x", SIZE)
    program = recording.program(out=backward(nodes, weights, seed))
    space = dict(vars(math))
    exec(python_function(program, "gradient", "A gradient"), space)
    assert list(space["gradient"](x)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_inputs_that_nothing_was_made_of():
    x = [Taped(2.0), Taped(3.0)]
    assert recorded_gradient([x[0] * x[0], 5.0], [1.0, 1.0], x) == [4.0, 0.0]


def test_a_long_way_back_is_no_recursion():
    x = Taped(1.0)
    result = x
    for _ in range(20_000):
        result = result + 1.0
    assert recorded_gradient([result], [1.0], [x]) == [1.0]
