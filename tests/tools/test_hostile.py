"""The sweep over broken files sees what it is there to see, and shows it with no more than it takes."""

import resource
import runpy
from pathlib import Path

import pytest

import mutations
from denoc.text.library import library_folder

TOOL = runpy.run_path(str(Path(__file__).with_name("hostile.py")))
GOOD = "error: x.yaml:3:5: wrong\n  allowed: something else\n"
PUMA = library_folder("robots") / "puma.yaml"


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
def test_each_kind_of_wrong_is_seen(tmp_path, code, err, files, wrong):
    for name in ["x.yaml", *files]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("t,q\n0,nan\n")
    found = mutations.judged(code, "", err, tmp_path, b"t,q\n0,nan\n")
    assert wrong in found
    assert bool(wrong) == bool(found)


def test_a_file_that_is_changed_is_seen(tmp_path):
    (tmp_path / "x.yaml").write_text("other")
    assert mutations.judged(2, "", GOOD, tmp_path, b"this") == "the file itself has changed"


def test_a_failure_is_shown_with_what_it_takes(monkeypatch):
    """Of several lines that are broken only the one stays that makes the program fail."""
    from denoc.robot import build

    def fails(*given, **named):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(
        build.plausible, "doubts_about_robot_numbers", fails
    )  # reached only where the file can be read at all
    text = PUMA.read_text(encoding="utf-8").replace("mass: ", "mass:  ").replace("convention: dh", "convention:  dh")
    one = mutations.Case(PUMA, text, (mutations.CHECK, mutations.NAME))
    before = resource.getrlimit(resource.RLIMIT_CPU)
    wrong = TOOL["tried"](one)
    assert resource.getrlimit(resource.RLIMIT_CPU) == before
    assert wrong.startswith("ZeroDivisionError: by nothing (test_hostile.py:")
    best, same = TOOL["simplest"](one, wrong)
    assert same == wrong
    assert best.text == PUMA.read_text(encoding="utf-8")  # it fails as it is
    assert one.difference().count("\n+") > best.difference().count("\n+") == 0


def test_numbers_make_the_same_cases_everywhere():
    assert mutations.case("x", 7) == mutations.case("x", 7) != mutations.case("y", 7)
    shares = [mutations.case("x", k, 0.1).words[0] == mutations.CHECK for k in range(200)]
    assert 160 < sum(shares) < 195
