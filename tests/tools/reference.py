"""The page docs/reference.md: every key of robot, scenario and study files, from the JSON Schemas made of the models.

`tests/tools/pages.py` (`make pages`) writes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import accuracy

from denoc.laws import FORCE_LAWS, MOTION_LAWS
from denoc.robot.read import robot_schema
from denoc.scenario import scenario_schema
from denoc.study.sweep import study_schema
from denoc.text import yaml_flow_text
from denoc.text.fields import Schema

INTRODUCTION = """# All keys of robot, scenario and study files

Made by `make pages` from the models that read the files and of which the JSON Schemas
([robot](schema/robot.json), [scenario](schema/scenario.json), [study](schema/study.json)) are made;
[files.md](files.md) and, for studies, [studies.md](studies.md) explain, and have examples.

Every quantity is a number in SI units or an expression with a unit, such as `90 deg` ([files.md](files.md#numbers)).
Where the default is empty, nothing is there unless the last column says otherwise.
"""
ACCURACY = """Errors of many steps add up, though loops stay closed and the energy stays balanced. The largest error of an angle
of the library's four-bar linkage and PUMA, which fall freely from rest, with each method's defaults; `lost` is a robot
whose motion is chaotic, from the instant on at which an angle is off by 0.1 rad (`python tests/tools/accuracy.py`
measures it, beside `dop853` with `rtol: 1e-13`). `--error` estimates it for any run ([files.md](files.md#solver)).

{}"""
NUMBER = "number"
SEVERAL = f"{NUMBER} or list of {NUMBER}"
QUANTITY = re.compile(r"^(?:\d+ × )?(?P<one>an? .*)$")
OF_MOTION, OF_FORCE = "motion laws", "force laws"


class Reference:
    """The part of the page about one kind of files."""

    def __init__(self, kind: str, schema: Schema) -> None:
        self.kind, self.schema = kind, schema
        tables = {OF_MOTION: MOTION_LAWS, OF_FORCE: FORCE_LAWS}
        self.groups = {law.__name__: group for group, table in tables.items() for law in table.values()}

    def text(self) -> str:
        parts = [f"## {self.kind.capitalize()} files\n\n{self.table(self.schema)}"]
        entries = self.entries()
        parts += [self.section(name) for name in entries if name not in self.groups]
        for group in dict.fromkeys(self.groups[name] for name in entries if name in self.groups):
            of_group = [name for name in entries if self.groups.get(name) == group]
            links = ", ".join(f"[{self.said(name)}](#{self.anchor(name)})" for name in of_group)
            parts.append(f"### {self.kind}: {group}\n\n{links}.\n")
            parts += [self.section(name) for name in of_group]
        return "\n".join(parts)

    def entries(self) -> list[str]:
        """The kinds of entries that the file's keys lead to, in the order in which they are met."""
        found: list[str] = []
        waiting = [self.schema["properties"]]
        while waiting:
            for name in references(waiting.pop(0)):
                if name not in found:
                    found.append(name)
                    waiting.append(self.definition(name)["properties"])
        return found

    def definition(self, name: str) -> Schema:
        """An entry's own keys; of a drive those that it has with its law under `motion`."""
        schema: Schema = self.schema["$defs"][name]
        return schema.get("then", schema)

    def said(self, name: str) -> str:
        """`DhJoint` as `dh joint`, a law by what its key `law` says."""
        if name in self.groups:
            return str(self.definition(name)["properties"]["law"]["const"])
        return "".join(f" {x.lower()}" if x.isupper() else x for x in name).strip().removesuffix(" entry")

    def heading(self, name: str) -> str:
        again = self.groups.get(name) == OF_FORCE and self.said(name) in MOTION_LAWS
        return f"{self.kind}: {self.said(name)}{' (force)' if again else ''}"

    def anchor(self, name: str) -> str:
        return re.sub(r"[:()]", "", self.heading(name).lower()).replace(" ", "-")

    def section(self, name: str) -> str:
        schema = self.definition(name)
        about = [escaped(schema["description"])] if "description" in schema else []
        keys = ("law", *schema["properties"])  # the schema has an example's keys by their letters
        ordered = ({key: one[key] for key in keys if key in one} for one in schema.get("examples", ()))
        shown = [f"Example: `{yaml_flow_text(example)}`" for example in ordered]
        behind = [ACCURACY.format(accuracy.accuracy_table(accuracy.kept_accuracy()))] if name == "SolverEntry" else []
        return "\n\n".join([f"### {self.heading(name)}", *about, *shown, self.table(schema), *behind])

    def table(self, schema: Schema) -> str:
        rows = ["| key | is | default | meaning |", "|---|---|---|---|"]
        required = [
            *schema.get("required", []),
            *(["joint"] if schema is self.schema["$defs"].get("LinkEntry") else []),
        ]
        for key, value in schema["properties"].items():
            default = "required" if key in required else shown(value["default"]) if "default" in value else ""
            meaning, quantity = apart(value)
            rows.append(f"| `{key}` | {self.filled(value, quantity)} | {default} | {escaped(meaning)} |")
        return "\n".join(rows) + "\n"

    def filled(self, value: Schema, quantity: str) -> str:
        """What may stand there, with the kind of quantity where there are numbers."""
        what = self.sort(value)
        if not quantity:
            return what.replace("name → " + SEVERAL, "name → number, or list of such")
        if SEVERAL in what:
            return what.replace(SEVERAL, quantity)
        return what.replace(NUMBER, quantity)

    def sort(self, schema: Schema) -> str:
        """What may stand there, in a few words."""
        if "$ref" in schema:
            return f"[{self.said(entry(schema))}](#{self.anchor(entry(schema))})"
        if "if" in schema:  # links, or copies of links
            return f"{self.sort(schema['else'])} or {self.sort(schema['then'])}"
        if "anyOf" in schema:
            return " or ".join(dict.fromkeys(self.choices(schema["anyOf"])))
        if "const" in schema:
            return f"`{schema['const']}`"
        if "enum" in schema:
            return ", ".join(f"`{one}`" for one in schema["enum"])
        if schema.get("type") == "array":
            fixed = schema.get("maxItems") == schema.get("minItems") and schema.get("maxItems")
            inner = self.sort(schema["items"])
            return f"[{fixed} × {inner}]" if fixed else f"list of {inner}"
        if schema.get("type") == "object":
            return f"name → {self.sort(inside(schema))}"
        return plain(schema)

    def choices(self, several: list[Schema]) -> Iterator[str]:
        for one in several:
            if "$ref" in one and entry(one) in self.groups:
                group = self.groups[entry(one)]
                yield f"[one of the {group}](#{self.kind}-{group.replace(' ', '-')})"
            elif one.get("type") != "null":
                yield self.sort(one)


def references(piece: Any) -> Iterator[str]:
    if isinstance(piece, dict):
        if "$ref" in piece:
            yield entry(piece)
        for inner in piece.values():
            yield from references(inner)
    elif isinstance(piece, list):
        for inner in piece:
            yield from references(inner)


def entry(piece: Schema) -> str:
    return str(piece["$ref"]).rsplit("/", 1)[1]


def inside(schema: Schema) -> Schema:
    """What the values of a mapping are."""
    inner = schema.get("additionalProperties") or next(iter(schema["patternProperties"].values()))
    return dict(inner)


def apart(value: Schema) -> tuple[str, str]:
    """Meaning, and kind of quantity: the schema has them in one description."""
    said = value.get("description", "")
    if value.get("type") == "object":
        return said, apart(inside(value))[1]
    *meaning, last = said.split("; ")
    found = QUANTITY.match(last) if "pi|" in json.dumps(value) else None
    return ("; ".join(meaning), found["one"]) if found else (said, "")


def plain(schema: Schema) -> str:
    if schema.get("type") == "number" or "pi|" in schema.get("pattern", ""):
        return NUMBER
    if isinstance(schema["type"], list):
        return "name"
    return {"integer": "integer", "boolean": "`true`, `false`"}.get(schema["type"], "text")


def shown(value: Any) -> str:
    """A default as the file would have it."""
    if value in ([], {}, ""):
        return "none"
    if isinstance(value, dict):
        return "its keys' own"
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{text.replace('.0,', ',').replace('.0]', ']').removesuffix('.0')}`"


def escaped(text: str) -> str:
    """As text of a table, but for what stands in back quotes."""
    pieces = " ".join(text.split()).split("`")
    pieces[::2] = [re.sub(r"([|*_])", r"\\\1", piece).replace("<", "&lt;") for piece in pieces[::2]]
    return "`".join(pieces)


def page() -> str:
    """The whole page."""
    kinds = {"robot": robot_schema(), "scenario": scenario_schema(), "study": study_schema()}
    return "\n".join([INTRODUCTION, *(Reference(kind, schema).text() for kind, schema in kinds.items())])
