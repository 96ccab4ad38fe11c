"""Library files with something broken in them, at random: no traceback, no hang, nothing half written."""

import contextlib
import random
import re
import sys
from pathlib import Path

import pytest

import denoc
from denoc.cli.main import main
from denoc.errors import DenocError
from denoc.robot.build import build
from denoc.text.library import folder
from denoc.text.source import from_mapping, parse
from limits import cpu_time

SEED, GROUPS, EACH = 20260712, 10, 15
LIMIT = 20  # seconds of CPU a file
LIBRARY = [file for kind in ("robots", "scenarios") for file in sorted(folder(kind).glob("*.yaml"))]
BITS = [
    *["nan", ".nan", ".inf", "-.inf", "1e400", "1e-400", "1e300", "-1e300", "1e-300", "-1", "0", "2", "1e18"],
    *["[]", "{}", "[[]]", "{a: 1}", "null", "true", "'", '"', "\t", "&a [*a]", "*a", "- -", ": :", "? x", "| x", "%", "@x"],
    *["!!python/object/apply:os.system ['true']", "!!int x", "!!float 1", "!foo x", "\x00", "\x07", "\u2028", "𝔘"],
    *["9" * 400, "9" * 5000, "__import__('os')", "pi/0", "9^9^9", "sqrt(-1)", "(" * 60, "90 parsec", "2024-01-01"],
    *["90 deg", "1 m", "3 kg", "2 s", "45 rpm", "5 N", "5 N m", "revolute", "spherical", "free", "fixed", "dh", "frames"],
    *["base", "link1", "joint1", "all", "cycloid", "table", "pd", "feedforward", "inverse", "simulate", "puma", "..", "/"],
    *["[1, 2]", "[0, 0, 0]", "[0, 0, 0, 0]", "{axis: [0, 0, 0], angle: 1}", "{law: rate, rate: 1}", "a" * 300, "<<", "---"],
]  # fmt: skip


def mutated(text, draw):
    """The text with one to four lines broken."""
    lines = text.split("\n")
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        lines = lines or [""]
        k, how = draw.randrange(len(lines)), draw.randrange(9)
        words = list(re.finditer(r"[^\s,:{}\[\]]+", lines[k]))
        if how == 0:
            del lines[k]
        elif how == 1:
            lines.insert(k, draw.choice(lines))
        elif how == 2:
            lines[k] = lines[k].split(":")[0] + ": " + draw.choice(BITS)
        elif how == 3:
            lines[k] = lines[k][: draw.randrange(len(lines[k]) + 1)]
        elif how == 4:
            lines[k] = " " * draw.randrange(9) + lines[k].strip()
        elif how == 5:
            j = draw.randrange(len(lines))
            lines[k], lines[j] = lines[j], lines[k]
        elif words:
            word = draw.choice(words)
            lines[k] = lines[k][: word.start()] + draw.choice(BITS) + lines[k][word.end() :]
    return "\n".join(lines)


def commands(file, draw):
    """What is done with a broken file."""
    if file.parent.name == "scenarios":
        return ["run", "x.yaml", "--no-plot"]
    short = ["--time", "0.02", "--step", "0.01", "--no-plot"]
    return draw.choice(
        [["inspect", "x.yaml"]] * 4
        + [["matrices", "x.yaml", "--only", "all"], ["idyn", "x.yaml", *short], ["simulate", "x.yaml", *short]]
    )


@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.sampled(2)
def test_broken_files(group, tmp_path, monkeypatch, capsys):
    draw = random.Random(SEED + group)
    monkeypatch.setenv("DENOC_DEBUG", "1")  # what is no error of ours comes through
    for number in range(EACH):
        file = draw.choice(LIBRARY)
        here = tmp_path / str(number)
        here.mkdir()
        monkeypatch.chdir(here)
        text = mutated(file.read_text(encoding="utf-8"), draw)
        Path("x.yaml").write_text(text, encoding="utf-8", errors="surrogateescape")
        words = commands(file, draw)
        monkeypatch.setattr(sys, "argv", ["denoc", *words])
        with cpu_time(LIMIT, f"{file.name} {words}\n{text}"), pytest.raises(SystemExit) as leaving:
            main()
        code, told = leaving.value.code or 0, capsys.readouterr()
        assert code in (0, 2, 3), text
        assert "Traceback" not in told.out + told.err
        left = {path.name for path in here.rglob("*")} - {"x.yaml"}
        assert not any(name.startswith(".") for name in left)  # no draft stays behind
        if code == 2:
            assert not left
            assert told.err.startswith("error: x.yaml") or "\nerror: x.yaml" in told.err
            assert re.search(r"^  (found|allowed|hint): \S|not valid YAML", told.err, re.MULTILINE), told.err


# ---- mappings, which no file stands behind

ODD = [
    *[None, True, 0, -1, 2.5, float("nan"), float("inf"), 10**400, 10**5000, 1e300, 1e-300, "x", "", "90 deg", "1 m"],
    *[b"x", [], {}, (), [1], [1, 2, 3], {1: 2}, {"a": {"b": {}}}, {"law": "hold"}, {"axis": [0, 0, 1], "angle": 1}],
    *[object(), len, 1j, {1, 2}, range(10**9), Path("x"), "\x00", "\ud800", "a" * 5000, [[1, 2], [3]], "all", "puma"],
]  # fmt: skip


def parts(data, path=()):
    yield path
    if isinstance(data, dict | list):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from parts(data[key], (*path, key))


def with_odd_parts(data, draw):
    """The data with one to three parts taken away or replaced."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        path = draw.choice([path for path in parts(data) if path])
        home = data
        for key in path[:-1]:
            home = home[key]
        if isinstance(home, dict) and draw.random() < 0.2:
            del home[path[-1]]
            if not data:
                return data
        else:
            home[path[-1]] = draw.choice(ODD)
    return data


@pytest.mark.parametrize("kind", ["robots", "scenarios"])
def test_broken_mappings(kind):
    draw = random.Random(SEED)
    files = [file for file in LIBRARY if file.parent.name == kind]
    for _ in range(200):
        file = draw.choice(files)
        data = parse(file.read_text(encoding="utf-8"), file.name).data
        if kind == "scenarios":
            data |= {"time": {"end": 0.02, "step": 0.01}, "solver": {"max_steps": 300}}
        data = with_odd_parts(data, draw)
        with cpu_time(LIMIT, file.name), contextlib.suppress(DenocError):
            build(from_mapping(data)) if kind == "robots" else denoc.run(data)


def test_a_mapping_that_holds_itself():
    data = {"task": "inverse", "time": {"end": 1}}
    data["motion"] = data
    with pytest.raises(DenocError, match="nested deeper"):
        denoc.run(data)
