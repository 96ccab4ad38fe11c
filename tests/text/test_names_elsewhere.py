"""What other programs and books call things is answered with what it is called here, whatever nearest name there is."""

import pytest

import denoc
from denoc.errors import ELSEWHERE, did_you_mean

ARM = """
name: arm
convention: dh
links:
  - {name: upper, joint: {type: revolute, name: hip}, mass: 6, com: [0, 0, 0], inertia: {xx: 0.01, yy: 0.13, zz: 0.13}}
"""


def name_tables():
    """The tables of names that a word may be looked for in: keys of mappings, and values of keys."""
    from denoc.laws import FORCE_LAWS as FORCES
    from denoc.laws import MOTION_LAWS as MOTIONS
    from denoc.robot import TYPES
    from denoc.robot.read import joint_schema, schema
    from denoc.scenario import schema as scenario
    from denoc.simulate.integrators import INTEGRATORS

    yield from (
        {*table} for table in (FORCES, MOTIONS, TYPES, INTEGRATORS, joint_schema.JOINTS, ("inverse", "simulate"))
    )
    for module in (schema, joint_schema, scenario):
        for one in vars(module).values():
            if isinstance(one, type) and hasattr(one, "form") and one.__module__ == module.__name__:
                yield {*one.keys()}


@pytest.mark.parametrize("row", ELSEWHERE, ids=lambda row: f"{row[0]}: {row[1]}")
def test_words_of_others_are_answered_with_names_that_there_are(row):
    """Each row's name stands in some table, and its words are no names there, or they would never be looked up."""
    name, words, text = row
    tables = [table for table in name_tables() if name in table]
    assert tables
    for word in words.split():
        assert word == word.lower()
        beside = [table for table in tables if word not in table]
        assert beside
        for table in beside:
            hint = did_you_mean(word.upper() if len(word) > 1 else word, table)
            assert hint.startswith("that is `" if not text or text.startswith("`") else "that is a")
        if not text:
            assert any(f"that is `{name}` here" in did_you_mean(word, table) for table in beside)


@pytest.mark.parametrize(
    ("scenario", "key", "hint"),
    [
        ({"solver": {"method": "ode45"}}, "solver.method", "that is `rk45` here"),
        ({"solver": {"integrator": "rk4"}}, "integrator", "that is `method` here"),
        ({"motion": {"hip": {"law": "trapezoidal", "to": 1}}}, "law", "that is `trapezoid` here"),
        ({"duration": 3}, "duration", "that is `time: {end: …}` here"),
        ({"task": "idyn"}, "task", "that is `inverse` here"),
        ({"tau": {"hip": 3}}, "tau", "that is `forces` here"),
    ],
)
def test_scenarios_answer_words_of_others(scenario, key, hint):
    with pytest.raises(denoc.DenocError) as caught:
        denoc.run({"task": "simulate", "time": {"end": 1}, **scenario}, denoc.loads(ARM))
    assert hint in str(caught.value)
    assert key in str(caught.value)


@pytest.mark.parametrize("word", ["mdh", "MDH", "craig", "modified", "modified-dh"])
def test_craigs_convention_is_khalils(word):
    """Its letters are other ones, which is said, too."""
    with pytest.raises(denoc.DenocError) as caught:
        denoc.loads(ARM.replace("convention: dh", f"convention: {word}"))
    assert "hint: that is `khalil` here; Craig's `a` and `d` are its `d` and `r`" in str(caught.value)


def test_options_answer_words_of_others(command_line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, told = command_line("new", "robot", "r", "--convention", "mdh")
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert "error: --convention: no such convention" in told
    assert "hint: that is `khalil` here" in told
