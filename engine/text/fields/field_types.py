"""Field types shared by robot and scenario files: numbers with units, names, vectors.

A field's type says what the program gets, `Annotated` how the file's value is read: `Annotated[float, number("mass")]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ...errors import called_elsewhere, did_you_mean
from ..expressions import DIMENSIONS, ExpressionError, evaluate_expression, parsed_formula, si_value_of_quantity

_FORBIDDEN_IN_NAMES = re.compile(r"[\s,.\"'`]")
_FORBIDDEN_IN_FILE_NAMES = re.compile(r"[/\\:*?<>|]")
MOST_LETTERS = 100  # of a file's name

# in JSON Schemas: text that can be a quantity, the words for it, text that can be a name
QUANTITY: dict[str, Any] = {"type": "string", "pattern": r"[0-9]|pi|\{k"}
KIND = "(kind)"
NAME: dict[str, Any] = {"type": ["string", "integer"], "pattern": "^[^\\s,.\"'`]+$"}
FILE_NAME: dict[str, Any] = {**NAME, "pattern": "^[^-\\s,.\"'`/\\\\:*?<>|][^\\s,.\"'`/\\\\:*?<>|]*$", "maxLength": 100}


class Strict(BaseModel):
    """A mapping whose keys are all known; the first error names the nearest valid one."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """The keys that a file may use."""
        return tuple(field.alias or name for name, field in cls.model_fields.items() if not field.exclude)

    @classmethod
    def form(cls) -> str:
        """A description of the mapping for error messages."""
        return f"keys: {', '.join(cls.keys())}"

    @classmethod
    def hint(cls, key: str) -> str:
        """A hint at the key that an unknown key may have been meant for, or at the mapping here that it belongs to."""
        homes = [
            field.alias or name
            for name, field in cls.model_fields.items()
            if not field.exclude and any(key in {*model.keys()} for model in _models_within(field.annotation))
        ]
        if hint := called_elsewhere(key, cls.keys()):
            return hint
        if homes:
            return f"`{key}` belongs under {' or '.join(f'`{home}`' for home in homes)}"
        return did_you_mean(key, cls.keys())

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        """Raises an error at the first unknown key."""
        if isinstance(data, dict):
            known = _all_keys(cls)
            for key in data:
                if key not in known:
                    context = {"name": str(key), "allowed": ", ".join(cls.keys()), "hint": cls.hint(str(key))}
                    raise PydanticCustomError("unknown_key", "unknown key `{name}`", context)
        elif not isinstance(data, cls):
            raise PydanticCustomError("mapping", "a mapping is needed here", {"allowed": cls.form()})
        return data


@cache
def _all_keys(model: type[Strict]) -> frozenset[str]:
    """The keys of a mapping, those included that are for programs alone."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


def _models_within(annotation: Any) -> Iterator[type[Strict]]:
    """The models of mappings in an annotation: itself, the members of a union, the items of a list or mapping."""
    if isinstance(annotation, type) and issubclass(annotation, Strict):
        yield annotation
    for part in get_args(annotation):
        yield from _models_within(part)


class Bounds(NamedTuple):
    """The bounds of a quantity."""

    at_least: float | None = None
    above: float | None = None
    below: float | None = None

    def missed(self, x: float) -> str:
        """The bound that a number doesn't keep, such as `at least 0`; empty if it keeps all."""
        low, over, under = self
        if low is not None and x < low:
            return f"at least {low:g}"
        if over is not None and x <= over:
            return f"more than {over:g}"
        return f"less than {under:g}" if under is not None and x >= under else ""


NO_BOUNDS = Bounds()


@dataclass(frozen=True, eq=False)
class Reader:
    """The function that reads a field's value, and its JSON Schema; it stands beside the type in `Annotated`."""

    read: Callable[[Any], Any]
    schema: dict[str, Any]
    kind: str = ""  # of quantity, where the value is one or a list of them
    bounds: Bounds = NO_BOUNDS  # of these quantities

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return self.schema.copy()


@dataclass(frozen=True)
class Or:
    """A second form that a value may have in a file, for the JSON Schema; the validator beside it reads that form.

    The default form is a single entry where the type is a list.
    """

    other: tuple[tuple[str, Any], ...] = ()

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        own = handler(schema)
        return {"anyOf": [dict(self.other) or own["items"], own]}


def quantity_field(
    kind: str, *, at_least: float | None = None, above: float | None = None, below: float | None = None
) -> Reader:
    """A reader of quantities of this kind: numbers in SI units, or text such as `90 deg`."""
    text, bounds = DIMENSIONS[kind][1], Bounds(at_least, above, below)

    def read(value: Any) -> float:
        try:
            result = si_value_of_quantity(value, kind)
        except ExpressionError as error:
            raise PydanticCustomError("quantity", "{message}", {"message": str(error), "allowed": text}) from None
        if bound := bounds.missed(result):
            raise PydanticCustomError("bound", "must be {bound}", {"bound": bound, "allowed": f"{text}, {bound}"})
        return result

    names = {"minimum": at_least, "exclusiveMinimum": above, "exclusiveMaximum": below}
    bounded = {"type": "number", **{name: bound for name, bound in names.items() if bound is not None}}
    words = {"at least": at_least, "more than": above, "less than": below}
    limits = "".join(f", {word} {bound:g}" for word, bound in words.items() if bound is not None)
    return Reader(read, {"anyOf": [bounded, QUANTITY], KIND: text + limits}, kind, bounds)


def quantity_list_field(kind: str) -> Reader:
    """A reader of one quantity, or of a list with one for each coordinate of a joint."""
    reader = quantity_field(kind)
    one = reader.read

    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return one(value)
        if not value:
            raise PydanticCustomError("count", "an empty list", {"allowed": DIMENSIONS[kind][1]})
        values = []
        for index, x in enumerate(value):
            try:
                values.append(one(x))
            except PydanticCustomError as error:  # at its own place in the list
                raise PydanticCustomError(
                    "element", "{message}", {**(error.context or {}), "message": error.message(), "index": index}
                ) from None
        return tuple(values)

    choices = reader.schema["anyOf"]
    listed = {"type": "array", "items": {"anyOf": choices}, "minItems": 1}
    words = f"{DIMENSIONS[kind][1]}, or a list with one a coordinate"
    return Reader(read, {"anyOf": [*choices, listed], KIND: words}, kind, reader.bounds)


@lru_cache(maxsize=64)
def quantity_kinds_of_fields(model: type[Strict]) -> dict[str, str]:
    """The kind of quantity by field, for those fields of the model that hold quantities."""
    fields = model.model_fields.items()
    kinds = {name: next(_readers(field.annotation, field.metadata), None) for name, field in fields}
    return {name: reader.kind for name, reader in kinds.items() if reader is not None}


def reader_of_quantity_field(model: type[Strict], name: str) -> Reader | None:
    """The reader of a field that holds quantities of one kind, perhaps many; None for any other field."""
    field = model.model_fields.get(name)
    return None if field is None else next(_readers(field.annotation, field.metadata, listed=True), None)


def _readers(annotation: Any, metadata: Iterable[Any], listed: bool = False) -> Iterator[Reader]:
    """The readers of quantities of a type or of its parts; `listed`: of the items of a list or mapping, too."""
    for one in metadata:
        if isinstance(one, Reader) and one.kind:
            yield one
    if get_origin(annotation) is Annotated:
        yield from _readers(*type_and_metadata_of_field(annotation), listed)
    elif get_origin(annotation) in (Union, UnionType, *([tuple, dict] if listed else [])):
        for part in get_args(annotation):
            yield from _readers(part, (), listed)


def type_and_metadata_of_field(annotated: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type within `Annotated`, and its metadata."""
    inner, *metadata = get_args(annotated)
    return inner, tuple(metadata)


def field_of_several(count: int, what: str = "numbers") -> BeforeValidator:
    """A validator that accepts only lists of exactly `count` items; the type beside it describes an item."""

    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != count:
            raise PydanticCustomError(
                "count",
                "a list of {count} {what} is needed",
                {"count": count, "what": what, "allowed": f"[{', '.join('…' * count)}]"},
            )
        return value

    return BeforeValidator(check)


def read_name(value: Any) -> str:
    """The value as a name."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value or _FORBIDDEN_IN_NAMES.search(value) or not value.isprintable():
        raise PydanticCustomError(
            "name",
            "not a name",
            {"allowed": "text without white space, comma, dot or quotes (quote words such as yes or null)"},
        )
    return value


def _file_name(value: Any) -> str:
    name = read_name(value)
    if _FORBIDDEN_IN_FILE_NAMES.search(name) or name.startswith("-") or len(name) > MOST_LETTERS:
        raise PydanticCustomError(
            "name", "can't be the name of a folder", {"allowed": "letters, digits, - and _, at most 100 of them"}
        )
    return name


def nearest_file_name(text: str) -> str:
    """The text as a name that files and their keys may have, with hyphens for what can't stand in one."""
    plain = re.sub(rf"{_FORBIDDEN_IN_NAMES.pattern}|{_FORBIDDEN_IN_FILE_NAMES.pattern}", "-", text)
    return "".join(x if x.isprintable() else "-" for x in plain).lstrip("-")[-MOST_LETTERS:].lstrip("-")


FORMULA_WORDS = "a formula such as `-20 N m s/rad * A0.qd + 5*sin(2*t)`"
FORMULA_SCHEMA = {"type": ["string", "number"]}
_UNIT = re.compile(r"(1 ?/ ?)?[A-Za-z°]+(\^-?[0-9]+)?([ /*]+[A-Za-z°]+(\^-?[0-9]+)?)*")


def formula_field() -> Reader:
    """A reader of a formula over time and state, which stays text; a bare number is one, too."""
    return Reader(_formula, FORMULA_SCHEMA)


def formula_list_field() -> Reader:
    """A reader of a formula, or of a list with one for each coordinate of a joint."""

    def read(value: Any) -> Any:
        return tuple(map(_formula, value)) if isinstance(value, list | tuple) and value else _formula(value)

    return Reader(read, {"anyOf": [FORMULA_SCHEMA, {"type": "array", "items": FORMULA_SCHEMA, "minItems": 1}]})


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
        raise PydanticCustomError("formula", "a formula is needed here", {"allowed": FORMULA_WORDS})
    try:
        parsed_formula(value)
    except ExpressionError as error:
        message = f"at character {error.position + 1}: {error}"
        raise PydanticCustomError("formula", "{message}", {"message": message, "allowed": FORMULA_WORDS}) from None
    return value


Numbers = float | tuple[float, ...]  # read by `quantity_list_field`
Name = Annotated[str, Reader(read_name, NAME)]
FileName = Annotated[str, Reader(_file_name, FILE_NAME)]
Angle = Annotated[float, quantity_field("angle")]
Length = Annotated[float, quantity_field("length")]
Position = Annotated[float, quantity_field("position")]
Point = Annotated[tuple[Length, Length, Length], field_of_several(3, "lengths")]
Angles = Annotated[tuple[Angle, Angle, Angle], field_of_several(3, "angles")]
