"""Documents from YAML text, files and Python mappings.

PyYAML does the scanning; its events are put together in `builder.py`, because its loader reads `1e-3` as text and
`yes` as true (YAML 1.1), keeps the last of two equal keys without a word and forgets where things stood. Numbers and
words follow the YAML 1.2 core schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from ..errors import InputError, Place
from . import bounds
from .builder import DocumentBuilder
from .document import BREAK, Document
from .files import text_of_file
from .messages import MESSAGES
from .plain_data import plain_yaml_data

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # some builds of PyYAML come without libyaml

_MARK = "\ufeff"  # which the standard allows within a text, but nobody sees


def read_yaml_document(path: Path) -> Document:
    """The document in a file."""
    return parse_yaml_document(text_of_yaml_file(path), str(path))


def read_shared_yaml_document(path: Path) -> Document:
    """The document in a file, which is the same object as long as the file's text is the same; nobody changes it."""
    return _shared(text_of_yaml_file(path), str(path))


def text_of_yaml_file(path: Path) -> str:
    """The text in a file."""
    return text_of_file(path, bounds.SIZE)


def parse_yaml_document(text: str, name: str) -> Document:
    """The document in a text; `name` stands for the file in messages."""
    if not isinstance(text, str):
        raise InputError("not text", place=Place(name), found=type(text).__name__, allowed="YAML as a str")
    if len(text) > bounds.SIZE:
        raise _too_large(Place(name))
    document = Document(name, text.removeprefix("\ufeff"))
    if bad := _first_unprintable(document.text):
        before = BREAK.split(document.text[: document.text.index(bad)])
        raise InputError(
            "there is a character that YAML doesn't allow",
            place=document.spot(len(before), len(before[-1]) + 1),
            found=f"U+{ord(bad):04X}",
            allowed="text in UTF-8 without control characters",
        )
    builder = DocumentBuilder(document)
    for event in _events(document):
        builder.take(event)
    if builder.empty:
        raise InputError(
            "the document is empty",
            place=Place(name),
            hint="`denoc list` names examples, `denoc list NAME` tells where one is",
        )
    return document


@lru_cache(maxsize=16)
def _shared(text: str, name: str) -> Document:
    return parse_yaml_document(text, name)


def _first_unprintable(text: str) -> str:
    """The first character that YAML doesn't allow, by PyYAML's own pattern, which takes long to compile; else empty."""
    bad = yaml.reader.Reader.NON_PRINTABLE.search(text)
    mark = text.find(_MARK)
    return _MARK if mark >= 0 and (bad is None or mark < bad.start()) else bad[0] if bad else ""


def document_from_mapping(data: Any, name: str = "") -> Document:
    """The document that a Python mapping stands for, with the same plain data as from text, but without places."""
    document = Document(name)
    document.data = plain_yaml_data(document, data)
    return document


def _too_large(place: Place) -> InputError:
    return InputError(f"the file is larger than {bounds.SIZE // 1_000_000} MB", place=place)


def _events(document: Document) -> Iterator[Any]:
    """The events of PyYAML; its errors are raised as InputError."""
    try:
        yield from yaml.parse(document.text, Loader=LOADER)
    except yaml.MarkedYAMLError as problem:
        raise _translated(document, problem) from None
    except yaml.YAMLError as problem:
        message = " ".join(str(problem).split())
        raise InputError(f"this is not valid YAML: {message}", place=Place(document.name)) from None
    except (ValueError, OverflowError):  # PyYAML without libyaml, on "\U00110000"
        raise InputError(
            "this is not valid YAML: an escape sequence stands for no character", place=Place(document.name)
        ) from None


def _translated(document: Document, problem: yaml.MarkedYAMLError) -> InputError:
    """An error of PyYAML as an InputError, in words that fit the file."""
    message = ", ".join(str(part) for part in (problem.context, problem.problem) if part)
    opened = problem.context_mark
    mark = problem.problem_mark or opened
    if mark is None:
        return InputError(f"this is not valid YAML: {message}", place=Place(document.name))
    rest = [line[mark.column * (number == 0) :] for number, line in enumerate(document.lines[mark.line :])]
    at_end = not any(line.strip() for line in rest)
    unclosed = opened and "while parsing a flow" in message and "',' or" in message and opened.line < mark.line
    if opened and (at_end or unclosed or "expected ':'" in message):
        mark = opened  # where the bracket or quotation starts, not the far line at which PyYAML misses its end
    place = document.spot(mark.line + 1, mark.column + 1)
    message, hint = next((words for part, words in MESSAGES.items() if part in message), (message, ""))
    if "cannot start any token" in message:
        first = place.source[mark.column : mark.column + 1]
        tab = first == "\t"
        message = "a tab can't stand here" if tab else f"text can't start with {first}"
        hint = "indent with spaces, not tabs" if tab else f"text that starts with {first} needs quotes"
    return InputError(f"this is not valid YAML: {message}", place=place, hint=hint)
