"""`denoc schema`: JSON Schemas of files, for editors, and of what `--json` prints, for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denoc.cli import options
from denoc.cli.said import print_lines, print_text

if TYPE_CHECKING:
    from denoc.text.fields import Schema

FILES = ("robot", "scenario", "study", "identification")


def kinds_with_schema() -> list[str]:
    """Everything that has a schema: the kinds of files, the commands with `--json`, and `error`."""
    from denoc.cli.shapes import OUTPUTS

    return [*FILES, *OUTPUTS]


def schema_command(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="robot, scenario, study, identification, error, or a command with --json.",
            autocompletion=options.completion_from_names("denoc.cli.schema", "kinds_with_schema"),
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the schema to this file (default: print it).")
    ] = None,
) -> None:
    """Print the JSON Schema of a kind of files, or of what a command prints with --json."""
    from denoc.text.fields import json_schema_text

    text = json_schema_text(schema_of_kind(kind))
    if out is None:
        print_text(text)
        return
    options.write_text_of_command(out, text)
    print_lines(str(out))


def schema_of_kind(kind: str) -> Schema:
    """The JSON Schema of a kind of files, or of a command's output."""
    if kind == "robot":
        from denoc.robot.read import robot_schema

        return robot_schema()
    if kind == "scenario":
        from denoc.scenario import scenario_schema

        return scenario_schema()
    if kind == "study":
        from denoc.study.sweep import study_schema

        return study_schema()
    if kind == "identification":
        from denoc.study.identification import IdentificationFile
        from denoc.text.fields import json_schema

        return json_schema(IdentificationFile, "what `denoc identify` does")
    from denoc.errors import InputError, allowed_names

    known = kinds_with_schema()
    if kind not in known:
        raise InputError("no such schema", found=f"`{kind}`", **allowed_names(kind, known))
    return schema_of_command_output(kind)


def schema_of_command_output(command: str) -> Schema:
    """The JSON Schema of what a command prints with `--json`, made from its shape."""
    from pydantic import TypeAdapter

    from denoc.cli.as_json import FORMAT
    from denoc.cli.shapes import OUTPUTS
    from denoc.text.fields import DIALECT, described_json_schema

    version: Schema = {"const": FORMAT, "description": "the version of this shape; keys may come without a new version"}
    output = OUTPUTS[command]
    choices: list[Schema] = []
    definitions: Schema = {}
    for shape in (*output.one, *output.many):
        made = described_json_schema(TypeAdapter(shape).json_schema())
        definitions |= made.pop("$defs", {})
        made["properties"] = {"format": version, **made["properties"]}
        made["required"] = ["format", *made.get("required", [])]
        choices.append({"type": "array", "items": made} if shape in output.many else made)
    whole = choices[0] if len(choices) == 1 else {"anyOf": choices}
    title = "an error of denoc" if command == "error" else f"denoc {command} --json: {output.about}"
    return {"$schema": DIALECT, "title": title, **whole, **({"$defs": definitions} if definitions else {})}
