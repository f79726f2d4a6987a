"""The rows of data sets outside a run, labelled by the processor that a run uses; for `cuset label` and `cuset heatmap`.

Nothing is cached. `LabelledRows.count` says how much is CUDA and what truncation to cutoff_len drops.
"""

import contextlib
import functools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from datasets import concatenate_datasets
from datasets.exceptions import DatasetsError
from llamafactory.data.loader import _get_merged_dataset
from llamafactory.hparams import DataArguments, ModelArguments

from ..spans import KINDS, find_spans
from ..text import one_line
from .loading import open_template, quiet
from .processors import COLUMNS, LabelledProcessor, LabelRules
from .token_labels import CUDA_BIT


BATCH = 64
NUMBERS = ("tokens", "kept", "supervised", "cuda", "lost_supervised", "lost_cuda")


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
class LabelledRows:
    """Rows aligned to LLaMA-Factory's columns, and the processor that labels them."""

    rows: Any  # datasets.Dataset
    processor: LabelledProcessor

    def __len__(self) -> int:
        return len(self.rows)

    def tokens(self) -> list[dict[str, list[int]]]:
        """The rows with `input_ids`, `labels`, `cuda_mask` and `sample_ids`, as training gets them; unusable ones are dropped."""
        with quiet():
            columns = self.processor.preprocess_dataset(self.rows[:])
        wanted = ("input_ids", "labels", *COLUMNS)
        return [
            {name: value.tolist() for name, value in zip(wanted, row, strict=True)}
            for row in zip(*(columns[name] for name in wanted), strict=True)
        ]

    def responses(self, row: int) -> list[str]:
        """The texts of a row's assistant messages, earlier turns included; empty when it has none."""
        messages = self.rows[row]
        return _responses(messages["_prompt"], messages["_response"])

    def prompts(self, row: int) -> list[str]:
        return _contents(self.rows[row]["_prompt"][::2])

    def count(self, workers: int) -> pd.DataFrame:
        """The rows in numbers, counted by `workers` processes.

        usable: False where training drops the row (no assistant message, or an empty one); its other numbers are 0. tokens: of the
        whole row with the template, of which `kept` remain at cutoff_len. supervised, cuda: tokens of the responses as training sees
        them; lost_supervised, lost_cuda: what truncation drops of them. A column for each kind: how many spans.
        """
        workers = min(workers, -(-len(self.rows) // BATCH))
        with contextlib.nullcontext() if sys.stderr.isatty() else quiet():
            counted = self.rows.map(
                functools.partial(_count, self.processor),
                with_indices=True,
                batched=True,
                batch_size=BATCH,
                remove_columns=self.rows.column_names,
                num_proc=workers if workers > 1 else None,
                keep_in_memory=True,
                load_from_cache_file=False,
                desc="labels",
            )
        return counted.to_pandas()


def _count(processor: LabelledProcessor, examples: dict[str, list[Any]], indices: list[int]) -> dict[str, list[int]]:
    """The numbers of a batch, a list for each column."""
    recorder = _Recorder(processor.template)
    worker = LabelledProcessor(
        recorder, processor.tokenizer, processor.processor, processor.data_args, processor.rules
    )
    usable = processor.without_unusable_rows({**examples, "_row": indices})
    labelled = worker.preprocess_dataset(usable)
    found = {row: dict.fromkeys((*NUMBERS, *KINDS), 0) | {"row": row, "usable": False} for row in indices}
    for index, row in enumerate(usable["_row"]):
        tokens, responses, cuda = recorder.seen[index]
        is_supervised = labelled["sample_ids"][index] > 0
        supervised = int(is_supervised.sum())
        kept_cuda = int((labelled["cuda_mask"][index][is_supervised] == 1).sum())
        found[row] |= {
            "usable": True,
            "tokens": tokens,
            "kept": len(labelled["input_ids"][index]),
            "supervised": supervised,
            "cuda": kept_cuda,
            "lost_supervised": max(0, responses - supervised),
            "lost_cuda": max(0, cuda - kept_cuda),
        }
        for text in _responses(usable["_prompt"][index], usable["_response"][index]):
            for span in find_spans(text, tuple(KINDS), aliases=processor.rules.aliases):
                found[row][span.kind] += 1
    return {name: [numbers[name] for numbers in found.values()] for name in ("row", "usable", *NUMBERS, *KINDS)}


def _responses(prompt: Sequence[dict[str, Any]], response: Sequence[dict[str, Any]]) -> list[str]:
    """What training learns from: every second message of the prompt is an earlier answer."""
    return _contents([*prompt[1::2], *response])


def _contents(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [str(message["content"] or "") for message in messages]


@dataclass
class _OneProcess:
    """What LLaMA-Factory's data loading asks of the training arguments, answered for one process without a run."""

    seed: int = 42
    local_process_index: int = 0
    dataloader_num_workers: int = 0
    should_log: bool = False

    def main_process_first(self, **_: Any) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()


def open_rows(
    tokenizer: Any, model_path: str, rules: LabelRules, *, dataset: Sequence[str], dataset_dir: str, **options: Any
) -> LabelledRows:
    """Load data sets as a run does. options: template, cutoff_len and max_samples (of each data set), as in a recipe.

    Raises:
        ValueError: an unknown data set or template, a file that cannot be read, a column that is missing, no rows.
    """
    names = ",".join(dataset)
    _check_names(dataset, dataset_dir)
    data_args = DataArguments(dataset=names, dataset_dir=dataset_dir, **options)
    fixed = open_template(tokenizer, data_args)
    model_args = ModelArguments(model_name_or_path=model_path)
    try:
        with quiet():
            parts = [
                _get_merged_dataset([name], model_args, data_args, _OneProcess(), stage="sft") for name in dataset
            ]
    except KeyError as error:  # LLaMA-Factory looks columns up without a check
        file = Path(dataset_dir) / "dataset_info.json"
        raise ValueError(f"dataset={names}: its rows have no column {error}; see `columns` in {file}.") from error
    except (DatasetsError, StopIteration, ValueError) as error:
        # An empty file: datasets speaks of a split, and LLaMA-Factory asks for the first row.
        if isinstance(error, StopIteration) or "corresponds to no data" in str(error):
            raise ValueError(f"dataset={names}: it has no rows.") from error
        if isinstance(error, ValueError):
            raise
        raise ValueError(
            f"dataset={names}: a file of it cannot be read ({one_line(error.__cause__ or error)}); it has to be JSON with a list of rows, or "
            "JSON lines. `cuset curate import` tells which rows are broken."
        ) from error
    rows = concatenate_datasets(parts)
    if not len(rows):
        raise ValueError(f"dataset={names}: it has no rows.")
    return LabelledRows(rows, LabelledProcessor(fixed, tokenizer, None, data_args, rules))


def _check_names(names: Sequence[str], dataset_dir: str) -> None:
    """Say which data sets there are; LLaMA-Factory only says which one is missing."""
    file = Path(dataset_dir) / "dataset_info.json"
    if not file.is_file():
        raise ValueError(
            f"dataset_dir={dataset_dir}: there is no dataset_info.json in it; name the folder that has one."
        )
    try:
        known = list(json.loads(file.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{file} is not JSON ({error}); correct it.") from None
    for name in names:
        if name not in known:
            raise ValueError(f"dataset={name}: not in {file}, which has {', '.join(known) or 'no data set at all'}.")
