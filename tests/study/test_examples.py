"""The library's searches: they can begin, and a global search of 20 times their evaluations finds nothing better."""

import pytest

import denoc
from denoc.study.optimise.run import Search, search_ready
from denoc.study.sweep.reading import open_study
from denoc.text import library_folder, library_names, read_yaml_document

TIMES, BETTER = 20, 1e-3


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", library_names("studies"))
def test_it_can_begin(name):
    search = Search(search_ready(open_study(name, search=True)), None)
    assert search.study.name == name
    assert search.study.file.about
    assert len(search.goal.weights) >= 1
    assert search.method()[0] in ("l-bfgs-b", "slsqp", "differential-evolution")
    search.close()


@pytest.mark.full
@pytest.mark.parametrize("name", library_names("studies"))
def test_a_global_search_finds_nothing_better(name, tmp_path):
    """Both share a store, so that no run is computed twice."""
    one = denoc.optimise(name, keep=tmp_path / "runs.sqlite")
    assert one.verdict.minimum
    assert not one.missed
    assert one.value < 0.97 * one.values[0]
    path = library_folder("studies") / f"{name}.yaml"
    data = dict(read_yaml_document(path).data)
    beside = path.parent / data["scenario"]
    count = TIMES * (one.searched + one.derivatives)
    other = {"method": "differential-evolution", "evaluations": count, "seed": 1, "name": "global"}
    data |= {**other, "scenario": str(beside) if beside.is_file() else data["scenario"]}
    data.pop("starts", None)
    many = denoc.optimise(data, keep=tmp_path / "runs.sqlite")
    assert len(many.table) > 0.5 * count or not many.spent
    assert many.value > one.value - BETTER * abs(one.value)
