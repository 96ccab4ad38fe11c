"""Motions that begin at dead centres, or beside them, and stops at the end of a stroke.

What is expected comes from the one equation of motion of the mechanism, M θ̈ = Q − M' θ̇²/2 − V' − μ |x'| sign θ̇, where x
is the place of the joint that rubs: friction has no more lever than the joint has, and as much as soon as it has any.
"""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline

import denoc
import fourbar
import yamls
from denoc.machine.backend import using_backend

CRANK, ROD, GRAVITY = 0.1, 0.3, 9.81
END = 0.5
GRID = np.arange(0.0, END + 0.005, 0.01)
FRICTION = 2.0


def slope(function, x, h=1e-4):
    """The derivative, to the fourth order."""
    return (8 * (function(x + h) - function(x - h)) - (function(x + 2 * h) - function(x - 2 * h))) / (12 * h)


def piston(a):
    """Its place, by the crank's angle."""
    return CRANK * np.cos(a) + np.sqrt(ROD**2 - (CRANK * np.sin(a)) ** 2)


def crank_and_rod(a):
    """The mass centres and angles of crank and rod, and the piston's place."""
    tilt = -np.arcsin(CRANK * np.sin(a) / ROD)
    rod = CRANK * np.exp(1j * a) + ROD / 2 * np.exp(1j * tilt)
    return np.array([CRANK / 2 * np.cos(a), CRANK / 2 * np.sin(a), a, rod.real, rod.imag, tilt, piston(a)])


def slider_crank(a):
    """The inertia and the weight of the library's slider-crank."""
    moved = slope(crank_and_rod, a)
    inertia = (np.array([1, 1, 1 / 1200, 1.5, 1.5, 1.5 * ROD**2 / 12, 0.8]) * moved**2).sum()
    places = crank_and_rod(a)
    return inertia, GRAVITY * (places[1] + 1.5 * places[4])


def rocker(a):
    """The angle of the library's four-bar's rocker, by the crank's."""
    return fourbar.angles(a)[1]


@cache
def curves(mechanism, place):
    """Inertia, weight and the place that rubs, as smooth curves over the crank's angle, with their slopes."""
    at = np.linspace(-4.0, 4.0, 1601)
    values = [*np.array([mechanism(a)[:2] for a in at]).T, np.unwrap([place(a) for a in at])]
    whole = [make_interp_spline(at, x, k=5) for x in values]
    return [*whole, *(one.derivative() for one in whole)]


def expected(mechanism, place, start, rate=0.0, *, torque=lambda t, a, w: 0.0, lowest=-np.inf, begin=0.0):
    """The crank's angle at the instants of the grid, by the one equation of motion."""
    inertia, _, where, bend, weight, lever = curves(mechanism, place)
    angles, t, y = np.full(len(GRID), float(start)), begin, [start, rate]

    def pushed(t, a, w):
        return torque(t, a, w) - weight(a)

    def rates(t, y, way):
        a, w = y
        return [w, (pushed(t, a, w) - bend(a) * w * w / 2 - FRICTION * abs(lever(a)) * way) / inertia(a)]

    def turns(now, y, way):
        return y[1] if now > t + 1e-6 else way

    def stops(now, y, way):
        return where(y[0]) - lowest

    turns.terminal = stops.terminal = True
    stops.direction = -1
    while t < END:
        way = np.sign(y[1] or pushed(t, *y))
        if not y[1] and abs(pushed(t, *y)) <= FRICTION * abs(lever(y[0])):
            angles[t <= GRID] = y[0]  # it sticks, under laws of the state alone
            return angles
        events, how = [turns, stops], {"method": "DOP853", "rtol": 1e-10, "atol": 1e-12, "max_step": 0.02}
        found = solve_ivp(rates, (t, END), y, t_eval=GRID[t <= GRID], events=events, args=(way,), **how)
        angles[np.searchsorted(GRID, found.t)] = found.y[0]
        if not found.status:
            return angles
        which = 0 if len(found.t_events[0]) else 1
        t, y = found.t_events[which][0], [found.y_events[which][0][0], 0.0]
    return angles


def with_friction(name, *, limits=None, crank_limits=None, friction=FRICTION):
    """A robot of the library whose last joint rubs and has stops, perhaps."""
    document = yamls.load(denoc.load(name).document.text)
    joint = document["links"][-1]["joint"]
    joint |= {"friction": {"coulomb": friction}} if friction else {}
    joint |= {"limits": limits} if limits else {}
    document["links"][0]["joint"] |= {"limits": crank_limits} if crank_limits else {}
    return denoc.loads(yamls.dump(document))


def scenario(initial, rates=None, **more):
    return {
        "task": "simulate",
        "time": {"end": END, "step": 0.01},
        "initial": initial,
        "rates": rates or {},
        "solver": {"at_singularity": "switch"},
        **more,
    }


@pytest.fixture(params=["plain", "compiled"])
def backend(request):
    with using_backend(request.param):
        yield


@pytest.mark.usefixtures("backend")
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("start", "rate"), [(0.0, 0.0), (-1e-9, 0.0), (1e-7, 0.0), (0.0, -1e-6), (0.0, -1e-3), (1e-7, -1e-2)]
)
def test_a_motion_from_a_dead_centre_rubs(start, rate):
    found = denoc.run(scenario({"crank": start}, {"crank": rate}), with_friction("slider-crank"))
    np.testing.assert_allclose(found.table["crank.q"], expected(slider_crank, piston, start, rate), atol=1e-6)
    assert found.audit["energy"] < 1e-6
    assert found.table["energy.total"][-1] < found.table["energy.total"][0] - 0.3


@pytest.mark.usefixtures("backend")
def test_a_motion_from_a_dead_centre_ends_at_the_stop():
    found = denoc.run(scenario({"crank": 0.0}), with_friction("slider-crank", limits=[0.25, 0.5]))
    assert found.table["piston.q"].min() > 0.25 - 1e-9
    wanted = expected(slider_crank, piston, 0.0, lowest=0.25)
    np.testing.assert_allclose(found.table["crank.q"], wanted, atol=1e-6)
    assert [one["event"] for one in found.record["events"]] == ["reaches its lower limit"]


@pytest.mark.usefixtures("backend")
def test_a_crank_under_pd_from_a_dead_centre_moves_a_piston_that_rubs():
    law = {"crank": {"law": "pd", "kp": 20, "kd": 0.5, "to": 2.0}}
    found = denoc.run(scenario({"crank": 0.0}, forces=law), with_friction("slider-crank"))
    wanted = expected(slider_crank, piston, 0.0, torque=lambda t, a, w: 20 * (2.0 - a) - 0.5 * w)
    np.testing.assert_allclose(found.table["crank.q"], wanted, atol=1e-6)


@pytest.mark.usefixtures("backend")
def test_a_crank_is_lifted_off_its_stop_at_a_dead_centre():
    law = {"crank": {"law": "expression", "force": "5*t"}}
    robot = with_friction("slider-crank", crank_limits=[0.0, 3.0])
    found = denoc.run(scenario({"crank": 0.0}, forces=law), robot)
    weight = slope(lambda a: slider_crank(a)[1], 0.0)
    lifted = weight / 5
    assert next((one["joint"], one["event"]) for one in found.record["events"]) == ("crank", "breaks loose")
    assert found.record["events"][0]["t"] == pytest.approx(lifted, abs=1e-9)
    wanted = expected(slider_crank, piston, 0.0, torque=lambda t, a, w: 5 * t, begin=lifted + 1e-9)
    np.testing.assert_allclose(found.table["crank.q"], wanted, atol=1e-6)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("beside", [0.0, 1e-9])
def test_a_four_bar_with_crank_and_coupler_in_line_rubs_in_its_rocker(beside):
    reach = fourbar.CRANK + fourbar.COUPLER
    start = np.arccos((reach**2 + fourbar.BASE**2 - fourbar.ROCKER**2) / (2 * reach * fourbar.BASE)) + beside
    found = denoc.run(scenario({"A0": start}), with_friction("four-bar"))
    wanted = expected(fourbar.inertia_and_weight, rocker, start)
    np.testing.assert_allclose(found.table["A0.q"], wanted, atol=1e-5)
    assert found.audit["energy"] < 1e-6


def test_runs_side_by_side_from_a_dead_centre_are_those_alone():
    robot, masses = with_friction("slider-crank"), [0.8, 0.9]
    together = denoc.ensemble(scenario({"crank": 0.0}), [{"robot.links.piston.mass": x} for x in masses], robot)
    wanted = expected(slider_crank, piston, 0.0)
    np.testing.assert_allclose(together[0].table["crank.q"], wanted, atol=1e-6)
    assert abs(together[1].table["crank.q"] - wanted).max() > 1e-3


# ---- stops at the end of a stroke


TURNING = {"time": {"end": 2.0, "step": 0.02}, "rates": {"crank": 10.0}}


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("friction", [0.0, 0.1])
def test_a_stop_at_the_end_of_the_stroke_presses_nothing(friction):
    """A stop that is reached without speed holds nothing; the run is the one without it, to the last event."""
    found, free = (
        denoc.run(scenario({"crank": 0.5}) | TURNING, with_friction("slider-crank", limits=limits, friction=friction))
        for limits in ([0.2, 0.4], None)
    )
    np.testing.assert_allclose(found.table["crank.q"], free.table["crank.q"], atol=1e-5)
    assert [one["event"] for one in found.record["events"]] == [one["event"] for one in free.record["events"]]
    assert free.table["crank.q"][-1] > 12.0


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("method", ["rkck", "rk56", "bdf"])
def test_whatever_the_steps_a_piston_that_rubs_passes_its_stops_at_both_ends(method):
    """Where its speed is 0, but for rounding between steps, it isn't brought to rest: the crank would be, too."""
    found, free = (
        denoc.run(
            scenario({"crank": 0.5}, solver={"at_singularity": "switch", "method": method}) | TURNING,
            with_friction("slider-crank", limits=limits),
        )
        for limits in ([0.2, 0.4], None)
    )
    np.testing.assert_allclose(found.table["crank.q"], free.table["crank.q"], atol=1e-4)
    assert np.ptp(found.table["crank.q"]) > 4.9


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("inside", [1e-8, 1e-5])
def test_a_stop_just_within_the_stroke_holds_the_crank(inside):
    robot = with_friction("slider-crank", limits=[0.2 + inside, 0.5], friction=0.0)
    found = denoc.run(scenario({"crank": 0.5}) | TURNING, robot)
    assert found.table["piston.q"].min() == pytest.approx(0.2 + inside, abs=1e-9)
    assert piston(found.table["crank.q"][-1]) == pytest.approx(0.2 + inside, abs=1e-9)
    assert not found.table["crank.qd"][-1]


def test_runs_side_by_side_pass_a_stop_at_the_end_of_the_stroke():
    """Of many masses, for rounding between steps takes some to the stop only; each is as it is alone."""
    robot = with_friction("slider-crank", limits=[0.2, 0.4], friction=0.1)
    variations = [{"robot.links.piston.mass": x} for x in np.linspace(0.8, 1.2, 40)]
    swinging = scenario({"crank": 0.5}) | TURNING | {"rates": {"crank": 3.0}}
    with using_backend("compiled"):
        for one, variation in [*zip(denoc.ensemble(swinging, variations, robot), variations)][11:14]:
            (alone,) = denoc.ensemble(swinging, [variation], robot)
            np.testing.assert_allclose(one.table["crank.q"], alone.table["crank.q"], atol=1e-9)
            assert [x["event"] for x in one.record["events"]] == [x["event"] for x in alone.record["events"]]
            assert "reaches its upper limit" not in {x["event"] for x in alone.record["events"]}
