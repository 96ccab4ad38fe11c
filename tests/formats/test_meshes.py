"""Mesh files: what they enclose is what is known of them, in every form, and what is broken is refused."""

from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.formats import meshes
from denoc.formats.meshes import FACE, Mesh, read_mesh
from denoc.robot.read import located_mesh_file, robot_data_with_mesh_places

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


def collada(faces="0 2 1 0 1 3 1 2 3 0 3 2", unit="0.001", node='<instance_geometry url="#g"/>', form="triangles"):
    """A Collada file with a corner of a cube of 100 units, and what its scene does with it."""
    return f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="{unit}" name="any"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 100 0 0 0 100 0 0 0 100</float_array>
<technique_common><accessor source="#a" count="4" stride="3"/></technique_common></source>
<source id="n"><float_array id="b" count="3">0 0 1</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<{form}><input semantic="VERTEX" source="#v" offset="1"/><input semantic="NORMAL" source="#n" offset="0"/>
<vcount>{"3 " * (len(faces.split()) // 3)}</vcount><p>{" ".join("0 " + k for k in faces.split())}</p></{form}>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="top">{node}</node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


@pytest.mark.parametrize("form", ["triangles", "polylist"])
def test_collada_has_units_and_places(form, tmp_path):
    """The corner of a cube encloses a sixth of it; its scene turns, scales, moves and doubles it."""
    path = tmp_path / "a.dae"
    path.write_bytes(collada(form=form))
    plain = read_mesh(path)
    assert volume(plain) == pytest.approx(0.1**3 / 6)
    assert plain.points.max() == pytest.approx(0.1)
    twice = '<translate>1000 0 0</translate><rotate>0 0 1 90</rotate><scale>2 1 1</scale><instance_geometry url="#g"/>'
    moved = '<node><matrix>1 0 0 0 0 1 0 0 0 0 1 -500 0 0 0 1</matrix><instance_geometry url="#g"/></node>'
    path.write_bytes(collada(form=form, node=twice + moved))
    made = read_mesh(path)
    assert volume(made) == pytest.approx(2 * 2 * 0.1**3 / 6)
    assert made.points.min(axis=0) == pytest.approx([0.9, 0.0, -0.5])
    assert made.points.max(axis=0) == pytest.approx([1.0, 0.2, 0.1])


def test_strips_and_fans_of_collada(tmp_path):
    path = tmp_path / "a.dae"
    for form, faces in (("tristrips", "0 2 1 3"), ("trifans", "0 2 1 3"), ("polygons", "0 2 1 3")):
        path.write_bytes(collada(form=form, faces=faces))
        made = read_mesh(path)
        other = [2, 3, 1] if form == "tristrips" else [0, 1, 3]
        assert sorted(made.faces[1].tolist()) == sorted(other)
        assert made.faces[0].tolist() == [0, 2, 1]


def test_a_collada_file_that_places_too_much(tmp_path, monkeypatch):
    path = tmp_path / "a.dae"
    path.write_bytes(collada(node='<instance_geometry url="#g"/>' * 50))
    assert len(read_mesh(path).faces) == 200
    monkeypatch.setattr("denoc.formats.meshes.MOST_FACES", 100)
    with pytest.raises(denoc.InputError, match="more than 100 faces"):
        read_mesh(path)
    monkeypatch.setattr("denoc.formats.meshes.MOST_COLLADA_BYTES", 100)
    with pytest.raises(denoc.InputError, match="MiB"):
        read_mesh(path)


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
        ("a.3ds", b"", r"only \.stl, \.obj, \.dae can be read"),
        ("a.dae", b"<xml/>", "without faces"),
        ("a.dae", b"<COLLADA><a></COLLADA>", "broken .this is not valid XML"),
        ("a.dae", b"<!DOCTYPE a [<!ENTITY b 'c'>]><COLLADA/>", "document type"),
        ("a.dae", collada(faces="0 1 9"), "line 8: a face has a corner that isn't there"),
        ("a.dae", collada(faces="0 1 x"), "broken"),
        ("a.dae", collada(faces="0 1"), "broken"),
        ("a.dae", collada(unit="0"), "its unit of length is 0 m"),
        ("a.dae", collada(node='<instance_node url="#top"/>'), "within each other without end"),
        ("a.dae", collada(node='<instance_geometry url="#gone"/>'), "`#gone` isn't in the file"),
        ("a.dae", collada(node="<matrix>1 2 3</matrix>"), "`matrix` has 3 numbers"),
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
