"""JSON Schemas for editors, made from the models that read the files: pydantic's schemas, simplified and described.

A quantity is a number, or text with a unit, as `field_types.Reader` has it; the description names the units.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .field_types import KIND, Strict

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_NAMED = ("properties", "patternProperties", "$defs")  # keys with schemas by name
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "propertyNames", "if", "then", "else", "not")


def json_schema(model: type[Strict], title: str) -> Schema:
    """The JSON Schema of the files that a model reads."""
    return {"$schema": DIALECT, "title": title, **described_json_schema(model.model_json_schema())}


def described_json_schema(made: Schema) -> Schema:
    """A schema of pydantic's, simplified, with the units of quantities in its descriptions."""
    tidy: Schema = _without_kinds(_tidied(made))
    return tidy


def json_schema_text(schema: Schema) -> str:
    """The schema as text, the same on every machine."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _tidied(schema: Any) -> Any:
    """A schema without generated titles, nested unions and hidden keys, and with units in its descriptions."""
    if not isinstance(schema, dict):
        return schema
    tidy = _with_tidy_parts({key: value for key, value in schema.items() if key not in ("title", "discriminator")})
    if isinstance(tidy.get("const"), str):
        tidy.setdefault("type", "string")  # which older versions of pydantic leave out
    if tidy.get("additionalProperties") is True:
        del tidy["additionalProperties"]  # which says nothing, and older versions leave out
    if len(tidy.get("allOf", ())) == 1:
        tidy = {**tidy.pop("allOf")[0], **tidy}
    if "oneOf" in tidy:  # one law or convention; its keys say which one
        tidy["anyOf"] = tidy.pop("oneOf")
    if "default" in tidy and tidy["default"] is None:
        del tidy["default"]  # null is no value that a file would have; the description says what a missing key means
    if isinstance(tidy.get("properties"), dict):  # keys that the program adds between file and model
        tidy["properties"] = {key: value for key, value in tidy["properties"].items() if not key.startswith("(")}
    if "anyOf" in tidy:
        tidy = _with_flat_alternatives(tidy)
    if "prefixItems" in tidy and all(item == tidy["prefixItems"][0] for item in tidy["prefixItems"]):
        tidy["items"] = tidy.pop("prefixItems")[0]
    return _with_described_kind(tidy)


def _with_tidy_parts(schema: Schema) -> Schema:
    """The schema with its inner schemas tidied."""
    done: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(_NAMED, lambda inner: {name: _tidied(one) for name, one in inner.items()}),
        **dict.fromkeys(_LISTED, lambda inner: [_tidied(one) for one in inner]),
        **dict.fromkeys(_SINGLE, _tidied),
    }
    return {key: done[key](value) if key in done else value for key, value in schema.items()}


def _with_flat_alternatives(schema: Schema) -> Schema:
    """A schema whose nested alternatives are in one list, and whose kinds of quantities belong to the whole."""
    choices: list[Schema] = []
    kinds = [schema[KIND]] if KIND in schema else []
    for one in schema["anyOf"]:
        if KIND in one and one[KIND] not in kinds:
            kinds.append(one[KIND])
        inner = {key: value for key, value in one.items() if key not in (KIND, "description")}
        alone = set(inner) == {"anyOf"}
        for choice in inner["anyOf"] if alone else [inner if KIND in one else one]:
            if choice not in choices:
                choices.append(choice)
    if len(kinds) > 1 and kinds[1] == f"a list: {kinds[0]}":
        kinds[1:] = ["a list of such"]
    return {**schema, "anyOf": choices, **({KIND: ", or ".join(kinds)} if kinds else {})}


def _with_described_kind(schema: Schema) -> Schema:
    """A schema whose description names the kind of quantity."""
    if schema.get("type") == "array" and KIND in schema.get("items", {}):
        count = schema.get("maxItems")
        one = schema["items"][KIND]
        schema = {**schema, KIND: f"{count} × {one}" if count and count == schema.get("minItems") else f"a list: {one}"}
    if KIND not in schema:
        return schema
    words = schema.get("description", "")
    return (
        schema if words.endswith(schema[KIND]) else {**schema, "description": f"{words}; {schema[KIND]}".lstrip("; ")}
    )


def _without_kinds(schema: Any) -> Any:
    """The schema without the keys that only `_tidied` needs."""
    if isinstance(schema, dict):
        return {key: _without_kinds(value) for key, value in schema.items() if key != KIND}
    return [_without_kinds(one) for one in schema] if isinstance(schema, list) else schema
