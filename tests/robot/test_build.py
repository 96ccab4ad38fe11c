"""Small robots whose motion is known by hand: what each key of a robot file means."""

import math

import numpy as np
import pytest

import denoc
import series
from denoc.errors import InputError

pytestmark = pytest.mark.smoke

G = 9.81
HALF = math.sqrt(0.5)


def robot(text):
    return denoc.loads(text)


def close(found, right):
    assert np.shape(found) == np.shape(right)
    assert np.asarray(found, dtype=float) == pytest.approx(np.asarray(right, dtype=float), rel=1e-13, abs=1e-13)


def torque(robot, q, qd=None, qdd=None, **more):
    zero = np.zeros(robot.nv)
    return denoc.inverse(robot, q, zero if qd is None else qd, zero if qdd is None else qdd, **more)


# ---- one pendulum, told in every way: 2 kg, mass centre 0.5 m from the axis, 0.03 kg m² about it
# (0.03 + 2 · 0.5²) q̈ + 2 · 9.81 · 0.5 · cos q, with q from the horizontal

PENDULUMS = {
    "frames": """
convention: frames
links:
  - {name: rod, joint: {type: revolute}, mass: 2, com: [0.5, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
""",
    "frames, first moments": """
convention: frames
links:
  - {name: rod, joint: {type: revolute}, mass: 2, first_moments: [1, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
""",
    "frames, inertia about the origin": """
convention: frames
links:
  - name: rod
    joint: {type: revolute}
    mass: 2
    com: [0.5, 0, 0]
    about: origin
    inertia: {xx: 0.01, yy: 0.52, zz: 0.53}
""",
    "frames, about its own x": """
convention: frames
links:
  - name: rod
    joint: {type: revolute, axis: [2, 0, 0], rpy: [0, -90 deg, 0]}  # its x along the base's z, its z along -x
    mass: 2
    com: [0, 0, -0.5]
    inertia: {xx: 0.03, yy: 0.02, zz: 0.01}
""",
    "khalil": """
convention: khalil
links:
  - {name: rod, joint: {type: revolute, r: 0.7}, mass: 2, com: [0.5, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
""",
    "dh, mass centre before the end": """
convention: dh
links:
  - {name: rod, joint: {type: revolute, a: 0.8, b: 0.1, alpha: 0}, mass: 2, r: [0.3, 0, 0.1], inertia: {xx: 1, yy: 1, zz: 0.03}}
""",
    "dh, end frame turned": """
convention: dh
links:  # y of the end frame along z of the link
  - {name: rod, joint: {type: revolute, a: 0.8, alpha: 90 deg}, mass: 2, r: [0.3, 0, 0], inertia: {xx: 1, yy: 0.03, zz: 1}}
""",
    "dh, end frame turned, inertia in link axes": """
convention: dh
links:
  - name: rod
    joint: {type: revolute, a: 0.8, alpha: 90 deg}
    mass: 2
    r: [0.3, 0, 0]
    inertia: {xx: 1, yy: 1, zz: 0.03}
    frame: link
""",
    "dh, link axes": """
convention: dh
links:
  - {name: rod, joint: {type: revolute, a: 0.8, alpha: 90 deg}, mass: 2, com: [0.5, 0, 0], inertia: {xx: 1, yy: 1, zz: 0.03}}
""",
    "dh, mass centre in link axes, inertia in the end frame's": """
convention: dh
links:
  - name: rod
    joint: {type: revolute, a: 0.8, alpha: 90 deg}
    mass: 2
    com: [0.5, 0, 0]
    inertia: {xx: 1, yy: 0.03, zz: 1}
    frame: end
""",
    "dh, inertia about the origin in the end frame's axes": """
convention: dh
links:
  - name: rod
    joint: {type: revolute, a: 0.8, alpha: 90 deg}
    mass: 2
    r: [0.3, 0, 0]
    about: origin
    inertia: {xx: 1, yy: 0.53, zz: 1}
""",
    "units": """
convention: frames
gravity: [0, -9.81 m/s^2, 0]
links:
  - {name: rod, joint: {type: revolute}, mass: 2000 g, com: [500 mm, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}
""",
}


@pytest.mark.parametrize("text", PENDULUMS.values(), ids=PENDULUMS)
def test_a_pendulum_is_the_same_however_it_is_told(text):
    gravity = "" if "gravity" in text else "gravity: [0, -9.81, 0]\n"
    pendulum = robot("name: pendulum\n" + gravity + text)
    for q, qd, qdd in ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.2, 3.0, -2.0), (-2.5, 1.0, 0.5)):
        close(torque(pendulum, [q], [qd], [qdd]), [0.53 * qdd + G * math.cos(q)])
        close(denoc.forward(pendulum, [q], [qd], [4.0]), [(4.0 - G * math.cos(q)) / 0.53])
        energy = denoc.energy(pendulum, [q], [qd])
        close(energy["kinetic"], 0.53 * qd**2 / 2)
        close(energy["potential"], G * math.sin(q))
        # the axis carries the weight and pulls 2 · 0.5 · q̇² inwards
        wrench = denoc.reactions(pendulum, [q], [qd], [0.0])["joint1"]
        close(wrench, [0, 0, G * math.cos(q), -(qd**2) * math.cos(q), 2 * G - qd**2 * math.sin(q), 0])


def test_an_axis_backwards_turns_backwards():
    """At q the rod is at the angle -q."""
    text = "name: p\nconvention: frames\ngravity: [0, -9.81, 0]\nlinks:\n  - {name: rod, joint: {type: revolute, axis: [0, 0, -3]}, mass: 2, com: [0.5, 0, 0], inertia: {xx: 0, yy: 0.03, zz: 0.03}}"
    pendulum = robot(text)
    close(torque(pendulum, [0.4], [0.0], [1.0]), [0.53 - G * math.cos(0.4)])
    close(denoc.frames(pendulum, [0.4])["rod"][:3, 0], [math.cos(0.4), -math.sin(0.4), 0])


# ---- where frames are


def chain(convention, *joints, extra=""):
    """A robot of massive links 1, 2, … on each other."""
    links = "\n".join(
        f"  - {{name: link{k}, joint: {joint}, mass: 1, com: [0, 0, 0], inertia: {{xx: 1, yy: 1, zz: 1}}}}"
        for k, joint in enumerate(joints, 1)
    )
    return robot(f"name: chain\nconvention: {convention}\nlinks:\n{links}\n{extra}")


def frame(x, y, z, origin):
    """4 × 4 with these axes."""
    T = np.eye(4)
    T[:3, 0], T[:3, 1], T[:3, 2], T[:3, 3] = x, y, z, origin
    return T


TURNED = ([0, 1, 0], [-1, 0, 0], [0, 0, 1])  # by 90 deg about z


def test_dh_is_theta_b_a_alpha():
    """Rz(θ) Tz(b) Tx(a) Rx(α): the link frame after the motion, the end frame after the rest."""
    arm = chain("dh", "{type: revolute, a: 0.3, b: 0.2, alpha: 90 deg, theta: 1}")
    close(arm.q0, [1.0])
    close(denoc.frames(arm, [math.pi / 2])["link1"], frame(*TURNED, [0, 0, 0]))
    end = frame([0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0.3, 0.2])
    close(denoc.frames(arm, [math.pi / 2], at="end")["link1"], end)


def test_dh_slides_along_b():
    arm = chain("dh", "{type: prismatic, a: 0.3, b: 0.2, alpha: 90 deg, theta: 90 deg}")
    close(arm.q0, [0.2])
    close(denoc.frames(arm, [0.5])["link1"], frame(*TURNED, [0, 0, 0.5]))
    end = frame([0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0.3, 0.5])
    close(denoc.frames(arm, [0.5], at="end")["link1"], end)


def test_dh_links_hang_on_end_frames():
    arm = chain("dh", "{type: revolute, a: 0.3, b: 0.2, alpha: 90 deg}", "{type: prismatic, a: 0.1}")
    placed = denoc.frames(arm, [math.pi / 2, 0.5])
    close(placed["link2"], frame([0, 1, 0], [0, 0, 1], [1, 0, 0], [0.5, 0.3, 0.2]))


def test_khalil_is_gamma_b_alpha_d_theta_r():
    """Rz(γ) Tz(b) Rx(α) Tx(d) Rz(θ) Tz(r): with γ = α = 90 deg the joint's z is along x."""
    arm = chain("khalil", "{type: revolute, gamma: 90 deg, b: 0.1, alpha: 90 deg, d: 0.2, theta: 1, r: 0.3}")
    close(arm.q0, [1.0])
    close(denoc.frames(arm, [0.0])["link1"], frame([0, 1, 0], [0, 0, 1], [1, 0, 0], [0.3, 0.2, 0.1]))
    close(denoc.frames(arm, [math.pi / 2])["link1"], frame([0, 0, 1], [0, -1, 0], [1, 0, 0], [0.3, 0.2, 0.1]))
    sliding = chain("khalil", "{type: prismatic, gamma: 90 deg, b: 0.1, alpha: 90 deg, d: 0.2, theta: 90 deg, r: 1}")
    close(sliding.q0, [1.0])
    close(denoc.frames(sliding, [0.5])["link1"], frame([0, 0, 1], [0, -1, 0], [1, 0, 0], [0.5, 0.2, 0.1]))


def test_rpy_turns_about_x_then_y_then_z_of_the_parent():
    arm = chain("frames", "{type: revolute, xyz: [1, 2, 3], rpy: [90 deg, 0, 90 deg], initial: 1}")
    close(arm.q0, [1.0])
    close(denoc.frames(arm, [0.0])["link1"], frame([0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 2, 3]))


def test_an_axis_leaves_the_link_frame_where_it_is():
    arm = chain("frames", "{type: revolute, xyz: [1, 0, 0], axis: [0, 1, 0]}")
    close(denoc.frames(arm, [0.0])["link1"], frame([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]))
    close(denoc.frames(arm, [math.pi / 2])["link1"], frame([0, 0, -1], [0, 1, 0], [1, 0, 0], [1, 0, 0]))


def test_a_fixed_joint_stands_where_its_parameters_say():
    dh = chain("dh", "{type: fixed, theta: 90 deg, b: 0.2, a: 0.3}", "{type: revolute}")
    close(denoc.frames(dh, [0.0])["link1"], frame(*TURNED, [0, 0, 0]))
    close(denoc.frames(dh, [0.0])["link2"], frame(*TURNED, [0, 0.3, 0.2]))
    khalil = chain("khalil", "{type: fixed, d: 0.3, theta: 90 deg, r: 0.2}", "{type: revolute}")
    close(denoc.frames(khalil, [0.0])["link1"], frame(*TURNED, [0.3, 0, 0.2]))


def test_offset_comes_before_the_joint():
    """After the parent's end frame and before the convention's own placement."""
    text = """
name: arm
convention: dh
links:
  - name: one
    offset: {xyz: [1, 0, 0], rpy: [0, 0, 90 deg]}
    joint: {type: revolute, a: 0.3}
    mass: 1
    com: [0, 0, 0]
  - {name: two, offset: {xyz: [0, 0, 2]}, joint: {type: prismatic, theta: 90 deg}, mass: 1, com: [0, 0, 0]}
"""
    placed = denoc.frames(robot(text), [0.0, 0.5])
    close(placed["one"], frame(*TURNED, [1, 0, 0]))
    close(placed["two"], frame([-1, 0, 0], [0, -1, 0], [0, 0, 1], [1, 0.3, 2.5]))


def test_only_dh_on_dh_starts_at_the_end_frame():
    text = """
name: arm
convention: dh
links:
  - {name: one, joint: {type: revolute, a: 0.3, b: 0.2}, mass: 1, com: [0, 0, 0]}
  - {name: dh, parent: one, joint: {type: revolute}, mass: 1, com: [0, 0, 0]}
  - {name: khalil, parent: one, convention: khalil, joint: {type: revolute, d: 1}, mass: 1, com: [0, 0, 0]}
  - {name: frames, parent: one, convention: frames, joint: {type: revolute, xyz: [0, 1, 0]}, mass: 1, com: [0, 0, 0]}
  - {name: on khalil, parent: khalil, joint: {type: prismatic}, mass: 1, com: [0, 0, 0]}
""".replace("on khalil", "on-khalil")
    placed = denoc.frames(robot(text), [0.0, 0.0, 0.0, 0.0, 5.0])
    found = {name: T[:3, 3].tolist() for name, T in placed.items()}
    assert found == {
        "one": [0, 0, 0],
        "dh": [0.3, 0, 0.2],
        "khalil": [1, 0, 0],
        "frames": [0, 1, 0],
        "on-khalil": [1, 0, 5],
    }


# ---- joint types: a body of 2 kg, inertia 3, 4, 5 about its mass centre at the origin, gravity along -z


def body(joint, *, convention="frames", gravity=(0, 0, -G)):
    return robot(f"""
name: body
convention: {convention}
gravity: {list(gravity)}
links:
  - {{name: body, joint: {joint}, mass: 2, com: [0, 0, 0], inertia: {{xx: 3, yy: 4, zz: 5}}}}
""")


@pytest.mark.parametrize("pitch", [0.1, -0.1])
@pytest.mark.parametrize(
    "convention, joint",
    [
        ("frames", "xyz: [0, 0, 0.7]"),
        ("khalil", "r: 0.7"),
        ("dh", "b: 0.7"),
        ("frames", "xyz: [0, 0, 0.7], axis: [0, 0, 4]"),
    ],
)
def test_a_screw_climbs_its_pitch_every_radian(convention, joint, pitch):
    """Right-handed where the pitch is positive: (I + m p²) q̈ + m g p."""
    screw = body(f"{{type: helical, pitch: {pitch}, {joint}}}", convention=convention)
    height = denoc.frames(screw, [2.0])["body"][2, 3]
    close(height, 2.0 * pitch + (0.0 if convention == "dh" else 0.7))  # dh: b comes after the link frame
    close(denoc.frames(screw, [2.0], at="end")["body"][2, 3], 2.0 * pitch + 0.7)
    close(denoc.frames(screw, [2.0])["body"][:2, 0], [math.cos(2.0), math.sin(2.0)])
    close(torque(screw, [2.0], [3.0], [1.0]), [5 + 2 * pitch**2 + 2 * G * pitch])
    close(denoc.energy(screw, [2.0], [3.0])["kinetic"], (5 + 2 * pitch**2) * 9 / 2)


def test_a_screw_about_x_moves_along_x():
    screw = body("{type: helical, pitch: 0.1, axis: [1, 0, 0]}", gravity=(-G, 0, 0))
    close(denoc.frames(screw, [2.0])["body"][:3, 3], [0.2, 0, 0])
    close(torque(screw, [2.0], [0.0], [1.0]), [3 + 2 * 0.01 + 2 * G * 0.1])


def test_a_cylindrical_joint_turns_then_slides():
    joint = body("{type: cylindrical, initial: [0.5, 0.25]}")
    assert joint.q0 == (0.5, 0.25)
    close(denoc.frames(joint, [math.pi / 2, 0.3])["body"], frame(*TURNED, [0, 0, 0.3]))
    close(torque(joint, [0.7, 0.3], [1.0, 2.0], [10.0, 100.0]), [5 * 10.0, 2 * (100.0 + G)])


def test_a_universal_joint_turns_about_x_then_about_its_own_y():
    joint = body("{type: universal}")
    a, b = 0.4, 1.1
    z = [math.sin(b), -math.sin(a) * math.cos(b), math.cos(a) * math.cos(b)]
    close(denoc.frames(joint, [a, b])["body"][:3, 2], z)
    # first turn alone: the body turns about x, which is b off its own x: I_xx cos² b + I_zz sin² b
    close(torque(joint, [a, b], None, [1.0, 0.0]), [3 * math.cos(b) ** 2 + 5 * math.sin(b) ** 2, 0.0])
    close(torque(joint, [a, b], None, [0.0, 1.0]), [0.0, 4.0])


def test_a_planar_joint_slides_along_x_and_y_then_turns():
    joint = body("{type: planar, rpy: [90 deg, 0, 0]}")  # its y along the base's z
    T = denoc.frames(joint, [0.3, 0.2, math.pi / 2])["body"]
    close(T, frame([0, 0, 1], [-1, 0, 0], [0, -1, 0], [0.3, 0, 0.2]))
    close(torque(joint, [0.3, 0.2, 0.9], [1.0, 1.0, 1.0], [10.0, 20.0, 30.0]), [20.0, 2 * (20 + G), 150.0])


def test_a_spherical_joint_takes_link_axes_to_the_frame_before_it():
    """Euler parameters of 90 deg about z: the link's x is the base's y; forces are moments in link axes."""
    text = """
name: ball
convention: frames
links:
  - {name: rod, joint: {type: spherical}, mass: 2, com: [0.5, 0, 0], inertia: {xx: 3, yy: 4, zz: 5}}
"""
    ball = robot(text)
    assert ball.q0 == (1, 0, 0, 0)
    assert (ball.nq, ball.nv) == (4, 3)
    q = [HALF, 0, 0, HALF]
    close(denoc.frames(ball, q)["rod"], frame(*TURNED, [0, 0, 0]))
    close(torque(ball, q), [0, -G, 0])  # (0, 0.5, 0) × (0, 0, 2 g) is along the base's x, which is the link's -y
    close(torque(ball, q, None, [1.0, 0.0, 0.0]), [3, -G, 0])
    # Euler's equations about the pivot, with I_y = 4.5 and I_z = 5.5
    close(torque(ball, q, [1.0, 2.0, 3.0]), [(5.5 - 4.5) * 2 * 3, (3 - 5.5) * 3 * 1 - G, (4.5 - 3) * 1 * 2])


def test_three_revolutes_turn_about_z_y_x():
    ball = body("{type: spherical, as: three-revolutes, initial: [0.1, 0.2, 0.3]}")
    assert ball.q0 == (0.1, 0.2, 0.3)
    a, b, c = 0.3, 0.5, 0.7
    R = denoc.frames(ball, [a, b, c])["body"][:3, :3]
    close(R[:, 0], [math.cos(a) * math.cos(b), math.sin(a) * math.cos(b), -math.sin(b)])
    close(R[2, 1:], [math.cos(b) * math.sin(c), math.cos(b) * math.cos(c)])
    close(torque(ball, [a, b, c], None, [0.0, 0.0, 1.0]), [-3 * math.sin(b), 0.0, 3.0])


def test_a_free_joint_has_its_position_first_and_its_speeds_in_link_axes():
    """At 90 deg about z gravity along -y is along the link's -x; v̇ = g − ω × v."""
    free = body("{type: free}", gravity=(0, -G, 0))
    assert free.q0 == (0, 0, 0, 1, 0, 0, 0)
    assert (free.nq, free.nv) == (7, 6)
    q = [1, 2, 3, HALF, 0, 0, HALF]
    close(denoc.frames(free, q)["body"], frame(*TURNED, [1, 2, 3]))
    close(torque(free, q), [2 * G, 0, 0, 0, 0, 0])
    qdd = denoc.forward(free, q, [1.0, 0.0, 0.0, 0.0, 0.0, 4.0], np.zeros(6))
    close(qdd, [-G, -4.0, 0, 0, 0, 0])
    close(denoc.energy(free, q, [1.0, 2.0, 0, 0, 3.0, 0])["kinetic"], (2 * 5 + 4 * 9) / 2)
    close(denoc.energy(free, q, np.zeros(6))["potential"], 2 * G * 2)


@pytest.mark.parametrize("type_", ["spherical", "universal", "cylindrical", "planar", "free"])
@pytest.mark.parametrize("convention", ["dh", "khalil"])
def test_the_motion_of_a_larger_joint_stands_where_rz_theta_stands(convention, type_):
    keys = {"dh": "a: 0.3, b: 0.2, alpha: 90 deg", "khalil": "gamma: 90 deg, b: 0.1, alpha: 90 deg, d: 0.2"}[convention]
    joint = body(f"{{type: {type_}, {keys}}}", convention=convention)
    before = np.eye(4) if convention == "dh" else frame([0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0.2, 0.1])
    close(denoc.frames(joint, joint.q0)["body"], before)
    after = frame([1, 0, 0], [0, 0, 1], [0, -1, 0], [0.3, 0, 0.2]) if convention == "dh" else before
    close(denoc.frames(joint, joint.q0, at="end")["body"], after)


# ---- what acts along a joint


def test_rotor_friction_and_spring_add_to_the_force_of_a_joint():
    joint = body("""{type: revolute, rotor_inertia: 0.5, friction: {coulomb: 2, viscous: 3},
             spring: {stiffness: 10, rest: 0.1, damping: 4}}""")
    close(torque(joint, [0.3], [0.0], [2.0]), [(5 + 0.5) * 2 + 10 * 0.2])
    close(torque(joint, [0.1], [2.0]), [2 + (3 + 4) * 2])
    close(torque(joint, [0.1], [-2.0]), [-2 - (3 + 4) * 2])
    close(denoc.inertia(joint, [0.0]), [[5.5]])
    energy = denoc.energy(joint, [0.3], [2.0])
    close([energy["kinetic"], energy["elastic"]], [5.5 * 4 / 2, 10 * 0.04 / 2])
    close(denoc.matrices(joint, [0.0])["D"], [5.5])


def test_drives_act_along_each_speed_of_a_joint():
    joint = body("{type: cylindrical, rotor_inertia: 0.5, friction: {viscous: 3}, spring: {stiffness: 10, rest: 0.1}}")
    tau = torque(joint, [0.3, 0.4], [1.0, 2.0], [1.0, 1.0])
    close(tau, [5.5 + 3 + 10 * 0.2, 2.5 + 2 * G + 6 + 10 * 0.3])


def test_an_actuator_is_on_simple_joints_without_a_spring():
    arm = chain(
        "frames",
        "{type: revolute}",
        "{type: prismatic, spring: {stiffness: 1}}",
        "{type: prismatic, spring: {stiffness: 1}, actuated: true}",
        "{type: spherical}",
        "{type: cylindrical, actuated: true}",
        "{type: revolute, actuated: false}",
    )
    assert [joint.actuated for joint in arm.moving] == [True, False, True, False, True, False]
    assert [joint.elastic for joint in arm.moving] == [False, True, False, False, False, False]


PUSHED = """
wrenches:
  - {link: link1, force: [0, 3, 0], at: [2, 0, 0], axes: AXES}
  - {link: link1, moment: [0, 0, 7], axes: AXES}
"""


def test_wrenches_in_link_axes_turn_with_the_link():
    """A force of 3 N across the link 2 m from the axis, and 7 N m, hold off 13 N m wherever it is."""
    arm = chain("frames", "{type: revolute}", extra=PUSHED.replace("AXES", "link"))
    for q in (0.0, 1.0):
        close(torque(arm, [q]), [-13.0])


def test_wrenches_in_base_axes_keep_their_direction():
    arm = chain("frames", "{type: revolute}", extra=PUSHED.replace("AXES", "base"))
    for q in (0.0, 1.0):
        close(torque(arm, [q]), [-6 * math.cos(q) - 7])


def test_wrenches_of_a_call_come_on_top_at_the_links_origin():
    arm = chain("frames", "{type: revolute}", extra=PUSHED.replace("AXES", "link"))
    close(torque(arm, [1.0], wrenches={"link1": [0, 0, 2, 100, 100, 100]}), [-15.0])


def test_a_wrench_on_the_ground_does_nothing_but_load_the_ground():
    arm = chain("frames", "{type: fixed}", "{type: revolute}", extra="wrenches: [{link: link1, force: [0, 0, 5]}]")
    close(torque(arm, [1.0]), [0.0])
    close(denoc.reactions(arm, [1.0], [0.0], [0.0])["joint1"], [0, 0, 0, 0, 0, 2 * G - 5])


# ---- fixed joints


def test_a_fixed_link_is_a_part_of_its_parent():
    """Two masses on one rod: 1 · g · 1 + 3 · g · (1 + 0.5)."""
    text = """
name: rod
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: rod, joint: {type: revolute}, mass: 1, com: [1, 0, 0]}
  - {name: tip, joint: {type: fixed, xyz: [1, 0, 0]}, mass: 3, com: [0.5, 0, 0]}
"""
    rod = robot(text)
    close(torque(rod, [0.0]), [G + 3 * G * 1.5])
    close(torque(rod, [0.0], None, [1.0]), [G + 3 * G * 1.5 + 1 + 3 * 1.5**2])
    wrenches = denoc.reactions(rod, [0.0], [0.0], [0.0])
    close(wrenches["joint2"], [0, 0, 3 * G * 0.5, 0, 3 * G, 0])
    close(wrenches["joint1"], [0, 0, 5.5 * G, 0, 4 * G, 0])
    close(denoc.frames(rod, [math.pi / 2])["tip"], frame(*TURNED, [0, 1, 0]))


def test_mass_fixed_to_the_ground_weighs_on_the_ground_only():
    text = """
name: crane
convention: frames
links:
  - {name: column, joint: {type: fixed, xyz: [0, 0, 2]}, mass: 50, com: [0, 0, -1]}
  - {name: hook, joint: {type: prismatic, xyz: [3, 0, 0]}, mass: 4, com: [0, 0, 0]}
"""
    crane = robot(text)
    assert crane.joints == ("joint2",)
    assert (crane.nq, crane.nv) == (1, 1)
    close(torque(crane, [0.5], [1.0], [2.0]), [4 * (2 + G)])
    close(denoc.frames(crane, [0.5])["hook"][:3, 3], [3, 0, 2.5])
    close(denoc.energy(crane, [0.5], [1.0])["kinetic"], 2.0)
    close(denoc.energy(crane, [0.5], [1.0])["potential"], 50 * G * 1 + 4 * G * 2.5)
    wrenches = denoc.reactions(crane, [0.5], [0.0], [0.0])
    close(wrenches["joint1"], [0, -3 * 4 * G, 0, 0, 0, 54 * G])
    close(wrenches["joint2"], [0, 0, 0, 0, 0, 4 * G])


def test_a_robot_all_fixed_has_no_coordinates():
    table = chain("frames", "{type: fixed, xyz: [0, 0, 1]}")
    assert (table.nq, table.nv, table.joints) == (0, 0, ())
    assert torque(table, []).shape == (0,)
    close(denoc.reactions(table, [], [], [])["joint1"], [0, 0, 0, 0, 0, G])


# ---- names, parents, repetition


def test_joints_without_a_name_are_numbered_with_the_fixed_ones():
    arm = chain("frames", "{type: revolute}", "{type: fixed}", "{type: revolute, name: elbow}", "{type: prismatic}")
    assert arm.joints == ("joint1", "elbow", "joint4")
    assert [link.joint.name for link in arm.links] == ["joint1", "joint2", "elbow", "joint4"]


def test_a_link_hangs_on_the_one_before_and_the_first_on_the_base():
    text = """
name: tree
convention: frames
links:
  - {name: a, joint: {type: prismatic}, mass: 1, com: [0, 0, 0]}
  - {name: b, joint: {type: prismatic}, mass: 1, com: [0, 0, 0]}
  - {name: c, parent: a, joint: {type: prismatic}, mass: 1, com: [0, 0, 0]}
  - {name: d, parent: base, joint: {type: prismatic}, mass: 1, com: [0, 0, 0]}
"""
    tree = robot(text)
    assert [link.parent for link in tree.links] == ["base", "a", "a", "base"]
    heights = {name: T[2, 3] for name, T in denoc.frames(tree, [1.0, 10.0, 100.0, 1000.0]).items()}
    assert heights == {"a": 1, "b": 11, "c": 101, "d": 1000}
    close(torque(tree, [0.0] * 4), [3 * G, G, G, G])


def test_parents_may_come_after_their_children():
    """Coordinates stay in the file's order."""
    text = """
name: upside-down
convention: dh
links:
  - {name: hand, parent: arm, joint: {type: prismatic, b: 3}, mass: 1, com: [0, 0, 0]}
  - {name: arm, parent: foot, joint: {type: prismatic, b: 2}, mass: 10, com: [0, 0, 0]}
  - {name: foot, parent: base, joint: {type: prismatic, b: 1}, mass: 100, com: [0, 0, 0]}
"""
    tower = robot(text)
    assert tower.joints == ("joint1", "joint2", "joint3")
    assert tower.q0 == (3, 2, 1)
    assert {name: T[2, 3] for name, T in denoc.frames(tower, tower.q0).items()} == {"hand": 6, "arm": 3, "foot": 1}
    close(torque(tower, tower.q0), [G, 11 * G, 111 * G])
    close(torque(tower, tower.q0, None, [1.0, 0.0, 0.0]), [G + 1, 11 * G + 1, 111 * G + 1])
    assert denoc.matrices(tower, tower.q0)["order"] == ("foot", "arm", "hand")


def test_what_is_repeated_is_counted():
    """{k} counts the copies from 1; what is told once is in every copy."""
    text = """
name: ladder
convention: frames
links:
  - {name: rung0, joint: {type: prismatic}, mass: 1, com: [0, 0, 0]}
  - repeat: 3
    links:
      - {name: "rung{k}", parent: "rung{k-1}", joint: {type: prismatic, xyz: [0, 0, 1]}, mass: 1, com: [0, 0, 0]}
      - {name: "side{k}", parent: "rung{k}", joint: {type: fixed, xyz: [1, 0, 0]}, mass: 2, com: [0, 0, 0]}
"""
    ladder = robot(text)
    assert [link.name for link in ladder.links] == ["rung0", "rung1", "side1", "rung2", "side2", "rung3", "side3"]
    assert ladder.joints == ("joint1", "joint2", "joint4", "joint6")
    placed = denoc.frames(ladder, np.zeros(4))
    close(placed["side3"][:3, 3], [1, 0, 3])
    close(torque(ladder, np.zeros(4)), [10 * G, 9 * G, 6 * G, 3 * G])


def test_loops_are_repeated_with_their_links():
    """A machine of many loops that is written once is the same, number by number, as one that is written out."""
    once, out = robot(series.in_series(3)), robot(series.written_out((0, 1, 2)))
    assert once.joints == out.joints == tuple(f"{name}{k}" for k in (1, 2, 3) for name in "ACB")
    assert once.loops == out.loops
    assert [loop.between for loop in once.loops] == [(f"coupler{k}", f"rocker{k}") for k in (1, 2, 3)]
    assert once.q0 == out.q0
    close(once.q0[1], math.radians(56))


def test_what_the_file_says_itself_comes_first():
    text = series.in_series(2) + "loops:\n  - {joint: fixed, between: [rocker2, base]}\nassembly: {B2: 30 deg}\n"
    both = robot(text)
    assert [loop.name for loop in both.loops] == ["loop1", "D1", "D2"]
    close([both.q0[2], both.q0[5]], np.radians([93, 30]))


@pytest.mark.parametrize(
    ("was", "became", "place", "what"),
    [
        ('"rocker{k}"]', '"rocker{k-9}"]', "links[1].loops[0].between[1]", "no such link"),
        ("at: [0.3, 0, 0]", "at: [0.3, 0, here]", "links[1].loops[0].first.at", "here"),
        ('"C{k}": 56 deg', '"C{k}": 56 kg', "links[1].assembly", "kg"),
        ("    loops:", "    loop:", "links[1].loop", "unknown key `loop`"),
        ('assembly: {"C{k}": 56 deg, "B{k}": 93 deg}', "assembly: [1]", "links[1].assembly", "not a mapping"),
    ],
)
def test_mistakes_in_what_is_repeated_are_found_in_their_place(was, became, place, what):
    text = series.in_series(3)
    assert was in text
    with pytest.raises(InputError) as caught:
        robot(text.replace(was, became))
    assert what in str(caught.value)
    assert place in str(caught.value)


# ---- initial values, gravity, doubtful bodies


def test_initial_values_are_in_the_files_order():
    text = """
name: mixed
convention: dh
links:
  - {name: a, joint: {type: revolute, theta: 90 deg, b: 0.1}, mass: 1, com: [0, 0, 0]}
  - {name: b, joint: {type: prismatic, theta: 90 deg, b: 20 mm}, mass: 1, com: [0, 0, 0]}
  - {name: c, joint: {type: spherical, initial: [0, 0, 2, 0]}, mass: 1, com: [0, 0, 0]}
  - {name: d, convention: khalil, joint: {type: prismatic, theta: 90 deg, r: 0.3}, mass: 1, com: [0, 0, 0]}
  - {name: e, convention: khalil, joint: {type: helical, pitch: 1, theta: -pi/4, r: 0.3}, mass: 1, com: [0, 0, 0]}
  - {name: f, convention: frames, joint: {type: revolute, initial: 0.5}, mass: 1, com: [0, 0, 0]}
  - {name: g, convention: frames, joint: {type: planar, initial: [1, 2, 3]}, mass: 1, com: [0, 0, 0]}
"""
    close(robot(text).q0, [math.pi / 2, 0.02, 0, 0, 1, 0, 0.3, -math.pi / 4, 0.5, 1, 2, 3])


def test_gravity_is_down_unless_told():
    assert chain("frames", "{type: prismatic}").gravity == (0, 0, -9.81)
    moon = chain("frames", "{type: prismatic}", extra="gravity: [0, 0, -1.62]")
    close(torque(moon, [0.0]), [1.62])


def test_an_inertia_that_no_body_can_have_is_computed_with_a_warning():
    odd = robot(
        "name: odd\nconvention: frames\nlinks:\n"
        "  - {name: l, joint: {type: revolute}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 3}}"
    )
    assert len(odd.warnings) == 1
    assert "1 + 1 < 3" in odd.warnings[0]
    close(torque(odd, [0.0], None, [1.0]), [3.0])
    assert body("{type: revolute}").warnings == ()


EFFORT = """
name: arm
convention: frames
links:
  - {name: one, joint: {type: revolute, name: a, effort: {limits: %s}}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
  - {name: two, joint: {type: revolute, name: b}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
  - {name: three, joint: {type: revolute, name: c}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
"""


@pytest.mark.parametrize(("limits", "fit"), [("[-1, 2]", True), ("[2, -1]", False), ("[1, 1]", False)])
def test_effort_limits_have_a_low_and_a_high_end(limits, fit):
    if fit:
        assert denoc.loads(EFFORT % limits).joint("a").effort.high == 2.0
        return
    with pytest.raises(denoc.InputError, match="below the high one"):
        denoc.loads(EFFORT % limits)


def test_couplings_do_not_go_round_in_a_circle():
    text = EFFORT % "[-1, 1]" + "couplings:\n  - {joint: a, to: b, ratio: 2}\n  - {joint: b, to: c, ratio: 2}\n"
    assert len(denoc.loads(text).couplings) == 2
    with pytest.raises(denoc.InputError, match="circle"):
        denoc.loads(text + "  - {joint: c, to: a, ratio: 2}\n")
