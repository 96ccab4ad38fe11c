"""The compiled time loop decides as the stepper does, step for step."""

from __future__ import annotations

import numpy as np
import pytest

from denoc.machine import native
from denoc.machine.choice import using
from denoc.machine.march import ACCEPTED, REACHED, REJECTED, TOO_SMALL, H, T, build
from denoc.machine.scalars import cosine_sine
from denoc.machine.trace import Recording
from denoc.scenario.run import carry_out, prepare
from denoc.simulate.integrate import RungeKutta, scheme
from denoc.simulate.tableau import DORMAND_PRINCE


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


def both(rate, y0, end, monkeypatch, lanes=8, **control):
    """The stepper, and the march begun with its first step."""
    monkeypatch.setattr(native, "lanes", lambda: lanes)
    options = {"rtol": 1e-8, "atol": 1e-10, "max_step": np.inf} | control
    stepper = RungeKutta(
        DORMAND_PRINCE,
        lambda t, y: np.array(rate(y.tolist()), dtype=float),
        0.0,
        np.array(y0),
        end,
        measured=3,
        **options,
    )
    march = build(lambda: program(rate), scheme(DORMAND_PRINCE), 4, 3, (), (rate.__name__,), False)
    march.begin(
        np.zeros(0),
        np.array(y0),
        T=0.0,
        H=stepper.wanted(),
        T_END=end,
        RTOL=options["rtol"],
        ATOL=options["atol"],
        MAX_STEP=options["max_step"],
    )
    return stepper, march


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize(
    "control", [{}, {"rtol": 1e-3, "atol": 1e-5}, {"max_step": 0.01}, {"rtol": 1e-11, "atol": 1e-13}]
)
def test_every_step_is_the_steppers(control, lanes, monkeypatch):
    stepper, march = both(swing, [3.0, 0.0, 1.0, 0.0], 4.0, monkeypatch, lanes, **control)
    none, room = np.zeros(0), march.rows(1)
    while stepper.t < 4.0:
        assert stepper.step() == ""
        rejected = march.control[REJECTED]
        march.go(none, room, 1)
        while march.control[ACCEPTED] < stepper.accepted:  # attempts that were rejected count as steps of the march
            march.go(none, room, 1)
        assert march.control[REJECTED] - rejected >= 0
        # where the error is hardly more than rounding, so is what it says of the next step: parts in a million of its
        # length; another decision would change it by per cents
        assert march.control[T] == pytest.approx(stepper.t, rel=1e-5)
        np.testing.assert_allclose(march.y[:4], stepper.y, rtol=1e-4, atol=1e-5)
        assert march.control[H] == pytest.approx(stepper.h, rel=1e-3)
    assert int(march.control[REJECTED]) == stepper.rejected
    assert march.go(none, room, 1) == REACHED


def test_rows_are_the_dense_output(monkeypatch):
    stepper, march = both(swing, [1.0, 0.0, 0.0, 0.0], 2.0, monkeypatch)
    grid = np.linspace(0.0, 2.0, 81)[1:]
    out = march.rows(len(grid))
    assert march.go(grid, out, 100_000) == REACHED
    expected = []
    while stepper.t < 2.0:
        stepper.step()
        expected += [
            stepper.y if t == stepper.t else stepper.between(t) for t in grid if stepper.t_old < t <= stepper.t
        ]
    np.testing.assert_allclose(out[:, :4], expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(out[:, 3], grid, rtol=1e-13)


def test_what_grows_beyond_all_bounds_stops(monkeypatch):
    _, march = both(blow_up, [1.0, 0.0, 0.0, 0.0], 2.0, monkeypatch)
    assert march.go(np.zeros(0), march.rows(1), 1_000_000) == TOO_SMALL
    assert march.control[T] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("name", ["puma-fall", "chain-fall", "spherical-arm-fall", "stanford-fall"])
def test_a_free_fall_is_the_same_either_way(name):
    found = {}
    for backend in ("plain", "compiled"):
        with using(backend):
            found[backend] = carry_out(prepare(name))
    plain, compiled = found["plain"], found["compiled"]
    assert compiled.ended == plain.ended == "done"
    assert compiled.audit["steps"] == plain.audit["steps"]
    energy = max(abs(plain.table[f"energy.{part}"]).max() for part in ("kinetic", "potential", "total"))
    for column, values in plain.table.items():
        scale = energy if column.startswith("energy") else max(1.0, abs(values).max())
        assert abs(compiled.table[column] - values).max() <= 1e-6 * scale, column
