"""What a terminal sees before anything runs: completion by the shell, help in plain words, colours of errors."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from denoc.cli import completing, said
from denoc.cli.app import typer_application
from denoc.formats import FORMATS
from denoc.text import library_names

pytestmark = pytest.mark.smoke
ENTRY = "from denoc.cli.main import main; main()"


def commands(command, words=()):
    """Each command with the words that call it."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))
    if not hasattr(command, "commands"):
        yield " ".join(words), command


COMMANDS = dict(commands(typer.main.get_command(typer_application())))
OPTIONS = [(name, option) for name, one in COMMANDS.items() for option in one.params if hasattr(option, "help")]


# ---- completion


@pytest.fixture
def offered(monkeypatch, capsys, tmp_path):
    """What bash is offered for the last word of a line."""
    monkeypatch.chdir(tmp_path)

    def words(line):
        with monkeypatch.context() as now:
            now.setenv("_DENOC_COMPLETE", "complete_bash")
            now.setenv("COMP_WORDS", line)
            now.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
            with pytest.raises(SystemExit) as leaving:
                typer_application()(prog_name="denoc")
        assert leaving.value.code == 0
        return capsys.readouterr().out.split()

    return words


def test_names_of_the_library_and_files(offered):
    for file in ("pump.urdf", "pumice.yaml", "puma.csv", ".puma.yaml"):
        Path(file).write_text("")
    assert offered("denoc idyn pum") == ["puma", "pumice.yaml", "pump.urdf"]
    assert offered("denoc run pum") == [
        *(name for name in library_names("scenarios") if name.startswith("pum")),
        "pumice.yaml",
    ]
    assert offered("denoc simulate puma --scenario puma-f") == ["puma-fall", "puma-feedforward"]
    assert {"puma", "puma-fall"} <= {*offered("denoc page pum")}
    assert "puma" in offered("denoc list pum")
    assert offered("denoc idyn robots/pum") == []  # the shell offers files then


def test_results_and_their_columns(offered):
    Path("outputs/swing").mkdir(parents=True)
    Path("outputs/empty").mkdir()
    Path("outputs/swing/swing.json").write_text("{}")
    Path("outputs/swing/swing.csv").write_text("t,hinge.q,hinge.qd,rod.tip.x\n")
    for command in ("plot", "report", "animate", "verify"):
        assert offered(f"denoc {command} out") == ["outputs/swing"]
    assert offered("denoc plot outputs/swing --y hinge.") == ["hinge.q", "hinge.qd"]
    assert offered("denoc plot outputs/swing --style p") == ["paper"]
    assert offered("denoc plot outputs/swing --plot point-") == ["point-velocities", "point-accelerations"]


def test_words_that_a_shell_would_run_are_not_offered(offered):
    """Zsh runs commands that stand in what it is offered; a downloaded table or file is offered as soon as it is there."""
    bad = (
        "l$(touch P)",
        "l`touch P`",
        "l\\$(touch${IFS}P)",
        "l;touch",
        "l|touch",
        "l'x",
        "l>P",
        "l&touch",
        "l\x1b]0;x\x07",
    )
    for name in bad:
        Path(f"{name}.yaml").write_text("")
    Path("lever-1.2_a.yaml").write_text("")
    Path("outputs/lift").mkdir(parents=True)
    Path("outputs/lift/lift.json").write_text("{}")
    Path("outputs/lift/lift.csv").write_text(",".join(("t", "lever.q", *bad)) + "\n")
    assert offered("denoc run l") == ["lever-1.2_a.yaml"]
    assert offered("denoc plot outputs/lift --y l") == ["lever.q"]


def test_all_formats_of_robots_are_offered():
    assert {*completing.ROBOTS} == {suffix for row in FORMATS.values() for suffix in row.suffixes}


def test_what_names_robots_and_scenarios_is_completed():
    known = {"ROBOT": "puma", "SCENARIO": "puma-fall"}
    for name, command in COMMANDS.items():
        for one in command.params:
            if one.metavar in known:
                offer = [item.value for item in one.shell_complete(typer.Context(command), "puma")]
                assert known[one.metavar] in offer, (name, one.name)


# ---- help


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_no_private_words(name):
    """Every abbreviation is one that users of robots know, or the place of a value."""
    known = {"CSV", "DH", "GIF", "HTML", "JSON", "LQR", "MJCF", "PDF", "PNG", "SDF", "URDF", "XML", "YAML", "SHA", "ID"}
    command = COMMANDS[name]
    values = {word for one in command.params for word in re.findall(r"[A-Z]{2,}", one.metavar or "")}
    text = " ".join([command.help or "", *(option.help or "" for owner, option in OPTIONS if owner == name)])
    assert {*re.findall(r"\b[A-Z]{2,}\b", text)} <= known | values | {"JOINT", "DIR"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_terminal_breaks_the_lines_of_help(name):
    """Whose paragraphs therefore have none of their own; typer adds dots and brackets to the names of arguments."""
    command = COMMANDS[name]
    assert all("\n" not in paragraph for paragraph in (command.help or "").split("\n\n"))
    places = [one.metavar or "" for one in command.params if one.param_type_name == "argument"]
    assert not [place for place in places if re.search(r"\.\.|[\[\]{}]", place)]


def test_what_an_option_does_that_is_not_given_is_said():
    """Its default is shown or told; else it does nothing, as its first word says."""
    acts = ("Change", "Check", "Compare", "Draw", "Find", "Let", "Make", "Print", "Read", "Take", "Try", "Write")
    for name, option in OPTIONS:
        if option.param_type_name == "option" and not option.is_flag and option.default in (None, "", []):
            assert option.help.startswith(acts) or "(default: " in option.help, (name, option.opts)


# ---- colours


def ended(environment, terminal):
    """Standard error of a command with a mistake, on a terminal or in a pipe."""
    words = [sys.executable, "-c", ENTRY, "idyn", "pmua"]
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    env |= {"TERM": "xterm-256color", "COLUMNS": "60", **environment}
    if not terminal:
        return subprocess.run(words, capture_output=True, env=env, check=False).stderr.decode()
    import pty

    ours, theirs = pty.openpty()
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=theirs, env=env, check=False)
    os.close(theirs)
    assert done.returncode == 2
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # the end, on Linux
        pass
    os.close(ours)
    return said.decode().replace("\r\n", "\n")


@pytest.mark.skipif(os.name != "posix", reason="needs pseudo terminals")
def test_errors_are_red_on_terminals_alone():
    plain, coloured = ended({}, terminal=False), ended({}, terminal=True)
    assert plain.startswith("error: no such robot: `pmua`")
    assert "\x1b" not in plain
    assert coloured.startswith("\x1b[1;31merror:\x1b[0m no such robot")
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert ended({"NO_COLOR": "1"}, terminal=True) == plain
    assert ended({"TERM": "dumb"}, terminal=True) == plain


# ---- what files say

# a title for the terminal, the clipboard's new content, a carriage return, another line, a line break of Unicode, right to left
HOSTILE = "x\x1b]0;y\x07\x1b]52;c;cHduZWQ=\x07\x9b31m\rno warnings\nno warnings\u2028no warnings\u202e"
LEVER = f"""
name: lever
about: {json.dumps(HOSTILE)}
convention: dh
links:
  - {{name: rod, joint: {{type: revolute, name: hinge}}, mass: 1, com: [0.5, 0, 0], inertia: {{xx: 0.1, yy: 0.1, zz: 0.1}}}}
"""


def harmless(text):
    """Whether a terminal shows a text as it is."""
    return all(c.isprintable() for c in text.replace("\n", ""))


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "lever.yaml"),
        ("inspect", "lever.yaml", "--json"),
        ("convert", "lever.yaml", "--to", "redysim"),
        ("convert", "lever.yaml", "--to", "urdf", "--report"),
        ("convert", "lever.yaml", "--to", "mjcf"),
        ("codegen", "lever.yaml", "--what", "idyn"),
        ("codegen", "lever.yaml", "--what", "idyn", "--language", "python"),
        ("codegen", "lever.yaml", "--what", "idyn", "--language", "javascript"),
        ("idyn", "lever.yaml", "--to", "1", "--no-plot"),
    ],
    ids=" ".join,
)
def test_texts_of_files_move_no_cursor_and_begin_no_line(words, tmp_path, monkeypatch, command_line):
    monkeypatch.chdir(tmp_path)
    Path("lever.yaml").write_text(LEVER)
    code, out, err = command_line(*words)
    assert code == 0
    assert harmless(out + err)
    assert [line for line in out.splitlines() if line.startswith("no warn")] == ["no warnings"] * (
        words[1:] == words[1:2]
    )


def test_errors_and_warnings_move_no_cursor(capsys):
    for show in (said.print_error, said.print_warning, said.print_lines, said.print_text):
        show(HOSTILE)
    said.print_table([HOSTILE], [[HOSTILE]], width=40)
    out, err = capsys.readouterr()
    assert harmless(out + err)
    assert (out + err).count("\n") < 30
    assert said.print_lines("a\nb", "c") is None
    assert capsys.readouterr().out == "a\\nb\nc\n"


def test_commands_print_by_the_functions_that_escape():
    """Whoever adds a command can't forget it: nothing else in `cli/` prints what isn't made of tables of `rich`."""
    folder = Path(completing.__file__).parent
    others = {
        path.name: found
        for path in folder.rglob("*.py")
        if (
            found := re.findall(
                r"typer\.echo\(|click\.echo\(|(?<![\w.])print\(|stdout\.write\(|stderr\.write\(", path.read_text()
            )
        )
    }
    assert others == {"said.py": ["print(", "print("], "as_json.py": ["print("], "main.py": ["print("]}
