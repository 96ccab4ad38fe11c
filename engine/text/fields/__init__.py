"""What the values of files may be: models of mappings and types of fields, which read, explain and describe them.

A field's type says what the program gets, its reader what may stand in a file.

    field_types   mappings with known keys; quantities, names, points and formulas as fields
    table_fields  fields that consult a table each time that a file is read
    checking      data checked by a model, with pydantic's problems as errors in plain words at their places
    schemas       JSON Schemas for editors, made from the same models
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .checking import checked_document_model
    from .field_types import (
        FORMULA_SCHEMA,
        NAME,
        NO_BOUNDS,
        QUANTITY,
        Angle,
        Angles,
        Bounds,
        FileName,
        Length,
        Name,
        Numbers,
        Or,
        Point,
        Position,
        Reader,
        Strict,
        field_of_several,
        formula_field,
        formula_list_field,
        nearest_file_name,
        quantity_field,
        quantity_kinds_of_fields,
        quantity_list_field,
        read_name,
        reader_of_quantity_field,
        size_of_unit,
        unit_field,
    )
    from .schemas import DIALECT, Schema, described_json_schema, json_schema, json_schema_text
    from .table_fields import Choice, Generated, OneOf
else:
    __getattr__ = door(__name__)
