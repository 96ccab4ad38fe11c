"""The table of bugs fits the tree that it is tried on, and the tool tells what is caught from what isn't."""

import runpy
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bugs import BUGS, Bug, wrong

TOOL = runpy.run_path(str(Path(__file__).with_name("mutants.py")))
Run, ROOT = TOOL["Run"], TOOL["ROOT"]

pytestmark = pytest.mark.smoke


def test_every_bug_can_be_put_into_this_tree():
    """Whoever changes such code changes its row, too; one whose code is gone goes or finds another."""
    unfit = [f"{bug.name}: {why}" for bug in BUGS if (why := wrong(bug, ROOT))]
    assert not unfit, "\n".join(unfit)


def test_bugs_have_names_of_their_own_and_are_of_all_rooms():
    assert not [name for name, times in Counter(bug.name for bug in BUGS).items() if times > 1]
    rooms = {bug.found(ROOT).relative_to(ROOT).parts[1] for bug in BUGS}
    assert rooms >= {"laws", "machine", "mechanics", "record", "robot", "scenario", "simulate", "study", "text"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"was": "no_such_name"}, "occurs 0 times"),
        ({"place": "sweep_tree", "was": "body"}, "times in sweep_tree, not once"),
        ({"place": "no_such_function"}, "0 places have the name"),
        ({"place": "sweeps:no_such_function"}, "0 places have the name"),
        ({"place": "engine/no_such.js"}, "occurs 0 times in 0 files"),
        ({"became": BUGS[0].was}, "changes nothing"),
        ({"became": "("}, "is no Python"),
        ({"tests": ()}, "names no test"),
        ({"tests": ("mechanics/trees/test_theorems.py::test_nothing",)}, "there is no test"),
        ({"tests": ("mechanics/trees/test_nothing.py::test_nothing",)}, "there is no test"),
    ],
)
def test_rows_that_do_not_fit_are_refused(change, why):
    assert not wrong(BUGS[0], ROOT)
    assert why in wrong(replace(BUGS[0], **change), ROOT)


PROGRAM = """
LIMIT = 5


class Arm:
    def reach(self, x):
        # a comment
        if x > LIMIT and not self.idle:
            y = x + 1
            return y
        return [x, 2 * x]
"""


@pytest.mark.parametrize(
    ("place", "was", "became", "line"),
    [
        ("LIMIT", "5", "6", "LIMIT = (6)"),
        ("Arm.reach", "x > LIMIT", "x < LIMIT", "        if (x < LIMIT) and not self.idle:"),
        ("arms:Arm", "y = x + 1", "y = x", "            y = x"),
        ("robot/arms:Arm.reach", "return [x, 2*x]", "return []", "        return []"),
        ("Arm.reach", "if x > LIMIT and not self.idle:\n    ...", "if x > LIMIT:\n    ...", "        if x > LIMIT:"),
    ],
)
def test_code_is_found_by_its_shape_in_the_function_that_has_the_name(place, was, became, line, tmp_path):
    """Wherever it stands, however it is laid out; all else stays as it is."""
    for folder in ("engine/robot", "cli"):
        (tmp_path / folder).mkdir(parents=True)
    path = tmp_path / "engine" / "robot" / "arms.py"
    path.write_text(PROGRAM)
    bug = Bug("one", place, was, became, ())
    assert bug.found(tmp_path) == path
    lines = bug.put_into(tmp_path).splitlines()
    assert line in lines
    assert line not in PROGRAM.splitlines()
    assert {"class Arm:", "    def reach(self, x):", "        # a comment"} < set(lines)


@pytest.mark.parametrize(
    ("code", "said", "caught", "why"),
    [
        (0, "", "", ""),
        (1, "FAILED tests/a.py::test_b[x - y 0.5] - assert 1 == 2\nFAILED tests/a.py::test_c", "test_b", ""),
        (1, "ERROR tests/a.py::test_b - ImportError: no", "", "ImportError: no"),
        (2, "ERROR tests/a.py - NameError: x", "", "NameError: x"),
        (5, "no tests ran", "", "no tests ran"),
        (-24, "", "by SIGXCPU", ""),
    ],
)
def test_only_a_test_that_fails_has_caught_a_bug(code, said, caught, why):
    found, reason = TOOL["judged"](Run(code, TOOL["failures"](said), 0.0, said))
    assert bool(found) == bool(caught)
    assert caught in found
    assert bool(reason) == bool(why)
    assert why in reason


def test_samples_are_drawn_by_their_seed():
    chosen = TOOL["chosen"]
    assert chosen([], 5, "x") == chosen([], 5, "x") != chosen([], 5, "y")
    assert len({bug.name for bug in chosen([], 5, "x")}) == 5
    missing = TOOL["beside_a_missing_peer"]
    assert chosen([], 0, "") == [bug for bug in BUGS if not any(map(missing, bug.tests))]
    assert chosen(["no such word"], 3, "x") == []


def test_tests_are_named_as_files_and_words():
    """Not as pytest's own names, with which all cases would run, and not the sample that CI runs."""
    assert TOOL["words_of"](["a/t.py::test_x", "a/t.py::test_y", "b/u.py::test_x"]) == [
        "tests/a/t.py", "tests/b/u.py", "-k", "test_x or test_y",
    ]  # fmt: skip
