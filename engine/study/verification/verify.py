"""Verification of a stored result: everything in it is computed again from its own files, by other means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...errors import DenocError, InputError, allowed_names
from ...machine.backend import using_backend
from ...record.compared import Difference
from ...robot import Robot
from ...scenario import (
    Prepared,
    Stored,
    error_sentences,
    plan_of_scenario,
    prepared_scenario_replay,
    robot_of_scenario,
    scenario_of_result,
)
from ...text import read_yaml_document
from .check import (
    EXACT,
    Check,
    Progress,
    allowed_share_of_run,
    check_closure_of_rows,
    check_columns_of_result,
    check_energy_of_rows,
    check_files_of_result,
    check_motion_of_rows,
    run_of_result_again,
)
from .peer import ImpossibleError, Mujoco, PeerModel, Pinocchio, PlainText
from .stored_rows import StoredRows


@dataclass(frozen=True)
class Verification:
    """All checks of one result, and notes on what could not be checked."""

    result: str
    checks: list[Check]
    notes: list[str]
    tolerance: float  # of the recomputed columns

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


def verify_result(
    kept: Stored, engines: Sequence[str] = (), tolerance: float | None = None, report: Progress = lambda _, __: None
) -> Verification:
    """The checks of a result: its files, its columns, its rows by each engine, its loops, its energy.

    `tolerance` is what is allowed of a column's largest number, in place of what follows from the run.
    """
    notes: list[str] = []
    files = check_files_of_result(kept, notes)
    if kept.record.get("ended") != kept.record.get("expected"):
        notes.append(f"the run ended as `{kept.record.get('ended')}`: {kept.record.get('reason')}")
    try:
        made = _plan(kept)
    except DenocError as error:
        if files.ok:
            raise
        lost = Difference("scenario", f"can't be read: {error}")
        return Verification(kept.name, [files, Check("columns", "plain text", "nothing", [lost])], notes, 0.0)
    peers = [peer_engine(name, made.robot) for name in dict.fromkeys(engines)]
    with using_backend("plain"):
        again = run_of_result_again(made, report)
        allowed = allowed_share_of_run(made, again) if tolerance is None else tolerance
        columns = check_columns_of_result(kept, made, again, allowed, sensitive=tolerance is None, report=report)
        checks = [files, columns]
        reading = StoredRows(made, kept.t, kept.table, bool(again.audit["steps"]))
        try:
            rows = reading.rows()
        except InputError as error:
            notes.append(f"the equations of motion were not checked: {error.message}")
            if peers:
                raise
        else:
            share = EXACT if tolerance is None else tolerance
            for engine in (PlainText(made.robot), *peers):
                report(f"checking rows by {engine.title}", None)
                checks.append(check_motion_of_rows(reading, rows, engine, share, notes))
            if made.system.loops.m:
                close = share if made.system.method.closes else allowed
                checks.append(check_closure_of_rows(made, made.system.loops, kept.t[reading.sound], rows, close))
        checks += check_energy_of_rows(kept, made, again, EXACT if tolerance is None else tolerance)
    notes += error_sentences(kept.record.get("error"))
    return Verification(kept.name, checks, list(dict.fromkeys(notes)), allowed)


def _plan(kept: Stored) -> Prepared:
    """The plan of the result's own scenario with its own robot; what it notes of the run's programs is left out."""
    path = scenario_of_result(kept.folder, kept.name)
    document = read_yaml_document(path)
    made = plan_of_scenario(document, robot_of_scenario(document, path.parent), kept.name)
    once = made.file.solver.model_copy(update={"error": "accept"})
    made = replace(made, file=made.file.model_copy(update={"replay": None, "solver": once}))
    if kept.record.get("ended") == "interrupted":  # as far as it came
        made = replace(made, grid=made.grid[made.grid <= kept.t[-1]])
    return prepared_scenario_replay(made, document)


@dataclass(frozen=True)
class Peer:
    """An engine: its title, the package that brings it, and a function that builds a robot in it."""

    title: str
    package: str
    make: Callable[[Robot], PeerModel]


PEERS = {"pinocchio": Peer("Pinocchio", "pin", Pinocchio), "mujoco": Peer("MuJoCo", "mujoco", Mujoco)}


def peer_engine(name: str, robot: Robot) -> PeerModel:
    """The robot in another engine; engines that aren't installed, or have no model for it, are refused."""
    row = PEERS.get(name)
    if row is None:
        raise InputError("unknown engine", key="--with", found=f"`{name}`", **allowed_names(name, PEERS))
    try:
        return row.make(robot)
    except ImportError:
        hint = f"python -m pip install {row.package}"
        raise InputError(f"{row.title} isn't installed here", key="--with", found=f"`{name}`", hint=hint) from None
    except ImpossibleError as error:
        raise InputError(f"{robot.name}: {row.title} {error}", key="--with", found=f"`{name}`") from None
