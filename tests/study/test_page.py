"""Pages that compute: the equations in a browser, or in Node.js, give the numbers of `denoc simulate`."""

import json
import re
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest
from tests.support import browser

import denoc
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.record.pages import html
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.simulate.integrators import INTEGRATORS
from denoc.study import page as pages
from denoc.study.arguments import number_with_key
from denoc.study.sliders import (
    Slider,
    fit_slider_polynomials,
    page_own_sliders,
    page_slider_number,
    page_slider_ranges,
    page_words_of_key,
    plan_of_page,
    unit_at,
)
from denoc.text import Change

NODE = shutil.which("node")
QUICK = ("puma-fall", "four-bar-fall", "puma-feedforward")
OTHERS = (
    "stanford-fall",
    "puma-pd",
    "puma-computed-torque",
    "three-rrr-fall",
    "gough-stewart-fall",
    "slider-crank-fall",
    "bricard-fall",
    "andrews-drive",
    "carpet-scraper-fall",
    "hoeken-fall",
    "rssr-fall",
    "chain-fall",
    "tree-fall",
    "space-arm-drive",
    "spherical-arm-fall",
    "planar3r-fall",
)
needs_node = pytest.mark.skipif(NODE is None, reason="there is no Node.js on this machine")
needs_browser = pytest.mark.skipif(browser.path() is None, reason="there is no Chromium on this machine")
ASK = """
const [, , file, question] = process.argv, given = JSON.parse(require("fs").readFileSync(file));
const simulation = new Denoc.Simulation(given.data), asked = JSON.parse(question);
simulation.numbers.values = asked.values || simulation.numbers.values;
simulation.reset();
console.log(JSON.stringify({rows: simulation.run(asked.times), ended: simulation.ended, steps: simulation.steps}));
"""


@cache
def page_of(name):
    """The page of a scenario of the library, which several tests look into."""
    return pages.page_of_plan(prepare_scenario(name))


class Computed:
    """A page's own scripts in Node.js."""

    def __init__(self, text, folder):
        own = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)[0]
        self.data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
        self.text, self.folder = text, folder
        (folder / "page.js").write_text(own + html.html_asset("simulator.js") + ASK, encoding="utf-8")
        (folder / "data.json").write_text(json.dumps({"data": self.data}), encoding="utf-8")

    def __call__(self, times, values=None):
        asked = json.dumps({"times": list(map(float, times)), **({"values": values} if values else {})})
        words = [NODE, str(self.folder / "page.js"), str(self.folder / "data.json"), asked]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@cache
def data_of(name):
    return json.loads(re.search(r'id="data">(.*?)</script>', page_of(name), re.DOTALL)[1])


def coordinates(result, data, count):
    return np.stack([result[name] for name in data["names"]["coordinates"]], axis=1)[:count]


@needs_node
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(one, marks=pytest.mark.full) for one in OTHERS)])
@pytest.mark.sampled(3)
def test_the_page_computes_what_simulate_computes(name, tmp_path):
    """To 1e-9, or to ten times the distance between denoc's own plain and compiled runs."""
    plan = prepare_scenario(name)
    computed = Computed(page_of(name), tmp_path)
    count = int((plan.grid <= 5.0).sum())
    answer = computed(plan.grid)
    with using_backend("compiled"):
        result = denoc.run(name)
    allowed = 1e-9
    rows = np.array(answer["rows"])[:count]
    q = coordinates(result, computed.data, count)
    off = abs(rows[:, : q.shape[1]] - q).max()
    if off > allowed:
        with using_backend("plain"):
            other = coordinates(denoc.run(name), computed.data, count)
        allowed = max(allowed, 10 * abs(other - q).max())
    assert off <= allowed
    assert len(answer["rows"]) == len(plan.grid)
    assert not answer["ended"]
    assert abs(rows[:, -1]).max() <= 1.01 * result.audit["energy"] + 1e-9


@needs_node
def test_a_driven_mechanism_runs_in_a_page(tmp_path):
    """The crank's motion is given; the page integrates nothing but the work that its drive does."""
    plan, result = prepare_scenario("jansen-walk"), denoc.run("jansen-walk")
    computed = Computed(page_of("jansen-walk"), tmp_path)
    answer = computed(plan.grid)
    assert not answer["ended"]
    rows = np.array(answer["rows"])
    q = coordinates(result, computed.data, len(plan.grid))
    assert rows.shape[0] == len(plan.grid)
    assert abs(rows[:, : q.shape[1]] - q).max() <= 1e-9
    assert abs(rows[:, -1]).max() <= 100 * plan.solver.rtol * result.audit["exchanged"]


@needs_node
def test_fixed_steps(tmp_path):
    given = {"solver": {"method": "rk4", "step": 0.001}, "time": {"end": 0.5, "step": 0.05}}
    for robot in ("puma", "four-bar"):
        scenario = {"robot": robot, "task": "simulate", "name": "fixed", **given}
        computed = Computed(pages.page_of_plan(prepare_scenario(scenario)), tmp_path)
        result = denoc.run(scenario)
        rows = np.array(computed(result.t)["rows"])
        q = coordinates(result, computed.data, len(result.t))
        assert abs(rows[:, : q.shape[1]] - q).max() <= 1e-10


@needs_node
@pytest.mark.parametrize("method", [name for name, one in INTEGRATORS.items() if one.scheme is not None])
@pytest.mark.parametrize("robot", ["puma", "four-bar"])
def test_pages_take_the_steps_of_every_explicit_method(method, robot, tmp_path):
    """Also those with further stages for dense output, with two estimates of errors, and that land on rows."""
    scenario = {"robot": robot, "task": "simulate", "name": "steps", "time": {"end": 1.0, "step": 0.0371}}
    scenario |= {"solver": {"method": method}}
    computed = Computed(pages.page_of_plan(prepare_scenario(scenario)), tmp_path)
    result = denoc.run(scenario)
    rows = np.array(computed(result.t)["rows"])
    q = coordinates(result, computed.data, len(result.t))
    assert abs(rows[:, : q.shape[1]] - q).max() <= 1e-11


@needs_node
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("puma-fall", {"robot.gravity": [0, 0, -3.2], "robot.links.link2.mass": 25.0, "robot.links.link3.mass": 3.0}),
        ("four-bar-fall", {"robot.gravity": [0, -3.2, 0], "robot.links.coupler.mass": 1.1}),
    ],
)
@pytest.mark.sampled(2)
def test_a_changed_number_is_what_set_gives(name, change, tmp_path):
    text = pages.page_of_plan(prepare_scenario(name), page_slider_ranges([*change]))
    computed = Computed(text, tmp_path)
    values = [float(np.linalg.norm(change[one["key"]])) for one in computed.data["sliders"]]
    plan = prepare_scenario(name, changes=[Change(key, value, key) for key, value in change.items()])
    until = plan.grid[plan.grid <= 2.0]
    rows = np.array(computed(until, values)["rows"])
    result = denoc.ensemble(name, [change])[0]
    q = coordinates(result, computed.data, len(until))
    assert abs(rows[:, : q.shape[1]] - q).max() <= 1e-8
    assert abs(q - coordinates(denoc.run(name), computed.data, len(until))).max() > 0.01


@needs_node
def test_a_length_moves_the_joints_and_the_drawing(tmp_path):
    plan, key = prepare_scenario("planar3r-fall"), "robot.links.link1.dh.a"
    data = plan.robot.document.data["links"][0]
    key = next(f"robot.links.{data['name']}.{group}.a" for group in ("joint", "dh") if "a" in data.get(group, {}))
    length = page_slider_number(plan.robot, key)
    computed = Computed(
        pages.page_of_plan(plan, page_slider_ranges([f"{key}={0.5 * length}..{1.5 * length}"])), tmp_path
    )
    assert computed.data["sceneMoves"]
    result = denoc.ensemble("planar3r-fall", [{key: 1.2 * length}])[0]
    until = result.t[result.t <= 0.5]
    rows = np.array(computed(until, [1.2 * length])["rows"])
    q = coordinates(result, computed.data, len(until))
    assert abs(rows[:, : q.shape[1]] - q).max() <= 1e-8


@needs_node
@pytest.mark.parametrize(
    ("key", "value"), [("robot.loops.B.first.at.0", 0.34), ("robot.links.rocker.joint.xyz.0", 0.25)]
)
def test_lengths_of_a_mechanism_with_a_start(key, value, tmp_path):
    """A four-bar whose coupler one can pull longer: the start under `initial` stays, loops close elsewhere."""
    computed = Computed(page_of("four-bar-fall"), tmp_path)
    assert computed.data["sceneMoves"]
    values = [value if one["key"] == key else one["value"] for one in computed.data["sliders"]]
    result = denoc.ensemble("four-bar-fall", [{key: value}])[0]
    q = coordinates(result, computed.data, len(result.t))
    rows = np.array(computed(result.t, values)["rows"])
    assert rows[0, 0] == pytest.approx(np.pi / 3, abs=1e-12)
    assert abs(rows[:, : q.shape[1]] - q)[: int((result.t <= 1.0).sum())].max() <= 1e-8
    assert abs(q - coordinates(denoc.run("four-bar-fall"), computed.data, len(result.t))).max() > 0.1


def test_a_page_by_itself_has_lengths_first_then_loads():
    told = [(one["words"], one["unit"], one["value"]) for one in data_of("four-bar-fall")["sliders"]]
    assert told == [
        ("crank: length to A", "m", 0.1),
        ("rocker: length to B", "m", 0.25),
        ("coupler: length to B", "m", 0.3),
        ("base: distance to B0", "m", 0.28),
        ("gravity", "m/s²", 9.81),
        ("coupler: mass", "kg", 3.0),
        ("rocker: mass", "kg", 2.5),
        ("crank: mass", "kg", 1.0),
    ]


def test_lengths_reach_no_further_than_loops_close():
    """In all positions of the run's crank, the ends of coupler and rocker reach each other."""
    own = [one["value"] for one in data_of("four-bar-fall")["sliders"][:4]]
    for k, one in enumerate(data_of("four-bar-fall")["sliders"][:4]):
        for end in (one["low"], one["high"]):
            crank, rocker, coupler, base = (end if i == k else x for i, x in enumerate(own))
            turn = denoc.run("four-bar-fall")["A0.q"][:: 200 // 8]
            far = np.hypot(base - crank * np.cos(turn), crank * np.sin(turn))
            assert (abs(coupler - rocker) <= far).all()
            assert (far <= coupler + rocker).all()


@pytest.mark.parametrize(
    ("robot", "key", "words"),
    [
        ("four-bar", "loops.B.first.at.0", "coupler: length to B"),
        ("four-bar", "links.crank.com.0", "crank: mass centre x"),
        ("four-bar", "links.0.inertia.yy", "crank: inertia yy"),
        ("jansen", "links.f.joint.xyz.1", "upper: y of shoulder"),
        ("planar3r", "links.link2.joint.a", "joint2: length a"),
        ("rx90", "links.link1.joint.friction.viscous", "joint1: friction viscous"),
    ],
)
def test_sliders_are_called_by_words(robot, key, words):
    loaded = denoc.load(robot)
    number = number_with_key(loaded, f"robot.{key}")
    assert page_words_of_key(loaded, number.path) == words


@needs_node
def test_a_platform_falls_on_where_the_scenario_ends(tmp_path):
    """The page takes other coordinates after 0.33 s, and balances its energy; the run that switches is the same."""
    computed = Computed(page_of("gough-stewart-fall"), tmp_path)
    times = np.linspace(0.0, 2.0, 81)
    answer = computed(times)
    assert not answer["ended"]
    rows = np.array(answer["rows"])
    assert len(rows) == 81
    assert abs(rows[:, -1]).max() < 1e-5
    beyond = [Change("time", {"end": 1.0, "step": 0.025}, "time"), Change("solver.at_singularity", "switch", "x")]
    other = carry_out_plan(prepare_scenario("gough-stewart-fall", changes=beyond))
    assert other.ended == "done"
    q = coordinates(other, computed.data, 41)
    assert abs(rows[:41, : q.shape[1]] - q).max() < 1e-5


def test_numbers_that_follow_sliders():
    """Sums, products of two, sines: whatever is smooth, and nothing that three of them do together."""
    sliders = [Slider("a", 0.5, 2.0, 1.0), Slider("b", -1.0, 3.0, 0.5), Slider("c", 0.0, 1.0, 0.25)]

    def f(s):
        a, b, c = s
        return np.array([1.0, a * a, a * b + c, np.sin(0.3 * b), 2 * c**3 - a])

    table = fit_slider_polynomials(sliders, f)
    for values in ([1.7, -0.3, 0.9], [0.6, 2.9, 0.01], [1.0, 0.5, 0.25]):
        places = [(2 * v - s.low - s.high) / (s.high - s.low) for v, s in zip(values, sliders)]
        made = np.array(table["base"])
        for i, rows in enumerate(table["alone"]):
            for place, c in rows:
                made[place] += np.polynomial.chebyshev.chebval(places[i], c)
        for i, j, rows in table["together"]:
            for place, c in rows:
                side = round(len(c) ** 0.5)
                made[place] += np.polynomial.chebyshev.chebval2d(places[i], places[j], np.reshape(c, (side, side)))
        assert np.allclose(made, f(values), rtol=0, atol=1e-11)
    with pytest.raises(denoc.InputError, match="change the machine in a way"):
        fit_slider_polynomials(sliders, lambda s: np.array([s[0] * s[1] * s[2]]))


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("puma-idyn", "prescribes the motion"),
        ("rx90-fall", "joints may stick"),
    ],
)
def test_what_a_page_cannot_run_is_refused_with_the_reason(scenario, message):
    with pytest.raises(denoc.InputError, match=message):
        pages.page_of_plan(prepare_scenario(scenario))


UNITS = """
name: units
convention: frames
links:
  - name: crank
    joint: {type: revolute, name: J, axis: [0, 1, 0], friction: {viscous: 0.5}, limits: [-1, 2], rotor_inertia: 0.1}
    mass: 3
    com: [0.4, 0, 0.1]
    inertia: {xx: 0.1, yy: 0.2, zz: 0.2}
  - name: slide
    joint: {type: prismatic, xyz: [1, 0, 0], friction: {viscous: 5}, spring: {stiffness: 40, rest: 0.1}, initial: 0.2}
    mass: 1
    first_moments: [0.1, 0, 0]
"""


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("links.crank.mass", "kg"),
        ("links.crank.com.0", "m"),
        ("links.crank.inertia.yy", "kg m²"),
        ("links.crank.joint.axis.1", ""),
        ("links.crank.joint.friction.viscous", "N m s/rad"),
        ("links.crank.joint.limits.1", "rad"),
        ("links.crank.joint.rotor_inertia", "kg m²"),
        ("links.slide.first_moments.0", "kg m"),
        ("links.slide.joint.friction.viscous", "N s/m"),
        ("links.slide.joint.spring.stiffness", "N/m"),
        ("links.slide.joint.spring.rest", "m"),
        ("links.1.joint.xyz.0", "m"),
    ],
)
def test_numbers_of_a_file_have_units(key, unit):
    assert unit_at(denoc.loads(UNITS), f"robot.{key}") == unit


def test_sliders_that_are_asked_for_show_units():
    wanted = page_slider_ranges(["robot.links.coupler.mass=1..3", "robot.links.crank.com.0", "robot.gravity"])
    text = pages.page_of_plan(prepare_scenario("four-bar-fall"), wanted)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert [one["unit"] for one in data["sliders"]] == ["kg", "m", "m/s²"]


def test_numbers_with_units_have_sliders(tmp_path):
    """A pound is 0.45359237 kg, and an inch 25.4 mm."""
    file = tmp_path / "rod.yaml"
    file.write_text(
        "{name: rod, convention: dh, gravity: [0, -9.81, 0], links: [{name: rod, joint: {type: revolute, name: pin}, "
        'mass: 1 lb, com: ["5 * 4 in", 0, 0], inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}]}'
    )
    plan = plan_of_page(str(file), [])
    assert [one.key for one in page_own_sliders(plan, bool, bool)] == ["robot.gravity", "robot.links.rod.mass"]
    assert page_slider_number(plan.robot, "robot.links.rod.mass") == pytest.approx(0.45359237, rel=1e-12)
    assert page_slider_number(plan.robot, "robot.links.0.com.0") == pytest.approx(20 * 0.0254, rel=1e-12)


def test_wrong_sliders():
    plan = plan_of_page("puma", [])
    assert plan.name == "puma-fall"
    assert plan.task == "simulate"
    for text in (
        "robot.links.link1.mass=5..1",
        "robot.links.link1.mass=100..200",
        "robot.links.nobody.mass",
        "robot.name",
    ):
        with pytest.raises(denoc.InputError):
            pages.page_of_plan(plan, page_slider_ranges([text]))
    for text in ("robot.links.link1.mass=a..b", "time.end=1..2"):
        with pytest.raises(denoc.InputError):
            page_slider_ranges([text])


def test_a_length_with_which_a_link_looks_otherwise_is_refused_with_a_way_out():
    """Two rods on one pin of the crank: with one of them elsewhere the crank is a plate, or two rods."""
    with pytest.raises(InputError, match="change the machine in a way that a page can't follow") as told:
        pages.page_of_plan(prepare_scenario("jansen-walk"), page_slider_ranges(["robot.links.j.joint.xyz.0=0.1..0.2"]))
    assert "`shape`" in str(told.value)


@needs_browser
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(one, marks=pytest.mark.full) for one in OTHERS[:8])])
def test_the_page_runs_in_a_browser(name, tmp_path):
    file = tmp_path / "page.html"
    plan = prepare_scenario(name)
    file.write_text(page_of(name), encoding="utf-8")
    assert file.stat().st_size < 1.6e6
    result = denoc.run(name)
    times = result.t[result.t <= 1.0]
    with browser.Page(file) as page:
        answer = page.evaluate(f"denoc.rows({json.dumps(times.tolist())})")
        names = [f"{joint.name}.{suffix}" for joint in plan.robot.moving for suffix in joint.type.coordinates]
        q = np.stack([result[column] for column in names], axis=1)[: len(times)]
        assert abs(np.array(answer["rows"])[:, : len(names)] - q).max() <= 1e-8
        page.click("#play")
        assert page.comes(f"denoc.state().t > {plan.grid[0]}")
        page.key("r", "KeyR", "r")
        assert page.evaluate("denoc.state().t") == plan.grid[0]
        slider = page.evaluate("document.querySelector('#sliders label')?.title ?? ''")
        if slider:
            key = json.dumps(slider)
            page.evaluate(f"(denoc.set({key}, 0.5 + 0 * 1), document.getElementById('link').click())")
            assert slider.replace("robot.", "") in page.evaluate("decodeURIComponent(location.hash)")
        assert page.messages == []
        assert page.failures == []
        assert all(address.startswith(("file:", "data:")) for address in page.requests)


@needs_browser
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_words_of_sliders_are_not_cut(width, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(page_of("jansen-walk"), encoding="utf-8")
    with browser.Page(file, width, 1000) as page:
        cut = "[...document.querySelectorAll('#sliders span')].filter((x) => x.scrollWidth > x.clientWidth).length"
        assert page.evaluate(cut) == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        values = page.evaluate("[...document.querySelectorAll('#sliders output')].map((x) => x.textContent)")
        assert values[:2] == ["0.415 m", "0.026099 m"]


@needs_browser
def test_numbers_with_which_loops_cannot_close(tmp_path):
    file, key = tmp_path / "page.html", "robot.loops.B.first.at.0"
    text = pages.page_of_plan(prepare_scenario("four-bar-fall"), page_slider_ranges([f"{key}=0.2..0.9"]))
    file.write_text(text, encoding="utf-8")
    with browser.Page(file) as page:
        move = "(() => {{ const x = document.querySelector('#sliders input'); x.value = {}; x.dispatchEvent(new Event('input')); }})()"
        page.evaluate(move.format(1000))
        assert (
            page.evaluate("document.getElementById('said').textContent") == "The loops don't close with these numbers."
        )
        page.evaluate(move.format(143))
        page.click("#reset")
        assert page.evaluate("document.getElementById('said').textContent") == ""
        page.click("#play")
        assert page.comes("denoc.state().t > 0.05")
        assert page.failures == []


@needs_browser
def test_names_in_a_page_stay_text(tmp_path):
    from tests.study.test_animate import WILD

    fall = {"robot": "wild", "task": "simulate", "time": {"end": 1}, "name": "fall", "about": "<b>&"}
    file = tmp_path / "page.html"
    file.write_text(pages.page_of_plan(prepare_scenario(fall, denoc.loads(WILD))), encoding="utf-8")
    assert "<script>alert" not in file.read_text(encoding="utf-8")
    with browser.Page(file) as page:
        assert page.evaluate("document.querySelectorAll('img').length") == 0
        assert "gravity" in page.evaluate("[...document.querySelectorAll('#sliders span')].map((x) => x.textContent)")
        assert page.failures == []


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("robot.links.crank.mass=1..inf", "not a range"),
        ("robot.links.crank.mass=nan..2", "not a range"),
        ("robot.links.crank.mass=1 kg..2 kg", "in SI units"),
        ("robot.links.crank.mas=1..2", "did you mean `mass`"),
        ("robot.links.crnk.mass=1..2", "did you mean `crank`"),
        ("robot.links.crank.joint.friction=1..2", "has to be written there first"),
        ("robot.links.crank.name=1..2", "not a number"),
        ("robot.links.crank.com=1..2", "not a number"),
    ],
)
def test_sliders_that_cannot_be_are_refused_with_what_was_meant(asked, says):
    robot = denoc.load("four-bar")
    with pytest.raises(InputError, match=re.escape(says)):
        _ = [page_slider_number(robot, key) for key, _, _ in page_slider_ranges([asked])]


def test_a_number_has_one_slider():
    with pytest.raises(InputError, match="a number has one slider"):
        page_slider_ranges(["robot.links.crank.mass=1..2", "robot.links.rocker.mass", "robot.links.crank.mass"])
