"""Robots from files, names of the library, and text."""

from __future__ import annotations

from pathlib import Path

from ..text.library import find
from ..text.source import parse, read
from .build import build
from .model import Robot


def load(path_or_name: str | Path) -> Robot:
    """The robot of a YAML file, or of the library."""
    return build(read(find(path_or_name, "robots")))


def loads(yaml_text: str, name: str = "<text>") -> Robot:
    """The robot that the YAML text describes."""
    return build(parse(yaml_text, name))
