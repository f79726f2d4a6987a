"""Every row of a data set as a run would label it, with what its labels lose to cutoff_len; for `cuset label`.

The rows go through the processor of a run, in processes of their own: nothing is cached and nothing is kept but counts.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from datasets import concatenate_datasets
from llamafactory.data import get_template_and_fix_tokenizer
from llamafactory.data.loader import _get_merged_dataset
from llamafactory.data.template import TEMPLATES
from llamafactory.hparams import DataArguments, ModelArguments

from ..spans import KINDS, find_spans
from .inspect import _check_dataset, _OneProcess, quiet
from .label_transport import CUDA_BIT
from .processors import LabelledProcessor, LabelRules


BATCH = 64


@dataclass(frozen=True)
class RowCounts:
    """One row in numbers. Tokens of the response unless it says otherwise.

    usable: False where training leaves the row out (no assistant message, or an empty one). tokens: of the whole row with the
    template, before it is cut to cutoff_len; `kept` of them remain. supervised, cuda: what training sees; lost_*: what the cut
    takes. spans: kind -> how many.
    """

    row: int
    usable: bool
    tokens: int = 0
    kept: int = 0
    supervised: int = 0
    cuda: int = 0
    lost_supervised: int = 0
    lost_cuda: int = 0
    spans: dict[str, int] = field(default_factory=dict)


class _Recorder:
    """A template that notes the lengths of what it encodes, before anything is cut off."""

    def __init__(self, template: Any) -> None:
        self._template = template
        self.seen: list[tuple[int, int, int]] = []  # a row: all tokens, tokens of responses, CUDA tokens among them

    def __getattr__(self, name: str) -> Any:
        return getattr(self._template, name)

    def encode_multiturn(self, *args: Any, **kwargs: Any) -> list[tuple[list[int], list[int]]]:
        pairs = self._template.encode_multiturn(*args, **kwargs)
        everything = sum(len(source) + len(target) for source, target in pairs)
        responses = sum(len(target) for _, target in pairs)
        cuda = sum(token >= CUDA_BIT for _, target in pairs for token in target)
        # With such a template LLaMA-Factory itself ends the row, and counts the start of each later prompt as the end of a turn.
        if self._template.efficient_eos:
            everything, responses = everything + 1, responses + len(pairs)
        self.seen.append((everything, responses, cuda))
        return pairs


@dataclass
class Survey:
    """The rows of a data set, aligned to LLaMA-Factory's columns, and the processor that labels them."""

    rows: Any  # datasets.Dataset
    processor: LabelledProcessor

    def __len__(self) -> int:
        return len(self.rows)

    def responses(self, row: int) -> list[str]:
        """The texts of a row's assistant messages, earlier turns included; empty when it has none."""
        messages = self.rows[row]
        return _responses(messages["_prompt"], messages["_response"])

    def prompts(self, row: int) -> list[str]:
        return _contents(self.rows[row]["_prompt"][::2])

    def count(self, workers: int) -> Iterator[list[RowCounts]]:
        """The counts of all rows, a batch at a time, in order; `workers` processes share the work."""
        global _survey
        starts = range(0, len(self.rows), BATCH)
        if workers == 1 or len(starts) == 1:
            yield from (self.batch(start) for start in starts)
            return
        _survey = self
        # A tokenizer's own threads do not survive a fork, and the processes use all CPUs anyway.
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        try:
            with multiprocessing.get_context("fork").Pool(min(workers, len(starts))) as pool:
                yield from pool.imap(_count_batch, starts)
        finally:
            _survey = None

    def batch(self, start: int) -> list[RowCounts]:
        """The counts of the rows from `start` on, at most BATCH."""
        examples = self.rows[start : start + BATCH]
        count = len(examples["_prompt"])
        examples["_row"] = list(range(start, start + count))
        with quiet():
            usable = self.processor._without_unusable_rows(examples)
            recorder = _Recorder(self.processor.template)
            worker = LabelledProcessor(
                recorder,
                self.processor.tokenizer,
                self.processor.processor,
                self.processor.data_args,
                self.processor.rules,
            )
            labelled = worker.preprocess_dataset(usable)
        found = {row: RowCounts(row, usable=False) for row in examples["_row"]}
        for index, row in enumerate(usable["_row"]):
            tokens, responses, cuda = recorder.seen[index]
            supervised = labelled["sample_ids"][index] > 0
            kept_cuda = int((labelled["cuda_mask"][index][supervised] == 1).sum())
            kept_responses = int(supervised.sum())
            spans: dict[str, int] = {}
            aliases = self.processor.rules.aliases
            for text in _responses(usable["_prompt"][index], usable["_response"][index]):
                for span in find_spans(text, tuple(KINDS), aliases=aliases):
                    spans[span.kind] = spans.get(span.kind, 0) + 1
            found[row] = RowCounts(
                row,
                True,
                tokens,
                len(labelled["input_ids"][index]),
                kept_responses,
                kept_cuda,
                max(0, responses - kept_responses),
                max(0, cuda - kept_cuda),
                spans,
            )
        return list(found.values())


_survey: Survey | None = None  # what the forked processes inherit: a data set and a tokenizer are not sent around


def _count_batch(start: int) -> list[RowCounts]:
    assert _survey is not None
    return _survey.batch(start)


def _responses(prompt: Sequence[dict[str, Any]], response: Sequence[dict[str, Any]]) -> list[str]:
    """What training learns from: every second message of the prompt is an earlier answer."""
    return _contents([*prompt[1::2], *response])


def _contents(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [str(message["content"] or "") for message in messages]


def open_survey(
    tokenizer: Any,
    model_path: str,
    datasets: Sequence[str],
    dataset_dir: str,
    template: str,
    cutoff_len: int,
    rules: LabelRules,
    max_samples: int | None = None,
) -> Survey:
    """Load data sets as a run does.

    Raises:
        ValueError: an unknown data set or template, a file that cannot be read, no rows.
    """
    for name in datasets:
        _check_dataset(name, dataset_dir)
    if template not in TEMPLATES:
        near = ", ".join(get_close_matches(template, TEMPLATES, n=4))
        hint = f"did you mean {near}?" if near else "its documentation lists them."
        raise ValueError(f"--template {template}: LLaMA-Factory has no such template; {hint}")
    data_args = DataArguments(
        template=template,
        dataset=",".join(datasets),
        dataset_dir=dataset_dir,
        cutoff_len=cutoff_len,
        max_samples=max_samples,
    )
    model_args = ModelArguments(model_name_or_path=model_path)
    with quiet():
        fixed = get_template_and_fix_tokenizer(tokenizer, data_args)
        try:
            parts = [
                _get_merged_dataset([name], model_args, data_args, _OneProcess(), stage="sft") for name in datasets
            ]
        except StopIteration:
            raise ValueError(f"--dataset {','.join(datasets)}: a file of it has no rows.") from None
    rows = parts[0] if len(parts) == 1 else concatenate_datasets(parts)
    if not len(rows):
        raise ValueError(f"--dataset {','.join(datasets)}: there are no rows.")
    return Survey(rows, LabelledProcessor(fixed, tokenizer, None, data_args, rules))
