"""LLaMA-Factory's supervised dataset processors, plain and packed, with two more columns: `cuda_mask` and `sample_ids`."""

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from llamafactory.data.processor import PackedSupervisedDatasetProcessor, SupervisedDatasetProcessor
from llamafactory.data.processor.processor_utils import DatasetProcessor
from llamafactory.extras import logging

from ..spans import LABEL_VERSION
from .token_labels import LabellingTemplate, unpack_labels


logger = logging.get_logger(f"llamafactory.{__name__}")  # under its handlers and its verbosity

COLUMNS = ("cuda_mask", "sample_ids")


@dataclass(frozen=True)
class LabelRules:
    """What decides a data set's labels besides the text; a change of it makes cached and saved labels invalid."""

    kinds: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    label_version: str = str(LABEL_VERSION)


_active: LabelRules | None = None


@contextlib.contextmanager
def labelling(rules: LabelRules) -> Iterator[None]:
    """Within this context LLaMA-Factory's `get_dataset` builds labelled data sets."""
    global _active
    _active = rules
    try:
        yield
    finally:
        _active = None


def labelling_processor(processor: DatasetProcessor) -> DatasetProcessor:
    """Return the labelling counterpart of `processor`, or `processor` itself when no CuSeT run is being prepared.

    A processor for `predict_with_generate` stays as it is: its rows are prompts, and no loss is computed on them.
    """
    if _active is None:
        return processor
    for plain, labelled in (
        (PackedSupervisedDatasetProcessor, LabelledPackedProcessor),
        (SupervisedDatasetProcessor, LabelledProcessor),
    ):
        if isinstance(processor, plain):
            return labelled(processor.template, processor.tokenizer, processor.processor, processor.data_args, _active)
    return processor


@dataclass
class _Labelling:
    """Mixin: lets LLaMA-Factory build the rows with marked ids, then takes the marks off again.

    `rules` is an attribute so that it enters the fingerprint `datasets` caches by.
    """

    rules: LabelRules

    def preprocess_dataset(self, examples: dict[str, list[Any]]) -> dict[str, list[Any]]:
        examples = self.without_unusable_rows(examples)
        worker = copy.copy(self)
        worker.template = LabellingTemplate(self.template, self.rules.kinds, self.rules.aliases)
        rows = super(_Labelling, worker).preprocess_dataset(examples)
        parts = [unpack_labels(*row) for row in zip(rows["input_ids"], rows["labels"], strict=True)]
        for index, name in enumerate(("input_ids", "labels", *COLUMNS)):
            rows[name] = [part[index] for part in parts]
        return rows

    def without_unusable_rows(self, examples: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Drop, and count, rows that have nothing to learn: SFT would train on their end-of-turn marker alone."""
        rows = len(examples["_prompt"])
        reasons: dict[str, list[int]] = {}
        for index, (prompt, response) in enumerate(zip(examples["_prompt"], examples["_response"], strict=True)):
            if len(response) != 1 or len(prompt) % 2 != 1:
                reasons.setdefault("without an assistant message to learn from", []).append(index)
            elif not str(response[0]["content"] or "").strip():
                reasons.setdefault("with an empty response", []).append(index)
        if not reasons:
            return examples

        for reason, indices in reasons.items():
            first = examples["_prompt"][indices[0]]
            prompt = str(first[-1]["content"] if first else "")[:80]
            logger.warning_rank0(
                f"Dropped {len(indices)} of {rows} rows {reason}; the first one's prompt begins {prompt!r}."
            )
        kept = sorted(set(range(rows)).difference(*reasons.values()))
        return {name: [column[index] for index in kept] for name, column in examples.items()}

    def print_data_example(self, example: dict[str, list[int]]) -> None:
        super().print_data_example(example)
        print("CUDA tokens, between ⟦ and ⟧:\n" + mark_cuda_tokens(self.tokenizer, example))


@dataclass
class LabelledProcessor(_Labelling, SupervisedDatasetProcessor):
    """One row an example."""


@dataclass
class LabelledPackedProcessor(_Labelling, PackedSupervisedDatasetProcessor):
    """Several examples a row, for `packing` and `neat_packing`."""


def mark_cuda_tokens(tokenizer: Any, example: dict[str, list[int]]) -> str:
    """Decode the supervised tokens of a row with every run of CUDA tokens between ⟦ and ⟧."""
    runs: list[tuple[int, list[int]]] = []
    for token, sample, is_cuda in zip(example["input_ids"], example["sample_ids"], example["cuda_mask"], strict=True):
        if not sample:
            continue
        if not runs or runs[-1][0] != is_cuda:
            runs.append((is_cuda, []))
        runs[-1][1].append(token)
    texts = [(is_cuda, tokenizer.decode(run, skip_special_tokens=False)) for is_cuda, run in runs]
    return "".join(f"⟦{text}⟧" if is_cuda else text for is_cuda, text in texts)
