"""Assignments of MATLAB files, computed without running anything: numbers, matrices, and a few functions of them.

    statement = name ["(" sum ["," sum] ")"] "=" sum
    named     = name ["(" sum ["," sum] ")"] | "[" rows "]"

Sums are those of the grammar of all expressions, with `'` behind what is transposed. Other statements are left out;
what needs their results is refused when it is asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..text import Document, Spot
from ..text.expressions import NUMBER, Grammar, Token

MOST = 100_000  # numbers in a matrix
MOST_TOGETHER = 10_000_000  # in all variables
_STATEMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*(\([^()=]*\))?\s*=(?!=)\s*(.+)", re.DOTALL)
_FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sqrt": np.sqrt,
    "deg2rad": np.radians,
    "abs": np.abs,
}
_CONSTANTS = {"pi": math.pi}
_OPERATIONS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}


class Unreadable(ValueError):  # noqa: N818 - it says that a statement isn't an assignment of numbers
    """A statement whose value can't be computed here."""


class Known(NamedTuple):
    """A variable's value, and where it was assigned last."""

    value: np.ndarray
    spot: Spot


@dataclass
class Assignments:
    """The variables of a file whose values could be computed, and the lines of those that couldn't."""

    document: Document
    known: dict[str, Known] = field(default_factory=dict)
    unknown: dict[str, tuple[str, Spot]] = field(default_factory=dict)
    together: int = 0  # numbers that were assigned
    loaded: list[str] = field(default_factory=list)  # files that it loads

    def error(self, name: str, message: str, *, found: str = "", allowed: str = "", hint: str = "") -> InputError:
        spot = self.known[name].spot if name in self.known else self.unknown.get(name, ("", (1, 1)))[1]
        place = self.document.spot(*spot)
        return InputError(message, place=place, key=name, found=found, allowed=allowed, hint=hint)

    def numbers(self, name: str, count: int = 0, default: float | None = None) -> list[float]:
        """The numbers of a variable, of which there have to be so many."""
        if name not in self.known:
            if default is not None and name not in self.unknown:
                return [default] * count
            why = f"its value can't be computed: {self.unknown[name][0]}" if name in self.unknown else "it is missing"
            raise self.error(name, why, allowed=f"{name}=[…] with numbers")
        value = self.known[name].value
        if count and value.size != count:
            raise self.error(name, f"{count} numbers are needed", found=str(value.size))
        if not np.isfinite(value).all():
            raise self.error(name, "a number isn't finite", allowed="finite numbers")
        return [float(x) for x in value.ravel(order="F")]


def read_matlab_assignments(text: str, name: str) -> Assignments:
    """The assignments in a text."""
    document = Document(name, text)
    made = Assignments(document)
    for statement, spot in _statements(document):
        if match := re.search(r"\bload\s*\(?\s*'([^']+)'", statement):
            made.loaded.append(match[1])
        if (match := _STATEMENT.match(statement)) is None:
            continue
        target, index, value = match[1], match[2], match[3]
        if made.together > MOST_TOGETHER:
            words = f"more than {MOST_TOGETHER:,} numbers are assigned"
            raise InputError(words, place=document.spot(*spot), key=target)
        try:
            _assign(made, target, index, _Parser(value, made.known).whole(), spot)
        except (Unreadable, ValueError, IndexError, ZeroDivisionError, OverflowError) as problem:
            made.known.pop(target, None)
            made.unknown[target] = (str(problem) or "it isn't made of numbers", spot)
    return made


def _statements(document: Document) -> list[tuple[str, Spot]]:
    """The statements of a file, without comments, each with its place."""
    statements: list[tuple[str, Spot]] = []
    kept, start, depth = "", (1, 1), 0
    for number, line in enumerate(document.lines, start=1):
        code = re.sub(r"%.*", "", line)
        joined = code.rstrip().endswith("...")
        code = code.rstrip().removesuffix("...")
        for column, character in enumerate(code + ("" if joined else "\n"), start=1):
            if character in "([{":
                depth += 1
            elif character in ")]}":
                depth -= 1
            if (depth <= 0 and character in ";\n") or (depth <= 0 and character == "," and "=" in kept):
                if kept.strip():
                    statements.append((kept, start))
                kept, depth = "", 0
            else:
                if not kept.strip():
                    start = (number, column)
                kept += ";" if character == "\n" else character  # a new row, in brackets
    return statements


def _assign(made: Assignments, target: str, index: str | None, value: np.ndarray, spot: Spot) -> None:
    """Gives a variable, or one of its entries, a value."""
    if index is None:
        made.known[target] = Known(value, spot)
        made.together += value.size
        made.unknown.pop(target, None)
        return
    if target in made.unknown:
        raise Unreadable(made.unknown[target][0])
    place = [int(_Parser(part, made.known).whole().item()) - 1 for part in index[1:-1].split(",")]
    if min(place) < 0 or max(place) >= MOST or value.size != 1 or len(place) > 2:
        raise Unreadable("an index that isn't there")
    old = made.known[target].value if target in made.known else np.zeros((0, 0))
    if len(place) == 1:
        row = old.shape[0] == 1 and old.shape[1] != 1
        place = [0, place[0]] if row else [place[0], 0]
    rows, columns = max(old.shape[0], place[0] + 1), max(old.shape[1], place[1] + 1)
    _check_size(rows, columns)
    new = np.zeros((rows, columns))
    new[: old.shape[0], : old.shape[1]] = old
    new[place[0], place[1]] = value.item()
    made.known[target] = Known(new, spot)


def _check_size(*shape: int) -> None:
    if math.prod(shape) > MOST:
        raise Unreadable(f"a matrix of more than {MOST:,} numbers")


class _Parser(Grammar[np.ndarray]):
    """Matrices by the grammar of all expressions; within brackets, blanks separate numbers."""

    pattern = re.compile(NUMBER + r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>\.\*|\./|\.\^|.)", re.DOTALL)
    products = ("*", "/", ".*", "./")
    powers = ("^", ".^")
    most = 25 * MOST  # characters

    def __init__(self, text: str, known: dict[str, Known]):
        super().__init__(text)
        self.text, self.known, self.rows = text, known, 0

    def finish(self) -> None:
        if self.token.kind != "end":
            raise Unreadable(f"`{self.text.strip()[:40]}` isn't made of numbers alone")

    def closed(self, opening: Token) -> None:
        if not self.accept(")"):
            raise Unreadable("`)` is missing" if self.token.kind != "end" else "the expression ends too early")
        self.depth -= 1

    def blank_before(self, at: int) -> bool:
        """Whether there is a blank before a token."""
        return self.text[self.tokens[at].position - 1 : self.tokens[at].position].isspace()

    def sum(self) -> np.ndarray:
        value = self.product()
        while not self.ends_here() and (sign := self.accept("+", "-")):
            value = self.operation(sign.text, (value, self.product()), sign.position)
        return value

    def ends_here(self) -> bool:
        """Whether, within brackets, the next sign begins a new number: it has a blank before it and none behind."""
        sign = self.token.text in ("+", "-")
        return bool(self.rows) and sign and self.blank_before(self.at) and not self.blank_before(self.at + 1)

    def number(self, token: Token) -> np.ndarray:
        return np.full((1, 1), float(token.text))

    def operation(self, name: str, operands: tuple[np.ndarray, ...], position: int) -> np.ndarray:
        value, other = operands[0], operands[-1]
        if name == "neg":
            return -value
        if name == "^":
            if value.size > 1 or other.size > 1 or abs(other.item()) > 20:
                raise Unreadable("only numbers have powers, up to 20")
            return np.asarray(value**other)
        if name == "*" and 1 not in (value.size, other.size):
            _check_size(value.shape[0], other.shape[1])
            return np.asarray(value @ other)
        _check_size(*(max(pair) for pair in zip(value.shape, other.shape)))  # before it is computed
        if name == "/" and other.size != 1:
            raise Unreadable("a matrix is divided by another")
        return np.asarray(_OPERATIONS[name[-1]](value, other))

    def primary(self) -> np.ndarray:
        value = super().primary()
        while self.accept("'"):
            value = value.T
        return value

    def enclosed(self, opening: Token) -> np.ndarray:
        inside, self.rows = self.rows, 0
        value = super().enclosed(opening)
        self.rows = inside
        return value

    def named(self, token: Token) -> np.ndarray:
        """A matrix in brackets, a variable, one of its entries, or a function's value."""
        name = token.text
        if name == "[":
            return self.matrix(token)
        if name in _CONSTANTS and name not in self.known:
            return np.full((1, 1), _CONSTANTS[name])
        if token.kind != "name":
            raise Unreadable(f"`{name}` isn't known here")
        arguments: list[np.ndarray] | None = None
        if not (self.rows and self.blank_before(self.at)) and (opening := self.accept("(")):
            inside, self.rows = self.rows, 0
            arguments = self.arguments(opening)
            self.rows = inside
        if name in self.known:
            value = self.known[name].value
            if arguments is None:
                return value
            place = [int(one.item()) - 1 for one in arguments]
            if min(place) < 0:
                raise Unreadable("an index below 1")
            entry = value.ravel(order="F")[place[0]] if len(place) == 1 else value[place[0], place[1]]
            return np.full((1, 1), float(entry))
        if name in ("zeros", "ones", "eye") and arguments is not None:
            sizes = [int(one.item()) for one in arguments]
            shape = (sizes[0], sizes[-1])
            if min(shape) < 0:
                raise Unreadable("a size below 0")
            _check_size(*shape)
            return np.eye(*shape) if name == "eye" else np.full(shape, float(name == "ones"))
        if name in _FUNCTIONS and arguments is not None and len(arguments) == 1:
            with np.errstate(all="ignore"):
                return np.asarray(_FUNCTIONS[name](arguments[0]))
        raise Unreadable(f"`{name}` isn't known here")

    def matrix(self, opening: Token) -> np.ndarray:
        """A matrix in brackets."""
        self.deeper(opening)
        self.rows += 1
        rows: list[list[np.ndarray]] = [[]]
        count = 0
        while not self.accept("]"):
            if sign := self.accept(";", ","):
                if sign.text == ";":
                    rows.append([])
            else:
                rows[-1].append(self.sum())
                count += max(1, rows[-1][-1].size)
            _check_size(count)
        self.rows -= 1
        self.depth -= 1
        filled = [np.hstack(row) for row in rows if row]
        return np.vstack(filled) if filled else np.zeros((0, 0))
