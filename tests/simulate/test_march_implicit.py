"""The compiled loop of the implicit method takes scipy's steps, by its own text and with its own elimination."""

from __future__ import annotations

import ctypes
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate

from denoc.machine.jit import elimination, native
from denoc.machine.jit.block import Block
from denoc.machine.jit.choice import using_backend
from denoc.machine.jit.kernel import build_single_kernel
from denoc.machine.jit.march import ACCEPTED, REACHED, STATUS, TOO_SMALL, H, March, T, build_compiled_loop
from denoc.machine.program.dual import Dual, dual_derivative
from denoc.machine.program.recording import Recording
from denoc.machine.program.scalars import cosine_sine
from denoc.scenario.run import carry_out_plan, prepare_scenario
from denoc.simulate.radau import RADAU, A, C

MEASURED = 3


def swing(y):
    """A pendulum with a drive that follows it stiffly; two quadratures behind."""
    c, s = cosine_sine(y[0])
    return [y[1], -9.81 * s + 0.3 * c * y[2], -300.0 * (y[2] - y[0]), 1.0, y[1] * y[1]]


def oscillator(y):
    """That of van der Pol, stiff, and a component that follows it."""
    return [y[1], 500.0 * ((1.0 - y[0] * y[0]) * y[1]) - y[0], y[0] - y[2], y[0] * y[1], y[2]]


def blow_up(y):
    return [y[0] * y[0], 1.0 + 0.0 * y[1], 0.0 * y[2], 1.0, 0.0]


def made(rate):
    """The compiled loop of y' = rate(y), and the derivatives as a function."""

    def program():
        recording = Recording("rate")
        recording.input("u", 0)
        return recording.program(rate=rate(recording.input("y", MEASURED)))

    def slopes():
        recording = Recording("slopes")
        recording.input("u", 0)
        moved = [Dual(x, {k: 1.0}) for k, x in enumerate(recording.input("y", MEASURED))]
        return recording.program(slopes=[dual_derivative(x, k) for x in rate(moved) for k in range(MEASURED)])

    name = f"implicit {rate.__name__}"
    single = build_single_kernel(slopes, (0, MEASURED), [(MEASURED + 2) * MEASURED], (name, "slopes"), False)
    loop = build_compiled_loop(program, RADAU, MEASURED + 2, MEASURED, (), 1, (name,), False, derivatives=single)

    def derivatives(t, y):
        J = np.zeros((MEASURED + 2, MEASURED + 2))
        J[:, :MEASURED] = single(np.zeros(0), y[:MEASURED].copy()).reshape(-1, MEASURED)
        return J

    return loop, derivatives


def theirs(rate, derivatives, y0, end, rtol, max_step):
    atol = np.array([rtol / 100] * MEASURED + [1e100] * 2)
    given = {"rtol": rtol, "atol": atol, "max_step": max_step, "jac": derivatives}
    return integrate.Radau(lambda t, y: np.array(rate(y.tolist())), 0.0, np.array(y0), end, **given)


def begin(march, y0, h, end, rtol, max_step):
    march.begin(np.zeros((1, 0)), y0, T=0.0, H=h, T_END=end, RTOL=rtol, ATOL=rtol / 100, MAX_STEP=max_step)


@pytest.mark.parametrize(
    ("rate", "end", "rtol", "max_step"),
    [
        (swing, 2.0, 1e-3, math.inf),
        (swing, 2.0, 1e-6, math.inf),
        (swing, 0.5, 1e-6, 0.004),
        (oscillator, 800.0, 1e-4, math.inf),
    ],
)
def test_every_step_is_scipys(rate, end, rtol, max_step):
    march, derivatives = made(rate)
    start = [2.0, 0.0, 1.0, 0.0, 0.0]
    solver, none, steps = theirs(rate, derivatives, start, end, rtol, max_step), np.zeros(0), 0
    begin(march, start, solver.h_abs, end, rtol, max_step)
    before = solver.nfev
    while solver.status == "running":
        solver.step()
        steps += 1
        while march.control[ACCEPTED, 0] < steps:
            assert march.go(none, march.room(0), 1) != REACHED
        # Newton's corrections are small at the end, and so the last digits of what they say of the next step are noise
        assert march.control[T, 0] == pytest.approx(solver.t, rel=1e-5)
        np.testing.assert_allclose(march.y[0], solver.y, rtol=1e-4, atol=1e-5)
        assert march.control[H, 0] == pytest.approx(solver.h_abs, rel=1e-3)
    assert march.go(none, march.room(0), 1) == REACHED
    assert march.evaluations == solver.nfev - before


def test_steps_end_on_rows():
    march, derivatives = made(swing)
    y0, grid, rtol = [2.0, 0.0, 1.0, 0.0, 0.0], np.linspace(0.0, 1.0, 23)[1:], 1e-7
    solver, rows = theirs(swing, derivatives, y0, grid[0], rtol, math.inf), []
    begin(march, y0, solver.h_abs, 1.0, rtol, math.inf)
    for at in grid:
        solver.t_bound, solver.status = at, "running"
        while solver.status == "running":
            solver.step()
        rows.append(solver.y)
    out = march.room(len(grid))
    assert march.go(grid, out, 100_000) == REACHED
    np.testing.assert_allclose(out[0], rows, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(out[0, :, 3], grid, rtol=1e-12)


def test_what_grows_beyond_all_bounds_stops():
    march, _ = made(blow_up)
    y0 = [1.0, 0.0, 0.0, 0.0, 0.0]
    begin(march, y0, 0.01, 2.0, 1e-8, math.inf)
    march.go(np.zeros(0), march.room(0), 1_000_000)
    assert march.control[STATUS, 0] == TOO_SMALL
    assert march.control[T, 0] == pytest.approx(1.0, abs=1e-6)


def test_coefficients_are_those_of_the_method():
    """Stages that are exact for polynomials of degree 3 (C(3)), a result that is for degree 5 (B(5)), and A⁻¹ = TΛT⁻¹."""
    a, c, b = np.array(A), np.array(C), np.array(A)[2]
    for k in range(1, 4):
        np.testing.assert_allclose(a @ c ** (k - 1), c**k / k, atol=1e-15)
    for k in range(1, 6):
        assert b @ c ** (k - 1) == pytest.approx(1 / k, abs=1e-15)
    assert abs(b @ c**5 - 1 / 6) > 1e-4
    real, imaginary = RADAU.pair.real, RADAU.pair.imag
    middle = np.array([[RADAU.real, 0, 0], [0, real, -imaginary], [0, imaginary, real]])
    found = np.array(RADAU.T) @ middle @ np.array(RADAU.inverse)
    np.testing.assert_allclose(found, np.linalg.inv(a), rtol=0, atol=1e-13)
    Z = np.stack([c, c**2, c**3])  # of stages on polynomials
    places = np.array([0.3, 0.8])
    powers = places[:, None] ** np.arange(1, 4)
    np.testing.assert_allclose(powers @ (Z @ np.array(RADAU.weights)).T, powers, atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("parts", [1, 2])
def test_elimination_solves(n, parts):
    rng = np.random.default_rng(n)
    M, x = rng.normal(size=(2, n, n)), rng.normal(size=(2, n))
    matrix = M[0] + 1j * M[1] if parts == 2 else M[0]
    matrix[0, 0] = 0.0 if n > 1 else 1.0  # no pivot
    b = matrix @ (x[0] + 1j * x[1] if parts == 2 else x[0])
    call = "ptr %A, ptr %pivots"
    text = (
        f"{Block(1).declarations()}{elimination.elimination_ir(n)}define void @go({call}, ptr %b) {{\n"
        f"  call void @factor.{parts}({call})\n  call void @solve.{parts}({call}, ptr %b)\n  ret void\n}}\n"
    )
    code = native.Loaded(native.compile_ir(text))
    arrays = [np.ascontiguousarray(matrix), np.zeros(n, dtype=np.int64), np.ascontiguousarray(b)]
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(code.address("go"))(*(one.ctypes.data for one in arrays))
    np.testing.assert_allclose(arrays[2], x[0] + 1j * x[1] if parts == 2 else x[0], rtol=1e-11, atol=1e-11)


@pytest.fixture
def marches(monkeypatch):
    """How many times compiled loops have been entered."""
    entered, go = [0], March.go

    def counted(self, *arguments):
        entered[0] += 1
        return go(self, *arguments)

    monkeypatch.setattr(March, "go", counted)
    return entered


@pytest.mark.parametrize(
    ("name", "end", "event"),
    [
        ("rx90-fall", 0.2, True),
        ("spherical-arm-fall", 0.05, False),
        ("slider-crank-fall", 0.05, False),
        ("puma-computed-torque", 1.5, False),
    ],
)
@pytest.mark.sampled(4)
def test_runs_are_the_same_either_way(name, end, event, marches):
    """With events, Euler parameters, loops, and signals of time."""
    found = {}
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            plan = prepare_scenario(name)
            solver = replace(plan.solver, method="radau", rtol=1e-5, atol=1e-7)
            found[backend] = carry_out_plan(replace(plan, grid=np.linspace(0.0, end, 6), solver=solver))
        assert bool(marches[0]) == (backend == "compiled")
    plain, compiled = found["plain"], found["compiled"]
    assert plain.ended == compiled.ended == "done"
    assert bool(plain.record["events"]) == event
    assert [one["event"] for one in compiled.record["events"]] == [one["event"] for one in plain.record["events"]]
    if not event:  # an event's step is taken twice: by the loop, which stops before it, and in Python
        assert compiled.audit["steps"] == plain.audit["steps"]
    for column, values in plain.table.items():
        if column.endswith((".q", ".qd", ".qdd", ".tau")):
            size = max(1.0, abs(values).max())
            np.testing.assert_allclose(compiled.table[column], values, atol=1e-7 * size, err_msg=column)
