"""The file that says what the columns of measured data are, and how numbers are identified from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from ...errors import InputError
from ...mechanics.numbers import OF_SPEED, STIFFNESS
from ...robot import Robot
from ...robot.read import joint_number_fits_unit
from ...text import Document, document_from_mapping, read_yaml_document
from ...text.fields import Choice, Or, Strict, checked_document_model, quantity_field, quantity_list_field

INERTIA = "inertia"  # stands for the ten numbers of every link
ESTIMATED = (INERTIA, *OF_SPEED, STIFFNESS)
MEASURED = ("positions", "speeds", "accelerations", "efforts")
Whole = Annotated[StrictInt, Field(ge=0)]
Column = StrictInt | str  # by its place, from 1, or by its name


def _rows(value: Any) -> Any:
    """Two places of rows, in order."""
    numbers = isinstance(value, list | tuple) and len(value) == 2 and all(type(x) is int for x in value)
    if not numbers or not 1 <= value[0] < value[1]:
        raise PydanticCustomError("rows", "two places of rows are needed", {"allowed": "[first, last], from 1"})
    return tuple(value)


class DataFile(Strict):
    file: str = Field(description="a CSV file, from this file's folder")
    rows: Annotated[tuple[StrictInt, StrictInt], BeforeValidator(_rows)] | None = Field(
        default=None, description="[first, last] of the rows that are used, counted from 1 without the header"
    )


def _file(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


AnyFile = Annotated[DataFile, BeforeValidator(_file), Or((("type", "string"),))]


class Columns(Strict):
    """What the columns are; lists are in the order of the joints' columns in denoc's own tables."""

    time: Column | None = Field(default=None, description="default: `t`, or else the first column")
    positions: list[Column] | None = Field(default=None, description="default: <joint>.q")
    speeds: list[Column] | None = Field(default=None, description="default: <joint>.qd, or else by differences")
    accelerations: list[Column] | None = Field(default=None, description="default: <joint>.qdd, or else by differences")
    efforts: list[Column] | None = Field(default=None, description="forces and torques; default: <joint>.tau")
    currents: list[Column] | None = Field(default=None, description="of the motors, in place of efforts")

    @model_validator(mode="after")
    def _one_of_both(self) -> Columns:
        if self.efforts is not None and self.currents is not None:
            raise PydanticCustomError("both", "efforts and currents are given", {"allowed": "one of them"})
        return self


class Filter(Strict):
    """A Butterworth filter that runs forwards and backwards, so that it delays nothing."""

    cutoff: Annotated[float, quantity_field("frequency", above=0.0)] = Field(description="of one direction")
    order: Annotated[StrictInt, Field(ge=1, le=12)] = Field(default=5, description="of one direction")
    of: list[Annotated[str, Choice(MEASURED)]] = Field(
        default=list(MEASURED), min_length=1, description="what is filtered; with efforts also those of the model"
    )


class DryFriction(Strict):
    """Coulomb friction over the speed."""

    law: Literal["sign", "tanh", "dahl"] = Field(
        default="sign", description="`tanh`: tanh(speed / width); `dahl`: builds up along a path after every reversal"
    )
    width: Annotated[float, quantity_field("velocity", above=0.0)] = Field(default=0.01, description="of tanh")
    distance: Annotated[float, quantity_field("position", above=0.0)] | None = Field(
        default=None, description="of dahl: of the path, to 63 %; default: found for each joint"
    )


class IdentificationFile(Strict):
    train: list[AnyFile] = Field(default=[], description="files that the numbers are fitted to")
    test: list[AnyFile] = Field(default=[], description="files that the result is compared with")
    header: StrictBool = Field(default=True, description="whether the first line of the files names the columns")
    columns: Columns = Field(default=Columns(), description="what the columns are")
    gains: Annotated[tuple[float, ...], quantity_list_field("number")] | None = Field(
        default=None, description="effort over current, for each column of currents"
    )
    drop: Whole = Field(default=0, description="rows left out at both ends, after filtering and differences")
    every: Annotated[StrictInt, Field(ge=1)] = Field(default=1, description="one of so many rows is used")
    filter: Filter | None = Field(default=None, description="default: none")
    friction: DryFriction = Field(default=DryFriction(), description="the law of dry friction")
    estimate: list[Annotated[str, Choice(ESTIMATED)]] = Field(
        default=list(ESTIMATED),
        min_length=1,
        description="kinds of numbers; others keep the values of the robot's file",
    )
    errors: Literal["auto", "white", "autocorrelated"] = Field(
        default="auto", description="what standard errors take the residuals for; auto: as they are"
    )
    physical: StrictBool = Field(default=False, description="every link is one that a rigid body can be")

    @model_validator(mode="after")
    def _gains_go_with_currents(self) -> IdentificationFile:
        count = len(self.columns.currents or ())
        given = 0 if self.gains is None else len(self.gains) if isinstance(self.gains, tuple) else 1
        if count != given:
            raise PydanticCustomError(
                "gains", "gains and currents must be as many", {"found": f"{given} and {count}", "allowed": "one each"}
            )
        return self


def identification_settings(study: str | Path | dict[str, Any] | None) -> tuple[IdentificationFile, Document, Path]:
    """The settings of a file or of a mapping, their document, and the folder that their files are in."""
    if study is None:
        return IdentificationFile(), document_from_mapping({}), Path()
    document = document_from_mapping(study) if isinstance(study, dict) else read_yaml_document(Path(study))
    folder = Path() if isinstance(study, dict) else Path(study).parent
    settings = checked_document_model(IdentificationFile, document, document.data)
    for key, law in (("width", "tanh"), ("distance", "dahl")):
        if key in settings.friction.model_fields_set and settings.friction.law != law:
            raise document.error(
                ("friction", key),
                f"`{key}` belongs to `law: {law}`",
                key=True,
                found=f"law: {settings.friction.law}",
                allowed=f"{{law: {law}, {key}: …}}",
            )
    return settings, document, folder


def friction_fits_joints(robot: Robot, settings: IdentificationFile, document: Document) -> None:
    """Raises an error if a number of the law of friction has a unit that none of the robot's joints has."""
    friction, turning = settings.friction, {turns for joint in robot.moving for turns in joint.type.turning}
    if len(turning) != 1:
        return

    def complain(*path: Any, **parts: Any) -> InputError:
        return document.error(path[:-1], path[-1], **parts)

    width, distance = ("rate", "angle") if turning == {True} else ("speed", "length")
    joint_number_fits_unit(friction.width, width, ("friction", "width"), complain)
    joint_number_fits_unit(friction.distance or 0.0, distance, ("friction", "distance"), complain)


@contextmanager
def placed_in_study(document: Document) -> Iterator[None]:
    """Gives errors about a key of the study that only the data tell its place in the study's file."""
    try:
        yield
    except InputError as error:
        if error.place is not None or not error.key.startswith(("filter.", "columns.")):
            raise
        path = tuple(error.key.split("."))
        raise document.error(path, error.message, **error.words) from None
