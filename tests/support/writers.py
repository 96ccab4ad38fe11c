"""What `faults.py` has written anew: a result over another one, and a baseline."""

from pathlib import Path

import numpy as np

T = np.linspace(0, 1, 5)


def result(folder, value=2.0, files=("b.yaml", "c.yaml")):
    """A small result without plots, which would cost a second each."""
    from denoc.record.columns import Column
    from denoc.record.write import write_result

    columns = [Column("j.q", "rad", "position", "j", "j.q")]
    more = {name: f"{name} {value}".encode() for name in files}
    record = {"robot": {"name": "one"}, "value": value}
    write_result(Path(folder), "run", T, {"j.q": value * T}, columns, record, [], more=more)


def baseline(folder):
    from denoc.study.baseline import publish

    publish(folder, ["a.csv", "b.csv"], {"b.csv": b"new b", "c.csv": b"new c"})
