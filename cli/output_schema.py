"""The JSON Schemas of the documents that `--json` prints, made from their shapes."""

from __future__ import annotations

from pydantic import TypeAdapter

from denoc.cli.as_json import FORMAT
from denoc.cli.shapes import OUTPUTS
from denoc.text.fields import DIALECT, Schema, described_json_schema

VERSION: Schema = {"const": FORMAT, "description": "the version of this shape; keys may come without a new version"}


def schema_of_command_output(command: str) -> Schema:
    """The JSON Schema of what a command prints with `--json`."""
    output, choices = OUTPUTS[command], list[Schema]()
    definitions: Schema = {}
    for shape in (*output.one, *output.many):
        made = described_json_schema(TypeAdapter(shape).json_schema())
        definitions |= made.pop("$defs", {})
        made["properties"] = {"format": VERSION, **made["properties"]}
        made["required"] = ["format", *made.get("required", [])]
        choices.append({"type": "array", "items": made} if shape in output.many else made)
    whole = choices[0] if len(choices) == 1 else {"anyOf": choices}
    title = "an error of denoc" if command == "error" else f"denoc {command} --json: {output.about}"
    return {"$schema": DIALECT, "title": title, **whole, **({"$defs": definitions} if definitions else {})}
