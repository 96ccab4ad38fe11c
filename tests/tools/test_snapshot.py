"""The script that holds two versions beside each other sees what differs, and nothing else."""

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

SNAPSHOT = runpy.run_path(str(Path(__file__).with_name("snapshot.py")))
CODE = 'def arm_idyn(q):\n    """An arm."""\n    return [{}]\n'


@pytest.fixture
def two(tmp_path):
    """Two equal snapshots of a library with one robot."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in ("compiled", "plain", "exports"):
        (old / folder).mkdir(parents=True)
    t = np.linspace(0.0, 1.0, 11)
    columns = [{"name": name, "unit": "rad", "family": "position"} for name in ("a.q", "b.q")]
    record = {"ended": "done", "events": [{"t": 0.25, "what": "a stops"}], "columns": columns}
    for backend in ("compiled", "plain"):
        np.savez(old / backend / "swing.npz", **{"t": t, "a.q": np.sin(t), "b.q": 1e-17 * t})
        record["audit"] = {"evaluations": 100, "energy": 1e-9}
        (old / backend / "swing.json").write_text(json.dumps(record))
        np.savez(old / backend / "calls-arm.npz", **{"inverse": 5.0 + t, "state q": t[:, None]})
        (old / backend / "calls-arm.json").write_text("{}")
    (old / "exports" / "arm-idyn.c").write_text("void arm_idyn(const double q[1], double tau[1]);\n")
    (old / "exports" / "arm-idyn.py").write_text(CODE.format("2.0 * q[0]"))
    for folder in ("studies", "pages"):
        (old / folder).mkdir()
    (old / "studies" / "reach.json").write_text(json.dumps({"code": 0, "tables": {"reach.csv": "run,heat\n0,12.5\n"}}))
    (old / "pages" / "swing.html").write_text("<p>rate 0.25</p>")
    (old / "messages.json").write_text(json.dumps({"robots/type": {"code": 2, "messages": "error: no type `x`"}}))
    (old / "counts.json").write_text(json.dumps({"arm-idyn.c": "1M 0A"}))
    (old / "times.json").write_text(json.dumps({"list": {"cold": 1.0, "warm": 1.0}}))
    shutil.copytree(old, new)
    return old, new


def differing(two):
    return SNAPSHOT["compare"](*two, SNAPSHOT["TOLERANCE"])


def change(path, **columns):
    with np.load(path) as kept:
        np.savez(path, **{**{name: kept[name] for name in kept.files}, **columns})


def rewrite(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_what_is_the_same_is_no_difference(two):
    assert differing(two) == 0


def test_rounding_and_costs_are_no_differences(two, capsys):
    t = np.linspace(0.0, 1.0, 11)
    change(two[1] / "plain" / "swing.npz", **{"a.q": np.sin(t) * (1 + 1e-12), "b.q": -2e-17 * t})
    rewrite(two[1] / "plain" / "swing.json", '"evaluations": 100', '"evaluations": 90')
    rewrite(two[1] / "times.json", '"warm": 1.0', '"warm": 3.0')
    rewrite(two[1] / "exports" / "arm-idyn.py", "2.0 * q[0]", "q[0] + q[0]")
    assert differing(two) == 0
    told = capsys.readouterr().out
    assert "evaluations 100 → 90" in told
    assert "warm 1.00 s → 3.00 s (3.00x)" in told
    assert "text differs" in told
    assert "1e-12 (plain/swing: a.q)" in told


@pytest.mark.parametrize("backend", ["compiled", "plain"])
@pytest.mark.parametrize(
    "columns", [{"a.q": np.sin(np.linspace(0, 1, 11)) + 1e-8}, {"c.q": np.zeros(11)}, {"a.q": np.full(11, np.nan)}]
)
def test_another_column_is_a_difference(two, backend, columns):
    change(two[1] / backend / "swing.npz", **columns)
    assert differing(two) == 1


@pytest.mark.parametrize(
    "file, old, new",
    [
        ("plain/swing.json", "done", "failed"),
        ("plain/swing.json", "0.25", "0.2501"),
        ("plain/swing.json", "a stops", "b stops"),
        ("plain/calls-arm.json", "{}", '{"reduced": "no"}'),
        ("exports/arm-idyn.py", "2.0 *", "2.001 *"),
        ("counts.json", "1M", "2M"),
        ("studies/reach.json", "12.5", "12.6"),
        ("pages/swing.html", "0.25", "0.26"),
        ("messages.json", "`x`", "`y`"),
    ],
)
def test_another_end_event_message_export_or_count_is_a_difference(two, file, old, new):
    rewrite(two[1] / file, old, new)
    assert differing(two) == 1


def test_numbers_of_steps_are_differences_where_asked(two):
    rewrite(two[1] / "plain" / "swing.json", '"evaluations": 100', '"evaluations": 90')
    assert SNAPSHOT["compare"](*two, SNAPSHOT["TOLERANCE"], work=True) == 1


def test_each_bit_is_a_difference_where_asked(two):
    change(two[1] / "plain" / "swing.npz", **{"a.q": np.nextafter(np.sin(np.linspace(0.0, 1.0, 11)), 2.0)})
    assert differing(two) == 0
    assert SNAPSHOT["compare"](*two, 0.0) == 1


def test_a_scenario_that_is_gone_is_a_difference(two):
    for suffix in (".json", ".npz"):
        (two[1] / "plain" / f"swing{suffix}").unlink()
    assert differing(two) == 2
