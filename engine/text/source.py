"""Documents from YAML text, files and Python mappings.

PyYAML does the scanning; its events are put together here, because its loader reads `1e-3` as text and `yes` as
true (YAML 1.1), keeps the last of two equal keys without a word and forgets where things stood. Numbers and words
follow the YAML 1.2 core schema.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ..errors import InputError, Place, did_you_mean
from .document import BREAK, Document, Keys, Spot, dotted
from .messages import MESSAGES
from .yaml_scalars import resolve

SIZE_LIMIT = 16_000_000  # bytes of text
DEPTH_LIMIT = 64  # lists and mappings within each other
NODE_LIMIT = 200_000  # keys and values; an alias counts as many as it stands for
BIT_LIMIT = 14_000  # of an integer: fewer than Python agrees to print

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # some builds of PyYAML come without libyaml

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_TAGS = {"tag:yaml.org,2002:" + kind: kind for kind in ("str", "int", "float", "bool", "null", "seq", "map")}


def read(path: Path) -> Document:
    """The document in a file."""
    return parse(text_of(path), str(path))


def text_of(path: Path) -> str:
    """The text in a file."""
    place = Place(str(path))
    try:
        if path.is_dir():  # asked first, for Windows answers "permission denied" when a directory is opened
            raise InputError("this is a directory, not a file", place=place)
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)  # bounded, whatever the file system says about its size
    except FileNotFoundError:
        raise InputError("there is no such file", place=place) from None
    except (OSError, ValueError) as problem:  # ValueError: a name with a null character
        why = getattr(problem, "strerror", None) or str(problem)
        raise InputError(f"the file can't be read: {why}", place=place) from None
    if len(content) > SIZE_LIMIT:
        raise _too_large(place)
    try:
        return content.decode()
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise InputError(
            "the file is not text in UTF-8",
            place=place,
            found=f"byte 0x{content[problem.start]:02x} on line {line}",
            hint="save it with the encoding UTF-8",
        ) from None


def parse(text: str, name: str) -> Document:
    """The document in a text; `name` stands for the file in messages."""
    if not isinstance(text, str):
        raise InputError("not text", place=Place(name), found=type(text).__name__, allowed="YAML as a str")
    if len(text) > SIZE_LIMIT:
        raise _too_large(Place(name))
    document = Document(name, text.removeprefix("\ufeff"))
    if bad := _UNPRINTABLE.search(document.text):
        before = BREAK.split(document.text[: bad.start()])
        raise InputError(
            "there is a character that YAML doesn't allow",
            place=document.spot(len(before), len(before[-1]) + 1),
            found=f"U+{ord(bad[0]):04X}",
            allowed="text in UTF-8 without control characters",
        )
    builder = _DocumentBuilder(document)
    for event in _events(document):
        builder.take(event)
    if builder.empty:
        raise InputError(
            "the document is empty",
            place=Place(name),
            hint="`denoc list` names examples, `denoc list NAME` tells where one is",
        )
    return document


def from_mapping(data: Any, name: str = "") -> Document:
    """The document that a Python mapping stands for, with the same plain data as from text, but without places."""
    document = Document(name)
    document.data = _plain(document, data, (), [0])
    return document


def _too_large(place: Place) -> InputError:
    return InputError(f"the file is larger than {SIZE_LIMIT // 1_000_000} MB", place=place)


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


class _Anchored(NamedTuple):
    """A finished node that aliases may stand for."""

    data: Any
    path: Keys
    size: int  # nodes in it, itself included
    height: int  # lists and mappings within each other


@dataclass
class _Open:
    """A list or mapping whose end hasn't come yet."""

    data: dict[str, Any] | list[Any]
    path: Keys
    anchor: str | None
    before: int  # nodes of the document before this one
    height: int = 1
    key: str | None = None  # of a mapping: the key that waits for its value


class _DocumentBuilder:
    """Fills a document from events; the open lists and mappings are a stack, so depth costs no recursion."""

    def __init__(self, document: Document):
        self.document = document
        self.stack: list[_Open] = []
        self.anchors: dict[str, _Anchored | None] = {}  # None while the anchored node is still open
        self.count = 0
        self.documents = 0
        self.empty = True

    def take(self, event: Any) -> None:
        """Puts one event of PyYAML into the document."""
        top = self.stack[-1] if self.stack else None
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self.error(event, "a second document starts here", hint="one file holds one document")
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self.close()
        elif isinstance(event, yaml.NodeEvent):
            if top and isinstance(top.data, dict) and top.key is None:
                self.key(top, event)
            elif isinstance(event, yaml.AliasEvent):
                self.alias(event)
            elif isinstance(event, yaml.ScalarEvent):
                self.scalar(event)
            else:
                self.open(event)

    def error(self, event: Any, message: str, *, found: str = "", allowed: str = "", hint: str = "") -> InputError:
        place = self.document.spot(*_spot(event))
        return InputError(message, place=place, key=dotted(self.path()), found=found, allowed=allowed, hint=hint)

    def path(self) -> Keys:
        """The path of the node that comes next."""
        if not self.stack:
            return ()
        top = self.stack[-1]
        if isinstance(top.data, list):
            return (*top.path, len(top.data))
        return top.path if top.key is None else (*top.path, top.key)

    def add(self, event: Any, value: Any) -> Keys:
        """Adds a value to the open list or mapping, and returns its path."""
        path = self.path()
        self.document.values[path] = _spot(event)
        if not self.stack:
            self.document.data = value
            self.empty = False
            return path
        top = self.stack[-1]
        if isinstance(top.data, list):
            top.data.append(value)
        elif top.key is not None:
            top.data[top.key] = value
            top.key = None
        return path

    def counted(self, event: Any, nodes: int) -> None:
        """Counts nodes of the document, and refuses too many."""
        self.count += nodes
        if self.count > NODE_LIMIT:
            message = f"there are more than {NODE_LIMIT:,} values, what aliases stand for included"
            raise self.error(event, message, hint="`repeat` writes many links at once")

    def checked_depth(self, event: Any, height: int) -> None:
        """Refuses data that is nested too deeply."""
        if len(self.stack) + height > DEPTH_LIMIT:
            message = f"lists and mappings are nested deeper than {DEPTH_LIMIT} levels"
            raise self.error(event, message, hint="is a closing bracket missing?")

    def open(self, event: Any) -> None:
        """Begins a list or a mapping."""
        self.checked_depth(event, 1)
        before = self.count
        self.counted(event, 1)
        kind = "seq" if isinstance(event, yaml.SequenceStartEvent) else "map"
        if self.tag(event) not in (None, kind):
            raise self.error(
                event, f"the tag doesn't fit a {'list' if kind == 'seq' else 'mapping'}", found=event.tag[:60]
            )
        data: dict[str, Any] | list[Any] = [] if kind == "seq" else {}
        path = self.add(event, data)
        self.stack.append(_Open(data, path, event.anchor, before))
        if event.anchor:
            self.anchors[event.anchor] = None

    def close(self) -> None:
        """Ends the list or mapping that was begun last."""
        done = self.stack.pop()
        if self.stack:
            self.stack[-1].height = max(self.stack[-1].height, done.height + 1)
        if done.anchor:
            self.anchors[done.anchor] = _Anchored(done.data, done.path, self.count - done.before, done.height)

    def scalar(self, event: Any) -> None:
        """Puts a scalar in its place, as a key or as a value."""
        self.counted(event, 1)
        value = self.value(event)
        if not self.stack and event.value == "" and event.implicit[0]:
            return  # `---` or comments alone make an empty scalar
        path = self.add(event, value)
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(value, path, 1, 0)

    def key(self, top: _Open, event: Any) -> None:
        """Checks a key; it waits in `top` for its value."""
        self.counted(event, 1)
        if not isinstance(event, yaml.ScalarEvent):
            what = "alias" if isinstance(event, yaml.AliasEvent) else "list or mapping"
            message = f"a key must be plain text, not a{'n' * (what == 'alias')} {what}"
            raise self.error(event, message, allowed="key: value")
        self.value(event)  # refuses tags and characters as for any value
        key, plain = event.value, event.implicit[0]
        if plain and key == "<<":
            raise self.error(
                event, "merge keys (`<<`) are not supported", hint="write the entries out, or alias a whole mapping"
            )
        if plain and key == "":
            raise self.error(event, "a key is missing before `:`", allowed="key: value")
        path = (*top.path, key)
        if key in top.data:
            first, again = self.document.keys[path][0], _spot(event)[0]
            raise InputError(
                f"the key stands here twice: on line {first} and on line {again}",
                place=self.document.spot(*_spot(event)),
                key=dotted(path),
                hint="keep one of the two",
            )
        self.document.keys[path] = _spot(event)
        top.key = key
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(key, path, 1, 0)

    def alias(self, event: Any) -> None:
        """Puts a copy of the anchored data in the place of an alias."""
        name = event.anchor
        if name not in self.anchors:
            hint = did_you_mean(name[:60], self.anchors) or "text that starts with * needs quotes"
            raise self.error(event, f"there is no anchor `&{name[:60]}` before this alias", hint=hint)
        anchored = self.anchors[name]
        if anchored is None:
            raise self.error(event, f"the alias `*{name}` refers to itself", hint="nothing can hold itself")
        # sizes are known before anything is copied, so a few lines can't become a billion values
        self.checked_depth(event, anchored.height)
        self.counted(event, anchored.size)
        path = self.path()
        self.add(event, self.copy(anchored.data, anchored.path, path))
        if self.stack:
            self.stack[-1].height = max(self.stack[-1].height, anchored.height + 1)

    def copy(self, data: Any, old: Keys, new: Keys) -> Any:
        """A copy of anchored data, whose parts keep the places at which they are written."""
        if not isinstance(data, dict | list):
            return data
        copied: Any = {} if isinstance(data, dict) else [None] * len(data)
        for step, value in data.items() if isinstance(data, dict) else enumerate(data):
            before, after = (*old, step), (*new, step)
            self.document.values[after] = self.document.values[before]
            if before in self.document.keys:
                self.document.keys[after] = self.document.keys[before]
            copied[step] = self.copy(value, before, after)
        return copied

    def tag(self, event: Any) -> str | None:
        """The short name of an explicit tag."""
        if event.tag is not None and event.tag not in _TAGS:
            allowed = ", ".join(f"!!{kind}" for kind in _TAGS.values())
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")[:60]
            raise self.error(event, "this tag is not supported", found=shown, allowed=allowed)
        return _TAGS[event.tag] if event.tag is not None else None

    def value(self, event: Any) -> Any:
        """The value of a scalar."""
        text, tag = event.value, self.tag(event)
        if _SURROGATE.search(text):  # from an escape such as "\ud800"; PyYAML without libyaml lets it pass
            raise self.error(event, "an escape sequence stands for no character")
        if tag is None:
            return resolve(text) if event.implicit[0] else text
        if tag == "str":
            return text
        value = resolve(text)
        if tag == "float" and type(value) is int:
            try:
                return float(value)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
        if tag != {int: "int", float: "float", bool: "bool", type(None): "null"}.get(type(value)):
            raise self.error(event, f"the value doesn't fit its tag !!{tag}", found=text[:40])
        return value


def _spot(event: Any) -> Spot:
    """Line and column where an event starts, from 1."""
    return event.start_mark.line + 1, event.start_mark.column + 1


def _text(document: Document, text: str, path: Keys) -> str:
    if bad := _SURROGATE.search(text):
        raise document.error(path, "there is a character that no text has", found=f"U+{ord(bad[0]):04X}")
    return text


def _plain(document: Document, value: Any, path: Keys, count: list[int]) -> Any:
    """A copy of a user's Python data as dicts, lists and scalars; tuples, NumPy arrays and paths are converted."""
    count[0] += 1
    if count[0] > NODE_LIMIT:
        raise document.error(path, f"there are more than {NODE_LIMIT:,} values")
    if len(path) > DEPTH_LIMIT:
        raise document.error((), f"lists and mappings are nested deeper than {DEPTH_LIMIT} levels")
    if hasattr(value, "tolist"):  # NumPy
        size = getattr(value, "size", 0)
        if isinstance(size, int) and count[0] + size > NODE_LIMIT:
            raise document.error(path, f"there are more than {NODE_LIMIT:,} values")
        value = value.tolist()
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        return _text(document, str(value), path)
    if isinstance(value, Integral):
        if int(value).bit_length() > BIT_LIMIT:
            raise document.error(path, "the number is too large", found=f"{int(value).bit_length()} bits")
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise document.error(path, "a key must be text", found=f"a key of type {type(key).__name__}")
        texts = {key: _text(document, str(key), path) for key in value}
        return {text: _plain(document, value[key], (*path, text), count) for key, text in texts.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        if count[0] + len(value) > NODE_LIMIT:
            raise document.error(path, f"there are more than {NODE_LIMIT:,} values")
        return [_plain(document, part, (*path, number), count) for number, part in enumerate(value)]
    raise document.error(
        path,
        "a value of this type means nothing here",
        found=type(value).__name__,
        allowed="mappings, lists, text, numbers, true, false and None",
    )
