"""Formulas: what they are read as, by Python's own arithmetic, and where their mistakes are."""

import math
import random

import numpy as np
import pytest

from denoc.machine.backend import native
from denoc.machine.jit import Kernel, llvm
from denoc.machine.program import Dual, Recording, count_operations, formula_value_on_scalars, python_function
from denoc.text.expressions.formula import (
    Number,
    Operation,
    formula_with_renamed_tables,
    lookups_in_formula,
    names_in_formula,
    parsed_formula,
)
from denoc.text.expressions.grammar import ExpressionError

# formula → the same in Python, with a, b for the names
SAME = {
    "a.q + 2*b.qd - 3": "a + 2*b - 3",
    "-a.q^2": "-a**2",
    "2 - -3 - a.q": "2 + 3 - a",
    "2 + --a.q - ---b.qd": "2 + a + b",
    "a.q/b.qd/2": "a/b/2",
    "a.q^-2 + b.qd^3": "a**-2 + b**3",
    "(a.q*a.q)^0.5": "math.sqrt(a*a)",
    "(a.q^2)^1.5": "abs(a)**3",
    "sin(a.q)*cos(b.qd) + tan(a.q)": "math.sin(a)*math.cos(b) + math.tan(a)",
    "abs(a.q) + sqrt(b.qd^2)": "abs(a) + abs(b)",
    "sign(a.q)*step(b.qd)": "math.copysign(1, a)*(b > 0)",
    "min(a.q, b.qd) - max(a.q, 0.5)": "min(a, b) - max(a, 0.5)",
    "clip(3*a.q, -1, 2)": "min(max(3*a, -1), 2)",
    "smoothstep(a.q)": "(lambda s: s*s*(3 - 2*s))(min(max(a, 0), 1))",
    "smoothstep(a.q, -2, 2)": "(lambda s: s*s*(3 - 2*s))(min(max((a + 2)/4, 0), 1))",
    "floor(3*a.q)": "math.floor(3*a)",
    "10 N m/rad * a.q - 5 mm": "10*a - 0.005",
    "90 deg + 2*pi + 30 rpm": "math.pi/2 + 2*math.pi + math.pi",
    "9.81 m/s^2 * 2 kg": "9.81*2",
    "a.q * 30 1/min - 6 / 2 1/s": "a*0.5 - 3",
    "2 1/s^2 + 1/a.q": "2 + 1/a",
    "step(0*a.q) + step(0)": "0.5 + 0.5",
    "{III-2^0.q}*{b x}": "a*b",
    "1e-3*a.q + .5": "0.001*a + 0.5",
    "t*t": "9",
}


def known(a, b):
    return {"a.q": a, "b.qd": b, "III-2^0.q": a, "b x": b, "t": 3.0}


@pytest.mark.parametrize("text", SAME)
def test_a_formula_means_the_same_as_in_python_on_all_scalars(text):
    dice, formula = random.Random(text), parsed_formula(text)
    points = [(dice.uniform(-2, 2), dice.uniform(-2, 2)) for _ in range(12)]
    wanted = [float(eval(SAME[text], {"math": math, "a": a, "b": b})) for a, b in points]
    assert [formula_value_on_scalars(formula, known(a, b), {}) for a, b in points] == pytest.approx(
        wanted, rel=1e-13, abs=1e-14
    )
    columns = formula_value_on_scalars(formula, known(*np.array(points).T), {})
    np.testing.assert_allclose(np.broadcast_to(columns, 12), wanted, rtol=1e-13, atol=1e-14)
    recording = Recording("formula")
    a, b = recording.input("x", 2)
    space = {}
    exec(
        "from math import cos, floor, sin, sqrt\n"
        + python_function(recording.program(y=[formula_value_on_scalars(formula, known(a, b), {})]), "f", ""),
        space,
    )
    assert [space["f"](point)[0] for point in points] == pytest.approx(wanted, rel=1e-13, abs=1e-14)
    for a, b in points:  # derivatives along a
        h = 1e-6
        ends = [float(eval(SAME[text], {"math": math, "a": a + x, "b": b})) for x in (-h, h)]
        dual = formula_value_on_scalars(formula, known(Dual(a, {0: 1.0}), Dual(b)), {})
        slope = dual.parts.get(0, 0.0) if isinstance(dual, Dual) else 0.0
        assert slope == pytest.approx((ends[1] - ends[0]) / (2 * h), rel=1e-6, abs=1e-6)


def test_constants_are_folded():
    recording = Recording("formula")
    (a,) = recording.input("x", 1)
    program = recording.program(y=[formula_value_on_scalars(parsed_formula("3*(2 + 5 mm)*a.q"), {"a.q": a}, {})])
    assert count_operations(program.results()).multiplications == 1


@pytest.mark.parametrize(
    "text",
    ["sin(2)*cos(1) + tan(0.5)", "abs(-2) - floor(-1.5)", "min(2, 1) + max(3, clip(7, 4, 5)) + step(2) - sign(-3)"],
)
def test_functions_of_constants_are_constants(text):
    known = {name: getattr(math, name) for name in ("sin", "cos", "tan", "floor")}
    known |= {"clip": lambda x, a, b: min(max(x, a), b), "step": lambda x: x > 0, "sign": lambda x: math.copysign(1, x)}
    assert parsed_formula(text) == Number(pytest.approx(eval(text, known), rel=1e-15))
    assert isinstance(parsed_formula("clip(2, 1, q)"), Operation)  # whose upper end isn't known


@pytest.mark.parametrize("text", ["step(sqrt(b.qd))", "sign(a.q*sqrt(b.qd))", "2/(0*b.qd)", "tan(b.qd)/(0*a.q)"])
@pytest.mark.parametrize("scalars", ["numbers", "arrays", "compiled"])
def test_what_is_no_number_stays_none(text, scalars):
    """Infinite or NaN, instead of an exception or of a number that looks right."""
    formula, a, b = parsed_formula(text), np.array([0.5, 0.25]), np.array([-1.0, -2.0])
    if scalars == "compiled":
        recording = Recording("formula")
        program = recording.program(y=[formula_value_on_scalars(formula, known(*recording.input("x", 2)), {})])
        code = native.Loaded(native.compile_ir(llvm.kernel_ir(program, 2, "kernel")))
        (rows,), _, _ = Kernel(code, "kernel", [2], [1], 2)(np.array([a, b]).T.copy())
        value = rows.ravel()
    else:
        with np.errstate(all="ignore"):
            value = formula_value_on_scalars(formula, known(0.5, -1.0) if scalars == "numbers" else known(a, b), {})
    assert not np.isfinite(np.broadcast_to(value, 2)).any()


def test_names_and_tables_of_a_formula():
    formula = parsed_formula("lookup('gas.csv', a.q - {b.q}, \"force\", periodic, pchip)*a.q + t")
    assert [(one.name, one.position) for one in names_in_formula(formula)] == [("a.q", 18), ("b.q", 24), ("t", 63)]
    (table,) = lookups_in_formula(formula)
    assert (table.file, table.column, table.interpolation, table.periodic) == ("gas.csv", "force", "pchip", True)
    assert formula_with_renamed_tables(
        "2*lookup('a.csv', q, 'a.csv') + lookup( \"b.csv\" , q)", {"a.csv": "x-a.csv", "b.csv": "c"}
    ) == ('2*lookup("x-a.csv", q, \'a.csv\') + lookup( "c" , q)')


@pytest.mark.parametrize(
    "text, message, position",
    [
        ("", "empty", 0),
        ("5 *", "ends too early", 3),
        ("sin 3", "needs its arguments in parentheses", 0),
        ("1 + sine(2)", "did you mean `sin`", 4),
        ("a.q b.q", "can't follow here; is an operator", 4),
        ("2 t", "can't follow here", 2),
        ("lookup(x)", "a file in quotes first", 7),
        ("lookup('f.csv')", "looked up over", 14),
        ("lookup('f.csv', q, cubic)", "`cubic` isn't one of", 19),
        ("lookup('f.csv', q", "closing parenthesis is missing", 6),
        ("q^qd", "an exponent is a number such as", 1),
        ("q^1.3", "an exponent is a number such as", 1),
        ("2 um^-64", "the value must be a finite real number", 4),
        ("q + '('", "a number or a name is missing before `(`", 4),
        ("1/0", "division by zero", 1),
        ("q/(sqrt(4) - 2)", "division by zero", 1),
        ("1 + sqrt(-1)", "finite real number", 4),
        ("clip(q, 2)", "`clip` takes 3 arguments, not 2", 0),
        ("clip(q, 2, 1)", "`clip` has 2 as its lower end and 1 as its upper one", 0),
        ("2*smoothstep(t, 2, 4/2)", "begins where it ends", 2),
        ("{q", "a brace that isn't closed", 0),
        ("q; import", "`;` has no meaning here", 1),
        ("9^64*9^64*9^64*9^64*9^64*9^64", "finite", 24),
        ("(-2)^0.5", "finite real number", 4),
        ("(" * 99, "nested too deep", 50),
        ("q" * 3000, "at most 2000 are read", 0),
    ],
)
def test_mistakes_and_their_places(text, message, position):
    with pytest.raises(ExpressionError) as error:
        parsed_formula(text)
    assert message in str(error.value)
    assert error.value.position == position
