"""No module imports another that imports it in turn, be it for typing or within a function."""

import ast
import importlib
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from denoc.door import names_of_door

ROOT = Path(__file__).resolve().parents[1]
HOMES = {"denoc": ROOT / "engine", "denoc.cli": ROOT / "cli"}


def modules():
    """Name → path of all modules; a package is its `__init__`."""
    found = {}
    for home, folder in HOMES.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((home, *(part for part in parts if part != "__init__")))
            found[name] = path
    return found


def imported(name, path, known):
    """The modules that a module imports anywhere in its text."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in known)
        elif isinstance(node, ast.ImportFrom):
            start = package.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(part for part in (start, node.module or "") if part)
            for one in node.names:
                whole = f"{base}.{one.name}"
                if whole in known or base in known:
                    yield whole if whole in known else base


def test_all_packages_are_installed():
    """Those that setuptools is told of are those that there are."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    found = [name for name, path in modules().items() if path.name == "__init__.py"]
    assert sorted(told) == sorted({*found, "denoc.robots", "denoc.scenarios", "denoc.scenarios.studies"})


def test_no_circles():
    known = modules()
    graph = {}
    for name, path in known.items():
        if name != "denoc":  # its names are looked up where they are first used
            graph[name] = {one for one in imported(name, path, known) if one not in ("denoc", name)}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None
    assert len(graph) > 150


DOORS = sorted(
    name
    for name, path in modules().items()
    if path.name == "__init__.py" and "__getattr__ = door(__name__)" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("room", DOORS)
def test_a_door_hands_on_what_it_names(room):
    """Each name once, from where it is defined, apart from the modules' own names; all but the package's door at most 40."""
    names = names_of_door(importlib.import_module(room).__name__)
    listed = ast.parse(modules()[room].read_text(encoding="utf-8"))
    block = next(node for node in listed.body if isinstance(node, ast.If))
    assert list(names) == [one.name for node in block.body for one in node.names]
    inside = {name.rpartition(".")[2] for name in modules() if name.rpartition(".")[0] == room}
    assert not inside & set(names)
    assert room == "denoc" or len(names) <= 40
    for name in names:
        assert getattr(importlib.import_module(room), name) is not None
    with pytest.raises(AttributeError, match="no attribute 'not_there'"):
        importlib.import_module(room).not_there  # noqa: B018
