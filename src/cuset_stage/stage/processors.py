"""LLaMA-Factory's supervised dataset processors, plain and packed, with label columns.

The further columns are `cuda_mask`, `sample_ids`, and `token_weights` if the data or the rules give weights.
token_labels.py describes how labels come through LLaMA-Factory's preprocessing.
"""

import contextlib
import copy
import functools
import itertools
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any

from llamafactory.data.processor import PackedSupervisedDatasetProcessor, SupervisedDatasetProcessor
from llamafactory.data.processor.processor_utils import DatasetProcessor
from llamafactory.extras import logging

from ..objective.cuset import LABEL_COLUMNS as COLUMNS
from .given import COLUMN, GivenRow, aligned, giving_dataset_list
from .token_labels import LabellingTemplate, LabelRules, Passages, unpack_labels


logger = logging.get_logger(f"llamafactory.{__name__}")  # a child of its logger, for its handlers and verbosity

WEIGHTS = "token_weights"  # a third column, only if the data or the rules give weights


def label_columns(names: Container[str]) -> tuple[str, ...]:
    """Return the label columns of rows whose columns have these names."""
    return (*COLUMNS, WEIGHTS) if WEIGHTS in names else COLUMNS


_active: LabelRules | None = None  # the rules within `labelling`


@contextlib.contextmanager
def labelling(rules: LabelRules) -> Iterator[None]:
    """Make LLaMA-Factory's `get_dataset` build data sets labelled by `rules` within this context."""
    global _active
    _active = rules
    try:
        yield
    finally:
        _active = None


def labelling_form(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return the labelling counterpart of a function of LLaMA-Factory's loader.

    Outside of `labelling` this is the function itself.

    Args:
        plain: `_get_dataset_processor`, `get_dataset_list` or `align_dataset`.
    """
    replacements = {
        "_get_dataset_processor": lambda *args, **kwargs: labelling_processor(plain(*args, **kwargs)),
        "get_dataset_list": giving_dataset_list,
        "align_dataset": functools.partial(aligned, plain),
    }
    return plain if _active is None else replacements[plain.__name__]


def labelling_processor(processor: DatasetProcessor) -> DatasetProcessor:
    """Return the labelling counterpart of `processor`. Call it within `labelling`.

    A processor for `predict_with_generate` stays as it is: its rows are prompts, and no loss is computed on them.
    """
    if not isinstance(processor, SupervisedDatasetProcessor):
        return processor
    labelled = (
        LabelledPackedProcessor if isinstance(processor, PackedSupervisedDatasetProcessor) else LabelledProcessor
    )
    return labelled(processor.template, processor.tokenizer, processor.processor, processor.data_args, _active)


@dataclass
class _Labelling:
    """Mixin that lets LLaMA-Factory build rows with tagged token ids and then separates ids and labels.

    Attributes:
        rules: decide the labels. They are an attribute so that they enter the fingerprint by which `datasets` caches.
    """

    rules: LabelRules
    unpack = staticmethod(unpack_labels)

    def preprocess_dataset(self, examples: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Return the columns of a batch of rows, label columns included."""
        examples = self.without_unusable_rows(examples)
        texts = [
            [message["content"] for message in (*prompt, *response)[1::2]]
            for prompt, response in zip(examples["_prompt"], examples["_response"], strict=True)
        ]
        given_rows = map(GivenRow.from_text, examples.get(COLUMN, [None] * len(texts)))
        worker, passages = copy.copy(self), Passages()
        worker.template = LabellingTemplate(self.template, self.rules, zip(texts, given_rows, strict=True), passages)
        rows = super(_Labelling, worker).preprocess_dataset(examples)
        table = passages.table()
        parts = [self.unpack(*row, table) for row in zip(rows["input_ids"], rows["labels"], strict=True)]
        has_weights = COLUMN in examples or self.rules.think_weight != 1.0
        for index, name in enumerate(("input_ids", "labels", *COLUMNS, *[WEIGHTS] * has_weights)):
            rows[name] = [part[index] for part in parts]
        return rows

    def without_unusable_rows(self, examples: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Drop rows that have nothing to learn, and log how many.

        SFT would train on their end-of-turn marker alone.
        """
        rows = len(examples["_prompt"])
        reasons: dict[str, list[int]] = {}
        for index, (prompt, response) in enumerate(zip(examples["_prompt"], examples["_response"], strict=True)):
            if not prompt:  # what LLaMA-Factory makes of such a row
                reasons.setdefault("whose turns do not alternate between user and assistant", []).append(index)
            elif len(response) != 1 or len(prompt) % 2 != 1:
                reasons.setdefault("without an assistant message to learn from", []).append(index)
            elif not str(response[0]["content"] or "").strip():
                reasons.setdefault("with an empty response", []).append(index)
        if not reasons:
            return examples

        for reason, indices in reasons.items():
            first = examples["_prompt"][indices[0]]
            which = f"the first one's prompt begins {str(first[-1]['content'])[:80]!r}; " if first else ""
            logger.warning_rank0(f"Dropped {len(indices)} of {rows} rows {reason}; {which}`cuset label` numbers them.")
        kept = sorted(set(range(rows)).difference(*reasons.values()))
        return {name: [column[index] for index in kept] for name, column in examples.items()}

    def print_data_example(self, example: dict[str, list[int]]) -> None:
        """Print a row as LLaMA-Factory does, and once more with its CUDA tokens marked."""
        super().print_data_example(example)
        print("CUDA tokens, between ⟦ and ⟧:\n" + mark_cuda_tokens(self.tokenizer, example))


@dataclass
class LabelledProcessor(_Labelling, SupervisedDatasetProcessor):
    """Processor that makes one row of each example."""


@dataclass
class LabelledPackedProcessor(_Labelling, PackedSupervisedDatasetProcessor):
    """Processor that packs several examples into a row, for `packing` and `neat_packing`."""


def mark_cuda_tokens(tokenizer: Any, example: dict[str, list[int]]) -> str:
    """Decode the supervised tokens of a row, with every run of CUDA tokens between ⟦ and ⟧."""
    columns = zip(example["cuda_mask"], example["input_ids"], example["sample_ids"], strict=True)
    marked = ""
    for is_cuda, run in itertools.groupby((row for row in columns if row[2]), key=lambda row: row[0] != 0):
        text = tokenizer.decode([token for _, token, _ in run], skip_special_tokens=False)
        marked += f"⟦{text}⟧" if is_cuda else text
    return marked
