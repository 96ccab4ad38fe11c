"""Events of many steps at once are those that are found step by step."""

from types import SimpleNamespace

import numpy as np
import pytest

from denoc.simulate.crossings import Steps, first_event_crossings
from denoc.simulate.events import Rule, first_event_crossing
from denoc.simulate.tableau import DORMAND_PRINCE

pytestmark = pytest.mark.smoke
COUNT, COMPONENTS, PLACES = 400, 3, (0, 1, 2, 3, 4, 0)  # behind the components there are two quantities


def behind(t, y):
    """Two quantities behind states."""
    return np.stack([np.sin(3 * y[..., 0] + t), y[..., 1] * y[..., 2] - t], axis=-1)


def drawn(seed):
    """Steps whose watches bend, fall and dip, some of them with rules that are none."""
    random, P = np.random.default_rng(seed), np.array(DORMAND_PRINCE.P)
    t_old = random.uniform(0, 2, COUNT)
    h = random.uniform(1e-3, 1, COUNT)
    stages = random.normal(size=(COUNT, len(P), COMPONENTS)) * 6 / h[:, None, None]
    y_old = random.normal(size=(COUNT, COMPONENTS))
    y = y_old + h[:, None] * np.einsum("sjc,jp->sc", stages, P)
    rules = np.zeros((COUNT, len(PLACES), 5))
    rules[..., 0] = random.choice([-1.0, 0.0, 1.0, 2.0], size=rules.shape[:2])
    rules[..., 1:3] = random.normal(size=(*rules.shape[:2], 2))
    rules[..., 3:] = random.uniform(0, 0.1, size=(*rules.shape[:2], 2))
    rules[rules[..., 0] == 0.0] = (0, 0, 1, 0, 0)
    quantities = lambda these, t, y: behind(t, y)  # noqa: E731
    return Steps(t_old, t_old + h, y_old, y, stages, P, np.array(PLACES), rules, quantities)


def alone(steps, k):
    """The first event of step k, by the search for one step."""
    h = steps.t[k] - steps.t_old[k]

    def between(t):
        powers = ((t - steps.t_old[k]) / h) ** np.arange(1, steps.P.shape[1] + 1)
        return steps.y_old[k] + h * steps.stages[k].T @ (steps.P @ powers)

    def watch(place, rule):
        return lambda t, y: rule(float(np.append(y, behind(t, y))[place]))

    functions = [watch(place, Rule(*numbers)) for place, numbers in zip(PLACES, steps.rules[k].tolist())]
    step = SimpleNamespace(t_old=steps.t_old[k], t=steps.t[k], y=steps.y[k], between=between)
    return first_event_crossing(functions, step)


@pytest.mark.parametrize("seed", range(3))
def test_the_first_events_of_many_steps_are_those_of_each(seed):
    steps = drawn(seed)
    at, watches = first_event_crossings(steps)
    expected = [alone(steps, k) or (np.nan, -1) for k in range(COUNT)]
    assert watches.tolist() == [watch for _, watch in expected]
    assert at == pytest.approx(np.array([t for t, _ in expected]), rel=1e-12, abs=1e-12, nan_ok=True)
    assert 50 < (watches >= 0).sum() < COUNT
    g = steps.samples()[1]
    (dips,) = np.nonzero(watches >= 0)
    deeper = [k for k in dips if (g[:, k, watches[k]] > 0).all()]
    assert deeper, "none of these has fallen between two samples and risen again"


def test_a_step_without_watches_that_fall_has_no_event():
    steps = drawn(0)
    steps.rules[:] = (0, 0, 1, 0, 0)
    at, watches = first_event_crossings(steps)
    assert np.isnan(at).all()
    assert (watches == -1).all()
