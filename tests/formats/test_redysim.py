"""ReDySim's input files are read without being run; what they say is what Khalil's parameters mean."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.formats.assignments import read_matlab_assignments
from denoc.formats.mat_file import DamagedError, mat_file_arrays
from limits import cpu_time

FILES = Path(__file__).parent / "files"
SAME = """
name: arm3
convention: khalil
gravity: [0, -9.81, 0]
links:
  - {name: link1, joint: {type: revolute, theta: 0.1, r: 0.1}, mass: 3, com: [0.2, 0, 0],
     inertia: {xx: 2.5e-5, yy: 0.04, zz: 0.04}}
  - {name: link2, joint: {type: revolute, alpha: pi/2, d: 0.4, theta: 0.2}, mass: 4, com: [0.1, 0, 0.02],
     inertia: {xx: 0.02, yy: 0.03, zz: 0.04, xy: 0.001, xz: -0.002}}
  - {name: link3, parent: link1, joint: {type: prismatic, alpha: -90 deg, d: 0.3, r: 0.2}, mass: 0.5, com: [0, 0, 0.1],
     inertia: {xx: 0.001, yy: 0.001, zz: 0.0015}}
"""


def test_the_robot_is_the_same_as_by_hand():
    robot, other = denoc.load(FILES / "arm3" / "inputs.m"), denoc.loads(SAME)
    assert (robot.name, robot.joints, robot.gravity) == (other.name, other.joints, other.gravity)
    np.testing.assert_allclose(robot.q0, other.q0, atol=1e-15)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 3))
    np.testing.assert_allclose(denoc.inverse(robot, q, qd, qdd), denoc.inverse(other, q, qd, qdd), rtol=1e-13)
    for name, T in denoc.frames(other, q).items():
        np.testing.assert_allclose(denoc.frames(robot, q)[name], T, atol=1e-15)


def test_matrices_from_a_file(tmp_path):
    from scipy.io import savemat

    made = read_matlab_assignments((FILES / "arm3" / "inputs.m").read_text(), "inputs.m").known
    savemat(tmp_path / "inputs.mat", {name: one.value for name, one in made.items()})
    (tmp_path / "inputs.m").write_text("f = load('inputs.mat');\nalp = f.alp;\nIcxx = f.Icxx;\n")
    for name in ("inputs.m", "inputs.mat"):
        robot = denoc.load(tmp_path / name)
        assert robot.nv == 3
        assert robot.q0[0] == 0.3  # there is no initials.m beside it
        np.testing.assert_allclose(denoc.inertia(robot, [0, 0, 0]), denoc.inertia(denoc.loads(SAME), [0, 0, 0]))
    (tmp_path / "inputs.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(300))
    with pytest.raises(InputError):
        denoc.load(tmp_path / "inputs.mat")


ARRAYS = {
    "alp": np.array([[1.5, -2.0, 3.25]]),
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.arange(-3, 3, dtype=np.int16).reshape(3, 2),
    "m": np.array([[7]], dtype=np.uint8),
    "bt": np.arange(4, dtype=np.int32).reshape(4, 1),
    "g": np.arange(24.0).reshape(2, 3, 4),
    "th": np.array([[True, False]]),
    "r": np.zeros((0, 3)),
    "n": np.array([[1 + 2j]]),
    "dx": "words",
    "dy": {"field": np.eye(2)},
    "dz": np.array([[2.5]]),
}
FLAT = {key: x for key, x in ARRAYS.items() if key not in ("g", "dy", "th")}  # what version 4 can hold
WAYS = [("5", False), ("5", True), ("4", False)]


def mat_file(version, compressed, arrays=None):
    from scipy.io import savemat

    file = io.BytesIO()
    savemat(file, arrays or (ARRAYS if version == "5" else FLAT), format=version, do_compression=compressed)
    return file.getvalue()


def other_way_round(version):
    """A file as a machine with the other order of bytes writes it."""
    name, numbers = b"alp", struct.pack(">3d", 1.5, -2.0, 3.25)
    if version == "4":
        return struct.pack(">5i", 1000, 1, 3, 0, 4) + name + b"\0" + numbers
    inside = struct.pack(">4I", 6, 8, 6, 0) + struct.pack(">2I2i", 5, 8, 1, 3) + struct.pack(">2H", 3, 1) + name + b"\0"
    inside += struct.pack(">2I", 9, 24) + numbers
    return b"MATLAB 5.0".ljust(124) + struct.pack(">H", 0x100) + b"MI" + struct.pack(">2I", 14, len(inside)) + inside


@pytest.mark.parametrize("data", [*(mat_file(*way) for way in WAYS), other_way_round("4"), other_way_round("5")])
def test_arrays_of_mat_files_are_scipys(data):
    from scipy.io import loadmat

    theirs = {
        key: x for key, x in loadmat(io.BytesIO(data)).items() if isinstance(x, np.ndarray) and x.dtype.kind in "fiu"
    }
    mine = mat_file_arrays(data, {*ARRAYS})
    assert mine.keys() == theirs.keys()
    for key, x in theirs.items():
        np.testing.assert_array_equal(mine[key], x)
    assert "alp" in mine
    assert mat_file_arrays(data, ("alp",)).keys() == {"alp"}


@pytest.mark.parametrize("way", WAYS)
def test_damaged_mat_files_are_read_or_refused(way):
    """Any byte, changed to any other, and any beginning of a file."""
    whole, rng = mat_file(*way), np.random.default_rng(2)
    refused = 0
    for place in rng.integers(0, len(whole), 600):
        damaged = bytearray(whole)
        damaged[place] = rng.choice([0, 0xFF, damaged[place] ^ 1, rng.integers(256)])
        for data in (bytes(damaged), whole[:place]):
            try:
                mat_file_arrays(data, {*ARRAYS})
            except DamagedError:
                refused += 1
    assert refused > 100


def test_mat_files_inflate_to_no_more_than_they_may():
    """What isn't asked for isn't inflated, and of what is, no more than a robot can need; a wrong sum is seen."""
    import tracemalloc
    import zlib

    data = mat_file("5", True, {"other": np.zeros((1, 3_000_000)), "alp": np.ones((1, 2))})
    promised = mat_file("5", True, {"alp": np.ones((1, 2))})
    packed = zlib.compress(zlib.decompress(promised[136:]) + bytes(24_000_000))
    bomb = promised[:128] + struct.pack("<2I", 15, len(packed)) + packed
    tracemalloc.start()
    assert mat_file_arrays(data, {"alp"})["alp"].tolist() == [[1, 1]]
    with pytest.raises(DamagedError, match="bytes; at most 8,000,000 are read"):
        mat_file_arrays(data, {"other"})
    with pytest.raises(DamagedError, match="doesn't end where it should"):
        mat_file_arrays(bomb, {"alp"})
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()
    with pytest.raises(DamagedError):  # the sum at its end
        mat_file_arrays(promised[:-1] + bytes([promised[-1] ^ 1]), {"alp"})


def test_a_damaged_mat_file_is_refused_by_name(tmp_path, command_line):
    (tmp_path / "inputs.mat").write_bytes(mat_file("5", False)[:200])
    code, _, said = command_line("inspect", tmp_path / "inputs.mat")
    assert code == 2
    assert "this is no file of matrices that can be read: an element is longer than what there is" in said
    (tmp_path / "inputs.mat").write_bytes(b"MATLAB 7.3".ljust(124) + struct.pack("<H", 0x200) + b"IM" + b"HDF")
    assert "`save -v7` writes one that is" in command_line("inspect", tmp_path / "inputs.mat")[2]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x=1+2*3", 7),
        ("x=-2^2", -4),
        ("x=(1/12)*3*.01*.01", 2.5e-5),
        ("x=[1 -2]", [[1, -2]]),
        ("x=[1 - 2]", [[-1]]),
        ("x=[1, 2\n 3, 4]", [[1, 2], [3, 4]]),
        ("x=[1 2; 3 4]*[1; 1]", [[3], [7]]),
        ("x=[1;2].*[3;4]", [[3], [8]]),
        ("a=[5 6 7]; x=a(2)", 6),
        ("a=[1 2;3 4]; x=a(2,1)", 3),
        ("x=zeros(2,1); x(2)=4", [[0], [4]]),
        ("x=sin(pi/2) % 3", 1),
        ("x=[1 ...\n 2]", [[1, 2]]),
        ("x=eye(2)'", [[1, 0], [0, 1]]),
        ("y=1, x=2", 2),
    ],
)
def test_assignments(text, value):
    np.testing.assert_allclose(read_matlab_assignments(text, "m").known["x"].value, np.atleast_2d(value), atol=1e-16)


@pytest.mark.parametrize(
    "text",
    [
        "x=system('ls')", "x=eval('1')", "x=f.y", "x=[1 2]/[3 4]", "x=zeros(1e9,1)", "x(0)=1", "x(1e9)=1", "x=1/",
        "x=2^1000", "x=" + "(" * 80 + "1" + ")" * 80, "x=[1 2;3]", "x=y",
    ],
)  # fmt: skip
def test_nothing_else_is_computed(text):
    made = read_matlab_assignments(text + "\n", "m")
    assert "x" not in made.known
    with pytest.raises(InputError, match="its value can't be computed"):
        made.numbers("x")


def test_long_matrices_take_no_longer_than_their_length():
    """As long as may be, which took minutes where each number cost the length of the row."""
    with cpu_time(10, "a row of 80,000 numbers"):
        made = read_matlab_assignments("a=[" + "1 -2; " * 40_000 + "];\n", "m")
    assert made.known["a"].value.sum() == -40_000


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("n=3;", "n=2.5;", "not a number of links"),
        ("bt=[0 1 1]'", "bt=[0 1 7]'", "the parent of link 3 isn't there"),
        ("alp=[0; pi/2; -90*pi/180]", "alp=[0; pi/2]", "3 numbers are needed"),
        ("m=[3; 2^2; 0.5]", "m=rand(3,1)", "its value can't be computed: `rand` isn't known here"),
        ("dz=", "dw=", "it is missing"),
    ],
)
def test_mistakes_are_shown_at_their_line(tmp_path, old, new, words):
    text = (FILES / "arm3" / "inputs.m").read_text()
    assert old in text
    (tmp_path / "inputs.m").write_text(text.replace(old, new))
    with pytest.raises(InputError) as caught:
        denoc.load(tmp_path / "inputs.m")
    assert words in str(caught.value)
