"""Documents from YAML text, files and Python mappings.

PyYAML does the scanning; its events are put together in `builder.py`, because its loader reads `1e-3` as text and
`yes` as true (YAML 1.1), keeps the last of two equal keys without a word and forgets where things stood. Numbers and
words follow the YAML 1.2 core schema.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import yaml

from ..errors import InputError, Place
from .builder import DocumentBuilder
from .document import (
    BREAK,
    DOCUMENT_BYTES,
    DOCUMENT_DEPTH,
    DOCUMENT_NODES,
    INTEGER_BITS,
    SURROGATE,
    Document,
    Keys,
)
from .files import text_of_file

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # some builds of PyYAML come without libyaml

# a part of PyYAML's message, with or without libyaml -> our message, and a hint
_OWN_LINE = "each `- ` stands on a line of its own"
_ONE_COLUMN = "entries of one mapping or list must start in one column, each on its own line"
MESSAGES = {
    "mapping values are not allowed": (
        "a colon stands where none can",
        "text with `: ` in it needs quotes; entries of one mapping start in one column",
    ),
    "did not find expected key": ("this doesn't line up with what stands above it", _ONE_COLUMN),
    "expected <block end>": ("this doesn't line up with what stands above it", _ONE_COLUMN),
    "did not find expected '-' indicator": ("this doesn't line up with what stands above it", _ONE_COLUMN),
    "block sequence entries are not allowed": ("a list entry can't stand here", _OWN_LINE),
    "sequence entries are not allowed": ("a list entry can't stand here", _OWN_LINE),
    "while scanning a quoted scalar": ("a quotation has no end", "a closing quote is missing"),
    "did not find expected ',' or": ("a bracket isn't closed", "a comma or a closing bracket is missing"),
    "expected ',' or": ("a bracket isn't closed", "a comma or a closing bracket is missing"),
    "could not find expected ':'": ("a key has no colon", "a colon with a space after it is missing"),
    "did not find expected node content": ("a value is missing here", "is there a comma or a bracket too many?"),
    "expected the node content": ("a value is missing here", "is there a comma or a bracket too many?"),
    "mapping keys are not allowed": ("a question mark can't stand here", "text that starts with ? needs quotes"),
    "found unexpected ':'": ("a colon stands where none can", "a space must follow it, or the text needs quotes"),
    "while scanning an alias": ("this is no alias", "text that starts with * needs quotes"),
    "while scanning an anchor": ("this is no anchor", "text that starts with & needs quotes"),
    "while scanning a tag": ("this is no tag", "text that starts with ! needs quotes"),
    "while parsing a tag": ("this is no tag", "text that starts with ! needs quotes"),
    "while parsing a node": ("this is no tag", "text that starts with ! needs quotes"),
    "while scanning a directive": ("a line starts with %", "text that starts with % needs quotes"),
    "while scanning a block scalar": ("a text block can't start so", "text that starts with | or > needs quotes"),
    "expected <document start>": ("something stands behind the end", "one file holds one mapping"),
    "expected '<document start>'": ("something stands behind the end", "one file holds one mapping"),
}

_MARK = "\ufeff"  # which the standard allows within a text, but nobody sees


def read_yaml_document(path: Path) -> Document:
    """The document in a file."""
    return parse_yaml_document(text_of_yaml_file(path), str(path))


def read_shared_yaml_document(path: Path) -> Document:
    """The document in a file, which is the same object as long as the file's text is the same; nobody changes it."""
    return _shared(text_of_yaml_file(path), str(path))


def text_of_yaml_file(path: Path) -> str:
    """The text in a file."""
    return text_of_file(path, DOCUMENT_BYTES)


def parse_yaml_document(text: str, name: str) -> Document:
    """The document in a text; `name` stands for the file in messages."""
    if not isinstance(text, str):
        raise InputError("not text", place=Place(name), found=type(text).__name__, allowed="YAML as a str")
    if len(text) > DOCUMENT_BYTES:
        raise InputError(f"the file is larger than {DOCUMENT_BYTES // 1_000_000} MB", place=Place(name))
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


_shared = lru_cache(maxsize=16)(parse_yaml_document)


def _first_unprintable(text: str) -> str:
    """The first character that YAML doesn't allow, by PyYAML's own pattern, which takes long to compile; else empty."""
    bad = yaml.reader.Reader.NON_PRINTABLE.search(text)
    mark = text.find(_MARK)
    return _MARK if mark >= 0 and (bad is None or mark < bad.start()) else bad[0] if bad else ""


def document_from_mapping(data: Any, name: str = "") -> Document:
    """The document that a Python mapping stands for, with the same plain data as from text, but without places."""
    document = Document(name)
    document.data = _plain(document, data, (), [0])
    return document


def _events(document: Document) -> Iterator[yaml.Event]:
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


# ---- data of Python


def _text(document: Document, text: str, path: Keys) -> str:
    if not text.isascii() and (bad := SURROGATE.search(text)):
        raise document.error(path, "there is a character that no text has", found=f"U+{ord(bad[0]):04X}")
    return text


def _plain(document: Document, value: Any, path: Keys, count: list[int]) -> Any:
    """A copy of a user's Python data as dicts, lists and scalars; tuples, NumPy arrays and paths are converted.

    It is the part at `path`; `count` is the number of values so far.
    """
    count[0] += 1
    if count[0] > DOCUMENT_NODES:
        raise document.error(path, f"there are more than {DOCUMENT_NODES:,} values")
    if len(path) > DOCUMENT_DEPTH:
        raise document.error((), f"lists and mappings are nested deeper than {DOCUMENT_DEPTH} levels")
    if type(value) is float:  # what large data consist of, before all that is slower to tell
        return value
    if type(value) is list:
        return _list(document, value, path, count)
    if type(value) is dict:
        return _mapping(document, value, path, count)
    if hasattr(value, "tolist"):  # NumPy
        size = getattr(value, "size", 0)
        if isinstance(size, int) and count[0] + size > DOCUMENT_NODES:
            raise document.error(path, f"there are more than {DOCUMENT_NODES:,} values")
        value = value.tolist()
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        return _text(document, str(value), path)
    if isinstance(value, Integral):
        if int(value).bit_length() > INTEGER_BITS:
            raise document.error(path, "the number is too large", found=f"{int(value).bit_length()} bits")
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return _mapping(document, value, path, count)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return _list(document, value, path, count)
    raise document.error(
        path,
        "a value of this type means nothing here",
        found=type(value).__name__,
        allowed="mappings, lists, text, numbers, true, false and None",
    )


def _mapping(document: Document, value: Mapping[Any, Any], path: Keys, count: list[int]) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise document.error(path, "a key must be text", found=f"a key of type {type(key).__name__}")
    texts = {key: _text(document, str(key), path) for key in value}
    return {text: _plain(document, value[key], (*path, text), count) for key, text in texts.items()}


def _list(document: Document, value: Sequence[Any], path: Keys, count: list[int]) -> list[Any]:
    if count[0] + len(value) > DOCUMENT_NODES:
        raise document.error(path, f"there are more than {DOCUMENT_NODES:,} values")
    if {*map(type, value)} == {float}:
        count[0] += len(value)
        return [*value]
    return [_plain(document, part, (*path, number), count) for number, part in enumerate(value)]
