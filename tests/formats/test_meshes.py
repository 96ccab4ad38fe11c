"""Mesh files: what they enclose is what is known of them, in every form, and what is broken is refused."""

from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.formats import meshes
from denoc.formats.meshes import FACE, Mesh, read_mesh
from denoc.robot.mesh_files import located_mesh_file, robot_data_with_mesh_places

FILES = Path(__file__).resolve().parents[1] / "study" / "files"


def volume(mesh):
    """What a closed surface encloses, by the tetrahedra over its faces."""
    a, b, c = (mesh.points[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6


def binary(mesh, header=b"solid of nothing"):
    faces = np.zeros(len(mesh.faces), FACE)
    faces["corners"] = mesh.points[mesh.faces]
    return header.ljust(80) + len(faces).to_bytes(4, "little") + faces.tobytes()


def ball(rings, sides):
    """A closed ball of triangles."""
    rise, turn = np.linspace(0, np.pi, rings + 1)[1:-1], np.linspace(0, 2 * np.pi, sides, endpoint=False)
    points = [(0, 0, 1), *((np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)) for a in rise for b in turn)]
    points.append((0, 0, -1))
    at = lambda ring, side: 1 + ring * sides + side % sides  # noqa: E731
    faces = [(0, at(0, k), at(0, k + 1)) for k in range(sides)]
    for ring in range(rings - 2):
        for k in range(sides):
            a, b, c, d = at(ring, k), at(ring, k + 1), at(ring + 1, k), at(ring + 1, k + 1)
            faces += [(a, c, d), (a, d, b)]
    last = len(points) - 1
    faces += [(last, at(rings - 2, k + 1), at(rings - 2, k)) for k in range(sides)]
    return Mesh(np.array(points, dtype=float), np.array(faces))


def test_known_volumes(tmp_path):
    wedge, pyramid = read_mesh(FILES / "wedge.stl"), read_mesh(FILES / "pyramid.obj")
    assert volume(wedge) == pytest.approx(2.0)
    assert (len(wedge.points), len(wedge.faces)) == (6, 8)
    assert volume(pyramid) == pytest.approx(4 / 3)
    assert (len(pyramid.points), len(pyramid.faces)) == (5, 6)
    (tmp_path / "b.STL").write_bytes(binary(wedge))
    again = read_mesh(tmp_path / "b.STL")
    assert volume(again) == pytest.approx(2.0)
    assert (again.points[again.faces] == wedge.points[wedge.faces]).all()


def test_a_reduced_surface_is_nearly_the_same():
    fine = ball(60, 120)
    coarse = fine.reduced(3000)
    assert 1000 < len(coarse.faces) <= 3000
    assert volume(coarse) == pytest.approx(volume(fine), rel=0.02)
    assert np.linalg.norm(coarse.points, axis=1).max() <= 1 + 1e-12
    assert fine.reduced(len(fine.faces)) is fine


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.stl", binary(ball(4, 6))[:-1], "without faces"),
        ("a.stl", b"solid\nfacet\nvertex 0 0 0\nvertex 0 0 1\n", "three for each face"),
        ("a.stl", b"solid\nfacet\nvertex 0 0 0\nvertex nan 0 1\nvertex 0 1 0\n", "nowhere"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "corner 9, and there are 3"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "corner 0"),
        ("a.obj", b"v 0 0 zero\n", "broken"),
        ("a.obj", b"", "without faces"),
        ("a.dae", b"<xml/>", r"\.stl and \.obj"),
        ("nowhere.stl", None, "No such file"),
    ],
)
def test_broken_files(name, data, message, tmp_path):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(denoc.InputError, match=message):
        read_mesh(tmp_path / name)


def test_large_files(tmp_path, monkeypatch):
    path = tmp_path / "a.stl"
    path.write_bytes(binary(ball(4, 6)))
    with monkeypatch.context() as patch:
        patch.setattr(meshes, "MOST_FACES", 10)
        with pytest.raises(denoc.InputError, match="more than 10 faces"):
            read_mesh(path)
    monkeypatch.setattr(meshes, "MOST_BYTES", 100)
    with pytest.raises(denoc.InputError, match="the file is larger than"):
        read_mesh(path)


def test_where_meshes_are(tmp_path):
    home = tmp_path / "arm" / "urdf"
    file = tmp_path / "arm" / "meshes" / "a.stl"
    for folder in (home, file.parent):
        folder.mkdir(parents=True)
    file.write_bytes(b"")
    assert located_mesh_file("../meshes/a.stl", home).samefile(file)
    assert located_mesh_file("package://arm/meshes/a.stl", home) == file
    assert located_mesh_file(f"file://{file}", home) == file
    for elsewhere in ("https://example.org/a.stl", r"\\host\share\a.stl", "//host/share/a.stl", "a\0.stl", "b.stl"):
        assert located_mesh_file(elsewhere, home) is None
    data = {
        "links": [{"shape": [{"mesh": {"file": "../meshes/a.stl", "scale": [1, 2, 3]}}, {"mesh": {"file": "b.stl"}}]}]
    }
    first, second = robot_data_with_mesh_places(data, home)["links"][0]["shape"]
    assert first == {"mesh": {"file": str(home / "../meshes/a.stl"), "scale": [1, 2, 3]}}
    assert second == {"mesh": {"file": "b.stl"}}
