"""The compiled loops of implicit methods take scipy's steps, by their own text and with their own elimination."""

from __future__ import annotations

import ctypes
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate

from denoc.machine.backend import native, using_backend
from denoc.machine.jit.kernel import build_single_kernel
from denoc.machine.loops import implicit
from denoc.machine.loops.backward import DIFFERENCES, resize
from denoc.machine.loops.elimination import factor, solve
from denoc.machine.loops.emit import Lines
from denoc.machine.loops.implicit import EVALUATED, advance
from denoc.machine.loops.translate import Translator
from denoc.machine.loops.values import Stack, Stored
from denoc.machine.program import Dual, Recording, cosine_sine, dual_derivative
from denoc.machine.stepping import LOOP_REACHED, Lane, LaneStatus, March, StepHistory, build_compiled_loop
from denoc.machine.stepping.march_block import ORDER
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.simulate.integrators.integrate import stepper_of_integrator
from denoc.simulate.integrators.ndf import NDF
from denoc.simulate.integrators.radau import RADAU, A, C

MEASURED = 3
METHODS = {"Radau": RADAU, "BDF": NDF}  # by scipy's names


def swing(y):
    """A pendulum with a drive that follows it stiffly; two quadratures behind."""
    c, s = cosine_sine(y[0])
    return [y[1], -9.81 * s + 0.3 * c * y[2], -300.0 * (y[2] - y[0]), 1.0, y[1] * y[1]]


def oscillator(y):
    """That of van der Pol, stiff, and a component that follows it."""
    return [y[1], 500.0 * ((1.0 - y[0] * y[0]) * y[1]) - y[0], y[0] - y[2], y[0] * y[1], y[2]]


def robertson(y):
    """Three reactions, the slowest and the fastest of which differ by nine powers of ten."""
    slow, quick, fast = 0.04 * y[0], 1e4 * (y[1] * y[2]), 3e7 * (y[1] * y[1])
    return [quick - slow, slow - quick - fast, fast, 1.0, y[0]]


def linear(y):
    """An oscillator, and what it drives."""
    return [y[1], -y[0], y[0] - 2.0 * y[2], 1.0, y[2]]


def linear_solution(t):
    """Of the solution with y = (0, 1, −0.2) at 0 the whole third component follows the first."""
    s, c = np.sin(t), np.cos(t)
    return np.array([s, c, (2 * s - c) / 5, t, (2 * (1 - c) - s) / 5])


def blow_up(y):
    return [y[0] * y[0], 1.0 + 0.0 * y[1], 0.0 * y[2], 1.0, 0.0]


def made(rate, kind="Radau", lanes=1):
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
    more = {"derivatives": single} if lanes == 1 else {"slopes": slopes}
    loop = build_compiled_loop(program, METHODS[kind], MEASURED + 2, MEASURED, (), lanes, (name,), False, **more)

    def derivatives(t, y):
        J = np.zeros((MEASURED + 2, MEASURED + 2))
        J[:, :MEASURED] = single(np.zeros(0), y[:MEASURED].copy()).reshape(-1, MEASURED)
        return J

    return loop, derivatives


def theirs(rate, derivatives, y0, end, rtol, max_step, kind="Radau", **more):
    atol = np.array([rtol / 100] * MEASURED + [1e100] * 2)
    given = {"rtol": rtol, "atol": atol, "max_step": max_step, "jac": derivatives, **more}
    return getattr(integrate, kind)(lambda t, y: np.array(rate(y.tolist())), 0.0, np.array(y0), end, **given)


def begin(march, y0, h, end, rtol, max_step):
    march.begin(np.zeros((1, 0)), y0, T=0.0, H=h, T_END=end, RTOL=rtol, ATOL=rtol / 100, MAX_STEP=max_step)


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize(
    ("rate", "end", "rtol", "max_step"),
    [
        (swing, 2.0, 1e-3, math.inf),
        (swing, 2.0, 1e-6, math.inf),
        (swing, 0.5, 1e-6, 0.004),
        (oscillator, 800.0, 1e-4, math.inf),
    ],
)
def test_every_step_is_scipys(rate, end, rtol, max_step, kind):
    march, derivatives = made(rate, kind)
    start = [2.0, 0.0, 1.0, 0.0, 0.0]
    solver, none, steps = theirs(rate, derivatives, start, end, rtol, max_step, kind), np.zeros(0), 0
    begin(march, start, solver.h_abs, end, rtol, max_step)
    before = solver.nfev
    while solver.status == "running":
        solver.step()
        steps += 1
        while march.control[Lane.ACCEPTED, 0] < steps:
            assert march.go(none, march.room(0), 1) != LOOP_REACHED
        # Newton's corrections are small at the end, and so the last digits of what they say of the next step are noise
        assert march.control[Lane.T, 0] == pytest.approx(solver.t, rel=1e-5)
        np.testing.assert_allclose(march.y[0], solver.y, rtol=1e-4, atol=1e-5)
        if kind == "BDF" and max_step == math.inf:
            assert march.control[ORDER, 0] == solver.order
        assert min(march.control[Lane.H, 0], max_step) == pytest.approx(min(solver.h_abs, max_step), rel=1e-3)
    assert march.go(none, march.room(0), 1) == LOOP_REACHED
    assert march.evaluations == solver.nfev - before
    assert march.control[Lane.REJECTED, 0] > 0 or kind == "Radau" or max_step < math.inf


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
    assert march.go(grid, out, 100_000) == LOOP_REACHED
    np.testing.assert_allclose(out[0], rows, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(out[0, :, 3], grid, rtol=1e-12)


def test_rows_of_differences_are_scipys_dense_output():
    """Which is that of the orders as they come, and may be asked for at any instant."""
    march, derivatives = made(swing, "BDF")
    y0, grid, rtol = [2.0, 0.0, 1.0, 0.0, 0.0], np.linspace(0.0, 1.0, 301)[1:], 1e-6
    solver, rows = theirs(swing, derivatives, y0, 1.0, rtol, math.inf, "BDF"), []
    begin(march, y0, solver.h_abs, 1.0, rtol, math.inf)
    while solver.status == "running":
        solver.step()
        rows += [solver.dense_output()(t) for t in grid[(grid > solver.t_old) & (grid <= solver.t)]]
    out = march.room(len(grid))
    assert march.go(grid, out, 100_000) == LOOP_REACHED
    assert march.control[Lane.ACCEPTED, 0] < 0.6 * len(grid)
    np.testing.assert_allclose(out[0], rows, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", METHODS)
def test_a_stiff_problem_has_the_published_solution(kind):
    """Robertson's, at the end of the test set for initial value problems of the University of Bari."""
    march, _ = made(robertson, kind)
    march.begin(
        np.zeros((1, 0)), [1.0, 0, 0, 0, 0], T=0.0, H=1e-6, T_END=1e11, RTOL=1e-7, ATOL=1e-16, MAX_STEP=math.inf
    )
    assert march.go(np.zeros(0), march.room(0), 5000) == LOOP_REACHED
    published = [0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050]
    np.testing.assert_allclose(march.y[0, :3], published, rtol=1e-4)
    assert march.control[Lane.T, 0] == 1e11
    assert march.y[0, 3] == pytest.approx(1e11, rel=1e-12)


@pytest.mark.parametrize("order", range(1, 6))
def test_each_order_of_differences_is_its_own(order):
    """Steps half as long have errors that are smaller by that power of two; the differences are those of the solution."""
    march, derivatives = made(linear, "BDF")
    errors = []
    for count in (40, 80):
        h = 2.0 / count
        states = linear_solution(-h * np.arange(DIFFERENCES)).T
        D = np.array([np.diff(states[::-1], k, axis=0)[-1] for k in range(DIFFERENCES)])
        # so few equal steps that all have one length
        history = StepHistory(D, order, -1000, derivatives(0.0, states[0]))
        given = {"T": 0.0, "H": h, "T_END": 2.0, "RTOL": 1.0, "ATOL": 1.0, "MAX_STEP": math.inf}
        march.begin(np.zeros((1, 0)), states[0], history=history, **given)
        assert march.go(np.zeros(0), march.room(0), 1000) == LOOP_REACHED
        assert march.control[Lane.ACCEPTED, 0] in (count, count + 1)  # a sliver may be left
        assert march.control[ORDER, 0] == order
        errors.append(abs(march.y[0] - linear_solution(2.0)).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_steps_of_differences_go_on_from_a_history():
    """From loop to loop, from the loop to scipy's steps, and from these to the loop."""
    rtol, none, y0 = 1e-6, np.zeros(0), [2.0, 0.0, 1.0, 0.0, 0.0]
    march, derivatives = made(swing, "BDF")
    begin(march, y0, 1e-4, 2.0, rtol, math.inf)
    march.go(none, march.room(0), 60)
    control, y, history = march.control[:, 0].copy(), march.y[0].copy(), march.history
    march.go(none, march.room(0), 1000)
    whole, steps = march.y[0].copy(), march.control[Lane.ACCEPTED, 0] - control[Lane.ACCEPTED]
    assert history.order > 2

    given = {
        "T": control[Lane.T],
        "H": control[Lane.H],
        "T_END": 2.0,
        "RTOL": rtol,
        "ATOL": rtol / 100,
        "MAX_STEP": math.inf,
    }
    march.begin(np.zeros((1, 0)), y, history=history, **given)
    march.go(none, march.room(0), 1000)
    assert march.control[Lane.ACCEPTED, 0] == steps
    np.testing.assert_allclose(march.y[0], whole, rtol=1e-5)

    share = math.sqrt(MEASURED / (MEASURED + 2))
    options = {"rtol": rtol / share, "atol": rtol / 100 / share, "measured": MEASURED, "slopes": derivatives}
    stepper = stepper_of_integrator("bdf", lambda t, y: np.array(swing(y.tolist())), control[Lane.T], y, 2.0, **options)
    stepper.h, stepper.history = control[Lane.H], history
    for _ in range(10):
        assert stepper.step() == ""
    given.update(T=stepper.t, H=stepper.wanted())
    march.begin(np.zeros((1, 0)), stepper.y, history=stepper.history, **given)
    march.go(none, march.room(0), 1000)
    assert march.control[Lane.ACCEPTED, 0] == steps - 10
    np.testing.assert_allclose(march.y[0], whole, rtol=1e-5)


def test_differences_of_a_polynomial_at_other_instants():
    """They are those of its values there, and those of scipy."""
    from scipy.integrate._ivp.bdf import change_D

    p = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.7, -0.4])
    for h in (0.25, 1.0, 1.9):
        D, new = ([np.diff(p(-step * np.arange(6))[::-1], k)[-1] for k in range(1, 6)] for step in (1.0, h))
        rows = np.array([[p(0.0)], *([x] for x in D)])
        memory = NDF.arrays(1, 1)
        for order in range(1, 6):
            memory.D[:6], memory.own[implicit.ORDER] = rows, order
            resize(NDF, memory, True, h)
            theirs = rows.copy()
            change_D(theirs, order, h)
            np.testing.assert_allclose(memory.D[1:6], theirs[1:], atol=1e-10)
        np.testing.assert_allclose(memory.D[1:6, 0], new, atol=1e-11)


def test_coefficients_of_differences_are_those_of_the_method():
    """Of y = t^(k + 1), the formula of order k leaves its error constant times the next difference, of lower powers nothing."""
    t = -np.arange(DIFFERENCES)[::-1].astype(float)
    for k in range(1, 6):
        for power in range(1, k + 2):
            differences = [np.diff(t**power, j)[-1] for j in range(DIFFERENCES)]
            before = [np.diff((t - 1) ** power, j)[-1] for j in range(DIFFERENCES)]
            slope = 0.0 if power > 1 else 1.0  # at t = 0
            correction = differences[0] - sum(before[: k + 1])
            left = NDF.alpha[k] * correction + sum(NDF.gamma[j] * before[j] for j in range(1, k + 1)) - slope
            expected = -NDF.errors[k] * differences[k + 1] if power > k else 0.0
            assert left == pytest.approx(expected, abs=1e-10), (k, power)
            x = np.array([0.0, 0.3, 0.8])
            shares = np.array(NDF.weights)[:k] @ (x ** np.arange(1, 6)[:, None])
            if power <= k:
                np.testing.assert_allclose(
                    (-1.0) ** power + np.array(differences[1 : k + 1]) @ shares, (x - 1) ** power, atol=1e-10
                )


def test_what_grows_beyond_all_bounds_stops():
    march, _ = made(blow_up)
    y0 = [1.0, 0.0, 0.0, 0.0, 0.0]
    begin(march, y0, 0.01, 2.0, 1e-8, math.inf)
    march.go(np.zeros(0), march.room(0), 1_000_000)
    assert march.control[Lane.STATUS, 0] == LaneStatus.TOO_SMALL
    assert march.control[Lane.T, 0] == pytest.approx(1.0, abs=1e-6)


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


def plain_run(kind, derivatives, starts, h, end, grid, rtol):
    """The text of the loop as it stands: for one start, or for a column for each of many."""
    method, y, (m, *many) = METHODS[kind], starts.copy(), starts.shape
    system = SimpleNamespace(size=m, measured=MEASURED, guard=np.ones((1, *many)), guarded=0, closing=0, delays=0)
    vars(system).update(units=0, rate=lambda t, y: np.array([*swing(list(y))[:3], 0.0 * y[0] + 1.0, y[1] * y[1]]))

    def slopes(t, y):
        found = np.array([derivatives(t, one)[:, :MEASURED].ravel() for one in np.reshape(y, (m, -1)).T])
        return found.T if many else found[0]

    system.slopes, memory = slopes, method.arrays(m, MEASURED, *many)
    memory.K[0] = system.rate(0.0, y)
    if kind == "BDF":
        method.begin(memory.D, memory.J, memory.own, memory.K[0] * h)
    none, out = SimpleNamespace(count=0, finds=0), np.zeros((*many, len(grid), m))
    given = dict(t_end=end, rtol=rtol, atol=rtol / 100, max_step=math.inf, t=0.0, h=h, fresh=1.0, accepted=0.0)
    numbers = {**given, **dict.fromkeys(("rejected", "row", "status", "gap", "stop", "which"), 0.0)}
    if many:
        numbers = {name: np.broadcast_to(x, many).astype(float) for name, x in numbers.items()}
    with np.errstate(all="ignore"):
        found = advance(method, system, none, memory, y, np.append(grid, math.inf), out, 10**6, **numbers)
    return np.array(found[4]), out, memory.own[EVALUATED]


@pytest.mark.parametrize("kind", METHODS)
def test_one_text_runs_on_floats_on_arrays_and_in_lanes(kind):
    """Each run takes its own steps, with its own derivatives, pivots and orders, which are scipy's."""
    starts = np.array([[2.0 - 0.2 * k, 0.3 * k, 1.0 - 0.1 * k, 0.0, 0.0] for k in range(8)]).T.copy()
    grid, rtol, end = np.linspace(0.0, 0.8, 5)[1:], 1e-5, 0.8
    single, derivatives = made(swing, kind)
    solvers = [theirs(swing, derivatives, y, end, rtol, math.inf, kind) for y in starts.T]
    h = np.array([solver.h_abs for solver in solvers])
    steps, rows, evaluated = plain_run(kind, derivatives, starts, h, end, grid, rtol)
    for lanes in (2, 4, 8):
        march, _ = made(swing, kind, lanes)
        out = march.room(len(grid))
        begin(march, starts[:, :lanes].T, h[:lanes], end, rtol, math.inf)
        assert march.go(grid, out, 10**6) == LOOP_REACHED
        np.testing.assert_array_equal(march.control[Lane.ACCEPTED], steps[:lanes])
        np.testing.assert_array_equal(march.evaluated(march.control), evaluated[:lanes])
        np.testing.assert_allclose(out, rows[:lanes], rtol=0, atol=1e-9)
    for k, solver in enumerate(solvers):
        alone = plain_run(kind, derivatives, starts[:, k].copy(), float(h[k]), end, grid, rtol)
        assert (alone[0], alone[2]) == (steps[k], evaluated[k])
        np.testing.assert_allclose(alone[1], rows[k], rtol=0, atol=1e-9)
        out = single.room(len(grid))
        begin(single, starts[:, k], h[k], end, rtol, math.inf)
        assert single.go(grid, out, 10**6) == LOOP_REACHED
        assert single.control[Lane.ACCEPTED, 0] == steps[k]
        np.testing.assert_allclose(out[0], rows[k], rtol=0, atol=1e-9)
        ends, theirs_too = [*grid] if kind == "Radau" else [end], 0
        for at in ends:
            solver.t_bound, solver.status = at, "running"
            while solver.status == "running":
                solver.step()
                theirs_too += 1
        assert theirs_too == steps[k]
        np.testing.assert_allclose(rows[k, -1, :MEASURED], solver.y[:MEASURED], rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_a_step_from_the_same_state_is_scipys(kind, rtol):
    """With the same derivatives: what is left is rounding."""
    march, derivatives = made(swing, kind)
    for k in range(8):
        y0, none = [2.0 - 0.2 * k, 0.3 * k, 1.0 - 0.1 * k, 0.0, 0.0], np.zeros(0)
        h = 0.1 * theirs(swing, derivatives, y0, 2.0, rtol, math.inf, kind).h_abs
        solver = theirs(swing, derivatives, y0, 2.0, rtol, math.inf, kind, first_step=h)
        begin(march, y0, h, 2.0, rtol, math.inf)
        solver.step()
        march.go(none, march.room(0), 1)
        assert (march.control[Lane.ACCEPTED, 0], march.control[Lane.T, 0]) == (1, solver.t)
        np.testing.assert_allclose(march.y[0], solver.y, rtol=1e-12, atol=1e-12)


def eliminated(A, order, b, x, n, here):
    """Of a matrix, or of one for each run."""
    factor(A, order, n, here)
    solve(A, order, b, x, n)


def compiled_elimination(n, parts, lanes):
    emit, names = Lines(lanes), [*"Abx"]
    own = {
        name: [Stack(n, f"%{name}.{p}") if name == "A" else Stored(n, f"%{name}.{p}") for p in range(parts)]
        for name in names
    }
    here = emit.compare("ge", emit.component(Stored(1, "%b.0"), 0), -math.inf, "eight")
    Translator(emit, runs=True).text(eliminated, [own["A"], Stored(n, "%order"), own["b"], own["x"], n, here])
    pointers = ["%order", *(f"%{name}.{p}" for name in names for p in range(parts))]
    head = f"define void @go({', '.join(f'ptr {x}' for x in pointers)}) {{\n{emit.body()}\n  ret void\n}}\n"
    code = native.Loaded(native.compile_ir(f"{emit.declarations()}\n{head}", passes=("sroa",)))
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(code.address("go"))

    def go(A, order, b, x, n, here):
        function(*(one.ctypes.data for one in (order, *A, *b, *x)))
        return code

    return go


@pytest.mark.parametrize("n", [1, 2, 7, 17])
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_elimination_solves(n, parts, lanes):
    """Of real and complex matrices, each run with its own pivots, in all forms."""
    rng = np.random.default_rng(n)
    M, x = rng.normal(size=(parts, n, n, lanes)), rng.normal(size=(parts, n, lanes))
    M[:, 0, 0] = 0.0 if n > 1 else 1.0  # no pivot
    unit = np.array([1.0, 1j])[:parts]
    b = np.einsum("p,pijl,q,qjl->il", unit, M, unit, x)
    b = [b.real.copy(), b.imag.copy()][:parts]

    def solved(text, *, of=slice(None), here):
        A, known = [one[..., of].copy() for one in M], [one[..., of].copy() for one in b]
        found = [np.zeros_like(one) for one in known]
        text(A, np.zeros_like(known[0]), known, found, n, here)
        return found

    everywhere = np.ones(lanes, dtype=bool)
    np.testing.assert_allclose(solved(eliminated, here=everywhere), x, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(solved(compiled_elimination(n, parts, lanes), here=None), x, rtol=1e-9, atol=1e-10)
    for k in range(lanes):
        np.testing.assert_allclose(solved(eliminated, of=k, here=True), x[..., k], rtol=1e-9, atol=1e-10)


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
@pytest.mark.parametrize("method", ["radau", "bdf"])
@pytest.mark.sampled(4)
def test_runs_are_the_same_either_way(name, end, event, method, marches):
    """With events, Euler parameters, loops, and signals of time."""
    found = {}
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            plan = prepare_scenario(name)
            solver = replace(plan.solver, method=method, rtol=1e-5, atol=1e-7)
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
