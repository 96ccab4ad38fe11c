"""Pinocchio in C++, compiled here from the headers in its wheel, for any robot that Pinocchio's model in Python is of."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).with_name("pinocchio.cpp")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG")
# as its own build has them
LIMITS = ("BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_FUSION_INVOKE_MAX_ARITY=10")
LIMITS += ("BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",)
ROUNDS = 30
BOTH = ("inverse", "forward")


@dataclass(frozen=True)
class Peer:
    """The compiled program, or why there is none."""

    program: Path | None
    why: str = ""


@lru_cache(maxsize=1)
def peer() -> Peer:
    """The program, which is compiled once."""
    import pinocchio

    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return Peer(None, "no C++ compiler")
    prefix = next((one for one in Path(pinocchio.__file__).parents if one.name == "cmeel.prefix"), None)
    if prefix is None or not (prefix / "include" / "pinocchio").is_dir():
        return Peer(None, "Pinocchio without its headers")
    include = [prefix / "include", prefix / "include" / "eigen3", Path("/usr/include/eigen3")]
    program = Path(tempfile.mkdtemp(prefix="denoc-bench-")) / "pinocchio"
    paths = [f"-I{one}" for one in include] + [f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}"]
    command = [compiler, *FLAGS, *(f"-D{one}" for one in LIMITS), str(SOURCE), "-o", str(program), *paths]
    done = subprocess.run([*command, "-lpinocchio_default"], capture_output=True, text=True)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), "the compiler failed")
        return Peer(None, first[:120])
    return Peer(program)


def times(
    program: Path, model: Any, q: np.ndarray, v: np.ndarray, x: np.ndarray, quantities: Sequence[str] = BOTH
) -> dict[str, tuple[float, np.ndarray]]:
    """Of each quantity the seconds a sample, the least of many rounds, and the results, with a row for each sample."""
    with tempfile.TemporaryDirectory() as folder:
        text, samples, results = (Path(folder) / name for name in ("model", "samples", "results"))
        text.write_text(described(model), encoding="ascii")
        np.concatenate([q, v, x], axis=1).tofile(samples)
        command = [program, text, samples, results, str(len(q)), str(ROUNDS), *quantities]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
        numbers, found, n = np.fromfile(results), dict[str, tuple[float, np.ndarray]](), model.nv
    widths = {"derivatives": 3 * n * n, "inertia": n * n, "energy": 2, "frames": 12 * (model.njoints - 1)}
    for name, seconds in zip(quantities, done.stdout.split()):
        width = widths.get(name, 6 * n if name == "jacobian" else n)
        mine, numbers = np.split(numbers, [len(q) * width])
        found[name] = float(seconds), mine.reshape(len(q), width)
    return found


def described(model: Any) -> str:
    """The model as text: the number of joints and gravity, then of each joint its kind, parent, place and body."""
    lines = [f"{model.njoints - 1} " + _numbers(model.gravity.linear)]
    for i in range(1, model.njoints):
        kind, at, body = (
            model.joints[i].shortname().removeprefix("JointModel"),
            model.jointPlacements[i],
            model.inertias[i],
        )
        numbers = (at.rotation, at.translation, [body.mass], body.lever, body.inertia)
        lines.append(f"{kind} {model.parents[i]} " + " ".join(map(_numbers, numbers)))
    return "\n".join(lines) + "\n"


def _numbers(x: Any) -> str:
    return " ".join(repr(float(y)) for y in np.ravel(x))
