"""Ten machines in a real browser: animation, report and page show what was computed, keep up, and leave nothing behind."""

import json

import numpy as np
import pytest
from tests.study.test_animate import keys_and_buttons, moves_as, named_controls, needs_browser, nothing_said
from tests.support import browser

import denoc
from denoc.scenario import prepare_scenario, stored_scenario_result
from denoc.study.animate import animation_html
from denoc.study.page import page_of_plan as computing
from denoc.study.report import report_html

MACHINES = {
    "puma": "puma-idyn",
    "stanford": "stanford-fall",
    "four-bar": "four-bar-idyn",
    "five-bar": "five-bar-idyn",
    "three-rrr": "three-rrr-idyn",
    "gough-stewart": "gough-stewart-fall",
    "suspension": "suspension-idyn",
    "rssr": "rssr-idyn",
    "carpet-scraper": "carpet-scraper-idyn",
    "space-arm": "space-arm-drive",
}
SEEK = "(k) => { denoc.seek(k % denoc.frames); denoc.draw(); }"
TURN = "(k) => { viewer.turn(0.01, 0); viewer.draw(); }"
ROUNDS, FRAMES, EMPTY = 10, 100, 20
RATES = """(async () => {
  const viewer = denoc.viewer, nothing = new THREE.Scene(), step = %s;
  const timed = (count, draw) => new Promise((done) => {
    let k = 0, start = 0;
    const tick = () => { if (k === 1) start = performance.now(); draw(k); if (k++ > count) done((performance.now() - start) / count); else requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  });
  document.getElementById("view").scrollIntoView();
  await timed(5, step);
  return [await timed(FRAMES, step), await timed(EMPTY, () => viewer.renderer.render(nothing, viewer.camera))];
})()"""


def keeps_up(page, step):
    """A thousand frames are shown at no less than half the rate of an empty scene, and memory stays as it was."""
    script = RATES.replace("FRAMES", str(FRAMES)).replace("EMPTY", str(EMPTY)) % step
    ours, empty = zip(*(page.evaluate(script) for _ in range(ROUNDS)))
    assert min(ours) <= 2 * min(empty)
    used = []
    for _ in range(ROUNDS):
        page.evaluate(
            f"(() => {{ const viewer = denoc.viewer, step = {step}; for (let k = 0; k < 100; k++) step(k); }})()"
        )
        page.call("HeapProfiler.collectGarbage")
        used.append(page.call("Runtime.getHeapUsage")["usedSize"])
    assert used[-1] - used[0] < 200_000


@needs_browser
@pytest.mark.full
@pytest.mark.parametrize("kind", ["animation", "report"])
@pytest.mark.parametrize("machine", MACHINES)
def test_results(machine, kind, tmp_path):
    result = denoc.run(MACHINES[machine])
    result.write(tmp_path / "result", plot=False)
    file = tmp_path / f"{kind}.html"
    file.write_text(
        {"animation": animation_html, "report": report_html}[kind](stored_scenario_result(tmp_path / "result")),
        encoding="utf-8",
    )
    assert file.stat().st_size <= 1.2e6
    with browser.Page(file) as page:
        moves_as(page, result)
        keys_and_buttons(page)
        keeps_up(page, SEEK)
        nothing_said(page)


@needs_browser
@pytest.mark.full
@pytest.mark.parametrize("machine", MACHINES)
def test_pages_that_compute(machine, tmp_path):
    """The free fall of a second is that of `denoc simulate`; the controls do what they are there for."""
    fall = {"robot": machine, "task": "simulate", "time": {"end": 1.0, "step": 0.02}, "name": "fall"}
    plan, result = prepare_scenario(fall), denoc.run(fall)
    file = tmp_path / "page.html"
    file.write_text(computing(plan), encoding="utf-8")
    assert file.stat().st_size <= 1.2e6
    names = [f"{joint.name}.{suffix}" for joint in plan.robot.moving for suffix in joint.type.coordinates]
    q = np.stack([result[column] for column in names], axis=1)
    placed = denoc.frames(plan.robot, q)
    with browser.Page(file) as page:
        answer = page.evaluate(f"denoc.rows({json.dumps(result.t.tolist())})")
        assert abs(np.array(answer["rows"])[:, : len(names)] - q).max() <= 1e-6
        places = page.evaluate("denoc.state().places")
        for link in plan.robot.links:
            assert np.allclose(places[link.name][:3], placed[link.name][0, :3, 3], rtol=0, atol=1e-6)
        assert named_controls(page) > 10
        page.evaluate("document.getElementById('view').focus()")
        page.key(" ", "Space", " ")
        assert page.evaluate("denoc.state().running")
        assert page.comes("denoc.state().t > 0")
        page.key("r", "KeyR", "r")
        assert page.evaluate("denoc.state().t") == 0
        keeps_up(page, TURN)
        nothing_said(page)
