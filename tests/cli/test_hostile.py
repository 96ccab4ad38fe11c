"""Wrong files, one mistake each: every message says where, which key, what was found, what is allowed.

The first line of each file in `tests/hostile` says what its message must hold: the line of the mistake, its key, and
words: `# expect: line 7; key links[0].joint.type; says revolute`.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from denoc.cli.main import main
from limits import HANGS

HOSTILE = Path(__file__).parents[1] / "hostile"
COMMANDS = {"robots": "idyn", "scenarios": "run"}
FILES = [file for kind in COMMANDS for file in sorted((HOSTILE / kind).glob("*.yaml"))]
OF_SUBPROCESSES = ("robots/type", "robots/nul", "robots/billion-laughs", "scenarios/rows", "scenarios/table-text")


def named(file):
    return f"{file.parent.name}/{file.stem}"


def expectations(file):
    """What the message must hold: (what, text) pairs from the file's first line."""
    first = file.read_bytes().split(b"\n", 1)[0].decode()
    assert first.startswith("# expect: ")
    return [tuple(part.split(" ", 1)) for part in first.removeprefix("# expect: ").split("; ")]


def command(words, monkeypatch, capsys):
    """Exit code, what was printed, what it complained of."""
    monkeypatch.setattr(sys, "argv", ["denoc", *map(str, words)])
    monkeypatch.setenv("DENOC_DEBUG", "1")  # what is no error of ours comes through
    with pytest.raises(SystemExit) as leaving:
        main()
    told = capsys.readouterr()
    return leaving.value.code or 0, told.out, told.err


def judged(file, code, out, err):
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert err.startswith("error: ")
    head = err.split("\n", 1)[0]
    assert file.name in head
    for what, text in expectations(file):
        if what == "line":
            assert re.search(rf"{re.escape(file.name)}:{text}:\d+: ", head)
        elif what == "key":
            assert f" {text}: " in head
        else:
            assert what == "says"
            assert text in err
    # what was found, what is allowed or what helps: a bare complaint isn't enough
    assert re.search(r"^  (found|allowed|hint): \S", err, re.MULTILINE)
    assert max(map(len, err.split("\n"))) < 600


def test_there_are_enough():
    assert len(FILES) >= 300


@pytest.mark.parametrize("file", FILES, ids=named)
@pytest.mark.sampled(12)
def test_mistake(file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    judged(file, *command([COMMANDS[file.parent.name], file], monkeypatch, capsys))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", OF_SUBPROCESSES)
@pytest.mark.sampled(6)
def test_mistake_as_a_user_meets_it(name, tmp_path):
    file = HOSTILE / f"{name}.yaml"
    words = [sys.executable, "-c", "from denoc.cli.main import main; main()", COMMANDS[file.parent.name], str(file)]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=HANGS, check=False)
    judged(file, run.returncode, run.stdout, run.stderr)
    assert not list(tmp_path.iterdir())


# ---- files that can't say what they expect


def written(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\n \n---\n", "empty"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b'name: "\x1b[31m', "U+001B"),
        ("name: {a: 1}\nconvention: dh\nlinks: []\n\u2028".encode(), "x.yaml"),
        (b"? " + b"x" * 100_000 + b"\n: 1\n", "unknown key"),
        (b'name: "\\e[2J"\nconvention: dh\nlinks: []\n', "\\x1b[2J"),
        (b"[" * 100_000, "nested deeper"),
        (b"#" * 17_000_000, "larger than 16 MB"),
    ],
    ids=["nothing", "blank", "binary", "colours", "separator", "long-key", "escape", "brackets", "large"],
)
def test_content(content, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_bytes(content)
    code, out, err = command(["inspect", "x.yaml"], monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert "x.yaml" in err.split("\n", 1)[0]
    assert words in err
    assert "\x1b" not in err
    assert max(map(len, err.split("\n"))) < 600


def test_several_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    link = "  - {name: %d, joint: {type: revolute}, mass: heavy, com: [0, 0, 0]}\n"
    Path("x.yaml").write_text("name: x\nconvention: dh\nlinks:\n" + "".join(link % k for k in range(8)))
    err = command(["inspect", "x.yaml"], monkeypatch, capsys)[2]
    assert [int(line) for line in re.findall(r"x\.yaml:(\d+):", err)] == [4, 5, 6, 7, 8]
    assert err.endswith("… and 3 more mistakes in this file\n")


def test_names_that_mean_something_to_others(tmp_path, monkeypatch, capsys):
    """Brackets are markup to rich, dollars mathematics to matplotlib, */ ends a comment of C."""
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text(
        "name: x\nabout: '[/b] */ \\N $x^$ [red]'\nconvention: dh\ngravity: [0, 9.81, 0]\nlinks:\n"
        "  - {name: '[/b]', joint: {type: revolute, name: $x^$_*/}, mass: 1, com: [0.1, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n"
        "  - {name: _b, joint: {type: revolute, name: _b, a: 1}, mass: 1, com: [0.1, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n"
    )
    for words in (["inspect"], ["idyn", "--time", "1"], ["codegen"], ["codegen", "--lang", "python"]):
        code, out, err = command([words[0], "x.yaml", *words[1:]], monkeypatch, capsys)
        assert (code, err) == (0, "")
        if words[0] == "inspect":
            assert "[/b]" in out
        if words == ["codegen"]:
            assert out.count("*/") == 1
        if "python" in words:
            compile(out, "x.py", "exec")


# ---- commands


ROBOT = "name: x\nconvention: dh\nlinks:\n  - {name: a, joint: {type: revolute}, mass: 1, com: [0.1, 0, 0]}\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text(ROBOT)
    Path("folder.yaml").mkdir()
    Path("file").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["inspect", "nothere"], "no such robot: `nothere`"),
        (["inspect", "pumma"], "did you mean `puma`?"),
        (["inspect", "folder.yaml"], "this is a directory"),
        (["inspect", "a" * 300], "no such robot"),
        (["inspect", "a" * 5000], "not a file name"),
        (["inspect", ""], "not a file name"),
        (["inspect", "\x1b[31m"], "\\x1b[31m"),
        (["inspect", "file"], "empty"),
        (["run", "puma"], "no such scenario: `puma`"),
        (["run", "folder.yaml"], "this is a directory"),
        (["run", "x.yaml"], "this is a robot, not a scenario"),
        (["run", "puma-idyn", "nothere"], "no such scenario: `nothere`"),
        (["run", "puma-idyn", "puma-idyn"], "two scenarios are called"),
        (["idyn", "puma-idyn"], "no such robot"),
        (["idyn", "x.yaml", "--scenario", "puma-fall"], "this scenario is for another command"),
        (["simulate", "x.yaml", "--scenario", "puma-idyn"], "this scenario is for another command"),
        (["idyn", "x.yaml", "--time", "abc"], "--time: unknown name `abc`"),
        (["idyn", "x.yaml", "--time", "-1"], "--time: the end must come after the start"),
        (["idyn", "puma", "--time", "0"], "--time: the end must come after the start"),
        (["idyn", "x.yaml", "--time", "5 kg"], "--time: `5 kg` is a mass"),
        (["idyn", "x.yaml", "--time", ""], "--time: the expression is empty"),
        (["idyn", "x.yaml", "--step", "0"], "--step: must be more than 0"),
        (["idyn", "puma", "--step", "1e-12"], "--step: the run would have too many rows"),
        (["idyn", "x.yaml", "--to", "90 parsec"], "--to: unknown name `parsec`"),
        (["idyn", "x.yaml", "--to", "1 m"], "--to: `1 m` is a length"),
        (["idyn", "x.yaml", "--law", "cycloi"], "--law"),
        (["idyn", "x.yaml", "--out", "file"], "file is a file"),
        (["idyn", "x.yaml", "--out", "file/below"], "file is a file"),
        (["idyn", "x.yaml", "--format", "gif"], "--format"),
        (["simulate", "x.yaml", "--rtol", "0"], "--rtol: must be more than 0"),
        (["simulate", "x.yaml", "--rtol", "nan"], "--rtol: `nan` won't do"),
        (["simulate", "x.yaml", "--rtol", "5"], "--rtol: must be less than 1"),
        (["simulate", "puma", "--rtol", "1e-99"], "--rtol: must be at least 1e-15"),
        (["simulate", "x.yaml", "--rtol", "abc"], "--rtol: unknown name `abc`"),
        (["simulate", "x.yaml", "--atol", "-1"], "--atol: must be more than 0"),
        (["simulate", "x.yaml", "--method", "rk54"], "--method"),
        (["matrices", "x.yaml", "--at", ""], "--at: 1 number is needed: joint1.q"),
        (["matrices", "puma", "--at", "1"], "--at: 6 numbers are needed: joint1.q, joint2.q"),
        (["matrices", "x.yaml", "--at", "1, 2"], "found: 2"),
        (["matrices", "x.yaml", "--at", "1 m"], "`1 m` is a length"),
        (["matrices", "x.yaml", "--rates", "x"], "--rates, joint1.qd: unknown name `x`"),
        (["matrices", "x.yaml", "--only", "order"], "no such matrix"),
        (["matrices", "x.yaml", "--only", ""], "no such matrix"),
        (["matrices", "x.yaml", "--point", "b"], "no such link"),
        (["linearize", "x.yaml", "--forces", "1, 2"], "--forces: 1 number is needed"),
        (["codegen", "x.yaml", "--out", "nothere/x.c"], "can't write `nothere/x.c`"),
        (["codegen", "x.yaml", "--out", "file/x.c"], "can't write `file/x.c`"),
        (["complexity", "--csv", "c.csv", "--plot", "c.gif", "--no-measure"], "--plot: not a format"),
        (["complexity", "--csv", ".", "--no-measure"], "this is a directory"),
        (["complexity", "--n", "0"], "--n"),
        (["list", "nothere"], "the library has no `nothere`"),
        (["plot", "nothere"], "`nothere.csv` is missing"),
        (["plot", "folder.yaml"], "0 results"),
        (["plot", "file"], "`file.csv` is missing"),
        (["nonsense"], "nonsense"),
        (["--nonsense"], "--nonsense"),
    ],
    ids=lambda x: " ".join(x)[:50] if isinstance(x, list) else "",
)
@pytest.mark.sampled(2)
def test_odd_commands(here, words, says, monkeypatch, capsys):
    before = written(here)
    code, _, err = command(words, monkeypatch, capsys)
    assert code == 2
    assert says in re.sub(r"\s*│\s*", " ", err)
    assert "Traceback" not in err
    assert written(here) == before


def test_file_names_that_are_no_text(here, monkeypatch, capsys):
    scenario = "robot: x\ntask: inverse\ntime: {end: 1, step: 0.5}\n"
    for name in ("s\udcfe.yaml", "$s^.yaml", "_s s.yaml"):
        try:
            Path(name).write_text(scenario)
        except (OSError, UnicodeError):
            continue  # this system has no such names
        assert command(["run", name], monkeypatch, capsys)[0] == 0
        assert len(list((Path("outputs") / Path(name).stem).glob("*.png"))) == 2
    Path("..yaml").write_text(scenario)
    code, _, err = command(["run", "..yaml"], monkeypatch, capsys)
    assert code == 2
    assert "give it a `name`" in err


def test_a_device_is_written_to_and_not_replaced(here, monkeypatch, capsys):
    for words in (
        ["codegen", "x.yaml", "--out", "/dev/null"],
        ["convert", "x.yaml", "--to", "urdf", "--out", "/dev/null"],
    ):
        assert command(words, monkeypatch, capsys)[0] == 0
        assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("csv", "record"),
    [
        ("", None),
        ("t\n", None),
        ("a,b\n1,2\n", None),
        ("t,t\n1,2\n", None),
        ("t,x\n1,2\n3\n", None),
        ("t,x\n1,high\n", None),
        (None, ""),
        (None, "[]"),
        (None, "null"),
        (None, "[" * 100_000),
        (None, '{"columns": 5}'),
        (None, '{"columns": [{"name": []}], "plots": [], "robot": {"name": "x"}}'),
        (None, '{"columns": [], "plots": [["x"]], "robot": {"name": "x"}}'),
        (None, '{"columns": [], "plots": [], "robot": null}'),
    ],
)
@pytest.mark.sampled(2)
def test_plots_of_spoilt_results(here, csv, record, monkeypatch, capsys):
    assert command(["idyn", "x.yaml", "--no-plot", "--time", "1"], monkeypatch, capsys)[0] == 0
    folder = Path("outputs/x-idyn")
    if csv is not None:
        (folder / "x-idyn.csv").write_text(csv)
    if record is not None:
        (folder / "x-idyn.json").write_text(record)
    before = written(here)
    code, _, err = command(["plot", folder], monkeypatch, capsys)
    assert code == 2
    assert "x-idyn.csv" in err if csv is not None else "x-idyn.json" in err
    assert written(here) == before


def test_numbers_too_large_end_the_run_and_keep_its_rows(here, monkeypatch, capsys):
    code, out, err = command(["idyn", "puma", "--to", "1e300", "--no-plot"], monkeypatch, capsys)
    assert (code, err) == (3, "")
    assert "FAILED" in out
    assert "too large" in out
    assert Path("outputs/puma-idyn/puma-idyn.csv").read_text().count("\n") >= 2
