"""Forces that know the state of all joints, in trees and mechanisms, plain and compiled, within limits."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline

import denoc
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.text import Change, library_folder

FALL = {"task": "simulate", "time": {"end": 0.5, "step": 0.05}, "solver": {"rtol": 1e-10}}


def run(robot, forces, **more):
    return denoc.run({"robot": robot, **FALL, "forces": forces, **more})


SHORT = {"time": {"end": 0.06, "step": 0.02}}


def column(result, name):
    return result.table[name]


# law → the same as a formula, in a tree and in a mechanism
ALIKE = [
    ({"law": "spring", "stiffness": 20, "rest": 0.3, "damping": 0.1}, "-20 N m/rad*(q - 0.3) - 0.1 N m s/rad * qd"),
    ({"law": "harmonic", "amplitude": 2, "frequency": 3, "phase": 0.2}, "2*sin(2*pi*3*t + 0.2)"),
    ({"law": "pd", "kp": 30, "kd": 2, "to": 0.4}, "30*(0.4 - q) - 2*qd"),
]


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("robot, joint", [("planar3r", "joint2"), ("four-bar", "A0")])
@pytest.mark.sampled(2)
def test_a_formula_is_as_good_as_the_law_of_its_own(robot, joint, backend):
    for law, formula in ALIKE:
        with using_backend(backend):
            own = run(robot, {joint: law}, **SHORT)
            written = run(robot, {joint: {"law": "expression", "force": formula}}, **SHORT)
        for suffix in ("q", "qd", "tau"):
            name = f"{joint}.{suffix}"
            np.testing.assert_allclose(column(written, name), column(own, name), rtol=0, atol=2e-10)
        assert written.audit["energy_share"] < 1e-8


def test_state_feedback_is_a_sum_over_all_joints():
    gains = {"joint1.q": 3.0, "joint3.q": -1.0, "joint1.qd": 0.2, "joint2.qd": 0.1}
    fed = run(
        "planar3r", {"joint1": {"law": "state-feedback", "K": gains, "reference": {"joint3.q": 0.2}, "force": 1.5}}
    )
    q, qd = [[column(fed, f"joint{k}.{what}") for k in (1, 2, 3)] for what in ("q", "qd")]
    wanted = 1.5 - 3 * q[0] - (0.2 - q[2]) - 0.2 * qd[0] - 0.1 * qd[1]
    np.testing.assert_allclose(column(fed, "joint1.tau"), wanted, rtol=1e-12)
    assert fed.audit["energy_share"] < 1e-8


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_formula_ends_at_the_actuator_s_limits(backend):
    """A slide of 2 kg under clip(-100 q - 4 qd) in the formula, and under the limits of its actuator."""
    text = "{name: b, convention: frames, links: [{name: b, joint: {type: prismatic, name: s, actuated: true LIMITS}, mass: 2, com: [0, 0, 0]}]}"
    formula = "-100*s.q - 4*s.qd"
    start = {"initial": {"s": 0.5}}
    scenario = {**FALL, **start, "time": {"end": 2, "step": 0.1}}
    with using_backend(backend):
        limited = denoc.run(
            {**scenario, "forces": {"s": {"law": "expression", "force": formula}}},
            denoc.loads(text.replace("LIMITS", ", effort: {limits: [-20, 20]}")),
        )
        clipped = denoc.run(
            {**scenario, "forces": {"s": {"law": "expression", "force": f"clip({formula}, -20, 20)"}}},
            denoc.loads(text.replace("LIMITS", "")),
        )
    assert [event["event"] for event in limited.record["events"]][:2] == [
        "reaches its effort limit",
        "leaves its effort limit",
    ]
    np.testing.assert_allclose(column(limited, "s.q"), column(clipped, "s.q"), atol=2e-8)
    np.testing.assert_allclose(
        column(limited, "s.tau"),
        np.clip(-100 * column(limited, "s.q") - 4 * column(limited, "s.qd"), -20, 20),
        atol=1e-9,
    )


def test_in_inverse_dynamics_a_passive_joint_may_have_one():
    """The crank's torque does the power that the formula's force on another joint takes."""
    given = {
        "robot": "four-bar",
        "task": "inverse",
        "time": {"end": 1, "step": 0.1},
        "motion": {"A0": {"law": "rate", "rate": 2}},
    }
    bare, rubbed = (
        denoc.run(given),
        denoc.run({**given, "forces": {"B0": {"law": "expression", "force": "-3*qd - sin(A.q)*t"}}}),
    )
    B0 = -3 * column(bare, "B0.qd") - np.sin(column(bare, "A.q")) * bare.t
    extra = -B0 * column(bare, "B0.qd") / 2.0
    np.testing.assert_allclose(column(rubbed, "A0.tau") - column(bare, "A0.tau"), extra, atol=1e-9)
    np.testing.assert_allclose(column(rubbed, "B0.tau"), B0, atol=1e-12)


@pytest.mark.parametrize(
    "force, message, allowed",
    [
        ("2*A0.p", "at character 3: unknown name `A0.p`", "t, A0.q"),
        ("2*)", "at character 3: ", "a formula"),
        ("lookup('no.csv', q)", "there is no such file", "a CSV file"),
        (["q", "q"], "`A0` needs 1 formula", "one formula"),
        (True, "a formula is needed here", "a formula"),
    ],
)
def test_mistakes_stand_at_their_places(force, message, allowed):
    with pytest.raises(InputError) as error:
        run("four-bar", {"A0": {"law": "expression", "force": force}})
    assert message in str(error.value)
    assert allowed in error.value.allowed


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("more", ["", ", actuated: true, effort: {limits: [-20, 20]}"])
@pytest.mark.parametrize("force, ended", [("sqrt(-1 - s.q^2)", 0.0), ("sign(sqrt(0.2 - t))", 0.15)])
def test_a_run_that_fails_says_whose_law_gives_no_number(force, ended, more, backend):
    """Also at effort limits, where a law that gives no number isn't at its lower limit."""
    text = f"{{name: b, convention: frames, links: [{{name: b, joint: {{type: prismatic, name: s{more}}}, mass: 2, com: [0, 0, 0]}}]}}"
    with using_backend(backend):
        result = denoc.run({**FALL, "forces": {"s": {"law": "expression", "force": force}}}, denoc.loads(text))
    assert result.ended == "failed"
    assert "the force law of `s` gives no finite number here" in result.record["reason"]
    assert result.t[-1] == pytest.approx(ended)


@pytest.mark.parametrize(
    "law, message",
    [
        ({"K": {}}, "must not be empty"),
        ({"K": {"q": 1}, "reference": {"q": "3 mm"}}, "`3 mm` is a length; an angle"),
        ({"K": {"joint1.qd": 1}, "reference": {"joint1.qd": "30 deg"}}, "`30 deg` is an angle"),
    ],
)
def test_references_have_the_units_of_their_joints(law, message):
    with pytest.raises(InputError) as error:
        run("planar3r", {"joint2": {"law": "state-feedback", **law}})
    assert message in str(error.value)
    assert (
        denoc.run(
            {
                "robot": "planar3r",
                **FALL,
                "forces": {"joint2": {"law": "state-feedback", "K": {"q": 1}, "reference": {"q": "3 deg"}}},
            }
        ).ended
        == "done"
    )


def test_a_replay_finds_the_tables_of_formulas(tmp_path):
    """A formula's file stands beside the results, under a name that the formula there has, too."""
    (tmp_path / "table.csv").write_text("x,y\n-9,-3\n0,0\n9,3\n")
    (tmp_path / "swing.yaml").write_text(
        "{robot: planar3r, task: simulate, time: {end: 0.2, step: 0.1}, forces: {joint1: {law: expression, "
        "force: \"lookup('table.csv', q) + 1\"}, joint2: {law: lookup, file: table.csv, over: joint1.q}}}"
    )
    first = denoc.run(str(tmp_path / "swing.yaml"))
    first.write(tmp_path / "out", plot=False)
    (tmp_path / "table.csv").unlink()
    again = denoc.run(str(next((tmp_path / "out").rglob("*.scenario.yaml"))))
    np.testing.assert_allclose(column(again, "joint1.q"), column(first, "joint1.q"), rtol=1e-13)


# ---- an engine, by its own equation


def engine(rtol):
    """The crank's speeds from the equation M θ'' + M' θ'²/2 + V' = Q of an engine with one freedom."""
    r, l, lc, g = 0.04, 0.14, 0.045, 9.81
    J, m_crank, c_crank, m_rod, J_rod, m = 2e-3 + 0.3 + 2.0 * 0.005**2, 2.0, 0.005, 0.6, 2e-3, 0.5
    angle, force = np.loadtxt(library_folder("scenarios") / "engine-gas.csv", delimiter=",", skiprows=1).T
    gas = make_interp_spline(angle, force, k=5, bc_type="periodic")

    def rates(t, y):
        a, w = y
        s, c = np.sin(a), np.cos(a)
        root = np.sqrt(l * l - r * r * s * s)
        b1 = -r * c / root  # the rod's angle β has sin β = -r sin θ / l; its rates by θ
        b2 = r * s / root - r**3 * s * c * c / root**3
        sb, cb = -r * s / l, root / l
        x1, x2 = -r * s - l * sb * b1, -r * c - l * (cb * b1 * b1 + sb * b2)  # the piston's
        u1, u2 = -r * s - lc * sb * b1, -r * c - lc * (cb * b1 * b1 + sb * b2)  # the rod's mass centre
        v1, v2 = r * c + lc * cb * b1, -r * s + lc * (-sb * b1 * b1 + cb * b2)
        M = J + J_rod * b1 * b1 + m * x1 * x1 + m_rod * (u1 * u1 + v1 * v1)
        half = J_rod * b1 * b2 + m * x1 * x2 + m_rod * (u1 * u2 + v1 * v2)
        weight = -g * (m * x1 + m_rod * u1 - m_crank * c_crank * s)
        Q = float(gas(a % angle[-1])) * x1 - 0.145 * w + weight
        return [w, (Q - half * w * w) / M]

    t = np.arange(321) * 1e-3
    made = solve_ivp(rates, (0, 0.32), [0.0, 1500 * np.pi / 30], method="DOP853", rtol=rtol, atol=1e-12, t_eval=t)
    return made.y[1]


def test_an_engine_swings_as_its_own_equation_says():
    """Its speed from row to row, and how far it swings in the last cycle, against the equation of one freedom."""
    with using_backend("compiled"):
        fine = carry_out_plan(prepare_scenario("engine-run", changes=[Change("solver.rtol", 1e-12, "rtol")]))
    own, found = engine(1e-12), column(fine, "crank.qd")
    np.testing.assert_allclose(found, own, rtol=1e-8)
    cycles = [np.ptp(speed[-81:]) / speed[-81:].mean() for speed in (found, own)]
    assert cycles[0] == pytest.approx(cycles[1], abs=1e-8)
    assert cycles[1] > 0.04
    assert fine.audit["energy_share"] < 1e-10


# ---- a regulator


def test_the_gains_in_the_library_are_those_of_the_riccati_equation():
    from denoc.study import regulator_gains, regulator_weights, study_regulator_as_laws

    robot = denoc.load("cart-pole")
    linear = denoc.linearize(robot, robot.q0)
    A, B = linear["A"], linear["B"]
    Q, R = regulator_weights("5, 20, 1, 1; 0.5", 4, 1)
    K = regulator_gains(A, B, Q, R)
    # Kleinman: the cost of this regulator, by Lyapunov's equation, gives the same gains again
    closed = A - B @ K
    unknown = np.kron(np.eye(4), closed.T) + np.kron(closed.T, np.eye(4))
    P = np.linalg.solve(unknown, -(Q + K.T @ R @ K).ravel()).reshape(4, 4)
    np.testing.assert_allclose(np.linalg.solve(R, B.T @ P), K, rtol=1e-10)
    (law,) = study_regulator_as_laws(robot, linear, robot.q0, K).values()
    balanced = denoc.run("cart-pole-balance")
    assert law["K"] == pytest.approx(balanced.record["input"]["forces"]["cart"]["K"], rel=1e-9)
    assert abs(column(balanced, "pole.q")[-1]) < 1e-3
    assert abs(column(balanced, "cart.tau")).max() == pytest.approx(8.0, rel=1e-12)


# ---- wrenches


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_wrench_may_know_the_state(backend):
    """On the piston of a slider-crank along its guide it is as a force on the piston's own joint, in both tasks."""
    formula = "-200 N s/m * piston.qd - 30*sin(crank.q)*t"
    wrench = [{"link": "piston", "force": [{"law": "expression", "force": formula}, 0, 0], "axes": "base"}]
    law = {"piston": {"law": "expression", "force": formula}}
    start = {"initial": {"crank": 1.0}, **SHORT}
    with using_backend(backend):
        pushed, driven = run("slider-crank", {}, wrenches=wrench, **start), run("slider-crank", law, **start)
        np.testing.assert_allclose(column(pushed, "crank.q"), column(driven, "crank.q"), rtol=1e-10)
        np.testing.assert_allclose(column(pushed, "energy.total"), column(driven, "energy.total"), rtol=1e-9)
        assert pushed.audit["energy_share"] < 1e-8
        given = {"robot": "slider-crank", "task": "inverse", "time": {"end": 1, "step": 0.1}}
        given["motion"] = {"crank": {"law": "rate", "rate": 2, "from": 1.0}}
        sought = denoc.run({**given, "wrenches": wrench}), denoc.run({**given, "forces": law})
        np.testing.assert_allclose(column(sought[0], "crank.tau"), column(sought[1], "crank.tau"), atol=1e-10)
        assert sought[0].audit["energy_share"] < 1e-6
        assert abs(column(sought[0], "crank.tau") - column(denoc.run(given), "crank.tau")).max() > 1


def test_mistakes_in_wrenches():
    for law, message in [
        ({"law": "expression", "force": "q"}, "unknown name `q`"),
        ({"law": "expression", "force": ["t", "t"]}, "one component needs 1 formula"),
        ({"law": "spring", "stiffness": 1}, "can't depend on the state of a joint"),
    ]:
        with pytest.raises(InputError, match=message):
            run("slider-crank", {}, wrenches=[{"link": "piston", "force": [law, 0, 0]}])


NAMED = """
{name: block, convention: frames, gravity: [0, 0, 0], links: [{name: b, joint: {type: prismatic, name: s, axis: [1, 0, 0]},
 mass: 1, com: [0, 0, 0], points: {tip: [0, 0, 0]}}]}
"""
LOST = ("0*sqrt(0.5 - t)", "sqrt(0.5 - t) - sqrt(0.5 - t)", "b.tip.z*(0.5 - t)^1.5", "clip(sqrt(0.5 - t), -1, 1)")


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("formula", LOST)
def test_what_is_no_number_ends_the_run_even_where_nothing_needs_it(formula, backend):
    """A root of what is negative from 0.5 s on."""
    with using_backend(backend):
        found = denoc.run({**FALL, "time": {"end": 1}, "forces": {"s": expression(formula)}}, denoc.loads(NAMED))
    assert found.ended == "failed"
    assert "at t = 0.5 s: the derivative or the state is not a finite number" in found.record["reason"]


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_wrench_that_is_no_number_ends_the_run_though_it_moves_nothing(backend):
    push = {"link": "b", "force": [0, 0, expression("1/(s.q - 0.2)")]}
    with using_backend(backend):
        start = {name: {**FALL, "initial": {"s": x}, "wrenches": [push]} for name, x in (("on", 0.2), ("off", 0.1))}
        found = {name: denoc.run(scenario, denoc.loads(NAMED)).ended for name, scenario in start.items()}
    assert found == {"on": "failed", "off": "done"}


def expression(formula):
    return {"law": "expression", "force": formula}
