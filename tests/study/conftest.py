import pytest

from denoc.study import ensemble_runs


@pytest.fixture
def left(monkeypatch):
    """The number of runs that weren't clear side by side, and were carried out by themselves."""
    count, carry_out = [0], ensemble_runs.carry_out_whole_plan

    def counted(plan):
        count[0] += 1
        return carry_out(plan)

    monkeypatch.setattr(ensemble_runs, "carry_out_whole_plan", counted)
    return count
