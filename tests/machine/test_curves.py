"""Functions of time become polynomials piece by piece: the same numbers to rounding, in every lane of compiled code."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from denoc.machine.jit import polynomials
from denoc.machine.jit.polynomials import EMPTY, fitted_signal_pieces
from denoc.machine.program.recording import Recording
from denoc.machine.stepping import build_compiled_loop
from denoc.simulate.integrators import integrator_scheme
from denoc.simulate.integrators.tableau import DORMAND_PRINCE

ROWS = np.array([0.0, 0.31, 0.5, 0.62, 1.0, 1.4, 1.77, 2.0])
SPLINE = make_interp_spline(ROWS, np.cos(7 * ROWS), k=5)


def smooth(t):
    """Six functions, one of them constant, and one with a frequency that needs many pieces."""
    return np.stack([np.sin(3 * t + 1), 0 * t + 0.7, t**3 - t, np.exp(-t), np.cos(200 * t), 1e6 * np.sin(t)], axis=1)


def evaluated(fit, functions, times, lanes):
    """What compiled code makes of the pieces: a program whose rate is its signals, at instants that differ by lane."""

    def program():
        recording = Recording("signals")
        u = recording.input("u", functions)
        recording.input("y", functions)
        return recording.program(rate=u)

    march = build_compiled_loop(
        program, integrator_scheme(DORMAND_PRINCE), functions, functions, (), lanes, ("signals", str(functions)), False
    )
    found = np.empty((len(times), functions))
    for first in range(0, len(times), lanes):
        here = times[first : first + lanes]
        at = np.resize(here, lanes)
        march.begin(np.full((lanes, functions), 0.7), np.zeros((lanes, functions)), fit, T=at, T_END=9.0, H=1e-3)
        found[first : first + lanes] = march._stages[0].T[: len(here)]
    return found


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_smooth_functions_are_good_to_rounding(lanes):
    fit = fitted_signal_pieces(smooth, 0.0, 2.0, (), np.inf)
    assert fit.columns[:5].tolist() == [0, 2, 3, 4, 5]  # not the constant one
    times = np.append(np.random.default_rng(lanes).uniform(0, 2, 64), [0.0, 2.0])
    found, right = evaluated(fit, 6, times, lanes), smooth(times)
    assert (abs(found - right) <= 8e-15 * abs(right).max(axis=0) * np.array([1, 1, 1, 1, 50, 1])).all()


def test_a_break_ends_a_piece():
    """A jump is exact on both sides of a break; a spline needs no more pieces than it has parts."""

    def both(t):
        return np.stack([np.where(t < 0.62, t, 2 - t), SPLINE(t)], axis=1)

    fit = fitted_signal_pieces(both, 0.0, 2.0, ROWS[1:-1], np.inf)
    assert fit.starts.tolist() == ROWS[:-1].tolist()
    times = np.concatenate([np.linspace(0, 2, 41), [0.62 - 1e-13, 0.62 + 1e-13]])
    times = times[abs(times - 0.62) > 1e-14]
    np.testing.assert_allclose(evaluated(fit, 2, times, 1), both(times), rtol=0, atol=1e-14)


def test_kinks_that_nobody_names_are_found():
    fit = fitted_signal_pieces(lambda t: abs(t - 0.37)[:, None], 0.0, 2.0, (), np.inf)
    times = np.linspace(0, 2, 101)
    np.testing.assert_allclose(evaluated(fit, 1, times, 1)[:, 0], abs(times - 0.37), rtol=0, atol=1e-12)


def test_what_never_settles_is_given_up():
    noise = np.random.default_rng(0)
    assert fitted_signal_pieces(lambda t: noise.normal(size=(len(t), 1)), 0.0, 1.0, (), np.inf) is None
    assert fitted_signal_pieces(lambda t: np.full((len(t), 1), np.nan), 0.0, 1.0, (), np.inf) is None
    assert fitted_signal_pieces(smooth, 0.0, 2.0, (), 2.0 / (2 * polynomials.MOST)) is None


def test_constant_functions_need_no_pieces():
    assert fitted_signal_pieces(lambda t: np.ones((len(t), 3)), 0.0, 1.0, (), np.inf) is EMPTY


def test_no_piece_is_longer_than_allowed():
    fit = fitted_signal_pieces(smooth, 0.0, 2.0, (), 0.03)
    assert np.diff(np.append(fit.starts, 2.0)).max() <= 0.03 * (1 + 1e-12)
