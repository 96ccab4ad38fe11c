"""Formulas over time and state, such as `-20 N m s/rad * A0.qd + 5*sin(2*t)`: read into a tree, never executed.

The grammar is that of `grammar.py`, with units behind numbers alone, and exponents that are whole, or whole and a half.

    named  = "pi" | NAME | "{" ANY NAME "}" | FUNCTION "(" sum ("," sum)* ")" | lookup
    lookup = "lookup" "(" TEXT "," sum ("," TEXT)? ("," WORD)* ")"

Numbers are in SI once they are read; names stand for quantities that whoever uses the formula knows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ...errors import did_you_mean
from .grammar import NUMBER, ExpressionError, Grammar, Token
from .units import UNITS

HIGHEST = 64  # exponent
CONSTANTS = {"pi": 3.141592653589793}

# name → how many arguments it may have
ARITIES: dict[str, tuple[int, ...]] = {
    "sin": (1,),
    "cos": (1,),
    "tan": (1,),
    "sqrt": (1,),
    "abs": (1,),
    "sign": (1,),
    "floor": (1,),
    "step": (1,),
    "smoothstep": (1, 3),
    "min": (2,),
    "max": (2,),
    "clip": (3,),
}
LOOKUP = "lookup"
INTERPOLATIONS = ("spline", "pchip", "linear")
PERIODIC = "periodic"
QUOTED = ("text", "quoted")  # kinds of tokens: between double and between single quotes


TIME = "t"
JUMPING = ("sign", "floor", "step")  # functions that aren't continuous


@dataclass(frozen=True)
class Number:
    """A number in SI."""

    value: float


@dataclass(frozen=True)
class Named:
    """A quantity by its name, with the place of the name in the text."""

    name: str
    position: int = 0


@dataclass(frozen=True)
class Operation:
    """One of the four operations, `neg`, `^`, or a function of `ARITIES`, with its operands."""

    name: str
    operands: tuple[Formula, ...]


@dataclass(frozen=True)
class Lookup:
    """The value of a table over an argument; `column` is empty for the second column of the file."""

    file: str
    argument: Formula
    column: str = ""
    interpolation: str = "spline"
    periodic: bool = False
    position: int = 0


Formula = Number | Named | Operation | Lookup


def parsed_formula(text: str) -> Formula:
    """The tree of a formula; a mistake is an `ExpressionError` at its place."""
    return _Parser(text).whole()


def formula_with_renamed_tables(text: str, homes: Mapping[str, str]) -> str:
    """The text of a formula in which the files of its tables have other names."""
    tokens, made, at = _Parser.split(text), "", 0
    for before, opening, file in zip(tokens, tokens[1:], tokens[2:]):
        if (before.text, opening.text, file.kind in QUOTED) == (LOOKUP, "(", True) and file.text in homes:
            end = text.index(text[file.position], file.position + 1) + 1
            made, at = made + text[at : file.position] + f'"{homes[file.text]}"', end
    return made + text[at:]


class _Parser(Grammar[Formula]):
    """Trees by the grammar of all expressions."""

    pattern = re.compile(
        NUMBER + r"|(?P<name>[^\W\d]\w*(?:\.\w+)*|°)"
        r"|\{\s*(?P<braced>[^{}]*?)\s*\}|\"\s*(?P<text>[^\"]*?)\s*\"|'\s*(?P<quoted>[^']*?)\s*'"
        r"|(?P<sign>\*\*|[-+*/^(),])"
    )
    reasons = {"{": "a brace that isn't closed", '"': "a quote that isn't closed"}
    noun = "formula"
    wanted = "a number or a name"
    most = 2000
    only_numbers_have_units = True

    @property
    def at_unit(self) -> bool:
        """Whether a unit stands here; `t` is the time, not a ton, and `min(` a function."""
        token = self.token
        if token.kind != "name" or token.text not in UNITS or token.text == TIME:
            return False
        return token.text not in ARITIES or self.tokens[self.at + 1].text != "("

    def in_unit(self, value: Formula, over: bool) -> Formula:
        up, down, _ = UNITS[self.token.text]
        self.at += 1
        sign, size = self.accept(*self.powers), Number(up / down)
        unit = self.operation("^", (size, self.exponent(sign)), sign.position) if sign else size
        return self.operation("/" if over else "*", (value, unit), self.token.position)

    def number(self, token: Token) -> Formula:
        return self.operation("number", (Number(float(token.text)),), token.position)

    def named(self, token: Token) -> Formula:
        """A constant, a function of its arguments, or the name of a quantity."""
        if token.kind == "braced":
            return Named(token.text, token.position)
        if token.kind != "name":
            return super().named(token)
        if token.text in CONSTANTS:
            return Number(CONSTANTS[token.text])
        opening = self.accept("(")
        if opening is None:
            if token.text in ARITIES or token.text == LOOKUP:
                raise ExpressionError(f"`{token.text}` needs its arguments in parentheses", token.position)
            return Named(token.text, token.position)
        if token.text == LOOKUP:
            return self.lookup(token, opening)
        if token.text not in ARITIES:
            hint = did_you_mean(token.text, [*ARITIES, LOOKUP])
            raise ExpressionError(f"no function `{token.text}` is known" + f"; {hint}" * bool(hint), token.position)
        arguments = self.arguments(opening)
        if len(arguments) not in ARITIES[token.text]:
            allowed = " or ".join(str(n) for n in ARITIES[token.text])
            raise ExpressionError(f"`{token.text}` takes {allowed} arguments, not {len(arguments)}", token.position)
        return self.operation(token.text, tuple(arguments), token.position)

    def operation(self, name: str, operands: tuple[Formula, ...], position: int) -> Formula:
        """An operation on operands, carried out at once where these are numbers and the operation is arithmetic."""
        numbers = [one.value for one in operands if isinstance(one, Number)]
        power = operands[1].value if name == "^" and isinstance(operands[1], Number) else math.nan
        if name == "^" and not ((2 * power).is_integer() and abs(power) <= HIGHEST):
            raise ExpressionError(
                f"an exponent is a number such as 2, -1 or 0.5 (a multiple of a half, at most {HIGHEST}); other powers "
                "can be looked up in a table",
                position,
            )
        if name == "/" and isinstance(operands[1], Number) and operands[1].value == 0.0:
            raise ExpressionError("division by zero", position)
        if name == "smoothstep" and len(operands) == 3 and operands[1] == operands[2]:
            raise ExpressionError("`smoothstep` begins where it ends; `step(x - begin)` jumps", position)
        ends = [one.value for one in operands[1:] if isinstance(one, Number)] if name == "clip" else []
        if len(ends) == 2 and ends[0] > ends[1]:
            raise ExpressionError(f"`clip` has {ends[0]:g} as its lower end and {ends[1]:g} as its upper one", position)
        if len(numbers) < len(operands) or name not in _ARITHMETIC:
            return Operation(name, operands)
        try:
            value = _ARITHMETIC[name](*numbers)
        except (OverflowError, ZeroDivisionError, ValueError):
            value = float("inf")
        if isinstance(value, complex) or not abs(value) < float("inf"):
            raise ExpressionError("the value must be a finite real number", position)
        return Number(float(value))

    def lookup(self, token: Token, opening: Token) -> Lookup:
        """A table over its argument: the file in quotes, the argument, perhaps a column in quotes, and words."""
        self.deeper(opening)
        file = self.token
        if file.kind not in QUOTED:
            raise ExpressionError('`lookup` takes a file in quotes first: lookup("file.csv", A0.q)', file.position)
        self.at += 1
        if not self.accept(","):
            raise ExpressionError(
                "`lookup` needs what the table is looked up over behind the file", self.token.position
            )
        argument, column, interpolation, periodic = self.sum(), "", "", False
        while self.accept(","):
            word = self.token
            self.at += word.kind != "end"
            if word.kind in QUOTED and not column:
                column = word.text
            elif word.kind == "name" and word.text in INTERPOLATIONS and not interpolation:
                interpolation = word.text
            elif word.kind == "name" and word.text == PERIODIC and not periodic:
                periodic = True
            else:
                allowed = f"a column in quotes, {', '.join(INTERPOLATIONS)}, {PERIODIC}"
                raise ExpressionError(f"`{word.text}` isn't one of {allowed}, or stands there twice", word.position)
        self.closed(opening)
        return Lookup(file.text, argument, column, interpolation or INTERPOLATIONS[0], periodic, token.position)


_ARITHMETIC: dict[str, Callable[..., float]] = {
    "number": lambda a: a,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "neg": lambda a: -a,
    "sin": math.sin,
    "cos": math.cos,
    "tan": lambda x: math.sin(x) / math.cos(x),
    "sqrt": math.sqrt,
    "abs": abs,
    "sign": lambda x: float(x > 0) - float(x < 0),
    "floor": lambda x: float(math.floor(x)),
    "step": lambda x: 0.5 * (1.0 + float(x > 0) - float(x < 0)),
    "min": min,
    "max": max,
    "clip": lambda x, low, high: min(max(x, low), high),
}


def parts_of_formula(formula: Formula) -> Iterator[Formula]:
    """The formula and everything within it."""
    yield formula
    within = formula.operands if isinstance(formula, Operation) else ()
    for one in (formula.argument,) if isinstance(formula, Lookup) else within:
        yield from parts_of_formula(one)


def names_in_formula(formula: Formula) -> list[Named]:
    """The names in a formula, each once, in the order of the text."""
    known: dict[str, Named] = {}
    for one in parts_of_formula(formula):
        if isinstance(one, Named):
            known.setdefault(one.name, one)
    return list(known.values())


def formula_with_replaced_names(formula: Formula, instead: Mapping[str, Formula]) -> Formula:
    """The formula with other formulas in the places of names."""
    if isinstance(formula, Named):
        return instead.get(formula.name, formula)
    if isinstance(formula, Operation):
        return Operation(formula.name, tuple(formula_with_replaced_names(one, instead) for one in formula.operands))
    if isinstance(formula, Lookup):
        return replace(formula, argument=formula_with_replaced_names(formula.argument, instead))
    return formula


def total_formula(parts: Mapping[str, float]) -> Formula:
    """The sum of quantities by their names, each times its factor."""
    result: Formula = Number(0.0)
    for name, factor in parts.items():
        result = Operation("+", (result, Operation("*", (Number(factor), Named(name)))))
    return result


def jumps_in_formula(formula: Formula) -> list[Operation]:
    """The functions in a formula that jump as a quantity varies which isn't time alone."""
    jumping = (one for one in parts_of_formula(formula) if isinstance(one, Operation) and one.name in JUMPING)
    return [one for one in jumping if any(name.name != TIME for name in names_in_formula(one))]


def lookups_in_formula(formula: Formula) -> list[Lookup]:
    """The tables in a formula."""
    return [one for one in parts_of_formula(formula) if isinstance(one, Lookup)]
