"""Columns over others, styles and scales of plots: what matplotlib's own objects say."""

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.record import figures, plots
from denoc.record.columns import Column
from denoc.record.drawings import Drawing, plot_drawing
from denoc.record.styles import STYLES
from denoc.record.view import UNDETERMINED, Look
from denoc.scenario import stored_scenario_result
from denoc.study import report_html

CRANK = {
    "name": "bars",
    "robot": "four-bar",
    "task": "inverse",
    "time": {"end": 2, "step": 0.02},
    "motion": {"A0": {"law": "cycloid", "to": "416 deg"}},
    "record": {"reactions": True, "points": ["rocker.B"]},
    "plots": [
        "reactions",
        {"plot": "angles", "degrees": True},
        {"y": "rocker.B.y", "x": "rocker.B.x", "name": "path"},
        {"y": ["A0.tau", "B0.q", "A.q"], "x": "A0.q", "degrees": True, "title": "over the crank"},
    ],
}


@pytest.fixture(scope="module")
def bars():
    return denoc.run(CRANK)


@pytest.fixture(scope="module")
def drawn(bars):
    return bars.plot()


def told(figure):
    return [text.get_text() for text in figure.texts]


def lines(axes):
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def test_a_curve_of_a_point(bars, drawn):
    figure = drawn["bars-path"]
    (axes,) = figure.axes
    (line,) = lines(axes).values()
    np.testing.assert_array_equal(line.get_xdata(), bars["rocker.B.x"])
    np.testing.assert_array_equal(line.get_ydata(), bars["rocker.B.y"])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rocker.B.x (m)", "rocker.B.y (m)")
    assert axes.get_aspect() == 1.0  # lengths across and up
    assert axes.get_legend() is None
    start = next(one for one in axes.get_lines() if one.get_marker() == "o")
    assert (start.get_xdata()[0], start.get_ydata()[0]) == (bars["rocker.B.x"][0], bars["rocker.B.y"][0])


def test_columns_over_the_angle_of_a_crank_in_degrees(bars, drawn):
    figure = drawn["bars-A0.tau-over-A0.q"]
    torque, angles = figure.axes
    assert figure.get_suptitle() == "over the crank"
    assert (torque.get_xlabel(), torque.get_ylabel()) == ("A0.q (deg)", "A0.tau (N m)")
    assert angles.get_ylabel() == "angle (deg)"
    for name, line in lines(angles).items():
        np.testing.assert_allclose(line.get_xdata(), np.rad2deg(bars["A0.q"]), rtol=1e-14)
        np.testing.assert_allclose(line.get_ydata(), np.rad2deg(bars[name]), rtol=1e-14)
    assert list(lines(angles)) == ["B0.q", "A.q"]
    usual = drawn["bars-angles"].axes[0]
    assert usual.get_ylabel() == "angle (deg)"
    np.testing.assert_allclose(usual.get_lines()[0].get_ydata()[-1], 416.0, rtol=1e-12)
    assert bars["A0.q"][-1] == pytest.approx(np.deg2rad(416.0))  # columns stay what they are


def test_what_is_zero_is_folded_away_and_what_is_not_known_is_marked(bars, drawn):
    """In a plane mechanism: moments of pins without actuators; the force across the plane is anything."""
    figure = drawn["bars-reactions"]
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["B", "A0", "A0", "A", "B0"]
    assert told(figure)[1].replace("\n", " ") == (f"zero throughout: B moment*, A moment*, B0 moment*; {UNDETERMINED}")
    assert list(lines(figure.axes[0])) == ["fx", "fy", "fz*"]
    alone = bars.plot("torques")["bars-torques"]
    assert len(told(alone)) == 1


def test_panels_that_can_be_compared_have_one_scale():
    t = np.linspace(0, 1, 50)
    columns = [Column(f"j{k}.tau", "N m", "force", f"j{k}", f"j{k}.tau") for k in range(4)]
    table = {"j0.tau": 50 * t, "j1.tau": -30 * t, "j2.tau": 5 * np.sin(9 * t), "j3.tau": 0 * t}
    made = figures.result_figures_by_stem("x", t, table, columns, ["torques"], "x")
    limits = [axes.get_ylim() for axes in made["x-torques"].axes]
    assert limits[0] == limits[1]
    assert limits[0][0] < -30
    assert limits[0][1] > 50
    assert limits[2][1] < 6
    assert told(made["x-torques"])[1] == "zero throughout: j3"


def test_small_signals_are_not_flattened():
    t = np.linspace(0, 1, 50)
    columns = [Column(f"j{k}.tau", "N m", "force", f"j{k}", f"j{k}.tau") for k in range(5)]
    sizes = (100.0, 0.02, 40.0, 2.0, 1.0)
    table = {column.name: size * np.sin(9 * t) for column, size in zip(columns, sizes)}
    figure = figures.result_figures_by_stem("x", t, table, columns, ["torques"], "x")["x-torques-overlay"]
    assert [list(lines(axes)) for axes in figure.axes] == [["j0.tau", "j2.tau"], ["j3.tau", "j4.tau"], ["j1.tau"]]
    colours = [line.get_color() for axes in figure.axes for line in axes.get_lines()]
    assert len(set(colours)) == 5


def test_nothing_is_folded_where_all_is_zero():
    t = np.linspace(0, 1, 5)
    columns = [Column(f"j{k}.tau", "N m", "force", f"j{k}", f"j{k}.tau") for k in range(2)]
    made = figures.result_figures_by_stem("x", t, {column.name: 0 * t for column in columns}, columns, ["torques"], "x")
    assert [axes.get_title() for axes in made["x-torques"].axes] == ["j0", "j1"]
    broken = {"j0.tau": np.full(5, np.nan), "j1.tau": t}  # no numbers aren't zeros
    made = figures.result_figures_by_stem("x", t, broken, columns, ["torques"], "x")
    assert [axes.get_title() for axes in made["x-torques"].axes] == ["j0", "j1"]


def test_papers_have_vector_graphics_a_column_wide_with_dashes(bars, tmp_path):
    made = bars.plot("angles", "reactions", "energy", folder=tmp_path, style="paper")
    assert {file.suffix for file in tmp_path.iterdir()} == {".pdf"}
    for figure in made.values():
        assert figure.get_figwidth() == pytest.approx(86 / 25.4, abs=0.01)
        assert figure.get_suptitle() == ""
        for axes in figure.axes:
            strokes = [str(line._unscaled_dash_pattern) for line in axes.get_lines()]
            assert len({*strokes}) == len(strokes)  # told apart without colours
            assert max(label.get_size() for label in (axes.xaxis.label, axes.yaxis.label, axes.title)) <= 8
    strokes = [stroke for _, stroke in STYLES["paper"].strokes]
    assert len(set(strokes)) == len(strokes)
    assert b"/Type3" not in next(tmp_path.glob("*.pdf")).read_bytes()  # which journals refuse


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.sampled(2)
def test_nothing_covers_anything(bars, style):
    everything = bars.plot("reactions", "points", "energy", "angles", *bars.plots, style=style)
    for stem, figure in everything.items():
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
        boxes += [text.get_window_extent(renderer) for text in figure.texts]
        for k, one in enumerate(boxes):
            assert one.x0 >= -1, stem
            assert one.x1 <= figure.bbox.width + 1, stem
            assert not any(one.padded(-1).overlaps(other.padded(-1)) for other in boxes[k + 1 :]), stem
        for axes in figure.axes:
            if axes.get_legend() is not None and axes.get_title():
                assert not axes.get_legend().get_window_extent().overlaps(axes.title.get_window_extent()), stem


def test_a_record_has_what_is_to_be_drawn(bars, tmp_path):
    assert [plot_drawing(entry) for entry in bars.record["plots"]] == list(bars.plots)
    assert bars.record["plots"][:2] == ["reactions", {"plot": "angles", "degrees": True}]
    bars.write(tmp_path / "bars")
    kept = stored_scenario_result(tmp_path / "bars")
    assert tuple(kept.plots) == bars.plots
    files = {file.name for file in kept.draw([], tmp_path / "again")}
    assert {f"{stem}.png" for stem in bars.plot()} == files <= {*kept.record["files"]}
    again = denoc.run(tmp_path / "bars" / "bars.scenario.yaml")
    assert again.plots == bars.plots
    page = report_html(kept)
    assert page.count('aria-label="Columns over others"') == 1
    assert "bars-path" in page


def test_columns_over_others_by_hand(bars):
    figure = bars.plot(y=["A0.qd", "B0.qd"], x=["A0.q", "B0.q"])["bars-A0.qd-over-A0.q"]
    assert list(lines(figure.axes[0])) == ["A0.qd over A0.q", "B0.qd over B0.q"]
    over_time = bars.plot(y="A0.qdd")["bars-A0.qdd-over-t"].axes[0]
    assert over_time.get_xlabel() == "time (s)"
    for words, said in (
        ({"y": "A0.qdf"}, "did you mean `A0.qd"),
        ({"y": ["A0.q", "A.q", "B0.q"], "x": ["t", "A0.q"]}, "aren't in pairs"),
        ({"y": "A0.q", "style": "papers"}, "did you mean `paper`"),
    ):
        with pytest.raises(InputError, match=said):
            bars.plot(**words)
    with pytest.raises(InputError, match="did you mean `path`"):
        bars.plot("paht")
    assert list(bars.plot("path")) == ["bars-path"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"y": "A0.tua"}, "did you mean `A0.tau`"),
        ({"y": ["A0.tau"], "x": "crank.q"}, "no column `crank.q`"),
        ({"y": "A0.reaction.f"}, "`record: {resultants: true}` makes it"),
        ({"y": "rocker.B.vx"}, "makes it"),
        ({"x": "A0.q"}, "either `plot` or `y`"),
        ({"plot": "angles", "y": "A0.q"}, "either `plot` or `y`"),
        ({"plot": "angels"}, "did you mean `angles`"),
        ({"y": ["A0.q", "A.q", "B0.q"], "x": ["t", "A0.q"]}, "columns in pairs"),
        ({"y": "A0.q", "over": "t"}, "unknown key `over`"),
        ({"y": "A0.q", "name": "path"}, "two plots have the name `path`"),
        (3, "unknown value"),
    ],
)
def test_what_can_not_be_drawn_is_said_before_the_run(entry, said):
    with pytest.raises(InputError) as error:
        denoc.run({**CRANK, "plots": [CRANK["plots"][2], entry]})
    assert said in str(error.value)
    assert "plots" in str(error.value)


def test_a_drawing_is_what_it_was_read_from():
    for one in (Drawing(plot="angles"), Drawing(y=("a", "b"), x=("c",), equal=False), Drawing(plot="x", degrees=True)):
        assert plot_drawing(one.plain()) == one
    for strange in (3, {"y": 3}, {"y": []}, {"z": 1}, {"plot": "x", "y": ["a"]}, None, {"y": [1]}):
        with pytest.raises(TypeError):
            plot_drawing(strange)


def test_letters_of_vector_graphics_stay_letters(tmp_path):
    t = np.linspace(0, 1, 5)
    columns = [Column("j.q", "rad", "position", "j", "j.q")]
    look = Look(STYLES["paper"])
    made = figures.result_figures_by_stem("x", t, {"j.q": t}, columns, ["angles"], "x", look=look)["x-angles"]
    plots.save_figure(made, tmp_path / "x.svg", letters=look.style.letters)
    assert ">time (s)<" in (tmp_path / "x.svg").read_text()
