"""The sweep over broken files sees what it is there to see, and shows it with no more than it takes."""

import resource
import runpy
from pathlib import Path

import pytest

import mutations
from kinds import KINDS

TOOL = runpy.run_path(str(Path(__file__).with_name("hostile.py")))
GOOD = "error: x.yaml:3:5: wrong\n  allowed: something else\n"
PUMA = next(k for k, make in enumerate(KINDS["robot"].wholes) if make.args[0].stem == "puma")


def case(content=b"", kind="robot", whole=PUMA, name="x.yaml"):
    return mutations.Case(kind, whole, name, content, tuple(KINDS[kind].commands[0].split()))


@pytest.mark.parametrize(
    ("code", "err", "files", "wrong"),
    [
        (2, GOOD, [], ""),
        (2, GOOD, ["outputs/x/x.csv"], "files are left"),
        (2, GOOD.replace(":3:5", ""), [], "no file and line"),
        (2, GOOD.split("\n")[0], [], "nothing is found"),
        (1, "", [], "exit code 1"),
        (3, "Traceback (most recent call last):", [], "a traceback"),
        (3, "", [], "a failure without a word"),
        (0, "warning: overflow encountered in multiply", [], "a warning of NumPy"),
        (0, "", ["outputs/.denoc-draft-1"], "drafts stay behind"),
        (0, "", ["x.csv"], "files in strange places"),
        (0, "", ["outputs/x/x.csv"], "numbers that aren't finite"),
        (3, "", ["outputs/x/x.csv"], ""),
    ],
)
def test_each_kind_of_wrong_is_seen(code, err, files, wrong):
    before = {"x.yaml": b"this"}
    found = mutations.judged(case(), code, "", err, before, before | dict.fromkeys(files, b"t,q\n0,nan\n"))
    assert wrong in found
    assert bool(wrong) == bool(found)


def test_files_that_are_changed_are_seen():
    before = {"x.yaml": b"this", "outputs/x/x.csv": b"t\n"}
    assert "have changed: ['x.yaml']" in mutations.judged(case(), 0, "", "", before, before | {"x.yaml": b"other"})
    assert mutations.judged(case(), 0, "", "", before, before | {"outputs/x/x.csv": b"t,q\n"}) == ""
    assert "have changed" in mutations.judged(case(), 2, "", GOOD, before, before | {"outputs/x/x.csv": b"t,q\n"})


def test_a_table_with_other_numbers_is_seen():
    one = case(kind="store", whole=0, name="outputs/study/study.runs.sqlite")
    table = one.files["outputs/study/study.csv"]
    other = table.replace(b"4,", b"5,", 1)
    found = [mutations.judged(one, 0, "", "", {}, {"outputs/study/study.csv": now}) for now in (table, other)]
    assert found == ["", "exit code 0, and other numbers"]
    assert other != table


def test_a_failure_is_shown_with_what_it_takes(monkeypatch):
    """Of several lines that are broken only the one stays that makes the program fail."""
    from denoc.robot.read import build

    def fails(*given, **named):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(
        build.plausible, "doubts_about_robot_numbers", fails
    )  # reached only where the file can be read at all
    original = case().original
    one = case(original.replace(b"mass: ", b"mass:  ").replace(b"convention: dh", b"convention:  dh"))
    before = resource.getrlimit(resource.RLIMIT_CPU)
    wrong = TOOL["tried"](one)
    assert resource.getrlimit(resource.RLIMIT_CPU) == before
    assert wrong.startswith("ZeroDivisionError (build.py:")
    best, same = TOOL["simplest"](one, wrong)
    assert same == wrong
    assert best.content == original  # it fails as it is
    assert one.difference().count("\n+") > best.difference().count("\n+") == 0


@pytest.mark.parametrize("kind", ["robot", "store", "mesh"])
def test_numbers_make_the_same_cases_everywhere(kind):
    made = [mutations.case(seed, 7, kind=kind) for seed in "xxy"]
    assert made[0] == made[1] != made[2]
    quick = KINDS[kind].commands[0]
    shares = [" ".join(mutations.case("x", k, 0.1, kind).words) == quick for k in range(200)]
    assert 160 < sum(shares) <= (200 if len(KINDS[kind].commands) == 1 else 195)


def test_every_way_of_breaking_breaks():
    """Most broken files differ from the whole one, and each from the others."""
    for kind in KINDS:
        made = [mutations.case("x", k, kind=kind) for k in range(12)]
        assert len({(one.whole, one.name, one.content) for one in made}) > 7, kind
        assert sum(one.content != one.original for one in made) > 7, kind
