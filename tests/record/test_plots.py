"""Figures say what the table holds: every line's data, label, unit, panel and title, from matplotlib's own objects."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.image import imread

import denoc
from denoc.record import figures, plots
from denoc.record.columns import Column
from denoc.record.drawings import Drawing
from denoc.record.styles import SCREEN

ARM = """
name: arm
convention: frames
links:
  - name: body
    joint: {type: free, name: root}
    mass: 2
    com: [0.1, 0, 0]
    inertia: {xx: 0.1, yy: 0.2, zz: 0.25}
    points: {tip: [1, 0, 0], side: [0, 0.5, 0]}
  - name: ball
    joint: {type: spherical, name: neck, xyz: [0.5, 0, 0]}
    mass: 1
    com: [0, 0, 0.2]
    inertia: {xx: 0.02, yy: 0.03, zz: 0.04}
  - name: slide
    joint: {type: prismatic, name: rail, xyz: [0, 0, 0.3]}
    mass: 0.5
    com: [0, 0, 0.1]
    inertia: {xx: 0.01, yy: 0.01, zz: 0.01}
"""
DRIVEN = {
    "task": "simulate",
    "time": {"end": 0.3, "step": 0.02},
    "initial": {"root": [0.1, 0.2, 0.3, 0.9, 0.1, 0.2, 0.3], "rail": 0.05},
    "rates": {"root": [0.1, 0, 0, 0.5, 0.6, -0.3], "neck": [1, 2, -1]},
    "forces": {"neck": {"law": "constant", "value": [0.1, 0.2, 0.3]}, "rail": {"law": "constant", "value": 5}},
    "record": {
        "reactions": True,
        "resultants": True,
        "points": ["body.tip", "body.side"],
        "point_velocities": True,
        "point_accelerations": True,
        "expressions": {"twice": "2 * {rail.q}", "fast": {"formula": "rail.qd", "unit": "mm/s"}},
    },
}


@pytest.fixture(scope="module")
def result():
    return denoc.run(DRIVEN, denoc.loads(ARM))


def panel(figure, k):
    """Of the k-th axes: title, y label, and its lines by the label that the legend gives them, if there are several."""
    axes = figure.axes[k]
    if axes.get_title() and len(axes.get_lines()) == 1:
        assert axes.get_legend() is None  # which would repeat the title
        (line,) = axes.get_lines()
        return axes.get_title(), axes.get_ylabel(), {line.get_label(): line}
    handles, told = axes.get_legend().get_lines(), [text.get_text() for text in axes.get_legend().get_texts()]
    lines = axes.get_lines()
    assert len(handles) == len(told) == len(lines)
    for handle, line, label in zip(handles, lines, told):
        assert label == line.get_label()
        assert (handle.get_color(), handle.get_linestyle()) == (line.get_color(), line.get_linestyle())
    looks = [(line.get_color(), line.get_linestyle()) for line in lines]
    assert len(set(looks)) == len(looks)  # every line looks different
    assert axes.get_xlabel() == "time (s)"
    return axes.get_title(), axes.get_ylabel(), dict(zip(told, lines))


# plot → panels: title, y label, label in the legend → column
PANELS = {
    "angles": [
        ("root", "position (m)", {"x": "root.x", "y": "root.y", "z": "root.z"}),
        ("root", "Euler parameters", {"e0": "root.e0", "e1": "root.e1", "e2": "root.e2", "e3": "root.e3"}),
        ("neck", "Euler parameters", {"e0": "neck.e0", "e1": "neck.e1", "e2": "neck.e2", "e3": "neck.e3"}),
        ("rail", "position (m)", {"rail.q": "rail.q"}),
    ],
    "rates": [
        ("root", "speed (m/s)", {"vx": "root.vx", "vy": "root.vy", "vz": "root.vz"}),
        ("root", "rate (rad/s)", {"wx": "root.wx", "wy": "root.wy", "wz": "root.wz"}),
        ("neck", "rate (rad/s)", {"wx": "neck.wx", "wy": "neck.wy", "wz": "neck.wz"}),
        ("rail", "speed (m/s)", {"rail.qd": "rail.qd"}),
    ],
    "accelerations": [
        ("root", "acceleration (m/s²)", {"ax": "root.ax", "ay": "root.ay", "az": "root.az"}),
        ("root", "acceleration (rad/s²)", {"alx": "root.alx", "aly": "root.aly", "alz": "root.alz"}),
        ("neck", "acceleration (rad/s²)", {"alx": "neck.alx", "aly": "neck.aly", "alz": "neck.alz"}),
        ("rail", "acceleration (m/s²)", {"rail.qdd": "rail.qdd"}),
    ],
    "torques": [
        ("neck", "torque (N m)", {"nx": "neck.nx", "ny": "neck.ny", "nz": "neck.nz"}),
        ("rail", "force (N)", {"rail.tau": "rail.tau"}),
    ],
    "reactions": [
        (joint, unit, {f"{kind}{axis}": f"{joint}.reaction.{kind}{axis}" for axis in "xyz"})
        for joint in ("neck", "rail")
        for unit, kind in (("force (N)", "f"), ("moment (N m)", "n"))
    ],
    "resultants": [
        (joint, unit, {f"{joint} {kind}": f"{joint}.reaction.{kind}"})
        for joint in ("neck", "rail")
        for unit, kind in (("force (N)", "f"), ("moment (N m)", "n"))
    ],
    "points": [
        (point, "position (m)", {axis: f"{point}.{axis}" for axis in "xyz"}) for point in ("body.tip", "body.side")
    ],
    "point-velocities": [
        (point, "velocity (m/s)", {f"v{axis}": f"{point}.v{axis}" for axis in "xyz"})
        for point in ("body.tip", "body.side")
    ],
    "point-accelerations": [
        (point, "acceleration (m/s²)", {f"a{axis}": f"{point}.a{axis}" for axis in "xyz"})
        for point in ("body.tip", "body.side")
    ],
    "expressions": [("twice", "", {"twice": "twice"}), ("fast", "mm/s", {"fast": "fast"})],
    "energy": [
        (
            "energy",
            "energy (J)",
            {key: f"energy.{key}" for key in ("kinetic", "potential", "elastic", "total")},
        ),
        ("residual", "energy (J)", {"residual": "energy.residual"}),
    ],
}


@pytest.mark.parametrize("plot", plots.PLOTS)
def test_panels(result, plot):
    figure = result.plot(plot)[f"{result.name}-{plot}"]
    assert figure.get_suptitle() == f"{plots.PLOTS[plot].title}: arm (arm-sim)"
    assert len(figure.axes) == len(PANELS[plot])
    for k, (title, label, lines) in enumerate(PANELS[plot]):
        found = panel(figure, k)
        assert found[:2] == (title, label)
        assert list(found[2]) == list(lines)
        for name, column in lines.items():
            np.testing.assert_array_equal(found[2][name].get_xdata(), result.t)
            np.testing.assert_array_equal(found[2][name].get_ydata(), result.table[column])


@pytest.mark.parametrize("plot", [name for name, row in plots.PLOTS.items() if row.overlay])
@pytest.mark.sampled(2)
def test_overlay(result, plot):
    """All lines of one unit in one panel, under their full names."""
    figure = result.plot(plot)[f"{result.name}-{plot}-overlay"]
    assert figure.get_suptitle() == f"{plots.PLOTS[plot].title}: arm (arm-sim)"
    wanted = {}
    for _, label, lines in PANELS[plot]:
        wanted.setdefault(label, []).extend(lines.values())
    assert len(figure.axes) == len(wanted)
    for k, (label, columns) in enumerate(wanted.items()):
        _, found, lines = panel(figure, k)
        assert (found, list(lines)) == (label, columns)
        for column, line in lines.items():
            np.testing.assert_array_equal(line.get_ydata(), result.table[column])


def test_units_of_a_revolute_joint():
    result = denoc.run({**DRIVEN_PUMA, "plots": ["torques", "angles"]})
    figures = result.plot()
    assert set(figures) == {f"puma-idyn-{plot}{end}" for plot in ("torques", "angles") for end in ("", "-overlay")}
    for plot, label, suffix in (("torques", "torque (N m)", "tau"), ("angles", "angle (rad)", "q")):
        for k in range(6):
            title, found, lines = panel(figures[f"puma-idyn-{plot}"], k)
            assert (title, found, list(lines)) == (f"joint{k + 1}", label, [f"joint{k + 1}.{suffix}"])


DRIVEN_PUMA = {
    "robot": "puma",
    "task": "inverse",
    "time": {"end": 1, "step": 0.1},
    "motion": {"all": {"law": "cycloid", "to": "pi/2"}},
}


def test_plots_without_columns_are_left_out(result):
    assert set(result.plot("angles", "energy")) == {"arm-sim-angles", "arm-sim-angles-overlay", "arm-sim-energy"}
    bare = denoc.run({**DRIVEN_PUMA, "record": {"torques": False, "energy": False}, "plots": ["torques", "energy"]})
    assert bare.plot() == {}
    with pytest.raises(denoc.InputError, match="torques"):
        bare.plot("torque")


def chain(count, prefix="joint"):
    t = np.linspace(0, 1, 7)
    columns = [Column(f"{prefix}{k}.q", "rad", "position", f"{prefix}{k}", f"{prefix}{k}.q") for k in range(count)]
    return t, {column.name: k + t for k, column in enumerate(columns)}, columns


def test_many_joints(tmp_path):
    """Too many panels: the overlay alone, coloured in order, its legend naming some, the first and the last included."""
    t, table, columns = chain(250)
    made = figures.result_figures_by_stem("chain", t, table, columns, ["angles"], "chain")
    assert set(made) == {"chain-angles-overlay"}
    large, small = made["chain-angles-overlay"].axes  # joint k at k to k + 1 rad: the first dozen would be flat
    drawn = [line.get_label() for axes in (small, large) for line in axes.get_lines()]
    assert drawn == [column.label for column in columns]
    told = [text.get_text() for text in large.get_legend().get_texts()]
    assert 10 < len(told) < 20
    assert (told[0], told[-1]) == ("joint12.q", "joint249.q")
    plots.save_figure(
        made["chain-angles-overlay"], tmp_path / "chain.png"
    )  # and the axes have room: warnings are errors
    t, table, columns = chain(36)
    assert set(figures.result_figures_by_stem("chain", t, table, columns, ["angles"], "chain")) == {
        "chain-angles",
        "chain-angles-overlay",
    }


def test_reactions_of_many_joints_are_drawn_too():
    columns = [
        Column(f"j{k}.reaction.f{axis}", "N", "reaction", f"j{k}", f"j{k} f{axis}") for k in range(40) for axis in "xyz"
    ]
    t = np.linspace(0, 1, 3)
    made = figures.result_figures_by_stem("x", t, {column.name: t for column in columns}, columns, ["reactions"], "x")
    assert set(made) == {"x-reactions-overlay"}


def test_names_that_matplotlib_would_take_for_something_else(tmp_path):
    """No name is mathematics, hides its line, or is cut off; what the font lacks is a box and no warning."""
    for prefix in ("_hidden", "$x^", "a$b$", "joint\u5173", "a" * 200, "\\frac{"):
        t, table, columns = chain(3, prefix)
        made = figures.result_figures_by_stem(prefix, t, table, columns, ["angles"], prefix)
        for stem, figure in made.items():
            plots.save_figure(figure, tmp_path / "figure.png")
            told = [
                axes.get_lines()[0].get_label() if axes.get_legend() is None else text.get_text()
                for axes in figure.axes
                for text in (axes.get_lines() if axes.get_legend() is None else axes.get_legend().get_texts())
            ]
            plain = [text.replace("\\$", "$").replace("\u200b", "").replace("\n", "") for text in told]
            assert plain == [column.label for column in columns], stem
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Glyph")
                box = figure.get_tightbbox(figure.canvas.get_renderer())
            if len(prefix) < 50:
                assert box.x0 > -0.05
                assert box.x1 < figure.get_figwidth() + 0.05


def test_what_varies_by_rounding_only_is_a_constant():
    t = np.linspace(0, 1, 50)
    columns = [Column(f"j{k}.tau", "N m", "force", f"j{k}", f"j{k}.tau") for k in range(4)]
    table = {
        "j0.tau": 50 * np.sin(t),
        "j1.tau": 7 + 1e-14 * np.sin(40 * t),  # rounding, beside 50
        "j2.tau": 1e-3 * np.sin(t),  # small, but not that small
        "j3.tau": 3 + 1e-15 * np.sin(40 * t),
    }
    figure = figures.result_figures_by_stem("x", t, table, columns, ["torques"], "x")["x-torques"]
    heights = [high - low for low, high in (axes.get_ylim() for axes in figure.axes)]
    assert heights[1] > 1
    assert heights[3] > 1
    assert heights[2] == pytest.approx(1.1e-3 * np.sin(1))
    tiny = {name: 1e-12 * values for name, values in table.items()}  # the same machine in other units
    figure = figures.result_figures_by_stem("x", t, tiny, columns, ["torques"], "x")["x-torques"]
    low, high = figure.axes[2].get_ylim()
    assert high - low == pytest.approx(1.1e-15 * np.sin(1))


def test_ticks_have_no_offset():
    t = np.linspace(0, 1, 50)
    columns = [Column("j.q", "rad", "position", "j", "j.q")]
    figure = figures.result_figures_by_stem("x", t, {"j.q": 1000.5 + 1e-3 * t}, columns, ["angles"], "x")["x-angles"]
    figure.canvas.draw()
    axis = figure.axes[0].yaxis
    assert axis.get_offset_text().get_text() == ""
    assert all(float(tick.get_text().replace("\u2212", "-")) > 1000 for tick in axis.get_ticklabels())


def test_panels_do_not_overlap(result):
    for plot in plots.PLOTS:
        for figure in result.plot(plot).values():
            figure.canvas.draw()
            renderer = figure.canvas.get_renderer()
            boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
            for k, one in enumerate(boxes):
                assert one.x0 >= 0
                assert one.x1 <= figure.bbox.width
                assert not any(one.padded(-1).overlaps(other.padded(-1)) for other in boxes[k + 1 :]), plot


def test_a_run_of_one_row_is_seen(tmp_path):
    columns = [Column("j.q", "rad", "position", "j", "j.q")]
    figure = figures.result_figures_by_stem("x", np.array([0.0]), {"j.q": np.array([1.0])}, columns, ["angles"], "x")[
        "x-angles"
    ]
    assert figure.axes[0].get_lines()[0].get_marker() == "o"
    plots.save_figure(figure, tmp_path / "x.png")


@pytest.mark.parametrize("form", plots.PLOT_FORMATS)
@pytest.mark.sampled(2)
def test_files_are_the_same_every_time(result, tmp_path, form):
    for name in ("one", "two"):
        plots.save_figure(result.plot("energy")["arm-sim-energy"], tmp_path / f"{name}.{form}")
    assert (tmp_path / f"one.{form}").read_bytes() == (tmp_path / f"two.{form}").read_bytes()


@pytest.mark.parametrize("factor", [1.0, 0.0])
def test_axes_of_sizes_begin_at_zero(factor):
    """A reaction of 14,000 N that doesn't vary isn't shown on an axis from 0 to 28,000 N that begins at -14,000 N."""
    t = np.linspace(0, 1, 20)
    columns = [Column("j.force", "N", "resultant", "j", "j.force"), Column("k.force", "N", "resultant", "k", "k.force")]
    table = {"j.force": 14000.0 + factor * 1e-6 * t, "k.force": 900.0 * t}
    drawn = figures.result_figures_by_stem(
        "x", t, table, columns, ["resultants", Drawing(y=("j.force",), x=("k.force",))], "x"
    )
    assert [axes.get_ylim()[0] for figure in drawn.values() for axes in figure.axes] == [0.0] * 3
    assert [*drawn.values()][1].axes[0].get_xlim()[0] == 0.0
    assert next(iter(drawn.values())).axes[0].get_ylim()[1] >= 14000.0


def test_pixels_of_a_papers_column(tmp_path):
    """86 mm at 600 to the inch, which journals ask for where there are lines; it had been 370 pixels wide."""
    energy = denoc.run({**DRIVEN, "plots": ["energy"]}, denoc.loads(ARM))
    image = imread(next(file for file in energy.write(tmp_path, "png", style="paper") if file.suffix == ".png"))
    assert image.shape[1] == pytest.approx(3.39 * 600, abs=2)


def test_a_million_rows_are_drawn_without_a_warning(tmp_path):
    t = np.linspace(0, 1, 400_000)
    columns = [Column("j.q", "rad", "position", "j", "j.q")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = figures.result_figures_by_stem("x", t, {"j.q": np.sin(300 * t)}, columns, ["angles"], "x")["x-angles"]
        plots.save_figure(figure, tmp_path / "x.png")


def test_colours_and_styles_tell_all_lines_apart():
    looks = [tuple(SCREEN.look(n, len(SCREEN.strokes)).items()) for n in range(len(SCREEN.strokes))]
    assert len(set(looks)) == len(looks) == 28
    many = [SCREEN.look(n, 100)["color"] for n in range(100)]
    assert all(np.linalg.norm(np.subtract(a, b)) < 0.1 for a, b in pairwise(many))  # a gradual change
