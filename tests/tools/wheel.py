"""Builds sdist and wheel, installs each in a fresh virtual environment, and runs the command there.

The sources of the sdist are then installed as they lie there (`pip install -e`), in a folder called `denoc`, and Python
is started beside it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path) -> None:
    print("  $", *command, flush=True)
    subprocess.run([str(c) for c in command], cwd=cwd, check=True)


def main() -> None:
    shutil.rmtree(ROOT / "build", ignore_errors=True)  # setuptools would take stale files from it
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run(sys.executable, "-m", "build", "--outdir", work / "dist", ROOT, cwd=work)
        for archive in sorted((work / "dist").iterdir()):
            home = work / archive.suffix.strip(".")
            venv.create(home, with_pip=True)
            python = home / "bin" / "python"
            run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", archive, cwd=work)
            run(home / "bin" / "denoc", "idyn", "puma.yaml", "--out", home / "results", "--quiet", cwd=work)
            run(home / "bin" / "denoc", "inspect", "tree", cwd=work)
            run(home / "bin" / "denoc", "new", "robot", "arm", "--out", home / "arm.yaml", cwd=work)
            made = sorted(path.name for path in (home / "results" / "puma-idyn").iterdir())
            assert "puma-idyn.csv" in made, made
            assert "puma-idyn-torques.png" in made, made
            if archive.suffix == ".gz":
                shutil.unpack_archive(archive, work)
                (work / archive.name.removesuffix(".tar.gz")).rename(work / "denoc")
                run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", "denoc", cwd=work)
                run(python, "-c", "import denoc; assert '/engine/' in denoc.__file__; denoc.load('puma')", cwd=work)
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    print("sdist and wheel install and run")


if __name__ == "__main__":
    main()
