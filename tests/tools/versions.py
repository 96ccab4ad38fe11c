"""Runs the quick tests on the lowest versions of what denoc needs, or on the newest, each in an environment of its own.

    python tests/tools/versions.py lowest
    python tests/tools/versions.py newest python3.11 python3.12 python3.13

Without the name of a Python this one is taken; one that isn't there is left out, with a word.  `lowest` takes the bounds
of `pyproject.toml` for what denoc itself imports; tools of the tests, and what is needed in turn, are the newest that fit.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LENIENT = "ignore::DeprecationWarning"
EXTRAS = ("cluster",)  # besides the dependencies, what denoc imports where it is there


def lowest() -> list[str]:
    """Each package that denoc imports, at its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *(one for name in EXTRAS for one in project["optional-dependencies"][name])]
    bounds = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", one) for one in needed]
    if not all(bounds):
        raise SystemExit(f"not of the form name>=version: {needed}")
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def tested(python: str, constraints: Sequence[str]) -> bool:
    """Whether the quick tests pass with this Python and these versions."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "constraints.txt").write_text("\n".join([*constraints, ""]), encoding="utf-8")
        own = work / "environment" / "bin" / "python"
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", work / "constraints.txt"]
        steps = [
            [python, "-m", "venv", work / "environment"],
            [own, *install, "-e", f"{ROOT}[test]"],
            [own, "-m", "pip", "list", "--disable-pip-version-check"],
            # old versions warn of what newer ones that they meet here have declared to be on its way out
            [own, "-m", "pytest", "-q", "-n", "0", "-m", "smoke", *(["-W", LENIENT] if constraints else [])],
        ]
        return all(
            subprocess.run([str(word) for word in step], cwd=ROOT, check=False).returncode == 0 for step in steps
        )


def main(which: str, *pythons: str) -> None:
    if which not in ("lowest", "newest"):
        raise SystemExit(__doc__)
    failed = []
    for python in pythons or (sys.executable,):
        if shutil.which(python) is None:
            print(f"{python}: not there, so not tried", flush=True)
        elif not tested(python, lowest() if which == "lowest" else []):
            failed.append(python)
    if failed:
        raise SystemExit(f"the {which} versions don't work with {', '.join(failed)}")


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["?"]))
