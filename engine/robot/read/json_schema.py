"""The JSON Schema of robot files: that of the model, adapted to what is done between file and model.

A joint is read by the convention of its link, or else of its robot, and `repeat` stands for several links.
"""

from __future__ import annotations

from typing import Any

from ...text.fields import Schema, json_schema
from .joint_schema import JOINTS
from .repeat import GUESSES, LISTS, MOST_LINKS
from .schema import GraphJoint, LinkEntry, RobotFile

OWN: Schema = {"properties": {"convention": {"type": "string"}}, "required": ["convention"]}


def robot_schema() -> Schema:
    """The JSON Schema by which editors check robot files."""
    schema = json_schema(RobotFile, "a robot of denoc")
    definitions = schema["$defs"]
    link = _reference(LinkEntry.__name__)
    definitions["Repeat"] = _repeat(link, schema["properties"])
    definitions.pop(GraphJoint.__name__, None)  # which no file contains
    joint = definitions[LinkEntry.__name__]["properties"]["joint"]
    joint["anyOf"] = [one for one in joint["anyOf"] if one != _reference(GraphJoint.__name__)]
    links = schema["properties"]["links"]
    links["items"] = {"if": {"required": ["repeat"]}, "then": _reference("Repeat"), "else": link}
    definitions[LinkEntry.__name__]["allOf"] = [_if_convention(name, _joint_of_convention(name)) for name in JOINTS]
    # with a list of all joints, links have no joint of their own
    definitions[LinkEntry.__name__]["required"].remove("joint")
    hung = {"if": {"required": ["repeat"]}, "else": {"required": ["joint"]}}
    graph = {"properties": {"joints": {"minItems": 1}}, "required": ["joints"]}
    schema["allOf"] = [{"if": graph, "else": {"properties": {"links": {"items": hung}}}}]
    for name in JOINTS:
        own = {"if": OWN, "else": _joint_of_convention(name)}
        definitions[f"links-in-{name}"] = {**own, "properties": {"links": {"items": own}}}
        schema["allOf"].append(
            _if_convention(name, {"properties": {"links": {"items": _reference(f"links-in-{name}")}}})
        )
    return schema


def _reference(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _joint_of_convention(convention: str) -> Schema:
    """A schema of links whose joint follows this convention."""
    return {"properties": {"joint": _reference(JOINTS[convention].__name__)}}


def _if_convention(convention: str, then: Schema) -> Schema:
    """A schema that applies `then` to mappings that name this convention."""
    return {"if": {"properties": {"convention": {"const": convention}}, "required": ["convention"]}, "then": then}


def _repeat(link: Schema, whole: dict[str, Any]) -> dict[str, Any]:
    """The schema of an entry that stands for several links; `whole` has the keys of the file."""
    beside = (*((key, f"the {key}") for key in LISTS), (GUESSES, "guesses of the joints' positions"))
    return {
        "type": "object",
        "description": "Copies of links, with their loops; `{k}`, `{k-1}`, `{k+1}` in their texts count from 1.",
        "properties": {
            "repeat": {"type": "integer", "minimum": 1, "maximum": MOST_LINKS, "description": "how many copies"},
            "links": {"type": "array", "items": link, "minItems": 1, "description": "the links of one copy"},
            **{key: {**whole[key], "description": f"{what} of one copy"} for key, what in beside},
        },
        "required": ["repeat", "links"],
        "additionalProperties": False,
    }
