"""Figures of a result, made, drawn and written as PNG, once matplotlib has drawn some before."""

from __future__ import annotations

import tempfile
from functools import partial

from measure import Row, quickest
from pace import within

import denoc

WORK = "a figure of six panels and one with all six lines, made, drawn and written"
MOST = 0.15 + 0.05  # s


def rows() -> list[Row]:
    """The two figures of the PUMA's angles."""
    result = denoc.run("puma-idyn")
    with tempfile.TemporaryDirectory() as folder:
        took = quickest({"both": partial(result.plot, "angles", folder=folder)}, seconds=2.0)["both"]
    return [within(WORK, took, MOST)]


if __name__ == "__main__":
    from measure import table

    print(table(rows()))
