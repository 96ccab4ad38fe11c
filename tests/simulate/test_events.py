"""Events: found where they are known to be, the first first, and never twice."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoc.simulate.integrators.events import event_crossing, first_event_crossing
from denoc.simulate.integrators.integrate import INTEGRATORS, stepper_of_integrator

pytestmark = pytest.mark.smoke


def counted(g):
    def inner(t):
        inner.calls += 1
        return g(t)

    inner.calls = 0
    return inner


# functions of [0, 1] with one change of sign each, at `root`: easy, flat, steep, stepped, half infinite
SHAPES = {
    "line": lambda t, root: root - t,
    "rising": lambda t, root: t - root,
    "cubic": lambda t, root: (root - t) ** 3,
    "flat": lambda t, root: (root - t) ** 15,
    "exponential": lambda t, root: math.exp(-40 * t) - math.exp(-40 * root),
    "root": lambda t, root: math.copysign(math.sqrt(abs(root - t)), root - t),
    "jump": lambda t, root: 1.0 if t < root else -1e-9,
    "jump to zero": lambda t, root: 1.0 if t < root else 0.0,
    "pole": lambda t, root: 1 / (root - t) if t != root else math.inf,
    "to minus infinity": lambda t, root: 1.0 if t < root else -math.inf,
    "to nan": lambda t, root: 1.0 if t < root else math.nan,
}


@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None, derandomize=True, max_examples=40)
@given(root=st.floats(0.001, 0.999), tolerance=st.sampled_from([1e-3, 1e-9, 1e-13, 0.0]))
def test_crossing_brackets_the_change_of_sign(shape, root, tolerance):
    g = counted(lambda t: SHAPES[shape](t, root))
    g0, g1 = SHAPES[shape](0.0, root), SHAPES[shape](1.0, root)
    t = event_crossing(g, 0.0, g0, 1.0, g1, tolerance)
    width = max(tolerance, 2 * math.ulp(1.0))
    assert (SHAPES[shape](t, root) > 0) == (g1 > 0)
    assert (SHAPES[shape](max(t - 1.01 * width, 0.0), root) > 0) == (g0 > 0)
    assert g.calls <= math.ceil(math.log2(1 / width)) + 2  # bisection, and two more


def test_crossing_is_quick_on_smooth_functions():
    g = counted(lambda t: math.cos(t) - t)
    t = event_crossing(g, 0.0, 1.0, 1.0, math.cos(1.0) - 1, 1e-14)
    assert t == pytest.approx(0.7390851332151607, abs=2e-14)
    assert g.calls < 15


def test_bouncing_ball():
    # dropped from 1 m, with restitution 0.7: bounces at T (1, 1 + 2e, 1 + 2e + 2e², …)
    g, restitution = 9.81, 0.7
    instants, t, y = [], 0.0, np.array([1.0, 0.0])
    while len(instants) < 6:
        stepper = stepper_of_integrator("rk45", lambda t, y: np.array([y[1], -g]), t, y, 10)
        found = None
        while found is None:
            assert stepper.step() == ""
            found = first_event_crossing([lambda t, y: y[0]], stepper, samples=32)
        t = found[0]
        y = stepper.between(t)
        assert y[0] <= 0
        instants.append(t)
        y = np.array([y[0], -restitution * y[1]])
    flights = math.sqrt(2 / g) * np.array([1.0] + [2 * restitution**k for k in range(1, 6)])
    np.testing.assert_allclose(instants, np.cumsum(flights), atol=1e-12, rtol=0)


def parabola(samples, depth, functions=None):
    """Runs y = (t − 1)² − depth from 0 to 3, in one step after some short ones, until an event."""
    stepper = stepper_of_integrator("rk45", lambda t, y: np.array([2 * (t - 1)]), 0, np.array([1 - depth]), 3)
    found = None
    while found is None and stepper.t < 3:
        assert stepper.step() == ""
        found = first_event_crossing(functions or [lambda t, y: y[0]], stepper, samples=samples)
    return found


@pytest.mark.parametrize("samples", [4, 256])
@pytest.mark.parametrize("depth", [9e-4, 1e-6, 1e-12])
def test_grazing(samples, depth):
    # a dip between two samples: the first of its two ends is the event
    found = parabola(samples, depth)
    assert found[0] == pytest.approx(1 - math.sqrt(depth), abs=1e-9)
    assert found[0] < 1
    assert parabola(samples, -depth) is None


def test_grazing_of_what_is_no_parabola():
    for width in (1.5, 0.8):
        found = parabola(4, -1, [lambda t, y, w=width: 1 - 1.001 * math.exp(-(((t - 1.3) / w) ** 2))])
        assert found[0] == pytest.approx(1.3 - width * math.sqrt(math.log(1.001)), abs=1e-9)
        assert parabola(4, -1, [lambda t, y, w=width: 1 - 0.999 * math.exp(-(((t - 1.3) / w) ** 2))]) is None
    # far narrower than a sample: passed over, as the documentation says
    assert parabola(4, -1, [lambda t, y: 1 - 2 * math.exp(-(((t - 1.3) / 1e-3) ** 2))]) is None


def test_first_of_several_events_in_a_step():
    functions = [lambda t, y, at=at: at - t for at in (2.9, 2.3, 2.31, 2.3, 5.0)]
    functions.append(lambda t, y: t - 2.2)  # rising: no event
    t, index = parabola(4, depth=-1, functions=functions)
    assert index == 1
    assert t == pytest.approx(2.3, abs=1e-12)


def test_events_of_one_sample_come_in_order_of_time():
    ends = [0.52, 0.51, 0.515]
    stepper = stepper_of_integrator("rk45", lambda t, y: 0 * y, 0, np.ones(1), 1, max_step=1)
    while stepper.t < 0.4 or stepper.t_old > 0.4:
        stepper.step()
    while True:
        found = first_event_crossing([lambda t, y, at=at: at - t for at in ends], stepper, samples=1)
        if found:
            break
        stepper.step()
    assert found == (pytest.approx(0.51, abs=1e-12), 1)


def test_states_are_interpolated_once_for_all_functions():
    stepper = stepper_of_integrator("rk45", lambda t, y: -y, 0, np.ones(1), 1)
    stepper.step()
    asked, between = [], stepper.between
    stepper.between = lambda t: asked.append(t) or between(t)
    assert first_event_crossing([lambda t, y: y[0]] * 5, stepper, samples=4) is None
    assert len(asked) == len(set(asked)) == 4


def test_an_event_that_has_just_fired_does_not_fire_again():
    def dive(t, y):
        return np.array([y[1], -1.0])

    stepper = stepper_of_integrator("rk45", dive, 0, np.array([1.0, 0.0]), 5)
    found = None
    while found is None:
        stepper.step()
        found = first_event_crossing([lambda t, y: y[0]], stepper)
    assert found[0] == pytest.approx(math.sqrt(2), abs=1e-12)
    again = stepper_of_integrator("rk45", dive, found[0], stepper.between(found[0]), 5)
    while again.t < 5:
        again.step()
        assert first_event_crossing([lambda t, y: y[0]], again) is None


def test_a_settled_end_counts():
    stepper = stepper_of_integrator("rk4", lambda t, y: 0 * y, 0, np.array([1e-12]), 1, step=0.1)
    stepper.step()
    assert first_event_crossing([lambda t, y: y[0]], stepper) is None
    stepper.settle(np.array([-1e-12]))
    assert first_event_crossing([lambda t, y: y[0]], stepper)[0] == stepper.t


def test_nothing_to_watch_and_nothing_stepped():
    stepper = stepper_of_integrator("rk45", lambda t, y: -y, 0, np.ones(1), 1)
    assert first_event_crossing([lambda t, y: y[0] - 2], stepper) is None
    stepper.step()
    assert first_event_crossing([], stepper) is None


@pytest.mark.parametrize("name", INTEGRATORS)
def test_every_method_finds_the_lowest_point_of_a_pendulum(name):
    angle = 0.1  # small, so that the quarter period is almost π/2; its series is known
    quarter = math.pi / 2 * (1 + angle**2 / 16 + 11 * angle**4 / 3072 + 173 * angle**6 / 737280)
    stepper = stepper_of_integrator(
        name,
        lambda t, y: np.array([y[1], -math.sin(y[0])]),
        0,
        np.array([angle, 0.0]),
        3,
        rtol=1e-9,
        atol=1e-12,
        step=0.01,
    )
    found = None
    while found is None:
        assert stepper.step() == ""
        found = first_event_crossing([lambda t, y: y[0]], stepper)
    assert found[0] == pytest.approx(quarter, abs=1e-5)


def test_a_step_of_a_few_spacings():
    """Parts of so short a step coincide; an event in it is found all the same."""

    class Short:
        t_old, t = 1.0, math.nextafter(math.nextafter(1.0, 2.0), 2.0)
        y = np.array([-1.0])

        def between(self, t):
            return np.array([1.0 if t < self.t else -1.0])

    found = first_event_crossing([lambda t, y: float(y[0]), lambda t, y: 1.0], Short())
    assert found == (Short.t, 0)
    assert first_event_crossing([lambda t, y: 1.0], Short()) is None
