"""The machine knows no mechanics: any program on scalars can be recorded, counted, compiled and exported."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from denoc.machine.backend import native
from denoc.machine.jit import llvm
from denoc.machine.jit.kernel import Kernel, Single
from denoc.machine.program.counting import Count, count_operations
from denoc.machine.program.dual import Dual, dual_derivative, dual_value
from denoc.machine.program.languages import c_function, python_function
from denoc.machine.program.recording import Recording
from denoc.machine.program.scalars import cosine_sine, sign, smaller, square_root

pytestmark = pytest.mark.smoke


def pendulum_and_more(x, p):
    """A program with every operation there is, none of it mechanics."""
    c, s = cosine_sine(x[0])
    root = square_root(x[1] * x[1] + 2.0)
    first = (c * p[0] - s / root) * 0.5 + 0.0 * x[2]
    second = sign(x[2]) * root - (-(c * p[0])) / (1.0 + x[1] * x[1])
    return [first, second, 3.0, x[2] - x[2]]


def recorded():
    recording = Recording("any")
    x, p = recording.input("x", 3), recording.input("p", 1)
    return recording.program(out=pendulum_and_more(x, p))


def samples(n=37):
    rng = np.random.default_rng(5)
    return rng.normal(size=(n, 3)) * [5, 1, 1], rng.normal(size=(n, 1))


def plain(x, p):
    return np.array([pendulum_and_more(list(a), list(b)) for a, b in zip(x, p)], dtype=float)


def test_constants_fold_and_equal_operations_are_one():
    recording = Recording("fold")
    (x,) = recording.input("x", 1)
    graph = recording.graph
    assert (x * 0.0).value == 0.0
    assert x * 1.0 is x
    assert x + 0.0 is x
    assert x * -1.0 is -x
    opposite = -x
    assert -opposite is x
    assert (x - x).value == 0.0
    assert x * 2.0 is 2.0 * x
    assert (x + 3.0) * (x + 3.0) is (3.0 + x) * (3.0 + x)
    assert (x * 2.0) * 3.0 is x * 6.0
    assert graph.node(2.0) + graph.node(3.0) is graph.node(5.0)
    assert count_operations([x * x + x]) == Count(multiplications=1, additions=1)
    assert count_operations([-x]) == Count()


def test_sums_within_sums_fold():
    """Constants come together, and what is added and subtracted again, on whichever side, is gone."""
    recording = Recording("sums")
    x, y = recording.input("x", 2)
    assert (x + 3.0) + 2.0 is x + 5.0
    assert 2.0 + (3.0 - x) is 5.0 - x
    assert (x - 3.0) + 3.0 is x
    assert (x + 3.0) - 5.0 is x - 2.0
    assert 5.0 - (x + 3.0) is 2.0 - x
    assert 5.0 - (3.0 - x) is x + 2.0
    assert 5.0 - (x - 3.0) is 8.0 - x
    for whole in (x + y, y + x):
        assert whole - x is y
        assert x - whole is -y
    assert (x - y) + y is x
    assert y + (x - y) is x
    assert x - (x - y) is y
    assert (x - y) - x is -y


def test_a_number_times_its_reciprocal_is_1():
    recording = Recording("reciprocal")
    x, y = recording.input("x", 2)
    assert (x * (1.0 / x)).value == 1.0
    assert ((1.0 / -x) * x).value == -1.0
    assert count_operations([x * (1.0 / y)]) == Count(multiplications=1, divisions=1)
    assert count_operations([y * (2.0 / y)]) == Count(multiplications=1, divisions=1)


def test_a_decision_on_a_computed_value_is_refused():
    (x,) = Recording("decide").input("x", 1)
    with pytest.raises(TypeError, match="can't decide"):
        bool(x * x)


def test_dead_operations_are_not_counted():
    recording = Recording("dead")
    x, y = recording.input("x", 2)
    _ = x / y
    assert count_operations([x + y]) == Count(additions=1)


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("rows", [1, 7, 8, 64])
def test_lanes_agree_with_plain_text(lanes, rows):
    x, p = samples(rows)
    code = native.compile_ir(llvm.kernel_ir(recorded(), lanes, "kernel"))
    kernel = Kernel(native.Loaded(code), "kernel", [3, 1], [4], lanes)
    (out,), finite, largest = kernel(x, p)
    assert finite
    assert largest == abs(x[:, 0]).max()
    np.testing.assert_allclose(out, plain(x, p), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 9, 17])
@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_any_width_of_rows_is_turned_right(width, lanes):
    recording = Recording("copy")
    x = recording.input("x", width)
    program = recording.program(out=[a * float(k + 1) for k, a in enumerate(x)])
    kernel = Kernel(
        native.Loaded(native.compile_ir(llvm.kernel_ir(program, lanes, "kernel"))), "kernel", [width], [width], lanes
    )
    rows = np.arange(3.0 * lanes * width).reshape(-1, width)
    (out,), _, _ = kernel(rows)
    assert (out == rows * np.arange(1, width + 1)).all()


def test_one_sample_at_a_time():
    single = Single(
        native.Loaded(native.compile_ir(llvm.single_sample_ir(recorded(), "single"))), "single", [3, 1], [4]
    )
    x, p = samples()
    np.testing.assert_allclose([single(a, b) for a, b in zip(x, p)], plain(x, p), rtol=1e-14, atol=1e-15)
    assert single(np.array([np.nan, 0, 0]), np.zeros(1)) is None
    assert single(np.array([0, 0, np.inf]), np.zeros(1)) is None
    assert single(np.array([1e7, 0, 0]), np.zeros(1)) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 2, 20])
def test_what_is_not_finite_is_noticed_in_every_lane(bad, place):
    x, p = samples(21)
    x[place, 2] = bad
    kernel = Kernel(native.Loaded(native.compile_ir(llvm.kernel_ir(recorded(), 8, "kernel"))), "kernel", [3, 1], [4], 8)
    assert not kernel(x, p)[1]


def test_sines_are_good_to_the_last_places():
    recording = Recording("sine")
    (x,) = recording.input("x", 1)
    program = recording.program(out=list(cosine_sine(x)))
    kernel = Kernel(native.Loaded(native.compile_ir(llvm.kernel_ir(program, 4, "kernel"))), "kernel", [1], [2], 4)
    rng = np.random.default_rng(3)
    angles = np.concatenate([rng.uniform(-1e6, 1e6, 20000), rng.normal(size=20000), np.arange(-60, 61) * np.pi / 4])
    (out,), _, _ = kernel(angles[:, None])
    exact = np.column_stack([np.cos(angles), np.sin(angles)])
    assert abs(out - exact).max() < 2.5e-16


def test_exported_python_is_the_program():
    text = python_function(recorded(), "exported", "about")
    assert "import" not in text
    space: dict = {}
    exec("from math import cos, sin, sqrt\n" + text, space)
    x, p = samples(5)
    np.testing.assert_allclose([space["exported"](list(a), list(b)) for a, b in zip(x, p)], plain(x, p), rtol=1e-15)


def test_exported_c_has_a_prototype_of_its_groups():
    text = c_function(recorded(), "exported")
    assert text.startswith("void exported(const double x[3], const double p[1], double out[4])")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_exported_c_is_the_program(tmp_path):
    """Every operation that there is, on both sides of each sign."""
    (tmp_path / "any.c").write_text("#include <math.h>\n" + c_function(recorded(), "any"))
    subprocess.run(["cc", "-std=c99", "-fPIC", "-shared", "-o", "any.so", "any.c", "-lm"], cwd=tmp_path, check=True)
    call = ctypes.CDLL(str(tmp_path / "any.so"))["any"]
    x, p = samples()
    x[:3, 2] = 0.0, 2.0, -2.0
    for a, b, right in zip(x, p, plain(x, p)):
        out = np.zeros(4)
        call(*(ctypes.c_void_p(array.ctypes.data) for array in (a, b, out)))
        np.testing.assert_allclose(out, right, rtol=1e-14, atol=1e-14)


def random_text(seed, values):
    """Forty operations, drawn with this seed, on these scalars and on numbers that recording does away with."""
    rng = np.random.default_rng(seed)
    known = [*values, 0.0, 1.0, -1.0, 2.5]
    for _ in range(40):
        a, b = (known[int(k)] for k in rng.integers(0, len(known), 2))
        which = int(rng.integers(0, 7))
        if which == 3:  # never by nothing
            known.append(a / (2.0 + b * b))
        elif which > 3:
            known.append((-a, sign(a), cosine_sine(a)[int(rng.integers(0, 2))])[which - 4])
        else:
            known.append((a + b, a - b, a * b)[which])
    return known[len(values) + 4 :]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_recorded_is_what_was_written(seed):
    """Whatever is folded, reordered or left out on the way."""
    recording = Recording("random")
    program = recording.program(out=random_text(seed, recording.input("x", 3)))
    space = {}
    exec(python_function(program, "f", ""), {"cos": np.cos, "sin": np.sin, "sqrt": np.sqrt}, space)
    x = np.random.default_rng(seed + 1000).uniform(-2, 2, 3).tolist()
    np.testing.assert_allclose(space["f"](x), random_text(seed, x), rtol=1e-9, atol=1e-9)


def test_the_smaller_of_two_numbers_survives_beside_a_huge_one():
    pairs = np.array([(-1.0, 1e39), (1e300, 0.25), (-1e30, -3.0), (2.0, 2.0), (0.1, 0.3), (0.0, -1e-300)])
    recording = Recording("smaller")
    a, b = recording.input("x", 2)
    program = recording.program(found=[smaller(a, b)])
    kernel = Kernel(native.Loaded(native.compile_ir(llvm.kernel_ir(program, 2, "kernel"))), "kernel", [2], [1], 2)
    right = pairs.min(axis=1)
    assert (smaller(pairs[:, 0], pairs[:, 1]) == right).all()
    assert [smaller(float(x), float(y)) for x, y in pairs] == right.tolist()
    assert (kernel(pairs)[0][0][:, 0] == right).all()


def test_each_kind_of_operation_is_counted_once():
    recording = Recording("counted")
    x, y, z = recording.input("x", 3)
    c, s = cosine_sine(x)
    found = [x - y, x + z, y * z, x / y, c, s, square_root(y), sign(z), -(x * x)]
    assert count_operations(found) == Count(
        multiplications=2, additions=2, divisions=1, trigonometric=2, square_roots=1, signs=1
    )


def test_duals_carry_derivatives():
    rng = np.random.default_rng(2)
    x, p = rng.normal(size=3), rng.normal(size=1)
    found = pendulum_and_more([Dual(a, {k: 1.0}) for k, a in enumerate(x)], list(p))
    h = 1e-6
    for k in range(3):
        ahead, behind = x.copy(), x.copy()
        ahead[k] += h
        behind[k] -= h
        slope = (np.array(pendulum_and_more(ahead, p)) - np.array(pendulum_and_more(behind, p))) / (2 * h)
        np.testing.assert_allclose([dual_derivative(f, k) for f in found], slope.astype(float), atol=1e-8)
    np.testing.assert_allclose([dual_value(f) for f in found], np.array(pendulum_and_more(x, p), dtype=float))


def test_nodes_and_duals_meet_from_either_side():
    """The derivatives of a recorded text with respect to some of its inputs only, by hand."""
    recording = Recording("mixed")
    (x,), (p,) = recording.input("x", 1), recording.input("p", 1)
    moving = Dual(x, {0: 1.0})
    terms = [p * moving, moving * p, p + moving, moving + p, p - moving, moving - p, p / moving, moving / p]
    program = recording.program(value=[dual_value(y) for y in terms], slope=[dual_derivative(y, 0) for y in terms])
    space = {}
    exec(python_function(program, "f", ""), {"cos": np.cos, "sin": np.sin, "sqrt": np.sqrt}, space)
    x, p = 0.7, 1.9
    values, slopes = space["f"]([x], [p])
    assert values == pytest.approx([p * x, x * p, p + x, x + p, p - x, x - p, p / x, x / p], rel=1e-15)
    assert slopes == pytest.approx([p, p, 1.0, 1.0, -1.0, 1.0, -p / x**2, 1 / p], rel=1e-15)


@pytest.mark.parametrize("other", ["2", None, [1.0], np.ones(2)])
def test_a_node_meets_nothing_else(other):
    (x,) = Recording("strange").input("x", 1)
    for meet in (lambda: x * other, lambda: x + other, lambda: x - other, lambda: x / other):
        with pytest.raises(TypeError):
            meet()
