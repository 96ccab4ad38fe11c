"""Tables of Denavit-Hartenberg parameters in different letters are one robot; what doesn't fit is refused at its row."""

import numpy as np
import pytest

import denoc
from denoc.cli.main import main
from denoc.errors import InputError
from denoc.formats.dh_table import read_dh_table

DH = {
    "papers": "theta,b,a,alpha\nq1,0.66,0,pi/2\nq2+pi/2,0,0.43,0\n0,d3,0.02,-90 deg\n",
    "toolboxes": "i;θ;d (mm);a (m);alpha_i (deg);sigma\n1;0;660;0;90;0\n2;pi/2;0;0.43;0;R\n3;0;0;0.02;-90;P\n",
    "books": "d\tr\talpha\ttheta\toffset\tjoint\n0.66\t0\t90 deg\tq1\t0\tR\n0\t0.43\t0\tth2\t90 deg\tR\n0\t0.02\t-pi/2\t0\t\tP\n",
}
KHALIL = {
    "Khalil": "alpha,d,theta,r\n0,0,q1,0.66\npi/2,0.1,q2,0\n0,0.43,0,r3\n",
    "Craig": "alpha_{i-1},a_{i-1},d_i,theta_i\n0,0,0.66,q1\n90 deg,100 mm,0,q2\n0,0.43,d3,0\n",
    "ReDySim": "alp,a,b,th,joint\n0,0,0.66,0,r\npi/2,0.1,0,0,r\n0,0.43,0,0,p\n",
}


def robot(tmp_path, text, convention):
    from denoc.text import yaml_text

    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    made = read_dh_table(path, "arm", convention)
    return denoc.loads(yaml_text(made.data)), made.said


def chain(rows, modified):
    """The end frame by elementary matrices; rows of alpha, a, theta, d."""
    T = np.eye(4)
    for alpha, a, theta, d in rows:
        X, Z = np.eye(4), np.eye(4)
        X[1:3, 1:3], X[0, 3] = [[np.cos(alpha), -np.sin(alpha)], [np.sin(alpha), np.cos(alpha)]], a
        Z[:2, :2], Z[2, 3] = [[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]], d
        T = T @ (X @ Z if modified else Z @ X)
    return T


@pytest.mark.parametrize("letters", DH)
def test_classical_letters(tmp_path, letters):
    arm, said = robot(tmp_path, DH[letters], "dh")
    assert said[0].startswith("columns by ")
    np.testing.assert_allclose(arm.q0, [0, np.pi / 2, 0])
    q = np.array([0.3, 0.9, 0.2])
    right = chain([(np.pi / 2, 0, 0.3, 0.66), (0, 0.43, 0.9, 0), (-np.pi / 2, 0.02, 0, 0.2)], modified=False)
    np.testing.assert_allclose(denoc.frames(arm, q, at="end")["link3"], right, atol=1e-15)


@pytest.mark.parametrize("letters", KHALIL)
def test_modified_letters(tmp_path, letters):
    arm, _ = robot(tmp_path, KHALIL[letters], "khalil")
    q = np.array([0.3, 0.9, 0.2])
    right = chain([(0, 0, 0.3, 0.66), (np.pi / 2, 0.1, 0.9, 0), (0, 0.43, 0, 0.2)], modified=True)
    np.testing.assert_allclose(denoc.frames(arm, q)["link3"], right, atol=1e-15)


ROWS = "0,0.1,0,pi/2\n0,0,0.4,0\n0,0,0.3,0\n"


def numbered(column, cells, rows=ROWS):
    return "\n".join([f"{column},theta,d,a,alpha", *(f"{cell},{row}" for cell, row in zip(cells, rows.split("\n")))])


@pytest.mark.parametrize("column", ["joint", "Joint", "link", "i", "no"])
@pytest.mark.parametrize("cells", ["123", "012"])
def test_numbers_that_count_the_rows_are_places(tmp_path, column, cells):
    arm, said = robot(tmp_path, numbered(column, cells), "dh")
    assert [joint.type.name for joint in arm.moving] == ["revolute"] * 3
    assert any("counts the rows" in words for words in said) == (column in ("joint", "Joint", "link"))


@pytest.mark.parametrize("cells", [("R", "P", "F"), ("revolute", "prismatic", "fixed"), ("r", "p", "fixed")])
def test_letters_are_types(tmp_path, cells):
    for column in ("joint", "type", "sigma"):
        arm, _ = robot(tmp_path, numbered(column, cells), "dh")
        assert [link.joint.type.name for link in arm.links] == ["revolute", "prismatic", "fixed"]
    arm, _ = robot(tmp_path, numbered("sigma", "012"), "dh")
    assert [link.joint.type.name for link in arm.links] == ["revolute", "prismatic", "fixed"]
    arm, _ = robot(tmp_path, numbered("joint,type", ["1,0", "2,1", "3,0"]), "dh")
    assert [link.joint.type.name for link in arm.links] == ["revolute", "prismatic", "revolute"]


def test_other_words_are_names(tmp_path):
    arm, said = robot(tmp_path, numbered("joint", ["waist", "arm", "J3"]), "dh")
    assert arm.joints == ("waist", "arm", "J3")
    assert "the column `joint` has the names of joints" in said
    arm, _ = robot(tmp_path, numbered("link", ["a", "b", "c"]), "dh")
    assert [link.name for link in arm.links] == ["a", "b", "c"]


@pytest.mark.parametrize("symbol", ["q2", "Q2", "q_2", "q{2}", "q₂", "θ2", "theta_2", "th2*", "q2(t)"])
def test_symbols_in_a_variables_column_are_variables(tmp_path, symbol):
    """Of a joint that turns, and of one that slides, with what is added to them; units are the column's."""
    for text, start in ((symbol, 0.0), (f"{symbol} + pi/2", np.pi / 2), (f"-90 deg + {symbol}", -np.pi / 2)):
        arm, _ = robot(tmp_path, numbered("i", "12", f"q1,0,0.2,0\n{text},0,0.2,0"), "dh")
        assert arm.q0 == (0.0, pytest.approx(start))
    arm, _ = robot(tmp_path, f"theta (deg),d,a,alpha\n{symbol}+90,0,1,0\n", "dh")
    assert arm.q0 == (pytest.approx(np.pi / 2),)
    if "th" not in symbol and "θ" not in symbol:
        arm, _ = robot(tmp_path, f"theta,d [mm],a,alpha\n0,{symbol}+50,1,0\n", "dh")
        assert (arm.moving[0].type.name, arm.q0) == ("prismatic", (0.05,))


def test_bare_degrees_are_warned_of(tmp_path, command_line, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("theta,d,a,alpha\n0,0,1,90\n", encoding="utf-8")
    done = command_line("new", "robot", "r", "--from", "t.csv", "--convention", "dh")
    assert "14.3 turns" in done[2]


def test_masses_limits_and_losses(tmp_path):
    text = "theta,d,a,alpha,m,rx,ry,rz,Ixx,Iyy,Izz,Ixy,qmin (deg),qmax (deg),Tc,ia\n0,0,1,0,2,-0.5,0,0.1,1,2,2.5,0.1,-90,45,3,0.2\n"
    arm, _ = robot(tmp_path, text, "dh")
    (link,) = arm.links
    assert (link.mass, link.joint.drives[0].coulomb, link.joint.drives[0].rotor) == (2, 3, 0.2)
    np.testing.assert_allclose(link.com, [0.5, 0, 0.1])  # from the end frame, which is 1 m ahead
    np.testing.assert_allclose(link.joint.limits, [-np.pi / 2, np.pi / 4])
    assert link.inertia[0] == (1, 0.1, 0)


@pytest.mark.parametrize(
    ("text", "convention", "words", "line"),
    [
        ("theta,b,d,alpha\n0,0,0,0\n", "dh", "no parameters of the convention `dh`", 1),
        ("theta,d,a,alhpa\n0,0,0,0\n", "dh", "did you mean `alpha`", 1),
        ("theta,d,a,alpha\n0,0,0,zero\n", "dh", "unknown name `zero`", 2),
        ("theta,d,a,alpha,type\n0,0,0,0,X\n", "dh", "unknown type of joint", 2),
        (
            "theta,d,a,alpha (grad)\n0,0,0,0\n",
            "dh",
            "unit in this column's header can't be read: unknown name `grad`",
            1,
        ),
        ("theta,d,a,alpha (mm)\n0,0,0,1\n", "dh", "is a length; an angle", 2),
        (numbered("joint", "121"), "dh", "don't count the rows", 1),
        (numbered("joint", ["R", "X", "R"]), "dh", "unknown type of joint", 3),
        ("theta,d,a,alpha\nq1,d1,0,0\n", "dh", "two symbols: which of them moves?", 2),
        ("theta,d,a,alpha,type\nq1,d1,0,0,R\n", "dh", "what doesn't move needs a number", 2),
        ("theta,d,a,alpha\n-q1,0,0,0\n", "dh", "once and with a plus sign", 2),
        ("theta,d,a,alpha\n2*q1,0,0,0\n", "dh", "once and with a plus sign", 2),
        ("theta,d,a,alpha\n", "dh", "a row for each joint", 0),
        ("theta,d,a,alpha,qmin\n0,0,0,0,1\n", "dh", "a limit needs the other one", 2),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, text, convention, words, line):
    with pytest.raises(InputError) as caught:
        robot(tmp_path, text, convention)
    assert words in str(caught.value)
    assert caught.value.place.line == line


def test_the_command_writes_the_robot_and_says_how(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(DH["toolboxes"], encoding="utf-8")

    def run(*words):
        monkeypatch.setattr("sys.argv", ["denoc", "new", "robot", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    code, printed = run("arm", "--from", "t.csv", "--convention", "dh")
    assert code == 0
    assert "d (mm) is `b`" in printed.out.splitlines()[1]
    assert "\\" not in printed.out
    assert "no masses" in printed.out
    assert denoc.load("arm.yaml").nv == 3
    code, printed = run("other", "--from", "t.csv")
    assert code == 2
    assert "--convention dh or khalil" in printed.err
