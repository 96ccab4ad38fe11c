"""Tables over any quantity: their curves are scipy's, at the rows, between them, outside and from period to period."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator, make_interp_spline

import denoc
from denoc.errors import InputError
from denoc.laws.lookup import law_polynomials_through_rows, law_table_polynomials
from denoc.machine.program import Curve
from denoc.text.expressions import Lookup, Named

X = np.sort(np.append(np.random.default_rng(2).uniform(0.05, 2 * np.pi - 0.05, 30), [0.0, 2 * np.pi]))
Y = 3 * np.sin(X) + np.cos(3 * X)
Y[-1] = Y[0]


def curve(how, periodic):
    made = law_polynomials_through_rows(X, Y, how, periodic)
    return Curve(made.ends, made.coefficients, made.start, periodic)


def own(how, periodic):
    """The same by scipy, on a table of three periods where that makes a difference."""
    if how == "spline":
        return make_interp_spline(X, Y, k=5, bc_type="periodic" if periodic else None)
    x, y = np.concatenate([X[:-1] - 2 * np.pi, X, X[1:] + 2 * np.pi]), np.concatenate([Y[:-1], Y, Y[1:]])
    if not periodic:
        x, y = X, Y
    return PchipInterpolator(x, y) if how == "pchip" else make_interp_spline(x, y, k=1)


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("how", ["spline", "pchip", "linear"])
def test_a_table_is_scipy_s_curve(how, periodic):
    at = np.linspace(-9.0, 20.0, 400)
    inside = at % (2 * np.pi) if periodic else np.clip(at, 0.0, 2 * np.pi)
    values = curve(how, periodic).at(at)
    np.testing.assert_allclose(values, own(how, periodic)(inside), atol=3e-14)
    np.testing.assert_array_equal([curve(how, periodic).at(float(x)) for x in at[::40]], values[::40])
    np.testing.assert_allclose(curve(how, periodic).at(X), Y, atol=3e-14)


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 6])
def test_short_tables(rows):
    x = np.arange(rows) * 0.5
    polynomial = np.polynomial.Polynomial(np.arange(1.0, min(rows, 4 if rows < 6 else 6) + 1))
    made = law_polynomials_through_rows(x, polynomial(x), "spline", False)
    at = np.linspace(0, x[-1], 17)
    np.testing.assert_allclose(Curve(made.ends, made.coefficients, made.start).at(at), polynomial(at), rtol=1e-11)


@pytest.mark.parametrize(
    "text, message",
    [
        ("x,y\n0,1\n1,2\n2,1.1\n", "ends with the value that it begins with"),
        ("x,y\n0,1\n0,2\n", "`x` must grow"),
        ("x\n0\n1\n", "no such column"),
        ("x,y\n" + "".join(f"{k},0\n" for k in range(1001)), "1000 rows at most"),
    ],
)
def test_tables_that_are_none(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        law_table_polynomials(Lookup("t.csv", Named("q"), periodic=True), tmp_path)


def test_what_a_table_needs_is_said_of_tables_over_anything(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n0,1\n")
    with pytest.raises(InputError) as error:
        law_table_polynomials(Lookup("t.csv", Named("q")), tmp_path)
    assert error.value.allowed == "a header line with names, then one line for each value of its first column"


def test_a_spline_that_leaves_its_rows_is_doubted(tmp_path):
    """Between a flat and a steep part; the curve of the law itself goes below all rows there."""
    (tmp_path / "t.csv").write_text("x,y\n0,0\n1,0\n2,0\n3,10\n4,10\n")
    scenario = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.05}}
    law = {"law": "lookup", "file": str(tmp_path / "t.csv")}
    doubts = denoc.run({**scenario, "forces": {"joint1": law}}).record["warnings"]
    assert "the spline through the second column" in doubts[0]
    assert "`pchip` or `linear` stays within" in doubts[0]
    made = law_table_polynomials(Lookup("t.csv", Named("q")), tmp_path)
    assert min(Curve(made.ends, made.coefficients, made.start).at(x) for x in np.linspace(0, 4, 99)) < -0.05 * 10
    steady = {**law, "interpolation": "pchip"}
    assert not denoc.run({**scenario, "forces": {"joint1": steady}}).record["warnings"]


def test_the_second_column_is_looked_up_by_itself_and_another_by_name(tmp_path):
    (tmp_path / "t.csv").write_text("x,t,z\n0,1,5\n1,2,6\n")  # a column `t` is no time here
    assert law_table_polynomials(Lookup("t.csv", Named("q")), tmp_path).start == 1.0
    assert law_table_polynomials(Lookup("t.csv", Named("q"), "z"), tmp_path).start == 5.0
