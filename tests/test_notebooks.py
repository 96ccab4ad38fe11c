"""The notebooks run as they are, without a warning, and show what they promise to show."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs" / "notebooks").glob("*.ipynb"))
# each cell is run as Jupyter does: its last expression is shown, as HTML if it has some
RUNNER = """
import ast, json, pathlib, sys
import matplotlib
matplotlib.use("agg")
names, shown = {"__name__": "__main__"}, []
for source in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
    cell = ast.parse(source)
    last = cell.body.pop() if cell.body and isinstance(cell.body[-1], ast.Expr) else None
    exec(compile(cell, "<cell>", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
        shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
print(json.dumps(shown))
"""


def cells(notebook, kind):
    data = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in data["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_without_a_warning(notebook, tmp_path):
    pytest.importorskip("pandas")
    code = cells(notebook, "code")
    (tmp_path / "cells.json").write_text(json.dumps(code), encoding="utf-8")
    command = [sys.executable, "-W", "error", "-c", RUNNER, str(tmp_path / "cells.json")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout.splitlines()[-1])
    assert len(shown) == len(code)
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
