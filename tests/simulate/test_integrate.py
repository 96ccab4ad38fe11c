"""Steppers: their order, their tolerance, their failures, and scipy's own steps to the last bit."""

import math

import numpy as np
import pytest
from scipy import integrate, special

from denoc.errors import InputError
from denoc.simulate.integrators.integrate import INTEGRATORS, stepper_of_integrator
from denoc.simulate.integrators.runge_kutta import RungeKutta
from denoc.simulate.integrators.stepper import AT_END, NOT_FINITE, TOO_SMALL
from denoc.simulate.integrators.tableau import CASH_KARP, DORMAND_PRINCE

pytestmark = pytest.mark.smoke

TABLEAUS = [row.tableau for row in INTEGRATORS.values() if row.tableau is not None]
ADAPTIVE = [name for name, method in INTEGRATORS.items() if method.adaptive]


def harmonic(t, y):
    return np.array([y[1], -y[0]])


def van_der_pol(t, y):
    return np.array([y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]])


def arenstorf(t, y, mu=0.012277471):
    """A satellite between earth and moon, on a closed orbit (Hairer, Nørsett, Wanner I, sec. II.0)."""
    x, z, vx, vz = y
    earth = ((x + mu) ** 2 + z**2) ** 1.5
    moon = ((x - 1 + mu) ** 2 + z**2) ** 1.5
    ax = x + 2 * vz - (1 - mu) * (x + mu) / earth - mu * (x - 1 + mu) / moon
    return np.array([vx, vz, ax, z - 2 * vx - (1 - mu) * z / earth - mu * z / moon])


def stiffish(t, y):
    return np.array([-300 * (y[0] - math.cos(t))])


PROBLEMS = {
    "harmonic": (harmonic, [1, 0], 20, {}),
    "harmonic with max_step": (harmonic, [1, 0], 5, {"max_step": 0.05}),
    "van der Pol": (van_der_pol, [2, 0], 20, {}),
    "Arenstorf": (arenstorf, [0.994, 0, 0, -2.00158510637908252240537862224], 17.0652165601579625588917206249, {}),
    "stiffish": (stiffish, [0], 3, {}),
    "from a late start": (lambda t, y: harmonic(t, y) * 1e3, [0, 1e-3], 0.1, {}),
}


def four(t, y):
    """Nonlinear and driven, with a known solution."""
    a, b, c, d = y
    return np.array([2 * t * b**0.2 * d, 10 * t * math.exp(5 * (c - 1)) * d, 2 * t * d, -2 * t * math.log(a)])


def four_solution(t):
    s = math.sin(t * t)
    return np.array([math.exp(s), math.exp(5 * s), s + 1, math.cos(t * t)])


def pendulum(t, y):
    return np.array([y[1], -math.sin(y[0])])


def pendulum_solution(t, angle):
    """Let go at rest: sin(θ/2) = k sn(K − t), by Jacobi's elliptic functions."""
    k = math.sin(angle / 2)
    sn, cn, _, _ = special.ellipj(special.ellipk(k * k) - t, k * k)
    return np.array([2 * math.asin(k * sn), -2 * k * cn])


def run(stepper, settle=None):
    """Steps to the end and returns the instants."""
    instants = [stepper.t]
    while stepper.t < stepper.t_end:
        assert stepper.step() == ""
        if settle:
            stepper.settle(settle(stepper.y))
        instants.append(stepper.t)
    return instants


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


# --- order and tolerance


@pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda tableau: tableau.name)
def test_observed_order_is_the_declared_one(tableau):
    finest = 160 if tableau.order < 6 else 28  # beyond, the errors of order 8 are those of rounding
    steps, errors = 1 / (finest * 2.0 ** (-np.arange(7) / 2)).round(), []
    for h in steps:
        stepper, error = RungeKutta(tableau, four, 0, four_solution(0), 1.5, step=h), 0.0
        while stepper.t < 1.5:
            stepper.step()
            error = max(error, np.abs(stepper.y - four_solution(stepper.t)).max())
        errors.append(error)
    assert tableau.order - 0.3 < slope(steps, errors) < tableau.order + 0.5


@pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda tableau: tableau.name)
def test_observed_order_of_dense_output(tableau):
    widest = 0.1 if tableau.order < 6 else 0.14
    steps, errors = widest * 2.0 ** (-np.arange(5) / 2), []
    for h in steps:
        stepper = RungeKutta(tableau, four, 0.4, four_solution(0.4), 1, step=h)
        stepper.step()
        instants = stepper.t_old + h * np.array([0.15, 0.4, 0.6, 0.85])
        errors.append(max(np.abs(stepper.between(t) - four_solution(t)).max() for t in instants))
    order = 3 if tableau.P is None else {5: 4, 6: 5, 8: 7}[tableau.order]
    assert order + 0.7 < slope(steps, errors) < order + 1.5  # one power more within one step


@pytest.mark.parametrize("name", INTEGRATORS)
def test_dense_output_meets_both_ends(name):
    stepper = stepper_of_integrator(name, pendulum, 0, np.array([1.0, 0.0]), 3, rtol=1e-6, atol=1e-8, step=0.02)
    np.testing.assert_array_equal(stepper.between(0), [1, 0])
    for _ in range(5):
        before = stepper.y
        stepper.step()
        np.testing.assert_allclose(stepper.between(stepper.t_old), before, atol=1e-6)
        np.testing.assert_allclose(stepper.between(stepper.t), stepper.y, atol=1e-12)


@pytest.mark.parametrize("tableau", [DORMAND_PRINCE, CASH_KARP], ids=lambda tableau: tableau.name)
def test_error_is_proportional_to_the_tolerance(tableau):
    tolerances, errors = 10.0 ** -np.arange(4, 11), []
    for tolerance in tolerances:
        stepper = RungeKutta(tableau, pendulum, 0, [2, 0], 10, rtol=tolerance, atol=tolerance)
        run(stepper)
        errors.append(np.abs(stepper.y - pendulum_solution(10, 2)).max())
    assert 0.8 < slope(tolerances, errors) < 1.2
    assert max(errors / tolerances) < 300


@pytest.mark.parametrize("name", INTEGRATORS)
def test_every_method_swings_a_pendulum_to_its_tolerance(name):
    stepper = stepper_of_integrator(name, pendulum, 0, np.array([2.0, 0.0]), 10, rtol=1e-9, atol=1e-11, step=0.005)
    checked = 0
    while stepper.t < 10:
        assert stepper.step() == ""
        middle = (stepper.t_old + stepper.t) / 2
        loose = 1 if INTEGRATORS[name].dense else 100
        assert np.abs(stepper.between(middle) - pendulum_solution(middle, 2)).max() < 2e-6 * loose
        checked += 1
    assert np.abs(stepper.y - pendulum_solution(10, 2)).max() < 2e-6
    assert stepper.t == 10
    assert stepper.accepted == checked
    assert stepper.evaluations >= checked


# --- scipy's own steps


@pytest.mark.parametrize("rtol", [1e-4, 1e-8, 1e-11, 1e-15])
@pytest.mark.parametrize("method", ["RK45", "DOP853"])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore:At least one element of `rtol` is too small")
def test_steps_are_scipys_to_the_last_bit(problem, method, rtol):
    fun, y0, duration, options = PROBLEMS[problem]
    t0 = 1e3 if problem == "from a late start" else 0.0
    # the floor of rtol is not worth 20,000 steps
    t_end = t0 + (duration if rtol > 1e-14 else duration / 40)
    theirs = getattr(integrate, method)(fun, t0, np.array(y0, float), t_end, rtol=rtol, atol=rtol / 100, **options)
    ours = stepper_of_integrator(
        method.lower(), fun, t0, np.array(y0, float), t_end, rtol=rtol, atol=rtol / 100, **options
    )
    attempts = 0
    while theirs.status == "running":
        before = theirs.nfev
        theirs.step()
        attempts += (theirs.nfev - before) // theirs.n_stages
        assert ours.step() == ""
        assert ours.t == theirs.t
        np.testing.assert_array_equal(ours.y, theirs.y)
        middle, curve = (theirs.t_old + theirs.t) / 2, theirs.dense_output()
        # scipy's curve of order 7 is nested, ours has powers, whose rounding errors belong to h y'
        size = 0.0 if method == "RK45" else 1e-13 * np.abs(ours.h * ours.K).max() + 1e-15 * np.abs(ours.y).max()
        np.testing.assert_allclose(ours.between(middle), curve(middle), rtol=0, atol=size)
    assert theirs.status == "finished"
    assert ours.t == t_end
    assert ours.evaluations == theirs.nfev
    assert ours.accepted + ours.rejected == attempts


def test_some_of_those_problems_reject_steps():
    fun, y0, duration, _ = PROBLEMS["stiffish"]
    stepper = stepper_of_integrator("rk45", fun, 0, np.array(y0, float), duration, rtol=1e-4, atol=1e-6)
    run(stepper)
    assert stepper.rejected > 10


# --- quadratures


def with_work(t, y):
    """A pendulum and the work of its friction, which is large and wild."""
    return np.array([y[1], -math.sin(y[0]) - 0.1 * y[1], 1e6 * y[1] ** 2 * math.sin(50 * t)])


@pytest.mark.parametrize("name", ADAPTIVE)
def test_quadratures_do_not_change_the_steps(name):
    alone = stepper_of_integrator(
        name, lambda t, y: with_work(t, y)[:2], 0, np.array([2.0, 0.0]), 5, rtol=1e-5, atol=1e-7
    )
    carried = stepper_of_integrator(name, with_work, 0, np.array([2.0, 0.0, 0.0]), 5, rtol=1e-5, atol=1e-7, measured=2)
    bare, laden = run(alone), run(carried)
    assert len(bare) == len(laden)
    # Newton's iterations end at a tolerance of their own, so implicit steps differ a little
    close = 1e-3 if name in ("radau", "bdf") else 1e-9
    np.testing.assert_allclose(laden, bare, rtol=close, atol=1e-12)
    np.testing.assert_allclose(carried.y[:2], alone.y, rtol=close)
    if name == "rk45":
        measured = stepper_of_integrator(name, with_work, 0, np.array([2.0, 0.0, 0.0]), 5, rtol=1e-5, atol=1e-7)
        assert len(run(measured)) > 2 * len(bare)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_quadratures_are_carried_along(name):
    def fun(t, y):  # ∫ sin θ dt = ω0 − ω
        return np.array([y[1], -math.sin(y[0]), math.sin(y[0])])

    stepper = stepper_of_integrator(
        name, fun, 0, np.array([2.0, 0.0, 0.0]), 5, rtol=1e-8, atol=1e-10, step=0.01, measured=2
    )
    run(stepper)
    assert stepper.y[2] == pytest.approx(-stepper.y[1], abs=1e-9)


# --- the end of the integration


@pytest.mark.parametrize("name", INTEGRATORS)
def test_lands_on_every_instant_that_t_end_is_moved_to(name):
    grid = np.arange(1, 21) * 0.1
    stepper = stepper_of_integrator(name, pendulum, 0, np.array([2.0, 0.0]), grid[0], rtol=1e-8, atol=1e-10, step=0.03)
    for t in grid:
        stepper.t_end = t
        run(stepper)
        assert stepper.t == t
        np.testing.assert_allclose(stepper.y, pendulum_solution(t, 2), atol=2e-6)
    assert stepper.step() == AT_END
    assert stepper.t == grid[-1]


def test_landing_costs_one_step_for_each_instant_at_most():
    free = stepper_of_integrator("rk45", pendulum, 0, np.array([2.0, 0.0]), 10, rtol=1e-8, atol=1e-10)
    run(free)
    landing = stepper_of_integrator("rk45", pendulum, 0, np.array([2.0, 0.0]), 0.5, rtol=1e-8, atol=1e-10)
    for k in range(1, 21):
        landing.t_end = 0.5 * k
        run(landing)
    assert landing.accepted <= free.accepted + 20


def test_fixed_steps_are_even_and_end_on_the_end():
    stepper = stepper_of_integrator("rk4", harmonic, 0, np.array([1.0, 0.0]), 1.05, step=0.1)
    instants = run(stepper)
    np.testing.assert_allclose(np.diff(instants)[:-1], 0.1)
    assert instants[-1] == 1.05
    assert stepper.evaluations == 4 * 11
    # 0.1 isn't a binary fraction: no sliver of a step is left over at the end
    assert len(run(stepper_of_integrator("rk4", harmonic, 0, np.array([1.0, 0.0]), 100, step=0.1))) == 1001


def test_the_derivative_at_the_end_is_evaluated_once_and_only_when_asked_for():
    stepper = stepper_of_integrator("rk4", harmonic, 0, np.array([1.0, 0.0]), 1, step=0.1)
    stepper.step()
    assert stepper.evaluations == 4
    stepper.between(0.05)
    stepper.between(0.07)
    assert stepper.evaluations == 5
    stepper.step()
    assert stepper.evaluations == 8


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_state_without_components_runs_to_the_end(name):
    stepper = stepper_of_integrator(name, lambda t, y: np.zeros(0), 0, np.zeros(0), 1, step=0.25)
    run(stepper)
    assert stepper.t == 1
    assert stepper.between(0.5).shape == (0,)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_rest_needs_no_tolerance(name):
    stepper = stepper_of_integrator(name, lambda t, y: 0 * y, 0, np.zeros(2), 1, rtol=1e-6, atol=0, step=0.25)
    run(stepper)
    assert not stepper.y.any()


def test_a_derivative_may_return_the_same_array_again():
    buffer = np.empty(2)

    def fun(t, y):
        buffer[:] = pendulum(t, y)
        return buffer

    for name in INTEGRATORS:
        ends = []
        for f in (fun, pendulum):
            stepper = stepper_of_integrator(name, f, 0, np.array([2.0, 0.0]), 2, rtol=1e-6, atol=1e-8, step=0.1)
            while stepper.t < stepper.t_end:
                stepper.step()
                stepper.between((stepper.t + stepper.t_old) / 2)
                f(stepper.t, 2 * stepper.y)
            ends.append(stepper.y)
        np.testing.assert_array_equal(*ends)


# --- failures


@pytest.mark.parametrize("name", INTEGRATORS)
@pytest.mark.parametrize("measured", [None, 1])
def test_nan_fails_with_a_sentence(name, measured):
    stepper = stepper_of_integrator(name, lambda t, y: y * math.nan, 0, np.ones(2), 1, step=0.1, measured=measured)
    assert stepper.step() == NOT_FINITE
    assert stepper.t == 0
    np.testing.assert_array_equal(stepper.y, [1, 1])
    assert stepper.evaluations < 20


@pytest.mark.parametrize("name", INTEGRATORS)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("where", [slice(None), slice(1, None)], ids=["everywhere", "in the quadrature"])
def test_nan_on_the_way_fails_with_a_sentence_and_keeps_the_state(name, bad, where):
    def fun(t, y):
        dy = -y
        if t > 0.5:
            dy[where] = bad
        return dy

    stepper = stepper_of_integrator(name, fun, 0, np.ones(2), 1, rtol=1e-6, atol=1e-8, step=0.03, measured=1)
    why = ""
    while not why:
        why = stepper.step()
    assert why == NOT_FINITE
    assert 0.4 < stepper.t <= 0.5
    np.testing.assert_allclose(stepper.y, math.exp(-stepper.t), rtol=1e-4)
    assert stepper.step() == NOT_FINITE


@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_pole_fails_with_a_sentence(name):
    stepper = stepper_of_integrator(name, lambda t, y: y**0 / (1 - t) ** 2, 0, np.ones(1), 2, rtol=1e-6, atol=1e-8)
    why = ""
    while not why:
        why = stepper.step()
    assert why in (TOO_SMALL, NOT_FINITE)
    assert stepper.t == pytest.approx(1, abs=1e-6)
    assert stepper.y[0] == pytest.approx(1 / (1 - stepper.t), rel=0.1)


def test_a_step_below_the_spacing_of_floats_fails_with_a_sentence():
    stepper = stepper_of_integrator("rk45", lambda t, y: y**2, 0, np.ones(1), 2, rtol=1e-6, atol=1e-8)
    why = ""
    while not why:
        why = stepper.step()
    assert why == TOO_SMALL
    last = stepper.between(stepper.t_old)
    assert 0 < last[0] < stepper.y[0]  # the attempts have not spoilt the last step
    assert stepper_of_integrator("rk4", harmonic, 1e9, np.ones(2), 2e9, step=1e-8).step() == TOO_SMALL


@pytest.mark.parametrize("name", INTEGRATORS)
def test_errors_of_the_derivative_come_through(name):
    def fun(t, y):
        if t > 0.5:
            raise ValueError("mine")
        return -y

    stepper = stepper_of_integrator(name, fun, 0, np.ones(1), 1, step=0.1)
    with pytest.raises(ValueError, match="mine"):
        run(stepper)


def test_what_lsoda_says_comes_out_as_a_sentence():
    def noise(t, y):
        return np.array([hash((t, y[0])) % 1000 - 500.0])

    stepper = stepper_of_integrator("lsoda", noise, 0, np.ones(1), 1, rtol=1e-12, atol=1e-14)
    why = ""
    while not why:
        why = stepper.step()
    assert why.startswith("LSODA gave up: Repeated")
    assert stepper.step() == why


def test_unknown_method_and_missing_step():
    with pytest.raises(InputError, match="did you mean `dop853`"):
        stepper_of_integrator("dop835", harmonic, 0, np.ones(2), 1)
    with pytest.raises(InputError, match="fixed `step`"):
        stepper_of_integrator("rk4", harmonic, 0, np.ones(2), 1)


# --- settling


@pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda tableau: tableau.name)
def test_settling_refreshes_the_first_stage(tableau):
    stepper = RungeKutta(tableau, pendulum, 0, [1, 0], 10, step=0.1)
    stepper.step()
    other = stepper.y + np.array([0.3, -0.2])
    middle = stepper.between(0.05)
    before = stepper.evaluations
    stepper.settle(other)
    np.testing.assert_array_equal(stepper.between(0.05), middle)
    stepper.step()
    assert stepper.evaluations == before + len(tableau.B)

    fresh = RungeKutta(tableau, pendulum, 0.1, other, 10, step=0.1)
    fresh.step()
    np.testing.assert_array_equal(stepper.y, fresh.y)


def test_settling_refreshes_the_first_stage_of_adaptive_steps():
    stepper = stepper_of_integrator("rk45", pendulum, 0, np.array([1.0, 0.0]), 10)
    stepper.step()
    middle, before = stepper.between(stepper.t / 2), stepper.evaluations
    stepper.settle(stepper.y.copy())
    stepper.step()
    assert stepper.evaluations == before + 6  # nothing changed, nothing spent

    other, t, h = stepper.y + np.array([0.01, 0.01]), stepper.t, stepper.h
    before, attempts = stepper.evaluations, stepper.rejected
    stepper.settle(other)
    stepper.step()
    assert stepper.evaluations == before + 7 + 6 * (stepper.rejected - attempts)
    fresh = RungeKutta(DORMAND_PRINCE, pendulum, t, other, 10, first_step=h)
    fresh.step()
    assert fresh.t == stepper.t
    np.testing.assert_array_equal(fresh.y, stepper.y)
    assert middle.shape == (2,)


def test_settling_refreshes_the_rate_of_collocation():
    stepper, other = (stepper_of_integrator("radau", pendulum, 0, np.array([1.0, 0.0]), 10) for _ in range(2))
    stepper.step()
    other.step()
    before, moved = stepper.evaluations, stepper.y + np.array([0.01, 0])
    stepper.settle(moved)
    np.testing.assert_array_equal(stepper.between(stepper.t / 2), other.between(stepper.t / 2))
    assert stepper.step() == other.step() == ""
    assert stepper.evaluations - before > other.evaluations - before
    np.testing.assert_allclose(stepper.y - other.y, [0.01, 0], atol=1e-3)


@pytest.mark.parametrize("name", INTEGRATORS)
@pytest.mark.sampled(2)
def test_renormalising_after_every_step_costs_no_accuracy_and_no_steps(name):
    options = {"rtol": 1e-8, "atol": 1e-10, "step": 0.02}
    plain = stepper_of_integrator(name, harmonic, 0, np.array([1.0, 0.0]), 20, **options)
    settled = stepper_of_integrator(name, harmonic, 0, np.array([1.0, 0.0]), 20, **options)
    run(plain)
    run(settled, settle=lambda y: y / np.linalg.norm(y))
    assert settled.accepted < 1.2 * plain.accepted + 10
    assert np.linalg.norm(settled.y) == pytest.approx(1, abs=1e-15)
    error = np.abs(settled.y - [math.cos(20), -math.sin(20)]).max()
    assert error < 1.5 * np.abs(plain.y - [math.cos(20), -math.sin(20)]).max() + 1e-12


@pytest.mark.parametrize("name", ["bdf", "lsoda"])
def test_what_nothing_depends_on_moves_by_a_hundred_tolerances_without_loss_of_history(name):
    """As coordinates do that follow when loops are closed near a singular position; else steps begin anew at order 1."""

    def fun(t, y):
        return np.array([y[1], -y[0], y[1]])

    start, options = np.array([1.0, 0.0, 1.0]), {"rtol": 1e-8, "atol": 1e-8}
    moved = stepper_of_integrator(name, fun, 0, start, 10, **options)
    for _ in range(60):
        moved.step()
        moved.settle(moved.y + np.array([0.0, 0.0, 1e-6]))
    run(moved)
    other = stepper_of_integrator(name, fun, 0, start, 10, **options)  # earlier scipys have one LSODA at a time
    run(other)
    assert moved.accepted == pytest.approx(other.accepted, abs=1)
    np.testing.assert_allclose(moved.y, other.y + np.array([0.0, 0.0, 60e-6]), rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_big_change_is_taken_over(name):
    stepper = stepper_of_integrator(name, harmonic, 0, np.array([1.0, 0.0]), 1, rtol=1e-8, atol=1e-10, step=0.01)
    run(stepper)
    before, counts = stepper.between((stepper.t_old + 1) / 2), (stepper.accepted, stepper.evaluations)
    stepper.settle(3 * stepper.y)
    np.testing.assert_allclose(stepper.between((stepper.t_old + 1) / 2), before, atol=1e-3)
    stepper.t_end = 2
    run(stepper)
    np.testing.assert_allclose(stepper.y, [3 * math.cos(2), -3 * math.sin(2)], atol=3e-6)
    assert stepper.accepted > counts[0]
    assert stepper.evaluations > counts[1]


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_change_before_the_first_step_is_taken_over(name):
    stepper = stepper_of_integrator(name, harmonic, 0, np.array([1.0, 0.0]), 1, rtol=1e-8, atol=1e-10, step=0.01)
    stepper.settle(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(stepper.between(0), [0, 1])
    run(stepper)
    np.testing.assert_allclose(stepper.y, [math.sin(1), math.cos(1)], atol=1e-6)


@pytest.mark.parametrize("method", ["rk45", "rkck"])
def test_a_stage_that_no_error_asks_for_can_not_spoil_it(method):
    """Memory that held no numbers before may hold NaN, and 0 × NaN would reject every step."""
    stepper = stepper_of_integrator(method, lambda t, y: -y, 0.0, np.ones(3), 1.0)
    assert not stepper.trial.any()
    assert not stepper.K.any()


def slopes_of_van_der_pol(t, y):
    return np.array([[0.0, 1.0], [-10 * y[0] * y[1] - 1, 5 * (1 - y[0] ** 2)]])


@pytest.mark.parametrize("kind", ["BDF", "Radau"])
def test_implicit_steps_are_scipys(kind):
    """From the same state but for rounding; along a run until rounding decides when Newton's method ends."""
    y0, options = np.array([2.0, 0.0]), {"rtol": 1e-6, "atol": 1e-9}
    theirs = getattr(integrate, kind)(van_der_pol, 0.0, y0, 20.0, jac=slopes_of_van_der_pol, **options)
    ours = stepper_of_integrator(kind.lower(), van_der_pol, 0.0, y0, 20.0, slopes=slopes_of_van_der_pol, **options)
    ours.h, steps = theirs.h_abs, 0
    while theirs.status == "running":
        t, y, h = theirs.t, theirs.y, 0.3 * theirs.h_abs
        if steps < 40:
            one, same = (
                getattr(integrate, kind)(van_der_pol, t, y, 20.0, first_step=h, jac=slopes_of_van_der_pol, **options),
                stepper_of_integrator(kind.lower(), van_der_pol, t, y, 20.0, slopes=slopes_of_van_der_pol, **options),
            )
            same.h = h
            one.step()
            assert same.step() == ""
            if same.rejected == 0:
                assert same.t == one.t
                np.testing.assert_allclose(same.y, one.y, rtol=1e-12)
        theirs.step()
        assert ours.step() == ""
        steps += 1
        assert ours.t == pytest.approx(theirs.t, rel=1e-5)
        np.testing.assert_allclose(ours.y, theirs.y, rtol=1e-4, atol=1e-6)
    assert ours.accepted == steps > 100


def test_matrices_that_are_not_finite_are_refused():
    """At the first one, without a search for a step that is short enough."""
    asked = []

    def slopes(t, y):
        asked.append(t)
        return np.array([[np.nan]])

    one = stepper_of_integrator("bdf", lambda t, y: -y, 0.0, np.ones(1), 1.0, slopes=slopes)
    assert one.step() == NOT_FINITE
    assert len(asked) == 1
