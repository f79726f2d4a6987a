"""Tokenizers, models, chat templates and labelled rows outside a training run, loaded by the same code that a run uses.

For `cuset label`, `cuset heatmap`, `cuset analyze` and `cuset generate`. Nothing is cached.
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
from llamafactory.data.template import TEMPLATES
from llamafactory.extras import logging
from llamafactory.hparams import DataArguments, FinetuningArguments, ModelArguments
from llamafactory.model import load_model, load_tokenizer

from .. import attention, bundled
from ..spans import KINDS
from ..text import nearest, one_line
from .dataset import fault_named, find_fault
from .given import COLUMN, GivenRow
from .pretrained import tokenizer_of
from .processors import COLUMNS, WEIGHTS, LabelledProcessor, labelling
from .token_labels import LabelRules


logger = logging.get_logger(f"llamafactory.{__name__}")  # under its handlers and its verbosity

BATCH = 64
NUMBERS = ("tokens", "kept", "supervised", "cuda", "weight", "without_weight", "lost_supervised", "lost_cuda")


def open_tokenizer(path: str, adapter: str | None = None, *, trust_remote_code: bool = False) -> Any:
    """The tokenizer of a model, or of the run that wrote an adapter on it, as LLaMA-Factory patches it, before a template has fixed it.

    Raises:
        OSError: there is none at `path`.
    """
    with quiet():
        model_args = ModelArguments(tokenizer_of(path, adapter), trust_remote_code=trust_remote_code)
        return load_tokenizer(model_args)["tokenizer"]


def open_model(
    path: str, tokenizer: Any, device: str, *, trust_remote_code: bool = False, quantization_bit: int | None = None
) -> Any:
    """The model at `path` as LLaMA-Factory loads it for inference: frozen, in evaluation mode, without an adapter.

    quantization_bit: 4 or 8, by bitsandbytes; None: as its files have it. A CPU reads in float32, as `cuset generate` does there: many
    have no 16-bit arithmetic, and take minutes a row with it.
    """
    model_args = ModelArguments(
        model_name_or_path=path, trust_remote_code=trust_remote_code, quantization_bit=quantization_bit
    )
    model_args.device_map = {"": device}
    if note := attention.switch(device):
        logger.warning_rank0(note)
    # "full" loads nothing beside the weights; as the model is not trainable, nothing is unfrozen or cast.
    with quiet():
        model = load_model(tokenizer, model_args, FinetuningArguments(finetuning_type="full"), is_trainable=False)
    is_quantised = getattr(model.config, "quantization_config", None) is not None
    return model.float() if device == "cpu" and not is_quantised else model


def open_template(tokenizer: Any, data_args: DataArguments) -> Any:
    """LLaMA-Factory's chat template `data_args.template`. It fixes the tokenizer in place, as before training.

    Raises:
        ValueError: there is no template of this name; the message has those that are near.
    """
    if data_args.template not in TEMPLATES:
        raise ValueError(
            f"LLaMA-Factory has no template {data_args.template!r}; {nearest(data_args.template, TEMPLATES)}"
        )
    with quiet():
        return get_template_and_fix_tokenizer(tokenizer, data_args)


class ChatTemplate:
    """A template for prompts alone, for models whose tokenizer has none; as in `llamafactory-cli api`."""

    def __init__(self, name: str, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._template = open_template(tokenizer, DataArguments(template=name))
        self.stop_ids: list[int] = self._template.get_stop_token_ids(tokenizer)

    def encode(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """Token ids up to the place where the answer begins. A system message, if any, comes first."""
        messages = list(messages)
        system = messages.pop(0)["content"] if messages[0]["role"] == "system" else None
        answer = {"role": "assistant", "content": ""}
        return self._template.encode_oneturn(self._tokenizer, [*messages, answer], system)[0]


@dataclass
class LabelledRows:
    """Rows aligned to LLaMA-Factory's columns, and the processor that labels them."""

    rows: Any  # datasets.Dataset
    processor: LabelledProcessor

    def __len__(self) -> int:
        return len(self.rows)

    def tokens(self) -> list[dict[str, list[int]]]:
        """The rows with `input_ids`, `labels`, `cuda_mask`, `sample_ids` and, where there are weights, `token_weights`, as training gets
        them; unusable ones are dropped."""
        with quiet(), fault_named(self.processor.data_args):
            columns = self.processor.preprocess_dataset(self._usable)
        wanted = ("input_ids", "labels", *COLUMNS, *[WEIGHTS] * (WEIGHTS in columns))
        return [
            {name: value.tolist() for name, value in zip(wanted, row, strict=True)}
            for row in zip(*(columns[name] for name in wanted), strict=True)
        ]

    def first_prompts(self) -> list[str]:
        """The first user message of each row of `tokens`, without the template's tokens."""
        return [_contents(messages)[0] for messages in self._usable["_prompt"]]

    @functools.cached_property
    def _usable(self) -> dict[str, list[Any]]:
        """The rows that training takes; a warning names the others."""
        return self.processor.without_unusable_rows(self.rows[:])

    def texts(self, row: int) -> tuple[list[str], list[str]]:
        """A row's user messages, and its assistant messages, earlier turns included."""
        messages = self.rows[row]
        return _contents(messages["_prompt"][::2]), _contents([*messages["_prompt"][1::2], *messages["_response"]])

    @property
    def gives(self) -> bool:
        """Whether the data give weights or spans."""
        return COLUMN in self.rows.column_names

    def given(self, row: int) -> GivenRow:
        """What the data give of a row."""
        return GivenRow.from_text(self.rows[row].get(COLUMN))

    def count(self, workers: int) -> pd.DataFrame:
        """The rows in numbers, counted by `workers` processes.

        usable: False where training drops the row (no assistant message, or an empty one); its other numbers are 0. tokens: of the
        whole row with the template, of which `kept` remain at cutoff_len. supervised, cuda: tokens of the responses as training sees
        them; weight: the sum of what they weigh; without_weight: those that weigh 0; lost_supervised, lost_cuda: what truncation drops of
        them. A column for each kind: how many spans.
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
    """The numbers of a batch, a list for each column."""
    found = {
        row: dict.fromkeys((*NUMBERS, *KINDS), 0) | {"row": row, "weight": 0.0, "usable": False} for row in indices
    }
    usable = processor.without_unusable_rows({**examples, "_row": indices})
    uncut = copy.copy(processor.data_args)
    uncut.cutoff_len = sys.maxsize
    whole = _sizes(replace(processor, data_args=uncut), usable)
    # Rows that reach cutoff_len are made once more, cut.
    reaching = [index for index, size in enumerate(whole) if size[0] >= processor.data_args.cutoff_len]
    chosen = {name: [column[index] for index in reaching] for name, column in usable.items()}
    cut = dict(zip(reaching, _sizes(processor, chosen), strict=True))
    for index, (row, size) in enumerate(zip(usable["_row"], whole, strict=True)):
        kept = cut.get(index, size)
        lost = size[1] - kept[1], size[2] - kept[2]
        found[row] |= {"usable": True} | dict(zip(NUMBERS, (size[0], *kept, *lost), strict=True))
        for text in _contents([*usable["_prompt"][index][1::2], *usable["_response"][index]]):
            for span in processor.rules.find_spans(text, tuple(KINDS)):
                found[row][span.kind] += 1
    return {name: [numbers[name] for numbers in found.values()] for name in ("row", "usable", *NUMBERS, *KINDS)}


def _sizes(processor: LabelledProcessor, examples: dict[str, list[Any]]) -> list[tuple[int, int, int, float, int]]:
    """Each row's tokens, supervised tokens, CUDA tokens among those, the sum of their weights, and how many weigh 0."""
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

    A `dataset_dir` that is not there is looked for in the package, as for a recipe.

    Raises:
        ValueError: an unknown data set or template, a file that cannot be read, a column that is missing, no rows.
    """
    names, folder = ",".join(dataset), str(bundled.found(Path(dataset_dir)))
    data_args = DataArguments(dataset=names, dataset_dir=folder, **options)
    fixed = open_template(tokenizer, data_args)
    model_args = ModelArguments(model_name_or_path=model_path)
    try:
        with quiet(), labelling(rules):
            parts = [_get_merged_dataset([name], model_args, data_args, OneProcess(), stage="sft") for name in dataset]
    except Exception as error:
        fault = find_fault(data_args) or one_line(error.__cause__ or error)
        raise ValueError(f"dataset={names}: its rows cannot be read: {fault}") from error
    return LabelledRows(concatenate_datasets(parts), LabelledProcessor(fixed, tokenizer, None, data_args, rules))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep LLaMA-Factory's and datasets' prints and progress bars off the screen; warnings stay."""
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
