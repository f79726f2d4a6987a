"""Load tokenizers, chat templates and labelled rows outside of a training run.

`cuset label`, `cuset heatmap`, `cuset analyze` and `cuset generate` use this. The code is the same that a run uses.
Nothing is cached.
"""

import contextlib
import copy
import functools
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from datasets import concatenate_datasets
from datasets.utils import logging as datasets_logging
from llamafactory.data import get_template_and_fix_tokenizer
from llamafactory.data.loader import _get_merged_dataset
from llamafactory.data.mm_plugin import get_mm_plugin
from llamafactory.data.template import TEMPLATES
from llamafactory.extras import logging
from llamafactory.hparams import DataArguments, ModelArguments
from llamafactory.model import load_tokenizer

from .. import bundled
from ..spans import KINDS
from ..text import nearest, one_line
from .dataset import fault_named, find_fault, lack_of_room
from .given import COLUMN, GivenRow
from .pretrained import explained, tokenizer_of
from .processors import WEIGHTS, LabelledProcessor, label_columns, labelling
from .token_labels import LabelRules


BATCH = 64  # rows that are counted at a time
NUMBERS = ("tokens", "kept", "supervised", "cuda", "weight", "without_weight", "lost_supervised", "lost_cuda")


def open_tokenizer(path: str, adapter: str | None = None, *, trust_remote_code: bool = False) -> Any:
    """Return the tokenizer of a model, or of the run that wrote an adapter on it.

    It is patched as LLaMA-Factory does, but not yet fixed by a template.

    Args:
        path: folder of the model or its name on the Hub.
        adapter: folder of an adapter, if any.
        trust_remote_code: as in transformers.

    Raises:
        SettingsError: the tokenizer cannot be loaded.
    """
    with quiet():
        model_args = ModelArguments(tokenizer_of(path, adapter), trust_remote_code=trust_remote_code)
        return named_tokenizer(model_args)["tokenizer"]


def named_tokenizer(model_args: ModelArguments) -> Any:
    """Return what LLaMA-Factory's `load_tokenizer` returns, whose errors name neither the model nor the cause.

    Raises:
        SettingsError: the tokenizer cannot be loaded.
    """
    fix = "a file that is cut off has to be copied or downloaded again"
    if not Path(model_args.model_name_or_path).is_dir():
        fix = f"there is no such folder, so it was taken for a name on the Hub (owner/name); {fix}"
    with explained(f"{model_args.model_name_or_path}: its tokenizer cannot be loaded ({fix})"):
        return load_tokenizer(model_args)


def open_template(tokenizer: Any, data_args: DataArguments) -> Any:
    """Return LLaMA-Factory's chat template `data_args.template`.

    The template fixes the tokenizer in place, as before training.

    Raises:
        ValueError: there is no template of this name. The message lists similar names.
    """
    check_template(data_args.template)
    with quiet():
        return get_template_and_fix_tokenizer(tokenizer, data_args)


def check_template(name: str) -> None:
    """Raise ValueError if LLaMA-Factory has no chat template of this name."""
    if name not in TEMPLATES:
        raise ValueError(f"LLaMA-Factory has no template {name!r}; {nearest(name, TEMPLATES)}")


@dataclass
class LabelledRows:
    """Rows aligned to LLaMA-Factory's columns, and the processor that labels them.

    Attributes:
        rows: a `datasets.Dataset`.
        processor: labels the rows.
    """

    rows: Any
    processor: LabelledProcessor

    def __len__(self) -> int:
        return len(self.rows)

    def tokens(self) -> list[dict[str, list[int]]]:
        """Return the usable rows as training gets them.

        Each row has `input_ids`, `labels`, `cuda_mask`, `sample_ids` and, if there are weights, `token_weights`.
        """
        with quiet(), fault_named(self.processor.data_args):
            columns = self.processor.preprocess_dataset(self._usable)
        wanted = ("input_ids", "labels", *label_columns(columns))
        return [
            {name: value.tolist() for name, value in zip(wanted, row, strict=True)}
            for row in zip(*(columns[name] for name in wanted), strict=True)
        ]

    def first_prompts(self) -> list[str]:
        """Return the first user message of each row of `tokens`, without the template's tokens."""
        return [_contents(messages)[0] for messages in self._usable["_prompt"]]

    @functools.cached_property
    def _usable(self) -> dict[str, list[Any]]:
        """The rows that training uses. A warning counts the others."""
        return self.processor.without_unusable_rows(self.rows[:])

    def texts(self, row: int) -> tuple[list[str], list[str]]:
        """Return a row's user messages and its assistant messages, earlier turns included."""
        messages = self.rows[row]
        return _contents(messages["_prompt"][::2]), _contents([*messages["_prompt"][1::2], *messages["_response"]])

    @property
    def gives(self) -> bool:
        """Whether the data give weights or spans."""
        return COLUMN in self.rows.column_names

    def given(self, row: int) -> GivenRow:
        """Return the weights and spans that the data give for a row."""
        return GivenRow.from_text(self.rows[row].get(COLUMN))

    def count(self, workers: int) -> pd.DataFrame:
        """Count the tokens and spans of each row, with `workers` processes.

        Returns:
            A table with one row per data row and these columns:

            - row: number of the row.
            - usable: False if training drops the row, because it has no assistant message or an empty one, or because
              its turns do not alternate. All other numbers are then 0.
            - tokens: tokens of the whole row with the template.
            - kept: how many of them remain at cutoff_len.
            - supervised, cuda: supervised tokens of the responses as training sees them, and CUDA tokens among them.
            - weight: sum of the weights of the supervised tokens.
            - without_weight: number of supervised tokens that weigh 0.
            - lost_supervised, lost_cuda: supervised and CUDA tokens that truncation drops.
            - one column per kind: number of spans.
        """
        with fault_named(self.processor.data_args):
            table = self.rows.map(
                functools.partial(_count, self.processor),
                batched=True,
                batch_size=BATCH,
                with_indices=True,
                num_proc=workers if workers > 1 and len(self.rows) > BATCH else None,
                remove_columns=self.rows.column_names,
                keep_in_memory=True,
                load_from_cache_file=False,
                desc="labels",
            )
        return table.to_pandas()


def _count(processor: LabelledProcessor, examples: dict[str, list[Any]], indices: list[int]) -> dict[str, list[int]]:
    """Return the columns of `LabelledRows.count` for a batch."""
    counts = {
        row: dict.fromkeys((*NUMBERS, *KINDS), 0) | {"row": row, "weight": 0.0, "usable": False} for row in indices
    }
    usable = processor.without_unusable_rows({**examples, "_row": indices})
    uncut = copy.copy(processor.data_args)
    uncut.cutoff_len = sys.maxsize
    whole = _sizes(replace(processor, data_args=uncut), usable)
    # Rows that reach cutoff_len are processed again with truncation.
    reaching = [index for index, size in enumerate(whole) if size[0] >= processor.data_args.cutoff_len]
    chosen = {name: [column[index] for index in reaching] for name, column in usable.items()}
    cut = dict(zip(reaching, _sizes(processor, chosen), strict=True))
    for index, (row, size) in enumerate(zip(usable["_row"], whole, strict=True)):
        kept = cut.get(index, size)
        lost = size[1] - kept[1], size[2] - kept[2]
        counts[row] |= {"usable": True} | dict(zip(NUMBERS, (size[0], *kept, *lost), strict=True))
        for text in _contents([*usable["_prompt"][index][1::2], *usable["_response"][index]]):
            for span in processor.rules.find_spans(text, tuple(KINDS)):
                counts[row][span.kind] += 1
    return {name: [numbers[name] for numbers in counts.values()] for name in ("row", "usable", *NUMBERS, *KINDS)}


def _sizes(processor: LabelledProcessor, examples: dict[str, list[Any]]) -> list[tuple[int, int, int, float, int]]:
    """Return the numbers of each row.

    Returns:
        Tuples of tokens, supervised tokens, CUDA tokens among those, the sum of their weights, and how many weigh 0.
    """
    rows = processor.preprocess_dataset(examples)
    weights = rows.get(WEIGHTS) or [np.ones(len(ids), dtype=np.float32) for ids in rows["sample_ids"]]
    sizes = []
    for ids, mask, weight in zip(rows["sample_ids"], rows["cuda_mask"], weights, strict=True):
        of_supervised = weight[ids > 0]
        cuda = int(np.count_nonzero(mask[ids > 0]))
        zeros = int((of_supervised == 0).sum())
        sizes.append((len(ids), len(of_supervised), cuda, float(of_supervised.sum(dtype=np.float64)), zeros))
    return sizes


def _contents(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [str(message["content"] or "") for message in messages]


@dataclass
class OneProcess:
    """The few training arguments that LLaMA-Factory's data loading reads, for one process without a run."""

    seed: int = 42
    local_process_index: int = 0
    dataloader_num_workers: int = 0
    should_log: bool = False

    def main_process_first(self, **_: Any) -> contextlib.AbstractContextManager[None]:
        """Return a context that does nothing, because there is no other process."""
        return contextlib.nullcontext()


def open_rows(
    tokenizer: Any, model_path: str, rules: LabelRules, *, dataset: Sequence[str], dataset_dir: str, **options: Any
) -> LabelledRows:
    """Load and label data sets as a run does.

    If `dataset_dir` does not exist, it is looked for in the package, as for a recipe.

    Args:
        tokenizer: the model's tokenizer.
        model_path: folder of the model or its name on the Hub.
        rules: decide the labels.
        dataset: names of data sets in dataset_info.json.
        dataset_dir: folder with dataset_info.json.
        options: template, cutoff_len and max_samples (of each data set), as in a recipe.

    Raises:
        ValueError: an unknown data set or template, a file that cannot be read, a missing column, or no rows.
    """
    names, folder = ",".join(dataset), str(bundled.found(Path(dataset_dir)))
    data_args = DataArguments(dataset=names, dataset_dir=folder, **options)
    template = copy.copy(open_template(tokenizer, data_args))
    template.mm_plugin = get_mm_plugin(name="base")  # the rows are text, and a plugin for images asks for a processor
    model_args = ModelArguments(model_name_or_path=model_path)
    try:
        with quiet(), labelling(rules):
            parts = [_get_merged_dataset([name], model_args, data_args, OneProcess(), stage="sft") for name in dataset]
    except Exception as error:
        fault = lack_of_room(error, data_args) or find_fault(data_args) or one_line(error.__cause__ or error)
        raise ValueError(f"dataset={names}: its rows cannot be read: {fault}") from error
    return LabelledRows(concatenate_datasets(parts), LabelledProcessor(template, tokenizer, None, data_args, rules))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress LLaMA-Factory's and datasets' prints and progress bars within this context. Warnings stay."""
    logger = logging.get_logger("llamafactory")
    level = logger.level
    bars = datasets_logging.is_progress_bar_enabled()
    logger.setLevel("WARNING")
    datasets_logging.disable_progress_bar()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logger.setLevel(level)
        if bars:
            datasets_logging.enable_progress_bar()
