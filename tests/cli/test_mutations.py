"""Files of all kinds with something broken in them, at random: no traceback, no hang, nothing half written."""

import contextlib
import copy
import random
from pathlib import Path

import pytest

import denoc
from denoc.errors import DenocError
from denoc.robot.read import build_robot
from denoc.text import document_from_mapping, parse_yaml_document
from kinds import KINDS, LIBRARY, fits, wholes
from limits import cpu_time
from mutations import Case, case, run

SEED, EACH = 20260712, 12
RUNS = 0.2  # share of the files that get another command than the quick one
LIMIT = 20  # seconds of CPU a file


@pytest.mark.parametrize("kind", KINDS)
def test_broken_files(kind, tmp_path):
    """`make hostile` tries as many as one likes."""
    for number in range(EACH):
        one, here = case(SEED, number, RUNS, kind), tmp_path / str(number)
        here.mkdir()
        with cpu_time(LIMIT, f"{one.words}\n{one.difference()}"):
            wrong = run(one, here)
        assert not wrong, f"{wrong}\n{one.words}\n{one.difference()}"


@pytest.mark.parametrize("kind", KINDS)
def test_whole_files(kind, tmp_path):
    """What the commands do with files that aren't broken; a kind whose files fail anyway shows nothing."""
    for number, files in enumerate(wholes(kind)[:3]):
        name = next(name for name in files if fits(name, KINDS[kind].victims))
        for k, words in enumerate(KINDS[kind].commands[:1]):
            here = tmp_path / f"{number}-{k}"
            here.mkdir()
            one = Case(kind, number, name, files[name], tuple(words.split()))
            assert run(one, here) == ""


# ---- mappings, which no file stands behind

ODD = [
    *[None, True, 0, -1, 2.5, float("nan"), float("inf"), 10**400, 10**5000, 1e300, 1e-300, "x", "", "90 deg", "1 m"],
    *[b"x", [], {}, (), [1], [1, 2, 3], {1: 2}, {"a": {"b": {}}}, {"law": "hold"}, {"axis": [0, 0, 1], "angle": 1}],
    *[object(), len, 1j, {1, 2}, range(10**9), Path("x"), "\x00", "\ud800", "a" * 5000, [[1, 2], [3]], "all", "puma"],
]  # fmt: skip


def parts(data, path=()):
    yield path
    if isinstance(data, dict | list) and len(path) < 50:  # an odd part may be deeper than Python agrees to go
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
            home[path[-1]] = copy.deepcopy(draw.choice(ODD))  # or one might come to hold itself
    return data


@pytest.mark.parametrize("kind", ["robots", "scenarios"])
@pytest.mark.sampled(2)
def test_broken_mappings(kind):
    draw = random.Random(SEED)
    files = [file for file in LIBRARY if file.parent.name == kind]
    for _ in range(200):
        file = draw.choice(files)
        data = parse_yaml_document(file.read_text(encoding="utf-8"), file.name).data
        if kind == "scenarios":
            data |= {"time": {"end": 0.02, "step": 0.01}, "solver": {"max_steps": 300}}
        data = with_odd_parts(data, draw)
        with cpu_time(LIMIT, file.name), contextlib.suppress(DenocError):
            build_robot(document_from_mapping(data)) if kind == "robots" else denoc.run(data)


def test_a_mapping_that_holds_itself():
    data = {"task": "inverse", "time": {"end": 1}}
    data["motion"] = data
    with pytest.raises(DenocError, match="nested deeper"):
        denoc.run(data)
