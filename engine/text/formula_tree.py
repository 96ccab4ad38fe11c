"""What formulas are once they are read: trees of numbers, names, operations and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

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
