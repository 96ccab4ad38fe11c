"""Makes every `file.py:name` of the pages on the algorithm and the machine a link to that line of the code.

    python tests/tools/links.py

`tests/test_readme.py` checks that the links still lead into what they name; run this when lines have moved.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("theory.md", "machine.md")
POINTER = re.compile(r"\[?`([\w/]+\.py):([\w.]+)`(?:\]\([^)]*\))?")


def lines(file: str, name: str) -> tuple[int, int]:
    """The first and the last line of a function, class, method or constant of a file of engine/."""
    found: ast.AST = ast.parse((ROOT / "engine" / file).read_text(encoding="utf-8"))
    for part in name.split("."):
        found = next(node for node in ast.iter_child_nodes(found) if part in _names(node))
    return found.lineno, found.end_lineno  # type: ignore[attr-defined]


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def linked(text: str) -> str:
    """The page with its links."""

    def link(found: re.Match[str]) -> str:
        file, name = found[1], found[2]
        return f"[`{file}:{name}`](../engine/{file}#L{lines(file, name)[0]})"

    return POINTER.sub(link, text)


if __name__ == "__main__":
    for page in PAGES:
        path = ROOT / "docs" / page
        path.write_text(linked(path.read_text(encoding="utf-8")), encoding="utf-8")
