"""A format of robot files is one row: files of it are read, converted and written at once."""

import pytest

import denoc
from denoc.cli.main import main
from denoc.formats import FORMATS, Converted, Format, Report, Written
from denoc.text import parse_yaml_document


def read(source):
    masses = [float(word) for word in source.text.split()[1:]]
    links = [
        f"  - {{name: rod{k}, joint: {{type: revolute, a: 1}}, mass: {m}, com: [1, 0, 0], inertia: {{xx: 0, yy: 0, zz: 0}}}}"
        for k, m in enumerate(masses)
    ]
    text = "name: chain\nconvention: dh\ngravity: [0, -9.81, 0]\nlinks:\n" + "\n".join(links)
    return Converted(parse_yaml_document(text, source.name), Report(source.name))


def write(robot):
    return Written("masses " + " ".join(f"{link.mass:g}" for link in robot.links), Report(robot.name))


ROW = Format("masses", "masses", (".masses",), lambda name, text: text.startswith("masses"), read, write)


def test_a_new_format_is_read_and_written(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(FORMATS, "masses", ROW)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.masses").write_text("masses 2 3")
    robot = denoc.load("two.masses")
    assert denoc.bias(robot, [0, 0], [0, 0])[1] == 3 * 9.81
    monkeypatch.setattr("sys.argv", ["denoc", "convert", "two.masses", "--to", "masses"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out == "masses 2 3\n"  # a line, as all that is printed
