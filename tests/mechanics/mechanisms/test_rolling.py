"""What rolls and skates: closed forms, models in maximal coordinates, and what can't be served."""

import numpy as np
import pytest
import yaml
from scipy.integrate import solve_ivp, trapezoid

import denoc
from comparing import off
from denoc.errors import DenocError, InputError
from denoc.machine.backend import using_backend
from denoc.mechanics.assembly.search import closing_position_moved_along_speeds
from denoc.mechanics.mechanisms.freedoms import mobility
from denoc.study import generate_code
from denoc.text import library_folder
from planar_wheels import Vehicle
from random_mechanisms import RADIUS, mechanism

SLIP, ENERGY = 1e-12, 1e-9


def row_of(result, n):
    return {name: float(column[n]) for name, column in result.table.items()}


# ---- closed forms


@pytest.mark.smoke
@pytest.mark.parametrize("backend, end", [("plain", 1.0), ("compiled", 5.0)])
def test_chaplygins_sleigh_has_its_closed_form(backend, end):
    m, a, J = 2.0, 0.3, 0.15 + 2.0 * 0.3**2
    scenario = yaml.safe_load((library_folder("scenarios") / "chaplygin-sleigh-glide.yaml").read_text())
    with using_backend(backend):
        result = denoc.run(scenario | {"time": {"end": end, "step": 0.02}})
    assert result.ended == "done"
    assert result.audit["energy"] < ENERGY
    t, (x, y, q, vx, vy, w) = (
        result.t,
        (result.table[f"sleigh.{key}"] for key in ("q1", "q2", "q3", "qd1", "qd2", "qd3")),
    )
    u = vx * np.cos(q) + vy * np.sin(q)
    assert abs(vy * np.cos(q) - vx * np.sin(q)).max() < SLIP
    V, b = np.sqrt(1.0 + J * 4.0 / m), m * a / J  # the start: u = -1, w = 2
    s = np.arctanh(-1.0 / V) + b * V * t
    assert abs(u - V * np.tanh(s)).max() < 1e-9
    assert abs(w - V * np.sqrt(m / J) / np.cosh(s)).max() < 1e-9
    turn = np.sqrt(m / J) / b * 2 * (np.arctan(np.tanh(s / 2)) - np.arctan(np.tanh(s[0] / 2)))
    assert abs(q - turn).max() < 1e-9
    side = m * u * w * (1 - a * b)  # of the edge on the sleigh
    assert abs(result.table["edge.lambda.fx"] + side * np.sin(q)).max() < 1e-8
    assert abs(result.table["edge.lambda.fy"] - side * np.cos(q)).max() < 1e-8
    fine = np.linspace(0.0, end, 200001)
    s = np.arctanh(-1.0 / V) + b * V * fine
    way = np.sqrt(m / J) / b * 2 * (np.arctan(np.tanh(s / 2)) - np.arctan(np.tanh(s[0] / 2)))
    assert trapezoid(V * np.tanh(s) * np.cos(way), fine) == pytest.approx(x[-1], abs=1e-8)
    assert trapezoid(V * np.tanh(s) * np.sin(way), fine) == pytest.approx(y[-1], abs=1e-8)
    assert not result.audit["singular"]  # although it has turned through all directions


class Disc:
    """A rolling disc in axes that don't spin with it: e1 level in its plane, e2 up in its plane, e3 its axis."""

    m, R, g = 1.2, 0.3, 9.81
    A, C = m * R**2 / 4, m * R**2 / 2

    def rates(self, t, y):
        """The rates of th, psi, w1, w2, w3, from the laws of momentum about the centre; th is e3's angle to the vertical."""
        th, _, w1, w2, w3 = y
        s, c = np.sin(th), np.cos(th)
        turn = np.array([w1, w2, w2 * c / s])
        m, R, A, C, g = self.m, self.R, self.A, self.C, self.g

        def off(d):  # what is left of L' = r x F with F = m v' + m g k, r = -R e2
            v, L = R * np.array([-w3, 0.0, w1]), np.array([A * w1, A * w2, C * w3])
            F = m * (R * np.array([-d[2], 0.0, d[0]]) + np.cross(turn, v)) + m * g * np.array([0.0, s, c])
            return np.array([A * d[0], A * d[1], C * d[2]]) + np.cross(turn, L) - np.cross([0.0, -R, 0.0], F)

        start = off(np.zeros(3))
        d = np.linalg.solve(np.column_stack([off(e) - start for e in np.eye(3)]), -start)
        return [w1, w2 / s, *d]


def test_a_disc_rolls_round_steadily():
    result = denoc.run("rolling-disc-steady")
    assert result.ended == "done"
    assert result.audit["energy"] < ENERGY
    t = result.t
    th, p = np.radians(70), 2.0
    spin = (0.3 * p**2 * np.sin(th) * np.cos(th) / 4 - 9.81 * np.cos(th)) / (1.5 * 0.3 * np.sin(th) * p)
    assert abs(Disc().rates(0.0, [th, 0.0, 0.0, p * np.sin(th), spin])[2]) < 1e-12  # the formula is that of the laws
    r = 0.3 * abs(spin) / p
    assert abs(result.table["disc.x"] - r * np.sin(p * t)).max() < 1e-9
    assert abs(result.table["disc.y"] - r * (1 - np.cos(p * t))).max() < 1e-9
    assert abs(result.table["disc.z"] - 0.3 * np.sin(th)).max() < 1e-10
    assert abs(_slip_of_disc(result)).max() < SLIP


def test_a_disc_wobbles_as_the_laws_of_momentum_say():
    """Also through the height, the force of the floor, and both backends."""
    th, start = np.radians(70), [0.4, 1.2, -6.0]
    scenario = {
        "robot": "rolling-disc",
        "task": "simulate",
        "time": {"end": 0.25, "step": 0.025},
        "rates": {"disc": [1.8, 0, 0.3 * 0.4, *start]},
        "solver": {"rtol": 1e-11, "atol": 1e-13},
    }
    disc = Disc()
    right = solve_ivp(
        disc.rates, (0.0, 0.25), [th, 0.0, *start], method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True
    )
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            result = denoc.run(scenario)
        assert result.ended == "done"
        assert result.audit["energy"] < ENERGY
        y = right.sol(result.t)
        assert abs(result.table["disc.z"] - 0.3 * np.sin(y[0])).max() < 1e-9
        assert abs(result.table["disc.wz"] - y[4]).max() < 1e-8
        lift = [disc.rates(0.0, one)[2] for one in y.T]
        height = 0.3 * (np.cos(y[0]) * lift - np.sin(y[0]) * y[2] ** 2)
        assert abs(result.table["floor.lambda.fz"] - 1.2 * (9.81 + height)).max() < 1e-7
        assert abs(_slip_of_disc(result)).max() < SLIP
    assert np.ptp(y[0]) > 0.02


def _slip_of_disc(result):
    """The velocity of the disc's point that touches the floor."""
    e0, e1, e2, e3 = (result.table[f"disc.e{k}"] for k in range(4))
    R = np.array([
        [1 - 2 * (e2**2 + e3**2), 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
        [2 * (e1 * e2 + e0 * e3), 1 - 2 * (e1**2 + e3**2), 2 * (e2 * e3 - e0 * e1)],
        [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1**2 + e2**2)],
    ]).transpose(2, 0, 1)  # fmt: skip
    v, w = (np.column_stack([result.table[f"disc.{key}{axis}"] for axis in "xyz"]) for key in "vw")
    down = R[:, 2].copy()  # the vertical in the disc's axes
    down[:, 2] = 0.0
    reach = -0.3 * down / np.linalg.norm(down, axis=1)[:, None]
    return v + np.cross(w, reach)


BALL = """
name: ball
convention: frames
gravity: [2, 0, -9.81]
links:
  - name: table
    joint: {name: table, type: revolute, actuated: true}
    mass: 3
    com: [0, 0, 0]
    inertia: {xx: 1, yy: 1, zz: 1}
  - name: ball
    parent: base
    joint: {name: ball, type: free, initial: [0.5, 0, 0.2, 1, 0, 0, 0]}
    mass: 0.7
    com: [0, 0, 0]
    inertia: {xx: 0.4*0.7*0.2^2, yy: 0.4*0.7*0.2^2, zz: 0.4*0.7*0.2^2}
loops:
  - {name: rolls, joint: rolling, as: ball, radius: 0.2, between: [table, ball]}
"""


@pytest.mark.parametrize("speed", [0.0, 3.0])
def test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_rate(speed):
    """On a tilted one, the centre of its circle drifts; on a tilted table at rest it has 5/7 of the slope's pull."""
    robot = denoc.loads(BALL)
    scenario = {
        "robot": "ball",
        "task": "simulate",
        "time": {"end": 2.0, "step": 0.1},
        "motion": {"table": {"law": "rate", "rate": speed}},
        "rates": {"ball": [0, 0.3, 0, 0, 0, 0]},
        "solver": {"rtol": 1e-10},
    }
    result = denoc.run(scenario, robot=robot)
    assert result.ended == "done"
    assert result.audit["energy"] < 1e-8
    z, t, turn, pull = result.table["ball.x"] + 1j * result.table["ball.y"], result.t, 2 / 7 * speed, 5 / 7 * 2.0
    if not turn:
        right = 0.5 + pull * t**2 / 2 + 0.3j * t
    else:  # z'' = i turn z' + pull
        drift = 1j * pull / turn
        right = 0.5 + drift * t + (0.3j - drift) * (np.exp(1j * turn * t) - 1) / (1j * turn)
    assert abs(z - right).max() < 1e-8
    wx, wy = (result.table[f"ball.w{axis}"][0] for axis in "xy")  # the ball hasn't turned yet
    assert (wx, wy) == (pytest.approx((speed * 0.5 - 0.3) / 0.2), pytest.approx(0.0, abs=1e-12))


# ---- maximal coordinates


@pytest.mark.parametrize("scenario", ["diff-drive-turn", "diff-drive-idyn", "steered-car-turn", "two-carriers-carry"])
@pytest.mark.sampled(2)
def test_vehicles_move_as_in_maximal_coordinates(scenario):
    result = denoc.run(scenario)
    assert result.ended == "done"
    assert result.audit["energy"] < ENERGY * max(1.0, result.audit["exchanged"])
    robot = scenario.rsplit("-", 1)[0]
    for n in range(0, len(result.t), 3):
        assert Vehicle(robot, row_of(result, n)).slip() < SLIP
    for n in np.linspace(0, len(result.t) - 1, 6, dtype=int):
        right = Vehicle(robot, row_of(result, n)).accelerations()
        size = max(map(abs, right.values()))
        for name, x in right.items():
            assert result.table[name][n] == pytest.approx(x, abs=1e-9 * max(size, 1.0))


def test_where_all_speeds_are_prescribed_places_are_integrated():
    """Wheels that turn in proportion go round an arc: of 1 m in length and 1 rad, here."""
    result = denoc.run("diff-drive-idyn")
    x, y, angle = (result.table[f"body.q{k}"] for k in (1, 2, 3))
    assert angle[-1] == pytest.approx(1.0, abs=1e-12)
    assert abs(x - np.sin(angle)).max() < 1e-10
    assert abs(y - (1 - np.cos(angle))).max() < 1e-10


def test_wheels_push_as_their_torques_say():
    """Along its way, the floor's force on a wheel is (torque - I spin') / R; across, the axle's rows share."""
    result = denoc.run("diff-drive-turn")
    q = result.table["body.q3"]
    for wheel in ("left", "right"):
        along = sum(result.table[f"{wheel}-floor.lambda.{key}"] * f(q) for key, f in (("fx", np.cos), ("fy", np.sin)))
        torque = result.table[f"{wheel}.tau"] - 0.005 * result.table[f"{wheel}.qdd"]
        assert abs(along - torque / 0.1).max() < 1e-9
        f, n = (np.column_stack([result.table[f"{wheel}-floor.lambda.{k}{axis}"] for axis in "xyz"]) for k in "fn")
        assert abs(n - np.cross([0.0, 0.0, -0.1], f)).max() < 1e-9  # at the wheel's centre


# ---- what rows mean, on random mechanisms whose planes move, too


@pytest.mark.parametrize("cut", ["rolling", "skate"])
@pytest.mark.sampled(2)
def test_what_touches_the_plane_does_not_slide(cut):
    moving = 0
    for seed in range(6):
        case = mechanism(seed, cuts=(cut,), loops=(1, 1), links=(5, 8))
        first, second = _seen(case, case.q)
        seen = np.linalg.inv(first) @ second
        axis, edge, at = seen[:3, 2], seen[:3, 0], seen[:3, 3]
        reach = RADIUS * (axis[2] * axis - [0, 0, 1]) / np.hypot(*axis[:2]) if cut == "rolling" else np.zeros(3)
        assert abs(at + reach)[2] < 1e-12  # it touches
        here, centre = (_velocity(case, np.linalg.inv(second) @ first @ [*x, 1.0]) for x in (at + reach, at))
        size = max(1.0, abs(case.qd).max())
        if cut == "rolling":
            assert abs(here).max() < 1e-9 * size
        else:
            assert abs(here[[2]]).max() < 1e-9 * size
            assert abs(here @ [-edge[1], edge[0], 0.0]) < 1e-9 * size
        moving += abs(centre).max() > 1e-3
    assert moving >= 2


def _seen(case, q):
    """The two frames of a mechanism's only cut."""
    (loop,) = case.robot.loops
    placed = {"base": np.eye(4), **denoc.frames(case.robot, q)}
    return [placed[link] @ side.matrix() for link, side in zip(loop.between, (loop.first, loop.second))]


def _velocity(case, point, h=1e-4):
    """The velocity of a point of the cut's second frame in its first."""

    def place(step):
        one, two = _seen(case, closing_position_moved_along_speeds(case.robot, case.q, step * case.qd))
        return (np.linalg.inv(one) @ two @ point)[:3]

    return (8 * (place(h) - place(-h)) - (place(2 * h) - place(-2 * h))) / (12 * h)


# ---- everything else takes them, or says why not


def test_freedoms_counts_and_code():
    robot = denoc.load("diff-drive")
    standing = mobility(robot).standing
    assert (standing.freedoms, standing.surplus, standing.unmoved) == (2, 0, 0)
    said = {one.loop: str(one) for one in standing.undetermined}
    assert said == dict.fromkeys(["left-floor", "right-floor"], "the force along z and the force across its way")
    result = denoc.run("diff-drive-turn")
    n, names = len(result.t) // 2, ("body.q{}1", "body.q{}2", "body.q{}3", "left.q{}", "right.q{}")
    q, qd, qdd = ([result.table[_column(name, d)][n] for name in names] for d in ("", "d", "dd"))
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            tau = denoc.inverse(robot, q, qd, qdd)
            assert off(tau, [0.3, 0.5]) < 1e-11
            assert off(denoc.forward(robot, q, qd, [0, 0, 0, *tau]), qdd) < 1e-10
    file, text = generate_code(robot, "fdyn", "python")
    space = {}
    exec(text, space)
    assert off(space[file.removesuffix(".py")](q, qd, [0, 0, 0, *tau]), qdd) < 1e-10
    I, h = denoc.reduced(robot, q, qd)
    assert off(I @ qdd[3:] + h, tau) < 1e-10


def _column(name, d):
    return name.format(d)


def test_a_singular_position_of_loops_is_one_beside_what_rolls_too():
    """The sleigh takes other coordinates as it turns; the five-bar beside it stops where it stops without it."""
    file = yaml.safe_load((library_folder("robots") / "five-bar.yaml").read_text())
    sleigh = yaml.safe_load((library_folder("robots") / "chaplygin-sleigh.yaml").read_text())
    file["links"].append(sleigh["links"][0] | {"parent": "base"})
    file["loops"] += sleigh["loops"]
    scenario = yaml.safe_load((library_folder("scenarios") / "five-bar-fall.yaml").read_text())
    scenario |= {"rates": {"sleigh": [-1, 0, 4]}, "robot": "both", "solver": {"rtol": 1e-8}}
    result = denoc.run(scenario, robot=denoc.loads(yaml.safe_dump(file)))
    assert result.ended == "singularity"
    assert result.audit["singular"]["loop"] == "P"
    assert result.t[-1] == pytest.approx(1.3667, abs=2e-3)
    assert any(event["event"] == "takes other coordinates" for event in result.record["events"])


@pytest.mark.parametrize(
    ("method", "then"),
    [("projection-qr", "3 combinations of all joints' speeds"), ("projection-gauss", "J1, J6, B1")],
)
def test_what_a_projection_goes_on_with_has_words(method, then):
    given = {"robot": "three-rrr", "task": "simulate", "time": {"end": 0.6, "step": 0.005}, "name": "fall"}
    result = denoc.run({**given, "closure": {"method": method}})
    told = [event["then"] for event in result.record["events"] if event["event"] == "takes other coordinates"]
    assert told
    assert told[0] == then


@pytest.mark.parametrize(
    ("robot", "positions", "speeds"),
    [("rolling-disc", 5, 3), ("chaplygin-sleigh", 3, 2), ("diff-drive", 5, 2), ("four-bar", 1, 1)],
)
def test_freedoms_of_positions_and_of_speeds(robot, positions, speeds):
    """A disc on a plane has five coordinates and rolls by three speeds (Neimark and Fufaev), a sleigh three and two."""
    found = mobility(denoc.load(robot)).standing
    assert (found.position_freedoms, found.freedoms) == (positions, speeds)


def test_a_disc_that_has_fallen_flat_has_lost_its_rows():
    scenario = {"robot": "rolling-disc", "task": "simulate", "time": {"end": 1.0}}
    result = denoc.run(scenario)
    assert result.ended == "singularity"
    assert result.table["disc.z"][-1] < 0.05


@pytest.mark.parametrize(
    "change, words",
    [
        (", radius: 0.3", "`radius` is missing"),
        (("joint: rolling", "joint: revolute"), "a revolute cut has no radius"),
        (("joint: rolling", "joint: skate, as: ball"), "only a rolling cut has this form"),
        (("radius: 0.3", "radius: 0"), "more than 0"),
    ],
)
def test_files_are_checked(change, words):
    old, new = (change, "") if isinstance(change, str) else change
    text = (library_folder("robots") / "rolling-disc.yaml").read_text()
    assert old in text
    with pytest.raises(InputError) as caught:
        denoc.loads(text.replace(old, new))
    assert words in str(caught.value)


def test_what_needs_positions_at_an_instant_is_refused():
    robot = denoc.load("diff-drive")
    with pytest.raises(InputError, match="at rest only"):
        denoc.linearize(robot, [0.0] * 5, [0.1, 0, 0, 1, 1])
    assert denoc.linearize(robot, [0.0] * 5)["A"].shape == (4, 4)
    with pytest.raises(DenocError, match="a parallel robot's legs"):
        denoc.legs(robot)
    scenario = {
        "robot": "diff-drive",
        "task": "simulate",
        "time": {"end": 1.0},
        "motion": {"left": {"law": "cycloid", "to": "2 rad"}, "right": {"law": "cycloid", "to": "3 rad"}},
        "forces": {"left": {"law": "feedforward"}, "right": {"law": "feedforward"}},
    }
    with pytest.raises(InputError, match="don't follow from a planned motion"):
        denoc.run(scenario)
