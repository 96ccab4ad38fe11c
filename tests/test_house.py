"""The size and shape of the program: what somebody has to take in who reads it. Bounds only fall.

Code alone is counted: docstrings, comments and blank lines are free. A bound is no reason for a longer line, two jobs in
one module, or code in data. Whoever makes a figure smaller makes its bound smaller; one that has to grow wants a reason
in the commit.
"""

from __future__ import annotations

import ast
import collections
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
TREE = re.compile(r"loops is (?:not )?None|\b(?:if|elif|while|not|and|or) (?:\w+\.)*loops\b(?! is)|\.tied\b|\.closed\b")
BOUNDS = {
    "modules": 479,
    "lines of code": 59_164,
    "functions": 5_235,
    "functions inside functions, lambdas": 516,
    "private functions with one caller": 702,
    "`Any`": 831,
    "is it a tree? asked": 135,
    "lines of the longest module": 413,
    "imports past a room's door": 3,
}


@cache
def modules() -> dict[Path, tuple[str, ast.Module]]:
    paths = [path for folder in ("engine", "cli") for path in sorted((ROOT / folder).rglob("*.py"))]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    return {path: (text, ast.parse(text)) for path, text in texts.items()}


def lines_of_docstrings(tree: ast.Module) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            found.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return found


def figures(text: str, tree: ast.Module) -> dict[str, int]:
    """Those of one module."""
    documented, nodes = lines_of_docstrings(tree), list(ast.walk(tree))
    listed = list(enumerate(text.splitlines(), start=1))
    code = [k for k, line in listed if line.strip() and not line.strip().startswith("#") and k not in documented]
    outer = [node for node in nodes if isinstance(node, FUNCTION)]
    inner = sum(isinstance(one, FUNCTION) and one is not node for node in outer for one in ast.walk(node))
    private = [one.name for one in tree.body if isinstance(one, ast.FunctionDef) and re.match("_(?!_)", one.name)]
    used = collections.Counter(node.id for node in nodes if isinstance(node, ast.Name))
    return {
        "modules": 1,
        "lines of code": len(code),
        "functions": len(outer),
        "functions inside functions, lambdas": inner + sum(isinstance(node, ast.Lambda) for node in nodes),
        "private functions with one caller": sum(used[name] == 1 for name in private),
        "`Any`": used["Any"],
        "is it a tree? asked": len(TREE.findall(text)),
    }


def past_doors() -> int:
    """Imports of a module of another room that isn't a door; a room is a folder of the package."""
    homes = {
        ("denoc", *path.relative_to(ROOT / "engine").with_suffix("").parts): path
        for path in (ROOT / "engine").rglob("*.py")
    }
    count = 0
    for path, (_, tree) in modules().items():
        base = ["denoc", *(["cli"] if path.is_relative_to(ROOT / "cli") else []), *path.relative_to(ROOT).parts[1:-1]]
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("denoc")):
                start = base[: len(base) - node.level + 1] if node.level else []
                home = (*start, *(node.module or "").split(".")) if node.module else tuple(start)
                found.update(one for name in node.names for one in (home, (*home, name.name)) if one in homes)
        count += sum(len(one) > 2 and one[:2] != tuple(base[:2]) for one in found)
    return count


@cache
def measured() -> collections.Counter[str]:
    """All figures of the house."""
    longest = max(len(text.splitlines()) for text, _ in modules().values())
    total = collections.Counter({"lines of the longest module": longest, "imports past a room's door": past_doors()})
    for text, tree in modules().values():
        total.update(figures(text, tree))
    return total


@pytest.mark.smoke
@pytest.mark.parametrize("what", BOUNDS)
def test_the_house_grows_no_more(what):
    assert measured()[what] <= BOUNDS[what]


def test_what_is_counted():
    """Comments, docstrings and blank lines are free."""
    text = '"""A door."""\n\nimport os  # for all\n\n# a comment\ndef _one(x: Any) -> Any:\n    """Says."""\n    return lambda: x\n\n_one(1)\n'
    found = figures(text, ast.parse(text))
    assert found["lines of code"] == 4
    assert found["functions"] == found["private functions with one caller"] == 1
    assert found["functions inside functions, lambdas"] == 1
    assert found["`Any`"] == 2
