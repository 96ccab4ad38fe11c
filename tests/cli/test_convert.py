"""`denoc convert`, and other commands with files in other formats: what is printed, what is written, exit codes."""

import json
from pathlib import Path

import numpy as np
import pytest

import denoc

FILES = Path(__file__).resolve().parents[1] / "formats" / "files"


@pytest.fixture
def run(monkeypatch, tmp_path, command_line):
    monkeypatch.chdir(tmp_path)
    return command_line


def test_it_prints_a_robot_that_denoc_reads(run):
    code, out, err = run("convert", FILES / "rover.urdf", "--floating")
    assert (code, err) == (0, "")
    assert denoc.loads(out).joints == ("root_joint", "glide", "fly")


def test_it_writes_where_it_is_told_and_by_the_suffix(run):
    code, out, _ = run("convert", FILES / "rover.urdf", "--out", ".")
    assert (code, out) == (0, "rover.yaml\n")
    code, out, _ = run("convert", "rover.yaml", "--out", "again.urdf")
    assert (code, out) == (0, "again.urdf\n")
    assert denoc.load("again.urdf").joints == denoc.load("rover").joints == ("glide", "fly")


def test_a_suffix_that_says_too_little_is_asked_about(run):
    code, out, err = run("convert", "puma", "--out", "arm.xml")
    assert (code, out, Path("arm.xml").exists()) == (2, "", False)
    assert "--to urdf or --to mjcf" in err
    assert "`arm.urdf` or `arm.mjcf`" in err
    for name, root in (("arm.mjcf", "<mujoco"), ("arm.mjcf.xml", "<mujoco"), ("arm.URDF.xml", "<robot")):
        assert run("convert", "puma", "--out", name)[0] == 0
        assert root in Path(name).read_text()
    assert run("convert", "puma", "--to", "mjcf", "--out", "arm.xml")[0] == 0
    assert "<mujoco" in Path("arm.xml").read_text()
    Path("folder.xml").mkdir()
    assert run("convert", "puma", "--out", "folder.xml")[1] == f"{Path('folder.xml/puma.yaml')}\n"
    for name in ("arm.sdf", "arm.par", "arm.mat"):  # which aren't written, and were YAML of another name
        code, _, err = run("convert", "puma", "--out", name)
        assert (code, Path(name).exists()) == (2, False)
        assert f"end in `{Path(name).suffix}`" in err


def test_strict_is_a_check_of_what_was_changed(run):
    assert run("convert", FILES / "rover.urdf", "--strict", "--out", "a.yaml")[0] == 0
    code, _, err = run("convert", FILES / "arm.urdf", "--strict", "--out", "b.yaml")
    assert code == 1
    assert "warning: " in err
    assert "lower is above upper" in err
    assert Path("b.yaml").is_file()
    code, _, err = run("convert", "rx90", "--to", "urdf", "--strict", "--out", "c.urdf")
    assert (code, err) == (1, "warning: rx90: rotor inertia dropped: URDF has none (6 times)\n")


def test_the_report_is_data_too(run):
    code, out, err = run("convert", FILES / "arm.urdf", "--json", "--strict")
    document = json.loads(out)
    assert (code, err, document["to"], document["files"]) == (1, "", "yaml", [])
    assert denoc.loads(document["text"]).joints == denoc.load(FILES / "arm.urdf").joints
    links = next(part for part in document["parts"] if part["what"] == "link")
    assert (links["fate"], links["times"], links["lines"][:2]) == ("used", 9, [5, 13])
    assert any("lower is above upper" in warning for warning in document["warnings"])
    code, out, _ = run("convert", "rx90", "--to", "urdf", "--out", "c.urdf", "--json")
    document = json.loads(out)
    assert (code, document["files"], document["text"]) == (0, ["c.urdf"], None)
    assert ("writing", "dropped", 6) in [(part["when"], part["fate"], part["times"]) for part in document["parts"]]
    assert Path("c.urdf").is_file()


def test_the_report_names_every_part(run):
    _, _, err = run("convert", FILES / "arm.urdf", "--out", "a.yaml", "--report")
    assert "reading: link: used 9 times (lines 5, 13, 26, 33, 34, …)\n" in err
    line = 1 + [*map(str.strip, (FILES / "arm.urdf").read_text().splitlines())].index(
        '<transmission name="t"><type>simple</type><joint name="turn"/></transmission>'
    )
    assert f"reading: transmission: ignored, it belongs to a controller or a simulator (line {line})\n" in err


def test_what_cannot_be_read_or_written_is_wrong_use(run):
    Path("bad.urdf").write_text("<robot>\n<link/></robot>", encoding="utf-8")
    code, _, err = run("convert", "bad.urdf")
    assert (code, err.splitlines()[0]) == (2, "error: bad.urdf:2:1: link: `name` is missing")
    code, _, err = run("convert", "puma", "--to", "urdv")
    assert code == 2
    assert "did you mean `urdf`?" in err
    assert run("convert", "puma", "--floating")[0] == 2


def test_every_command_takes_such_a_file(run):
    files = (FILES / "four-bar-plus.urdf", FILES / "rover.urdf")
    code, out, _ = run("idyn", files[0], "--to", "20 deg", "--time", "1", "--step", "0.5", "--no-plot")
    assert code == 0, out
    code, out, _ = run("simulate", files[1], "--free-fall", "--time", "0.1", "--step", "0.05", "--no-plot")
    assert code == 0, out
    assert run("inspect", FILES / "four-bar.urdf", "--loops", FILES / "four-bar-loops.yaml")[0] == 0
    assert run("matrices", FILES / "four-bar.urdf")[0] == 0
    assert run("codegen", FILES / "four-bar.urdf", "--lang", "python")[0] == 0
    Path("s.yaml").write_text(f"robot: {files[1]}\ntask: simulate\ntime: {{end: 0.1, step: 0.05}}\n", encoding="utf-8")
    assert run("run", "s.yaml", "--no-plot")[0] == 0
    replay = Path("outputs/s")
    assert run("run", replay / "s.scenario.yaml", "--no-plot", "--out", "again")[0] == 0
    assert Path("again/s/s.csv").read_bytes() == (replay / "s.csv").read_bytes()


MESHED = """<robot name="arm">
  <link name="base"><visual><geometry><mesh filename="meshes/foot.stl"/></geometry></visual></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
  <link name="rod"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="file://meshes/rod.stl" scale="2 2 2"/></geometry></visual>
    <visual><geometry><mesh filename="package://arm/meshes/rod.stl"/></geometry></visual>
    <visual><geometry><mesh filename="ABSOLUTE/meshes/rod.stl"/></geometry></visual>
    <visual><geometry><mesh filename="meshes/nowhere.stl"/></geometry></visual></link>
</robot>"""


@pytest.mark.parametrize(
    "out",
    [
        "flat.yaml",
        "src/arm/beside.yaml",
        "src/near.yaml",
        "deep/er/a.yaml",
        "deep/er/a.urdf",
        "deep/er/a.mjcf",
        "src/arm/a.mjcf",
        "deep",
    ],
)
def test_paths_to_meshes_lead_there_from_the_new_file(run, out, tmp_path):
    """Those that are there; addresses in packages stay in URDF, and where they are still found."""
    package = tmp_path / "src" / "arm"
    for folder in (package / "meshes", tmp_path / "deep" / "er"):
        folder.mkdir(parents=True)
    for name in ("foot", "rod"):
        (package / "meshes" / f"{name}.stl").write_text(name)
    (package / "arm.urdf").write_text(MESHED.replace("ABSOLUTE", package.as_posix()))
    code, printed, _ = run("convert", "src/arm/arm.urdf", "--out", out)
    assert code == 0
    made = Path(printed.strip())
    assert made.parent == (Path(out) if out == "deep" else Path(out).parent)
    files = [shape.file for link in denoc.load(made).links for shape in link.shape]
    if out == "src/arm/a.mjcf":  # MuJoCo knows no packages
        files.insert(2, "package://arm/meshes/rod.stl")
    foot, rod, address, absolute, nowhere = files
    assert not Path(foot).is_absolute()
    assert [(made.parent / file).read_text() for file in (foot, rod.removeprefix("file://"))] == ["foot", "rod"]
    assert absolute == f"{package.as_posix()}/meshes/rod.stl"
    assert nowhere == "meshes/nowhere.stl"
    if made.suffix == ".urdf" or out.startswith("src"):
        assert address == "package://arm/meshes/rod.stl"
    else:
        assert (made.parent / address).read_text() == "rod"


@pytest.mark.parametrize("out", ["rover.urdf", "."])
def test_the_robot_that_is_read_is_not_overwritten(run, out):
    text = (FILES / "rover.urdf").read_text()
    Path("rover.urdf").write_text(text)
    code, _, err = run("convert", "rover.urdf", "--to", "yaml" if out != "." else "urdf", "--out", out)
    assert code == 2
    assert "error: --out: this is the robot that is read" in err
    assert Path("rover.urdf").read_text() == text


@pytest.mark.parametrize("name", ["four-bar", "gough-stewart", "slider-crank"])
def test_loops_are_closed_where_mujoco_starts(run, name):
    assert run("convert", name, "--to", "mjcf", "--out", "closed.xml")[0] == 0
    robot = denoc.load("closed.xml")
    np.testing.assert_allclose(denoc.assemble(robot, robot.q0), robot.q0, atol=1e-9)
