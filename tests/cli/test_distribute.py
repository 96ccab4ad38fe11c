"""`denoc distribute`: what it prints, writes, and how it ends."""

import json
import re
from functools import partial

import pytest

import denoc


@pytest.fixture
def run(tmp_path, monkeypatch, command_line):
    """Exit code, standard output and errors of `denoc distribute …` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return partial(command_line, "distribute")


def test_results_are_written_as_a_run_writes_them(run, tmp_path):
    code, out, err = run("three-rrr-idyn", "--nodes", "2", "--no-plot")
    assert "\n  outputs/distribute/three-rrr-idyn/: " in out
    assert (code, err) == (0, "")
    assert "inverse by legs, 3 legs on 2 nodes in one process" in out
    assert "16 messages, 229520 B" in out
    folder = tmp_path / "outputs" / "distribute" / "three-rrr-idyn"
    right = denoc.run("three-rrr-idyn")
    lines = (folder / "three-rrr-idyn.csv").read_text(encoding="utf-8").splitlines()
    first = dict(zip(lines[0].split(","), map(float, lines[1].split(","))))
    for joint in ("J1", "J2", "J3"):
        assert first[f"{joint}.tau"] == pytest.approx(right.table[f"{joint}.tau"][0], rel=1e-12)


def test_explained_messages_are_told_and_nothing_is_run(run, tmp_path):
    code, out, _ = run("three-rrr-fall", "--nodes", "3", "--explain")
    assert code == 0
    assert "3 legs on 3 nodes; messages of an evaluation:" in out
    assert "together 24 messages in 4 exchanges" in out
    assert not (tmp_path / "outputs").exists()
    told = json.loads(run("three-rrr-fall", "--nodes", "3", "--explain", "--json")[1])
    assert sum(row["messages"] for row in told["messages"]) == 24


def test_a_simulation_says_before_what_it_will_send(run):
    # code that is there half-way, when it is depends on the machine, would count evaluations in another way
    words = ("three-rrr-fall", "--no-plot", "--set", "time.end=0.02", "--backend", "plain")
    code, out, err = run(*words)
    foretold = re.search(r"(\d+) evaluations will take (\d+) messages in (\d+) exchanges of \S+ ms, \S+ s in all", err)
    assert code == 0
    evaluations, messages, exchanges = map(int, foretold.groups())
    assert (messages, exchanges) == (24 * evaluations, 4 * evaluations)
    assert f"{messages} messages, " in out  # as many as it then sends
    unknown = run(*words, "--no-check", "--no-measure")[2]
    assert (
        "each evaluation takes 24 messages in 4 exchanges; how many evaluations adaptive steps need isn't known"
        in unknown
    )
    assert run(*words, "--quiet")[2] == ""


def test_a_summary_for_programs(run):
    told = json.loads(run("five-bar-idyn", "--on", "threads", "--no-plot", "--json")[1])
    assert told["engine"] == "threads"
    assert told["off"]["force"] <= 1e-12
    assert told["cost"]["together"] > 0.0
    assert sum(row["bytes"] for row in told["plan"]) == told["bytes"]


def test_a_fully_distributed_run(run):
    words = ["closure.method=penalty", "solver.method=rk4", "solver.step=1e-3", "time.end=0.02"]
    code, out, err = run("three-rrr-fall", "--no-plot", *(x for word in words for x in ("--set", word)))
    assert code == 0
    assert "three-rrr-fall: 20 steps will take 120 messages in 20 exchanges of " in err
    assert "simulate fully distributed, 3 legs on 3 nodes" in out
    assert "120 messages" in out
    assert "1 exchange of" in out


@pytest.mark.parametrize(
    "words, message",
    [
        (["puma-idyn"], "no loops"),
        (["carpet-scraper-idyn"], "has no link that could be the platform"),
        (["three-rrr-idyn", "--scheduler", "nonsense"], "--scheduler"),
        (["three-rrr-idyn", "--timeout", "-1"], "--timeout"),
        (["three-rrr-fall", "--set", "closure.method=multipliers"], "no distributed form"),
    ],
)
@pytest.mark.sampled(2)
def test_wrong_use_ends_with_a_message(run, words, message):
    if "--scheduler" in words:
        pytest.importorskip("distributed", reason="Dask isn't installed (the extra `cluster`)")
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err


def test_more_nodes_than_legs_are_told(run):
    code, out, _ = run("five-bar-idyn", "--nodes", "8", "--no-plot", "--no-measure")
    assert code == 0
    assert out.startswith("8 nodes for 2 legs: 2 are used\n")
