"""Expressions: values against Python's own arithmetic, dimensions, and every way to be wrong."""

import copy
import math
import pickle
import re
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoc.text.expressions.expression import Quantity, evaluate_expression, si_value_of_quantity
from denoc.text.expressions.grammar import ExpressionError
from denoc.text.expressions.units import DIMENSIONS, UNITS
from limits import run_within

pytestmark = pytest.mark.smoke

steady = settings(deadline=None, derandomize=True)
PI = math.pi


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("90 deg", PI / 2, (0, 0, 0, 1)),
        ("90°", PI / 2, (0, 0, 0, 1)),
        ("pi/2", PI / 2, (0, 0, 0, 0)),
        ("-pi/2", -PI / 2, (0, 0, 0, 0)),
        ("-2*pi/3", -2 * PI / 3, (0, 0, 0, 0)),
        ("45 rpm", 1.5 * PI, (0, 0, -1, 1)),
        ("45 rev/min", 1.5 * PI, (0, 0, -1, 1)),
        ("50 mm", 0.05, (1, 0, 0, 0)),
        ("50mm", 0.05, (1, 0, 0, 0)),
        ("45 g", 0.045, (0, 1, 0, 0)),
        ("45g", 0.045, (0, 1, 0, 0)),
        ("1e3g", 1, (0, 1, 0, 0)),
        ("9.81 m/s^2", 9.81, (1, 0, -2, 0)),
        ("9.81 m s^-2", 9.81, (1, 0, -2, 0)),
        ("9.81 m/s**2", 9.81, (1, 0, -2, 0)),
        ("1.2 kg m^2", 1.2, (2, 1, 0, 0)),
        ("1.2 kg*m^2", 1.2, (2, 1, 0, 0)),
        ("5 mm^2", 5e-6, (2, 0, 0, 0)),
        ("5 mm^-2", 5e6, (-2, 0, 0, 0)),
        ("(5 mm)^2", 25e-6, (2, 0, 0, 0)),
        ("10 N m", 10, (2, 1, -2, 0)),
        ("10 N m / 2 rad", 5, (2, 1, -2, -1)),
        ("2*pi rad/s", 2 * PI, (0, 0, -1, 1)),
        ("2*pi*rad/s", 2 * PI, (0, 0, -1, 1)),
        ("(pi/2) rad", PI / 2, (0, 0, 0, 1)),
        ("5 N/m", 5, (0, 1, -2, 0)),
        ("5 N s/m", 5, (0, 1, -1, 0)),
        ("3 Nm/rad", 3, (2, 1, -2, -1)),
        ("3 N m s/rad", 3, (2, 1, -1, -1)),
        ("2 turn", 4 * PI, (0, 0, 0, 1)),
        ("5 mm/turn", 0.005 / (2 * PI), (1, 0, 0, -1)),
        ("20 Hz", 20, (0, 0, -1, 0)),
        ("2 kHz", 2000, (0, 0, -1, 0)),
        ("1/s", 1, (0, 0, -1, 0)),
        ("1 1/s", 1, (0, 0, -1, 0)),
        ("30 1/min", 0.5, (0, 0, -1, 0)),
        ("-2 1/s^2", -2, (0, 0, -2, 0)),
        ("(2 1/s)^2", 4, (0, 0, -2, 0)),
        ("5 kg 1 / s m", 5, (1, 1, -1, 0)),
        ("6 m / 2 1/s", 3, (1, 0, 1, 0)),
        ("6 / 2 1/s", 3, (0, 0, 1, 0)),
        ("2^1/s", 2, (0, 0, -1, 0)),
        ("3 + 1/2", 3.5, (0, 0, 0, 0)),
        ("3 W / (2 rad/s)", 1.5, (2, 1, -2, -1)),
        ("1 in", 0.0254, (1, 0, 0, 0)),
        ("1 ft", 0.3048, (1, 0, 0, 0)),
        ("1 lb", 0.45359237, (0, 1, 0, 0)),
        ("2 t", 2000, (0, 1, 0, 0)),
        ("1 h + 1 min + 1 s + 1 ms + 1 us", 3661.001001, (0, 0, 1, 0)),
        ("5 um", 5e-6, (1, 0, 0, 0)),
        ("5 mN", 5e-3, (1, 1, -2, 0)),
        ("pi/2 + 30 deg", PI / 2 + PI / 6, (0, 0, 0, 1)),
        ("30 deg - 1", PI / 6 - 1, (0, 0, 0, 1)),
        ("90 deg + 100 mrad", PI / 2 + 0.1, (0, 0, 0, 1)),
        ("1 m - 5 cm", 0.95, (1, 0, 0, 0)),
        ("1 m / 1 mm", 1000, (0, 0, 0, 0)),
        ("sin(30 deg)", 0.5, (0, 0, 0, 0)),
        ("cos(pi)", -1, (0, 0, 0, 0)),
        ("tan(0.125 turn)", 1, (0, 0, 0, 0)),
        ("asin(1) + acos(1) + atan(1)", 0.75 * PI, (0, 0, 0, 0)),
        ("acos(0.5) rad", PI / 3, (0, 0, 0, 1)),
        ("sqrt(2)", math.sqrt(2), (0, 0, 0, 0)),
        ("sqrt(9 m^2)", 3, (1, 0, 0, 0)),
        ("sqrt(2) * 50 mm", 0.05 * math.sqrt(2), (1, 0, 0, 0)),
        ("-2^2", -4, (0, 0, 0, 0)),
        ("2^3^2", 512, (0, 0, 0, 0)),
        ("2^-1", 0.5, (0, 0, 0, 0)),
        ("2**-+-2", 4, (0, 0, 0, 0)),
        ("2^0.5", math.sqrt(2), (0, 0, 0, 0)),
        ("(-2)^3", -8, (0, 0, 0, 0)),
        ("0^0", 1, (0, 0, 0, 0)),
        ("2 - 3 - 4", -5, (0, 0, 0, 0)),
        ("24 / 3 / 2 * 4", 16, (0, 0, 0, 0)),
        ("--3", 3, (0, 0, 0, 0)),
        ("3 - -3", 6, (0, 0, 0, 0)),
        (" 1.\n", 1, (0, 0, 0, 0)),
        (".5e+1", 5, (0, 0, 0, 0)),
        ("1E-3", 1e-3, (0, 0, 0, 0)),
    ],
)
def test_values_and_dimensions(text, value, dimension):
    result = evaluate_expression(text)
    assert isinstance(result, Quantity)
    assert float(result) == pytest.approx(value, rel=1e-14, abs=0)
    assert result.dimension == dimension


@pytest.mark.parametrize("number", range(1, 400))
def test_decimal_units_lose_no_bit(number):
    assert evaluate_expression(f"{number} mm") == float(f"{number}e-3")
    assert evaluate_expression(f"{number} g") == float(f"{number}e-3")
    assert evaluate_expression(f"{number} um") == float(f"{number}e-6")
    assert evaluate_expression(f"{number} deg") == pytest.approx(math.radians(number), rel=3e-16, abs=0)


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_means_the_same_beside_a_number_as_times_it(unit):
    one, squared = evaluate_expression(f"1 {unit}"), evaluate_expression(f"3 {unit}^2")
    assert float(evaluate_expression(f"7 * {unit}")) == pytest.approx(
        float(evaluate_expression(f"7 {unit}")), rel=1e-15
    )
    assert float(squared) == pytest.approx(3 * float(one) ** 2, rel=1e-14)
    assert squared.dimension == tuple(2 * exponent for exponent in one.dimension)
    assert float(evaluate_expression(f"1 {unit} / 1 {unit}")) == 1


@st.composite
def sums(draw, depth=4):
    """An expression and its value by Python's arithmetic, None where Python can't."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        number = draw(st.floats(min_value=0, max_value=1e6, allow_nan=False))
        return repr(number), number
    (one, a), (other, b) = draw(sums(depth=depth - 1)), draw(sums(depth=depth - 1))
    sign = draw(st.sampled_from(["+", "-", "*", "/", "^", "neg"]))
    if sign == "neg":
        return f"-({one})", None if a is None else -a
    text = f"({one}) {sign} ({other})"
    if a is None or b is None:
        return text, None
    try:
        value = {
            "+": lambda: a + b,
            "-": lambda: a - b,
            "*": lambda: a * b,
            "/": lambda: a / b,
            "^": lambda: math.pow(a, b),
        }[sign]()
    except (ZeroDivisionError, OverflowError, ValueError):
        return text, None
    return text, value if math.isfinite(value) else None


@steady
@given(sums())
def test_arithmetic_is_that_of_python(drawn):
    text, value = drawn
    if len(text) > 200 or value is None:
        with pytest.raises(ExpressionError):
            evaluate_expression(text)
    else:
        assert float(evaluate_expression(text)) == value


@steady
@given(st.lists(st.integers(1, 9), min_size=2, max_size=9), st.data())
def test_precedence_is_that_of_python_without_parentheses(numbers, data):
    signs = [data.draw(st.sampled_from("+-*/")) for _ in numbers[1:]]
    text = str(numbers[0]) + "".join(f" {sign} {number}" for sign, number in zip(signs, numbers[1:]))
    total, term = Fraction(0), Fraction(numbers[0])
    for sign, number in zip(signs, numbers[1:]):
        if sign == "*":
            term *= number
        elif sign == "/":
            term /= number
        else:
            total, term = total + term, Fraction(number if sign == "+" else -number)
    assert float(evaluate_expression(text)) == pytest.approx(float(total + term), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", 0, "empty"),
        ("  ", 0, "empty"),
        ("90 degs", 3, "did you mean `deg`"),
        ("90 degrees", 3, "did you mean `deg`"),
        ("2 Metres", 2, "did you mean `m`"),
        ("90 Deg", 3, "did you mean `deg`"),
        ("45 RPM", 3, "did you mean `rpm`"),
        ("1 + sine(2)", 4, "did you mean `sin`"),
        ("5 kg m2", 5, "did you mean `m^2`"),
        ("qqqqq", 0, "unknown name `qqqqq`"),
        ("1 / 0", 2, "division by zero"),
        ("1 / (2 - 2)", 2, "division by zero"),
        ("1 m / 0 m", 4, "division by zero"),
        ("0^-1", 1, "division by zero"),
        ("(0 m)^-1", 5, "division by zero"),
        ("1e400", 0, "finite"),
        ("1 + 1e308 * 10", 10, "finite"),
        ("1e308 + 1e308", 6, "finite"),
        ("1e308 km", 6, "finite"),
        ("inf", 0, "finite"),
        ("-nan", 1, "finite"),
        ("9**9**9", 1, "finite"),
        ("9^9^9^9", 3, "finite"),
        ("1 m + 1 s", 4, "a time to what is a length"),
        ("1 m - 2", 4, "a plain number from what is a length"),
        ("1 kg m^5 + 1", 9, "in kg m^5"),
        ("1 + 1/m/s^2", 2, "in 1/(m s^2)"),
        ("3 3", 2, "`3` can't follow"),
        ("2 pi", 2, "operator"),
        ("2(3)", 1, "operator"),
        ("1)", 1, "`)` can't follow"),
        ("(1 2)", 3, "`2` can't follow"),
        ("1 2 degs", 2, "can't follow"),
        ("1 +", 3, "ends too early"),
        ("(1 + 2", 0, "closing parenthesis"),
        ("2 * (1 + (2)", 4, "closing parenthesis"),
        ("* 2", 0, "a number is missing before `*`"),
        ("()", 1, "a number is missing before `)`"),
        ("2 ^", 3, "ends too early"),
        ("1, 2", 1, "`,`"),
        ("12:30", 2, "`:`"),
        (".inf", 0, "`.`"),
        ("1_000", 1, "_000"),
        ("0x10", 1, "x10"),
        ("sin 2", 0, "parentheses"),
        ("sin(2 m)", 0, "needs an angle"),
        ("asin(1 rad)", 0, "plain number"),
        ("asin(2)", 0, "from -1 to 1"),
        ("sqrt(-1)", 0, "isn't negative"),
        ("sqrt(2 m)", 0, "square root"),
        ("(2 m)^0.5", 5, "integer power"),
        ("2 m^0.5", 3, "integer power"),
        ("2 m^21", 3, "20 at most"),
        ("2 m^1e300", 3, "20 at most"),
        ("2^(1 m)", 1, "plain number"),
        ("2^(1 rad)", 1, "plain number"),
        ("(-8)^(1/3)", 4, "not a real number"),
        ("__import__(1)", 0, "__import__"),
        ("'pi'", 0, "`'`"),
        ("1 @ 2", 2, "`@`"),
        ("\u0661", 0, "\u0661"),
    ],
)
def test_mistakes_say_what_and_where(text, position, words):
    with pytest.raises(ExpressionError) as caught:
        evaluate_expression(text)
    assert words in str(caught.value)
    assert caught.value.position == position
    assert len(str(caught.value)) < 160


def test_length_and_depth_are_limited():
    assert float(evaluate_expression("1" + "+1" * 99)) == 100
    assert evaluate_expression("1" + " " * 199) == 1
    with pytest.raises(ExpressionError, match="201 characters"):
        evaluate_expression("1" + " " * 200)
    assert evaluate_expression("(" * 50 + "1" + ")" * 50) == 1
    with pytest.raises(ExpressionError, match="too deep") as caught:
        evaluate_expression("(" * 51 + "1" + ")" * 51)
    assert caught.value.position == 50
    with pytest.raises(ExpressionError, match="too deep"):
        evaluate_expression("1^" * 51 + "1")
    assert evaluate_expression("-" * 199 + "1") == -1


HUGE = ("9**9**9**9**9", "(9^99999999)", "1 m^20^20", "((((9^9)^9)^9)^9)^9999")


def test_huge_powers_cost_nothing():
    """A power that Python starts to compute can't be interrupted, so it happens in a process that can be ended."""
    program = f"""
from denoc.text.expressions import evaluate_expression
from denoc.text.expressions import ExpressionError
for text in {HUGE}:
    try:
        print(evaluate_expression(text))
    except ExpressionError:
        print("refused")
"""
    assert run_within(5, program).split() == ["refused"] * len(HUGE)


@steady
@given(st.text(st.characters(), max_size=60) | st.text("0123456789.eE+-*/^() mradsinpqtkgN°_", max_size=60))
def test_any_text_gives_a_finite_quantity_or_an_expression_error(text):
    position = 0
    try:
        result = evaluate_expression(text)
    except ExpressionError as problem:
        position = problem.position
    else:
        assert math.isfinite(result)
        assert all(type(exponent) is int for exponent in result.dimension)
    assert 0 <= position <= len(text)


@steady
@given(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()), st.complex_numbers()
    ),
    st.sampled_from(list(DIMENSIONS)),
)
def test_any_value_gives_a_finite_quantity_or_an_expression_error(value, kind):
    with suppress(ExpressionError):
        assert math.isfinite(si_value_of_quantity(value, kind))


examples = {
    "number": ["5 m/m"],
    "angle": ["5 deg", "1 turn"],
    "length": ["5 mm"],
    "mass": ["5 g"],
    "time": ["5 ms"],
    "rate": ["5 rpm", "5 deg/s"],
    "speed": ["5 mm/s"],
    "acceleration": ["5 m/s^2"],
    "angular acceleration": ["5 rad/s^2", "5 deg/s^2"],
    "frequency": ["5 Hz", "5/s", "5 1/s"],
    "squared frequency": ["5/s^2", "5 1/s^2", "5 Hz^2"],
    "force": ["5 N", "5 kg m/s^2"],
    "moment": ["5 N m", "5 Nm/rad", "5 J"],
    "inertia": ["5 kg m^2"],
    "rotor": ["5 kg m^2", "5 kg"],
    "first_moment": ["5 kg m"],
    "position": ["5 deg", "5 mm"],
    "initial": ["5 deg", "5 mm"],
    "velocity": ["5 rpm", "5 m/s"],
    "effort": ["5 N", "5 N m"],
    "stiffness": ["5 N/m", "5 N m/rad"],
    "damping": ["5 N s/m", "5 N m s/rad"],
    "pitch": ["5 mm", "5 mm/turn"],
    "turn stiffness": ["5 N m/rad"],
    "slide stiffness": ["5 N/m"],
    "turn damping": ["5 N m s/rad"],
    "slide damping": ["5 N s/m"],
    "turn rotor": ["5 kg m^2"],
    "slide rotor": ["5 kg"],
}


@pytest.mark.parametrize("kind", DIMENSIONS)
def test_every_kind_takes_the_units_that_its_message_names(kind):
    named = re.findall(r"\((.*)\)", DIMENSIONS[kind][1])
    for unit in named[0].replace(", …", "").split(", ") if named else ():
        assert si_value_of_quantity(f"2 {unit}", kind) == 2 * evaluate_expression(f"1 {unit}")


@pytest.mark.parametrize("kind", DIMENSIONS)
def test_every_kind_takes_its_units_and_plain_numbers_and_nothing_else(kind):
    dimensions = DIMENSIONS[kind][0]
    for number in (5, 5.0, "5", "10/2", np.float64(5), np.int64(5), Fraction(5), Quantity(5)):
        result = si_value_of_quantity(number, kind)
        assert (float(result), result.dimension) == (5, (0, 0, 0, 0))
    for other in examples:
        for text in examples[other]:
            dimension = evaluate_expression(text).dimension
            if dimension in dimensions or dimension == (0, 0, 0, 0):
                assert si_value_of_quantity(text, kind) == evaluate_expression(text)
                assert si_value_of_quantity(evaluate_expression(text), kind).dimension == dimension
            else:
                with pytest.raises(ExpressionError, match="is needed"):
                    si_value_of_quantity(text, kind)
    assert {evaluate_expression(text).dimension for text in examples[kind]} <= {*dimensions, (0, 0, 0, 0)}


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ("90 deg", "length", "`90 deg` is an angle; a length (m, mm, cm, …) is needed"),
        ("20 Hz", "rate", "`20 Hz` is a frequency; an angular rate (rad/s, deg/s, rpm) is needed"),
        ("3 Nm/rad", "length", "`3 Nm/rad` is a stiffness; a length (m, mm, cm, …) is needed"),
        ("5 m^2", "mass", "`5 m^2` is in m^2; a mass (kg, g, …) is needed"),
        ("kg", "mass", "`kg` has no number in it; a mass (kg, g, …) is needed"),
        (True, "number", "a plain number is needed, not `true`"),
        (None, "mass", "nothing stands here; a mass (kg, g, …) is needed"),
        ([1], "mass", "a mass (kg, g, …) is needed, not a list"),
        ({}, "mass", "a mass (kg, g, …) is needed, not a mapping"),
        (math.nan, "mass", "`nan` won't do; a mass (kg, g, …) must be a finite number"),
        (-math.inf, "time", "`-inf` won't do; a time (s, ms, min, …) must be a finite number"),
        ("inf", "time", "`inf` won't do; a time (s, ms, min, …) must be a finite number"),
        ("-.Inf", "time", "`-.Inf` won't do; a time (s, ms, min, …) must be a finite number"),
        (10**400, "mass", "the number is too large; a mass (kg, g, …) must be a finite number"),
        (-(10**4000), "mass", "the number is too large; a mass (kg, g, …) must be a finite number"),
        ("9" * 5000, "mass", "the expression has 5000 characters; at most 200 are read"),
    ],
)
def test_wrong_quantities_say_what_is_needed(value, kind, words):
    with pytest.raises(ExpressionError) as caught:
        si_value_of_quantity(value, kind)
    assert str(caught.value) == words


def test_a_unit_after_a_quotient_is_explained():
    with pytest.raises(ExpressionError, match=r"a quotient needs parentheses: `\(pi/2\) rad`"):
        si_value_of_quantity("pi/2 rad", "angle")
    assert si_value_of_quantity("(pi/2) rad", "angle") == PI / 2


def test_quantities_are_floats_that_survive_copies():
    length = evaluate_expression("50 mm")
    for other in (copy.copy(length), copy.deepcopy(length), pickle.loads(pickle.dumps(length))):
        assert (float(other), other.dimension) == (0.05, (1, 0, 0, 0))
    assert type(length * 2) is float
    assert repr(length) == "0.05"


# SI units of one of each, as in the brochure of the SI and in the agreement of 1959 on the yard and the pound
IN_SI = {
    "m": 1, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "um": 1e-6, "in": 0.0254, "ft": 0.3048,
    "kg": 1, "g": 1e-3, "t": 1e3, "lb": 0.45359237,
    "s": 1, "ms": 1e-3, "us": 1e-6, "min": 60, "h": 3600,
    "rad": 1, "mrad": 1e-3, "deg": PI / 180, "°": PI / 180, "turn": 2 * PI, "rev": 2 * PI, "rpm": 2 * PI / 60,
    "Hz": 1, "kHz": 1e3, "N": 1, "kN": 1e3, "mN": 1e-3, "Nm": 1, "J": 1, "W": 1,
}  # fmt: skip


def test_every_unit_has_its_size():
    assert {*IN_SI} == {*UNITS}
    for name, size in IN_SI.items():
        assert evaluate_expression(f"3 {name}") == pytest.approx(3 * size, rel=1e-15)
