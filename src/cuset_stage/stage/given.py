"""Read the weights and spans that a data set gives for its rows and responses.

They are in columns or message keys that the data set's entry in dataset_info.json names, beside LLaMA-Factory's own
names.

    "columns": {..., "weight": "importance", "spans": "passages"}               of a row, and of its last response
    "tags": {..., "loss_weight_tag": "loss_weight", "spans_tag": "spans"}       keys of messages (sharegpt and openai)

A weight is a number of at least 0. A span is {"start": 0, "end": 12} in characters of the response as it stands in the
file, half-open, with a "weight", a "kind" (one of `spans.KINDS`), or both. LLaMA-Factory ignores these names and drops
the columns when it converts a row. So its converter is wrapped while a data set is prepared for `stage: cuset`.
"""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, NamedTuple

from llamafactory.data.converter import get_dataset_converter
from llamafactory.data.parser import DatasetAttr, get_dataset_list

from ..spans import KINDS, LABEL_VERSION
from ..text import InputError, nearest, shown
from .arguments import MOST_WEIGHT
from .rebinding import rebind_globals


COLUMN = "_given"  # a column of converted rows, beside LLaMA-Factory's _prompt and _response
# The names that an entry of dataset_info.json may give, by the group in which they belong.
GROUPS = {"columns": ("weight", "spans"), "tags": ("loss_weight_tag", "spans_tag")}


class GivenSpan(NamedTuple):
    """A range of a response for which the data give a weight, a kind, or both.

    Attributes:
        start: start in characters.
        end: end in characters, half-open.
        weight: weight of its tokens, or None.
        kind: kind of CUDA span, or None.
    """

    start: int
    end: int
    weight: float | None = None
    kind: str | None = None


class GivenResponse(NamedTuple):
    """The weight and spans that the data give for an assistant message."""

    weight: float = 1.0
    spans: tuple[GivenSpan, ...] = ()


@dataclass(frozen=True)
class GivenRow:
    """The weight and the responses' weights and spans that the data give for a row.

    Attributes:
        weight: weight of the whole row.
        responses: one entry per assistant message, earlier turns first. Empty if the data give nothing for any.
    """

    weight: float = 1.0
    responses: tuple[GivenResponse, ...] = ()

    def to_text(self) -> str:
        """Return the row as JSON, for a column of text.

        Arrow would infer the type of a structured column from its first rows, which may have no span or no kind.
        """
        return json.dumps([self.weight, self.responses])

    @classmethod
    def from_text(cls, text: str | None) -> "GivenRow":
        """Return the row that `to_text` wrote. None stands for a row of a data set that names no weights or spans."""
        if text is None:
            return cls()
        weight, responses = json.loads(text)
        spans_of = [(each, tuple(GivenSpan(*span) for span in spans)) for each, spans in responses]
        return cls(weight, tuple(GivenResponse(*each) for each in spans_of))


# ---- names in dataset_info.json


@dataclass(repr=False)
class GivingAttr(DatasetAttr):
    """LLaMA-Factory's entry of dataset_info.json, with the names of weights and spans added.

    Attributes:
        weight: column with the row's weight. None for this and the next three: not named.
        spans: column with the spans of the last response.
        loss_weight_tag: key of a message with its weight.
        spans_tag: key of a message with its spans.
    """

    weight: str | None = None
    spans: str | None = None
    loss_weight_tag: str | None = None
    spans_tag: str | None = None

    def join(self, attr: dict[str, Any]) -> None:
        """Read an entry of dataset_info.json.

        Raises:
            InputError: a name is misplaced, misspelt, or does not fit the form of the rows.
        """
        super().join(attr)
        for group, ours in GROUPS.items():
            names = attr.get(group) or {}
            # LLaMA-Factory ignores a name in the wrong place, so the weights would silently not be used.
            misplaced = [(key, place) for place in ("", *GROUPS) for key in ours if place != group]
            for key, place in misplaced:
                if key in ((attr.get(place) or {}) if place else attr):
                    where = f"under {place}" if place else "beside columns and tags"
                    raise InputError(f"dataset_info.json: {key!r} stands {where} of {self}: it belongs under {group}.")
            for key in names:
                if not hasattr(self, key) and (close := get_close_matches(key, ours, n=1)):
                    raise InputError(
                        f"dataset_info.json: {key!r} under {group} of {self}: no such name; did you mean {close[0]}?"
                    )
            for key in ours:
                self.set_attr(key, names)
        if self.formatting == "alpaca" and (self.loss_weight_tag or self.spans_tag):
            raise InputError(
                f"dataset_info.json: {self} has rows of the form alpaca, which have no messages: name the columns `weight` and `spans` "
                "in place of tags."
            )
        tags = ("messages", "role_tag", "content_tag", "user_tag", "assistant_tag")
        needed = ("response",) if self.formatting == "alpaca" else tags
        if self.gives and (missing := [key for key in needed if getattr(self, key) is None]):
            raise InputError(
                f"dataset_info.json: {self} does not name {', '.join(missing)}: once there are `columns` or `tags`, LLaMA-Factory has no "
                "defaults for what they leave out."
            )

    @property
    def gives(self) -> bool:
        """Whether the entry names weights or spans."""
        return any(getattr(self, key) for keys in GROUPS.values() for key in keys)


def giving_dataset_list(*args: Any) -> list[GivingAttr]:
    """Call LLaMA-Factory's `get_dataset_list`, and return entries that also name weights and spans."""
    return rebind_globals(get_dataset_list, {"DatasetAttr": GivingAttr})(*args)


# ---- reading a row


def read_given(row: dict[str, Any], names: GivingAttr) -> GivenRow:
    """Read the weights and spans of one row of a data file.

    Args:
        row: the row as it stands in the file.
        names: the data set's entry in dataset_info.json.

    Raises:
        InputError: a value is missing or wrong. The message names the column, the value and the fix, but not the row.
    """
    messages = _responses(row, names)
    weight = _weight(row.get(names.weight), f"{names.weight!r}, the weight column") if names.weight else 1.0
    responses = []
    for number, message in enumerate(messages, start=1):
        which = f"of assistant message {number}"
        message_weight, spans = 1.0, []
        if names.loss_weight_tag:
            message_weight = _weight(message.get(names.loss_weight_tag), f"{names.loss_weight_tag!r} {which}")
        if names.spans_tag:
            spans += _spans(message.get(names.spans_tag), f"{names.spans_tag!r} {which}")
        if names.spans and number == len(messages):
            spans += _spans(row.get(names.spans), f"{names.spans!r}, the spans column")
        _check_spans(spans, message, which, names)
        responses.append(GivenResponse(message_weight, tuple(spans)))
    return GivenRow(weight, tuple(responses))


def _responses(row: dict[str, Any], names: GivingAttr) -> list[dict[str, Any]]:
    """Return the assistant messages of a row. Answers of an alpaca row are put in the same form."""
    if names.formatting == "alpaca":
        history = (row.get(names.history) or []) if names.history else []
        return [{names.content_tag: text} for text in (*(turn[-1] for turn in history), row.get(names.response))]
    roles = (names.assistant_tag, names.function_tag)
    return [message for message in row.get(names.messages) or [] if message.get(names.role_tag) in roles]


def _weight(value: Any, what: str) -> float:
    if value is None:
        raise InputError(
            f"{what}, is missing. Give every row and response one (1 changes nothing), or name no column."
        )
    if not isinstance(value, (int, float)) or not 0 <= value <= MOST_WEIGHT:  # also NaN; true and false are 1 and 0
        most = f" and at most {MOST_WEIGHT:g}" if isinstance(value, (int, float)) and value > MOST_WEIGHT else ""
        raise InputError(
            f"{what}, is {shown(value)}; expected a number of at least 0{most} (0 leaves it out, 1 changes nothing)."
        )
    return float(value)


def _spans(value: Any, what: str) -> list[GivenSpan]:
    if not isinstance(value, list):
        problem = "is missing" if value is None else f"is {shown(value)}; expected a list of spans"
        raise InputError(f"{what}, {problem}. Give [] where there are none.")
    return [_span(entry, what) for entry in value]


def _span(value: Any, what: str) -> GivenSpan:
    form = 'expected {"start": 0, "end": 12} with a weight, a kind, or both'
    if not isinstance(value, dict):
        raise InputError(f"{what}, has {shown(value)}; {form}.")
    fields = {key: item for key, item in value.items() if item is not None}  # Arrow fills absent keys with None
    if unknown := fields.keys() - set(GivenSpan._fields):
        raise InputError(f"{what}, has a span with {unknown.pop()!r}; {form}.")
    edges = [fields.get(key) for key in ("start", "end")]
    if not {"weight", "kind"} & fields.keys() or not all(type(edge) is int for edge in edges):
        raise InputError(f"{what}, has {shown(fields)}; {form}.")
    weight, kind = fields.get("weight"), fields.get("kind")
    if kind is not None and kind not in KINDS:
        raise InputError(f"{what}, has {shown(fields)}: {shown(kind)} is no kind of span; {nearest(str(kind), KINDS)}")
    return GivenSpan(
        *edges, None if weight is None else _weight(weight, f"{what}: the weight of {shown(fields)}"), kind
    )


def _check_spans(spans: list[GivenSpan], message: dict[str, Any], which: str, names: GivingAttr) -> None:
    """Check that spans fit the text they belong to, and that weighted spans do not overlap.

    Spans with only a kind may overlap.
    """
    if not spans:
        return
    if message.get("tool_calls") or message.get(names.role_tag) == names.function_tag:
        raise InputError(
            f"the spans {which} are of a tool call, which the chat template writes anew. Weigh the whole message."
        )
    length = len(message.get(names.content_tag) or "")
    end, before = 0, None
    for span in sorted(spans):
        if not 0 <= span.start < span.end <= length:
            raise InputError(
                f"the span {_edges(span)} {which} is not within its {length} characters; expected 0 <= start < end <= {length}."
            )
        if span.weight is None:
            continue
        if span.start < end:
            raise InputError(
                f"the spans {_edges(before)} and {_edges(span)} {which} overlap, and both have a weight. Cut one of them."
            )
        end, before = span.end, span


def _edges(span: GivenSpan) -> str:
    return f"{span.start} to {span.end}"


# ---- through LLaMA-Factory's conversion


def convert_giving(converter: Any, label_version: str, row: dict[str, Any]) -> dict[str, Any]:
    """Convert a row with LLaMA-Factory's converter and add the column `COLUMN`, in the form of `GivenRow.to_text`.

    Args:
        converter: LLaMA-Factory's converter.
        label_version: not used. It is a parameter so that it enters the fingerprint by which `datasets` caches.
        row: the row as it stands in the file.
    """
    converted, names = converter(row), converter.dataset_attr
    if not converted["_response"]:  # the row is dropped later
        return converted | {COLUMN: GivenRow().to_text()}
    try:
        return converted | {COLUMN: read_given(row, names).to_text()}
    except InputError as error:
        prompt = shown(converted["_prompt"][0]["content"], 80)
        raise InputError(f"{names}: the row whose prompt is {prompt}: {error}") from None


def aligned(align_dataset: Callable[..., Any], dataset: Any, names: GivingAttr, data_args: Any, *args: Any) -> Any:
    """Call LLaMA-Factory's `align_dataset`, which converts a data set's rows, and keep their weights and spans."""
    if names.gives:

        def giving_converter(*args: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
            return partial(convert_giving, get_dataset_converter(*args), str(LABEL_VERSION))

        align_dataset = rebind_globals(align_dataset, {"get_dataset_converter": giving_converter})
    try:
        return align_dataset(dataset, names, data_args, *args)
    except ValueError as error:
        if isinstance(error, InputError) or data_args.preprocessing_num_workers is None or "align" not in str(error):
            raise
        # A process that finds no usable row does not learn the columns' types, and its rows do not join the others'.
        data_args = copy.copy(data_args)
        data_args.preprocessing_num_workers = None
        return align_dataset(dataset, names, data_args, *args)
