"""The commands on operation counts, generated code, linearised equations and the object cache."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import denoc as library
from denoc.cli import options
from denoc.laws import profiled_motion_laws
from denoc.machine.backend import objects
from denoc.machine.program import LANGUAGES
from denoc.mechanics.quantities import PROGRAMS
from denoc.simulate.integrators import INTEGRATORS
from denoc.study import complexity_of_chain
from denoc.text import library_folder


@pytest.fixture
def denoc(tmp_path, monkeypatch, command_line):
    """Runs the command line in a folder of its own; (exit code, out, err)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path / "objects"))
    return command_line


@pytest.mark.parametrize(
    ("command", "option", "table"),
    [
        ("codegen", "--what", PROGRAMS),
        ("codegen", "--lang", LANGUAGES),
        ("simulate", "--method", INTEGRATORS),
        ("idyn", "--law", profiled_motion_laws()),
    ],
)
def test_names_of_tables(denoc, monkeypatch, command, option, table):
    """The help names rows that there are, another name is refused with all of them, and the shell completes them."""
    monkeypatch.setenv("COLUMNS", "300")
    said = next(line for line in denoc(command, "--help")[1].splitlines() if option in line)
    named = {word.split()[0] for word in said.partition(": ")[2].partition(".")[0].split(", ")}
    assert named - {"…"} <= set(table)
    assert len(named) > 2
    code, _, err = denoc(command, "puma", option, "nothing")
    assert code == 2
    assert option in err
    assert f"allowed: {', '.join(table)}" in err
    for name in table:
        assert name in options.completion_from_names(*HOMES[option])(name[:1])


HOMES = {
    "--what": ("denoc.mechanics.quantities.programs", "PROGRAMS"),
    "--lang": ("denoc.machine.program.languages", "LANGUAGES"),
    "--law": ("denoc.laws.motions", "profiled_motion_laws"),
    "--method": ("denoc.simulate.integrators.integrate", "INTEGRATORS"),
}


def test_complexity_prints_the_papers_and_ours(denoc):
    complexity_of_chain.cache_clear()
    code, out, _ = denoc("complexity", "puma", "--no-measure")
    assert code == 0
    assert complexity_of_chain.cache_info().misses == 3 * 8  # of thirty chains, those that show formulas
    for shown in (
        "Balafoutis",
        "676M 527A",
        "Mohan and Saha",
        "78n - 97",
        "175M 141A",
        "311M 250A 4D",
        "326M 268A 4D",
    ):
        assert shown in out
    assert "n = 7 on by multiplications, from n = 8 on with additions" in out


def test_complexity_of_a_mechanism_with_an_idle_spin(denoc):
    """Inverse and forward dynamics by subsystems, and both in one system, although a rod may spin."""
    code, out, _ = denoc("complexity", "rssr", "--no-measure")
    assert code == 0
    rows = {line.split("  ")[1].strip(): line for line in out.splitlines() if "plain inertias" in line}
    for what in ("inverse", "inverse, dense", "forward", "forward, dense", "reactions"):
        assert re.search(r"\d+M \d+A \d+D", rows[what]), what


def test_numbers_of_the_file_are_arguments_of_exported_functions(denoc, tmp_path):
    """A four-bar with a heavier coupler, by the function and by the file."""
    keys = "robot.links.coupler.mass,robot.links.rocker.mass"
    assert (
        denoc("codegen", "four-bar", "--what", "fdyn", "--lang", "python", "--parameters", keys, "--out", "f.py")[0]
        == 0
    )
    space: dict[str, Any] = {}
    exec((tmp_path / "f.py").read_text(), space)
    (name,) = (key for key in space if "fdyn" in key)
    robot = library.load("four-bar")
    q, tau = library.assemble(robot, robot.q0), [1.0, 0.0, 0.0]
    text = (library_folder("robots") / "four-bar.yaml").read_text()
    heavier = library.loads(text.replace("mass: 3.0", "mass: 7.0"))
    found = space[name](q.tolist(), [0.0] * 3, tau, [7.0, 2.5])
    assert found == pytest.approx(library.forward(heavier, q, [0.0] * 3, tau), rel=1e-10)


@pytest.mark.full
def test_complexity_measures_and_writes(denoc, tmp_path):
    code, out, _ = denoc("complexity", "--json", "--csv", "counts.csv", "--plot", "counts.png")
    assert code == 0
    told = json.loads(out)
    assert told["chain"]["6"]["inverse"]["multiplications"] == 371
    assert all(pair["forward"] > 0 for pair in told["seconds"].values())
    rows = (tmp_path / "counts.csv").read_text().splitlines()
    assert rows[0] == "n,algorithm,multiplications,additions,divisions"
    assert any(row.startswith('30,"denoc: forward, dense"') for row in rows)
    assert (tmp_path / "counts.png").read_bytes().startswith(b"\x89PNG")
    assert denoc("complexity", "--no-measure", "--plot", "counts.bmp")[0] == 2


def test_codegen_prints_or_writes(denoc, tmp_path):
    code, out, _ = denoc("codegen", "planar3r", "--what", "fdyn")
    assert code == 0
    assert "void planar3r_fdyn(const double q[3]" in out
    code, out, _ = denoc("codegen", "planar3r", "--lang", "python", "--out", str(tmp_path))
    assert code == 0
    assert (tmp_path / "planar3r_idyn.py").read_text().startswith('"""planar3r: joint forces')
    assert denoc("codegen", "planar3r", "--out", "no/such/folder/x.c")[0] == 2
    assert denoc("codegen", "planar3r", "--what", "idny")[0] == 2


def test_linearize_prints_matrices_and_eigenvalues(denoc):
    code, out, _ = denoc("linearize", "planar3r", "--at", "-90 deg, 0, 0", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["equilibrium"] is True
    assert len(told["A"]) == 6
    assert len(told["B"][0]) == 3
    assert all(abs(real) < 1e-9 for real, _ in told["eigenvalues"])  # it swings and keeps swinging
    assert told["states"] == [f"joint{k}.{what}" for what in ("q", "qd") for k in (1, 2, 3)]
    assert "; x = cart.q, pole.q, cart.qd, pole.qd; u = cart.tau\n" in denoc("linearize", "cart-pole")[1]
    ball = json.loads(denoc("linearize", "spherical-arm", "--json")[1])["states"]
    assert ball[2:5] + ball[9:12] == [f"joint3 turned about {x}" for x in "xyz"] + [f"joint3.w{x}" for x in "xyz"]
    lines = denoc("linearize", "cart-pole")[1].split("eigenvalues of A\n")[1].splitlines()
    assert [line for line in lines if float(line.split()[0]) == 0.0] == [f"  {'0':>12} {'+0':>12}i"] * 2
    code, _, err = denoc("linearize", "planar3r", "--at", "1, 2")
    assert code == 2
    assert "3 numbers are needed" in err


def test_cache_shows_and_clears(denoc):
    objects.forget_machine_code()  # what other tests have left in this process isn't kept again
    assert denoc("idyn", "planar3r", "--backend", "compiled", "--no-plot", "--quiet")[0] == 0
    count = int(re.search(r": (\d+) objects, ", denoc("cache")[1])[1])
    assert count >= 1
    assert f"removed {count} objects" in denoc("cache", "--clear")[1]
    assert ": 0 objects" in denoc("cache")[1]


def test_backends_agree_and_are_recorded(denoc, tmp_path):
    found = {}
    for backend in ("plain", "compiled"):
        out = str(tmp_path / backend)
        assert denoc("simulate", "planar3r", "--backend", backend, "--no-plot", "--quiet", "--out", out)[0] == 0
        folder = tmp_path / backend / "planar3r-fall"
        record = json.loads((folder / "planar3r-fall.json").read_text())
        assert record["code"]["backend"] == backend
        found[backend] = [float(x) for x in (folder / "planar3r-fall.csv").read_text().split()[-1].split(",")]
    assert found["plain"] == pytest.approx(found["compiled"], abs=1e-5)


def test_linearize_finds_a_regulator_as_a_law_that_balances(denoc, tmp_path):
    """What it prints is the section `forces` of a scenario, in which the pole stands upright again in the end."""
    code, out, _ = denoc("linearize", "cart-pole", "--lqr", "5, 20, 1, 1; 0.5")
    assert code == 0
    law = out[out.index("\nforces:\n") :]
    head = "robot: cart-pole\ntask: simulate\ntime: {end: 6, step: 0.1}\ninitial: {pole: 10 deg}\n"
    (tmp_path / "up.yaml").write_text(head + law.lstrip("\n"), encoding="utf-8")
    assert denoc("run", "up.yaml", "--no-plot")[0] == 0
    rows = (tmp_path / "outputs" / "up" / "up.csv").read_text().splitlines()
    assert abs(float(rows[-1].split(",")[rows[0].split(",").index("pole.q")])) < 1e-3
    code, out, _ = denoc("linearize", "cart-pole", "--lqr", "1, 0.1", "--json")
    document = json.loads(out)
    assert document["forces"]["cart"]["K"]["pole.qd"] == document["K"][0][3] > 0


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--lqr", "1"], "these aren't two diagonals"),
        (["--lqr", "1, 2, 3; 1"], "these aren't two diagonals"),
        (["--lqr", "1; -1"], "a number that won't do"),
        (["--lqr", "0, 1"], "no regulator"),
        (["--lqr", "1, 1", "--at", "0, 30 deg"], "a regulator holds an equilibrium"),
    ],
)
def test_a_regulator_that_is_none(denoc, arguments, message):
    code, _, err = denoc("linearize", "cart-pole", *arguments)
    assert code in (2, 3)
    assert message in err
