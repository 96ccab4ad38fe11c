"""Robots from files, names of the library, and text."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..text.library import find
from ..text.source import parse, read, text_of
from .build import build
from .model import Robot


def load(path_or_name: str | Path) -> Robot:
    """The robot of a YAML file, or of the library."""
    return build(read(find(path_or_name, "robots")))


def shared(path: Path) -> Robot:
    """The robot of a YAML file, which is the same object as long as the file's text is the same.

    All runs of one robot in a process so have one set of programs, and read its file once.
    """
    return _shared(text_of(path), str(path))


@lru_cache(maxsize=32)
def _shared(text: str, name: str) -> Robot:
    return loads(text, name)


def loads(yaml_text: str, name: str = "<text>") -> Robot:
    """The robot that the YAML text describes."""
    return build(parse(yaml_text, name))
