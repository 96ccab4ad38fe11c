"""A row of the table of bugs, and what makes it unfit."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bug:
    """A text of a file, which occurs there once, and the wrong one that takes its place; `tests` have to fail then.

    The tests are named by file (below `tests/`) and function, as in `text/test_change.py::test_whose_mistake_it_is`.
    """

    name: str
    file: str
    was: str
    became: str
    tests: tuple[str, ...]

    def put_into(self, text: str) -> str:
        """The text of the file with the bug."""
        return text.replace(self.was, self.became)


def wrong(bug: Bug, root: Path) -> str:
    """What makes a row unfit for this tree; empty if nothing does."""
    path = root / bug.file
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if text.count(bug.was) != 1:
        return f"its text occurs {text.count(bug.was)} times in {bug.file}, not once"
    if bug.was == bug.became:
        return "it changes nothing"
    if path.suffix == ".py":
        try:
            ast.parse(bug.put_into(text))
        except SyntaxError as error:
            return f"what becomes of {bug.file} is no Python: {error}"
    if not bug.tests:
        return "it names no test"
    for test in bug.tests:
        file, _, function = test.partition("::")
        path = root / "tests" / file
        if not path.is_file() or not re.search(rf"^def {function}\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            return f"there is no test {test}"
    return ""
