"""Identification: exact data give exact numbers, standard errors hold, and what data don't tell is said."""

import sys

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import denoc
from denoc.errors import InputError
from denoc.mechanics.closure import loop_closure
from denoc.mechanics.mechanisms.base import _closed
from denoc.mechanics.numbers import INERTIAL_NAMES
from denoc.study.identification import report
from denoc.study.identification.columns import sliding
from denoc.study.identification.least_squares import (
    least_change_of_identified_numbers,
    pseudo_inertia_of_identified_link,
    solve_identification_fit,
)
from denoc.study.identification.recorded import (
    derivative_of_measured_columns,
    measured_effort_columns,
    measured_joints,
    smooth_measured_columns,
)
from denoc.text import find_library_file

TWO_ARMS = """
name: two
convention: frames
links:
  - {name: arm, joint: {type: revolute, name: J, axis: [0, 1, 0]}, mass: 3, com: [0.4, 0, 0.1]}
  - {name: hand, joint: {type: revolute, name: K, axis: [0, 0, 1], xyz: [0.8, 0, 0]}, mass: 1, com: [0.2, 0, 0]}
"""
CHANGED = 0.3  # by which numbers of the file that the fit begins with are wrong
ONE = """
name: one
convention: frames
links:
  - {name: arm, joint: {type: revolute, name: J, axis: [0, 1, 0], friction: {coulomb: 2, viscous: 0.5}}, mass: 3,
     com: [0.4, 0, 0.1], inertia: {xx: 0.1, yy: 0.2, zz: 0.2}}
"""


def states(robot, count, rng):
    """Random states, with loops closed."""
    if not robot.tied:
        return rng.uniform(-2, 2, (count, robot.nq)), *rng.normal(size=(2, count, robot.nv)) * 2
    loops, rows = loop_closure(robot), []
    for q, N in _closed(robot, count * robot.nv, rng)[:count]:
        qd = N @ rng.normal(size=N.shape[1])
        J, drift = loops.jacobian(q, qd)
        qdd = N @ rng.normal(size=N.shape[1]) - np.linalg.lstsq(J, drift, rcond=1e-9)[0]
        rows.append((q, qd, qdd))
    return map(np.array, zip(*rows))


def data_of(robot, count=60, seed=1):
    """Exact data of a robot at random states."""
    q, qd, qdd = states(robot, count, np.random.default_rng(seed))
    return {"q": q, "qd": qd, "qdd": qdd, "tau": denoc.inverse(robot, q, qd, qdd)}


def wrong(robot, seed=2):
    """The robot with other numbers in its file."""
    rng, own = np.random.default_rng(seed), denoc.parameters(robot)
    other = {name: x * rng.uniform(1 - CHANGED, 1 + CHANGED) for name, x in own.items()}
    return denoc.loads(report.identified_robot_text(report.robot_data_with_identified_numbers(robot, other, own), []))


@pytest.mark.parametrize("name", ["puma", "rx90", "three-rrr", pytest.param("gough-stewart", marks=pytest.mark.full)])
def test_exact_data_give_exact_numbers(name):
    robot = denoc.load(name)
    data = data_of(robot)
    result = denoc.identify(wrong(robot), data)
    assert not result.unknown
    own = denoc.parameters(robot)
    base = denoc.base_parameters(robot, [*fitted_numbers(result)])
    assert base.names == result.names
    assert abs(result.of_file - base.values).max() > 0.01 * abs(base.values).max()
    for unit in set(result.units):
        here = np.array([one == unit for one in result.units])
        size = abs(base.values[here]).max() or abs(base.values).max()
        assert abs(result.values - base.values)[here].max() <= 1e-8 * size, unit
    assert max(result.train["data"].values()) < 1e-8
    assert set(result.numbers) == set(own)


def fitted_numbers(result):
    """The names of the numbers in groups, and of those that are silent."""
    known = {joint.name for joint in measured_joints(result.robot)}
    for name, x in denoc.parameters(result.robot).items():
        owner, _, kind = name.rpartition(".")
        if kind in INERTIAL_NAMES or owner in known or x:
            yield name


def test_the_written_robot_needs_the_same_forces():
    robot = denoc.load("rx90")
    data = data_of(robot)
    result = denoc.identify(wrong(robot), data)
    again = denoc.loads(result.robot_text())
    tau = denoc.inverse(again, data["q"], data["qd"], data["qdd"])
    assert abs(tau - data["tau"]).max() < 1e-10 * abs(data["tau"]).max()
    own = denoc.parameters(again)
    assert all(abs(own[name] - x) < 1e-12 for name, x in result.numbers.items() if not name.endswith(".offset"))
    assert result.robot_text().startswith("# rx90 with numbers identified by `denoc identify` from data.")


def test_numbers_that_no_force_shows_keep_the_files_values():
    robot = wrong(denoc.load("rx90"))
    result = denoc.identify(robot, data_of(denoc.load("rx90")))
    own = denoc.parameters(robot)
    assert {"link1.m", "link1.mx", "link1.Ixx"} <= set(result.silent)
    assert all(result.numbers[name] == own[name] for name in result.silent)


def test_what_is_free_keeps_masses_and_rotors_positive():
    robot = denoc.load("puma")
    data = data_of(robot)
    result = denoc.identify(wrong(robot), data)
    assert not result.unwritable
    assert all(x >= 0.0 for name, x in result.numbers.items() if name.endswith((".rotor", ".m")))
    again = result.to_robot()
    tau = denoc.inverse(again, data["q"], data["qd"], data["qdd"])
    assert abs(tau - data["tau"]).max() < 1e-10 * abs(data["tau"]).max()


def test_the_change_is_the_least():
    grouping, size = np.array([[1.0, 1.0, 2.0]]), np.array([1.0, 2.0, 1.0])
    names, numbers = ("a.rotor", "b.Izz", "c.Ixx"), np.zeros(3)
    free = least_change_of_identified_numbers(grouping, np.array([8.0]), names, numbers, size)
    assert free == pytest.approx(8.0 * np.array([1.0, 4.0, 2.0]) / 9.0)  # size² times the factors, by Lagrange
    held = least_change_of_identified_numbers(grouping, np.array([-8.0]), names, numbers, size)
    assert held == pytest.approx([0.0, -4.0, -2.0])  # the same without the rotor, which isn't negative


# ---- standard errors


def coverage(X, y, beta, noise, errors):
    """How often the true numbers are within 1.96 standard errors, over all numbers and repetitions."""
    inside = []
    for one in noise:
        fit = solve_identification_fit(X, y + one, np.zeros(len(beta)), [len(y)], errors)
        inside.append(abs(fit.values - beta) <= 1.96 * fit.errors)
    return np.mean(inside)


def regression(count):
    """Columns, efforts and numbers of a small arm."""
    robot = denoc.load("planar3r")
    base, data = denoc.base_parameters(robot), data_of(robot, count)
    X = denoc.regressor(robot, data["q"], data["qd"], data["qdd"])[..., list(base.columns)]
    return X, X @ base.values, base.values


def test_standard_errors_hold_with_white_noise():
    X, y, beta = regression(100)
    noise = np.random.default_rng(3).normal(size=(200, *y.shape)) * [2.0, 0.5, 0.1]
    assert 0.92 <= coverage(X, y, beta, noise, "auto") <= 0.98


def test_standard_errors_allow_for_autocorrelation():
    X, y, beta = regression(1000)
    X = smooth_measured_columns(np.arange(1000.0), X.reshape(1000, -1), 2, 0.02).reshape(X.shape)  # a slow motion
    y, rng = X @ beta, np.random.default_rng(4)
    noise = np.zeros((60, *y.shape))
    for k in range(1, 1000):
        noise[:, k] = 0.9 * noise[:, k - 1] + 0.1 * rng.normal(size=noise[:, k].shape)
    assert coverage(X, y, beta, noise, "white") < 0.6
    assert 0.9 <= coverage(X, y, beta, noise, "auto") <= 0.98


def test_joints_with_less_noise_count_more():
    X, y, beta = regression(100)
    fit = solve_identification_fit(X, y + np.random.default_rng(5).normal(size=y.shape) * [2.0, 0.5, 0.1], beta, [100])
    assert fit.deviations == pytest.approx([2.0, 0.5, 0.1], rel=0.25)
    assert not fit.correlated


# ---- what data don't tell


def test_numbers_that_the_data_dont_tell_are_named():
    robot = denoc.loads(ONE)
    t = np.linspace(0, 1, 40)
    q, qd, qdd = (x[:, None] for x in (0.2 * t + t**2, 0.2 + 2 * t, np.full(40, 2.0)))  # always forwards
    data = {"q": q, "qd": qd, "qdd": qdd, "tau": denoc.inverse(robot, q, qd, qdd) + 1.0}
    result = denoc.identify(robot, data)
    assert result.unknown == ("arm.Iyy", "J.coulomb", "J.offset")  # nor what a constant acceleration needs
    assert np.isnan(result.errors[~result.determined]).all()
    assert np.isfinite(result.errors[result.determined]).all()
    assert max(result.train["data"].values()) < 1e-8


@pytest.mark.parametrize("physical", [False, True])
def test_fewer_rows_than_numbers_tell_nothing_of_most(physical):
    if physical:
        pytest.importorskip("clarabel")
    robot = denoc.load("planar3r")
    result = denoc.identify(robot, data_of(robot, 3), physical=physical)
    assert len(result.names) - 9 <= len(result.unknown)
    assert np.isnan(result.errors[~result.determined]).all()
    assert max(result.train["data"].values()) < (1e-4 if physical else 1e-8)


# ---- physical numbers


def links_of(result):
    return {
        link.name: np.array([result.numbers[f"{link.name}.{name}"] for name in INERTIAL_NAMES])
        for link in result.robot.links
    }


def test_physical_numbers_are_those_of_rigid_bodies():
    pytest.importorskip("clarabel")
    robot, rng = denoc.load("rx90"), np.random.default_rng(6)
    data = data_of(robot)
    data["tau"] = data["tau"] + rng.normal(size=data["tau"].shape) * 0.2 * data["tau"].std(axis=0)
    free = denoc.identify(robot, data)
    assert min(np.linalg.eigvalsh(pseudo_inertia_of_identified_link(ten))[0] for ten in links_of(free).values()) < -1e-3
    result = denoc.identify(robot, data, physical=True)
    assert min(np.linalg.eigvalsh(pseudo_inertia_of_identified_link(ten))[0] for ten in links_of(result).values()) > 0.0
    assert all(
        x >= 0.0 for name, x in result.numbers.items() if name.endswith((".rotor", ".viscous", ".coulomb", ".m"))
    )
    assert not result.to_robot().warnings
    own = denoc.parameters(robot)
    assert all(result.numbers[name] == own[name] for name in ("link1.m", "link1.mx", "link1.Ixy"))


def test_physical_numbers_of_exact_data_are_exact():
    pytest.importorskip("clarabel")
    robot = denoc.load("planar3r")
    result = denoc.identify(wrong(robot), data_of(robot), physical=True)
    assert max(result.train["data"].values()) < 1e-3


def test_constant_forces_alone_are_physical_whatever_they_are():
    pytest.importorskip("clarabel")
    robot = denoc.load("planar3r")
    data = data_of(robot)
    data["tau"] = data["tau"] + [1.0, -2.0, 0.5]
    result = denoc.identify(robot, data, study={"estimate": ["offset"], "physical": True})
    assert np.allclose([result.numbers[f"joint{k}.offset"] for k in (1, 2, 3)], [1.0, -2.0, 0.5], atol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("physical", [False, True])
@pytest.mark.parametrize("what", ["q", "qd", "qdd", "tau", "mass", "length"])
def test_numbers_beyond_those_of_computers_are_refused(what, physical):
    if physical:
        pytest.importorskip("clarabel")
    robot = denoc.loads(ONE)
    data = data_of(robot)
    if what in data:
        data[what][3, 0] = 1e300
    else:
        robot = denoc.loads(
            ONE.replace("mass: 3", "mass: 1e300") if what == "mass" else ONE.replace("com: [0.4", "com: [1e100")
        )
    with pytest.raises(denoc.DenocError, match="too large to compute with"):
        denoc.identify(robot, data, physical=physical)


def test_what_is_fixed_to_the_ground_stays_as_it_is():
    pytest.importorskip("clarabel")
    robot = denoc.loads(ONE + "  - {name: foot, parent: base, joint: {type: fixed}, mass: 0}\n")
    t = np.linspace(0, 5, 60)
    q, qd, qdd = swing(robot, t)
    data = {"q": q, "qd": qd, "qdd": qdd, "tau": denoc.inverse(robot, q, qd, qdd)}
    result = denoc.identify(robot, data, physical=True)
    assert not links_of(result)["foot"].any()
    assert np.linalg.eigvalsh(pseudo_inertia_of_identified_link(links_of(result)["arm"]))[0] > 0.0


def test_pseudo_inertia_is_that_of_the_points_of_a_body():
    rng = np.random.default_rng(7)
    m, r = rng.uniform(1, 2, 9), rng.normal(size=(9, 3))
    J = sum(a * (p @ p * np.eye(3) - np.outer(p, p)) for a, p in zip(m, r))
    ten = np.array([m.sum(), *(m @ r), J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    points = np.column_stack([r, np.ones(9)])
    assert pseudo_inertia_of_identified_link(ten) == pytest.approx(points.T @ (m[:, None] * points))


def test_without_the_solver_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(InputError, match="clarabel") as raised:
        denoc.identify(denoc.loads(ONE), {}, physical=True)
    assert "identify" in raised.value.hint


# ---- files


def swing(robot, t):
    """A motion with several frequencies, of a tree."""
    k = np.arange(1, robot.nv + 1)
    waves = [(0.7, 1.0 + 0.31 * k), (0.3, 2.3 + 0.17 * k), (0.1, 5.0 - 0.2 * k)]
    parts = [(a * np.sin(w * t[:, None] + k), w, a * np.cos(w * t[:, None] + k)) for a, w in waves]
    q, qd, qdd = (sum(x) for x in zip(*((s, w * c, -(w**2) * s) for s, w, c in parts)))
    return q, qd, qdd


def write(path, columns, names=None):
    text = "\n".join(",".join(f"{x:.17g}" for x in row) for row in np.column_stack(columns))
    path.write_text((",".join(names) + "\n" if names else "") + text + "\n")


def test_a_study_says_what_the_columns_are(tmp_path):
    robot, t = denoc.load("planar3r"), np.linspace(0, 4, 300)
    q, qd, qdd = swing(robot, t)
    tau, gains = denoc.inverse(robot, q, qd, qdd), [10.0, 5.0, 2.0]
    spoilt = np.full((3, 10), 1e3)
    columns = [t, q, qd, qdd, tau / gains]
    whole = [np.concatenate([spoilt[:, :1].T.ravel() * 0 - [3, 2, 1], t])]
    whole += [np.vstack([spoilt[:, : x.shape[1]], x]) for x in columns[1:]]
    write(tmp_path / "a.csv", whole)
    write(tmp_path / "b.csv", columns)
    (tmp_path / "study.yaml").write_text(
        "train: [{file: a.csv, rows: [4, 303]}]\ntest: [b.csv]\nheader: false\ngains: [10, 5, 2]\n"
        "columns: {time: 1, positions: [2, 3, 4], speeds: [5, 6, 7], accelerations: [8, 9, 10], currents: [11, 12, 13]}"
    )
    result = denoc.identify(wrong(robot), study=tmp_path / "study.yaml")
    assert list(result.train) == ["a.csv"]
    assert max(result.test["b.csv"].values()) < 1e-8
    # speeds and accelerations by differences, too
    given = {"train": [str(tmp_path / "b.csv")], "header": False, "gains": gains, "drop": 5}
    given["columns"] = {"time": 1, "positions": [2, 3, 4], "currents": [11, 12, 13]}
    assert 1e-8 < max(denoc.identify(robot, study=given).train[given["train"][0]].values()) < 1.0


def test_measurements_have_units_in_their_headers(tmp_path):
    """Degrees, rpm and milliseconds give the same as SI; currents stay in the unit that the gains are for."""
    robot, t = denoc.load("planar3r"), np.linspace(0, 4, 100)
    q, qd, qdd = swing(robot, t)
    tau, gains = denoc.inverse(robot, q, qd, qdd), [10.0, 5.0, 2.0]
    joints, deg = ("joint1", "joint2", "joint3"), np.pi / 180
    parts = [
        ("q", "deg", q / deg),
        ("qd", "rpm", qd * 30 / np.pi),
        ("qdd", "deg/s^2", qdd / deg),
        ("tau", "mN m", tau * 1e3),
    ]
    names = ["t [ms]", *(f"{joint}.{what} ({unit})" for what, unit, _ in parts for joint in joints)]
    write(tmp_path / "a.csv", [t * 1e3, *(x for _, _, x in parts)], names)
    result = denoc.identify(wrong(robot), tmp_path / "a.csv")
    assert max(result.train[str(tmp_path / "a.csv")].values()) < 1e-8
    write(
        tmp_path / "b.csv",
        [t * 1e3, *(x for _, _, x in parts[:3]), tau / gains],
        [name.replace("mN m", "A") for name in names],
    )
    given = {
        "train": [str(tmp_path / "b.csv")],
        "gains": gains,
        "columns": {"currents": [f"{joint}.tau (A)" for joint in joints]},
    }
    result = denoc.identify(wrong(robot), study=given)
    assert max(result.train[str(tmp_path / "b.csv")].values()) < 1e-8
    write(
        tmp_path / "d.csv", [t, q, tau], ["t", *(f"{joint}.{what}" for what in ("q (kg)", "tau") for joint in joints)]
    )
    with pytest.raises(denoc.DenocError, match="`kg` is a mass; an angle"):
        denoc.identify(robot, tmp_path / "d.csv")
    write(
        tmp_path / "e.csv", [t, q / deg, tau], ["t", *(f"{joint}.{what}" for what in ("q", "tau") for joint in joints)]
    )
    with pytest.warns(UserWarning, match=r"the column `joint\d.q` has no unit, so it is in radians"):
        denoc.identify(robot, tmp_path / "e.csv")


def test_the_columns_of_actuated_joints_suffice_in_loops(tmp_path):
    robot = denoc.load("three-rrr")
    run = denoc.run("three-rrr-idyn")
    names = [f"{joint}.{what}" for joint in ("J1", "J2", "J3") for what in ("q", "qd", "qdd", "tau")]
    pick = slice(None, None, 10)
    write(tmp_path / "d.csv", [run.t[pick], *(run.table[name][pick] for name in names)], ["t", *names])
    result = denoc.identify(wrong(robot), tmp_path / "d.csv")
    assert measured_effort_columns(robot) == ["J1.tau", "J2.tau", "J3.tau"]
    assert max(result.train[str(tmp_path / "d.csv")].values()) < 1e-6
    cleaned = {
        "train": [str(tmp_path / "d.csv")],
        "filter": {"cutoff": "2 Hz", "of": ["efforts"]},
        "drop": 2,
        "every": 2,
    }
    again = denoc.identify(wrong(robot), study=cleaned)
    assert max(again.train[str(tmp_path / "d.csv")].values()) < 1e-6


def test_accelerations_of_a_spherical_joint_are_read_from_their_own_columns(tmp_path):
    run = denoc.run("spherical-arm-idyn")
    write(tmp_path / "d.csv", [run.t, *run.table.values()], ["t", *run.table])
    result = denoc.identify(wrong(denoc.load("spherical-arm")), tmp_path / "d.csv")
    assert max(result.train[str(tmp_path / "d.csv")].values()) < 1e-6


def test_smooth_friction_is_the_law_that_is_asked_for():
    robot, t = denoc.loads(ONE), np.linspace(0, 6, 200)
    q, qd, qdd = swing(robot, t)
    still = denoc.loads(ONE.replace("coulomb: 2", "coulomb: 0"))
    tau = denoc.inverse(still, q, qd, qdd) + 2.0 * np.tanh(qd / 0.3)
    result = denoc.identify(
        robot, {"q": q, "qd": qd, "qdd": qdd, "tau": tau}, {"friction": {"law": "tanh", "width": 0.3}}
    )
    assert result.numbers["J.coulomb"] == pytest.approx(2.0, rel=1e-10)
    assert max(result.train["data"].values()) < 1e-8


def reluctant(t, v, distance):
    """Dahl's friction as a share of its force, by an integrator of scipy's on a speed that is linear between rows."""

    def rate(x, z):
        speed = np.interp(x, t, v)
        return [(speed - abs(speed) * z[0]) / distance]

    found = solve_ivp(rate, (t[0], t[-1]), [np.sign(v[0])], t_eval=t, rtol=1e-9, atol=1e-11, max_step=t[1] - t[0])
    return found.y[0]


def rocking():
    """A motion with reversals between rows, and speeds that are linear there."""
    t = np.linspace(0, 20, 1001)
    qd = np.interp(t, np.arange(21), 1.5 * np.cos(2.1 * np.arange(21)) + 0.4 * np.cos(np.arange(21)))
    q = np.append(0.0, np.cumsum((qd[1:] + qd[:-1]) / 2 * np.diff(t)))
    return t, q[:, None], qd[:, None], np.gradient(qd, t)[:, None]


@pytest.mark.parametrize("distance", [0.002, 0.05])
def test_friction_after_a_reversal_is_that_of_its_differential_equation(distance):
    t, _, qd, _ = rocking()
    assert (np.diff(np.sign(qd[:, 0])) != 0).sum() > 10
    assert abs(sliding(t, qd[:, 0], distance) - reluctant(t, qd[:, 0], distance)).max() < 1e-6
    assert (sliding(t, np.zeros(len(t)), distance) == 0.0).all()


def test_the_path_on_which_friction_builds_up_is_found():
    robot, (t, q, qd, qdd) = denoc.loads(ONE), rocking()
    still = denoc.loads(ONE.replace("coulomb: 2", "coulomb: 0"))
    tau = denoc.inverse(still, q, qd, qdd) + 3.0 * reluctant(t, qd[:, 0], 0.02)[:, None]
    data = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}
    result = denoc.identify(robot, data, {"friction": {"law": "dahl"}})
    assert result.distances["J"] == pytest.approx(0.02, rel=0.02)
    assert result.numbers["J.coulomb"] == pytest.approx(3.0, rel=1e-3)
    given = denoc.identify(robot, data, {"friction": {"law": "dahl", "distance": "20 mrad"}})
    assert given.distances == {"J": 0.02}
    assert result.train["data"]["J.tau"] < 0.2 < 2.0 < denoc.identify(robot, data).train["data"]["J.tau"]
    assert "J: 0.02" in given.robot_text()


def test_the_models_efforts_go_through_the_filter_of_the_measured_ones(tmp_path):
    robot, t = denoc.loads(ONE), np.linspace(0, 6, 600)
    q, qd, qdd = swing(robot, t)
    tau = denoc.inverse(robot, q, qd, qdd)
    write(tmp_path / "a.csv", [t, q, qd, qdd, tau], ["t", "J.q", "J.qd", "J.qdd", "J.tau"])
    # the filter takes away much of what friction does at reversals, and nothing of what the numbers say
    study = {
        "train": [str(tmp_path / "a.csv")],
        "filter": {"cutoff": "1 Hz", "of": ["efforts"]},
        "drop": 20,
        "every": 3,
    }
    result = denoc.identify(wrong(robot), study=study)
    own = denoc.parameters(robot)
    assert result.numbers["J.coulomb"] == pytest.approx(own["J.coulomb"], rel=1e-8)
    assert result.numbers["J.viscous"] == pytest.approx(own["J.viscous"], rel=1e-8)
    assert max(result.train[study["train"][0]].values()) < 1e-8


def test_filters_delay_nothing():
    t = np.linspace(0, 10, 1001)
    x = np.sin(2 * np.pi * t)
    noisy = x + 0.3 * np.sin(2 * np.pi * 40 * t)
    inner = slice(100, -100)
    assert abs(smooth_measured_columns(t, noisy[:, None], 5, 10.0)[inner, 0] - x[inner]).max() < 1e-4
    uneven = t + 0.004 * np.sin(37 * t)
    rate = derivative_of_measured_columns(uneven, np.column_stack([uneven**2, np.sin(uneven)]))
    assert abs(rate[:, 0] - 2 * uneven).max() < 1e-10  # of second order
    assert abs(rate[1:-1, 1] - np.cos(uneven[1:-1])).max() < 1e-4


def test_friction_with_a_past_needs_instants():
    robot = denoc.loads(ONE)
    with pytest.raises(InputError, match="needs instants"):
        denoc.identify(robot, data_of(robot), {"friction": {"law": "dahl"}})


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ({"trian": ["a.csv"]}, "unknown key `trian`"),
        ({}, "there are no data to fit to"),
        ({"train": ["nowhere.csv"]}, "there is no such file"),
        ({"train": [{"file": "a.csv", "rows": [5, 2]}]}, "two places of rows"),
        ({"train": [{"file": "a.csv", "rows": [1, 99]}]}, "there are fewer rows"),
        ({"train": ["a.csv"], "drop": 10}, "too few rows"),
        ({"train": ["a.csv"], "columns": {"positions": ["x"]}}, "no such column"),
        ({"train": ["a.csv"], "columns": {"positions": ["J.q", "J.q"]}}, "1 columns are needed"),
        ({"train": ["a.csv"], "header": False}, "needs the places of its columns"),
        ({"train": ["a.csv"], "filter": {"cutoff": 1000}}, "the filter lets everything pass"),
        ({"train": ["a.csv"], "filter": {"cutoff": 1e-9}}, "the filter lets nothing pass"),
        ({"train": ["a.csv"], "filter": {"cutoff": 5, "of": []}}, "must not be empty"),
        ({"train": ["a.csv"], "columns": {"currents": ["J.tau"]}}, "gains and currents"),
        ({"train": ["a.csv"], "estimate": ["mass"]}, "unknown value"),
        ({"train": ["a.csv"], "estimate": []}, "must not be empty"),
        ({"train": ["a.csv"], "friction": {"law": "dahl", "distance": 0}}, "must be more than 0"),
        (
            {"train": ["a.csv"], "friction": {"law": "dahl", "distance": "3 mm"}},
            "distance: `3 mm` is a length; an angle",
        ),
        ({"train": ["a.csv"], "friction": {"law": "tanh", "width": "1 mm/s"}}, "width: `1 mm/s` is a (speed|velocity)"),
        ({"train": ["a.csv"], "friction": {"law": "dahl", "width": 1}}, "`width` belongs to `law: tanh`"),
        ({"train": ["a.csv"], "friction": {"distance": 1}}, "`distance` belongs to `law: dahl`"),
    ],
)
def test_mistakes_are_said(study, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    t = np.linspace(0, 1, 20)
    write(tmp_path / "a.csv", [t, np.sin(9 * t), np.cos(5 * t)], ["t", "J.q", "J.tau"])
    with pytest.raises(InputError, match=message):
        denoc.identify(denoc.loads(ONE), study=study)


def test_what_only_the_data_tell_is_an_error_at_its_line(tmp_path):
    t = np.linspace(0, 1, 20)
    write(tmp_path / "a.csv", [t, np.sin(9 * t), np.cos(5 * t)], ["t", "J.q", "J.tau"])
    study = tmp_path / "study.yaml"
    study.write_text("train: [a.csv]\nfilter: {cutoff: 1000}\n")
    with pytest.raises(InputError, match=r"study.yaml:2:18: filter.cutoff: the filter lets everything pass"):
        denoc.identify(denoc.loads(ONE), study=study)


LOADED = {
    "planar3r": "wrenches: [{link: link3, force: [3, -5, 0], moment: [0, 0, 2], at: [0.2, 0.1, 0]}]\n"
    "springs: [{name: cord, joints: {joint1: 2, joint2: -0.5}, stiffness: 30, damping: 2, rest: 0.3}]\n",
    "three-rrr": "wrenches: [{link: platform, force: [3, -5, 0], moment: [0, 0, 2]}]\n"
    "springs: [{name: cord, joints: {J1: 2, J2: -0.5}, stiffness: 30, damping: 2, rest: 0.3}]\n",
}


@pytest.mark.parametrize("name", LOADED)
def test_wrenches_and_springs_over_joints_are_known_forces(name):
    """The robot has the numbers that it has without them; the file that is written has them, too."""
    alone = denoc.load(name)
    robot = denoc.loads(find_library_file(name, "robots").read_text() + LOADED[name], name)
    data, free = data_of(robot), data_of(alone)
    assert abs(data["tau"] - free["tau"]).max() > 1.0  # of the same motion
    result, other = denoc.identify(robot, data), denoc.identify(alone, free)
    assert result.values == pytest.approx(other.values, rel=1e-8, abs=1e-8)
    assert max(result.train["data"].values()) < 1e-8
    written = result.to_robot()
    again = [denoc.inverse(written, data["q"], data["qd"], data["qdd"])[:, : data["tau"].shape[1]], data["tau"]]
    assert again[0] == pytest.approx(again[1], abs=1e-6)


def test_known_forces_go_through_the_filter_of_the_efforts(tmp_path):
    robot = denoc.loads(f"{ONE}springs: [{{name: cord, joints: {{J: 2}}, stiffness: 5}}]\n")
    t = np.arange(0, 6, 0.01)
    motion = [
        sum(one(w * t) * w**n / w for w in (3, 11)) for n, one in enumerate((np.sin, np.cos, lambda x: -np.sin(x)))
    ]
    tau = denoc.inverse(robot, *(x[:, None] for x in motion))[:, 0]
    write(tmp_path / "a.csv", [t, *motion, tau], ["t", "J.q", "J.qd", "J.qdd", "J.tau"])
    file = str(tmp_path / "a.csv")
    result = denoc.identify(robot, study={"train": [file], "filter": {"cutoff": 1, "of": ["efforts"]}, "drop": 100})
    assert max(result.train[file].values()) < 1e-6


def test_only_joints_with_dry_friction_have_paths_on_which_it_builds_up():
    robot = denoc.loads(TWO_ARMS)
    t = np.arange(0, 6, 0.01)
    q, qd, qdd = (
        np.column_stack([x, 0.7 * x[::-1] * k])
        for k, x in ((1, np.sin(3 * t)), (-1, 3 * np.cos(3 * t)), (1, -9 * np.sin(3 * t)))
    )
    tau = denoc.inverse(robot, q, qd, qdd)
    rough = np.column_stack([2 * sliding(t, qd[:, 0], 1e-3), 0 * t])
    noise = np.random.default_rng(4).normal(size=tau.shape) * 0.01
    data = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau + rough + noise}
    result = denoc.identify(robot, data, {"friction": {"law": "dahl"}})
    assert result.distances == {"J": pytest.approx(1e-3, rel=0.05)}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"t": np.zeros(40)}, "`t` doesn't rise"),
        ({"t": -np.arange(40.0)}, "`t` doesn't rise"),
        ({"t": np.arange(30.0)}, "`t` has another shape"),
        ({"t": ["a"] * 40}, "`t` is no array of numbers"),
        ({"tau": np.full((40, 1), np.nan)}, "`tau` has a number that isn't finite"),
        ({"taus": np.zeros((40, 1))}, "found: `taus`"),
    ],
)
def test_arrays_that_are_no_motion_are_refused(change, says):
    data = {name: np.zeros((40, 1)) for name in ("q", "qd", "qdd", "tau")}
    with pytest.raises(InputError, match=says):
        denoc.identify(denoc.loads(ONE), {**data, "t": np.arange(40.0), **change}, {"friction": {"law": "dahl"}})


def test_arrays_are_not_filtered():
    with pytest.raises(InputError, match="aren't filtered"):
        denoc.identify(robot := denoc.loads(ONE), data_of(robot), {"filter": {"cutoff": 5}})


@pytest.mark.parametrize(
    ("entry", "place", "why"),
    [
        ("nowhere.csv", "2:9", "there is no such file"),
        ("{file: nowhere.csv}", "2:16", "there is no such file"),
        ("a" * 300, "2:9", "there is no such file"),
        ("..", "2:9", "this is a directory, not a file"),
    ],
)
def test_a_file_of_a_study_that_is_not_there_is_named_at_its_line(tmp_path, entry, place, why):
    (tmp_path / "study.yaml").write_text(f"drop: 2\ntrain: [{entry}]\n")
    with pytest.raises(InputError, match=rf"study\.yaml:{place}: train\[0\]\.file: {why}"):
        denoc.identify(denoc.loads(ONE), study=tmp_path / "study.yaml")
