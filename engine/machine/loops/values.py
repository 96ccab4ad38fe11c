"""What names in a text with loops stand for, while it is translated: values in registers, variables, and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FLOAT, EIGHT, INTEGER, FIRST, BIT = "float", "eight", "integer", "first", "bit"  # kinds of values


@dataclass(frozen=True)
class Value:
    """A value in a register: a number, eight of them, an integer, the first of eight places, or a bit."""

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

    length: Any
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


Table = Fields | Rows | Eights | Integers
Numbers = Fields | Rows | Eights


Operand = Value | float | int | bool  # a register, or a number that is known


class LoopTextError(SyntaxError):
    """Something in a text that can't be translated, with its line."""


def kind_of(x: Operand) -> str:
    """The kind of a value or of a known number."""
    if isinstance(x, Value):
        return x.kind
    return BIT if isinstance(x, bool) else INTEGER if isinstance(x, int) else FLOAT
