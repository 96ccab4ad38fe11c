"""Numbers with units from text such as `90 deg`, `-2*pi/3`, `45 rpm` or `9.81 m/s^2`, always in SI.

The grammar is that of `grammar.py`. A name is a unit, `pi`, a function of one argument, or what the caller gives a
value; files of robots and scenarios have none of the last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Real

from ...errors import did_you_mean
from .grammar import NUMBER, ExpressionError, Grammar, Token
from .units import ANGLE, DIMENSIONS, FUNCTIONS, PLAIN, SPELT_OUT, UNITS, Dimension

POWER_LIMIT = 20  # of a quantity with a dimension

NAMES = [*UNITS, *FUNCTIONS, "pi"]


class UndefinedError(ExpressionError):
    """An expression that has no value for these numbers, though it may have one for others: a division by zero, …"""


class Quantity(float):
    """A float in SI units with its dimension and its original text; arithmetic with it gives plain floats."""

    __slots__ = ("dimension", "written")
    dimension: Dimension  # exponents of m, kg, s, rad
    written: str  # the text that it was read from, for messages

    def __new__(cls, value: float, dimension: Dimension = PLAIN, written: str = "") -> Quantity:
        made = super().__new__(cls, value)
        made.dimension, made.written = dimension, written
        return made


def evaluate_expression(text: str, given: Mapping[str, Quantity] | None = None) -> Quantity:
    """The value of an expression in SI units, with its dimension; it may use the names that are `given`."""
    return _Parser(text, given or {}).whole()


def si_value_of_quantity(value: object, kind: str) -> Quantity:
    """The finite SI value of a number or an expression; `kind`, a row of `DIMENSIONS`, says what it may be."""
    words = DIMENSIONS[kind][1]
    if isinstance(value, str):
        if value.strip().lower().lstrip("+-").lstrip(".") in ("inf", "infinity", "nan"):
            raise ExpressionError(f"`{_clipped(value)}` won't do; {words} must be a finite number")
        if re.fullmatch(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*", value):  # YAML 1.1 has dates, and 2024-01-01 is 2022
            raise ExpressionError(f"`{_clipped(value)}` looks like a date; {words} is needed")
        result, shown = evaluate_expression(value), _clipped(value)
        if not re.search(r"[0-9]|\bpi\b", value):
            raise ExpressionError(f"`{shown}` has no number in it; {words} is needed")
    elif isinstance(value, float | Real) and not isinstance(value, bool):  # `Real` alone takes ten times as long to ask
        try:
            number = float(value)
        except OverflowError:  # an integer of more than 308 digits, which shouldn't be printed either
            raise ExpressionError(f"the number is too large; {words} must be a finite number") from None
        if not math.isfinite(number):
            raise ExpressionError(f"`{number}` won't do; {words} must be a finite number")
        result = Quantity(number, getattr(value, "dimension", PLAIN))
        shown = getattr(value, "written", "") or f"{number:g}"
    else:
        if value is None:
            raise ExpressionError(f"nothing stands here; {words} is needed")
        kinds = {bool: f"`{str(value).lower()}`", list: "a list", dict: "a mapping"}
        raise ExpressionError(f"{words} is needed, not {kinds.get(type(value), type(value).__name__)}")
    result = Quantity(result, result.dimension, shown)
    if message := misfit_of_unit(result, kind):
        if re.search(r"/\s*[0-9.]+\s*[^\W\d]", shown):
            message += "; a unit belongs to the number right before it, so a quotient needs parentheses: `(pi/2) rad`"
        raise ExpressionError(message)
    return result


def misfit_of_unit(value: float, kind: str) -> str:
    """The reason why a number's unit doesn't fit this kind; empty if it fits."""
    accepted, words = DIMENSIONS[kind]
    if not isinstance(value, Quantity) or value.dimension == PLAIN or value.dimension in accepted:
        return ""
    return f"`{value.written}` is {dimension_in_words(value.dimension)}; {words} is needed"


def dimension_in_words(dimension: Dimension) -> str:
    """A dimension in words, such as `an angle`, or, if it has no name, in units: `in kg^2 m/s`."""
    for accepted, words in DIMENSIONS.values():
        if dimension in accepted:
            return words.split(" (")[0]
    parts: tuple[list[str], list[str]] = ([], [])
    for exponent, unit in sorted(zip(dimension, ("m", "kg", "s", "rad"), strict=True), key=lambda part: part[1]):
        if exponent:
            parts[exponent < 0].append(unit if abs(exponent) == 1 else f"{unit}^{abs(exponent)}")
    above, below = " ".join(parts[0]) or "1", " ".join(parts[1])
    return f"in {above}" + (f"/({below})" if len(parts[1]) > 1 else f"/{below}" if below else "")


def name_and_unit_of_header(cell: str) -> tuple[str, str]:
    """The name of a table's column, and the unit in parentheses or brackets behind it; an index in them is none."""
    match = re.fullmatch(r"(.+?)\s*[(\[]\s*([^()\[\]]*[^\W\d][^()\[\]]*|°)\s*[)\]]", cell.strip())
    return (match[1], match[2].strip()) if match else (cell.strip(), "")


def unit_in_si(text: str) -> Quantity:
    """One of a unit in SI, such as `deg/s`, also as other programs spell it: `degrees`, `RPM`, `N·m`, `m/s²`."""
    signs = {"·": " ", "⋅": " ", "²": "^2", "³": "^3"}
    plain = re.sub(r"(?<=[^\W\d])\.(?=[^\W\d])", " ", "".join(signs.get(c, c) for c in text))
    plain = re.sub(r"[^\W\d]+", lambda found: _spelt(found[0]), plain)
    made = evaluate_expression(plain if plain[:1].isdigit() else f"1 {plain}")
    return Quantity(made, made.dimension, plain)


def _spelt(word: str) -> str:
    """A unit's name as `UNITS` has it, from one in other letters or in full."""
    small = word.lower()
    if word in UNITS or (len(word) > 1 and small in UNITS):
        return word if word in UNITS else small
    return SPELT_OUT.get(small) or SPELT_OUT.get(small.removesuffix("s"), word)


class _Parser(Grammar[Quantity]):
    """Quantities by the grammar of all expressions."""

    pattern = re.compile(NUMBER + r"|(?P<name>[^\W\d]\w*|°)|(?P<sign>\*\*|[-+*/^()])")
    reasons = {",": "`,` has no meaning here; decimals follow a point"}

    def __init__(self, text: str, given: Mapping[str, Quantity]):
        super().__init__(text)
        self.given = given

    def finish(self) -> None:
        """Raises an error unless the text ends here."""
        token = self.token
        if token.kind == "name" and token.text not in NAMES and token.text not in self.given:
            raise _unknown(token, self.given)
        super().finish()

    def number(self, token: Token) -> Quantity:
        return _made(float(token.text), PLAIN, token.position)

    def operation(self, name: str, operands: tuple[Quantity, ...], position: int) -> Quantity:
        first, other = operands[0], operands[-1]
        if name == "neg":
            return Quantity(-first, first.dimension)
        if name == "^":
            return _raised(first, _exponent(other, position), position)
        if name == "*":
            return _made(first * other, _combined(first.dimension, other.dimension, 1), position)
        if name != "/":
            return _added(first, other, name, position)
        if other == 0.0:
            raise UndefinedError("division by zero", position)
        return _made(first / other, _combined(first.dimension, other.dimension, -1), position)

    @property
    def at_unit(self) -> bool:
        return self.token.kind == "name" and self.token.text in UNITS

    def in_unit(self, value: Quantity, over: bool) -> Quantity:
        position = self.token.position
        up, down, dimension = UNITS[self.token.text]
        self.at += 1
        if sign := self.accept(*self.powers):
            n = _whole(_exponent(self.exponent(sign), sign.position), sign.position)
            up, down = (up**n, down**n) if n >= 0 else (down**-n, up**-n)
            dimension = _combined(PLAIN, dimension, n)
        up, down = (down, up) if over else (up, down)
        return _made(value * up / down, _combined(value.dimension, dimension, -1 if over else 1), position)

    def named(self, token: Token) -> Quantity:
        """Pi, what is given, or a function of a sum."""
        if token.text == "pi":
            return Quantity(math.pi)
        if token.text in self.given:
            return self.given[token.text]
        if token.text in FUNCTIONS:
            opening = self.accept("(")
            if not opening:
                raise ExpressionError(f"`{token.text}` needs its argument in parentheses", token.position)
            return _applied(token, self.enclosed(opening))
        if token.kind == "name":
            raise _unknown(token, self.given)
        return super().named(token)


def _exponent(value: Quantity, position: int) -> float:
    """The plain number that stands behind `^`."""
    if value.dimension != PLAIN:
        words = dimension_in_words(value.dimension)
        raise ExpressionError(f"an exponent must be a plain number, not {words}", position)
    return float(value)


def _made(value: float, dimension: Dimension, position: int) -> Quantity:
    """A quantity with a finite value; others are refused."""
    if not math.isfinite(value):
        raise UndefinedError("the value is too large; it must be a finite number", position)
    return Quantity(value, dimension)


def _combined(first: Dimension, second: Dimension, power: int) -> Dimension:
    """The dimension of first · second^power."""
    return tuple(a + power * b for a, b in zip(first, second, strict=True))  # type: ignore[return-value]


def _added(first: Quantity, second: Quantity, sign: str, position: int) -> Quantity:
    """The sum or difference; a plain number may join an angle, as in `pi/2 + 5 deg`."""
    dimension = first.dimension
    if first.dimension != second.dimension:
        if {first.dimension, second.dimension} != {PLAIN, ANGLE}:
            verb, to = ("add", "to") if sign == "+" else ("subtract", "from")
            one, other = dimension_in_words(first.dimension), dimension_in_words(second.dimension)
            raise ExpressionError(f"can't {verb} what is {other} {to} what is {one}", position)
        dimension = ANGLE
    return _made(first + second if sign == "+" else first - second, dimension, position)


def _whole(exponent: float, position: int) -> int:
    """The exponent of something with a dimension, as an integer."""
    if not exponent.is_integer():
        raise ExpressionError("what has a unit can only be raised to an integer power", position)
    if abs(exponent) > POWER_LIMIT:
        raise ExpressionError(f"what has a unit can be raised to the power {POWER_LIMIT} at most", position)
    return int(exponent)


def _raised(base: Quantity, exponent: float, position: int) -> Quantity:
    """The power of a quantity, computed in floats, so that 9^9^9 fails at once instead of taking forever."""
    dimension = PLAIN if base.dimension == PLAIN else _combined(PLAIN, base.dimension, _whole(exponent, position))
    if base == 0.0 and exponent < 0:
        raise UndefinedError("division by zero", position)
    try:
        value = math.pow(base, exponent)
    except OverflowError:
        raise UndefinedError("the power is too large; it must be a finite number", position) from None
    except ValueError:
        raise UndefinedError("a fractional power of a negative number is not a real number", position) from None
    return _made(value, dimension, position)


def _applied(name: Token, argument: Quantity) -> Quantity:
    """The value of a function at its argument."""
    function, accepted, words = FUNCTIONS[name.text]
    dimension = PLAIN
    if name.text == "sqrt":
        if any(exponent % 2 for exponent in argument.dimension):
            raise ExpressionError(
                f"what is {dimension_in_words(argument.dimension)} has no square root with a unit", name.position
            )
        dimension = tuple(exponent // 2 for exponent in argument.dimension)  # type: ignore[assignment]
    elif argument.dimension not in accepted:
        raise ExpressionError(
            f"`{name.text}` needs {words}, not {dimension_in_words(argument.dimension)}", name.position
        )
    try:
        return Quantity(function(argument), dimension)
    except ValueError:
        raise UndefinedError(f"`{name.text}` needs {words}", name.position) from None


def _unknown(name: Token, given: Mapping[str, Quantity]) -> ExpressionError:
    """The error for an unknown name, with the nearest known one."""
    word = name.text
    if word.lower() in ("inf", "infinity", "nan"):
        return ExpressionError(f"`{word}` won't do; the value must be a finite number", name.position)
    power = re.fullmatch(r"([^\W\d]+)([0-9])", word)
    same = [known for known in NAMES if known.lower() == word.lower()]
    if power and power[1] in UNITS:
        hint = f"did you mean `{power[1]}^{power[2]}`?"
    elif same:
        hint = f"did you mean `{same[0]}`?"
    elif spelt := SPELT_OUT.get(word.lower().removesuffix("s")):
        hint = f"did you mean `{spelt}`?"
    else:
        hint = did_you_mean(word, [*NAMES, *given], closeness=0.7)  # names this short resemble almost anything
    return ExpressionError(f"unknown name `{_clipped(word)}`" + (f"; {hint}" if hint else ""), name.position)


def _clipped(text: str) -> str:
    """Text short enough for a message."""
    return text if len(text) <= 40 else text[:37] + "…"
