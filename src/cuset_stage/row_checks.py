"""Check the rows of JSONL files with pydantic models.

This file has the types of values that several files share, and makes error messages that name the key and the expected
value. A type is an annotation with a description that completes "expected ...", used as in `sample: SampleNumber` or
`tokens: Count | None = None`.
"""

import typing
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .text import shown


LARGEST = 2**53  # up to here, JavaScript and float64 hold integers exactly
SAMPLES = 100_000  # limit of a task's sample numbers, because arrays are as wide as the largest of them

Text = Annotated[str, Field(strict=True, description="text")]
Texts = Annotated[list[Text], Field(description="a list of texts")]
Truth = Annotated[bool, Field(strict=True, description="true or false")]
Object = Annotated[dict[str, Any], Field(description="an object")]
Count = Annotated[int, Field(strict=True, ge=0, lt=LARGEST, description="an integer from 0 below 2**53")]
SampleNumber = Annotated[int, Field(strict=True, ge=0, lt=SAMPLES, description=f"an integer from 0 below {SAMPLES:,}")]
Seconds = Annotated[
    float, Field(strict=True, allow_inf_nan=False, ge=-LARGEST, le=LARGEST, description="a number up to 2**53")
]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False, description="a finite number")]


class RowModel(BaseModel):
    """Base class for a row or an object within a row. Keys that are not fields are ignored, whatever they hold."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def wrong_value(error: ValidationError, model: type, record: Mapping[str, Any]) -> str:
    """Return a message such as "tasks.count is 'x'; expected an integer from 0 ..." about the first key that is wrong.

    If a key has a description, the message is about this key as a whole, even where the error is deeper within its
    value.

    Args:
        error: what pydantic raised for the record.
        model: the pydantic model or the dataclass that the record does not fit.
        record: the row as it was read.
    """
    where, value, expected, inner = "", record, "an object", model
    for part in error.errors(include_url=False, include_context=False)[0]["loc"]:
        if isinstance(part, int):
            where, value, expected = f"{where}[{part}]", value[part], "an object"
            continue
        where = f"{where}.{part}" if where else str(part)
        if typing.get_origin(inner) is dict:
            annotation = typing.get_args(inner)[1]
        else:
            names = {field.alias: name for name, field in getattr(inner, "model_fields", {}).items() if field.alias}
            annotation = typing.get_type_hints(inner, include_extras=True)[names.get(part, part)]
        expected, described, inner = _expected(annotation)
        if part not in value:
            there = f"; there are {', '.join(map(str, value))}" if value else ""
            return f"{where} is missing; expected {expected}{there}"
        value = value[part]
        if described:
            break
    return f"{where} is {shown(value, 80)}; expected {expected}"


def _expected(annotation: Any) -> tuple[str, bool, Any]:
    """Return what an annotation expects in words, whether this is its own description, and if not, its inner type."""
    if type(None) in typing.get_args(annotation):
        words, described, inner = _expected(next(arg for arg in typing.get_args(annotation) if arg is not type(None)))
        return f"{words}, or null", described, inner
    for metadata in typing.get_args(annotation)[1:]:
        if getattr(metadata, "description", None):
            return metadata.description, True, None
    if typing.get_origin(annotation) is list:
        return "a list of objects", False, typing.get_args(annotation)[0]
    return "an object", False, annotation
