"""Exported code computes what the engine computes, in C without a warning and in Python with nothing but math."""

from __future__ import annotations

import ast
import builtins
import ctypes
import json
import math
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import yaml

import denoc
from denoc.errors import InputError
from denoc.formats import write_redysim
from denoc.machine.backend import using_backend
from denoc.machine.program import LANGUAGES, Recording
from denoc.mechanics.quantities import PROGRAMS
from denoc.study.codegen import generate_code
from denoc.text import yaml_text

ROBOTS = ("puma", "tree", "rx90", "spherical-arm", "space-arm", "stanford")
LONG = 30_000  # characters of C, beyond which optimising it takes long
POINT = np.array([0.1, -0.2, 0.3])
CALLS = {
    "idyn": lambda r, q, qd, x: denoc.inverse(r, q, qd, x),
    "fdyn": lambda r, q, qd, x: denoc.forward(r, q, qd, x),
    "inertia": lambda r, q, qd, x: denoc.inertia(r, q).ravel(),
    "inverse-inertia": lambda r, q, qd, x: denoc.inverse_inertia(r, q).ravel(),
    "bias": lambda r, q, qd, x: denoc.bias(r, q, qd),
    "kinematics": lambda r, q, qd, x: np.concatenate(
        [T[:3].ravel() for T in (denoc.frames(r, q)[link.name] for link in r.links)]
    ),
    "jacobian": lambda r, q, qd, x: denoc.jacobian(r, q, r.links[-1].name, POINT).ravel(),
    "fdyn-derivatives": lambda r, q, qd, x: np.concatenate(
        [x.ravel() for x in denoc.derivatives(r, q, qd, x).values()]
    ),
    "fdyn-adjoint": lambda r, q, qd, x: np.concatenate(list(denoc.adjoint(r, q, qd, x, x).values())),
    "inertial-adjoint": lambda r, q, qd, x: np.concatenate(
        list(denoc.adjoint(r, q, qd, x, x, inertial=True)["links"].values())
    ),
    "regressor": lambda r, q, qd, x: denoc.regressor(r, q, qd, x).ravel(),
    "energy": lambda r, q, qd, x: np.array(list(denoc.energy(r, q, qd).values())),
    "reactions": lambda r, q, qd, x: np.concatenate(list(denoc.reactions(r, q, qd, x).values())),
}


def state(robot, seed=4):
    rng = np.random.default_rng(seed)
    q = np.array(robot.q0) + rng.normal(size=robot.nq)
    for joint in robot.moving:
        at = joint.type.orientation
        if at is not None:
            e = list(joint.coordinates[at : at + 4])
            q[e] /= np.linalg.norm(q[e])
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def agrees(robot, what, found, q, qd, x):
    """With the text that the code was made of, as it stands; loops over bodies round otherwise."""
    with using_backend("plain"):
        expected = CALLS[what](robot, q, qd, x)
    worth = max(1e-13, 1e-15 * np.linalg.cond(denoc.inertia(robot, q))) if what == "fdyn" else 1e-13
    assert abs(np.array(found) - expected).max() <= worth * abs(expected).max()


def lists(what, q, qd, x):
    """The arguments of an exported program in Python."""
    arguments = {"q": q, "qd": qd, "qdd": x, "tau": x, "costate": x, "at": POINT}
    return [arguments[group].tolist() for group in PROGRAMS[what].inputs]


def with_nothing_but_math(text):
    """The names that a program defines where it can import nothing but `math`."""

    def imported(name, *rest):
        assert name == "math", f"exported code imports {name}"
        return math

    space = {"__builtins__": {**vars(builtins), "__import__": imported}}
    exec(text, space)
    return space


def test_python_in_a_process_of_its_own(tmp_path):
    """What is written into a file is a module, which an interpreter that finds nothing else can import."""
    robot = denoc.load("puma")
    file, text = generate_code(robot, "idyn", "python")
    (tmp_path / file).write_text(text)
    q, qd, x = state(robot)
    program = f"import json, {file[:-3]} as m\nprint(json.dumps(m.{file[:-3]}(*{lists('idyn', q, qd, x)!r})))"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    agrees(robot, "idyn", json.loads(run.stdout), q, qd, x)


def test_what_code_imports_is_seen():
    with pytest.raises(AssertionError, match="imports numpy"):
        with_nothing_but_math("import numpy")


@pytest.mark.parametrize("regroup", [False, True])
@pytest.mark.parametrize("what", PROGRAMS)
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sampled(6)
def test_python(name, what, regroup):
    robot = denoc.load(name)
    file, text = generate_code(robot, what, "python", regroup=regroup)
    q, qd, x = state(robot)
    agrees(robot, what, with_nothing_but_math(text)[file[:-3]](*lists(what, q, qd, x)), q, qd, x)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
@pytest.mark.parametrize("regroup", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sampled(24)
def test_c(name, regroup, tmp_path):
    robot = denoc.load(name)
    q, qd, x = state(robot)
    arguments = {"q": q, "qd": qd, "qdd": x, "tau": x, "costate": x, "at": POINT}
    files = {}
    for what in PROGRAMS:
        file, text = generate_code(robot, what, "c", regroup=regroup)
        (tmp_path / file).write_text(text)
        files.setdefault("-O1" if len(text) < LONG else "-O0", {})[what] = file
    for level, group in files.items():
        library = tmp_path / f"all{level}.so"
        flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", level, "-fPIC", "-shared"]
        subprocess.run(["cc", *flags, "-o", library, *group.values(), "-lm"], cwd=tmp_path, check=True)
        for what, file in group.items():
            out = np.zeros(len(CALLS[what](robot, q, qd, x)))
            given = (*(arguments[name] for name in PROGRAMS[what].inputs), out)
            pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in given]
            getattr(ctypes.CDLL(str(library)), file[:-2])(*pointers)
            agrees(robot, what, out, q, qd, x)


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js here")
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sampled(6)
def test_javascript(name, tmp_path):
    robot = denoc.load(name)
    q, qd, x = state(robot)
    arguments = {"q": q, "qd": qd, "qdd": x, "tau": x, "costate": x, "at": POINT}
    calls = []
    for what, row in PROGRAMS.items():
        file, text = generate_code(robot, what, "javascript")
        (tmp_path / file).write_text(text, encoding="utf-8")
        given = ", ".join(json.dumps(arguments[group].tolist()) for group in row.inputs)
        size, function = len(CALLS[what](robot, q, qd, x)), file[:-3]
        calls.append(
            f"(() => {{ const out = new Array({size}); require('./{file}').{function}({given}, out); return out; }})()"
        )
    ask = f"console.log(JSON.stringify([{', '.join(calls)}]))"
    done = subprocess.run(["node", "-e", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
    for what, out in zip(PROGRAMS, json.loads(done.stdout)):
        agrees(robot, what, out, q, qd, x)


def test_c_is_linked_from_cpp(tmp_path, monkeypatch, command_line):
    """With the header that stands beside the code, whichever of the two compilers has compiled that."""
    monkeypatch.chdir(tmp_path)
    robot = denoc.load("planar3r")
    code, out, _ = command_line("codegen", "planar3r", "--what", "idyn", "--out", "arm.c")
    assert (code, out) == (0, "arm.c\narm.h\n")
    q, qd, qdd = [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]
    given = ", ".join(f"{name}[3] = {{{', '.join(map(str, x))}}}" for name, x in (("q", q), ("qd", qd), ("qdd", qdd)))
    (tmp_path / "use.cpp").write_text(
        f'#include "arm.h"\n#include "arm.h"\n#include <cstdio>\nint main() {{ double {given}, tau[3]; planar3r_idyn(q, qd, qdd, tau);\n'
        'std::printf("%.17g %.17g %.17g", tau[0], tau[1], tau[2]); }\n'
    )
    for compiler in (["gcc", "-std=c99"], ["g++", "-x", "c++"]):
        if shutil.which("g++") is None or shutil.which("gcc") is None:
            pytest.skip("needs compilers for C and C++")
        subprocess.run([*compiler, "-Wall", "-Werror", "-c", "arm.c", "-o", "arm.o"], check=True)
        subprocess.run(["g++", "-Wall", "-Werror", "use.cpp", "arm.o", "-lm", "-o", "use"], check=True)
        found = subprocess.run(["./use"], capture_output=True, text=True, check=True).stdout
        np.testing.assert_allclose([float(x) for x in found.split()], denoc.inverse(robot, q, qd, qdd), rtol=1e-12)


def test_headers_of_others_stay(tmp_path, monkeypatch, command_line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.h").write_text("int mine;\n")
    code, out, err = command_line("codegen", "planar3r", "--what", "idyn", "--out", "arm.c")
    assert (code, out) == (2, "")
    assert "arm.h: --out: this header isn't one of denoc's" in err
    assert (tmp_path / "arm.h").read_text() == "int mine;\n"
    assert not (tmp_path / "arm.c").exists()


def test_the_header_says_what_a_user_must_know():
    _, text = generate_code(denoc.load("puma"), "fdyn", regroup=True)
    head = text.split("*/")[0]
    for said in ("PUMA-type arm", "311M 250A 4D", "q, qd, tau, qdd", "radians", "-9.81", "regrouped"):
        assert said in head


# what ends a line for one program or another, and what ends a comment
BREAKS = ("\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "*/", "-->", '"""', "%}\n")


@pytest.mark.parametrize("ending", BREAKS, ids=repr)
def test_comments_end_where_they_end(ending):
    """Whatever stands in a robot's texts, it isn't run with the code, or read with the file, that they describe."""
    about = f"x{ending}evil();{ending}"
    link = "{name: a, joint: {type: revolute}, mass: 1, com: [1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}"
    robot = denoc.loads(f"name: rod\nabout: {json.dumps(about)}\nconvention: dh\nlinks: [{link}]")
    heads = {language: generate_code(robot, "idyn", language)[1] for language in LANGUAGES}
    made = Recording("f").program(y=[1.0])
    heads |= {f"{name} file": row.file(made, "f", "", [robot.about]) for name, row in LANGUAGES.items()}
    heads["redysim"] = write_redysim(robot)[0]
    heads["yaml"] = yaml_text({"a": 1}, [robot.about])
    assert yaml.safe_load(heads["yaml"]) == {"a": 1}
    for what, text in heads.items():
        (line,) = (line for line in re.split("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text) if "evil();" in line)
        assert re.match(r'( \*|"""|Robot:|x|%|#)', line), (what, line)
        assert what[:2] not in ("c", "c ", "ja") or text.count("*/") == text.count("/*") == 1, what
        assert what[:6] != "python" or ast.get_docstring(ast.parse(text)).count("evil();") == 1


def test_unknown_programs_are_refused():
    with pytest.raises(InputError, match="did you mean `idyn`"):
        generate_code(denoc.load("puma"), "idny")


def test_the_jacobian_of_a_link_is_exported_under_its_name():
    robot = denoc.load("puma")
    file, text = generate_code(robot, "jacobian", "python", link="link3")
    assert file == "puma_jacobian_link3.py"
    assert "The link is link3." in text
    space: dict = {}
    exec(text, space)
    q = state(robot)[0]
    found = space["puma_jacobian_link3"](q.tolist(), POINT.tolist())
    assert abs(np.array(found) - denoc.jacobian(robot, q, "link3", POINT).ravel()).max() < 1e-13
    with pytest.raises(InputError, match="did you mean `link3`"):
        generate_code(robot, "jacobian", link="lnik3")
    with pytest.raises(InputError, match="only a Jacobian is that of a link"):
        generate_code(robot, "idyn", link="link3")
