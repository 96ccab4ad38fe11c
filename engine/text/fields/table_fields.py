"""Field types that consult a table each time that a file is read, so that a row which is added is known at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache, reduce
from operator import or_
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ...errors import allowed_names
from .field_types import Strict


class Choice:
    """A field whose value is the name of a row of some tables.

    The tables are consulted each time that a file is read or a schema is made, so a row that is added to a table can be
    named at once.
    """

    def __init__(self, *tables: Iterable[str]):
        self._tables = tables

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for table in self._tables for name in table))

    def read(self, value: Any) -> str:
        names = self.names
        if not isinstance(value, str) or value not in names:
            raise PydanticCustomError("choice", "unknown value", {**allowed_names(value, names)})
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"enum": list(self.names), "type": "string"}


class OneOf:
    """A mapping that is read by one of a table's models; the mapping names the model under `key`.

    Like `Choice`, it consults the table each time that a file is read or a schema is made.
    """

    def __init__(self, table: Mapping[str, type[Strict]], key: str):
        self._table, self._key = table, key

    @property
    def models(self) -> tuple[type[Strict], ...]:
        return tuple(self._table.values())

    def _read(self, value: Any) -> Strict:
        """The model that the mapping names, of which alone pydantic makes a validator; mistakes are the union's."""
        named = value.get(self._key) if isinstance(value, dict) else None
        if isinstance(named, str) and named in self._table:
            with suppress(ValidationError):
                return self._table[named].model_validate(value)
        read: Strict = _tagged(self.models, self._key).validate_python(value)
        return read

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        made: dict[str, Any] = handler(_tagged(self.models, self._key).core_schema)
        return made


class Generated:
    """A mapping whose model is generated from a table.

    The model is generated anew when a file is read or a schema is made, so it follows the table as `Choice` does. All
    of its keys have defaults.
    """

    def __init__(self, model: Callable[[], type[Strict]]):
        self._model = model

    @property
    def models(self) -> tuple[type[Strict], ...]:
        return (self._model(),)

    def field(self, description: str) -> Any:
        """A field whose default is the mapping in which every key has its default."""

        def with_default(schema: dict[str, Any]) -> None:
            schema["default"] = self._model()().model_dump(mode="json")

        return Field(default_factory=lambda: self._model()(), description=description, json_schema_extra=with_default)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(lambda value: self._model().model_validate(value))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        # pydantic puts what a bare link leads to in the link's place, so the link is taken out of a list's items
        listed = handler(core_schema.list_schema(self._model().__pydantic_core_schema__))
        return {"allOf": [listed["items"]]}


@lru_cache(maxsize=16)
def _tagged(models: tuple[type[Strict], ...], key: str) -> TypeAdapter[Any]:
    """A discriminated union of the models; its errors list the allowed values of the key."""
    union: Any = Annotated[reduce(or_, models), Field(discriminator=key)]
    return TypeAdapter(union)
