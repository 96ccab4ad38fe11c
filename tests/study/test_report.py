"""Reports: all that a reader needs is there, with the result's own numbers, and names from files stay text."""

import json
import re
from html import unescape

import numpy as np
import pytest
from tests.study.test_animate import WILD
from tests.support import browser

import denoc
from denoc.cli.main import main
from denoc.record import plots, sheets
from denoc.scenario import stored_scenario_result
from denoc.study.report import report_figures, report_html, report_verdict

FOUR_BAR = {
    "robot": "four-bar",
    "task": "inverse",
    "time": {"end": 0.3, "step": 0.02},
    "motion": {"A0": {"law": "rate", "from": 0, "rate": "10 rad/s"}},
    "record": {"reactions": True},
    "name": "turn",
}


def run_main(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["denoc", *map(str, words)])
    with pytest.raises(SystemExit) as leaving:
        main()
    return leaving.value.code or 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    denoc.run(FOUR_BAR).write(folder / "turn", plot=False)
    return folder / "turn"


def test_all_about_a_result(folder):
    kept = stored_scenario_result(folder)
    text = unescape(report_html(kept))
    assert "The run ended as expected (done), with 16 rows." in text
    assert f"Energy balance holds to {kept.record['audit']['energy']:.2g} J" in text
    assert "denoc run turn.scenario.yaml" in text
    for file in ("turn.scenario.yaml", "four-bar.robot.yaml"):
        assert (folder / file).read_text() in text.replace("\n</pre>", "</pre>") + "\n" or file in text
        for line in (folder / file).read_text().splitlines():
            assert line in text
    for name, values in kept.table.items():
        if not values.any():
            assert name in text[text.index("Zero throughout: ") :].partition("</p>")[0]
        if np.ptp(values) > 1e-9:
            k = int(values.argmax())
            assert f"<td>{values[k]:.5g}</td><td>{kept.t[k]:.5g}</td>" in text, name
    for sum_ in kept.record["checksums"].values():
        assert sum_ in text
    for joint in ("A0", "A", "B0", "B"):
        assert f"<td>{joint}</td>" in text
    assert text.count("data:image/png;base64,") == 1


def test_verdicts(folder):
    kept = stored_scenario_result(folder)
    assert report_verdict(kept).grade == "good"
    for change, grade in (
        ({"ended": "failed", "reason": "why"}, "bad"),
        ({"warnings": ["look"]}, "doubtful"),
        ({"audit": {"energy": 1.0, "exchanged": 20.0}}, "doubtful"),
        ({"audit": {"energy": 1.0, "exchanged": 2.0}, "warnings": ["look"]}, "bad"),
    ):
        kept.record = {**stored_scenario_result(folder).record, **change}
        assert report_verdict(kept).grade == grade


def test_names_stay_text(tmp_path):
    fall = {"robot": "wild", "task": "simulate", "time": {"end": 0.1, "step": 0.1}, "name": "fall", "about": "<b>&"}
    denoc.run(fall, denoc.loads(WILD)).write(tmp_path / "fall", plot=False)
    text = report_html(stored_scenario_result(tmp_path / "fall"))
    assert "<script>alert" not in text
    assert "<img/" not in text
    assert "&lt;img/src=x/onerror=alert(1)&gt;" in text


def test_the_joints_are_where_the_result_begins(folder):
    """The assembly's guess, 56 degrees, isn't where the loop closes."""
    kept = stored_scenario_result(folder)
    row = "<tr><td>A</td><td>revolute</td><td>crank</td><td>coupler</td><td>{:.5g}</td>"
    assert row.format(kept.table["A.q"][0]) in report_html(kept)
    assert row.format(denoc.load("four-bar").q0[1]) not in report_html(kept)
    assert row.format(kept.table["A.q"][0]) in denoc.load("four-bar")._repr_html_()


def test_words_in_backticks_are_code(folder):
    kept = stored_scenario_result(folder)
    kept.record = {**kept.record, "ended": "singularity", "reason": "singular in `P` <b>", "warnings": ["see `a`, `b`"]}
    text = report_html(kept).partition('aria-label="Machine"')[0]
    assert "singular in <code>P</code> &lt;b&gt;" in text
    assert "see <code>a</code>, <code>b</code>" in text
    assert "`" not in text.partition('aria-label="Verdict"')[2]


def test_plots_come_before_tables_and_nothing_is_zero(folder):
    kept = stored_scenario_result(folder)
    kept.table["A0.tau"] = 0.0 * kept.table["A0.tau"]
    figures = [*report_figures(kept, denoc.load("four-bar"), plots.blank_figure("sketch", 4, 3))]
    first = [one.get_suptitle() or one.texts[0].get_text() for one in figures if one.get_suptitle() or headed(one)]
    heads = [word.partition(":")[0] for word in first]
    assert heads[:3] == ["four-bar", "sketch", "Joint angles and positions"]
    places = [heads.index(word) for word in ("Energy", "Extremes", "Joints", "How to repeat it", "four-bar.robot.yaml")]
    assert places == sorted(places)
    assert "Joint torques and forces" not in heads
    assert "Zero throughout: Joint torques and forces." in [text.get_text() for text in figures[0].texts]
    assert all(one.get_figwidth() == pytest.approx(sheets.WIDTH) for one in figures if one.get_suptitle() != "sketch")


def test_html_shows_no_plots_of_zeros(folder):
    kept = stored_scenario_result(folder)
    kept.table["A0.tau"] = 0.0 * kept.table["A0.tau"]
    text = report_html(kept)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert "force" not in data["families"]
    assert "position" in data["families"]
    assert "<p>Zero throughout: Joint torques and forces.</p>" in text


def headed(figure):
    """Whether a figure of text begins with its heading."""
    return figure.texts[0].get_weight() == "bold"


@pytest.mark.full
def test_a_pdf(folder, tmp_path, monkeypatch):
    assert run_main(monkeypatch, "report", folder, "--pdf", "--out", tmp_path, "-q") == 0
    pdf = (tmp_path / "turn-report.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", pdf)) in range(5, 9)
    assert {*re.findall(rb"/MediaBox \[([^\]]*)\]", pdf)} == {b" 0 0 595.44 841.68 "}
    before = {path.name for path in folder.iterdir()}
    assert run_main(monkeypatch, "report", tmp_path / "nothing") == 2
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.skipif(browser.path() is None, reason="there is no Chromium on this machine")
def test_a_report_in_a_browser(folder, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report_html(stored_scenario_result(folder)), encoding="utf-8")
    with browser.Page(file) as page:
        assert page.evaluate("document.querySelectorAll('#charts figure').length") == 7
        for k in (0, 7, 15):
            state = page.evaluate(f"(denoc.seek({k}), denoc.draw(), denoc.state())")
            assert state["columns"]["A0.tau"] == stored_scenario_result(folder).table["A0.tau"][k]
        assert page.messages == []
        assert page.failures == []
        assert all(address.startswith(("file:", "data:")) for address in page.requests)


def test_a_report_of_a_regression(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turn.yaml").write_text(json.dumps(FOUR_BAR), encoding="utf-8")
    assert run_main(monkeypatch, "regress", "turn.yaml", "--baseline", "base", "--update", "-q") == 0
    changed = {**FOUR_BAR, "motion": {"A0": {"law": "rate", "from": 0, "rate": "11 rad/s"}}}
    (tmp_path / "turn.yaml").write_text(json.dumps(changed), encoding="utf-8")
    assert run_main(monkeypatch, "regress", "--baseline", "base", "--report", "what.html", "-q") == 1
    text = (tmp_path / "what.html").read_text(encoding="utf-8")
    assert "1 scenario: 1 different" in text
    assert re.search(r"<td>A0.qd</td><td>[\d.]+ s</td><td>10 rad/s</td><td>11</td><td>\+1</td>", text)
    assert "data:image/png;base64," in text
    assert "<script" not in text
    capsys.readouterr()
