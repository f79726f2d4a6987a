"""Rows of JSONL files as pydantic models: the kinds of values that files share, and messages that name the key and the fix.

A kind is an annotation with a description, which completes "expected ...": `sample: SampleNumber`, `tokens: Count | None = None`.
May import pydantic.
"""

import typing
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .text import shown


LARGEST = 2**53  # what JavaScript and float64 hold exactly
SAMPLES = 100_000  # of a task: arrays are as wide as the largest number of a sample

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
    """A row, or an object in one. Keys that it does not name may hold anything."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def wrong_value(error: ValidationError, model: type, record: Mapping[str, Any]) -> str:
    """ "tasks.count is 'x'; expected an integer from 0 ...", of the first key of `record` that does not fit `model`.

    Below a key that has a description, the message is about that key as a whole. model: a pydantic model or a dataclass.
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
    """What an annotation takes, in words; whether it says so itself; and the model within, of one that does not."""
    if type(None) in typing.get_args(annotation):
        words, described, inner = _expected(next(one for one in typing.get_args(annotation) if one is not type(None)))
        return f"{words}, or null", described, inner
    for more in typing.get_args(annotation)[1:]:
        if getattr(more, "description", None):
            return more.description, True, None
    if typing.get_origin(annotation) is list:
        return "a list of objects", False, typing.get_args(annotation)[0]
    return "an object", False, annotation
