"""A row of the table of bugs: where it is, what stands there, and the wrong code that takes its place.

Places are names and shapes of syntax trees, not lines: a row stays right when its function moves to another module, or
is laid out in another way.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDERS = ("engine", "cli")
BODIES = ("body", "orelse", "finalbody")
Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Bug:
    """An expression, or statements, in one place of the program, and what they become; `tests` have to fail then.

    The place is the name of a function, class or constant, such as `Closure.gaps`; behind the names of its modules,
    as in `simulate/crossings:_closed`, where several have that name. In the code, `...` as the body of a statement
    stands for whatever is there. Within long texts, such as templates of IR, the place has them as `text`; of files that
    aren't Python, such as `pages/simulator.js`, the place is the end of the path. The tests are named by file (below `tests/`) and function, as in `text/test_change.py::test_whose_mistake_it_is`.
    """

    name: str
    place: str
    was: str
    became: str
    tests: tuple[str, ...]
    text: bool = False  # whether it is text that is replaced, not code

    def found(self, root: Path) -> Path:
        """The file that the bug is put into; a `LookupError` says why there is none."""
        return self._site(root)[0]

    def put_into(self, root: Path) -> str:
        """The text of that file with the bug."""
        path, nodes = self._site(root)
        text = path.read_text(encoding="utf-8")
        if nodes is None:
            return text.replace(self.was, self.became)
        if not self.text:
            return _replaced(text, nodes, self.became)
        begin, end = _span(text, nodes)
        within = text[begin:end]
        if within.count(self.was) != 1:
            raise LookupError(f"its text occurs {within.count(self.was)} times in {self.place}, not once")
        return text[:begin] + within.replace(self.was, self.became) + text[end:]

    def _site(self, root: Path) -> tuple[Path, Sequence[ast.AST] | None]:
        if "/" in self.place and ":" not in self.place:
            paths = [
                path for folder in FOLDERS for path in (root / folder).rglob("*") if str(path).endswith(self.place)
            ]
            counts = [path.read_text(encoding="utf-8").count(self.was) for path in paths]
            if counts != [1]:
                raise LookupError(f"its text occurs {sum(counts)} times in {len(paths)} files, not once in one")
            return paths[0], None
        scopes = scopes_named(root, self.place)
        if len(scopes) != 1:
            raise LookupError(f"{len(scopes)} places have the name {self.place}")
        ((path, scope),) = scopes
        if self.text:
            return path, [scope]
        matches = list(_matches(scope, _parsed(self.was)))
        if len(matches) != 1:
            raise LookupError(f"its code occurs {len(matches)} times in {self.place}, not once")
        return path, matches[0]


def scopes_named(root: Path, place: str) -> list[tuple[Path, Scope]]:
    """The functions, classes and constants of this name; `modules:` alone is a whole module."""
    modules, _, name = place.rpartition(":")
    known = _program(root)
    within = [path for path in known if not modules or _is_module(root, path, modules)]
    return [(path, one) for path in within for one in known[path].get(name, ())]


def _is_module(root: Path, path: Path, modules: str) -> bool:
    return f"/{path.relative_to(root).with_suffix('')}".endswith(f"/{modules}")


@lru_cache(maxsize=8)
def _program(root: Path) -> Mapping[Path, Mapping[str, Sequence[Scope]]]:
    """All scopes of all modules, by their names."""
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))]
    return {path: _scopes(ast.parse(path.read_text(encoding="utf-8"))) for path in paths}


def _scopes(tree: ast.Module) -> dict[str, list[Scope]]:
    found: dict[str, list[Scope]] = {"": [tree]}

    def look(body: Sequence[ast.stmt], within: str, inside: bool) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.setdefault(within + node.name, []).append(node)
                look(node.body, f"{within}{node.name}.", inside or not isinstance(node, ast.ClassDef))
            elif isinstance(node, ast.Assign | ast.AnnAssign) and not inside:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for one in targets:
                    if isinstance(one, ast.Name):
                        found.setdefault(within + one.id, []).append(node)
            else:
                for field in BODIES:
                    look(getattr(node, field, ()), within, inside)

    look(tree.body, "", False)
    return found


def _parsed(code: str) -> ast.expr | list[ast.stmt]:
    code = textwrap.dedent(code).strip("\n")
    try:
        return ast.parse(code.strip(), mode="eval").body
    except SyntaxError:
        return ast.parse(code).body


def _matches(scope: ast.AST, pattern: ast.expr | list[ast.stmt]) -> Iterator[Sequence[ast.AST]]:
    """The expressions, or runs of statements, that are as the pattern says."""
    for node in ast.walk(scope):
        if not isinstance(pattern, list):
            if isinstance(node, ast.expr) and _alike(node, pattern):
                yield [node]
            continue
        for field in BODIES:
            body, count = getattr(node, field, None), len(pattern)
            for k in range(len(body) - count + 1 if isinstance(body, list) else 0):
                if all(map(_alike, body[k : k + count], pattern)):
                    yield body[k : k + count]


def _alike(node: object, pattern: object) -> bool:
    """Whether both are the same code, wherever it stands; a body `...` in the pattern is any."""
    if isinstance(pattern, ast.AST):
        if type(node) is not type(pattern):
            return False
        pairs = ((name, getattr(node, name, None), getattr(pattern, name, None)) for name in pattern._fields)
        return all(
            name in ("ctx", "kind", "type_comment") or (name in BODIES and x and _is_open(y)) or _alike(x, y)
            for name, x, y in pairs
        )
    if isinstance(pattern, list):
        return isinstance(node, list) and len(node) == len(pattern) and all(map(_alike, node, pattern))
    return type(node) is type(pattern) and node == pattern


def _is_open(body: object) -> bool:
    return isinstance(body, list) and [ast.dump(one) for one in body] == [ast.dump(ast.Expr(ast.Constant(...)))]


def _span(text: str, nodes: Sequence[Any]) -> tuple[int, int]:
    """Where these nodes begin and end in a text."""
    lines = text.splitlines(keepends=True)

    def place(line: int, column: int) -> int:  # columns are counted in bytes
        return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())

    if isinstance(nodes[0], ast.Module):
        return 0, len(text)
    return place(nodes[0].lineno, nodes[0].col_offset), place(nodes[-1].end_lineno, nodes[-1].end_col_offset)


def _replaced(text: str, nodes: Sequence[Any], became: str) -> str:
    """The text with other code in the place of these nodes."""
    begin, end = _span(text, nodes)
    if isinstance(nodes[0], ast.expr):
        return f"{text[:begin]}({textwrap.dedent(became).strip()}){text[end:]}"
    became = _with_open_bodies(nodes, textwrap.dedent(became).strip("\n"))
    return text[:begin] + textwrap.indent(became, " " * nodes[0].col_offset).lstrip(" ") + text[end:]


def _with_open_bodies(nodes: Sequence[ast.AST], became: str) -> str:
    """The code that takes the place, with what stands now where it leaves bodies open."""
    tree = ast.parse(became)
    for node, other in zip(nodes, tree.body):
        for field in BODIES:
            if _is_open(getattr(other, field, None)) and getattr(node, field, None):
                setattr(other, field, getattr(node, field))
    return ast.unparse(tree)


def wrong(bug: Bug, root: Path) -> str:
    """What makes a row unfit for this tree; empty if nothing does."""
    try:
        path, text = bug.found(root), bug.put_into(root)
        if path.suffix == ".py" and ast.dump(ast.parse(text)) == ast.dump(ast.parse(path.read_text(encoding="utf-8"))):
            return "it changes nothing"
        if text == path.read_text(encoding="utf-8"):
            return "it changes nothing"
    except LookupError as error:
        return str(error)
    except SyntaxError as error:
        return f"what becomes of {bug.place} is no Python: {error}"
    if not bug.tests:
        return "it names no test"
    for test in bug.tests:
        file, _, function = test.partition("::")
        there = root / "tests" / file
        if not there.is_file() or not re.search(rf"^def {function}\(", there.read_text(encoding="utf-8"), re.MULTILINE):
            return f"there is no test {test}"
    return ""
