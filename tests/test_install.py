"""Whichever way it is installed, `import denoc` is the package, also next to a folder that has its name."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BACKEND = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
WAYS = {"pip install .": "build_wheel", "pip install -e .": "build_editable"}  # README's, and so the Makefile's
QUESTION = "import denoc, denoc.cli.main; print(denoc.load('planar3r').name, denoc.__file__)"


@pytest.fixture(params=WAYS)
def installed(request, tmp_path):
    """A checkout called `denoc`, and the Python of a fresh environment that the package was installed in from there."""
    pytest.importorskip("setuptools", minversion="70.1")  # the first that needs no other package to build
    checkout = tmp_path / "denoc"
    for name in ("engine", "cli", "robots", "scenarios"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, checkout)
    call = f"import {BACKEND['build-backend']} as backend; print(backend.{WAYS[request.param]}('wheels'))"
    (checkout / "wheels").mkdir()
    others = [
        name for name in sys.path if not Path(name).is_relative_to(ROOT / "tests")
    ]  # a tool there is called wheel
    path = os.pathsep.join([*(str(checkout / name) for name in BACKEND["backend-path"]), *others])
    built = subprocess.run(
        [sys.executable, "-c", call],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    venv.create(tmp_path / "home")
    places = sysconfig.get_paths("venv", vars={"base": str(tmp_path / "home"), "platbase": str(tmp_path / "home")})
    site = Path(places["purelib"])
    with zipfile.ZipFile(checkout / "wheels" / built.stdout.splitlines()[-1]) as wheel:
        wheel.extractall(site)
        record = wheel.read(next(name for name in wheel.namelist() if name.endswith("RECORD"))).decode()
        assert sorted(line.split(",")[0] for line in record.splitlines()) == sorted(wheel.namelist())
    # what denoc depends on, from where it is; files that say more of these folders are not read
    (site / "zz-dependencies.pth").write_text("\n".join(name for name in sys.path if name.endswith("-packages")))
    shutil.rmtree(checkout / "wheels")
    shutil.rmtree(checkout / "build", ignore_errors=True)
    return checkout, Path(places["scripts"]) / "python", request.param


def answer(python, folder):
    around = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([python, "-c", QUESTION], cwd=folder, env=around, capture_output=True, text=True, check=False)


def test_python_started_beside_the_checkout_finds_the_package(installed, tmp_path):
    checkout, python, way = installed
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for folder in (tmp_path, checkout, elsewhere):
        done = answer(python, folder)
        assert done.returncode == 0, f"{way}, in {folder}: {done.stderr}"
        name, file = done.stdout.split()
        assert name == "planar3r"
        assert Path(file).is_relative_to(checkout / "engine") == (way == "pip install -e .")


def test_no_text_takes_denoc_from_an_index():
    """There the name is another project's: who installs it by name gets that one."""
    by_name = re.compile(r"install\b[^`\n]*(?<![\w./-])denoc(?![\w./-])")
    assert by_name.search("python -m pip install -U denoc")
    assert by_name.search("pip install 'denoc[cluster]'")
    assert not by_name.search("pip install ./denoc-0.2.0-py3-none-any.whl")
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile", ROOT / ".ci" / "run"]
    files += [
        path for place in ("docs", "engine", "cli", "robots", "scenarios") for path in (ROOT / place).rglob("*.*")
    ]
    texts = [path for path in files if path.suffix in ("", ".md", ".py", ".yaml", ".json")]
    assert len(texts) > 100
    told = [
        f"{path.relative_to(ROOT)}: {found[0]}" for path in texts if (found := by_name.search(path.read_text("utf-8")))
    ]
    assert not told
