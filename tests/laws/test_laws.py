"""Motion and force laws: each is what its formula says, and its rate and acceleration are its derivatives."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from comparing import slope
from denoc.errors import InputError
from denoc.laws import forces, motions
from denoc.laws import motions as laws
from denoc.laws.csv_tables import Spline, read_law_table_columns

pytestmark = pytest.mark.smoke

MOTION, FORCE = TypeAdapter(laws.AnyMotionLaw), TypeAdapter(forces.AnyForceLaw)
T0, T1 = 0.5, 4.5  # the time of the run
START = (0.3, -0.2)  # where the joint is at T0


def motion(law, folder=Path(), **parameters):
    return MOTION.validate_python({"law": law, **parameters}).curves(START, T0, T1, folder)


def force(law, folder=Path(), **parameters):
    return FORCE.validate_python({"law": law, **parameters}).forces(2, folder)


@pytest.fixture
def folder(tmp_path):
    """With a table of a smooth motion."""
    t = np.linspace(0, 5, 101)
    rows = [f"{x!r},{math.sin(2 * x)!r},{x * x!r}" for x in t.tolist()]
    (tmp_path / "table.csv").write_text("\n".join(["t,first,second", *rows]))
    return tmp_path


# the example of every law in the table, and other ways to write some of them
MOTIONS = {name: dict(law.example) for name, law in laws.MOTION_LAWS.items()} | {
    "cycloid from": {"from": 0.1, "to": [1, -2], "over": 2, "delay": 0.5},
    "cycloid whole": {"to": 1.2},
    "polynomial 3": {"degree": 3, "to": -1, "over": 3},
    "polynomial 5": {"to": 1},
    "trapezoid whole": {"to": 1},
    "trapezoid ramp": {"to": 1, "ramp": 0.4, "over": 2, "delay": 0.3},
    "trapezoid triangle": {"to": 2, "ramp": 1, "over": 2},
    "harmonic several": {"amplitude": [0.5, 0.2], "frequency": 0.7, "phase": 0.4, "offset": 0.1},
    "harmonic period": {"amplitude": 0.3, "period": "2 s"},
    "rate several": {"rate": [2, "45 rpm"]},
    "rate from": {"rate": -1, "from": 4},
    "hold where it is": {},
    "hold from": {"from": [1, 2]},
}
FORCES = {name: dict(law.example) for name, law in forces.FORCE_LAWS.items()} | {
    "constant several": {"value": [3, "2 N m"]},
    "harmonic offset": {"amplitude": 2, "frequency": "3 Hz", "phase": "90 deg", "offset": -1},
    "pd to": {"kp": 10, "kd": 2, "to": [1, 2]},
}


@pytest.mark.parametrize("table", [laws.MOTION_LAWS, forces.FORCE_LAWS], ids=["motion", "force"])
def test_a_law_stands_in_the_table_under_its_name(table):
    assert [law.law_name() for law in table.values()] == list(table)
    for law in table.values():
        assert law.example or not law.exemplary().model_dump(exclude={"law"}, exclude_defaults=True)
        assert law.__doc__


@pytest.mark.parametrize("name", MOTIONS)
def test_rate_and_acceleration_are_the_derivatives(name, folder):
    law = MOTION.validate_python({"law": name.split()[0], **MOTIONS[name]})
    kinks = [T0, T1, *law.kinks(T0, T1)]
    h = 2e-3
    rng = np.random.default_rng(1)
    for curve in law.curves(START, T0, T1, folder):
        for t in rng.uniform(T0, T1, 40):
            if min(abs(t - kink) for kink in kinks) < 5 * h:
                continue
            _, rate, second = curve(float(t))
            tolerance = 2e-5 if name == "table" else 1e-8  # a spline's derivatives have corners at its knots
            assert slope(lambda d, t=t, curve=curve: curve(t + d)[0], h) == pytest.approx(float(rate), abs=tolerance)
            assert slope(lambda d, t=t, curve=curve: curve(t + d)[1], h) == pytest.approx(
                float(second), abs=20 * tolerance
            )


@pytest.mark.parametrize("name", MOTIONS)
def test_many_instants_are_as_each_of_them(name, folder):
    t = np.linspace(T0 - 1, T1 + 1, 83)
    for curve in motion(name.split()[0], folder, **MOTIONS[name]):
        together = [np.broadcast_to(x, t.shape) for x in curve(t)]
        apart = np.array([[float(x) for x in curve(float(one))] for one in t]).T
        np.testing.assert_allclose(together, apart, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize(
    "name",
    [name for name, given in MOTIONS.items() if "to" in given and not isinstance(given.get("over"), str)],
)
def test_from_one_end_to_the_other(name):
    """At rest at both ends, which are exact; before and after nothing moves."""
    given = MOTIONS[name]
    begin = T0 + given.get("delay", 0.0)
    end = begin + given["over"] if "over" in given else T1
    low = [given["from"]] * 2 if "from" in given else START
    high = given["to"] if isinstance(given["to"], list) else [given["to"]] * 2
    high = [math.pi / 2 if x == "90 deg" else x for x in high]
    kinks = MOTION.validate_python({"law": name.split()[0], **given}).kinks(T0, T1)
    assert (kinks[0], kinks[-1]) == pytest.approx((begin, end))
    for curve, a, b in zip(motion(name.split()[0], **given), low, high):
        for t in (begin - 1, begin - 1e-9, begin):
            assert [float(x) for x in curve(t)[:2]] == [a, 0.0]
        for t in (end, end + 1e-9, end + 5):
            assert float(curve(t)[0]) == pytest.approx(b, rel=1e-15)
            assert float(curve(t)[1]) == pytest.approx(0, abs=1e-14)
        assert float(curve(begin - 1e-9)[2]) == float(curve(end + 1e-9)[2]) == 0.0
        middle = curve((begin + end) / 2)
        assert float(middle[0]) == pytest.approx((a + b) / 2)
        assert float(middle[2]) == pytest.approx(0, abs=1e-12)


def test_cycloid_is_the_paper_s():
    """θ = θ(0) + (θ(T) − θ(0))/T (t − T/2π sin(2π t/T)) and its derivatives (Saha's overview, eq. 22)."""
    T, a, b = 10.0, 0.2, math.pi
    curve = MOTION.validate_python({"law": "cycloid", "from": a, "to": b}).curves([0.0], 0.0, T, Path())[0]
    for t in np.linspace(0, T, 23):
        q, qd, qdd = curve(t)
        turn = 2 * math.pi * t / T
        assert float(q) == pytest.approx(a + (b - a) / T * (t - T / (2 * math.pi) * math.sin(turn)), abs=1e-15)
        assert float(qd) == pytest.approx((b - a) / T * (1 - math.cos(turn)), abs=1e-15)
        assert float(qdd) == pytest.approx((b - a) / T * 2 * math.pi / T * math.sin(turn), abs=1e-15)


@pytest.mark.parametrize("degree, vanishing", [(3, 1), (5, 2), (7, 3)])
def test_polynomials_vanish_at_the_ends_as_their_degree_allows(degree, vanishing):
    s = np.polynomial.Polynomial(motions._POLYNOMIALS[degree])
    assert s.degree() == degree
    assert (s(0.0), s(1.0)) == (0.0, 1.0)
    for n in range(1, vanishing + 1):
        assert s.deriv(n)(0.0) == 0.0
        assert s.deriv(n)(1.0) == pytest.approx(0.0, abs=1e-12)
    assert s.deriv(vanishing + 1)(0.0) != 0.0
    x = np.linspace(0, 1, 11)
    np.testing.assert_allclose(motions.polynomial_profile(x, degree), [s(x), s.deriv(1)(x), s.deriv(2)(x)])


@settings(deadline=None, derandomize=True)
@given(ramp=st.floats(0.01, 0.5))
def test_trapezoid(ramp):
    """Acceleration a, 0, −a with a·ramp the top rate, which covers the way."""
    x = np.array([ramp / 2, 0.5, 1 - ramp / 2])
    s, rate, second = motions.trapezoid_profile(x, ramp)
    top = 1 / (1 - ramp)
    np.testing.assert_allclose(rate, [top / 2, top, top / 2])
    np.testing.assert_allclose(second[[0, 2]], [top / ramp, -top / ramp])
    np.testing.assert_allclose(s[1], 0.5)
    np.testing.assert_allclose(s[0], top / ramp * (ramp / 2) ** 2 / 2)
    np.testing.assert_allclose(s[0] + s[2], 1)


def test_kinks_are_where_the_acceleration_jumps():
    law = MOTION.validate_python({"law": "trapezoid", "to": 1, "ramp": 0.4, "over": 2, "delay": 0.3})
    kinks = law.kinks(T0, T1)
    assert kinks == pytest.approx([0.8, 1.2, 2.4, 2.8])
    t = np.linspace(T0, T1, 40001)
    second = law.curves([0.0], T0, T1, Path())[0](t)[2]
    jumps = t[:-1][abs(np.diff(second)) > 1e-6]
    np.testing.assert_allclose(jumps, kinks, atol=2e-4)
    for name in ("cycloid", "polynomial"):
        assert MOTION.validate_python({"law": name, "to": 1}).kinks(T0, T1) == [T0, T1]
    for smooth in ({"law": "harmonic", "amplitude": 1, "period": 1}, {"law": "hold"}, {"law": "rate", "rate": 1}):
        assert MOTION.validate_python(smooth).kinks(T0, T1) == []


def test_harmonic():
    """offset + amplitude sin(2π f t + phase), t the time of the run, f in hertz: as motion and as force."""
    curve = motion("harmonic", amplitude=0.5, frequency=0.25, phase="30 deg", offset=0.1)[0]
    push = force("harmonic", amplitude=0.5, period=4, phase="30 deg", offset=0.1)[0]
    for t in (0.0, 0.7, 3.1):
        angle = math.pi / 2 * t + math.pi / 6
        assert float(curve(t)[0]) == pytest.approx(0.1 + 0.5 * math.sin(angle), abs=1e-15)
        assert float(curve(t)[1]) == pytest.approx(0.5 * math.pi / 2 * math.cos(angle), abs=1e-15)
        assert float(curve(t)[2]) == pytest.approx(-0.5 * (math.pi / 2) ** 2 * math.sin(angle), abs=1e-15)
        assert push(t, 7.0, 8.0, None) == pytest.approx(0.1 + 0.5 * math.sin(angle), abs=1e-15)
    assert float(curve(4.0)[0]) == pytest.approx(float(curve(0.0)[0]))  # a period of 4 s


def test_rate_and_hold_begin_where_the_joint_is():
    for k, x in enumerate(START):
        assert [float(v) for v in motion("rate", rate=[2, 3])[k](T0 + 1)] == [x + (2, 3)[k], (2, 3)[k], 0]
        assert [float(v) for v in motion("hold")[k](3.0)] == [x, 0, 0]
    assert float(motion("rate", rate=1, **{"from": 5})[0](T0 + 2)[0]) == 7  # t counts from the start of the run
    assert float(motion("rate", rate="60 rpm")[0](T0 + 1)[1]) == pytest.approx(2 * math.pi)


# ---- tables


@pytest.mark.parametrize("rows, degree", [(2, 1), (3, 2), (4, 3), (5, 3), (6, 5), (40, 5)])
def test_a_spline_is_exact_for_polynomials_of_its_degree(rows, degree):
    rng = np.random.default_rng(rows)
    p = np.polynomial.Polynomial(rng.normal(size=degree + 1))
    t = np.sort(rng.uniform(-1, 1, rows))
    spline = Spline(t, p(t))
    x = np.linspace(t[0], t[-1], 31)
    for n, (values, tolerance) in enumerate(zip(spline(x), (1e-10, 1e-8, 1e-5))):
        np.testing.assert_allclose(values, p.deriv(n)(x) if n else p(x), atol=tolerance)


def test_a_spline_goes_through_its_rows_and_holds_its_ends():
    t, y = np.array([0.0, 1, 2, 3, 4.5, 6, 7]), np.array([1.0, 3, -2, 0.5, 4, 4, 2])
    spline = Spline(t, y)
    np.testing.assert_allclose(spline(t)[0], y, atol=1e-13)
    for outside, end in ((-5.0, 1.0), (9.0, 2.0)):
        assert [float(v) for v in spline(outside)] == [pytest.approx(end), 0, 0]


def test_table_columns(folder):
    first, second = motion("table", folder, file="table.csv", columns=["first", "second"])
    t = np.linspace(0.2, 4.8, 29)
    np.testing.assert_allclose(first(t)[0], np.sin(2 * t), atol=1e-8)
    np.testing.assert_allclose(first(t)[1], 2 * np.cos(2 * t), atol=1e-6)
    np.testing.assert_allclose(second(t)[2], 2, atol=1e-6)
    (one,) = motion("table", folder, file="table.csv", column="second")
    assert float(one(3.0)[0]) == pytest.approx(9)
    (push,) = force("table", folder, file="table.csv", column="second")
    assert [push(t, 0, 0, None) for t in (3.0, -1.0, 99.0)] == pytest.approx([9, 0, 25])


@pytest.mark.parametrize(
    "text, told",
    [
        ("", "the table is empty"),
        ("t,x\n", "two rows"),
        ("t,x\n0,1\n", "two rows"),
        ("t,x\n0,1\n1,nan\n", ":3:2: not a finite number"),
        ("t,x\n0,1\n1\n", ":3:2: not a finite number"),
        ("t,x\n0,1\n1,2\n1,3\n", ":4:1: time must grow"),
        ("t,x\n0,1\n-1,2\n", ":3:1: time must grow"),
        ("t,y\n0,1\n1,2\n", "did you mean `y`"),
    ],
)
def test_tables_that_are_none(tmp_path, text, told):
    path = tmp_path / "t.csv"
    path.write_text(text)
    name = "x" if "did you mean" not in told else "yy"
    with pytest.raises(InputError) as error:
        read_law_table_columns(path, [name])
    assert told in str(error.value)


def test_time_is_the_column_t_else_the_first(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\ufeffx, t ,y\n\n 1 ,0,2\n3,1,4\n\n")
    t, values = read_law_table_columns(path, ["y", "x"])
    assert (t.tolist(), values.tolist()) == ([0, 1], [[2, 1], [4, 3]])
    path.write_text("time,y\n5,1\n6,2\n")
    assert read_law_table_columns(path, ["y"])[0].tolist() == [5, 6]


# ---- forces


def test_constant_and_zero():
    assert [f(1.0, 2.0, 3.0, None) for f in force("constant", value=[3, "2 kN"])] == [3, 2000]
    assert [f(1.0, 2.0, 3.0, None) for f in force("constant", value=4)] == [4, 4]
    assert [f(1.0, 2.0, 3.0, None) for f in force("zero")] == [0, 0]


def test_a_harmonic_force_has_an_amplitude_a_phase_and_an_offset():
    swung = force("harmonic", amplitude=[3, 2], frequency="0.5 Hz", phase="30 deg", offset=[0, 7])
    at = np.pi * 0.25 + np.pi / 6
    assert [f(0.25, 8.0, 9.0, None) for f in swung] == pytest.approx([3 * np.sin(at), 7 + 2 * np.sin(at)], rel=1e-14)


def test_spring_and_pd():
    spring = force("spring", stiffness=4, rest=0.5, damping=0.1)[0]
    assert spring(9.0, 0.75, 2.0, None) == pytest.approx(-4 * 0.25 - 0.1 * 2)
    point = force("pd", kp=10, kd=2, to=[1, 2])[1]
    assert point(9.0, 0.5, 3.0, None) == pytest.approx(10 * 1.5 - 2 * 3)
    along = force("pd", kp=10, kd=2)[0]
    assert along(9.0, 0.5, 3.0, (0.7, 2.0)) == pytest.approx(10 * 0.2 + 2 * -1)


@pytest.mark.parametrize("name", FORCES)
def test_what_a_force_law_says_of_itself(name, folder):
    law = FORCE.validate_python({"law": name.split()[0], **FORCES[name]})
    assert law.follows_motion() == (name in ("pd", "computed-torque", "feedforward"))
    assert law.reads_state() == (name.split()[0] in ("spring", "pd", "computed-torque"))
    assert law.reads_all() == bool(law.formulas(2)) == (name in ("expression", "lookup", "state-feedback"))
    assert law.of_time() == (name.split()[0] in ("zero", "constant", "harmonic", "table"))
    if name not in ("computed-torque", "feedforward") and not law.reads_all():
        push = law.forces(2, folder)[0]
        state = (0.4, 0.3, (0.1, 0.2))
        if not law.reads_state():
            assert push(1.0, *state) == push(1.0, 5.0, 6.0, None)
        else:
            assert push(1.0, *state) == push(2.0, *state)


# ---- mistakes


@pytest.mark.parametrize(
    "law",
    [
        {"law": "cycloid"},
        {"law": "cycloid", "to": 1, "over": 0},
        {"law": "cycloid", "to": 1, "delay": -1},
        {"law": "cycloid", "to": []},
        {"law": "cycloid", "to": {"axis": [0, 0, 0], "angle": 1}},
        {"law": "cycloid", "to": {"axis": [0, 0, 1]}},
        {"law": "polynomial", "to": 1, "degree": 4},
        {"law": "harmonic", "amplitude": 1},
        {"law": "harmonic", "amplitude": 1, "frequency": 1, "period": 1},
        {"law": "harmonic", "amplitude": 1, "frequency": 0},
        {"law": "rate"},
        {"law": "rate", "rate": "1 kg"},
        {"law": "table", "file": "x.csv"},
        {"law": "table", "file": "x.csv", "column": "a", "columns": ["b"]},
        {"law": "cycloid", "to": 1, "speed": 1},
        {"law": "circle"},
    ],
)
def test_motion_laws_that_are_none(law):
    with pytest.raises(ValidationError):
        MOTION.validate_python(law)


@pytest.mark.parametrize(
    "law",
    [
        {"law": "constant"},
        {"law": "constant", "value": "1 m"},
        {"law": "spring", "stiffness": -1},
        {"law": "pd", "kd": 1},
        {"law": "pd", "kp": 1, "kd": -1},
        {"law": "computed-torque", "kp": "1 N m"},
        {"law": "feedforward", "kp": 1},
    ],
)
def test_force_laws_that_are_none(law):
    with pytest.raises(ValidationError):
        FORCE.validate_python(law)


@pytest.mark.parametrize(
    "law, key",
    [
        ({"law": "trapezoid", "to": 1, "ramp": 1.1, "over": 2}, "ramp"),
        ({"law": "trapezoid", "to": 1, "ramp": 2.1}, "ramp"),
        ({"law": "trapezoid", "to": 1, "ramp": 1}, None),
        ({"law": "cycloid", "to": 1, "delay": 4}, "delay"),
        ({"law": "cycloid", "to": 1, "delay": 3.9}, None),
        ({"law": "cycloid", "to": 1, "delay": 9, "over": 1}, None),
    ],
)
def test_laws_that_do_not_fit_the_time_of_the_run(law, key):
    misfit = MOTION.validate_python(law).misfit(T0, T1)
    assert (misfit and misfit[0]) == key
