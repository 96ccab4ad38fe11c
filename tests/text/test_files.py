"""Files of strangers: pipes and devices are refused at once, and no file costs more than some ten times its size."""

from __future__ import annotations

import os
import signal
import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest

import denoc
from denoc.errors import DenocError, InputError
from denoc.formats import load, mjcf_model, read_matlab_assignments, read_mesh
from denoc.laws import read_law_table_columns
from denoc.record.compared.images import pixels_of_png
from denoc.scenario import stored_scenario_result, table_of_stored_scenario_result
from denoc.text.files import lines_of_text

HANGS = 30  # seconds after which a command is taken to wait for ever
TABLE = "robot: planar3r\ntask: inverse\ntime: {end: 1}\nmotion: {joint1: {law: table, file: f.csv, column: q}}\n"
STUDY = "scenario: f.yaml\nvary: {x: {key: time.end, list: [1, 2]}}\nkeep: {y: {column: joint1.tau, take: largest}}\n"

# a command, and the pipe that it is to read
PIPES = (
    (("identify", "planar3r", "f.csv"), "f.csv"),
    (("identify", "planar3r", "d.csv", "--study", "f.yaml"), "f.yaml"),
    (("inspect", "arm.urdf", "--loops", "f.yaml"), "f.yaml"),
    (("new", "robot", "r", "--from", "f.csv"), "f.csv"),
    (("inspect", "model.xml"), "f.xml"),
    (("inspect", "f.urdf"), "f.urdf"),
    (("inspect", "f.m"), "f.m"),
    (("inspect", "f.mat"), "f.mat"),
    (("inspect", "f.yaml"), "f.yaml"),
    (("run", "table.yaml"), "f.csv"),
    (("run", "f.yaml"), "f.yaml"),
    (("sweep", "study.yaml"), "f.yaml"),
    (("optimise", "f.yaml"), "f.yaml"),
    (("plot", "f.csv"), "f.csv"),
    (("verify", "f.json"), "f.json"),
    (("regress", "f.yaml", "--baseline", "none"), "f.yaml"),
)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("words, pipe", PIPES, ids=lambda x: x if isinstance(x, str) else " ".join(x))
def test_pipes_are_refused(words, pipe, tmp_path, monkeypatch, command_line):
    def hangs(*_):
        raise AssertionError("it waits for the pipe")

    monkeypatch.chdir(tmp_path)
    Path("table.yaml").write_text(TABLE)
    Path("study.yaml").write_text(STUDY)
    Path("arm.urdf").write_text((Path(__file__).parents[1] / "formats/files/arm.urdf").read_text())
    Path("model.xml").write_text('<mujoco><include file="f.xml"/></mujoco>')
    Path("d.csv").write_text("t,joint1.q\n0,1\n1,2\n")
    os.mkfifo(pipe)
    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(HANGS)
    try:
        code, out, err = command_line(*words)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert (code, out) == (2, "")
    assert pipe.partition(".")[0] in err
    assert "mistake in denoc" not in err


# ---- memory

SIZE = 300_000  # bytes of a file here
MOST = 10  # times as much memory: 1 GB for 100 MB


def png(width, height):
    """A PNG whose pixels, all black, take a thousandth of their number of bytes."""

    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"\0" * (height * (3 * width + 1)), 9)
    head = part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", rows) + part(b"IEND", b"")


def of_size(head, line, size=SIZE):
    return head + line * (size // len(line))


# what is read how; the file; how it ends: read (None), or refused with these words
COSTLY = {
    "columns": ("law", of_size("t,x", ",y", 2_000_000) + "\n0,1\n1,2\n", "line has more than 1,000,000 characters"),
    "rows": ("law", of_size("t,x\n", "0,1\n"), "must grow"),
    "columns of a result": ("result", of_size("t,a,b,c,d,e\n", "0,0,0,0,0,0\n"), None),
    "rows of a result": ("result", of_size("t\n", "0\n"), None),
    "cells of a result": ("result", "t,a,b\n" + of_size("", "0,", 2_000_000), "line has more than 1,000,000"),
    "points": ("mesh.obj", of_size("", "v 0 0 0\n"), "without faces"),
    "faces": ("mesh.obj", of_size("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "f 1 2 3\n"), None),
    "corners": ("mesh.obj", of_size("v 0 0 0\nv 1 0 0\nv 0 1 0\nf ", "1 "), "more than 10000 words"),
    "text": ("mesh.stl", of_size("solid facet\n", "vertex 0 0 0\n" * 3), None),
    "vertices": ("mesh.stl", of_size("solid facet\n", "vertex 0 0 0\n" * 3) + "vertex 0 0 0\n", "three for each face"),
}


@pytest.mark.parametrize("name", COSTLY)
def test_what_a_file_costs(name, tmp_path):
    kind, text, words = COSTLY[name]
    path = tmp_path / (kind if "." in kind else "f.csv")
    path.write_text(text)
    read = {
        "law": lambda: read_law_table_columns(path, ["x"]),
        "result": lambda: table_of_stored_scenario_result(path),
    }.get(kind, lambda: read_mesh(path))
    tracemalloc.start()
    try:
        if words is None:
            read()
        else:
            with pytest.raises(InputError, match=words) as told:
                read()
            assert path.name in str(told.value)
        assert tracemalloc.get_traced_memory()[1] < MOST * len(text)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "x=ones(30000,1)*ones(1,30000);",
        "x=ones(30000,1)+ones(1,30000);",
        "x=ones(30000,1)-ones(1,30000);",
        "x=ones(30000,1).*ones(1,30000);",
        "x=ones(30000,1)./ones(1,30000);",
        "a=ones(1,100);\n" + "a=[a,a];\n" * 9 + "x=[a,a];",
        "a=ones(1,100);\n" + "a=[a;a];\n" * 9 + "x=[a;a];",
        "x(90000,90000)=1;",
        "x=zeros(90000,90000);",
    ],
)
def test_a_line_of_matlab_makes_no_large_matrix(text):
    tracemalloc.start()
    try:
        made = read_matlab_assignments(text, "inputs.m")
        with pytest.raises(InputError, match=r"inputs\.m:\d+:\d+: x: .*matrix of more than 100,000") as told:
            made.numbers("x")
        assert f"inputs.m:{text.count(chr(10)) + 1}:" in str(told.value)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_many_matrices_of_matlab_are_refused():
    text = "a=ones(1,100000);\n" + "".join(f"a{k}=a*1;\n" for k in range(200))
    with pytest.raises(InputError, match=r"inputs\.m:10\d:1: a\d+: more than 10,000,000 numbers"):
        read_matlab_assignments(text, "inputs.m")


def test_a_small_image_of_many_pixels_is_refused():
    assert pixels_of_png(png(20, 10)).shape == (10, 20, 3)
    for width, height in ((3000, 3000), (60_000, 60_000), (2**31 - 1, 2**31 - 1)):
        content = png(20, 10)
        content = content[:16] + struct.pack(">II", width, height) + content[24:]
        with pytest.raises(ValueError, match=f"{width} × {height} pixels are too many"):
            pixels_of_png(content)


def test_files_that_are_included_often_count_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(mjcf_model, "DOCUMENT_BYTES", 20_000)
    (tmp_path / "part.xml").write_text(f"<mujoco><!-- {'x' * 15_000} --></mujoco>")
    model = tmp_path / "model.xml"
    model.write_text("<mujoco>\n" + '<include file="part.xml"/>\n' * 3 + "</mujoco>")
    with pytest.raises(InputError, match=r"model\.xml:4:1: .*larger than 0 MB together"):
        load(model)


def test_records_and_tables_have_bounds(tmp_path, monkeypatch):
    result = denoc.run(
        {"robot": "planar3r", "task": "inverse", "time": {"end": 0.1}, "motion": {"joint1": {"law": "rate", "rate": 1}}}
    )
    result.write(tmp_path / "r", plot=False)
    with (tmp_path / "r" / f"{result.name}.json").open("r+b") as file:
        file.truncate(20 << 30)  # which takes no room on the disk
    with pytest.raises(DenocError, match="the file is larger than 32 MB"):
        stored_scenario_result(tmp_path / "r")


@pytest.mark.parametrize("sign", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", [True, False])
def test_lines_are_those_of_the_text(sign, end):
    text = sign.join(["a", "", "b c", "d"]) + (sign if end else "")
    assert list(lines_of_text(text, Path("x"))) == ["a", "", "b c", "d"]
