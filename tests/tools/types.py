"""Runs mypy on the package; the folders are shown to it under the names that they are installed as."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "denoc")
        package.mkdir()
        for path in (ROOT / "engine").iterdir():
            if path.name != "__pycache__":
                os.symlink(path, package / path.name)
        os.symlink(ROOT / "cli", package / "cli")
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "-p", "denoc"]
        return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
