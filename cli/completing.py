"""What the shell offers while one types: names of the library, files of the right kind, results and their columns.

Nothing heavy is imported here, for every press of the tab key starts the program. Where nothing fits, the shell offers
files by itself; so it does within other folders.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import typer

DESCRIPTIONS = (".yaml", ".yml")
ROBOTS = (*DESCRIPTIONS, ".urdf", ".xacro", ".xml", ".mjcf", ".sdf", ".world", ".m", ".mat", ".par")
LONGEST = 1_000_000  # characters of a header
RESULTS = Path("outputs")
HARMLESS = re.compile(r"[\w.+/@%:=-]+")  # words that no shell takes for more: zsh runs commands that stand in others
SEPARATORS = tuple({os.sep, os.altsep or os.sep})


def complete_robots(incomplete: str) -> list[str]:
    """The library's robots, and files here that may hold one."""
    return _library("robots", incomplete, ROBOTS)


def complete_scenarios(incomplete: str) -> list[str]:
    """The library's scenarios, and files here that may hold one."""
    return _library("scenarios", incomplete, DESCRIPTIONS)


def complete_robots_and_scenarios(incomplete: str) -> list[str]:
    """The library's robots and scenarios, and files here that may hold either."""
    return list(dict.fromkeys([*complete_robots(incomplete), *complete_scenarios(incomplete)]))


def shell_completion_of_list(incomplete: str) -> list[str]:
    """What `denoc list` can list."""
    from denoc.text import ONE, library_names

    known = [*ONE, *(name for kind in ONE for name in library_names(kind))]
    return _offered(known, incomplete)


def complete_studies(incomplete: str) -> list[str]:
    """The library's studies, and files here that may hold one."""
    return _library("studies", incomplete, DESCRIPTIONS)


def complete_results(incomplete: str) -> list[str]:
    """The folders under `outputs` that hold a result."""
    folders = sorted(path.parent for path in RESULTS.glob("*/*.json") if path.with_suffix(".csv").is_file())
    shown = [folder.as_posix() for folder in dict.fromkeys(folders)]
    return _offered(shown, incomplete)


def complete_columns(context: typer.Context, incomplete: str) -> list[str]:
    """The columns of the result that stands on the line already."""
    given = context.params.get("result")
    for path in map(Path, [*context.args, *([given] if given else [])]):
        tables = sorted(path.glob("*.csv")) if path.is_dir() else [path.with_suffix(".csv")] if path.suffix else []
        for table in tables:
            if table.is_file() and table.with_suffix(".json").is_file():
                with table.open(encoding="utf-8", errors="replace") as file:
                    return _offered(file.readline(LONGEST).strip().split(","), incomplete)
    return []


def _library(kind: str, incomplete: str, suffixes: tuple[str, ...]) -> list[str]:
    """Names of the library, then files here."""
    from denoc.text import library_names

    there = [] if any(separator in incomplete for separator in SEPARATORS) else os.listdir()
    files = sorted(name for name in there if name.endswith(suffixes) and not name.startswith("."))
    return _offered([*library_names(kind), *files], incomplete)


def _offered(words: Iterable[str], incomplete: str) -> list[str]:
    """The words that begin so, without any that a shell could take for more than a word."""
    return [word for word in words if word.startswith(incomplete) and HARMLESS.fullmatch(word)]
