"""MJCF files that are written to be misread: each is read as MuJoCo reads it, or its reader says what it left out."""

import numpy as np
import pytest

import denoc

mujoco = pytest.importorskip("mujoco")

EXACT = 1e-10
I = '<inertial mass="1.3" pos="0.1 0.02 0.03" diaginertia="0.02 0.03 0.04"/>'
G = '<geom type="box" size="0.1 0.07 0.05" pos="0.02 0.01 0.03"/>'
TWO = f'<body name="b"><joint name="j" axis="1 0 0"/>{I}<body pos="0.3 0 0"><joint name="k" axis="0 1 0"/>{I}</body></body>'
MESH = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1 1 1 0.2"/></asset>'
HILLS = '<asset><hfield name="h" nrow="2" ncol="3" size="1 2 0.5 0.3"/></asset>'
FORM = '<geom type="mesh" mesh="m" pos="0.1 0 0" euler="10 20 30"/>'


def body(inside, more="", name="b"):
    return f'<body name="{name}" {more}>{inside}</body>'


def world(inside, before="", after=""):
    return f"{before}<worldbody>{inside}</worldbody>{after}"


def geom(default, own):
    """A body whose only geom has a class."""
    classes = f'<default><default class="c"><geom {default}/></default></default>'
    return world(body(f'<joint axis="1 1 0"/><geom class="c" {own}/>'), classes)


def tendon(attributes, inside='<joint joint="j" coef="1"/><joint joint="k" coef="-2"/>'):
    return f'<tendon><fixed name="t" {attributes}>{inside}</fixed></tendon>'


SAME = {
    # one orientation is enough: an element's own hides that of its class, however each is given
    "a quat above an euler": geom('euler="10 20 30"', 'type="box" size="0.1 0.2 0.3" quat="1 0.3 0.2 0"'),
    "an euler above a quat": geom('quat="1 1 0 0"', 'type="box" size="0.1 0.2 0.3" euler="10 20 30"'),
    "an axisangle above an euler": geom('euler="10 20 30"', 'type="box" size="0.1 0.2 0.3" axisangle="1 0 1 40"'),
    "an euler above a zaxis": geom('zaxis="1 0 1"', 'type="box" size="0.1 0.2 0.3" euler="10 20 30"'),
    "a turn of a class": geom('euler="10 20 30"', 'type="box" size="0.1 0.2 0.3"'),
    "a fromto of a class": geom('fromto="0 0 0 1 0.2 0.3"', 'type="capsule" size="0.1"'),
    "a size of two classes": geom('type="cylinder" size="0.1 0.2"', 'size="0.3"'),
    # between two ends only the first size counts
    "a box between ends": geom("", 'type="box" size="0.1 0.2" fromto="0 0 0 1 0.2 0.3"'),
    "an ellipsoid between ends": geom("", 'type="ellipsoid" size="0.1 0.2 0.5" fromto="0 0 0 1 0.2 0.3"'),
    "a box of one size": geom("", 'type="box" size="0.1" fromto="0 0 0 0 0.2 -0.3"'),
    "a density beside a mass": geom('mass="3"', 'density="10" size="0.1" pos="0.2 0 0.3"'),
    "a z that is almost down": world(body(f"<joint/>{I}", 'zaxis="1e-9 0 -1"')),
    "x and y at an angle": world(body(f"<joint/>{I}", 'xyaxes="1 1 0 0 1 1"')),
    **{
        f"angles {order}": world(body(f"<joint/>{I}", 'euler="10 40 70"'), f'<compiler eulerseq="{order}"/>')
        for order in ("XYZ", "zxz", "xYz", "ZxY")
    },
    "two compilers": world(
        body(f'<joint ref="1" pos="0.1 0 0"/>{I}', 'euler="0.1 0.2 0.3"'),
        '<compiler angle="radian"/><compiler eulerseq="ZYX"/>',
    ),
    # frames move whatever is in them
    "geoms in frames": world(
        body(
            '<joint/><frame childclass="c" pos="0.1 0.2 0.3" euler="10 20 30"><geom size="0.1 0.2 0.3"/>'
            '<frame axisangle="1 0 0 20"><geom size="0.2 0.1 0.1" pos="1 0 0"/></frame></frame>'
        ),
        '<default><default class="c"><geom type="box" density="300"/></default></default>',
    ),
    "joints in frames": world(
        body(
            f'<joint name="a"/><frame pos="0.1 0.2 0.3" euler="10 20 30"><joint name="c" axis="1 0 0" pos="0.1 0 0"/>'
            f'</frame><joint axis="0 1 0" type="slide"/>{I}'
        )
    ),
    "an inertial in a frame": world(body(f'<joint/><frame pos="0.1 0.2 0.3" euler="10 20 30">{I}</frame>')),
    "the last of two inertials": world(body(f'<joint/>{I}<frame pos="1 0 0" euler="0 0 90">{I}</frame>')),
    "a body in a frame": world(
        f'<frame pos="0.1 0.2 0.3" euler="10 20 30" childclass="c">{body(f"<joint/>{I}", "pos=%0.5 0 0%")}</frame>',
        '<default><default class="c"><joint axis="0 1 1" damping="0.5"/></default></default>',
    ).replace("%", '"'),
    "classes in classes": world(
        body(
            f'<joint class="e"/>{I}'
            + body(
                f'<joint class="d" type="hinge"/>{I}{body(f"<joint/>{I}", name="z")}',
                'childclass="e" pos="0.3 0 0"',
                "y",
            )
        ),
        '<default><joint stiffness="3"/><default class="d"><joint axis="0 1 1" damping="0.5"/>'
        '<default class="e"><joint type="slide" stiffness="2"/></default></default></default>',
    ),
    "a class before its defaults": world(
        body(f'<joint class="e"/>{I}'),
        '<default><default class="e"><joint damping="1"/></default><joint stiffness="3"/></default>',
    ),
    "free joints take no defaults": world(
        body(f"<freejoint/>{I}"), '<default><joint damping="3" armature="0.2" stiffness="5"/></default>'
    ),
    # what the compiler makes of inertias
    "a balanced inertia": world(
        body('<joint/><inertial mass="1" pos="0 0.1 0" fullinertia="0.1 0.01 0.02 0 0 0.001"/>'),
        '<compiler balanceinertia="true" boundinertia="0.005"/>',
    ),
    "a bound inertia": world(
        body('<joint/><inertial mass="0.01" pos="0 0.1 0" euler="10 20 30" diaginertia="0.1 0.06 0.05"/>'),
        '<compiler boundmass="0.1" boundinertia="0.08"/>',
    ),
    "bounds of an empty body": world(
        body(f"<joint/>{I}{body('', 'pos=%0.5 0 0%', 's')}".replace("%", '"')),
        '<compiler boundmass="0.1" boundinertia="0.05"/>',
    ),
    "inertias from geoms": world(body(f"<joint/>{I}{G}"), '<compiler inertiafromgeom="true"/>'),
    "inertias from no geoms": world(body(f"<joint/>{I}"), '<compiler inertiafromgeom="true"/>'),
    "inertias from geoms without mass": world(
        body(f"<joint/>{I}{G.replace('/>', ' mass=%0%/>')}{G.replace('/>', ' group=%3%/>')}".replace("%", '"')),
        '<compiler inertiafromgeom="true" inertiagrouprange="0 2"/>',
    ),
    "no inertias from geoms": world(body(f"<joint/>{I}{G}"), '<compiler inertiafromgeom="false"/>'),
    "groups of geoms": world(
        body(f'<joint/>{G}<geom size="0.3"/><geom size="0.1" group="2"/>'),
        '<compiler inertiagrouprange="0 2"/><default><geom group="3"/></default>',
    ).replace('0.03"/>', '0.03" group="1"/>'),
    "a mesh": world(body(f"<joint/>{FORM}"), MESH),
    "a box around a mesh": world(body(f"<joint/>{FORM.replace('%mesh%', '%box%')}".replace("%", '"')), MESH),
    "a total mass and a mesh": world(
        body(f"<joint/>{FORM}{body(f'<joint axis=%0 1 0%/>{I}', name='c')}".replace("%", '"')),
        f'<compiler settotalmass="3"/>{MESH}',
    ),
    "static bodies that are fused": world(
        body(G, 'pos="1 0 0"', "s")
        + body(f"<joint/>{G}{body(G, 'pos=%0.4 0 0%', 't')}{body(f'<joint axis=%0 1 0%/>{FORM}', name='c')}"),
        f'<compiler fusestatic="true"/>{MESH}',
    ).replace("%", '"'),
    "a height field": world(
        body('<joint axis="1 0 0"/><geom type="hfield" hfield="h" pos="0.2 0.1 0.3" euler="10 20 30" density="3"/>'),
        HILLS,
    ),
    "a height field of a known mass": world(
        body('<joint axis="1 0 0"/><geom type="hfield" hfield="h" mass="3" shellinertia="false"/>'), HILLS
    ),
    "a shell of a height field": world(
        body('<joint axis="1 0 0"/><geom type="hfield" hfield="h" mass="3" shellinertia="true"/>'), HILLS
    ),
    # of bodies that are fused into the world MuJoCo doesn't count the mass
    **{
        f"a total mass and {what}": world(
            body(body(G.replace("<geom", '<geom name="u"'), more, "u") + G, 'pos="1 0 0"', "s") + TWO,
            '<compiler fusestatic="true" settotalmass="7"/>',
            after,
        )
        for what, more, after in (
            ("what is fused", "", ""),
            ("a body that isn't fused", 'fuse="false"', ""),
            ("a body that bears its weight", 'gravcomp="1"', ""),
            ("a body that a pair names", "", '<contact><exclude body1="b" body2="u"/></contact>'),
            ("a body that a sensor is on", "", '<sensor><framepos objtype="xbody" objname="u"/></sensor>'),
            (
                "a body that a sensor refers to",
                "",
                '<sensor><framepos objtype="body" objname="b" reftype="body" refname="u"/></sensor>',
            ),
            ("a body whose tree a sensor sees", "", '<sensor><subtreecom body="u"/></sensor>'),
            (
                "a body that a tuple names",
                "",
                '<custom><tuple name="t"><element objtype="body" objname="u"/></tuple></custom>',
            ),
            ("a geom of its name", "", '<sensor><framepos objtype="geom" objname="u"/></sensor>'),
        )
    },
    "a total mass and a body that cameras follow": world(
        body(G, 'mocap="true"', "v") + body(G, "", "s") + f'{TWO}<camera mode="targetbody" target="s"/>',
        '<compiler fusestatic="true" settotalmass="7"/>',
    ),
    # forces
    "gravity that is made up for": world(
        body(
            f'<joint axis="1 0 0"/>{I}{body(f"<joint axis=%0 1 0%/>{I}", "gravcomp=%0.5% pos=%0.3 0 0%", "c")}',
            'gravcomp="1"',
        )
    ).replace("%", '"'),
    "springs with a slack": world(TWO, after=tendon('stiffness="30" springlength="-0.1 0.2" damping="2"')),
    "defaults of tendons": world(TWO, '<default><tendon stiffness="7" damping="1"/></default>', tendon("")),
    "tendons without names": world(TWO, after=2 * tendon('stiffness="2"').replace(' name="t"', "")),
    "flags": world(
        TWO.replace('"j"', '"j" stiffness="4" springref="30" damping="2"'),
        '<option gravity="1 2 -9"><flag gravity="disable" spring="disable"/></option><option><flag damper="disable"/></option>',
        tendon('stiffness="30" damping="2"'),
    ),
    "a flag that is taken back": world(
        TWO, '<option><flag gravity="disable"/></option><option><flag gravity="enable"/></option>'
    ),
    "rotors and dampers of motors": world(
        TWO,
        "<default><motor armature='0.1'/></default>",
        tendon("", '<joint joint="k" coef="-2"/>')
        + '<actuator><motor joint="j" gear="3" damping="0.2"/><position tendon="t" gear="2" armature="0.3"/></actuator>',
    ),
    "dampers of motors on tendons": world(
        TWO, after=tendon("") + '<actuator><motor tendon="t" gear="3" damping="0.2"/></actuator>'
    ),
    "references and rest": world(
        body(
            '<joint axis="1 2 3" pos="0.1 0.2 0.3" ref="25" springref="50" stiffness="4"/>'
            f'<joint type="slide" axis="0 1 1" ref="0.2" springref="-0.1" stiffness="3"/>{I}',
            'euler="10 20 30"',
        )
    ),
}


def loaded(path, text):
    path.write_text(f"<mujoco>{text}</mujoco>")
    return denoc.load(path)


def mujocos(path):
    """MuJoCo's model of a file; a test with words that this MuJoCo doesn't have yet is skipped."""
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        if "unrecognized attribute" in str(error):
            pytest.skip("this MuJoCo is older than the file's words")
        raise


@pytest.mark.parametrize("name", SAME)
def test_it_is_read_as_mujoco_reads_it(name, tmp_path):
    """Inertias, forces and frames in random states, and where it starts."""
    from beside_mujoco import Pair

    text = SAME[name]
    if "<option" not in text:
        text = f'<option gravity="1 2 -9"/>{text}'
    robot = loaded(tmp_path / "m.xml", text)
    mujocos(tmp_path / "m.xml")
    pair = Pair(tmp_path / "m.xml", robot)
    worst = pair.differences(np.random.default_rng(1))
    assert max(worst.values()) < EXACT, worst
    np.testing.assert_allclose(robot.q0, pair.model.qpos0, atol=1e-15)
    assert not [words for words in robot.warnings if "dropped" in words]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (world(body(f'<freejoint align="true"/>{I}')), "align changed"),
        (world(body(f"<freejoint/>{I}"), '<compiler alignfree="true"/>'), "align changed"),
        (world(body(f'<joint springdamper="0.1 1"/>{I}')), "springdamper dropped"),
        (world(TWO, after=tendon('armature="0.3"')), "no armature"),
        (world(body(f'<joint actuatorgravcomp="true"/>{I}', 'gravcomp="0.5"')), "actuatorgravcomp changed"),
        (world(body(f'<joint damping="0.2 0.3"/>{I}')), "damping and stiffness that change dropped"),
        (world(TWO, after=tendon("") + '<actuator><motor tendon="t" armature="1"/></actuator>'), "have no armature"),
        (
            world(
                body(f'<joint name="j" type="ball"/>{I}'),
                after='<actuator><motor joint="j" armature="1"/></actuator>',
            ),
            "fit no joint of one freedom",
        ),
    ],
)
def test_what_is_read_otherwise_is_said(text, words, tmp_path):
    assert words in "; ".join(loaded(tmp_path / "m.xml", text).warnings)
    mujocos(tmp_path / "m.xml")


MOVED = f"""<option gravity="1 2 -9"/><worldbody>
  <site name="still" pos="1 2 3" euler="20 30 10"/>
  {body('<site name="post" euler="40 0 5"/>', 'pos="0 1 0" euler="0 0 30"', "fixed")}
  {
    body(
        f'<joint name="j" axis="1 0 0"/>{I}<site name="first"/>'
        + body(
            f'<joint name="k" axis="0 1 0"/>{I}<site name="tip" pos="0.1 -0.2 0.3" euler="40 20 30"/>',
            'pos="0.3 0 0"',
            "c",
        )
    )
}
</worldbody><actuator>"""


@pytest.mark.parametrize("reference", ["still", "post"])
@pytest.mark.parametrize("gear", ["1 -2 3 0 0 0", "0 0 0 1 2 -3"])
def test_actuators_in_axes_at_rest_act_as_mujocos(reference, gear, tmp_path):
    from denoc.mechanics.mechanisms import forces_acting_in_loops

    text = f'{MOVED}<motor name="push" site="tip" refsite="{reference}" gear="{gear}" ctrlrange="-1 2"/></actuator>'
    robot = loaded(tmp_path / "m.xml", text)
    assert not robot.warnings
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    data = mujoco.MjData(model)
    size = np.linalg.norm(np.array(gear.split(), float))
    (push,) = robot.actuators
    assert (push.axes, push.effort.high) == ("base", pytest.approx(2 * size))
    q = np.array([[0.4, -0.7]])
    data.qpos[:], data.ctrl[:] = q, 0.6
    mujoco.mj_forward(model, data)
    S = forces_acting_in_loops(robot, q)[0]
    np.testing.assert_allclose(data.qfrc_actuator, 0.6 * size * S[:, 0], atol=1e-13)


def test_an_actuator_in_moving_axes_is_named(tmp_path):
    robot = loaded(tmp_path / "m.xml", f'{MOVED}<motor site="tip" refsite="first" gear="1"/></actuator>')
    (warning,) = robot.warnings
    assert "its `refsite` moves, and so feels the force, too (`first`)" in warning


def test_limits_of_motors(tmp_path):
    """Those of several motors add up unless one has none, and no force of theirs passes what the joint bears."""
    joints = TWO.replace('"k"', '"k" actuatorfrcrange="-3 4"')
    first, second = '<motor joint="j" ctrlrange="-1 2" gear="-2"/>', '<motor joint="j"/>'
    third = '<general joint="k" forcerange="-5 1"/><motor joint="k" forcerange="-5 5" ctrlrange="-1 1" ctrllimited="false"/>'
    robot = loaded(tmp_path / "m.xml", world(joints, after=f"<actuator>{first}{second}{third}</actuator>"))
    assert not robot.joint("j").effort.limited
    assert (robot.joint("k").effort.low, robot.joint("k").effort.high) == (-3, 4)
    robot = loaded(tmp_path / "m.xml", world(joints, after=f"<actuator>{first}{first}</actuator>"))
    assert (robot.joint("j").effort.low, robot.joint("j").effort.high) == (-8, 4)
    assert not robot.joint("k").actuated
    defaults = '<default><position gear="7" forcerange="-1 2"/></default>'
    robot = loaded(tmp_path / "m.xml", world(joints, defaults, '<actuator><motor joint="j"/></actuator>'))
    assert (robot.joint("j").effort.low, robot.joint("j").effort.high) == (-7, 14)


def test_joints_without_names_have_their_own(tmp_path):
    text = world(
        body(f'<joint axis="1 0 0"/><joint/><joint name="b_hinge" axis="0 1 0"/>{I}')
        + f'<body><joint/>{I}</body><body name="body2"><joint name="m"/>{I}</body>',
        after='<actuator><motor joint="m"/></actuator>',
    )
    robot = loaded(tmp_path / "m.xml", text)
    assert not [words for words in robot.warnings if "taken" in words]
    assert [joint.name for joint in robot.moving if joint.actuated] == ["m"]
    assert "b_hinge" in robot.joints
    assert len(set(robot.joints)) == len(robot.joints) == 5


@pytest.mark.parametrize(
    ("tie", "ratio", "offset"), [('polycoef="0.5"', 1.0, 0.5), ('polycoef="0.5 -2"', -2.0, 0.5), ("", 1.0, 0.0)]
)
def test_ties_of_few_numbers_are_lines(tie, ratio, offset, tmp_path):
    text = world(TWO, after=f'<equality><joint joint1="j" joint2="k" {tie}/></equality>')
    (coupling,) = loaded(tmp_path / "m.xml", text).couplings
    assert (coupling.leaders[0].ratio, coupling.offset) == (ratio, offset)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    assert list(model.eq_data[0][:3]) == [offset, ratio, 0]


def test_flags_leave_out_ties_limits_and_dry_friction(tmp_path):
    text = world(
        TWO.replace('"j"', '"j" range="-1 1" frictionloss="2"'),
        '<option><flag constraint="disable"/></option>',
        '<equality><joint joint1="j" joint2="k"/></equality>',
    )
    robot = loaded(tmp_path / "m.xml", text)
    assert (robot.joint("j").limits, robot.joint("j").drives[0].coulomb, robot.couplings) == (None, 0, ())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<compiler", '<compiler angle="degrees"', "`angle`: there is no such word"),
        ("<compiler", '<compiler autolimits="1"', "`autolimits`: there is no such word"),
        ("<compiler", '<compiler inertiafromgeom="yes"', "`inertiafromgeom`: there is no such word"),
        ('name="j"', 'name="j" limited="1" range="-1 1"', "`limited`: there is no such word"),
        ('name="b"', 'name="b" quat="1 0 0 1" euler="0 0 20"', "one way to say how it is turned is enough"),
        ('mass="1.3"', 'mass="-1"', "must be at least 0"),
        ("<flag", '<flag spring="off"', "`spring`: there is no such word"),
        ('joint="j"', 'tendon="x"', "no such tendon"),
    ],
)
def test_words_that_mean_nothing_are_refused_as_by_mujoco(old, new, words, tmp_path):
    text = f"<compiler/><option><flag/></option>{world(TWO, after='<actuator><motor joint=%j%/></actuator>')}".replace(
        "%", '"'
    )
    loaded(tmp_path / "m.xml", text)
    assert old in text
    with pytest.raises(denoc.DenocError) as caught:
        loaded(tmp_path / "m.xml", text.replace(old, new, 1))
    assert words in str(caught.value)
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))


@pytest.mark.parametrize(
    ("motor", "words"),
    [
        ('joint="j" gear="0"', "its gear is 0"),
        ('joint="ball" ctrlrange="-1 1"', "all freedoms of its joint have an actuator, without limits"),
        ('cranksite="s" slidersite="s" cranklength="1" joint="j"', "it acts on no joint, no tendon and no site"),
    ],
)
def test_motors_that_are_others_here_are_named(motor, words, tmp_path):
    more = body(f'<joint name="ball" type="ball"/>{I}<site name="s"/>', name="d")
    robot = loaded(tmp_path / "m.xml", world(TWO + more, after=f"<actuator><motor {motor}/></actuator>"))
    (warning,) = robot.warnings
    assert words in warning


def test_of_several_places_a_motor_acts_where_mujocos_does(tmp_path):
    motor = '<actuator><motor joint="j" tendon="t"/></actuator>'
    robot = loaded(tmp_path / "m.xml", world(TWO, after=tendon("", '<joint joint="k" coef="1"/>') + motor))
    assert [joint.name for joint in robot.moving if joint.actuated] == ["k"]
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    assert model.actuator_trntype[0] == mujoco.mjtTrn.mjTRN_TENDON


def test_sites_between_ends_point_along_them(tmp_path):
    from denoc.mechanics.mechanisms import forces_acting_in_loops

    site = '<site name="s" type="capsule" size="0.01" fromto="0.1 0 0.2 0.3 -0.1 0.5"/>'
    text = world(
        TWO.replace('<joint name="k"', f'{site}<joint name="k"'), after='<actuator><motor site="s"/></actuator>'
    )
    robot = loaded(tmp_path / "m.xml", text.replace("<motor ", '<motor gear="0 0 2 0 0 0" '))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = [0.4, -0.7], 1.0
    mujoco.mj_forward(model, data)
    S = forces_acting_in_loops(robot, np.array([[0.4, -0.7]]))[0]
    np.testing.assert_allclose(data.qfrc_actuator, 2 * S[:, 0], atol=1e-14)
