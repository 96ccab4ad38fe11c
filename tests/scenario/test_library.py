"""Every scenario of the library: done as expected, in less than 20 s, with the numbers that its head comment states."""

import numpy as np
import pytest

import denoc
from denoc.record import PLOTS
from denoc.scenario.carry_out import prepare_scenario
from denoc.text import library_folder, library_names

MOST_EVALUATIONS = 20_000  # of any scenario, so that the library stays quick

# scenario → (column, instant or `min` or `max`, value), from a run at rtol 1e-12; the heads have some of their digits
EXPECTED = {
    "andrews-drive": [("beta.q", 0.03, 15.8107712), ("gamma.q", 0.03, 0.04082224), ("spring.q", 0.0, 0.05267252)],
    "bricard-fall": [("P0.q", 1.0, 1.03716310), ("rod3.P3.y", 1.0, -1.64982706), ("energy.total", 10.0, -29.43)],
    "carpet-scraper-fall": [
        ("II-1.q", 0.78, 2.68838588),
        ("III-2^0.E.y", 0.78, -0.27800161),
        ("II-1.q", "max", 2.68838588),
        ("energy.total", 2.0, 18.3915815),
    ],
    "carpet-scraper-idyn": [
        ("II-1.tau", "min", -68.6443005),
        ("II-1.tau", "max", 100.31842),
        ("III-2^0.E.y", "min", -0.35400275),
        ("III-2^0.E.y", "max", -0.23942438),
    ],
    "cart-pole-balance": [
        ("cart.q", "min", -0.63776314),
        ("pole.q", 6.0, -0.00041625),
        ("cart.tau", 0.0, -8.0),
        ("cart.tau", "max", 2.7125619),
    ],
    "chain-fall": [("joint2.q", 1.0, -2.49197427), ("joint2.q", "min", -3.11664530), ("energy.total", 1.0, 0.95856011)],
    "chain-idyn": [("joint2.tau", 0.0, 4.46120639), ("joint2.tau", 1.21, 4.83623348)],
    "chaplygin-sleigh-glide": [
        ("sleigh.q1", 5.0, -5.46453545),
        ("sleigh.q2", 5.0, -0.37988747),
        ("sleigh.q3", 5.0, 3.32989155),
        ("energy.total", 5.0, 1.66),
    ],
    "diff-drive-idyn": [
        ("body.q1", 3.0, np.sin(1.0)),
        ("body.q2", 3.0, 1 - np.cos(1.0)),
        ("body.q3", 3.0, 1.0),
    ],
    "diff-drive-turn": [("body.q1", 3.0, 0.94179406), ("body.q2", 3.0, 2.29579969), ("body.q3", 3.0, 1.83878649)],
    "elastic-arm-idyn": [
        ("joint2.q", "min", -0.09594919),
        ("joint2.q", "max", -0.02440943),
        ("joint1.tau", 0.14, 117.93050),
    ],
    "engine-run": [
        ("crank.qd", "min", 151.783391),
        ("crank.qd", "max", 158.911760),
        ("crank.qd", 0.32, 157.345807),
        ("piston.tau", "min", -14069.5961),
    ],
    "five-bar-fall": [("J1^1.q", 1.0, -2.69483716), ("J1^2.q", 1.0, -2.94853239), ("energy.total", 1.0, 19.2027148)],
    "five-bar-idyn": [
        ("J1^1.tau", 0.0, 16.6902247),
        ("J1^1.tau", 20.0, 3.17067003),
        ("J1^2.tau", 0.0, 11.4524527),
        ("J1^2.tau", 20.0, 1.62522321),
    ],
    "four-bar-fall": [("A0.q", 0.5, -4.14413296), ("A0.q", 2.0, -3.92262347), ("energy.total", 2.0, 8.41678085)],
    "four-bar-idyn": [
        ("A0.tau", 0.0, -2.61868101),
        ("A0.tau", "min", -4.16632187),
        ("A0.tau", "max", 5.96739031),
        ("B.lambda.fy", "min", -69.6362607),
    ],
    "gough-stewart-fall": [("z.q", 0.25, 0.66121313), ("leg1.q", 0.25, 1.13988713)],
    "gough-stewart-idyn": [
        ("leg1.tau", 0.0, 7.24962912),
        ("leg4.tau", 0.0, 7.21811577),
        ("leg4.tau", "max", 15.2651418),
        ("leg4.q", "min", 0.91833600),
    ],
    "hoeken-fall": [("II-1.q", "min", -2.67690505), ("II-1.q", 0.24, -2.67690505), ("energy.total", 2.0, 6.11371358)],
    "hoeken-idyn": [
        ("II-1.tau", "min", -3.52629390),
        ("I-2.B.y", "min", 0.19162229),
        ("I-2.B.y", "max", 0.22427439),
    ],
    "jansen-walk": [
        ("lower.foot.y", "min", -0.91833071),
        ("lower.foot.y", 1.06, -0.69433223),
        ("axle.tau", 0.0, 0.31499328),
        ("axle.tau", "min", -1.55011454),
        ("axle.tau", "max", 4.03406145),
    ],
    "kuka-kr5-idyn": [
        ("joint2.tau", 0.0, 128.711692),
        ("joint2.tau", 0.285, 211.105157),
        ("joint1.tau", 0.265, 106.427649),
    ],
    "n-four-bar-fall": [("A0.q", 1.0, -3.3378708), ("A0.q", 10.0, -31.7505973), ("energy.total", 10.0, 35.835)],
    "planar3r-fall": [("joint1.q", "min", -3.20394884), ("joint3.q", "max", 0.97824512), ("energy.total", 1.0, 0.0)],
    "planar3r-idyn": [
        ("joint1.tau", 0.0, 4.34583),
        ("joint1.tau", "min", -1.89725397),
        ("joint1.tau", "max", 4.38527935),
        ("joint2.tau", "min", -1.31121240),
        ("joint2.tau", "max", 1.56695328),
        ("joint3.tau", "min", -0.32433119),
        ("joint3.tau", "max", 0.33044650),
    ],
    "puma-computed-torque": [
        ("joint2.tau", 0.0, -131.106624),
        # the error at 1 s is e(0) (1 + 5 t) exp(−5 t), the reference π/2 (1/4 − sin(π/2)/2π)
        ("joint2.q", 1.0, 0.14269908 + 0.2 * 6 * np.exp(-5)),
        ("joint3.q", 1.0, 0.14269908 - 0.1 * 6 * np.exp(-5)),
        ("joint1.q", 1.0, 0.14269908),
    ],
    "puma-fall": [("joint2.q", 1.5, 3.08807003), ("joint3.q", 1.5, -2.84017112), ("joint4.q", 10.0, 20.2580085)],
    "puma-feedforward": [("joint2.tau", 0.0, -69.6857666), *((f"joint{k}.q", 4.0, np.pi / 2) for k in range(1, 7))],
    "puma-idyn": [
        ("joint2.tau", 0.0, -69.6857666),
        ("joint2.tau", "min", -69.6857666),
        ("joint1.tau", 4.35, -4.07746743),
    ],
    "puma-pd": [
        ("joint2.q", 4.0, -0.46954453),
        ("joint3.q", 4.0, 1.00364541),
        ("joint2.tau", 0.0, -471.238898),
        ("joint2.tau", 4.0, -48.65),
        ("joint3.tau", 4.0, 13.07),
    ],
    "rolling-disc-steady": [
        ("disc.z", "min", 0.3 * np.sin(np.radians(70))),
        ("disc.z", "max", 0.3 * np.sin(np.radians(70))),
        ("disc.x", np.pi, 0.0),
        ("energy.total", np.pi, 4.568964),
    ],
    "rssr-fall": [
        ("joint1.q", 0.6, 8.42615159),
        ("joint1.q", 1.2, 16.9568958),
        ("energy.kinetic", 1.2, 0.02202244),
        ("joint1.qd", "min", 10.081672),
    ],
    "rssr-idyn": [
        ("joint1.tau", "min", -0.03114831),
        ("joint1.tau", "max", 0.01717010),
        ("joint4.q", "min", 1.83367177),
        ("joint4.q", "max", 2.88199004),
        ("joint3.lambda.nx", "max", 0.0),
    ],
    "rx90-fall": [
        ("joint2.q", 1.0, -1.87304904),
        ("joint2.q", 2.0, -1.36650384),
        ("joint4.qd", "min", 0.0),
        ("joint5.qd", "max", 0.0),
        ("joint6.q", "max", 0.4),
        ("joint3.qd", 1.57, 0.0),
        ("joint1.qd", 0.66, 0.0),
    ],
    "rx90-idyn": [("joint2.tau", 0.0, 84.4797030), ("joint2.tau", 1.42, 138.183052), ("joint2.tau", 0.1, 93.8210451)],
    "slider-crank-fall": [
        ("crank.q", 0.64, -4.18875518),
        ("crank.q", "min", -4.18875518),
        ("energy.total", 2.0, 1.06196365),
    ],
    "slider-crank-idyn": [
        ("crank.tau", 0.0, 1.22625),
        ("crank.tau", "max", 47.8283587),
        ("pin.lambda.fx", 0.0, -421.103121),
    ],
    "slider-crank-singular-fall": [
        ("crank.q", 1.0, 3.36275016),
        ("crank.q", 10.0, 35.5686544),
        ("energy.total", 10.0, 13.6033842),
    ],
    "space-arm-drive": [
        ("joint4.q", 2.0, 10.8940874),
        ("joint5.q", 2.0, 19.2680929),
        ("joint1.e0", 2.0, 0.96238538),
        ("energy.kinetic", 2.0, 102.421514),
    ],
    "space-arm-idyn": [
        ("joint2.tau", "min", -0.40478528),
        ("joint2.tau", "max", 0.39674405),
        ("joint1.x", 10.0, -0.03524549),
        ("joint1.z", 10.0, -0.02898168),
        ("joint1.e0", 10.0, 0.98925815),
        ("joint1.wx", 10.0, 0.0),
    ],
    "spherical-arm-fall": [
        ("joint3.e0", 1.5, 0.39594668),
        ("joint4.q", 1.5, -6.06650933),
        ("joint5.q", 1.5, 9.91076352),
        ("energy.total", 0.0, -7.89781710),
        ("energy.total", 1.5, -7.898),
    ],
    "spherical-arm-idyn": [
        ("joint3.nx", 0.0, 4.44076562),
        ("joint3.ny", 0.0, 13.1667153),
        ("joint3.nz", 0.0, -6.94939352),
        ("joint1.tau", 0.0, 26.9582599),
        ("joint3.e0", 4.0, 0.5**0.5),
        ("joint3.e1", 4.0, 0.6 * 0.5**0.5),
        ("joint3.e2", 4.0, 0.0),
        ("joint3.e3", 4.0, 0.8 * 0.5**0.5),
    ],
    "stanford-2009-fall": [("joint3.q", 1.5, 8.15734038), ("joint2.q", 1.5, 0.01741582), ("joint5.q", 1.5, 6.68907973)],
    "stanford-2009-idyn": [
        ("joint2.tau", 0.0, 12.71376),
        ("joint2.tau", 8.85, 16.3515966),
        ("joint5.tau", 0.0, -0.62784),
    ],
    "stanford-fall": [("joint3.q", 1.5, 8.18506492), ("joint2.q", 1.5, 0.01939600)],
    "stanford-idyn": [("joint2.tau", 0.0, 13.3416), ("joint2.tau", 8.45, 16.7698702), ("joint3.tau", 9.7, -29.9293900)],
    "three-rrr-fall": [
        ("J1.q", 1.0, -0.66232176),
        ("J2.q", 1.0, 2.53249185),
        ("J3.q", 1.0, 3.33287711),
        ("energy.total", 1.0, 67.5720974),
    ],
    "three-rrr-feedforward": [
        ("J1.q", 3.0, 2.09439510),
        ("J2.q", 3.0, 5.23598776),
        ("J3.q", 3.0, 6.28318531),
        ("J3.tau", 0.0, 44.2761922),
    ],
    "three-rrr-idyn": [
        ("J1.tau", 0.0, -1.41861659),
        ("J2.tau", 0.0, -20.7072327),
        ("J3.tau", 0.0, 44.2761922),
        ("J3.tau", "max", 60.5184114),
    ],
    "three-rrr-platform-idyn": [
        ("J1.tau", 0.0, -1.41861659),
        ("J2.tau", 0.0, -20.7072327),
        ("J3.tau", 0.0, 44.2761922),
        ("J3.tau", "max", 60.5184114),
    ],
    "steered-car-turn": [
        ("chassis.q1", 4.0, 2.90692898),
        ("chassis.q2", 4.0, -0.42274056),
        ("chassis.q3", 4.0, -1.00071876),
        ("left.q", 4.0, 45.1787573),
        ("right.q", 4.0, 40.1751636),
    ],
    "suspension-bounce": [
        ("rack.tau", "min", -472.710591),
        ("rack.tau", "max", 181.812749),
        ("tyre.force", "min", 2828.59033),
        ("tyre.force", 0.0, 4143.41973641),
        ("arm.q", 0.26, 0.1 * np.sin(0.52 * np.pi)),
    ],
    "suspension-idyn": [
        ("rack.tau", 0.0, -53.6213078595),
        ("rack.tau", 0.5, 177.6620357726),
        ("rack.tau", 1.5, -479.3271698255),
        ("tyre.force", 0.0, 3820.1361580798),
        ("tyre.force", 1.5, 3732.7689597232),
        ("arm.q", 1.5, 0.0038379264),
    ],
    "tree-fall": [("joint2.q", 0.5, 2.10533274), ("joint11.q", 0.5, -2.68900562), ("energy.total", 0.5, -16.7156177)],
    "tree-idyn": [("joint2.tau", 3.6, 62.0941833), ("joint6.tau", 1.86, -54.8289965)],
    "two-three-rrr-idyn": [
        ("J1.tau", 0.0, -4.6425228),
        ("J2.tau", 0.0, -26.7356174),
        ("J3.tau", 0.0, 52.5989817),
        ("K1.tau", 0.0, 1.7722937),
        ("K2.tau", 0.0, -0.6071975),
        ("K3.tau", 0.0, -2.6288266),
    ],
    "two-carriers-carry": [
        ("payload.middle.x", 3.0, 1.98931378),
        ("payload.middle.y", 3.0, 0.77104298),
        ("left1.q", 3.0, 17.4175133),
        ("right1.q", 3.0, 16.2121384),
        ("left2.q", 3.0, 15.4264069),
        ("right2.q", 3.0, 17.0043665),
    ],
}


def at(result, column, when):
    values = result.table[column]
    if when in ("min", "max"):
        return getattr(values, when)()
    k = int(np.argmin(abs(result.t - when)))
    assert result.t[k] == pytest.approx(when, abs=1e-9)
    return values[k]


def test_every_scenario_has_a_number():
    assert set(EXPECTED) == set(library_names("scenarios"))


@pytest.mark.parametrize("name", library_names("scenarios"))
@pytest.mark.sampled(8)
def test_scenario(name):
    result = denoc.run(name)
    assert result.audit["evaluations"] < MOST_EVALUATIONS
    file = prepare_scenario(name).file
    assert (result.name, result.ended, result.record["expected"]) == (name, file.expect, file.expect)
    assert result.record["warnings"] == []
    assert file.expect == "singularity" or result.t[-1] == pytest.approx(file.time.end)
    assert result.audit["closure"] < 1e-12
    assert result.audit["closure_angle"] < 1e-12
    assert all(np.isfinite(values).all() for values in result.table.values())
    sizes = [np.ptp(result.table[f"energy.{part}"]) for part in ("kinetic", "potential")]
    assert result.audit["energy"] < 1e-6 * max(*sizes, result.table["energy.kinetic"].max())
    if name.endswith("-idyn"):  # falls take longer, and are judged where they are compared with stored results
        assert result.audit["energy_share"] < 1e-6
        assert result.audit["exchanged"] > 1e-3
    for column, when, value in EXPECTED[name]:
        digits = len(f"{value:.9g}".split(".")[-1]) if value not in (0.0, np.pi / 2) else 9
        tolerance = max(1e-6 * max(1.0, abs(value)), 0.6 * 10.0**-digits)
        assert at(result, column, when) == pytest.approx(value, abs=tolerance), f"{column} at {when}"


@pytest.mark.parametrize("name", library_names("scenarios"))
def test_head(name):
    """A comment that says what to expect, and one line that fits `denoc list`."""
    lines = (library_folder("scenarios") / f"{name}.yaml").read_text().splitlines()
    assert lines[0].startswith("# ")
    head = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
    assert "xpect" in head
    plan = prepare_scenario(name)
    assert 10 < len(plan.about) <= 70
    assert plan.about[-1] not in ".:"
    assert plan.robot.about
    assert all(one.y or one.plot in PLOTS for one in plan.plots)


def test_events_of_the_arm_with_friction():
    events = denoc.run("rx90-fall").record["events"]
    first, last = {}, {}
    for event in events:
        first.setdefault(event["joint"], event)
        last[event["joint"]] = event
    assert first["joint3"]["t"] == pytest.approx(0.0810, abs=5e-5)
    assert (last["joint3"]["t"], last["joint3"]["then"]) == (pytest.approx(1.564, abs=5e-4), "held")
    assert (last["joint1"]["t"], last["joint1"]["then"]) == (pytest.approx(0.653, abs=5e-4), "held")
    assert set(first) == {"joint1", "joint2", "joint3"}
