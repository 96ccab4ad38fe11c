"""Every kind of change is caught, and nothing else: rounding passes, whatever runs the program."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from matplotlib.lines import Line2D

import denoc
from denoc.errors import InputError, NumericalError
from denoc.machine.backend import native, using_backend
from denoc.record import plots
from denoc.record.compared import description_of_figure
from denoc.record.compared import deviation as compare
from denoc.robot.read import build_robot
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.study.regression import baseline, judging
from denoc.text import document_from_mapping, library_folder, library_names, read_yaml_document

SWING = {
    "robot": "planar3r",
    "task": "simulate",
    "time": {"end": 1, "step": 0.01},
    "initial": {"joint1": -1.2, "joint2": 0.3},
    "forces": {"joint1": {"law": "harmonic", "amplitude": 2, "frequency": 1}},
    "record": {"reactions": True, "expressions": {"one": "2 * joint1.q", "other": "2 * joint1.q"}},
    "plots": ["torques", "angles", "expressions", "energy"],
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with one scenario and its baseline, which every test takes a copy of."""
    home = tmp_path_factory.mktemp("recorded")
    (home / "swing.yaml").write_text(json.dumps(SWING))
    (case,) = baseline.regression_cases(home / "kept", [str(home / "swing.yaml")], update=True)
    assert judging.update_baseline(home / "kept", [judged(case)]) == {"swing": "added"}
    return home


@pytest.fixture
def swing(recorded, tmp_path):
    """A baseline with one scenario; runs it with changed data, or judges a result that `change` has tampered with."""
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "swing.yaml"
    kept = tmp_path / "kept"

    def run(change=lambda result: None, **keys):
        file.write_text(json.dumps({**SWING, **keys}))
        (case,) = baseline.regression_cases(kept, [])
        result = carry_out_plan(case.plan)
        change(result)
        return judging.judge_against_baseline(case, result)

    run.file, run.folder = file, kept
    return run


def whats(verdict):
    return {difference.what for difference in verdict.differences}


def judged(case, plan=None):
    return judging.judge_against_baseline(case, carry_out_plan(plan or case.plan))


# ---- what passes


def test_the_same_again(swing):
    verdict = swing()
    assert verdict.same
    assert not verdict.stale
    assert verdict.nearest < 1e-4
    assert not judging.regression_overlays(verdict)
    before = {path.name: path.read_bytes() for path in swing.folder.iterdir()}
    assert judging.update_baseline(swing.folder, [verdict]) == {}
    assert {path.name: path.read_bytes() for path in swing.folder.iterdir()} == before


LIBRARY = ["puma-idyn", "puma-fall", "puma-pd", "planar3r-fall", "rx90-fall", "space-arm-drive", "tree-idyn"]


@pytest.mark.parametrize("name", [*LIBRARY, "spherical-arm-fall", "chain-fall", "elastic-arm-idyn"])
@pytest.mark.sampled(4)
def test_rounding_passes(name, tmp_path, monkeypatch):
    """Plain text and compiled code, in lanes of any width, and a start that is off by the last digit."""
    kept = tmp_path / "kept"
    with using_backend("compiled"):
        (case,) = baseline.regression_cases(kept, [name], update=True)
        judging.update_baseline(kept, [judged(case)])
    (case,) = baseline.regression_cases(kept, [name])
    for backend, lanes in (("plain", 8), ("compiled", 2), ("compiled", 4), ("compiled", 8)):
        monkeypatch.setattr(native, "native_lanes", lambda lanes=lanes: lanes)
        with using_backend(backend):
            verdict = judged(case)
        assert verdict.same, (backend, lanes, verdict.differences[:3])
    off = replace(case.plan, q0=tuple(x + 1e-15 for x in case.plan.q0))
    assert judged(case, off).same


# ---- what is caught

OPEN_CHAINS = ("elastic", "kuka", "planar3r", "puma", "rx90", "space", "spherical", "stanford", "tree")


@pytest.mark.parametrize("name", [name for name in library_names("scenarios") if name.startswith(OPEN_CHAINS)])
@pytest.mark.sampled(16)
def test_a_mass_off_by_a_thousandth(name, tmp_path):
    """Of the last link that has one, in every scenario; that of the KUKA arm is light."""
    kept = tmp_path / "kept"
    (case,) = baseline.regression_cases(kept, [name], update=True)
    judging.update_baseline(kept, [judged(case)])
    (case,) = baseline.regression_cases(kept, [name])
    robot = read_yaml_document(library_folder("robots") / f"{case.plan.file.robot}.yaml").data
    last = [link for link in robot["links"] if link.get("mass")][-1]
    last["mass"] = float(last["mass"]) * 1.001
    verdict = judged(
        case, prepare_scenario(library_folder("scenarios") / f"{name}.yaml", build_robot(document_from_mapping(robot)))
    )
    assert max(difference.times for difference in verdict.differences) > (1 if name == "kuka-kr5-idyn" else 5)


def test_a_changed_sign(swing):
    def flip(result):
        result.table["joint2.q"] *= -1

    verdict = swing(flip)
    assert "joint2.q" in whats(verdict)
    worst = verdict.differences[0]
    assert (worst.what, worst.unit) == ("joint2.q", "rad")
    assert worst.new == pytest.approx(-worst.old)
    assert worst.times > 1e5
    # its plots show the same wrong numbers, which isn't told again
    assert all(difference.what == "joint2.q" for difference in verdict.differences)
    assert set(judging.regression_overlays(verdict)) == {"swing-difference-joint2-position"}


@pytest.mark.parametrize("pair", [("joint1.q", "joint2.q"), ("one", "other")])  # the second: both the same
def test_a_swapped_plot_label(swing, pair):
    def swap(result):
        at = {column.name: k for k, column in enumerate(result.columns)}
        for name, other in (pair, pair[::-1]):
            result.columns[at[name]] = replace(result.columns[at[name]], label=other)

    verdict = swing(swap)
    assert not verdict.same
    assert all(difference.panel is not None for difference in verdict.differences)
    assert any(f"`{pair[0]}` is `{pair[1]}` now" in difference.message for difference in verdict.differences)
    made = judging.regression_overlays(verdict)
    assert made
    told = [text.get_text() for text in next(iter(made.values())).axes[0].get_legend().get_texts()]
    assert told[:2] == [f"{pair[1]}, new", f"{pair[0]}, old"]


def test_lines_drawn_from_each_others_columns(swing):
    def cross(result):
        plot = result.plot

        def crossed(*which):
            made = plot(*which)
            one, other = made["swing-angles-overlay"].axes[0].get_lines()[:2]
            y, other_y = one.get_ydata(), other.get_ydata()
            one.set_ydata(other_y)
            other.set_ydata(y)
            return made

        result.plot = crossed

    verdict = swing(cross)
    assert whats(verdict) == {"swing-angles-overlay"}
    assert "line `joint1.q` shows joint2.q now" in verdict.differences[0].message
    assert judging.regression_overlays(verdict)


def test_words_of_plots(swing):
    def rename(result):
        plot = result.plot

        def worded(*which):
            made = plot(*which)
            made["swing-angles"].suptitle("Angles")
            made["swing-angles"].axes[0].set_ylabel("angle (deg)")
            made["swing-energy"].axes[0].get_legend().get_texts()[0].set_text("moving")
            made["swing-torques"].axes[0].set_xlabel("time")
            del made["swing-angles-overlay"]
            return made

        result.plot = worded

    told = " / ".join(difference.message for difference in swing(rename).differences)
    for words in ("is `Angles` now", "`angle (rad)` is `angle (deg)` now", "legend `kinetic` is `moving` now"):
        assert words in told
    assert "x label `time (s)` is `time` now" in told
    assert "missing" in told


def _repainted(change):
    """What tampers with the angles' overlay, given its axes and the first of its lines."""

    def tamper(result):
        plot = result.plot

        def painted(*which):
            made = plot(*which)
            axes = made["swing-angles-overlay"].axes[0]
            change(axes, axes.get_lines()[0])
            return made

        result.plot = painted

    return tamper


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda axes, line: line.set_color("white"), "line `joint1.q`: `#0072b2 1.4` is `#ffffff 1.4` now"),
        (lambda axes, line: line.set_linewidth(2), "line `joint1.q`: `#0072b2 1.4` is `#0072b2 2` now"),
        (lambda axes, line: line.set_linestyle("--"), "`#0072b2 1.4, dashes 0 5.18 2.24` now"),
        (lambda axes, line: line.set_linestyle(""), "line `joint1.q`: `#0072b2 1.4` is `` now"),
        (
            lambda axes, line: line.set_marker("s"),
            "`#0072b2 1.4; markers of 5 points, 6 × 6, #0072b2 1, filled #0072b2",
        ),
        (lambda axes, line: line.set_alpha(0.5), "line `joint1.q`: `#0072b2 1.4` is `#0072b280 1.4` now"),
        (lambda axes, line: line.set_zorder(5), "line `joint1.q` is `joint2.q` now"),
        (lambda axes, line: line.set_visible(False), "3 lines were there, 2 now"),
        (lambda axes, line: line.set_transform(axes.transAxes), "line `joint1.q` shows other numbers now"),
        (lambda axes, line: axes.set_xlim(0, 1.1), "x axis from 0 to 1 is from 0 to 1.1 now"),
        (lambda axes, line: axes.set_ylim(-9, 9), " is from -9 to 9 now"),
        (lambda axes, line: axes.set_yscale("symlog"), "scales of the axes `linear, linear` is `linear, symlog` now"),
        (
            lambda axes, line: axes.axhspan(-1, 1, color="white", zorder=9),
            "drawn now: patch: #ffffff 1, filled #ffffff",
        ),
        (lambda axes, line: axes.grid(visible=False), "not drawn any more: axis xtick line2d: #dddddd 0.6"),
        (lambda axes, line: axes.set_axisbelow(False), "what stands around the lines is drawn in another order"),
        (lambda axes, line: axes.xaxis.label.set_fontsize(5), "drawn now: axis text: #000000 5"),
        (lambda axes, line: axes.xaxis.label.set_visible(False), "x label `time (s)` is `` now"),
        (lambda axes, line: axes.tick_params(labelcolor="white"), "drawn now: axis xtick text: #ffffff 8"),
        (lambda axes, line: axes.get_legend().get_lines()[0].set_color("red"), "drawn now: legend line2d: #ff0000 1.4"),
        (lambda axes, line: axes.figure.text(0, 0, "so"), "note nothing is `so` now"),
    ],
)
def test_what_is_drawn(swing, change, words):
    verdict = swing(_repainted(change))
    assert whats(verdict) == {"swing-angles-overlay"}
    assert any(words in difference.message for difference in verdict.differences), verdict.differences
    for figure in judging.regression_overlays(verdict).values():
        description_of_figure(figure, {}, None)  # can be drawn


def test_lines_that_are_drawn_white_though_they_say_otherwise(swing, monkeypatch):
    """What counts is what comes out, not what matplotlib's objects say of themselves."""
    drawn, colour = Line2D.draw, Line2D.get_color

    def white(self, renderer):
        was = self._color
        self.set_color("white")
        drawn(self, renderer)
        self._color = was

    monkeypatch.setattr(Line2D, "draw", white)
    monkeypatch.setattr(Line2D, "get_color", lambda self: "#0072B2")
    told = [difference.message for difference in swing().differences]
    assert sum("is `#ffffff 1.4` now" in message for message in told) > 10
    monkeypatch.setattr(Line2D, "get_color", colour)
    monkeypatch.setattr(Line2D, "draw", lambda self, renderer: None)
    assert any("3 lines were there, 0 now" in difference.message for difference in swing().differences)


def test_limits_of_equal_scales(swing):
    """They are those before the panel's form widens them, however often a figure is drawn."""
    circle = {"y": ["joint1.qd"], "x": ["joint1.q"], "equal": True, "name": "circle"}
    keys = {"plots": ["torques", circle], "regress": {"pinned": ["torques"]}}
    judging.update_baseline(swing.folder, [swing(**keys)])
    verdict = swing(**keys)
    assert verdict.same, verdict.differences
    figure = verdict.result.plot(*verdict.result.plots)["swing-circle"]
    once, twice = (description_of_figure(figure, verdict.result.table, None) for _ in range(2))
    assert once == twice == verdict.new.kept.plots["swing-circle"]
    assert once.panels[0].lines[0].column == "joint1.qd"  # the data, which are drawn where they should be


def test_a_baseline_from_before_looks_were_kept(swing):
    """It is compared with what it has; `--update` adds the rest."""
    file = swing.folder / "swing.json"
    data = json.loads(file.read_text())
    for picture in data["plots"].values():
        del picture["notes"], picture["marks"]
        for panel in picture["panels"]:
            del panel["scales"], panel["limits"]
            for line in panel["lines"]:
                del line["look"]
    file.write_text(json.dumps(data))
    verdict = swing(_repainted(lambda axes, line: (line.set_color("white"), axes.set_ylim(-9, 9))))
    assert verdict.same
    assert verdict.notes == ["colours, strokes and limits of plots aren't in this baseline yet; --update adds them"]
    assert judging.update_baseline(swing.folder, [swing()]) == {"swing": "changed"}
    assert not swing(_repainted(lambda axes, line: line.set_color("white"))).same
    assert swing().notes == []


def test_a_renamed_column(swing):
    def rename(result):
        result.table = {name.replace("joint2.q", "elbow.q"): values for name, values in result.table.items()}
        result.columns = [replace(column, name=column.name.replace("joint2.q", "elbow.q")) for column in result.columns]

    found = {difference.what: difference.message for difference in swing(rename).differences}
    assert found["joint2.q"] == "missing now; `elbow.q` holds its numbers"
    assert found["elbow.qdd"] == "a new column"


def test_a_missing_and_a_new_column(swing):
    assert "joint1.reaction.fx" in whats(swing(record={"reactions": False}))
    assert "energy.total" in whats(swing(record={"reactions": True, "energy": False}, plots=["torques", "angles"]))


def test_another_unit(swing):
    def convert(result):
        k = next(k for k, column in enumerate(result.columns) if column.name == "joint1.q")
        result.columns[k] = replace(result.columns[k], unit="deg")

    verdict = swing(convert)
    assert "in rad, now in deg" in {difference.message for difference in verdict.differences}
    assert any("is `deg` now" in difference.message for difference in verdict.differences)  # on the plot's axis


@pytest.mark.parametrize("time", [{"end": 1, "step": 0.02}, {"end": 1.2, "step": 0.01}, {"end": 0.9, "step": 0.01}])
def test_other_rows(swing, time):
    verdict = swing(time=time)
    assert whats(verdict) == {"rows"}
    assert "101 rows to 1 s were there" in verdict.differences[0].message


def test_another_end(swing):
    def fail(result):
        result.ended = "failed"
        result.t = result.t[:50]
        result.table = {name: values[:50] for name, values in result.table.items()}

    verdict = swing(fail)
    assert whats(verdict) == {"ended", "rows"}
    with pytest.raises(NumericalError, match="no baseline is made of it"):
        judging.update_baseline(swing.folder, [verdict])


def test_a_spike_between_the_rows_that_are_kept(swing):
    def spike(result):
        assert compare.thinned_rows_to_record(101, compare.MOST_ROWS)[1] == 3
        result.table["joint3.qd"][4] += 100.0

    (found,) = [difference for difference in swing(spike).differences if difference.what == "joint3.qd"]
    assert found.message == "largest of all rows"
    assert found.t == pytest.approx(0.04)


def test_numbers_that_are_none(swing, tmp_path):
    def spoil(result):
        result.table["joint3.qd"][3:] = np.nan

    verdict = swing(spoil)
    (found,) = [difference for difference in verdict.differences if difference.what == "joint3.qd"]
    assert found.times == np.inf
    assert np.isnan(found.new)
    plots.save_figure(judging.regression_overlays(verdict)["swing-difference-joint3-speed"], tmp_path / "overlay.png")


# ---- settings


def test_until(swing, tmp_path):
    """What happens after the horizon isn't compared, rows and end included."""
    judging.update_baseline(swing.folder, [swing(regress={"until": 0.5})])

    def later(result):
        result.table["joint1.q"][51:] += 1.0

    assert swing(later, regress={"until": 0.5}).same
    assert swing(regress={"until": 0.5}, time={"end": 0.8, "step": 0.01}).same
    assert whats(swing(regress={"until": 0.5}, time={"end": 0.4, "step": 0.01})) == {"rows"}

    def sooner(result):
        result.table["joint1.q"][50:] += 1.0

    assert "joint1.q" in whats(swing(sooner, regress={"until": 0.5}))
    with pytest.raises(InputError, match=r"regress\.until"):
        swing(regress={"until": 0})


def test_tolerances(swing):
    def off(result):
        result.table["joint1.q"] += 1e-4
        result.table["joint2.qd"] += 1e-4

    assert {"joint1.q", "joint2.qd"} <= whats(swing(off))
    loose = {"rtol": 1e-3, "columns": {"*.qd": {"rtol": 1e-9}, "joint2.qd": {"atol": 1e-3}}}
    told = swing(off, regress=loose)
    assert "regress" in whats(told)  # the old settings are applied until --update
    assert "joint1.q" in whats(told)
    judging.update_baseline(swing.folder, [swing(regress=loose)])
    assert swing(off, regress=loose).same
    judging.update_baseline(swing.folder, [swing(regress={"columns": {"joint1.*": {"rtol": 1e-3}}})])
    told = whats(swing(off, regress={"columns": {"joint1.*": {"rtol": 1e-3}}}))
    assert "joint2.qd" in told
    assert "joint1.q" not in told
    with pytest.raises(InputError, match="joint9") as wrong:
        swing(regress={"columns": {"joint9.qd": {"rtol": 1}}} | {"columns": {"joint9.qd": {"rtol": 0.1}}})
    assert "did you mean" in str(wrong.value)


@pytest.mark.parametrize(
    "entry", [{"rtol": -1}, {"rtol": 1}, {"atol": "much"}, {"untill": 3}, {"pinned": ["torque"]}, {"columns": [1]}]
)
def test_settings_that_make_no_sense(swing, entry):
    with pytest.raises(InputError):
        swing(regress=entry)


def test_pinned_images(swing, monkeypatch):
    pinned = {"pinned": ["angles", "rates"]}
    judging.update_baseline(swing.folder, [swing(regress=pinned)])
    assert sorted(path.name for path in swing.folder.glob("*.png")) == ["swing-angles.png", "swing-rates.png"]
    assert swing(regress=pinned).same

    def thick(result):
        plot = result.plot

        def drawn(*which):
            made = plot(*which)
            for axes in made["swing-rates"].axes:
                axes.get_lines()[0].set_linewidth(12)
            return made

        result.plot = drawn

    verdict = swing(thick, regress=pinned)
    assert whats(verdict) == {"swing-rates"}
    assert "the image is" in verdict.differences[-1].message
    image = swing.folder / "swing-rates.png"
    whole = image.read_bytes()
    image.write_bytes(whole[:100])
    with pytest.raises(InputError, match=r"swing-rates\.png"):
        swing(regress=pinned)
    image.write_bytes(whole)
    monkeypatch.setattr(judging, "matplotlib_version", lambda: "0.1")  # which draws letters otherwise
    verdict = swing(regress=pinned)
    assert verdict.same
    assert verdict.stale
    assert len(verdict.notes) == 2
    judging.update_baseline(swing.folder, [swing()])
    assert not list(swing.folder.glob("*.png"))


# ---- scenarios that come and go


def test_a_missing_scenario(swing):
    swing.file.unlink()
    (case,) = baseline.regression_cases(swing.folder, [])
    verdict = judging.judge_missing_scenario(case)
    assert [difference.message for difference in verdict.differences] == ["`../swing.yaml` is no longer there"]
    assert judging.update_baseline(swing.folder, [verdict]) == {"swing": "removed"}
    assert list(swing.folder.iterdir()) == []
    with pytest.raises(InputError, match="empty"):
        baseline.regression_cases(swing.folder, [])


def test_one_that_is_not_in_the_baseline(swing):
    (case,) = baseline.regression_cases(swing.folder, ["puma-idyn"])
    assert [difference.message for difference in judged(case).differences] == ["not in the baseline"]
    with pytest.raises(InputError, match="no such scenario"):
        baseline.regression_cases(swing.folder, ["nonsense"])
    with pytest.raises(InputError, match="two scenarios"):
        baseline.regression_cases(swing.folder, ["puma-idyn", "puma-idyn"])


def test_another_name(swing):
    verdict = swing(name="swung")
    assert "scenario" in whats(verdict)
    judging.update_baseline(swing.folder, [verdict])
    assert sorted(path.name for path in swing.folder.iterdir()) == ["swung.csv", "swung.json"]


# ---- files


def test_files_are_small_and_the_same_everywhere(tmp_path):
    texts = []
    for place in ("one", "other/place"):
        kept = tmp_path / place / "kept"
        (case,) = baseline.regression_cases(kept, ["puma-idyn"], update=True)
        with using_backend("plain"):  # another test's process may have made code between the two
            judging.update_baseline(kept, [judged(case)])
        texts.append({path.name: path.read_bytes() for path in kept.iterdir()})
        assert os.listdir(kept.parent) == ["kept"]  # no drafts
    assert texts[0] == texts[1]
    text = texts[0]["puma-idyn.json"].decode()
    assert str(tmp_path) not in text
    assert str(Path(denoc.__file__).parent) not in text
    assert json.loads(text)["scenario"] == "puma-idyn"
    lines = texts[0]["puma-idyn.csv"].decode().splitlines()
    assert len(lines) == 42
    assert all(len(cell.lstrip("-").replace(".", "").split("e")[0].lstrip("0")) <= 12 for cell in lines[7].split(","))


def spoil_json(change):
    def spoil(kept):
        data = json.loads((kept / "swing.json").read_text())
        change(data)
        (kept / "swing.json").write_text(json.dumps(data))

    return spoil


SPOILT = {
    "no JSON": lambda kept: (kept / "swing.json").write_text("{"),
    "not text": lambda kept: (kept / "swing.json").write_bytes(b"\xff\xfe"),
    "a list": lambda kept: (kept / "swing.json").write_text("[]"),
    "no file": lambda kept: (kept / "swing.json").unlink(),
    "no columns": spoil_json(lambda data: data.pop("columns")),
    "a word for a number": spoil_json(lambda data: data["columns"][0].update(allowed="much")),
    "another form": spoil_json(lambda data: data.update(form=99)),
    "a wrong setting": spoil_json(lambda data: data.update(regress={"until": "soon"})),
    "a panel without lines": spoil_json(lambda data: data["plots"]["swing-angles"]["panels"][0].pop("lines")),
    "a file elsewhere": spoil_json(
        lambda data: data.update(images={"angles": {"file": "../x.png", "matplotlib": "3.9"}})
    ),
    "no image": spoil_json(lambda data: data.update(images={"angles": {"file": "x.png", "matplotlib": "3.9"}})),
    "no table": lambda kept: (kept / "swing.csv").unlink(),
    "half a row": lambda kept: (kept / "swing.csv").write_text((kept / "swing.csv").read_text()[:-40]),
    "no numbers": lambda kept: (kept / "swing.csv").write_text("t,joint1.q\n0,zero\n"),
    "other columns": lambda kept: (kept / "swing.csv").write_text("t,joint1.q\n0,0\n"),
}


def put(kept, name, make):
    (kept / name).unlink()
    make(kept / name)


def huge(path):
    with path.open("wb") as file:
        file.truncate(baseline.MOST_BYTES + 1)


if os.name == "posix":
    SPOILT |= {
        f"{name} is {what}": partial(put, name=name, make=make)
        for name in ("swing.csv", "swing.json")
        for what, make in {
            "a pipe": os.mkfifo,
            "without an end": lambda path: path.symlink_to("/dev/zero"),
            "a folder": Path.mkdir,
            "huge": huge,
        }.items()
    }


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.sampled(2)
def test_a_baseline_that_cannot_be_read(swing, how):
    SPOILT[how](swing.folder)
    with pytest.raises(InputError) as told:
        swing()
    assert told.value.exit_code == 2
    assert any(name in str(told.value) for name in ("swing.json", "swing.csv", "x.png")), told.value


def test_files_of_two_updates_are_not_one_baseline(swing):
    """A table that is sound by itself, but not the one that its description was written with, is refused."""
    csv = swing.folder / "swing.csv"
    whole = csv.read_bytes()
    csv.write_bytes(whole.replace(b"\n", b"\r\n"))  # as version control may leave it
    assert swing().same
    csv.write_bytes(whole.replace(b"5", b"6", 1))
    with pytest.raises(InputError, match=r"swing\.csv.*isn't the one that the JSON file was written with"):
        swing()


@pytest.mark.parametrize("step", ["write_bytes", "write_text", "rename"])
@pytest.mark.sampled(2)
def test_update_is_whole_or_not_at_all(swing, step, monkeypatch):
    """Whatever fails, the folder is as it was, and nothing lies beside it."""
    before = {path.name: path.read_bytes() for path in swing.folder.iterdir()}
    verdict = swing(initial={"joint1": 0.5})
    assert not verdict.same
    calls = []

    def failing(original):
        def fail(path, *rest, **more):
            calls.append(path)
            if len(calls) == (2 if step == "write_bytes" else 1):
                raise OSError(28, "no space left on device")
            return original(path, *rest, **more)

        return fail

    file = swing.folder / "notes.txt"  # somebody else's
    file.write_text("mine")
    before[file.name] = b"mine"
    with monkeypatch.context() as patch:
        patch.setattr(Path, step, failing(getattr(Path, step)))
        with pytest.raises(InputError, match="no space left"):
            judging.update_baseline(swing.folder, [verdict])
    assert {path.name: path.read_bytes() for path in swing.folder.iterdir()} == before
    assert sorted(os.listdir(swing.folder.parent)) == ["kept", "swing.yaml"]
    judging.update_baseline(swing.folder, [verdict])
    file.unlink()
    assert swing(initial={"joint1": 0.5}).same


def test_a_folder_that_is_not_the_baselines_own(tmp_path, monkeypatch):
    (tmp_path / "other" / "things").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for place in (Path("other"), Path()):
        with pytest.raises(InputError, match="of its own"):
            baseline.regression_cases(place, ["puma-idyn"], update=True)


# ---- numbers


@pytest.mark.parametrize("count", [1, 2, 40, 41, 42, 80, 81, 82, 201, 1000])
def test_thinned(count):
    rows = compare.thinned_rows_to_record(count, 41)
    assert len(rows) <= 41
    assert (rows[0], rows[-1]) == (0, count - 1)
    assert (np.diff(rows) > 0).all()


def test_a_column_is_compared_by_its_own_scale():
    assert compare.allowed_recorded_difference(1e-4, 100.0, None, None) == pytest.approx(
        1e-7
    )  # rounding of its neighbours
    assert compare.allowed_recorded_difference(50.0, 100.0, None, None) == pytest.approx(5e-5)
    assert compare.allowed_recorded_difference(50.0, 100.0, 0.0, 1e-3) == pytest.approx(1e-3)
    assert compare.allowed_recorded_difference(0.0, 0.0, None, None) == 1e-12
    np.testing.assert_array_equal(
        compare.recorded_difference_excess(
            np.array([1.0, np.nan, np.nan, np.inf, 2.0]), np.array([1.5, np.nan, 1.0, np.inf, 2.0]), 0.1
        ),
        [5.0, 0.0, np.inf, 0.0, 0.0],
    )
    assert compare.recorded_rows_at(np.array([0.0, 0.5, 0.7]), np.array([0.0, 0.5 + 1e-13, 1.0])).tolist() == [0, 1, -1]
