"""A law is one row: a swing that dies out as a motion, a spring whose force grows with the cube as a force."""

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest
from pydantic import Field, TypeAdapter

import denoc
from comparing import slope
from denoc.cli import main, options
from denoc.errors import InputError
from denoc.laws import FORCE_LAWS, MOTION_LAWS, AnyForceLaw, AnyMotionLaw, Duration, ForceLaw, MotionLaw, Profiled
from denoc.machine.backend import using_backend
from denoc.scenario import scenario_schema
from denoc.text.fields import Numbers, quantity_field, quantity_list_field

TOOLS = Path(__file__).resolve().parents[1] / "tools"


class DyingSwing(MotionLaw):
    """amplitude exp(-t/decay) sin(2 pi t/period)."""

    example = {"amplitude": "10 deg", "period": "1 s", "decay": "2 s"}
    law: Literal["dying-swing"]
    amplitude: Annotated[Numbers, quantity_list_field("position")] = Field(description="to either side at first")
    period: Duration = Field(description="of a swing")
    decay: Duration = Field(description="until a third is left, nearly")

    def curves(self, start: Sequence[float], t0, t1, folder):
        turn, fade = 2 * np.pi / self.period, 1 / self.decay

        def swung(amplitude):
            def curve(t):
                size, s, c = amplitude * np.exp(-fade * t), np.sin(turn * t), np.cos(turn * t)
                second = (fade * fade - turn * turn) * s - 2 * fade * turn * c
                return size * s, size * (turn * c - fade * s), size * second

            return curve

        return [
            swung(a) for a in (self.amplitude if isinstance(self.amplitude, tuple) else [self.amplitude] * len(start))
        ]


class Sine(Profiled):
    """(1 - cos(pi x))/2."""

    example = {"to": "90 deg"}
    law: Literal["sine"]

    def profile(self, x, over):
        return (1 - np.cos(np.pi * x)) / 2, np.pi / 2 * np.sin(np.pi * x), np.pi**2 / 2 * np.cos(np.pi * x)


class CubicSpring(ForceLaw):
    """-stiffness q (q/softness)^2."""

    example = {"stiffness": "20 N m/rad"}
    law: Literal["cubic-spring"]
    stiffness: Annotated[float, quantity_field("stiffness", at_least=0.0)] = Field(description="force over way at 1")
    softness: Annotated[float, quantity_field("position", above=0.0)] = Field(
        default=1.0, description="the way at which"
    )

    def forces(self, count, folder):
        return [lambda t, q, qd, ref: -self.stiffness * q * (q / self.softness) * (q / self.softness)] * count

    def reads_state(self):
        return True


@pytest.fixture(autouse=True)
def _rows(monkeypatch):
    monkeypatch.setitem(MOTION_LAWS, "dying-swing", DyingSwing)
    monkeypatch.setitem(MOTION_LAWS, "sine", Sine)
    monkeypatch.setitem(FORCE_LAWS, "cubic-spring", CubicSpring)


def test_its_rate_and_acceleration_are_the_derivatives():
    """The tests of all laws in the table, which take each row's example (tests/laws/test_laws.py)."""
    law = DyingSwing.exemplary()
    assert isinstance(TypeAdapter(AnyMotionLaw).validate_python({"law": "dying-swing", **law.example}), DyingSwing)
    (curve,) = law.curves([0.0], 0.0, 3.0, Path())
    for t in (0.1, 0.9, 2.3):
        _, rate, second = curve(t)
        assert slope(lambda d, t=t: curve(t + d)[0], 2e-3) == pytest.approx(rate, abs=1e-9)
        assert slope(lambda d, t=t: curve(t + d)[1], 2e-3) == pytest.approx(second, abs=1e-8)


SWING = {"law": "dying-swing", "amplitude": "0.4 rad", "period": "0.8 s", "decay": "1.5 s"}
INVERSE = {"robot": "planar3r", "task": "inverse", "time": {"end": 1, "step": 0.05}, "motion": {"joint2": SWING}}


def test_an_inverse_scenario_moves_by_it():
    result = denoc.run(INVERSE)
    t, turn, fade = result.t, 2 * np.pi / 0.8, 1 / 1.5
    # of the complex function 0.4 exp((-fade + i turn) t), whose derivatives are powers of the factor
    z = -fade + 1j * turn
    q, qd, qdd = ((0.4 * z**n * np.exp(z * t)).imag for n in range(3))
    robot = denoc.load("planar3r")
    q0 = np.tile(robot.q0, (len(t), 1))
    still = np.zeros((len(t), 3))
    place, rate, second = q0.copy(), still.copy(), still.copy()
    place[:, 1], rate[:, 1], second[:, 1] = q, qd, qdd
    np.testing.assert_allclose(result.table["joint2.q"], q, atol=1e-14)
    tau = denoc.inverse(robot, place, rate, second)
    for k in range(3):
        np.testing.assert_allclose(result.table[f"joint{k + 1}.tau"], tau[:, k], atol=1e-11 * abs(tau).max())


def test_the_command_takes_a_profile_that_joined_the_table(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = ["idyn", "planar3r", "--to", "60 deg", "--law", "sine", "--time", "2", "--step", "0.5", "--no-plot", "-q"]
    monkeypatch.setattr(sys, "argv", ["denoc", *words])
    with pytest.raises(SystemExit) as left:
        main.main()
    assert not left.value.code
    header, *rows = (tmp_path / "outputs/planar3r-idyn/planar3r-idyn.csv").read_text().splitlines()
    column = header.split(",").index("joint1.q")
    q = np.array([float(row.split(",")[column]) for row in rows])
    start = denoc.load("planar3r").q0[0]
    np.testing.assert_allclose(q, start + (np.pi / 3 - start) * (1 - np.cos(np.pi * np.arange(5) / 4)) / 2, atol=1e-14)
    assert options.completion_from_names("denoc.laws.motions", "profiled_motion_laws")("s") == ["sine"]


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_simulation_feels_it(backend):
    """A slide on a cubic spring swings with the period 7.4163 sqrt(m/k)/amplitude (that of the lemniscate)."""
    mass, stiffness, softness, amplitude = 2.0, 50.0, 0.5, 0.3
    period = 7.416298709205487 * np.sqrt(mass * softness**2 / stiffness) / amplitude
    robot = denoc.loads(
        "{name: slide, convention: frames, gravity: [0, 0, 0], links: [{name: box, mass: 2, com: [0, 0, 0], "
        "inertia: {xx: 1, yy: 1, zz: 1}, joint: {name: way, type: prismatic}}]}"
    )
    scenario = {
        "task": "simulate",
        "time": {"end": period, "step": period / 8},
        "initial": {"way": amplitude},
        "forces": {"way": {"law": "cubic-spring", "stiffness": "50 N/m", "softness": "500 mm"}},
        "solver": {"rtol": 1e-10},
    }
    with using_backend(backend):
        result = denoc.run(scenario, robot)
    q, qd = result.table["way.q"], result.table["way.qd"]
    np.testing.assert_allclose(q[[0, 2, 4, 6, 8]], amplitude * np.array([1, 0, -1, 0, 1]), atol=1e-7)
    energy = mass * qd**2 / 2 + stiffness / softness**2 * q**4 / 4
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)


def test_a_drive_and_a_wrench_take_laws_of_the_table():
    law = {"law": "dying-swing", "amplitude": "2 cm", "period": 1, "decay": 1}
    drive = {"name": "push", "link": "link1", "at": [0.1, 0, 0], "along": [0, 1, 0], **law}
    fall = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.2}, "drives": [drive]}
    assert denoc.run(fall).table["push.force"].size
    drive["amplitude"] = "3 deg"
    with pytest.raises(InputError, match="amplitude"):
        denoc.run(fall)


@pytest.mark.parametrize(
    ("section", "law", "message", "allowed"),
    [
        ("motion", {**SWING, "law": "dyingswing"}, "unknown value", "hold, table, dying-swing, sine"),
        ("motion", {**SWING, "amplitude": "3 m"}, "", "an angle (rad, deg, turn)"),
        ("motion", {**SWING, "perod": 3}, "unknown key `perod`", "law, amplitude, period, decay"),
        (
            "motion",
            {"law": "dying-swing", "amplitude": 1, "period": 1},
            "`decay` is missing",
            "law, amplitude, period, decay",
        ),
        ("motion", {"amplitude": 1}, "`law` is missing", "table, dying-swing, sine"),
        ("forces", {"law": "cubic-spring", "stiffness": "3 N/m"}, "", "N m/rad)"),
        ("forces", {"law": "cubic"}, "unknown value", "state-feedback, cubic-spring"),
    ],
)
def test_mistakes_are_told_as_those_of_any_law(section, law, message, allowed):
    scenario = {**INVERSE, "task": "simulate", "motion": {}, section: {"joint2": law}}
    with pytest.raises(InputError) as told:
        denoc.run(scenario)
    assert message in told.value.message
    assert told.value.allowed.endswith(allowed)


def test_the_schema_and_the_reference_have_it_without_a_word_more(monkeypatch):
    schema = scenario_schema()
    assert schema["$defs"]["DyingSwing"]["examples"] == [{"law": "dying-swing", **DyingSwing.example}]
    drive = schema["$defs"]["DriveEntry"]["else"]["anyOf"]
    assert any("decay" in one["properties"] for one in drive)
    monkeypatch.syspath_prepend(TOOLS)
    page = next(
        text for path, text in runpy.run_path(str(TOOLS / "pages.py"))["pages"]().items() if path.suffix == ".md"
    )
    assert "[table](#scenario-table), [dying-swing](#scenario-dying-swing), [sine](#scenario-sine)." in page
    assert "[state-feedback](#scenario-state-feedback), [cubic-spring](#scenario-cubic-spring)." in page
    assert "Example: `{law: dying-swing, amplitude: 10 deg, period: 1 s, decay: 2 s}`" in page
    assert TypeAdapter(AnyForceLaw).validate_python({"law": "cubic-spring", "stiffness": 1}).softness == 1.0
