"""The kinds of files that are broken: whole ones of each, which of them are broken, and the commands that get them."""

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path

from denoc.text import library_folder

FORMATS = Path(__file__).resolve().parents[1] / "formats" / "files"
LIBRARY = [file for kind in ("robots", "scenarios") for file in sorted(library_folder(kind).glob("*.yaml"))]
SHORT = "--time 0.02 --step 0.01 --no-plot"


def commanded(words):
    """The exit code of a command in this process."""
    from denoc.cli.main import main

    before = sys.argv, os.environ.get("DENOC_DEBUG")
    sys.argv, os.environ["DENOC_DEBUG"] = ["denoc", *words], "1"  # what is no error of ours comes through
    try:
        main()
    except SystemExit as leaving:
        return leaving.code or 0
    finally:
        sys.argv = before[0]
        os.environ.pop("DENOC_DEBUG") if before[1] is None else os.environ.update(DENOC_DEBUG=before[1])
    return 0


def checked(word, file):
    """The exit code of a file that is only read and checked; what is wrong is printed as the command line does."""
    from denoc.errors import DenocError
    from denoc.formats import load
    from denoc.scenario import prepare_scenario

    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
        try:
            {"load": load, "prepare": prepare_scenario}[word](Path(file))
        except DenocError as error:
            print(f"error: {error}", file=sys.stderr)
            return error.exit_code
    return 0


# ---- whole files, each made in an empty folder


def _write(**files):
    for name, text in files.items():
        Path(name.replace("__", ".")).write_text(text)


def _denoc(line):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = commanded(shlex.split(line))
    assert code == 0, f"denoc {line}: {out.getvalue()}"


def _library(file):
    Path("x.yaml").write_bytes(file.read_bytes())


def _copies(*names):
    for name in names:
        shutil.copy(FORMATS / name, Path(name).name)


def _renamed(name, main):
    shutil.copy(FORMATS / name, main)


def _mat(**more):
    from scipy.io import savemat

    from denoc.formats import read_matlab_assignments

    made = read_matlab_assignments((FORMATS / "arm3" / "inputs.m").read_text(), "inputs.m").known
    savemat("inputs.mat", {name: one.value for name, one in made.items()}, **more)


CUBE = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
MESHED = """
name: meshed
convention: frames
links:
  - {name: a, mass: 1, com: [0.1, 0, 0], joint: {type: revolute, name: j}, shape: [{mesh: {file: one.obj}}]}
  - {name: b, mass: 1, com: [0.1, 0, 0], joint: {type: revolute, name: k, xyz: [1, 0, 0]}, shape: [{mesh: {file: two.stl}}]}
  - {name: c, mass: 1, com: [0.1, 0, 0], joint: {type: revolute, name: l, xyz: [1, 0, 0]}, shape: [{mesh: {file: three.stl}}]}
"""


def _meshes():
    import numpy as np

    obj = [*(f"v {x} {y} {z}" for x, y, z in CUBE), *(f"f {a + 1} {b + 1}//1 {c + 1}/1" for a, b, c in FACES)]
    corners = np.array([[CUBE[k] for k in face] for face in FACES], dtype="<f4")
    plain = "".join(
        "facet normal 0 0 1\nouter loop\n"
        + "".join(f"vertex {x} {y} {z}\n" for x, y, z in face)
        + "endloop\nendfacet\n"
        for face in corners
    )
    binary = b"".join(bytes(12) + face.tobytes() + bytes(2) for face in corners)
    Path("one.obj").write_text("\n".join(obj))
    Path("two.stl").write_text(f"solid x\n{plain}endsolid x\n")
    Path("three.stl").write_bytes(bytes(80) + len(FACES).to_bytes(4, "little") + binary)


def _drawn_meshes():
    _meshes()
    _write(r__yaml=MESHED, s__yaml="name: s\nrobot: r.yaml\ntask: simulate\ntime: {end: 0.02, step: 0.01}\n")
    _denoc("run s.yaml --no-plot")


def _mjcf():
    _meshes()
    _write(
        a__xml='<mujoco model="a"><compiler angle="degree"/><asset><mesh name="m" file="one.obj"/></asset>'
        '<default><joint damping="1"/><geom density="500"/></default><option gravity="0 0 -9.81"/><worldbody>'
        '<include file="b.xml"/><body name="c" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/></body></worldbody>'
        '<actuator><motor name="m" joint="j" gear="2" ctrlrange="-1 1"/></actuator><equality><joint joint1="j" joint2="k"/>'
        '</equality></mujoco>',
        b__xml='<mujocoinclude><body name="a" euler="0 0 30"><joint name="j" axis="0 1 0" range="-90 90"/><inertial pos=".1 0 0"'
        ' mass="2" diaginertia=".1 .2 .15"/><geom type="mesh" mesh="m" mass="1"/><body name="b" pos="1 0 0"><joint name="k"'
        ' type="slide" axis="1 0 0" stiffness="3"/><geom type="capsule" fromto="0 0 0 1 0 0" size=".1"/></body></body>'
        "</mujocoinclude>",
    )  # fmt: skip


def _creature():
    _renamed("creature.xml", "a.xml")
    _copies("tail.xml", "skin.obj")


def _closed():
    _renamed("four-bar.urdf", "x.urdf")
    _copies("four-bar-loops.yaml")


DRIVEN = """
name: s
robot: planar3r
task: inverse
time: {end: 0.2, step: 0.05}
motion: {joint1: {law: cycloid, to: 60 deg}, joint2: {law: table, file: t.csv, column: q}, joint3: {law: hold}}
"""
PUSHED = """
name: s
robot: planar3r
task: simulate
time: {end: 0.03, step: 0.01}
forces:
  joint1: {law: table, file: t.csv, column: q, interpolation: linear}
  joint2: {law: lookup, file: l.csv, over: joint2.q, column: y}
"""
TABLES = {"t__csv": "t,q\n0,0\n0.1,0.2\n0.2,0.1\n0.3,0.4\n", "l__csv": "x,y\n-1,2\n0,0\n1,-2\n"}


def _moved():
    _write(s__yaml=DRIVEN, **TABLES)


def _pushed():
    _write(s__yaml=PUSHED, **TABLES)


def _inverse_result():
    _moved()
    _denoc("run s.yaml --no-plot")


def _simulated_result():
    _write(
        s__yaml="name: s\nrobot: four-bar\ntask: simulate\ntime: {end: 0.02, step: 0.01}\nrecord: {reactions: true}\n"
    )
    _denoc("run s.yaml --no-plot")


SHAKE = """
name: s
robot: planar3r
task: inverse
time: {end: 2, step: 0.05}
motion:
  joint1: {law: harmonic, amplitude: 60 deg, frequency: 0.5 Hz}
  joint2: {law: harmonic, amplitude: 90 deg, frequency: 0.7 Hz}
  joint3: {law: harmonic, amplitude: 90 deg, frequency: 1.1 Hz}
record: {energy: false}
"""
IDENTIFICATION = """
train: [{file: s.csv, rows: [1, 30]}]
test: [{file: s.csv, rows: [31, 41]}]
columns:
  positions: [joint1.q, joint2.q, joint3.q]
  efforts: [joint1.tau, joint2.tau, joint3.tau]
filter: {cutoff: 8 Hz, of: [positions]}
drop: 2
estimate: [inertia, viscous, coulomb, offset]
friction: {law: tanh, width: 0.01}
"""


def _measured():
    _write(shake__yaml=SHAKE, study__yaml=IDENTIFICATION)
    _denoc("run shake.yaml --no-plot --quiet --out measured")
    shutil.copy("measured/s/s.csv", "s.csv")
    shutil.rmtree("measured")


SWEEP = """
scenario: s.yaml
vary: {hand: {key: robot.links.link3.mass, list: [4, 6]}, swing: {key: motion.joint1.to, latin: [50 deg, 60 deg]}}
samples: 3
rows: [joint1.tau]
seed: 2
keep: {effort: {column: joint2.tau, take: largest}, work: {expression: 2*effort}}
"""
SEARCH = """
scenario: s.yaml
vary: {hand: {key: robot.links.link3.mass, between: [4, 6], start: 5}}
keep: {effort: {column: joint2.tau, take: rms}, other: {column: joint1.tau, take: largest}}
minimise: effort
subject-to: {other: {at_most: 1e6}}
evaluations: 12
"""


def _study(text, command=""):
    _moved()
    _write(study__yaml=text)
    if command:
        _denoc(f"{command} study.yaml --no-plot")


def _baseline(more="plots: [torques]"):
    _write(s__yaml=f"{more}{DRIVEN}", **TABLES)
    _denoc("regress s.yaml --baseline b --update --no-plot")


def _excited():
    _denoc("excite planar3r --time 0.4 --harmonics 1 --quiet")


def _code():
    _write(s__yaml="name: s\nrobot: planar3r\ntask: simulate\ntime: {end: 0.1, step: 0.01}\n")
    main = [sys.executable, "-c", "from denoc.cli.main import main; main()"]  # this process would keep the code itself
    words = ["run", "s.yaml", "--no-plot", "--backend", "compiled", "--quiet"]
    subprocess.run([*main, *words], check=True, env={**os.environ, "DENOC_CACHE": str(Path("cache").absolute())})


def _dh():
    _write(d__csv="joint,type,theta,d,a,alpha,mass,x,y,z\n1,R,q1,0.1,0,pi/2,1,0,0,0.1\n2,R,0,0,0.4,0,2,0.2,0,0\n3,P,0,q3,0,0,1,0,0,0\n")  # fmt: skip


# ---- the table


@dataclass(frozen=True)
class Kind:
    """Files of one kind: `wholes` make them, `victims` are those that are broken, a command gets them.

    The first of the commands is the quick one; with one that is `long`, interrupting it is in order. What a refusal has
    to name is the broken file, and its line if the kind has `lines`. `same` is the table that is right, or none.
    """

    name: str
    wholes: tuple[Callable[[], None], ...]
    victims: str
    commands: tuple[str, ...]
    lines: bool = False
    long: bool = False
    codes: tuple[int, ...] = (0, 2, 3)
    written: str = "outputs/*"  # files that may be new
    kept: str = ""  # files of denoc's own that commands may change
    same: str = ""
    alone: bool = False  # whether they are kept code, which a process reads but once


RESULT = ("verify outputs/s", "plot outputs/s", "animate outputs/s", "report outputs/s", "run outputs/s/s.scenario.yaml --no-plot --out again")  # fmt: skip
ROBOT = (
    "inspect {0}",
    "matrices {0} --only all",
    "idyn {0} " + SHORT,
    "simulate {0} " + SHORT,
    "convert {0} --out y.yaml",
)
SHAPES = (
    "convert {0} --to urdf",
    "convert {0} --to mjcf",
    "convert {0} --to redysim",
    "linearize {0}",
    "codegen {0} --what idyn",
    "excite {0} --time 1 --harmonics 1",
)


def _robots(name, wholes, victims, main, more=(), lines=True, written="outputs/*"):
    commands = ("load " + main, *(line.format(main) for line in (*ROBOT, *SHAPES, *more)))
    return Kind(name, wholes, victims, commands, lines=lines, long=True, written=written + " y.yaml")


KINDS = {
    kind.name: kind
    for kind in (
        _robots("robot", tuple(partial(_library, f) for f in LIBRARY if f.parent.name == "robots"), "x.yaml", "x.yaml"),
        Kind("scenario", tuple(partial(_library, f) for f in LIBRARY if f.parent.name == "scenarios"), "x.yaml",
             ("prepare x.yaml", "run x.yaml --no-plot", "page x.yaml", "compare x.yaml --no-plot"), lines=True, long=True),
        _robots("mat", (partial(_mat, do_compression=False), partial(_mat, do_compression=True), partial(_mat, format="4")),
                "inputs.mat", "inputs.mat", lines=False),
        _robots("redysim", (partial(_copies, "arm3/inputs.m", "arm3/initials.m"),), "*.m", "inputs.m"),
        _robots("symoro", (partial(_renamed, "two-loops.par", "x.par"),), "x.par", "x.par"),
        _robots("urdf", tuple(partial(_renamed, f, "x.urdf") for f in ("arm.urdf", "rover.urdf", "four-bar-plus.urdf")),
                "x.urdf", "x.urdf", ("inspect x.urdf --floating",)),
        _robots("sdf", tuple(partial(_renamed, f, "x.sdf") for f in ("arm.sdf", "four-bar.sdf")), "x.sdf", "x.sdf"),
        _robots("mjcf", (_mjcf, _creature), "*.xml *.obj", "a.xml"),
        Kind("mesh", (_drawn_meshes,), "*.obj *.stl", ("animate outputs/s", "report outputs/s", "inspect r.yaml --plot", "page s.yaml"), codes=(0, 2)),
        Kind("loops", (_closed,), "four-bar-loops.yaml", ("inspect x.urdf --loops four-bar-loops.yaml", "convert x.urdf --loops four-bar-loops.yaml --out x.yaml"), lines=True, written="x.yaml"),
        Kind("record", (_inverse_result, _simulated_result), "*/s.json", RESULT, long=True, codes=(0, 1, 2, 3), written="outputs/* again/*"),
        Kind("rows", (_inverse_result, _simulated_result), "*/s.csv", RESULT[:-1], codes=(0, 1, 2, 3)),
        Kind("replay", (_inverse_result, _simulated_result), "outputs/s/s.*.csv outputs/s/*.yaml", RESULT, long=True, codes=(0, 1, 2, 3), written="outputs/* again/*"),
        Kind("table", (_moved, _pushed), "*.csv", ("run s.yaml --no-plot",), long=True),
        Kind("data", (_measured,), "s.csv", ("identify planar3r s.csv", "identify planar3r --study study.yaml", "identify planar3r s.csv --test s.csv")),
        Kind("identification", (_measured,), "study.yaml", ("identify planar3r --study study.yaml", "identify planar3r --study study.yaml --physical")),
        Kind("study", (partial(_study, SWEEP),), "study.yaml", ("sweep study.yaml --no-plot",), lines=True, long=True),
        Kind("search", (partial(_study, SEARCH),), "study.yaml", ("optimise study.yaml --no-plot",), lines=True, long=True),
        Kind("store", (partial(_study, SWEEP, "sweep"),), "*.sqlite", ("sweep study.yaml --no-plot",), kept="outputs/*", same="outputs/study/study.csv"),
        Kind("search-store", (partial(_study, SEARCH, "optimise"),), "*.sqlite", ("optimise study.yaml --no-plot",), kept="outputs/*", same="outputs/study/study.csv"),
        Kind("baseline", (_baseline,), "b/*", ("regress s.yaml --baseline b --no-plot", "regress s.yaml --baseline b", "regress s.yaml --baseline b --report x.html --summary x.md --junit x.xml"), codes=(0, 1, 2, 3), written="outputs/* x.*"),
        Kind("pinned", (partial(_baseline, "regress: {pinned: [torques]}"),), "b/*.png", ("regress s.yaml --baseline b --no-plot",), codes=(0, 1, 2, 3)),
        Kind("excitation", (_excited,), "outputs/*/*", ("run outputs/planar3r-excite/planar3r-excite.yaml --no-plot",), long=True),
        Kind("code", (_code,), "cache/*", ("run s.yaml --no-plot --backend compiled",), kept="cache/*", written="outputs/* cache/*", same="outputs/s/s.csv", alone=True),
        Kind("columns", (_dh,), "d.csv", ("new robot n --from d.csv --convention dh", "new robot n --from d.csv --convention khalil"), written="n.yaml"),
    )
}  # fmt: skip


@cache
def wholes(name):
    """The whole files of a kind: for each way of making them, contents by path."""
    made = []
    for make in KINDS[name].wholes:
        before = os.getcwd()
        with tempfile.TemporaryDirectory(prefix="denoc-whole-") as folder:
            os.chdir(folder)
            try:
                make()
            finally:
                os.chdir(before)
            paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
            made.append({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})
    return made


def fits(path, patterns):
    """Whether a path is one of those that patterns stand for."""
    return any(fnmatch(path, pattern) for pattern in patterns.split())
