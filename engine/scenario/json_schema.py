"""The JSON Schema of scenario files: that of the model, adapted to what is done between file and model.

In a file, the law of a drive may stand beside the drive's own keys.
"""

from __future__ import annotations

from ..laws import MOTION_LAWS
from ..text.fields import Schema, json_schema
from .schema import DriveEntry, ScenarioFile


def scenario_schema() -> Schema:
    """The JSON Schema by which editors check scenario files."""
    schema = json_schema(ScenarioFile, "a scenario of denoc")
    definitions = schema["$defs"]
    drive = definitions[DriveEntry.__name__]
    own = {key: value for key, value in drive["properties"].items() if key != "motion"}
    laws = [definitions[law.__name__] for law in MOTION_LAWS.values()]
    beside = [_beside(drive, own, law) for law in laws if not set(law["properties"]) & set(own)]
    definitions[DriveEntry.__name__] = {"if": {"required": ["motion"]}, "then": drive, "else": {"anyOf": beside}}
    return schema


def _beside(drive: Schema, own: Schema, law: Schema) -> Schema:
    """The schema of a drive with the keys of a law beside its own."""
    required = [key for key in drive["required"] if key != "motion"] + law["required"]
    return {**law, "properties": {**own, **law["properties"]}, "required": required}
