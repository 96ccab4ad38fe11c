"""The documentation is true: its commands run, print what it says they print, and what it points at is there.

The blocks of each document are carried out one after the other, in a folder of its own.  `yaml` blocks that
begin with `# name.yaml` become that file, other complete robots and scenarios are read; in `console` blocks every
line after a command has to occur in what the command prints, in order (`…` stands for any lines, within a line for any
letters); a `text` block after a `python` one is what it prints.  Lines that make a
virtual environment are not carried out, nor are programs that need a package which isn't installed (`# needs mujoco`).

The README's commands are given to a shell, as its reader gives them, and so are all that need one.  A command of another
page that is nothing but `denoc` and its words runs in this process, which spares it the start of another one.
"""

import ast
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import denoc
import yamls
from denoc.cli.main import main
from denoc.scenario import plan_of_scenario
from denoc.text import document_from_mapping

pytestmark = pytest.mark.usefixtures("unseen_pictures")
ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELLS = ("sh", "console")
SNIPPET = "python snippet.py"
OR_CODE = ' || echo "exit code $?"'
VARIES = (  # with the processor, the day, or both
    r"in \d+\.\d\d s\b",
    r"holds to \d",
    r"\d steps",
    r"\d evaluations",
    r"at most \d\S* of what is allowed",
)


def blocks(document):
    """Language, text and line of every fenced block."""
    text = document.read_text(encoding="utf-8")
    return [(m[1], m[2], text[: m.start()].count("\n") + 1) for m in FENCE.finditer(text)]


def commands(text):
    """Of a console block: each command and the lines shown after it."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def occurs(shown, printed, where):
    """Every shown line is among the printed ones, in their order; `…` stands for what may be there instead."""
    lines = iter(printed.splitlines())
    for line in shown:
        if line.strip() not in ("", "…"):
            pattern = ".+".join(re.escape(piece) for piece in line.rstrip().split("…"))
            there = any(re.fullmatch(pattern, one.rstrip()) for one in lines)
            assert there, f"{where}: not printed: {line!r}; printed:\n{printed}"


@pytest.fixture
def shell(tmp_path):
    """Runs a command where `denoc` and `python` are those under test."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, words in (("denoc", "-c 'from denoc.cli.main import main; main()'"), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (tools / name).chmod(0o755)
    folder = tmp_path / "document"
    folder.mkdir()
    env = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}

    def run(command, where):
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=env,
            text=True,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert done.returncode == 0, f"{where}: `{command}` ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    run.folder = folder
    return run


@pytest.fixture
def here(shell, monkeypatch):
    """Runs a command of `denoc`, or a program in Python, in this process; any other command in the shell."""
    monkeypatch.chdir(shell.folder)
    monkeypatch.setenv("COLUMNS", "100")

    def run(command, where):
        alone = command.removesuffix(OR_CODE)
        mine = command == SNIPPET and not adds_a_row((shell.folder / "snippet.py").read_text(encoding="utf-8"))
        if not mine and not of_denoc_alone(alone):
            return shell(command, where)
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with monkeypatch.context() as now:
            now.setattr(sys, "argv", shlex.split(alone))
            now.setattr(sys, "stdout", printed)
            now.setattr(sys, "stderr", printed)
            if command == SNIPPET:
                runpy.run_path("snippet.py", run_name="__main__")
                return printed.buffer.getvalue().decode()
            with pytest.raises(SystemExit) as leaving:
                main()
        said = printed.buffer.getvalue().decode()
        if command != alone:
            return said + f"exit code {leaving.value.code}\n" * bool(leaving.value.code)
        assert not leaving.value.code, f"{where}: `{command}` ended with {leaving.value.code}:\n{said}"
        return said

    run.folder = shell.folder
    return run


def adds_a_row(program):
    """Whether a program puts a row into one of denoc's tables, where it would stay for all other tests."""
    return re.search(r"^[A-Z_]{3,}\[.*\] = ", program, re.MULTILINE)


def of_denoc_alone(command):
    """Whether the shell would do nothing with this line but split it into words, the first of which is `denoc`."""
    unquoted = re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", command.strip())
    return command.startswith("denoc ") and not re.search(r"[^\w\s./=:,+@%-]", unquoted) and "\n" not in command.strip()


def lacking(program):
    """Whether a program begins with `# needs …` and one of these packages isn't there."""
    packages = re.match(r"# needs ([\w, ]+)\n", program)
    return packages is not None and any(find_spec(name) is None for name in packages[1].split(", "))


def read(text, where):
    """Complete robots and scenarios in the documentation can be read; pieces of them are YAML at least."""
    data = yamls.load(text)
    if isinstance(data, dict) and "links" in data and "convention" in data:
        assert denoc.loads(text).nv, where
    elif isinstance(data, dict) and "task" in data and "table" not in text:
        assert plan_of_scenario(document_from_mapping(data), denoc.load(data["robot"]), "shown"), where


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_is_shown_is_so(document, here):
    run, printed = here, ""
    for language, text, line in blocks(document):
        where = f"{document.name}:{line}"
        if language == "python" and lacking(text):
            printed = None
        elif language == "yaml":
            name = re.match(r"# ([\w-]+\.yaml)\n", text)
            if name:
                (run.folder / name[1]).write_text(text, encoding="utf-8")
            else:
                read(text, where)
        elif language == "sh" and not re.search(r"\.venv|^make ", text, re.MULTILINE):
            run(text, where)
        elif language == "console":
            for command, shown in commands(text):
                occurs(shown, run(command, where), f"{where}: {command}")
        elif language == "python":
            (run.folder / "snippet.py").write_text(text, encoding="utf-8")
            printed = run(SNIPPET, where)
        elif language == "text":
            if printed is not None:
                occurs(text.splitlines(), printed, where)
        else:
            assert language in ("", *SHELLS), f"{where}: nothing is known of `{language}`"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_nothing_is_shown_that_another_machine_would_print_otherwise(document):
    """Durations, residuals, and how many steps and evaluations a run has taken."""
    for language, text, line in blocks(document):
        for pattern in VARIES if language == "console" else ():
            assert not re.search(pattern, text), f"{document.name}:{line}: {re.search(pattern, text)[0]}"


def test_shown_lines_are_looked_for_in_order():
    printed = "one: done in 0.3 s\ntwo\nthree\n"
    occurs(["one: done in … s", "…", "three"], printed, "")
    for shown in (["two", "one: …"], ["one: done in … m"], ["tw"], ["two…"], ["one: done …", "done in …"]):
        with pytest.raises(AssertionError, match="not printed"):
            occurs(shown, printed, "")


def test_what_a_shell_would_change_is_left_to_it():
    for command in ("denoc run 'a b' --set x=\"1, 2\"", "denoc idyn puma.yaml --at -90", "denoc run --set 'a={b: 1}'"):
        assert of_denoc_alone(command)
    for command in (
        "denoc run *.yaml",
        "denoc a; b",
        "denoc a || b",
        'denoc "$HOME"',
        "denoc a > b",
        "denoc a\ndenoc b",
    ):
        assert not of_denoc_alone(command)
    assert not of_denoc_alone("python denoc ")


def test_make_has_the_targets_that_are_named():
    rules = " ".join(re.findall(r"^([\w -]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)).split()
    for document in DOCUMENTS:
        for target in re.findall(r"(?:^|`)make ([\w-]+)", document.read_text(), re.MULTILINE):
            assert target in rules, f"{document.name}: make {target}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        assert "://" in target or (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_code_that_is_pointed_at_is_there(document):
    """`mechanics/tree/sweeps.py:sweep_inward` means a file of engine/ and a name that it defines."""
    for file, name in re.findall(r"`([\w/]+\.py):(\w+)(?:\.\w+)?`", document.read_text(encoding="utf-8")):
        path = ROOT / "engine" / file
        assert path.is_file(), file
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        names |= {
            t.id for node in tree.body if isinstance(node, ast.Assign) for t in node.targets if isinstance(t, ast.Name)
        }
        names |= {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
        assert name in names, f"{file}:{name}"


def test_all_commands_have_their_row(shell):
    """No command is missing in docs/commands.md, and no row has a command that doesn't exist."""
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `denoc ([\w-]+)", page, re.MULTILINE))
    there = set(re.findall(r"^│ (\w[\w-]*) ", shell("denoc --help", "help").partition("─ Commands ─")[2], re.MULTILINE))
    assert told == there


def test_pages_are_what_the_program_makes(monkeypatch):
    """All keys of files are in the reference and in the JSON Schemas."""
    monkeypatch.syspath_prepend(ROOT / "tests" / "tools")
    for path, text in runpy.run_path(str(ROOT / "tests" / "tools" / "pages.py"))["pages"]().items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name} is out of date: `make pages` renews all such pages"
        )


@pytest.mark.parametrize("document", [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "reference.md"])
def test_links_within_a_page_lead_to_its_headings(document):
    text = document.read_text(encoding="utf-8")
    kept = [re.sub(r"[^\w -]", "", heading.lower()) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    assert set(re.findall(r"\]\(#([^)]*)\)", text)) <= {heading.replace(" ", "-") for heading in kept}


def test_links_to_lines_of_code_lead_there():
    """The code that a link shows stands once in its file, and not far from the link's line."""
    links = runpy.run_path(str(ROOT / "tests" / "tools" / "links.py"))["links"]
    found = [link for document in DOCUMENTS[1:] for link in links(document)]
    assert len(found) > 30
    for code, file, line, lines in found:
        assert len(lines) == 1, f"{file}: `{code}` stands in {len(lines)} lines"
        assert abs(lines[0] - line) <= 25, f"python tests/tools/links.py: {file}: `{code}` is in line {lines[0]} now"


def test_the_evidence_is_there():
    """Each row of the tables names files that exist, and the bounds that it tells stand in them."""
    text = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| (?!what )", line)]
    assert len(rows) > 40
    for *_, closely, where in rows:
        files = [ROOT / name for name in re.findall(r"`([\w/]+\.\w+)`", where)]
        assert files, where
        asserted = "".join(file.read_text(encoding="utf-8") for file in files)
        for bound in re.findall(r"\b\d(?:\.\d+)?e-\d+", closely):
            assert bound in asserted, f"{bound} in {where}"


def test_tables_of_what_was_measured(monkeypatch):
    """All rows of the benchmarks are on their page, and README's are among them; `test_pages…` compares the numbers."""
    monkeypatch.syspath_prepend(ROOT / "tests" / "tools")
    rows = runpy.run_path(str(ROOT / "tests" / "tools" / "measured.py"))["read"](ROOT / "docs" / "benchmarks.json")[0]
    long = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert len(rows) == sum(line.startswith("| ") for line in long.splitlines()) - 2
    short = (ROOT / "README.md").read_text(encoding="utf-8").partition("## First steps")[0]
    assert sum(line.startswith("| ") for line in short.splitlines()) == 13
    assert "not measured" not in short


@pytest.mark.parametrize("name", ["dh", "khalil", "frames", "wrenches"])
def test_pictures_are_small(name):
    """`python tests/tools/pictures.py` draws them."""
    picture = (ROOT / "docs" / "images" / f"{name}.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 60_000


def test_the_picture_is_one():
    assert (ROOT / "docs" / "images" / "puma-idyn-torques.png").read_bytes().startswith(b"\x89PNG")


def test_the_readme_is_short_and_leads_to_all_pages():
    """Less than 150 lines, with a link to every page of docs/."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    assert {page.name for page in DOCUMENTS[2:]} <= {Path(link).name for link in re.findall(r"\]\(([^)#]+)", text)}


def test_the_first_screen_says_what_it_is_and_how_to_run_and_test_it():
    screen = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:45])
    for words in (
        "DeNOC",
        "RIDIM",
        "RFDSIM",
        "make demo",
        "make test",
        "-m pip install",
        "-m pytest",
        "puma-idyn-torques.png",
    ):
        assert words in screen
