"""Public benchmarks of the multibody community: their criteria, a published solution, exact solutions of one freedom."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import denoc
import yamls
from denoc.simulate import loop, singular
from denoc.text import library_folder

G = 9.81
# at 0.03 s, by PSIDE at 1e-14: Test Set for IVP Solvers (Mazzia and Magherini), problem `andrews`
ANDREWS = {  # joint: angle, rate
    "beta": (0.1581077119629904e2, 0.1139920302151208e4),
    "theta": (-0.1575637105984298e2, -0.1424379294994111e4),
    "gamma": (0.4082224013073101e-1, 0.1103291221937134e2),
    "phi": (-0.5347301163226948, 0.1929337464421385e2),
    "delta": (0.5244099658805304, 0.5735699284790808),
    "omega": (0.5347301163226948, -0.1929337464421385e2),
    "epsilon": (0.1048080741042263e1, 0.3231791658026955),
}


@cache
def result(name):
    return denoc.run(name)


def windows(count):
    """The scenario of the N-four-bar with another number of windows."""
    robot = yamls.load((library_folder("robots") / "n-four-bar.yaml").read_text())
    robot["links"][1]["repeat"] = count
    return denoc.loads(yamls.dump(robot))


def scenario(name, **changes):
    """A scenario of the library, with some of its entries changed."""
    file = yamls.load((library_folder("scenarios") / f"{name}.yaml").read_text())
    return {**file, **{key: {**file.get(key, {}), **value} for key, value in changes.items()}}


# ---- the same mechanisms as one equation of motion: slender rods of 1 kg between points that one angle places


def one_freedom(rods, angle, rate, times):
    """The angle at these times, from the energies of the rods."""

    def parts(x):
        """Twice the kinetic energy of a unit rate, and the slope of the potential energy; slopes by complex steps."""
        slope = rods(x + 1e-30j).imag / 1e-30
        a, b = slope[:, 0], slope[:, 1]
        return (a * a + a * b + b * b).sum() / 3, G * (a + b)[:, 1].sum() / 2

    def rates(t, y):
        inertia, pull = parts(y[0])
        change = (parts(y[0] + 1e-6)[0] - parts(y[0] - 1e-6)[0]) / 2e-6
        return [y[1], -(pull + change * y[1] ** 2 / 2) / inertia]

    return solve_ivp(rates, (0, times[-1]), [angle, rate], "DOP853", times, rtol=1e-12, atol=1e-13).y[0]


def between(*points):
    """Rods from each point to the next."""
    return np.array(list(pairwise(points)))


def parallel_bars(count):
    """All bars at the same angle from upright."""

    def rods(x):
        feet = [np.array([k, 0, 0]) for k in range(count + 1)]
        tops = [foot + np.array([-np.sin(x), np.cos(x), 0]) for foot in feet]
        return np.array([*zip(feet, tops), *pairwise(tops)])

    return rods


def mirrored(x):
    """Crank and rod at opposite angles."""
    return between(np.zeros(3) * x, np.array([np.cos(x), np.sin(x), 0 * x]), np.array([2 * np.cos(x), 0 * x, 0 * x]))


def bricard(a):
    """P0 to P5: sin a + sin b + sin a sin b = 0, a the angle of P0, P2 and P4, b that of P1 and P3."""
    b = -np.arcsin(np.sin(a) / (1 + np.sin(a)))
    turn, points = np.eye(3), [np.zeros(3) * a]
    for axis, angle, way in zip(
        (1, 2, 0, 1, 2), (a, b, a, b, a), ((1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 1, 0))
    ):
        c, s = np.cos(angle), np.sin(angle)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        R = np.zeros((3, 3)) * a
        R[axis, axis], R[i, i], R[j, j], R[i, j], R[j, i] = 1, c, c, -s, s
        turn = turn @ R
        points.append(points[-1] + turn @ np.array(way))
    return points


def test_closed_form_of_bricard():
    for a in (0.3, 1.2, 2.7):
        np.testing.assert_allclose(bricard(a)[5], [0, 0, 1], atol=1e-15)


# ---- criteria


@pytest.mark.parametrize(
    "name, energy, gap",
    [
        ("bricard-fall", 1e-6, 1e-14),
        ("n-four-bar-fall", 1e-5, 1e-12),
        ("slider-crank-singular-fall", 1e-5, 1e-12),
        ("andrews-drive", 1e-9, 1e-14),
    ],
)
@pytest.mark.sampled(2)
def test_energy_and_loops(name, energy, gap):
    """Far within what the benchmarks ask for: 0.1 % of the energy, 0.001 J of Bricard's."""
    run = result(name)
    assert (run.ended, run.record["warnings"]) == ("done", [])
    assert run.audit["energy"] < energy
    assert run.audit["closure"] < gap
    assert run.audit["closure_angle"] < 1e-12


@pytest.mark.parametrize("joint", ANDREWS)
def test_andrews_published_solution(joint):
    run, (angle, rate) = result("andrews-drive"), ANDREWS[joint]
    assert run.table[f"{joint}.q"][-1] == pytest.approx(angle, abs=3e-9)
    assert run.table[f"{joint}.qd"][-1] == pytest.approx(rate, abs=1e-6)


def test_andrews_starts_where_it_is_published():
    start = denoc.assemble(denoc.load("andrews"), denoc.load("andrews").q0)
    np.testing.assert_allclose(
        start[:7],  # in the order of the file
        [
            -0.0617138900142765,
            0,
            0.455279819163070,
            0.487364979543843,
            0.222668390165886,
            1.23054744454982,
            -0.222668390165886,
        ],
        atol=2e-15,
    )


def test_andrews_spring_is_a_force_between_two_points():
    """At rest in the first position the published accelerations follow."""
    robot = denoc.load("andrews")
    q = denoc.assemble(robot, robot.q0)
    tau = np.zeros(robot.nv)
    tau[0] = 0.033
    qdd = denoc.forward(robot, q, np.zeros(robot.nv), tau)
    np.testing.assert_allclose(qdd[:2], [14222.4439199541, -10666.8329399656], rtol=1e-12)
    np.testing.assert_allclose(qdd[2:7], 0, atol=1e-7)


def test_bricard_is_overconstrained():
    run = result("bricard-fall")
    assert run.record["events"] == []
    a = one_freedom(lambda x: between(*bricard(x)), 0, 0, run.t)
    np.testing.assert_allclose(run.table["P0.q"], a, atol=1e-6)
    points = np.array([bricard(x)[3] for x in a])
    for column, values in zip("xyz", points.T):
        np.testing.assert_allclose(run.table[f"rod3.P3.{column}"], values, atol=1e-6)


def test_windows_pass_their_flat_positions():
    run = result("n-four-bar-fall")
    exact = one_freedom(parallel_bars(2), 0, -1, run.t)
    np.testing.assert_allclose(run.table["A0.q"], exact, atol=1e-5)
    np.testing.assert_allclose(run.table["bar0.B.y"], np.cos(exact), atol=1e-5)
    met = [event["t"] for event in run.record["events"]]
    assert len(met) == 10
    flat = np.interp(np.pi * (np.arange(10) + 0.5), -exact, run.t)
    np.testing.assert_allclose(met, flat, atol=0.02)


def test_five_windows():
    robot = windows(5)
    run = denoc.run(scenario("n-four-bar-fall", time={"end": 4, "step": 0.05}), robot)
    exact = one_freedom(parallel_bars(5), 0, -1, run.t)
    assert run.ended == "done"
    for k in range(6):
        np.testing.assert_allclose(run.table[f"A{k}.q"], exact, atol=1e-5)


@pytest.fixture
def slow(monkeypatch):
    """The instants at which the equations of lost constraints are asked."""
    asked, evaluated = [], singular.evaluate_near_singularity

    def noted(system, discrete, signals, y):
        asked.append(y)
        return evaluated(system, discrete, signals, y)

    monkeypatch.setattr(singular, "evaluate_near_singularity", noted)
    return asked


ONE_ANGLE = {
    "n-four-bar-fall": ("A0.q", parallel_bars(2), 0, -1),
    "slider-crank-singular-fall": ("crank.q", mirrored, np.pi / 4, 2 * np.sqrt(2)),
}


@pytest.mark.parametrize("name", ONE_ANGLE)
def test_a_single_step_crosses_each_singular_position(slow, name):
    """All steps are those of the regular equations; rows within a crossing are as good as others."""
    change = {"time": {"step": 0.0005, "end": 1.0}, "record": {"points": []}}
    run = denoc.run(scenario(name, **change))
    met = [event["t"] for event in run.record["events"]]
    assert met
    inside = sum(t < row < t + 0.0025 for t in met for row in run.t)
    assert 0 < len(slow) <= inside + 4 * len(met)
    column, rods, angle, rate = ONE_ANGLE[name]
    np.testing.assert_allclose(run.table[column], one_freedom(rods, angle, rate, run.t), atol=1e-6)


def test_what_no_step_can_cross_is_passed_slowly(slow, monkeypatch):
    """The equations in which lost constraints are left out have the same motion."""
    monkeypatch.setattr(loop, "step_across_singular_position", lambda *_, **__: None)
    run = denoc.run(scenario("n-four-bar-fall", time={"end": 1.5, "step": 0.05}))
    assert len(slow) > 20
    assert len(run.record["events"]) == 2
    np.testing.assert_allclose(run.table["A0.q"], one_freedom(parallel_bars(2), 0, -1, run.t), atol=1e-6)


@pytest.mark.parametrize("beyond", [1e-4, 1e-3])
@pytest.mark.sampled(2)
def test_a_run_may_end_right_behind_a_singular_position(slow, beyond):
    flat = 0.7143554872  # of A0 = −π/2
    run = denoc.run(scenario("n-four-bar-fall", time={"end": flat + beyond, "step": flat + beyond}))
    assert run.ended == "done"
    assert len(slow) > 10
    np.testing.assert_allclose(run.table["A0.q"], one_freedom(parallel_bars(2), 0, -1, run.t), atol=1e-7)


@pytest.mark.parametrize("rtol", [1e-8, 1e-11])
@pytest.mark.sampled(2)
def test_slider_crank_passes_where_rods_cover_each_other(rtol):
    solver = {"rtol": rtol, "atol": rtol / 100}
    run = denoc.run(scenario("slider-crank-singular-fall", solver=solver))
    exact = one_freedom(mirrored, np.pi / 4, 2 * np.sqrt(2), run.t)
    np.testing.assert_allclose(run.table["crank.q"], exact, atol=1e-5)
    np.testing.assert_allclose(run.table["rod.q"], -2 * exact, atol=2e-5)
    assert len(run.record["events"]) == 11


@pytest.mark.parametrize("name", ["n-four-bar-fall", "slider-crank-singular-fall"])
def test_stops_where_it_is_told_to(name):
    """Both lose constraints: no other coordinates would carry on."""
    run = denoc.run(scenario(name, solver={"at_singularity": "stop"}))
    assert run.ended == "singularity"
    assert run.audit["singular"]["coordinates"] == []


@pytest.mark.full
@pytest.mark.parametrize("count", [20, 40])
def test_many_windows(count):
    """The library's problem, all of its ten seconds, with forty."""
    run = denoc.run(scenario("n-four-bar-fall", record={"points": []}), windows(count))
    assert run.ended == "done"
    assert len(run.record["events"]) == 10
    np.testing.assert_allclose(run.table[f"A{count}.q"], one_freedom(parallel_bars(count), 0, -1, run.t), atol=2e-5)
    assert run.audit["energy"] < 1e-3
