"""Documents built from the events of PyYAML; the data as YAML 1.2 has it, with every place kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import yaml

from ..errors import InputError, Words, did_you_mean
from .document import DOCUMENT_DEPTH, DOCUMENT_NODES, SURROGATE, Document, Keys, Spot, dotted_path
from .writing import resolve_yaml_scalar

_TAGS = {"tag:yaml.org,2002:" + kind: kind for kind in ("str", "int", "float", "bool", "null", "seq", "map")}


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


class DocumentBuilder:
    """Fills a document from events; the open lists and mappings are a stack, so depth costs no recursion."""

    def __init__(self, document: Document):
        self.document = document
        self.stack: list[_Open] = []
        self.anchors: dict[str, _Anchored | None] = {}  # None while the anchored node is still open
        self.count = 0
        self.documents = 0
        self.empty = True

    def take(self, event: yaml.Event) -> None:
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
            elif isinstance(event, yaml.CollectionStartEvent):
                self.open(event)

    def error(self, event: yaml.Event, message: str, **words: Unpack[Words]) -> InputError:
        place = self.document.spot(*_spot(event))
        return InputError(message, place=place, key=dotted_path(self.path()), **words)

    def path(self) -> Keys:
        """The path of the node that comes next."""
        if not self.stack:
            return ()
        top = self.stack[-1]
        if isinstance(top.data, list):
            return (*top.path, len(top.data))
        return top.path if top.key is None else (*top.path, top.key)

    def add(self, event: yaml.Event, value: Any) -> Keys:
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

    def counted(self, event: yaml.Event, nodes: int) -> None:
        """Counts nodes of the document, and refuses too many."""
        self.count += nodes
        if self.count > DOCUMENT_NODES:
            message = f"there are more than {DOCUMENT_NODES:,} values, what aliases stand for included"
            raise self.error(event, message, hint="`repeat` writes many links at once")

    def checked_depth(self, event: yaml.Event, height: int) -> None:
        """Refuses data that is nested too deeply."""
        if len(self.stack) + height > DOCUMENT_DEPTH:
            message = f"lists and mappings are nested deeper than {DOCUMENT_DEPTH} levels"
            raise self.error(event, message, hint="is a closing bracket missing?")

    def open(self, event: yaml.CollectionStartEvent) -> None:
        """Begins a list or a mapping."""
        self.checked_depth(event, 1)
        before = self.count
        self.counted(event, 1)
        kind = "seq" if isinstance(event, yaml.SequenceStartEvent) else "map"
        if self.tag(event) not in (None, kind):
            raise self.error(
                event, f"the tag doesn't fit a {'list' if kind == 'seq' else 'mapping'}", found=str(event.tag)[:60]
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

    def scalar(self, event: yaml.ScalarEvent) -> None:
        """Puts a scalar in its place, as a key or as a value."""
        self.counted(event, 1)
        value = self.value(event)
        if not self.stack and event.value == "" and event.implicit[0]:
            return  # `---` or comments alone make an empty scalar
        path = self.add(event, value)
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(value, path, 1, 0)

    def key(self, top: _Open, event: yaml.NodeEvent) -> None:
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
                key=dotted_path(path),
                hint="keep one of the two",
            )
        self.document.keys[path] = _spot(event)
        top.key = key
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(key, path, 1, 0)

    def alias(self, event: yaml.AliasEvent) -> None:
        """Puts a copy of the anchored data in the place of an alias."""
        name = str(event.anchor)
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

    def tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> str | None:
        """The short name of an explicit tag."""
        if event.tag is not None and event.tag not in _TAGS:
            allowed = ", ".join(f"!!{kind}" for kind in _TAGS.values())
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")[:60]
            raise self.error(event, "this tag is not supported", found=shown, allowed=allowed)
        return _TAGS[event.tag] if event.tag is not None else None

    def value(self, event: yaml.ScalarEvent) -> Any:
        """The value of a scalar."""
        text, tag = event.value, self.tag(event)
        if SURROGATE.search(text):  # from an escape such as "\ud800"; PyYAML without libyaml lets it pass
            raise self.error(event, "an escape sequence stands for no character")
        if tag is None:
            return resolve_yaml_scalar(text) if event.implicit[0] else text
        if tag == "str":
            return text
        value = resolve_yaml_scalar(text)
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
