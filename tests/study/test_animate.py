"""Animations: what the page shows is what the result holds, in a real browser, and names from files are only text."""

import base64
import json
import re

import numpy as np
import pytest
from tests.support import browser

import denoc
from denoc.cli.main import main
from denoc.record.sketch import film
from denoc.scenario import prepare_scenario, stored_scenario_result
from denoc.study.animate import MOST_FRAMES, animation_html, thinned_animation_rows
from denoc.study.page import page_of_plan as page_that_computes
from denoc.study.report import report_html

SHOWN = ("four-bar-idyn", "puma-idyn", "gough-stewart-fall")  # ten more machines in test_ten_machines.py
needs_browser = pytest.mark.skipif(browser.path() is None, reason="there is no Chromium on this machine")
WILD = """
name: wild
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: "</script><script>alert(1)</script>", mass: 1, com: [0.5, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1},
     joint: {name: "<img/src=x/onerror=alert(1)>", type: revolute}}
"""


def made(scenario, folder, robot=None):
    result = denoc.run(scenario, robot)
    result.write(folder / result.name, plot=False)
    file = folder / f"{result.name}.html"
    file.write_text(animation_html(stored_scenario_result(folder / result.name)), encoding="utf-8")
    return result, file


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def numbers(text):
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


def test_the_page_holds_the_result(tmp_path):
    result, file = made("four-bar-idyn", tmp_path)
    text = file.read_text(encoding="utf-8")
    data = data_of(text)
    assert (numbers(data["t"]) == result.t).all()
    assert all((numbers(data["table"][name]) == values).all() for name, values in result.table.items())
    robot = denoc.load("four-bar")
    q = np.stack([result[f"{joint}.q"] for joint in robot.joints], axis=1)
    poses = numbers(data["poses"]).reshape(len(result.t), len(robot.links) + 1, 7)
    for k, link in enumerate(robot.links, start=1):
        assert np.allclose(poses[:, k, :3], denoc.frames(robot, q)[link.name][:, :3, 3], rtol=0, atol=1e-14)
    shown = data["families"]["force"]["panels"]
    assert shown == [{"quantity": "torque (N m)", "columns": [["A0.tau", "A0.tau"]]}]
    assert data["family"] == "force"
    assert {row["joint"] for row in data["arrows"] if row["kind"] == "reaction"} == {"A0", "A", "B0", "B"}


def test_the_page_asks_nobody_and_runs_nothing_else(tmp_path):
    _, file = made("four-bar-idyn", tmp_path)
    text = file.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert len(re.findall("'sha256-", policy)) == 7  # six scripts and the style
    assert set(re.findall(r"https?://[\w./]*", text)) == {"http://www.w3.org/1999/xhtml"}  # a name, not an address
    assert "MIT License" in text
    assert "three.js authors" in text
    assert len(text) < 1.2e6


def test_long_results_are_thinned():
    assert (thinned_animation_rows(5) == np.arange(5)).all()
    rows = thinned_animation_rows(100_000)
    assert len(rows) == MOST_FRAMES
    assert rows[0] == 0
    assert rows[-1] == 99_999


def test_names_from_files_stay_text(tmp_path):
    fall = {"robot": "wild", "task": "simulate", "time": {"end": 0.1, "step": 0.1}, "name": "fall", "about": "<b>&"}
    _, file = made(fall, tmp_path, denoc.loads(WILD))
    text = file.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "&lt;b&gt;&amp;" in text
    assert [part["name"] for part in data_of(text)["scene"]["parts"]][1] == "</script><script>alert(1)</script>"


@needs_browser
def test_names_from_files_stay_text_in_a_browser(tmp_path):
    fall = {"robot": "wild", "task": "simulate", "time": {"end": 0.1, "step": 0.1}, "name": "fall", "about": "<b>&"}
    _, file = made(fall, tmp_path, denoc.loads(WILD))
    evil = file.read_text(encoding="utf-8").replace("</main>", "<script>window.bad = 1</script></main>")
    file.write_text(evil, encoding="utf-8")
    with browser.Page(file) as page:
        assert page.evaluate("document.querySelector('#names span').textContent") == "<img/src=x/onerror=alert(1)>"
        assert page.evaluate("document.querySelectorAll('img').length") == 0
        assert page.evaluate("window.bad") is None  # the policy lets no other script run
        assert page.evaluate("fetch('data.json').then(() => 'sent', () => 'refused')") == "refused"


@needs_browser
@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.sampled(3)
def test_the_page_moves_as_the_result_does(name, tmp_path):
    result, file = made(name, tmp_path)
    with browser.Page(file) as page:
        moves_as(page, result)
        keys_and_buttons(page)
        nothing_said(page)


def moves_as(page, result):
    """The first, a middle and the last frame show the joints where the result has them."""
    robot = denoc.load(result.record["input"]["robot"])
    names = [f"{joint.name}.{suffix}" for joint in robot.moving for suffix in joint.type.coordinates]
    placed = denoc.frames(robot, np.stack([result[column] for column in names], axis=1))
    count = page.evaluate("denoc.frames")
    assert count == len(result.t)
    for k in (0, count // 2, count - 1):
        state = page.evaluate(f"(denoc.seek({k}), denoc.draw(), denoc.state())")
        assert state["t"] == result.t[k]
        assert all(state["columns"][column] == result[column][k] for column in names)
        for link in robot.links:
            at = placed[link.name][k, :3, 3]
            assert np.allclose(state["links"][link.name][:3], at, rtol=0, atol=1e-6)
            if link.joint.type.name in ("revolute", "spherical", "universal") and link.joint.name in state["joints"]:
                assert np.allclose(state["joints"][link.joint.name], at, rtol=0, atol=1e-6)


def nothing_said(page):
    """No message, no exception, and no request but for the file itself."""
    assert page.failures == []
    assert page.messages == []
    assert all(address.startswith(("file:", "data:")) for address in page.requests)
    assert sum(address.startswith("file:") for address in page.requests) == 1


def named_controls(page):
    """All controls in the accessibility tree have names; returns how many there are."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "checkbox", "slider", "combobox", "image", "canvas")
    controls = [node for node in nodes if node.get("role", {}).get("value") in roles and not node.get("ignored")]
    assert all(node["name"]["value"].strip() for node in controls)
    return len(controls)


def keys_and_buttons(page):
    """All controls have names, the keyboard moves the machine, and play plays."""
    assert named_controls(page) > 14
    page.evaluate("denoc.seek(0)")
    page.evaluate("document.getElementById('view').focus()")
    page.key(".", "Period", ".")
    assert page.evaluate("denoc.state().frame") == 1
    page.key("End", "End")
    assert page.evaluate("denoc.state().frame === denoc.frames - 1")
    page.key("Home", "Home")
    page.click("#play")
    assert page.evaluate("denoc.state().playing")
    assert page.comes("denoc.state().frame > 0")
    page.evaluate("denoc.pause()")


@needs_browser
@pytest.mark.full
def test_contrast_and_a_narrow_screen(tmp_path):
    """Texts of all three kinds of pages pass WCAG's AA, 4.5 to 1, in light and dark, and fit a phone."""
    result, file = made("four-bar-idyn", tmp_path)
    files = [file, tmp_path / "report.html", tmp_path / "page.html"]
    files[1].write_text(report_html(stored_scenario_result(tmp_path / result.name)), encoding="utf-8")
    files[2].write_text(page_that_computes(prepare_scenario("four-bar-fall")), encoding="utf-8")
    measure = """(() => {
      const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map((x) => { x /= 255;
        return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const under = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
      return [...document.querySelectorAll('h1, h2, p, label, button, select, output, figcaption, th, td, pre, .name')]
        .filter((e) => e.textContent.trim()).map((e) => {
          const [a, b] = [light(getComputedStyle(e).color), light(under(e))].sort((x, y) => y - x);
          return [e.tagName + ' ' + e.id, (a + 0.05) / (b + 0.05)]; }); })()"""
    for file in files:
        with browser.Page(file, 400, 800) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= 400
            for theme in ("light", "dark"):
                page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
                ratios = page.evaluate(measure)
                assert len(ratios) > 15
                assert all(ratio >= 4.5 for _, ratio in ratios), [row for row in ratios if row[1] < 4.5]


def test_films(tmp_path, monkeypatch, capsys):
    from PIL import Image

    result = denoc.run({"robot": "planar3r", "task": "simulate", "time": {"end": 0.3, "step": 0.1}, "name": "short"})
    result.write(tmp_path / "short", plot=False)
    monkeypatch.setattr("sys.argv", ["denoc", "animate", str(tmp_path / "short"), "--gif", "--strip", "3"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert not leaving.value.code
    with Image.open(tmp_path / "short" / "short-animation.gif") as film_:
        assert film_.n_frames > 2
    with Image.open(tmp_path / "short" / "short-animation.png") as strip:
        assert strip.width == round((2 * (9.6 - 2.1) + 9.6) * film.OF_PAPERS)  # of three legends one
    monkeypatch.setattr(film.shutil, "which", lambda name: None)
    monkeypatch.setattr("sys.argv", ["denoc", "animate", str(tmp_path / "short"), "--mp4"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 2
    assert "ffmpeg, which isn't installed" in capsys.readouterr().err
    assert not (tmp_path / "short" / "short-animation.mp4").exists()


def test_films_keep_the_time():
    t = np.linspace(0, 3, 1001)
    rows, each = film.chosen_film_pictures(t)
    assert len(rows) == 60
    assert rows[0] == 0
    assert rows[-1] == 1000
    assert (len(rows) - 1) * each == pytest.approx(3)
    assert len(film.chosen_film_pictures(np.linspace(0, 100, 5001))[0]) == film.MOST
