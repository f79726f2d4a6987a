"""LLaMA-Factory's supervised dataset processors, plain and packed, with two more columns: `cuda_mask` and `sample_ids`.

Labels that travel inside token ids through LLaMA-Factory's own preprocessing.

Templates, truncation, history masking and packing treat token ids as opaque integers: they cut, reorder and join lists. So an id carries
its labels in its upper bits until LLaMA-Factory is done; whatever happens to a token happens to its labels too.

    bits 0-31   the token id
    bit  32     1 where the token overlaps a CUDA span of an assistant message
    bits 33-    the turn, counted from 1 over a preprocessing batch
"""

import contextlib
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from llamafactory.data.processor import PackedSupervisedDatasetProcessor, SupervisedDatasetProcessor
from llamafactory.data.processor.processor_utils import DatasetProcessor
from llamafactory.extras import logging
from llamafactory.extras.constants import IGNORE_INDEX

from ..spans import LABEL_VERSION, Span, find_spans
from ..spans.tokenizers import TokenAligner


logger = logging.get_logger(f"llamafactory.{__name__}")  # under its handlers and its verbosity

COLUMNS = ("cuda_mask", "sample_ids")
TOKEN_MASK = (1 << 32) - 1
CUDA_BIT = 1 << 32
TURN_SHIFT = 33


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
    if _active is None or not isinstance(processor, SupervisedDatasetProcessor):
        return processor
    labelled = (
        LabelledPackedProcessor if isinstance(processor, PackedSupervisedDatasetProcessor) else LabelledProcessor
    )
    return labelled(processor.template, processor.tokenizer, processor.processor, processor.data_args, _active)


@dataclass
class _Labelling:
    """Mixin: lets LLaMA-Factory build the rows with marked ids, then takes the marks off again.

    `rules` is an attribute so that it enters the fingerprint `datasets` caches by.
    """

    rules: LabelRules

    def preprocess_dataset(self, examples: dict[str, list[Any]]) -> dict[str, list[Any]]:
        examples = self.without_unusable_rows(examples)
        worker = copy.copy(self)
        worker.template = LabellingTemplate(self.template, self.rules)
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
    columns = zip(example["cuda_mask"], example["input_ids"], example["sample_ids"], strict=True)
    marked = ""
    for is_cuda, run in itertools.groupby((row for row in columns if row[2]), key=lambda row: row[0]):
        text = tokenizer.decode([token for _, token, _ in run], skip_special_tokens=False)
        marked += f"⟦{text}⟧" if is_cuda else text
    return marked


# ---- labels inside token ids


def _surroundings(template: Any) -> list[tuple[str, str]]:
    """What the template writes before and after an assistant message within one encoded string, longest first."""
    pairs = {("", "")}
    for formatter in (template.format_assistant, template.format_function):
        for slot in formatter.slots:
            if isinstance(slot, str) and "{{content}}" in slot:
                before, after = slot.split("{{content}}", 1)
                pairs.add((before, after))
    return sorted(pairs, key=lambda pair: -len(pair[0]) - len(pair[1]))


class LabellingTokenizer:
    """A tokenizer whose `encode` sets `CUDA_BIT` on the ids of tokens inside CUDA spans."""

    def __init__(self, tokenizer: Any, rules: LabelRules, surroundings: list[tuple[str, str]]) -> None:
        self._tokenizer, self._rules, self._surroundings = tokenizer, rules, surroundings
        self._aligner = TokenAligner(tokenizer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def encode(self, text: str, add_special_tokens: bool = False, **options: Any) -> list[int]:
        spans = self._spans(text)
        if not spans:
            return self._tokenizer.encode(text, add_special_tokens=add_special_tokens, **options)

        ids, ranges = self._aligner.locate(text, spans)
        for first, end in ranges:
            ids[first:end] = [token | CUDA_BIT for token in ids[first:end]]
        return ids

    def convert_tokens_to_ids(self, tokens: str | list[str]) -> int | list[int]:
        ids = self._tokenizer.convert_tokens_to_ids(tokens)
        if ids is None:  # LLaMA-Factory would put it among the ids
            raise ValueError(
                f"the tokenizer has no token {tokens!r}, which the chat template needs: `template` and `model_name_or_path` do not "
                "belong together."
            )
        return ids

    def _spans(self, text: str) -> list[Span]:
        # The end-of-turn marker is no part of the answer: code that was cut off must not run on into it.
        before, after = next(
            pair for pair in self._surroundings if text.startswith(pair[0]) and text.endswith(pair[1])
        )
        shift = len(before)
        spans = find_spans(text[shift : len(text) - len(after)], self._rules.kinds, aliases=self._rules.aliases)
        return [Span(span.start + shift, span.end + shift, span.kind) for span in spans] if shift else spans


class LabellingTemplate:
    """A chat template whose `encode_multiturn` returns ids that carry the turn and the CUDA labels."""

    def __init__(self, template: Any, rules: LabelRules) -> None:
        self._template, self._rules = template, rules
        self._tokenizer: LabellingTokenizer | None = None
        self._turn = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._template, name)

    def encode_multiturn(self, tokenizer: Any, *args: Any, **kwargs: Any) -> list[tuple[list[int], list[int]]]:
        if self._tokenizer is None:
            self._tokenizer = LabellingTokenizer(tokenizer, self._rules, _surroundings(self._template))
        tagged = []
        for source_ids, target_ids in self._template.encode_multiturn(self._tokenizer, *args, **kwargs):
            self._turn += 1
            turn = self._turn << TURN_SHIFT
            # CUDA labels belong to the response: those of a prompt that quotes a kernel are dropped.
            tagged.append(([(i & TOKEN_MASK) | turn for i in source_ids], [i | turn for i in target_ids]))
        return tagged


def unpack_labels(
    tagged_ids: list[int], tagged_labels: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Separate one row's ids and labels from the labels they carry.

    Args:
        tagged_ids: [length] ids as LLaMA-Factory returns them; ids it added itself (padding, image tokens) carry nothing.
        tagged_labels: [length] labels, -100 where not supervised.

    Returns:
        input_ids [length] int32 and labels [length] int64, the types in which `datasets` keeps LLaMA-Factory's lists; cuda_mask
        [length] int8; sample_ids [length] int32: 0 where a token is not supervised, else the number of its sample, counted from
        1 within the row.
    """
    ids, labels = np.array(tagged_ids, dtype=np.int64), np.array(tagged_labels, dtype=np.int64)
    supervised = np.flatnonzero(labels != IGNORE_INDEX)
    marked = labels[supervised]
    turns = marked >> TURN_SHIFT
    unmarked = np.flatnonzero(turns == 0)
    if unmarked.size:
        # Templates with an efficient end-of-sequence token add it themselves, behind the turn it ends: at the head of the next turn
        # or at the very end. It belongs to the turn of the token before it.
        turns[unmarked] = ids[np.maximum(supervised[unmarked] - 1, 0)] >> TURN_SHIFT

    sample_ids = np.zeros(len(ids), dtype=np.int32)
    if turns.size:  # number the runs of equal turns
        sample_ids[supervised] = 1 + np.concatenate(([0], np.cumsum(turns[1:] != turns[:-1])))
    labels[supervised] = marked & TOKEN_MASK
    cuda_mask = ((ids & CUDA_BIT) != 0).astype(np.int8)
    return (ids & TOKEN_MASK).astype(np.int32), labels, cuda_mask, sample_ids
