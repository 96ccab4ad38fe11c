"""The notebooks run as they are, without a warning, and show what they promise to show."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs" / "notebooks").glob("*.ipynb"))
# each notebook is run in its folder, with names of its own, and each cell as Jupyter does it: its last expression is
# shown, as HTML if it has some; what has gone wrong is the traceback, in place of what is shown
RUNNER = """
import ast, json, os, pathlib, sys, traceback
import matplotlib
matplotlib.use("agg")

def carried_out(cells):
    names, shown = {"__name__": "__main__"}, []
    for source in cells:
        cell = ast.parse(source)
        last = cell.body.pop() if cell.body and isinstance(cell.body[-1], ast.Expr) else None
        exec(compile(cell, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    return shown

results = {}
for folder in sys.argv[1:]:
    os.chdir(folder)
    try:
        results[folder] = carried_out(json.loads(pathlib.Path("cells.json").read_text(encoding="utf-8")))
    except BaseException:
        results[folder] = traceback.format_exc()
print(json.dumps(results))
"""


def cells(notebook, kind):
    data = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in data["cells"] if cell["cell_type"] == kind]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What each notebook shows, by one process for all, which imports pandas and matplotlib once."""
    pytest.importorskip("pandas")
    folders = {notebook: tmp_path_factory.mktemp(notebook.stem) for notebook in NOTEBOOKS}
    for notebook, folder in folders.items():
        (folder / "cells.json").write_text(json.dumps(cells(notebook, "code")), encoding="utf-8")
    command = [sys.executable, "-W", "error", "-c", RUNNER, *map(str, folders.values())]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    return {notebook: found[str(folder)] for notebook, folder in folders.items()}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_without_a_warning(notebook, results):
    shown = results[notebook]
    assert isinstance(shown, list), shown
    assert len(shown) == len(cells(notebook, "code"))
    assert "<table>" in shown[0]
    assert "data:image/png;base64," in shown[0]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_results(notebook):
    """So that a change of a cell is all that a change of the file shows."""
    data = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in data["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"] == [] and cell["execution_count"] is None)
    assert len(cells(notebook, "markdown")) > 2


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3
