"""Robots from files of any known format, names of the library, and text."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..robot import Robot
from ..robot.read import build_robot
from ..text import find_library_file, parse_yaml_document, read_yaml_document, text_of_yaml_file
from .table import BINARY, Converted, Source, robot_format_of_file
from .table import read_any_robot_format as read_any


def load(path_or_name: str | Path, *, floating: bool = False, loops: str | Path | None = None) -> Robot:
    """The robot of a file, or of the library.

    Files in other formats than denoc's own may be `floating`, their root free to move; `loops` names the file beside
    them that says how their loops close.
    """
    return build_robot(
        converted_from_any_format(find_library_file(path_or_name, "robots"), floating=floating, loops=loops).document
    )


def converted_from_any_format(path: Path, *, floating: bool = False, loops: str | Path | None = None) -> Converted:
    """A robot's file of any format in denoc's own keys, with a report of what became of its parts."""
    text = "" if path.suffix.lower() in BINARY else text_of_yaml_file(path)
    side = None
    if loops is not None:
        from .side import read_side_file_of_loops

        side = read_side_file_of_loops(read_yaml_document(Path(loops)))
    return read_any(Source(str(path), text, floating, side))


def load_shared_robot(path: Path) -> Robot:
    """The robot of a file, which is the same object as long as what it is read from says the same.

    All runs of one robot in a process so have one set of programs, and read its file once.
    """
    if path.suffix.lower() in BINARY:
        return load(path)
    text, name = text_of_yaml_file(path), str(path)
    last = _shared(text, name)
    if last and not robot_format_of_file(name, text).beside:
        return last[0]
    document = read_any(Source(name, text)).document
    if not last or last[0].document is None or last[0].document.data != document.data:
        last[:] = [build_robot(document)]
    return last[0]


@lru_cache(maxsize=32)
def _shared(text: str, name: str) -> list[Robot]:
    """Holds the robot that a file with this text had last; other files beside it may make it another one."""
    return []


def loads(yaml_text: str, name: str = "<text>") -> Robot:
    """The robot that the YAML text describes."""
    return build_robot(parse_yaml_document(yaml_text, name))
