"""docs/extending.md names what there is: its tables, its classes, and tests that use them."""

import re
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in (ROOT / "docs" / "extending.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| an? (?!row)", line)
]


def test_every_row_names_a_table_and_a_class_of_its_module():
    assert len(ROWS) == 13
    for what, table, row, *_ in ROWS:
        place = re.fullmatch(r"`([\w/]+)\.py:(\w+)`", table)
        if place is None:
            continue
        module = import_module("denoc." + place[1].replace("/", "."))
        kinds = {type(one).__name__ for one in getattr(module, place[2]).values()}
        kinds |= {
            base.__name__ for one in getattr(module, place[2]).values() if isinstance(one, type) for base in one.mro()
        }
        assert kinds & set(re.findall(r"`(\w+)`", row)), what


def test_every_row_is_proved_by_a_test_that_adds_one():
    proofs = {ROOT / name for *_, proof in ROWS for name in re.findall(r"`(tests/\w+/\w+\.py)`", proof)}
    assert proofs | {Path(__file__)} == set((ROOT / "tests" / "extending").glob("test_*.py"))
    for what, table, _, _, proof in ROWS:
        name = re.findall(r":(\w+)`", table)
        text = (ROOT / proof.strip("`")).read_text(encoding="utf-8")
        assert not name or re.search(rf"setitem\((?:\w+\.)?{name[0]}, ", text), what
    for *_, joined, _ in ROWS:
        for path in re.findall(r"`(tests/[\w/]+\.py)`", joined):
            assert (ROOT / path).is_file(), path
