"""A language of export is one row: NumPy's, whose function takes arrays of samples."""

import sys

import numpy as np
import pytest

import denoc
from denoc.cli import main, options
from denoc.machine.program import LANGUAGES, Language
from denoc.machine.program.languages import FORMS, program_operation_lines
from denoc.machine.program.nodes import COSINE, SIGN, SINE, SQUARE_ROOT
from denoc.study import generate_code

FORM = {
    **FORMS,
    COSINE: "np.cos({a})",
    SINE: "np.sin({a})",
    SQUARE_ROOT: "np.sqrt({a})",
    SIGN: "np.sign({a})",
}


def call(program, name):
    return f"{name}({', '.join(program.inputs)})"


def file(program, name, about, head):
    """Each argument has one row a coordinate and one column a sample; so have the results."""
    places = {node.id: f"{group}[{k}]" for group, nodes in program.inputs.items() for k, node in enumerate(nodes)}
    statements, names = program_operation_lines(program.results(), FORM, repr, lambda node: places[node.id])
    body = [f"    {target} = {text}" for target, text in statements]
    comment = [f"# {line}" for line in head]
    returned = ", ".join(
        f"np.broadcast_to({names[node.id]}, {next(iter(program.inputs))}.shape[1:])" for node in program.results()
    )
    return "\n".join(
        [
            *comment,
            "import numpy as np",
            "",
            "",
            f"def {call(program, name)}:",
            *body,
            f"    return np.stack([{returned}])",
            "",
        ]
    )


@pytest.fixture(autouse=True)
def _row(monkeypatch):
    monkeypatch.setitem(LANGUAGES, "numpy", Language("NumPy, many samples at once", ".npy.py", call, file))


@pytest.mark.parametrize("name", ["puma", "stanford"])
def test_what_it_writes_computes_what_the_engine_computes(name):
    robot = denoc.load(name)
    suffixed, text = generate_code(robot, "idyn", "numpy")
    assert suffixed == f"{name}_idyn.npy.py"
    assert f"# Call: {name}_idyn(q, qd, qdd)" in text.splitlines()
    space = {}
    exec(compile(text, suffixed, "exec"), space)  # what was written just now
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 7, robot.nv))
    expected = denoc.inverse(robot, q, qd, qdd)
    np.testing.assert_allclose(
        space[f"{name}_idyn"](q.T, qd.T, qdd.T).T, expected, rtol=1e-13, atol=1e-13 * abs(expected).max()
    )


def test_the_command_knows_it(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["denoc", "codegen", "planar3r", "--lang", "numpy", "--out", "."])
    with pytest.raises(SystemExit) as left:
        main.main()
    assert not left.value.code
    assert "import numpy" in (tmp_path / "planar3r_idyn.npy.py").read_text()
    assert options.completion_from_names("denoc.machine.program.languages", "LANGUAGES")("n") == ["numpy"]
    with pytest.raises(denoc.DenocError) as told:
        generate_code(denoc.load("planar3r"), "idyn", "nunpy")
    assert told.value.allowed == "c, javascript, python, numpy"
    assert told.value.hint == "did you mean `numpy`?"
