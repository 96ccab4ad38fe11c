"""Results as tables of other libraries: the same numbers, with their units."""

import re

import numpy as np
import pytest

import denoc
from denoc.cli.main import main
from denoc.record.files import table_files

FALL = {
    "robot": "planar3r",
    "task": "simulate",
    "time": {"end": 0.2, "step": 0.02},
    "name": "short",
    "plots": ["angles"],
}


@pytest.fixture(scope="module")
def result():
    return denoc.run(FALL)


def test_columns_by_name(result):
    assert result["t"] is result.t
    assert result["joint1.q"] is result.table["joint1.q"]
    assert [*result] == result.keys() == ["t", *result.table]
    assert "t" in result
    assert "joint1.q" in result
    assert "joint9.q" not in result
    assert {**result}["joint2.qd"] is result.table["joint2.qd"]
    with pytest.raises(denoc.InputError, match=r"no such column(?s:.*)did you mean `joint1.q`"):
        result["join1.q"]


def test_a_line_says_what_it_is(result):
    assert re.fullmatch(
        r"Result\('short': 11 rows of \d+ columns, t = 0 to 0.2 s, done, energy balance within \S+ J\)", repr(result)
    )
    assert repr(denoc.load("four-bar")) == "Robot('four-bar': 3 links, 3 speeds, 1 cut)"


def test_pandas(result):
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert frame.index.name == "t"
    assert (frame.index == result.t).all()
    assert [*frame] == [*result.table]
    assert all((frame[name] == values).all() for name, values in result.table.items())
    assert frame.attrs["units"]["joint1.qd"] == "rad/s"
    assert set(frame.attrs["units"]) == set(result.table)


def test_xarray(result):
    pytest.importorskip("xarray")
    dataset = result.to_xarray()
    assert dataset.sizes == {"t": 11}
    assert dataset.t.attrs["units"] == "s"
    assert all((dataset[name].values == values).all() for name, values in result.table.items())
    assert dataset["joint1.tau"].attrs == {"units": "N m", "family": "force", "owner": "joint1"}


def test_parquet(result, tmp_path):
    arrow = pytest.importorskip("pyarrow.parquet")
    table = arrow.read_table(result.to_parquet(tmp_path / "short.parquet"))
    assert table.column_names == result.keys()
    assert all((np.asarray(table[name]) == result[name]).all() for name in result)
    assert table.schema.field("joint1.q").metadata[b"unit"] == b"rad"
    assert table.schema.field("t").metadata[b"unit"] == b"s"


def test_parquet_on_the_command_line(tmp_path, monkeypatch):
    arrow = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    words = ["denoc", "simulate", "planar3r", "--time", "0.1", "--no-plot", "--quiet", "--out", "."]
    monkeypatch.setattr("sys.argv", [*words, "--format", "parquet", "--format", "svg"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert not leaving.value.code
    folder = tmp_path / "planar3r-fall"
    table, header = (
        arrow.read_table(folder / "planar3r-fall.parquet"),
        (folder / "planar3r-fall.csv").read_text().splitlines()[0],
    )
    assert table.column_names == header.split(",")
    assert "planar3r-fall.parquet" in (folder / "planar3r-fall.json").read_text()
    monkeypatch.setattr("sys.argv", words)  # the next run takes it away with the rest
    with pytest.raises(SystemExit):
        main()
    assert not (folder / "planar3r-fall.parquet").exists()


def test_one_format_of_plots(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["denoc", "idyn", "puma", "--format", "svg", "--format", "pdf"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 2
    assert "found: svg, pdf" in capsys.readouterr().err
    assert not (tmp_path / "outputs").exists()


def test_a_missing_package_is_named(result, monkeypatch, tmp_path):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(table_files, "import_module", missing)
    for call in (result.to_pandas, result.to_xarray, lambda: result.to_parquet(tmp_path / "x.parquet")):
        with pytest.raises(denoc.InputError, match=r"isn't installed(?s:.*)extra `tables`"):
            call()
    assert not (tmp_path / "x.parquet").exists()


def test_names_are_text_in_html():
    wild = "<script>alert(1)</script>"
    robot = denoc.loads(
        "name: wild\nconvention: frames\nlinks:\n"
        f"  - {{name: '{wild}', mass: 1, com: [0.1, 0, 0], joint: {{type: revolute, name: '<b>'}}}}\n"
    )
    run = denoc.run({"robot": "wild", "task": "simulate", "time": {"end": 0.1, "step": 0.1}, "name": "w"}, robot)
    for page in (robot._repr_html_(), run._repr_html_()):
        assert "<script" not in page
        assert "<b>" not in page
        assert "&lt;b&gt;" in page
        assert "data:image/png;base64," in page


def test_extremes_in_html(result):
    page = result._repr_html_()
    speed = result["joint1.qd"]
    for value in (speed.min(), speed.max(), np.sqrt((speed**2).mean()), speed[-1]):
        assert f">{value:.5g}<" in page
