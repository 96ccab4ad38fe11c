"""Field types of files whose values are formulas over time and state (`formula.py`)."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from pydantic_core import PydanticCustomError

from .expression import evaluate_expression
from .fields import Reader
from .formula import parsed_formula
from .tokens import ExpressionError

WORDS = "a formula such as `-20 N m s/rad * A0.qd + 5*sin(2*t)`"
SCHEMA = {"type": ["string", "number"]}
_UNIT = re.compile(r"(1 ?/ ?)?[A-Za-z°]+(\^-?[0-9]+)?([ /*]+[A-Za-z°]+(\^-?[0-9]+)?)*")


def formula_field() -> Reader:
    """A reader of a formula over time and state, which stays text; a bare number is one, too."""
    return Reader(_formula, SCHEMA)


def formula_list_field() -> Reader:
    """A reader of a formula, or of a list with one for each coordinate of a joint."""

    def read(value: Any) -> Any:
        return tuple(map(_formula, value)) if isinstance(value, list | tuple) and value else _formula(value)

    return Reader(read, {"anyOf": [SCHEMA, {"type": "array", "items": SCHEMA, "minItems": 1}]})


def unit_field() -> Reader:
    """A reader of a unit, such as `N m`, `m/s^2` or `deg`."""

    def read(value: Any) -> str:
        if isinstance(value, str) and _UNIT.fullmatch(value.strip()):
            with suppress(ExpressionError):
                size_of_unit(value)
                return value.strip()
        raise PydanticCustomError("unit", "not a unit", {"allowed": "units such as `N m`, `m/s^2`, `1/s` or `deg`"})

    return Reader(read, {"type": "string", "pattern": _UNIT.pattern})


def size_of_unit(text: str) -> float:
    """How large a unit is in SI."""
    return float(evaluate_expression(f"1 {text}"))


def _formula(value: Any) -> str:
    if isinstance(value, float | int) and not isinstance(value, bool):
        value = repr(float(value))
    if not isinstance(value, str):
        raise PydanticCustomError("formula", "a formula is needed here", {"allowed": WORDS})
    try:
        parsed_formula(value)
    except ExpressionError as error:
        message = f"at character {error.position + 1}: {error}"
        raise PydanticCustomError("formula", "{message}", {"message": message, "allowed": WORDS}) from None
    return value
