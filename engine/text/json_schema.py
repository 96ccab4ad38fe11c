"""JSON Schemas for editors, from the models that read the files: pydantic's own, made smaller and told in full.

What it says of quantities comes from `fields.Reader`: a number, or text with a unit; which units stands in the
description.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .fields import KIND, Strict

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_NAMED = ("properties", "patternProperties", "$defs")  # keys with schemas by name
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "propertyNames", "if", "then", "else", "not")


def json_schema(model: type[Strict], title: str) -> Schema:
    """The schema of a kind of files."""
    made = model.model_json_schema()
    return {"$schema": DIALECT, "title": title, **_without_kinds(_tidied(made))}


def schema_text(schema: Schema) -> str:
    """The schema as text, the same on every machine."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _tidied(schema: Any) -> Any:
    """Without titles made of names, unions within unions and hidden keys; descriptions say the units."""
    if not isinstance(schema, dict):
        return schema
    told = _within({key: value for key, value in schema.items() if key not in ("title", "discriminator")})
    if len(told.get("allOf", ())) == 1:
        told = {**told.pop("allOf")[0], **told}
    if "oneOf" in told:  # one law or convention: which one is said by what is in it
        told["anyOf"] = told.pop("oneOf")
    if "default" in told and told["default"] is None:
        del told["default"]  # nothing at all: the description says what that means
    if isinstance(told.get("properties"), dict):  # what is put there between file and model
        told["properties"] = {key: value for key, value in told["properties"].items() if not key.startswith("(")}
    if "anyOf" in told:
        told = _flat(told)
    if "prefixItems" in told and all(item == told["prefixItems"][0] for item in told["prefixItems"]):
        told["items"] = told.pop("prefixItems")[0]
    return _described(told)


def _within(schema: Schema) -> Schema:
    """The schema with its inner schemas tidied."""
    done: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(_NAMED, lambda inner: {name: _tidied(one) for name, one in inner.items()}),
        **dict.fromkeys(_LISTED, lambda inner: [_tidied(one) for one in inner]),
        **dict.fromkeys(_SINGLE, _tidied),
    }
    return {key: done[key](value) if key in done else value for key, value in schema.items()}


def _flat(schema: Schema) -> Schema:
    """Alternatives within alternatives as alternatives; what they say of their units is said of the whole."""
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


def _described(schema: Schema) -> Schema:
    """The kind of quantity as part of the description."""
    if schema.get("type") == "array" and KIND in schema.get("items", {}):
        count = schema.get("maxItems")
        one = schema["items"][KIND]
        schema = {**schema, KIND: f"{count} × {one}" if count and count == schema.get("minItems") else f"a list: {one}"}
    if KIND not in schema:
        return schema
    said = schema.get("description", "")
    return schema if said.endswith(schema[KIND]) else {**schema, "description": f"{said}; {schema[KIND]}".lstrip("; ")}


def _without_kinds(schema: Any) -> Any:
    """The finished schema: what only tidying needed is gone."""
    if isinstance(schema, dict):
        return {key: _without_kinds(value) for key, value in schema.items() if key != KIND}
    return [_without_kinds(one) for one in schema] if isinstance(schema, list) else schema
