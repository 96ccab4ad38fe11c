"""Files with broken parts are read, or refused at a place of theirs; nothing else happens."""

import contextlib
import random
import re
from pathlib import Path

import pytest

from denoc.errors import DenocError
from denoc.formats.side import read_side_file_of_loops
from denoc.formats.table import FORMATS, Source, read_any_robot_format
from denoc.robot.read import build_robot
from denoc.text import parse_yaml_document

FILES = Path(__file__).parent / "files"
NAMES = (
    "arm.urdf", "rover.urdf", "four-bar-plus.urdf", "creature.xml", "arm.sdf", "four-bar.sdf", "two-loops.par",
    "arm3/inputs.m",
)  # fmt: skip
TEXTS = {name: (FILES / name).read_text() for name in NAMES}
SIDE = (FILES / "four-bar-loops.yaml").read_text()
WORDS = (
    "", "0", "-1", "nan", "inf", "1e400", "1e308", "abc", "base", "world", '"', "<", ">", "{", "}", "[", "]", ";", "1 2",
    "0 0 0", "é", "\x00", "zeros(3,1)", "ball", "free", "fixed", "hinge", "planar", "floating", "universal",
)  # fmt: skip


def broken(text, rng):
    for _ in range(rng.randint(1, 3)):
        way, words = rng.random(), list(re.finditer(r"\w+", text))
        if way < 0.25:
            lines = text.split("\n")
            k = rng.randrange(len(lines))
            lines[k : k + 1] = rng.choice([[], [lines[k]] * 2])
            text = "\n".join(lines)
        elif way < 0.6 and (values := list(re.finditer(r'"[^"]*"|>[^<]+<|\b[\d.]+\b', text))):
            one, new = rng.choice(values), rng.choice(WORDS)
            new = one[0][0] + new + one[0][-1] if one[0][0] in '">' else new
            text = text[: one.start()] + new + text[one.end() :]
        elif way < 0.8 and words:
            one = rng.choice(words)
            text = text[: one.start()] + rng.choice(words)[0] + text[one.end() :]
        else:
            k = rng.randrange(len(text))
            text = text[:k] + rng.choice(WORDS) + text[k + rng.randint(1, 40) :]
    return text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(4)
def test_broken_files_end_in_a_message(name):
    rng, refused = random.Random(name), 0
    for _ in range(60):
        text = broken(TEXTS[name], rng)
        side = read_side_file_of_loops(parse_yaml_document(SIDE, "loops.yaml")) if rng.random() < 0.2 else None
        try:
            robot = build_robot(
                read_any_robot_format(Source(str(FILES / name), text, rng.random() < 0.3, side)).document
            )
        except DenocError:
            refused += 1
            continue
        for row in FORMATS.values():
            if row.write is not None:
                with contextlib.suppress(DenocError):  # what the format has no place for
                    row.write(robot)
    assert refused > 10
