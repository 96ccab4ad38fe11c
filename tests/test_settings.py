"""Environment variables are checked as options are: a value without a meaning is refused, wherever it would be read."""

import subprocess
import sys
from pathlib import Path

import pytest

import denoc
from denoc.errors import InputError
from denoc.machine.backend import choice, cores, native
from denoc.settings import SETTINGS, check_environment_settings

WRONG = {
    "DENOC_BACKEND": ["python", "Plain", "auto ", "0"],
    "DENOC_CACHE": ["file", "file/within", "/dev/null"],
    "DENOC_CORES": ["0", "-1", "two", "²", "1.5", "+2", " "],
    "DENOC_DEBUG": ["yes", "2"],
    "DENOC_LANES": ["3", "16", "8 "],
}
RIGHT = {
    "DENOC_BACKEND": ["auto", "plain", "compiled", ""],
    "DENOC_CACHE": [".", "new/folder", ""],
    "DENOC_CORES": ["1", "07", "123456789012", ""],
    "DENOC_DEBUG": ["0", "1", ""],
    "DENOC_LANES": ["2", "4", "8", ""],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a file."""
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")


@pytest.mark.parametrize("name", SETTINGS)
def test_values_without_a_meaning_are_refused_by_all_commands(name, command_line, monkeypatch):
    for value in WRONG[name]:
        monkeypatch.setenv(name, value)
        for words in (["idyn", "planar3r", "--no-plot"], ["list"], ["cache", "--clear"]):
            code, out, err = command_line(*words)
            assert (code, out) == (2, ""), value
            assert name in err
            assert f"found: `{value}`" in err
        assert sorted(path.name for path in Path().iterdir()) == ["file"]
    for value in RIGHT[name]:
        monkeypatch.setenv(name, value)
        check_environment_settings()


def test_what_comes_near_is_offered(command_line, monkeypatch):
    monkeypatch.setenv("DENOC_BACKEND", "compield")
    assert "did you mean `compiled`?" in command_line("list")[2]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("DENOC_BACKEND", choice.chosen_backend),
        ("DENOC_BACKEND", lambda: denoc.run("planar3r-idyn")),
        ("DENOC_CORES", cores.processors_to_use),
        ("DENOC_LANES", native._fitting.__wrapped__),
    ],
)
def test_the_library_refuses_them_where_it_reads_them(name, read, monkeypatch):
    monkeypatch.setenv(name, "nonsense")
    with pytest.raises(InputError, match=f"{name}: the value won't do"):
        read()
    monkeypatch.setenv(name, "")
    read()


def test_a_process_ends_with_the_message_alone(monkeypatch):
    monkeypatch.setenv("DENOC_DEBUG", "yes")
    words = [sys.executable, "-c", "import sys; sys.argv[1:] = ['list']; from denoc.cli.main import main; main()"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: DENOC_DEBUG: the value won't do\n  found: `yes`\n  allowed: 0, 1\n")
