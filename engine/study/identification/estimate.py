"""The numbers of a robot from measured motions and forces: `denoc.identify`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, NumericalError, Place, did_you_mean
from ...mechanics.numbers import parameters, regressor_speeds
from ...robot import Robot
from .columns import (
    Sought,
    best_distance,
    friction_columns,
    identification_regressor_rows,
    length_scale_of_identification,
    modelled_efforts,
    plain_rows,
    remaining_measured_efforts,
    seen,
    sizes_of_identified_numbers,
    sliding,
    sought_identification_numbers,
)
from .least_squares import (
    ROUNDED,
    Fit,
    identification_solver,
    identified_numbers_kept,
    least_change_of_identified_numbers,
    physical_identified_numbers,
    solve_identification_fit,
)
from .recorded import Recorded, measured_effort_columns, recorded_measurement
from .report import Identified, unwritable_identified_numbers
from .settings import DataFile, IdentificationFile, friction_fits_joints, identification_settings, placed_in_study

SHOWN = 4.0  # standard errors beyond which dry friction is there: its path is the best of many
TYPICAL = 1e-4  # share of a joint's travel that is taken for a distance at first


LARGEST = 1e30  # of what is measured and of a robot's own numbers, whose products are squared
Data = str | Path | Mapping[str, Any] | Sequence[str | Path]


def identify(
    robot: Robot,
    data: Data = (),
    study: str | Path | dict[str, Any] | None = None,
    *,
    test: Sequence[str | Path] = (),
    physical: bool | None = None,
) -> Identified:
    """The numbers of a robot that fit measured motions and efforts best.

    `data` are CSV files to fit to, beside those of the file `study`, or a mapping with arrays `q`, `qd`, `qdd`, `tau`
    (rows are instants; of all joints) and perhaps `t`.
    """
    if not isinstance(robot, Robot):
        raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
    settings, document, folder = identification_settings(study)
    friction_fits_joints(robot, settings, document)
    physical = settings.physical if physical is None else physical
    if physical:
        identification_solver()
    if settings.filter is not None and isinstance(data, Mapping) and not settings.train:
        raise document.error(
            ("filter",), "arrays that are given aren't filtered", key=True, allowed="no `filter`, or data in files"
        )
    if settings.friction.law == "dahl" and isinstance(data, Mapping) and "t" not in data:
        raise InputError(
            "friction that builds up along a path needs instants", key="friction.law", allowed="data with `t`"
        )
    for key, files in (("train", settings.train), ("test", settings.test)):
        for k, one in enumerate(files):
            directory = os.path.isdir(folder / one.file)
            if directory or not os.path.lexists(folder / one.file):
                why = "this is a directory, not a file" if directory else "there is no such file"
                found, allowed = f"`{one.file}`", "a CSV file, from this file's folder"
                raise document.error((key, k, "file"), why, found=found, allowed=allowed)
    with placed_in_study(document), np.errstate(all="ignore"):
        training, others = _motions(robot, data, test, settings, folder)
    if not training:
        raise document.error((), "there are no data to fit to", allowed="`train: [file.csv]`, or files as arguments")
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = sought_identification_numbers(robot, settings.estimate, settings.friction)
    _check_sizes(robot, wanted.values, (*training, *others))
    return _identified(wanted, training, others, settings.errors, physical)


def _check_sizes(robot: Robot, numbers: np.ndarray, motions: Sequence[Recorded]) -> None:
    """Refuses numbers whose products are beyond what a computer's numbers can be."""
    if not (abs(numbers) <= LARGEST).all():
        raise InputError(
            f"numbers of {robot.name} are too large to compute with",
            found=f"{abs(numbers).max():.3g}",
            allowed=f"numbers up to {LARGEST:g}",
        )
    for motion in motions:
        rows = {"positions": motion.q, "speeds": motion.qd, "accelerations": motion.qdd, "efforts": motion.efforts}
        for what, x in rows.items():
            bad = np.argwhere(~(abs(x) <= LARGEST))
            if len(bad):
                row, column = bad[0]
                raise InputError(
                    f"{what} are too large to compute with",
                    place=Place(motion.name),
                    found=f"{x[row, column]:.3g} at t = {motion.t[row]:g} s",
                    allowed=f"numbers up to {LARGEST:g}",
                )


def _motions(
    robot: Robot, data: Data, test: Sequence[str | Path], settings: IdentificationFile, folder: Path
) -> tuple[list[Recorded], list[Recorded]]:
    """The motions to fit to, and those to compare with."""

    def read(files: Sequence[DataFile], home: Path) -> list[Recorded]:
        return [recorded_measurement(robot, one, settings, home) for one in files]

    training = read(settings.train, folder)
    if isinstance(data, Mapping):
        training.append(_given(robot, data))
    else:
        listed = [data] if isinstance(data, str | Path) else list(data)
        training += read([DataFile(file=str(one)) for one in listed], Path())
    others = read(settings.test, folder) + read([DataFile(file=str(one)) for one in test], Path())
    return training, others


def _given(robot: Robot, data: Mapping[str, Any]) -> Recorded:
    """A motion that is given as arrays."""
    widths = {"q": robot.nq, "qd": robot.nv, "qdd": robot.nv, "tau": len(measured_effort_columns(robot))}
    for name in data:
        if name not in ("t", *widths):
            hint = did_you_mean(str(name), widths)
            raise InputError(
                "no such data", key="data", found=f"`{name}`", allowed="t, " + ", ".join(widths), hint=hint
            )
    arrays = {name: _numbers(name, data.get(name, ())) for name in widths}
    rows = len(arrays["q"])
    for name, width in widths.items():
        x = arrays[name]
        if x.ndim != 2 or x.shape[1] != width or len(x) != rows:
            raise InputError(f"`{name}` has another shape", found=str(x.shape), allowed=f"(instants, {width})")
    t = _numbers("t", data.get("t", np.arange(rows)))
    if t.shape != (rows,):
        raise InputError("`t` has another shape", found=str(t.shape), allowed=f"({rows},)")
    if rows and not (np.diff(t) > 0.0).all():
        raise InputError("`t` doesn't rise from row to row", key="t", allowed="instants in their order, each once")
    return Recorded("data", t, arrays["q"], arrays["qd"], arrays["qdd"], arrays["tau"])


def _numbers(name: str, values: Any) -> np.ndarray:
    """An array of finite numbers."""
    try:
        x = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` is no array of numbers", key=name, allowed="numbers in SI units") from None
    if not np.isfinite(x).all():
        raise InputError(f"`{name}` has a number that isn't finite", key=name)
    return x


def _identified(
    wanted: Sought, training: list[Recorded], others: list[Recorded], errors: str, constrained: bool
) -> Identified:
    """The fit to some motions, compared with others."""
    robot, base = wanted.robot, wanted.base
    columns, places = list(base.columns), list(wanted.places)
    wanted = with_distances(wanted, training)
    regressors = [identification_regressor_rows(wanted, one) for one in training]
    Y = np.concatenate(regressors)
    y = np.concatenate([remaining_measured_efforts(wanted, rows, one) for rows, one in zip(regressors, training)])
    with np.errstate(over="ignore"):
        if not (np.isfinite(Y * Y).all() and np.isfinite(y * y).all()):
            raise NumericalError(f"{robot.name}: the forces of these motions are too large to compute with")
    ends = np.cumsum([len(one.t) for one in training])
    fit: Fit = solve_identification_fit(Y[..., columns], y, base.values, list(ends), errors)
    size = sizes_of_identified_numbers(wanted, training)
    if constrained:
        size_of_links = length_scale_of_identification(robot)
        fitted = physical_identified_numbers(
            Y[..., places], y, fit.deviations, wanted.numbers, wanted.values[places], size, size_of_links
        )
        fitted = identified_numbers_kept(wanted.numbers, base.silent, fitted, wanted.values[places])
    else:
        fitted = least_change_of_identified_numbers(
            base.grouping, fit.values, wanted.numbers, wanted.values[places], size
        )
        fitted[abs(fitted) < ROUNDED * size] = 0.0
    shown = (base.grouping != 0).any(axis=0) | constrained
    numbers = wanted.values.copy()
    numbers[places] = np.where(shown, fitted, wanted.values[places])
    source = parameters(robot)
    own = dict(zip(source, map(float, numbers)))
    efforts = measured_effort_columns(robot)

    def compared(motions: list[Recorded]) -> dict[str, dict[str, float]]:
        return {
            one.name: dict(zip(efforts, _error(modelled_efforts(wanted, one, numbers), one.efforts))) for one in motions
        }

    return Identified(
        robot=robot,
        names=base.names,
        words=tuple(base.words(name) for name in base.names),
        values=base.grouping @ fitted if constrained else fit.values,
        errors=fit.errors,
        of_file=base.values,
        determined=fit.determined,
        silent=base.silent,
        condition=fit.condition,
        deviations=dict(zip(efforts, map(float, fit.deviations))),
        correlated=fit.correlated,
        lags=fit.lags,
        physical=constrained,
        numbers=own,
        distances=_distances(wanted, own, dict(zip(base.names, fit.errors.tolist()))),
        train=compared(training),
        test=compared(others),
        unwritable=tuple(unwritable_identified_numbers(robot, own, source)),
        sources=tuple(one.name for one in training),
    )


def _distances(wanted: Sought, numbers: Mapping[str, float], errors: Mapping[str, float]) -> dict[str, float]:
    """The paths on which dry friction builds up, of those joints whose dry friction is more than its standard error."""
    found = {}
    for name, k, _ in regressor_speeds(wanted.robot):
        dry, error = numbers[f"{name}.coulomb"], errors.get(f"{name}.coulomb", 0.0)
        if k in wanted.distances and dry and not abs(dry) <= SHOWN * error:
            found[name] = wanted.distances[k]
    return found


def _error(fitted: np.ndarray, efforts: np.ndarray) -> list[float]:
    """The RMS of the differences in % of the RMS effort."""
    own, off = (np.sqrt((x**2).mean(axis=0)) for x in (efforts, efforts - fitted))
    return [float(100 * b / a) if a else float("nan") for a, b in zip(own, off)]


def with_distances(wanted: Sought, motions: Sequence[Recorded]) -> Sought:
    """The same with the distances of the law `dahl`: those of the file, or those that the motions tell.

    Each is found for itself, from the efforts that it acts on; friction that isn't sought has the first guess.
    """
    given, robot = wanted.friction.distance, wanted.robot
    if wanted.friction.law != "dahl":
        return wanted
    travels = {k: _travel(motions, k) for k, _, _ in friction_columns(robot)}
    wanted = replace(wanted, distances={k: given or TYPICAL * travel for k, travel in travels.items()})
    if given:
        return wanted
    rows = [identification_regressor_rows(wanted, one) for one in motions]
    efforts = np.concatenate([remaining_measured_efforts(wanted, Y, one) for Y, one in zip(rows, motions)])
    Y = np.concatenate(rows)
    constants = [plain_rows(robot, one.whole or one) for one in motions]
    found = {}
    for k, dry, constant in friction_columns(robot):
        if dry not in wanted.base.columns:
            continue
        j = int(np.argmax((Y[..., constant] ** 2).sum(axis=0)))  # the effort that it acts on

        def column(distance: float, k: int = k, j: int = j, constant: int = constant) -> np.ndarray:
            parts = []
            for one, whole in zip(motions, constants):
                of = one.whole or one
                parts.append(seen(whole[:, j, constant] * sliding(of.t, of.qd[:, k], distance), one))
            return np.concatenate(parts)

        others = [c for c in wanted.base.columns if c != dry]
        found[k] = best_distance(Y[:, j, others], efforts[:, j], column, travels[k])
    return replace(wanted, distances=wanted.distances | found)


def _travel(motions: Sequence[Recorded], k: int) -> float:
    """The widest range of positions that a speed leads through."""
    wholes = [one.whole or one for one in motions]
    paths = [np.cumsum((one.qd[1:, k] + one.qd[:-1, k]) / 2 * np.diff(one.t)) for one in wholes]
    return max(float(np.ptp(np.append(0.0, path))) for path in paths) or 1.0
