"""Runs a command in a folder where the package has the shape that it is installed in.

In the source tree `denoc` is the folder `engine`, and `denoc.cli` the folder `cli`; setuptools gives them their names.
Tools that read the source (mypy, import-linter) can't know that, so here they see links with the right names:

    python tests/tools/installed.py mypy -p denoc
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ("pyproject.toml", ".importlinter")
# an editable install's finder is asked first (engine/_install.py), and would lead the tools back to the source tree
AWAY = "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if '__editable__' not in str(getattr(f, '__module__', ''))]\n"


def lay_out(home: Path, root: Path = ROOT) -> None:
    """Links to the tree's files, under the names that `package-dir` gives to their folders."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    for package, folder in sorted(project["tool"]["setuptools"]["package-dir"].items()):
        place = home.joinpath(*package.split("."))
        place.mkdir()
        for path in (root / folder).iterdir():
            if path.name != "__pycache__":
                (place / path.name).symlink_to(path)
    for name in SETTINGS:
        (home / name).symlink_to(root / name)


def main(command: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder))
        Path(folder, "sitecustomize.py").write_text(AWAY, encoding="utf-8")
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        around = {**os.environ, "PATH": path, "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache"), "PYTHONPATH": folder}
        return subprocess.run(command, cwd=folder, check=False, env=around).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
