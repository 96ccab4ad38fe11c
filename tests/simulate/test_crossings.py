"""Events of many steps at once are those that are found step by step."""

from types import SimpleNamespace

import numpy as np
import pytest

from denoc.machine.loops.dense import PARTS, between, first_event, look, value_within
from denoc.machine.loops.words import given
from denoc.simulate.integrators.events import Rule, first_event_crossing
from denoc.simulate.integrators.tableau import DORMAND_PRINCE

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
    return SimpleNamespace(t_old=t_old, t=t_old + h, y_old=y_old, y=y, stages=stages, P=P, rules=rules)


def together(steps):
    """The first events of all steps by the text, on arrays; the values of all watches at the ends of the steps' parts."""
    whole = np.zeros((COMPONENTS + 2, COUNT))
    watch = SimpleNamespace(count=len(PLACES), deep=1, places=PLACES, rules=steps.rules.transpose(1, 2, 0), all=whole)
    vars(watch).update(state=whole[:COMPONENTS], behind=whole[COMPONENTS:])
    watch.values = np.zeros((len(PLACES), PARTS + 1, COUNT))
    system, method = SimpleNamespace(quantities=lambda t, y: behind(t, y.T).T), SimpleNamespace(P=steps.P)
    K, y, new, step = steps.stages.transpose(1, 2, 0), steps.y_old.T, steps.y.T, steps.t - steps.t_old
    with np.errstate(all="ignore"):
        for k in range(PARTS + 1):
            state = new if k == PARTS else between(method, np.full(COUNT, k / PARTS), step, y, K)
            look(system, watch, k, steps.t if k == PARTS else steps.t_old + step * (k / PARTS), state)
        value = given(value_within, method, system, watch, K, y, new, steps.t_old, steps.t, step)
        seen = np.ones(COUNT, dtype=bool)
        at, which = first_event(watch.count, watch.values, value, steps.t_old, steps.t, step, seen)
    return np.where(which < 0.0, np.nan, at), which.astype(int), watch.values


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
    at, watches, values = together(steps)
    expected = [alone(steps, k) or (np.nan, -1) for k in range(COUNT)]
    assert watches.tolist() == [watch for _, watch in expected]
    assert at == pytest.approx(np.array([t for t, _ in expected]), rel=1e-12, abs=1e-12, nan_ok=True)
    assert 50 < (watches >= 0).sum() < COUNT
    (dips,) = np.nonzero(watches >= 0)
    deeper = [k for k in dips if (values[watches[k], :, k] > 0).all()]
    assert deeper, "none of these has fallen between two samples and risen again"


def test_a_step_without_watches_that_fall_has_no_event():
    steps = drawn(0)
    steps.rules[:] = (0, 0, 1, 0, 0)
    at, watches, _ = together(steps)
    assert np.isnan(at).all()
    assert (watches == -1).all()
