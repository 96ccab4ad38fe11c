"""What names in a text with loops stand for, while it is translated: values in registers, variables, and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Thing: TypeAlias = Any  # whatever a name of a text may stand for

# kinds of values: one for all, or several side by side, of bodies or of runs
FLOAT, INTEGER, FIRST, BIT = "float", "integer", "first", "bit"
EIGHT, MASK, PLACES = "eight", "mask", "places"
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


@dataclass(frozen=True)
class Value:
    """A value in a register: a number, an integer, a bit, the first of eight places; or several, side by side.

    Side by side are `EIGHT` numbers (of runs: as many as there are lanes), bits as a `MASK`, and integers as `PLACES`.
    """

    kind: str
    register: str


@dataclass(frozen=True)
class Variable:
    """A name whose value a `while` changes: a place in memory."""

    kind: str
    place: str


@dataclass(frozen=True)
class Fields:
    """A table of `count` numbers for each body, eight bodies side by side; loops across it begin at a multiple of 8."""

    count: int
    base: str = ""


@dataclass(frozen=True)
class Rows:
    """A table of `count` rows with `length` places each, where loops across may begin anywhere.

    What is the `callers` ends where it ends; all other rows have room for eight more.
    """

    length: Thing
    count: int = 1
    callers: bool = False
    base: str = ""


@dataclass(frozen=True)
class Eights:
    """A table of `count` numbers for each body and each place of the present pass of a loop across."""

    count: int
    base: str = ""


@dataclass(frozen=True)
class Registers:
    """Numbers that a loop carries on."""

    variables: tuple[Variable, ...]


@dataclass(frozen=True)
class Integers:
    """A row of integers."""

    base: str = ""


@dataclass(frozen=True)
class Vector:
    """A recipe for the components of a vector: an expression becomes one loop when it is stored or summed."""

    n: Operand
    at: Callable[[Operand], Operand]


@dataclass(frozen=True)
class Stored:
    """A vector in memory, from number `first` on; components are numbers side by side."""

    n: Operand
    base: str
    first: Operand = 0


@dataclass(frozen=True)
class Stack:
    """A table of vectors of length n."""

    n: Operand
    base: str


@dataclass(frozen=True)
class Singles:
    """A row of numbers that are the same for all runs."""

    base: str


@dataclass(frozen=True)
class Output:
    """Tables of `count` rows of n numbers, one for each run."""

    n: Operand
    count: Operand
    base: str


@dataclass(frozen=True)
class Outside:
    """A function from outside, of numbers and vectors, that fills a vector of length n, or one without a result."""

    name: str
    n: Operand = 0


@dataclass(frozen=True)
class Pending:
    """Its call, until it is known where the result goes."""

    function: Outside
    arguments: tuple[Thing, ...]


TextTable = Fields | Rows | Eights | Integers
Numbers = Fields | Rows | Eights


Operand = Value | float | int | bool  # a register, or a number that is known


class LoopTextError(SyntaxError):
    """Something in a text that can't be translated, with its place and what is allowed there."""


def kind_of(x: Operand) -> str:
    """The kind of a value or of a known number."""
    if isinstance(x, Value):
        return x.kind
    return BIT if isinstance(x, bool) else INTEGER if isinstance(x, int) else FLOAT
