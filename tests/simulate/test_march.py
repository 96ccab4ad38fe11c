"""The compiled time loop decides as the stepper does, step for step."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from denoc.machine.backend import using_backend
from denoc.machine.loops.explicit import advance
from denoc.machine.program import Recording, cosine_sine
from denoc.machine.stepping import LOOP_REACHED, Lane, LaneStatus, ManyRuns, build_compiled_loop
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.simulate.integrators.dormand_prince_8 import DORMAND_PRINCE_8
from denoc.simulate.integrators.events import first_event_crossing
from denoc.simulate.integrators.runge_kutta import RungeKutta, integrator_scheme, scheme_on_arrays
from denoc.simulate.integrators.tableau import CASH_KARP, DORMAND_PRINCE, RUNGE_KUTTA

pair = pytest.mark.parametrize("tableau", [DORMAND_PRINCE, DORMAND_PRINCE_8], ids=lambda tableau: tableau.name)


def swing(y):
    """A driven pendulum, and the time that has passed as a quadrature."""
    c, s = cosine_sine(y[0])
    return [y[1], -9.81 * s + 0.3 * c * y[2], -0.1 * y[2] + y[0], 1.0]


def blow_up(y):
    return [y[0] * y[0], 1.0, 0.0 * y[2], 1.0]


def program(rate):
    recording = Recording("rate")
    recording.input("u", 0)
    return recording.program(rate=rate(recording.input("y", 3)))


def made(rate, lanes=1, tableau=DORMAND_PRINCE):
    return build_compiled_loop(
        lambda: program(rate), integrator_scheme(tableau), 4, 3, (), lanes, (rate.__name__,), False
    )


def stepping(rate, y0, end, tableau=DORMAND_PRINCE, **control):
    options = {"rtol": 1e-8, "atol": 1e-10, "max_step": np.inf} | control
    return RungeKutta(
        tableau,
        lambda t, y: np.array(rate(y.tolist()), dtype=float),
        0.0,
        np.array(y0),
        end,
        measured=3,
        **options,
    )


def begin(march, steppers, end):
    """The march at the steppers' start, a lane each, with their first steps."""
    one = steppers[0]
    march.begin(
        np.zeros((march.lanes, 0)),
        np.array([stepper.y for stepper in steppers]),
        T=0.0,
        H=np.array([stepper.wanted() for stepper in steppers]),
        T_END=end,
        RTOL=one.rtol,
        ATOL=one.atol,
        MAX_STEP=one.max_step,
    )


@pytest.mark.parametrize(
    "control", [{}, {"rtol": 1e-3, "atol": 1e-5}, {"max_step": 0.01}, {"rtol": 1e-10, "atol": 1e-12}]
)
@pair
def test_every_step_is_the_steppers(tableau, control):
    stepper, march = stepping(swing, [3.0, 0.0, 1.0, 0.0], 4.0, tableau, **control), made(swing, tableau=tableau)
    begin(march, [stepper], 4.0)
    none, room = np.zeros(0), march.room(0)
    while stepper.t < 4.0:
        assert stepper.step() == ""
        while march.control[Lane.ACCEPTED, 0] < stepper.accepted:
            march.go(none, room, 1)
        assert march.control[Lane.REJECTED, 0] == stepper.rejected
        # where the error is hardly more than rounding, so is what it says of the next step: parts in a million of its
        # length; another decision would change it by per cents
        assert march.control[Lane.T, 0] == pytest.approx(stepper.t, rel=1e-5)
        np.testing.assert_allclose(march.y[0], stepper.y, rtol=1e-4, atol=1e-5)
        assert march.control[Lane.H, 0] == pytest.approx(stepper.h, rel=1e-3)
    assert march.go(none, room, 1) == LOOP_REACHED


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pair
def test_every_lane_is_a_run_of_its_own(tableau, lanes):
    """With rows from its own dense output, whatever its neighbours do."""
    starts = [[0.3 + 0.4 * k, 0.2 * k, 1.0 - 0.3 * k, 0.0] for k in range(lanes)]
    steppers, march = [stepping(swing, y0, 2.0, tableau) for y0 in starts], made(swing, lanes, tableau)
    begin(march, steppers, 2.0)
    grid = np.linspace(0.0, 2.0, 81)[1:]
    out = march.room(len(grid))
    assert march.go(grid, out, 100_000) == LOOP_REACHED
    for lane, stepper in enumerate(steppers):
        expected, before = [], stepper.evaluations
        while stepper.t < 2.0:
            assert stepper.step() == ""
            inside = [t for t in grid if stepper.t_old < t <= stepper.t]
            expected += [stepper.y if t == stepper.t else stepper.between(t) for t in inside]
        np.testing.assert_allclose(out[lane], expected, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(out[lane, :, 3], grid, rtol=1e-13)
        assert march.control[Lane.ACCEPTED, lane] == stepper.accepted
        assert march.control[Lane.REJECTED, lane] == stepper.rejected
        assert march.evaluated(march.control)[lane] == stepper.evaluations - before  # dense output where rows are


def plain_run(tableau, starts, h, end, grid):
    """The text of the loop as it stands: for one start, or for a column for each of many."""
    method, y, many = scheme_on_arrays(tableau, adaptive=True), starts.copy(), starts.shape[1:]
    system = SimpleNamespace(
        rate=lambda t, y: np.array([*swing(list(y))[:3], 0.0 * y[0] + 1.0]), guard=np.ones((1, *many)), measured=3
    )
    vars(system).update(closing=0, delays=0, units=0)
    K = np.zeros((method.stages, *y.shape))
    K[0] = system.rate(0.0, y)
    none = SimpleNamespace(count=0, finds=0)
    out = np.zeros((*many, len(grid), len(y)))
    given = dict(t_end=end, rtol=1e-8, atol=1e-10, max_step=np.inf, t=0.0, h=h, most=0.0, fresh=1.0, accepted=0.0)
    numbers = {**given, **dict.fromkeys(("rejected", "row", "status", "dense", "gap", "stop", "which"), 0.0)}
    if many:
        numbers = {name: np.broadcast_to(x, many).astype(float) for name, x in numbers.items()}
    ends = np.append(grid, np.inf)
    with np.errstate(all="ignore"):
        found = advance(method, system, none, K, y, np.zeros_like(y), np.zeros_like(y), ends, out, 10**6, **numbers)
    return np.array(found[5]), np.array(found[6]), out


@pair
def test_one_text_runs_on_floats_on_arrays_and_in_lanes(tableau):
    """Each run takes its own steps, the same in all forms."""
    starts = np.array([[0.3 + 0.4 * k, 0.2 * k, 1.0 - 0.3 * k, 0.0] for k in range(4)]).T.copy()
    steppers, march = [stepping(swing, y, 2.0, tableau) for y in starts.T], made(swing, 4, tableau)
    begin(march, steppers, 2.0)
    grid, h = np.linspace(0.0, 2.0, 21)[1:], march.control[Lane.H].copy()
    out = march.room(len(grid))
    assert march.go(grid, out, 10**6) == LOOP_REACHED
    steps, rejected, rows = plain_run(tableau, starts, h, 2.0, grid)
    np.testing.assert_array_equal(steps, march.control[Lane.ACCEPTED])
    np.testing.assert_array_equal(rejected, march.control[Lane.REJECTED])
    np.testing.assert_allclose(rows, out, rtol=0, atol=1e-8)  # where errors are hardly more than rounding, so are steps
    for k, y in enumerate(starts.T.copy()):
        alone = plain_run(tableau, y, float(h[k]), 2.0, grid)
        assert (alone[0], alone[1]) == (steps[k], rejected[k])
        np.testing.assert_allclose(alone[2], rows[k], rtol=0, atol=1e-8)


@pair
def test_runs_in_lanes_end_at_their_events(tableau):
    """Which are those that are found step by step. The runs fill a block of lanes and begin another."""
    steppers = [stepping(swing, [0.3 + 0.4 * k, 0.2 * k, 1.0 - 0.3 * k, 0.0], 2.0, tableau) for k in range(5)]
    h, y = np.array([one.wanted() for one in steppers]), np.array([one.y for one in steppers])
    many = ManyRuns(np.zeros((5, 0)), y, np.array([one.f for one in steppers]), np.zeros((5, 1, 4)))
    many.places, many.rules = (0, 1), np.array([[[1.0, 0.1 * k, 0.0, 0, 0], [-1.0, 1.0, 0.0, 0, 0]] for k in range(5)])
    control = made(swing, 4, tableau).carry(
        many, np.array([2.0]), 10**6, 10**6, T=0.0, H=h, T_END=2.0, RTOL=1e-8, ATOL=1e-10, MAX_STEP=np.inf
    )
    for k, one in enumerate(steppers):
        found = None
        while found is None and one.t < 2.0:
            assert one.step() == ""
            found = first_event_crossing([lambda t, y, k=k: y[0] - 0.1 * k, lambda t, y: 1.0 - y[1]], one)
        assert (control[Lane.STATUS, k], control[Lane.WHICH, k]) == (LaneStatus.EVENT, found[1])
        assert control[Lane.T, k] == pytest.approx(found[0], rel=1e-7)
        assert control[Lane.ACCEPTED, k] == one.accepted
        np.testing.assert_allclose(many.y[k], one.between(found[0]), rtol=0, atol=1e-7)


@pytest.mark.parametrize("tableau", [RUNGE_KUTTA, CASH_KARP], ids=lambda tableau: tableau.name)
def test_steps_end_on_the_rows_of_each_lane(tableau):
    """Where there is no good dense output; the lanes begin at different rows."""
    grid, lanes = np.array([0.03, 0.1, 0.15, 0.32, 0.5]), 4
    starts = [[0.3 + 0.4 * k, 0.2 * k, 1.0 - 0.3 * k, 0.0] for k in range(lanes)]
    step = {"step": 0.04} if tableau.E is None else {}
    steppers, march = [stepping(swing, y0, 0.5, tableau, **step) for y0 in starts], made(swing, lanes, tableau)
    for k, stepper in enumerate(steppers):
        stepper.t, stepper.t_end = 0.05 * (k // 2), float(grid[k // 2])
    begin(march, steppers, 0.5)
    march.control[Lane.T] = [stepper.t for stepper in steppers]
    march.control[Lane.ROW] = [k // 2 for k in range(lanes)]
    out = march.room(len(grid))
    assert march.go(grid, out, 1000) == LOOP_REACHED
    for lane, stepper in enumerate(steppers):
        for row in range(lane // 2, len(grid)):
            stepper.t_end = float(grid[row])
            while stepper.t < stepper.t_end:
                assert stepper.step() == ""
            np.testing.assert_allclose(out[lane, row], stepper.y, rtol=1e-12, atol=1e-14)
        assert march.control[Lane.ACCEPTED, lane] == stepper.accepted
        assert march.control[Lane.REJECTED, lane] == stepper.rejected


def test_what_grows_beyond_all_bounds_stops_and_its_neighbour_goes_on():
    steppers, march = [stepping(blow_up, [y0, 0.0, 0.0, 0.0], 2.0) for y0 in (1.0, -1.0)], made(blow_up, 2)
    begin(march, steppers, 2.0)
    march.go(np.zeros(0), march.room(0), 1_000_000)
    assert march.control[Lane.STATUS].tolist() == [LaneStatus.TOO_SMALL, 0.0]
    assert march.control[Lane.T] == pytest.approx([1.0, 2.0], abs=1e-6)
    assert march.y[1, 0] == pytest.approx(-1 / 3, rel=1e-7)


@pytest.mark.parametrize("lanes", [1, 4])
def test_four_components_have_norm_1_after_every_step(lanes):
    """They grow by themselves; the step's last stage, which is the next one's first, is that of norm 1."""

    def growing():
        recording = Recording("growing")
        recording.input("u", 0)
        y = recording.input("y", 5)
        return recording.program(rate=[*(0.3 * x for x in y[:4]), y[0] * y[0] + y[1] + 0.0 * y[4]])

    march = build_compiled_loop(growing, integrator_scheme(DORMAND_PRINCE), 5, 5, (0,), lanes, ("growing",), False)
    start = np.array([[0.5, 0.5, -0.5, 0.5, 0.0]] * lanes)
    march.begin(np.zeros((lanes, 0)), start, T=0.0, H=0.01, T_END=2.0, RTOL=1e-8, ATOL=1e-10, MAX_STEP=0.02)
    assert march.go(np.zeros(0), march.room(0), 1000) == LOOP_REACHED
    assert march.control[Lane.ACCEPTED].min() > 90
    np.testing.assert_allclose(march.y[:, :4], start[:, :4], rtol=0, atol=1e-14)
    # within each step the four grow, which adds about 2 · 0.3 · h / 2 to the first term and half of that to the second
    assert march.y[:, 4] == pytest.approx(1.5, rel=0.01)


@pytest.mark.parametrize("method", ["rk45", "rk56", "dop853"])
@pytest.mark.parametrize("name", ["puma-fall", "chain-fall", "spherical-arm-fall", "stanford-fall"])
@pytest.mark.sampled(6)
def test_a_free_fall_is_the_same_either_way(name, method):
    found = {}
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            plan = prepare_scenario(name)
            found[backend] = carry_out_plan(replace(plan, solver=replace(plan.solver, method=method)))
    plain, compiled = found["plain"], found["compiled"]
    assert compiled.ended == plain.ended == "done"
    # Python evaluates anew behind each step, but the last, that has brought Euler parameters to norm 1, where the loop
    # takes the step's last stage; so errors of next steps differ by some digits, and a few steps are judged otherwise
    turning = any(joint.type.orientation is not None for joint in prepare_scenario(name).robot.moving)
    for count in ("steps", "rejected"):
        assert abs(compiled.audit[count] - plain.audit[count]) <= (3 if turning else 0)
    if not turning:
        assert compiled.audit["evaluations"] == plain.audit["evaluations"]
    energy = max(abs(plain.table[f"energy.{part}"]).max() for part in ("kinetic", "potential", "total"))
    for column, values in plain.table.items():
        scale = energy if column.startswith("energy") else max(1.0, abs(values).max())
        assert abs(compiled.table[column] - values).max() <= 1e-6 * scale, column


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("method", ["rk45", "radau"])
def test_a_run_of_too_many_evaluations_ends_within_few_steps(method, backend):
    with using_backend(backend):
        plan = prepare_scenario("stanford-fall")
        found = carry_out_plan(replace(plan, solver=replace(plan.solver, method=method, max_evaluations=200)))
    assert found.ended == "failed"
    assert found.record["reason"].endswith("more than 200 evaluations of the equations of motion")
    assert 200 < found.audit["evaluations"] < 225
