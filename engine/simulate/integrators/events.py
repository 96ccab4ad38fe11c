"""Events: instants at which a function of time and state stops being positive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...machine.loops import place_of_dip, zero_crossing
from .stepper import Stepper

Event = Callable[[float, np.ndarray], float]


class Rule(NamedTuple):
    """A function of one quantity x, which compiled code evaluates as well: factor (x − zero), and a little more."""

    factor: float
    zero: float = 0.0
    slack: float = 0.0
    share: float = 0.0  # of the size of x, or of `floor` if that is more, which is added as slack
    floor: float = 0.0

    def __call__(self, x: float) -> float:
        return self.factor * (x - self.zero) + self.slack + self.share * max(abs(x), self.floor)


# what a rule reads: a place of the `state`, or the `support` or the `demand` of a speed
Source = tuple[str, int]


class Watch(NamedTuple):
    """A quantity of which a rule is watched, and the event that its zero means for a speed."""

    source: Source
    what: str
    speed: int
    direction: float


class Watched(NamedTuple):
    """A watch with the rule that it has in the present modes, and the two as an event function."""

    watch: Watch
    rule: Rule
    function: Event


def event_crossing(
    g: Callable[[float], float], t0: float, g0: float, t1: float, g1: float, tolerance: float = 0.0
) -> float:
    """The instant just behind a change of sign of g between t0 and t1, where g has its new sign already.

    Exactly one of g0 = g(t0) and g1 = g(t1) must be positive; zero counts as not positive. The change lies before the
    returned instant by less than `tolerance`, or the spacing of floats. Of several changes, any one may be returned.
    """
    return float(zero_crossing(lambda t, going: float(g(t)), t0, float(g0), t1, float(g1), True, tolerance))


def first_event_crossing(
    functions: Sequence[Event], stepper: Stepper, samples: int = 4, tolerance: float = 0.0
) -> tuple[float, int] | None:
    """The instant of the first event in the stepper's last step and the index of its function, or None.

    A function g(t, y) fires when it goes from positive to zero or below. The returned instant lies just behind: a run
    that goes on from `stepper.between(t)` (at the step's end, from `stepper.y`) starts with g <= 0, so the same event
    can't fire twice.

    The step is sampled at the ends of `samples` equal parts and, where three samples in a row bend towards a dip below
    zero, also in that dip; a dip far narrower than a part is missed. The state at the end of the step is the settled
    one, from which the next step starts.
    """
    if not functions or stepper.t == stepper.t_old:
        return None
    start, length = stepper.t_old, stepper.t - stepper.t_old
    t0, y0 = start, stepper.between(start)
    seen = [(t0, [g(t0, y0) for g in functions])]
    for part in range(1, samples + 1):
        last = part == samples
        t1 = stepper.t if last else start + length * part / samples
        if not last and not seen[-1][0] < t1 < stepper.t:
            continue  # a step of only a few floating-point spacings has fewer parts
        y1 = stepper.y if last else stepper.between(t1)
        seen = [*seen[-2:], (t1, [g(t1, y1) for g in functions])]
        fired = []
        for i, function in enumerate(functions):
            points = [(t, g[i]) for t, g in seen]
            if points[-2][1] > 0:
                below = points[-1] if not points[-1][1] > 0 else _dip(function, stepper, points)
                if below is not None:
                    above = max((t, g) for t, g in points if t < below[0])
                    fired.append((_located(function, stepper, *above, *below, tolerance), i))
        if fired:
            return min(fired)
    return None


def _dip(function: Event, stepper: Stepper, points: list[tuple[float, float]]) -> tuple[float, float] | None:
    """An instant between three points with positive values where the function isn't, if parabolas lead to one."""
    if len(points) < 3 or not all(g > 0 for _, g in points):
        return None
    (ta, ga), (tb, gb), (tc, gc) = ((t, float(g)) for t, g in points)
    under, t, g = place_of_dip(lambda t, going: float(function(t, stepper.between(t))), ta, ga, tb, gb, tc, gc, True)
    return (t, g) if under else None


def _located(function: Event, stepper: Stepper, t0: float, g0: float, t1: float, g1: float, tolerance: float) -> float:
    return event_crossing(lambda t: function(t, stepper.between(t)), t0, g0, t1, g1, tolerance)
