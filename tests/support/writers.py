"""What `faults.py` has written anew: a result over another one, a baseline, tables, further plots, one file."""

from pathlib import Path

import numpy as np

import unseen

T = np.linspace(0, 1, 5)


def result(folder, value=2.0, files=("b.yaml", "c.yaml")):
    """A small result without plots, which would cost a second each."""
    from denoc.record import Column
    from denoc.record.files import write_result

    columns = [Column("j.q", "rad", "position", "j", "j.q")]
    more = {name: f"{name} {value}".encode() for name in files}
    record = {"robot": {"name": "one"}, "value": value}
    write_result(Path(folder), "run", T, {"j.q": value * T}, columns, record, [], more=more)


def baseline(folder):
    from denoc.study.regression import publish_baseline

    publish_baseline(folder, ["a.csv", "b.csv"], {"b.csv": b"new b", "c.csv": b"new c"})


def study(folder):
    """The tables and plots of a comparison, or of a paper, over those of an earlier one."""
    from denoc.record.files import write_output_files

    write_output_files(Path(folder), {"run-a.csv": "new a", "run-c.csv": "new c"}, ["run-"])


def swept(folder):
    """The files of a sweep or search, over a result of the same name."""
    from denoc.study.sweep import Table, write_study_files

    unseen.save_figures_by(lambda figure, path, **how: path.write_bytes(figure))
    table = Table({"run": [0, 1], "x": T[:2]}, {}, ["x"], [])
    tables, figures = {"run": table, "run-rows": table}, {"run-x": b"drawn"}
    write_study_files(Path(folder), "run", {"value": 2.0}, tables, False, figures, "png", {"run-best-1.yaml": b"new"})


def drawn(folder):
    """Further plots of a result, with what a drawing writes in their place."""
    import json

    from denoc.errors import InputError
    from denoc.record.files import write

    unseen.save_figures_by(lambda figure, path, **how: path.write_bytes(figure))
    try:
        record = json.loads((Path(folder) / "run.json").read_text())
    except OSError:
        raise InputError("the record can't be read") from None
    write.add_plots_to_result(Path(folder), "run", record, {"run-rates": b"rates", "run-energy": b"energy"}, "png")


def text(folder):
    """One file, as `codegen`, `new`, `schema` and others write it."""
    from denoc.record.files import write_file_whole

    write_file_whole(Path(folder) / "robot.c", lambda draft: draft.write_text("new"))
