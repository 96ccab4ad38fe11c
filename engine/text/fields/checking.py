"""Data checked by a model, with pydantic's problems as errors in plain words at their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError

from ...errors import InputError, allowed_names
from ..document import Document, Keys, yaml_value_in_words
from .field_types import Strict, type_and_metadata_of_field
from .table_fields import Choice, Generated, OneOf

Model = TypeVar("Model", bound=Strict)


def checked_document_model(
    model: type[Model], document: Document, data: Any, where: Callable[[Keys], Keys] = lambda path: path
) -> Model:
    """The model made of `data`; an InputError reports all mistakes of the document, in the file's order.

    `where` turns a path in `data` into the path in the document, for data that was expanded.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        mistakes = [_mistake(document, model, data, problem, where) for problem in error.errors(include_url=False)]
        mistakes.sort(key=lambda m: (m.place.line, m.place.column) if m.place else (0, 0))
        first = mistakes[0]
        first.others = tuple(mistakes[1:])
        first.args = (first._text(),)
        raise first from None


def _mistake(
    document: Document, model: type[Strict], data: Any, problem: Any, where: Callable[[Keys], Keys]
) -> InputError:
    """A problem of pydantic's as an InputError with its place."""
    path = _path_in_data(problem["loc"], data)
    context = problem.get("ctx", {})
    kind, result = problem["type"], str(context.get("found") or yaml_value_in_words(problem.get("input")))
    allowed, hint = str(context.get("allowed", "")), str(context.get("hint", ""))
    if kind == "element":
        path = (*path, int(context["index"]))
        result = yaml_value_in_words(_value_at(data, path))
    if kind == "missing":
        missing = problem["loc"][-1]
        if isinstance(missing, int):
            counts = {len(get_args(one)) for one in _candidates(model, problem["loc"][:-1])} - {0}
            wanted = f"{' or '.join(map(str, sorted(counts)))} entries"
            return document.error(where(path), f"entry {missing + 1} is missing", found=result, allowed=wanted)
        return document.error(where(path), f"`{missing}` is missing", allowed=_wanted(model, problem["loc"]))
    if kind in ("union_tag_not_found", "model_attributes_type"):  # a law, which is one of several models
        laws = [tag for candidate in _candidates(model, problem["loc"]) for tag in _tags(candidate)]
        if kind == "model_attributes_type":
            allowed = "{law: …} with " + ", ".join(laws)
            return document.error(where(path), "a mapping is needed here", found=result, allowed=allowed)
        return document.error(where(path), "`law` is missing", found=result, allowed="law: " + ", ".join(laws))
    if kind == "unknown_key":
        name = context["name"]
        short = name if len(name) <= 60 else name[:57] + "…"
        return document.error(where((*path, name)), f"unknown key `{short}`", key=True, allowed=allowed, hint=hint)
    if kind in ("literal_error", "union_tag_invalid", "enum"):
        expected = str(context.get("expected") or context.get("expected_tags") or "")
        choices = [word or digits for word, digits in re.findall(r"'([^']*)'|(\d+)", expected)]
        value = _value_at(data, path)
        if kind == "union_tag_invalid":
            tag = str(context.get("discriminator", "")).strip("'")
            path = (*path, tag)
            value = _value_at(data, path)
            result = yaml_value_in_words(value)
        return document.error(where(path), "unknown value", found=result, **allowed_names(value, choices))
    plain = {
        "bool_type": ("must be true or false", "true, false"),
        "string_type": ("must be text", "text, in quotes where it looks like a number"),
        "list_type": ("must be a list", "a list: [ … ]"),
        "dict_type": ("must be a mapping", "a mapping: {key: value}"),
        "int_type": ("must be a whole number", "a whole number"),
        "too_short": ("must not be empty", "at least one entry"),
    }
    message, usual = plain.get(kind, (problem["msg"].removeprefix("Value error, "), ""))
    if kind == "too_long":
        message, usual = "too many entries", f"at most {context['max_length']}"
    if kind in ("greater_than_equal", "less_than_equal"):
        usual = f"at least {context['ge']}" if "ge" in context else f"at most {context['le']}"
        message = f"must be {usual}"
    return document.error(where(path), message, found=result, allowed=allowed or usual, hint=hint)


def _path_in_data(loc: Keys, data: Any) -> Keys:
    """A path of pydantic's without the tags that it adds for unions and functions."""
    path: list[Any] = []
    skipped = False  # whether the tag of the present mapping's law has been skipped
    for step in loc:
        if isinstance(data, dict) and step == data.get("law") and not skipped:
            skipped = True
            continue
        if (isinstance(data, dict) and step in data) or (
            isinstance(data, list | tuple) and isinstance(step, int) and step < len(data)
        ):
            data, skipped = _value_at(data, (step,)), False
        else:
            continue
        path.append(step)
    return tuple(path)


def _value_at(data: Any, path: Keys) -> Any:
    for step in path:
        data = data[step]
    return data


def _wanted(model: type[Strict], loc: Keys) -> str:
    """The allowed values of a missing key, or, if it has no fixed values, the keys of its mapping."""
    mappings = [candidate for candidate in _candidates(model, loc[:-1]) if _is_model(candidate)]
    if len(mappings) != 1:
        return ""
    field = _fields(mappings[0]).get(str(loc[-1]))
    words = [name for choice in field.metadata if isinstance(choice, Choice) for name in choice.names] if field else []
    if field and get_origin(field.annotation) is Literal:
        words += map(str, get_args(field.annotation))
    return f"{loc[-1]}: {', '.join(words)}" if words else f"keys here: {', '.join(mappings[0].keys())}"


def _is_model(candidate: Any) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, Strict)


def _fields(model: type[Strict]) -> dict[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _candidates(model: Any, loc: Keys) -> list[Any]:
    """The types at the end of pydantic's path `loc`: several for a union, unless a tag selects one."""
    candidates = [model]
    for step in loc:
        inner: list[Any] = []
        for candidate in candidates:
            origin, arguments = get_origin(candidate), get_args(candidate)
            if _is_model(candidate) and isinstance(step, str) and step in _fields(candidate):
                field = _fields(candidate)[step]
                inner += _members(field.annotation, field.metadata)
            elif origin in (list, tuple) and isinstance(step, int):
                inner += _members(arguments[min(step, len(arguments) - 1)])
            elif origin is dict:
                inner += _members(arguments[1])
            elif step in _tags(candidate):
                inner.append(candidate)
        candidates = list(dict.fromkeys(inner)) or candidates
    return candidates


def _members(annotation: Any, metadata: Iterable[Any] = ()) -> list[Any]:
    """The members of a union, the models of a table, or the type itself, each without its `Annotated`."""
    for one in metadata:
        if isinstance(one, OneOf | Generated):
            return list(one.models)
    if get_origin(annotation) is Annotated:
        return _members(*type_and_metadata_of_field(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return [member for argument in get_args(annotation) for member in _members(argument)]
    return [annotation]


def _tags(candidate: Any) -> tuple[str, ...]:
    """The values that select this model in a union: the name of a law or of a convention."""
    if not _is_model(candidate):
        return ()
    return tuple(
        f"({tag})" if field.exclude else str(tag)
        for field in candidate.model_fields.values()
        if get_origin(field.annotation) is Literal and (field.is_required() or field.exclude)
        for tag in get_args(field.annotation)
    )
