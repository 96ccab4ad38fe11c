"""Plots of studies: what is drawn follows from what varies."""

import numpy as np
import pytest

from denoc.record.study_plots import Sweep, figure_of_pareto_front, figure_of_search_progress, figures_of_study

X = np.array([3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
WORDS = ["rk45"] * 3 + ["rk56"] * 3
Y = np.array([9.0, 1.0, 4.0, 27.0, 1.0, np.nan])


def drawn(numbers, words, outputs):
    return figures_of_study(Sweep("title", numbers, words, outputs, {"x": "kg", "y": "m", "z": "1"}))


def test_one_number_gives_a_curve_for_each_word():
    figure = drawn({"x": X}, {"way": WORDS}, {"y": Y})["y"]
    (axes,) = figure.axes
    first, second, crosses = axes.get_lines()
    assert [line.get_label() for line in (first, second)] == ["way rk45", "way rk56"]
    assert first.get_xydata().tolist() == [[1, 1], [2, 4], [3, 9]]
    assert (crosses.get_xdata().tolist(), crosses.get_marker()) == ([2], "x")  # of the run without a value
    assert axes.get_ylim()[1] > 27  # crosses lie at the edge, and stretch no axis
    assert axes.get_ylim()[0] == pytest.approx(1 - 0.05 * 26)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (kg)", "y (m)")


def test_a_full_grid_of_two_gives_contours_and_marks_runs_without_a_value():
    z = np.repeat([5.0, 6.0], 3)
    figure = drawn({"x": X, "z": z}, {}, {"y": Y})["y"]
    axes, bar = figure.axes
    (crosses,) = axes.get_lines()
    assert crosses.get_xydata().tolist() == [[2, 6]]
    assert (axes.get_xlabel(), axes.get_ylabel(), bar.get_ylabel()) == ("x (kg)", "z", "y (m)")


@pytest.mark.parametrize("count", [5, 6])
def test_anything_else_gives_points_over_each_number(count):
    numbers = {"x": X[:count], "z": np.arange(6.0)[:count]}
    figure = drawn(numbers, {}, {"y": Y[:count]})["y"]
    assert len(figure.axes) == 2
    for axes, x in zip(figure.axes, numbers.values()):
        points = axes.collections[0].get_offsets()
        known = np.isfinite(Y[:count])
        assert np.asarray(points[:, 0])[known].tolist() == x[known].tolist()
        assert points[0, 1] == Y[0]
        assert [line.get_xdata().tolist() for line in axes.get_lines()] == [x[~known].tolist()] * (count == 6)


def test_an_output_without_values_or_numbers_gives_nothing():
    assert drawn({"x": X}, {}, {"y": np.full(6, np.nan)}) == {}
    assert drawn({}, {"way": WORDS}, {"y": Y}) == {}


def test_runs_without_values_are_in_no_front_and_named_beside_it():
    sweep = Sweep("title", {"x": X}, {}, {"y": Y, "z": np.arange(6.0)}, {})
    figure = figure_of_pareto_front(sweep, {"y": "min", "z": "min"}, np.array([True] + [False] * 5))
    (axes,) = figure.axes
    assert len(axes.collections[0].get_offsets()) == 4
    assert axes.get_lines()[-1].get_label().startswith("1 not drawn")


def test_a_constant_output_can_be_drawn(tmp_path):
    z = np.repeat([5.0, 6.0], 3)
    figure = drawn({"x": X, "z": z}, {}, {"y": np.ones(6)})["y"]
    figure.savefig(tmp_path / "constant.png")
    assert figure.axes[0].collections


def test_progress_is_seen_beside_steps_that_are_a_thousand_times_worse():
    values = np.array([0.9, 860.0, 0.6, np.nan, 0.4, -40.0, 0.35, 0.31, 0.32, 0.3])
    allowed = np.arange(10) != 5  # the one below all others is outside of the limits
    (axes,) = figure_of_search_progress("title", "y (m)", values, allowed).axes
    low, high = axes.get_ylim()
    assert 0.1 < low < 0.3
    assert 0.9 < high < 2.5
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert lines["within limits"].get_xdata().tolist() == [0, 2, 4, 6, 7, 8, 9]
    assert lines["farther, to 860"].get_xydata().tolist() == [[1, 1]]  # at the upper edge
    assert lines["farther, to -40"].get_xydata().tolist() == [[5, 0]]
    assert "outside" in lines
    assert lines["least so far"].get_ydata()[-1] == 0.3


@pytest.mark.parametrize("values", [[2.0, 2.0], [np.nan, np.nan], [0.0, 0.0], [1.0, np.nan]])
def test_progress_has_a_range_whatever_the_values(values):
    for allowed in (True, False):
        (axes,) = figure_of_search_progress("title", "y", np.array(values), np.array([allowed] * 2)).axes
        low, high = axes.get_ylim()
        assert low < high
        assert all(low < x < high for x in values if x == x)
