"""The variations of an ensemble: read, applied to the files, and planned."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..formats import load
from ..robot import Robot
from ..scenario import (
    Plan,
    Scenario,
    changed_robot_of_scenario,
    opened_scenario,
    plan_of_scenario,
    prepared_scenario_replay,
    robot_of_scenario,
)
from ..text import ROBOT, Change, Keys, changed_document, document_from_mapping, parted_changes, yaml_flow_text
from .vary_masses import Values, varied_key_may_be_plain

Variation = Mapping[str, Any]
MOST = 100_000  # variations
NUMBERS = (float, np.float64)
WHOLE = 2**53  # larger whole numbers are left to the reader
NUDGE = 1.0 + 2.0**-10
OF_KEY = ": "  # between what asked for a change and its key


@dataclass(frozen=True)
class Columns:
    """So many variations that change the same keys: the values of each key in all of them."""

    count: int
    values: Mapping[str, Values]

    def __len__(self) -> int:
        return self.count

    def some(self, these: slice) -> Columns:
        """A part of the variations."""
        parts = {key: values[these] for key, values in self.values.items()}
        return Columns(len(range(self.count)[these]), parts)

    def one(self, k: int) -> dict[str, Any]:
        """The changes of variation k."""
        return {key: values[k] for key, values in self.values.items()}

    @property
    def plain(self) -> bool:
        """Whether all values are plain numbers."""
        return bool(self.values) and all(set(map(type, values)) == {float} for values in self.values.values())


class Variations:
    """Variations of one scenario and its robot.

    If they are `independent`, the result of each is the same to the last bit whichever others there are.
    """

    def __init__(
        self,
        scenario: Scenario,
        variations: Sequence[Variation] | Columns,
        robot: Robot | str | Path | None,
        independent: bool = False,
    ):
        self.independent, self.fewest = independent, 1 if independent else 2  # runs that go side by side
        self.document, name, beside = opened_scenario(scenario)
        given = robot if robot is None or isinstance(robot, Robot) else load(robot)
        self.base = given or robot_of_scenario(self.document, beside)
        self.name = name or f"{self.base.name}-ensemble"
        self._robots: dict[str, Robot] = {}
        self.exemplars: dict[Hashable, Any] = {}  # of families: what the runs of later variations go by, too
        self._unvaried: list[Plan] = []
        self._all = _listed(variations)

    @cached_property
    def tuned(self) -> bool:
        """Whether gains of force laws are inputs of programs, since they may differ."""
        keys = self._all.values if isinstance(self._all, Columns) else {key for one in self._all for key in one}
        return self.independent or any(key.startswith("forces.") for key in keys)

    def with_others(self, variations: Sequence[Variation] | Columns) -> Variations:
        """Other variations of the same files, which aren't read again."""
        other = copy.copy(self)
        other._all = _listed(variations)
        other.__dict__.pop("tuned", None)
        return other

    def __len__(self) -> int:
        return len(self._all)

    def one(self, k: int) -> dict[str, Any]:
        """The values of the keys that variation k changes."""
        return self._all.one(k) if isinstance(self._all, Columns) else self._all[k]

    def plan(self, k: int) -> Plan:
        """The plan of variation k."""
        return self._planned(self._changes(k))

    def robot(self, k: int) -> Robot:
        """The robot of variation k, which may be that of another one with the same values."""
        return self._robot(parted_changes(self._changes(k))[1])

    @property
    def unvaried(self) -> Plan:
        """The plan of the scenario without variations."""
        if not self._unvaried:
            self._unvaried.append(self._planned([]))
        return self._unvaried[0]

    def nudged(self, k: int) -> Plan | None:
        """The plan of variation k with slightly other numbers of links: shows which numbers are theirs."""
        changes = [
            replace(one, value=NUDGE * one.value)
            if one.key.startswith(ROBOT) and varied_key_may_be_plain(one.key) and type(one.value) in NUMBERS
            else one
            for one in self._changes(k)
        ]
        return self._planned(changes) if changes != self._changes(k) else None

    def _planned(self, changes: list[Change]) -> Plan:
        rest, of_robot = parted_changes(changes)
        robot, document = self._robot(of_robot), changed_document(self.document, rest)
        made = plan_of_scenario(document, robot, self.name)
        # notes of another run would keep each of these to its plain text; blocks of columns have no place for errors
        solver = made.file.solver.model_copy(update={"error": "accept"}) if self.independent else made.file.solver
        made = replace(made, file=made.file.model_copy(update={"replay": None, "solver": solver}))
        if self.tuned:
            made = replace(made, system=replace(made.system, tuned=True))
        return prepared_scenario_replay(made, document, changes)

    def _robot(self, of_robot: list[Change]) -> Robot:
        mark = repr(sorted((one.key, one.value) for one in of_robot))
        if mark not in self._robots:
            self._robots = {
                mark: changed_robot_of_scenario(self.base, of_robot)
            }  # only the last one, for there may be many
        return self._robots[mark]

    def _changes(self, k: int) -> list[Change]:
        return _changes_of(self.one(k), k)

    # ---- variations of the same keys

    def families(self) -> dict[Hashable, Sequence[int]]:
        """The places of variations with the same keys, in groups by what they have in common.

        Independent ones have the same values, too, but for numbers that may be inputs of programs: each run of a family
        goes by the program that it would have by itself.
        """
        groups: dict[Hashable, list[int]] = {}
        fixed: dict[tuple[str, ...], list[str]] = {}  # by all keys, those that can't be inputs
        if isinstance(self._all, Columns) and all(map(varied_key_may_be_plain, self._all.values)):
            return {(tuple(self._all.values), ""): range(len(self._all))}
        for k, one in enumerate(map(self.one, range(len(self)))):
            keys = tuple(one)
            if self.independent and keys not in fixed:
                fixed[keys] = [key for key in keys if not varied_key_may_be_plain(key)]
            values = repr([one[key] for key in fixed[keys]]) if fixed.get(keys) else ""
            groups.setdefault((keys, values), []).append(k)
        return {**groups}

    def columns(
        self, first: Plan, exemplar: Mapping[str, Any], family: Sequence[int]
    ) -> tuple[dict[Keys, Values], dict[Keys, Values]]:
        """The values of those keys that differ within a family, by their paths in the scenario and in the robot.

        Those of the exemplar come before them: the variation that `first` is the plan of.
        """
        changed = parted_changes(_changes_of(exemplar, 0))[0]
        scenario, robot = changed_document(self.document, changed), first.robot.document
        # by keys, because the robot may be that of another variation with the same values
        places = {_key_of_label(label): path for path, label in scenario.changed.items()}
        in_file = {_key_of_label(label): path for path, label in robot.changed.items()} if robot is not None else {}
        of_scenario: dict[Keys, Values] = {}
        in_robot: dict[Keys, Values] = {}
        for key, values in self._values(exemplar, family):
            first = values[0]  # numbers of different types aren't the same, for a key may take one type only
            equal = all(x is first for x in values) or all(type(x) is type(first) and x == first for x in values)
            if equal and not (self.independent and _plain(first)):
                continue
            if key in in_file:
                in_robot[in_file[key]] = values
            else:
                of_scenario[places[key]] = values
        return of_scenario, in_robot

    def _values(self, exemplar: Variation, family: Sequence[int]) -> Iterable[tuple[str, Values]]:
        """The values of each key, those of the exemplar first."""
        if isinstance(self._all, Columns):
            whole = len(family) == len(self._all)
            return [
                (key, [exemplar[key], *(values if whole else [values[k] for k in family])])
                for key, values in self._all.values.items()
            ]
        return zip(exemplar, zip(exemplar.values(), *(self.one(k).values() for k in family)))


def _changes_of(one: Variation, k: int) -> list[Change]:
    """What variation k changes."""
    return [
        Change(key, value, f"variations[{k}]{OF_KEY}{key}", f"{key}={yaml_flow_text(value)}")
        for key, value in one.items()
    ]


def _key_of_label(label: str) -> str:
    """The key in the label of a change."""
    return label.partition(OF_KEY)[2]


def _plain(value: Any) -> bool:
    """Whether a value is a number, or a list of numbers."""
    return type(value) in NUMBERS or (isinstance(value, list) and all(type(x) in (*NUMBERS, int) for x in value))


def _of_numbers(value: Any) -> bool:
    """Whether a value is a list of plain numbers."""
    return type(value) is list and all(type(x) is float or (type(x) is int and abs(x) <= WHOLE) for x in value)


def _listed(variations: Sequence[Variation] | Columns) -> list[dict[str, Any]] | Columns:
    """The variations as a list of mappings with plain values; columns of plain numbers stay as they are."""
    if isinstance(variations, Columns):
        if variations.plain:
            document_from_mapping(variations.one(0))  # which has the same keys as the others
            return variations
        variations = [variations.one(k) for k in range(len(variations))]
    form = "a list of mappings: [{'initial.joint1': 0.1}, …]"
    if isinstance(variations, str | Mapping) or not isinstance(variations, Iterable):
        raise InputError("the variations are not a list", found=type(variations).__name__, allowed=form)
    listed = list(islice(variations, MOST + 1))
    if len(listed) > MOST:
        raise InputError(f"more than {MOST} variations", allowed=f"at most {MOST} at once")
    known = set[str]()  # keys that have been checked
    result = []
    for k, one in enumerate(listed):
        if not isinstance(one, Mapping):
            raise InputError("not a mapping", key=f"variations[{k}]", found=type(one).__name__, allowed=form)
        values = [*one.values()]
        if known.issuperset(one) and all(type(value) in NUMBERS or _of_numbers(value) for value in values):
            result.append(dict(zip(one, [[*value] if type(value) is list else float(value) for value in values])))
        else:
            result.append(document_from_mapping(one).data)
            known.update(result[-1])
    return result
