"""What `--json` prints: one document on standard output, whether a command succeeds or fails.

Every document has the version of its shape, `format`; a list has it in each of its entries. The shapes are in
`shapes.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from denoc.errors import DenocError, InputError

if TYPE_CHECKING:
    from denoc.cli.shapes import Failure, Mistake
    from denoc.cli.study_shapes import Difference as Change
    from denoc.record.compared import Difference

FORMAT = 1  # grows when a key of any document goes or changes its meaning; a key that is added leaves it as it is
OPTION = "--json"
_shown: list[object] = []  # the document that has been printed, for a command prints only one


def json_is_asked(words: Sequence[str]) -> bool:
    """Whether the words of a command line ask for JSON."""
    options = words[: words.index("--")] if "--" in words else words
    return OPTION in options


def print_json_document(
    document: Mapping[str, object] | Sequence[Mapping[str, object]], *, indent: int | None = 1
) -> None:
    """Prints a document with its version; numbers that JSON doesn't have (unknown, infinite) become null."""
    if isinstance(document, Mapping):
        versioned: object = {"format": FORMAT, **document}
    else:
        versioned = [{"format": FORMAT, **one} for one in document]
    _shown.append(document)
    print(json.dumps(_finite(versioned), indent=indent, allow_nan=False))


def json_of_difference(one: Difference) -> Change:
    """The document of a difference of numbers or words."""
    return {**asdict(one), "times": one.times}  # type: ignore[typeddict-item]


def begin_json_document() -> None:
    """Makes room for the one document of a command."""
    _shown.clear()


def print_json_failure(kind: str, message: str, code: int, error: object = None) -> None:
    """Prints a failure, unless the command has printed its document before it failed."""
    if _shown:
        return
    mistake = _mistake(kind, message, error)
    others: list[Mistake] = []
    if isinstance(error, InputError):
        others = [_mistake(json_kind_of_error(other), other.message, other) for other in error.others]
    failure: Failure = {"error": {**mistake, "others": others}, "exit_code": code}
    print_json_document(failure)


def json_kind_of_error(error: DenocError) -> str:
    """The kind of an error, by the name of its class: `input`, `model`, `assembly`, `numerical`, `cluster`."""
    return type(error).__name__.removesuffix("Error").lower()


def _mistake(kind: str, message: str, error: object) -> Mistake:
    """One mistake with its place; what isn't known is null."""
    place = error.place if isinstance(error, InputError) else None
    details: dict[str, str | None] = dict.fromkeys(("key", "found", "allowed", "hint"))
    if isinstance(error, InputError):
        message = error.message
        details = {name: getattr(error, name) or None for name in details}
    return {
        "kind": kind,
        "message": message,
        "file": place.file if place else None,
        "line": (place.line or None) if place else None,
        "column": (place.column or None) if place else None,
        "key": details["key"],
        "found": details["found"],
        "allowed": details["allowed"],
        "hint": details["hint"],
    }


def _finite(value: Any) -> Any:
    """The value with null in place of floats that aren't finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(x) for key, x in value.items()}
    return [_finite(x) for x in value] if isinstance(value, list | tuple) else value
