"""Tokenizers, models and labelled rows outside a training run, made by the same code that a run uses.

For the analysis room, which must see exactly the tokens, labels and masks that training sees, and must not import llamafactory.
"""

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from datasets.exceptions import DatasetsError
from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
from llamafactory.data.template import TEMPLATES
from llamafactory.extras import logging
from llamafactory.hparams import DataArguments, FinetuningArguments, ModelArguments
from llamafactory.model import load_model, load_tokenizer

from .._compatibility import check
from .processors import LabelRules, labelling


@dataclass
class _OneProcess:
    """What LLaMA-Factory's data loading asks of the training arguments, answered for one process without a run."""

    seed: int = 42
    local_process_index: int = 0
    dataloader_num_workers: int = 0
    should_log: bool = False  # no training example and no report on the screen
    should_save: bool = False
    predict_with_generate: bool = False

    def main_process_first(self, **_: Any) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()


def open_tokenizer(path: str, *, trust_remote_code: bool = False) -> Any:
    """The tokenizer of a model as LLaMA-Factory patches it, before a template has fixed it.

    Raises:
        OSError: there is none at `path`.
    """
    with quiet():
        return load_tokenizer(ModelArguments(model_name_or_path=path, trust_remote_code=trust_remote_code))[
            "tokenizer"
        ]


def open_model(path: str, tokenizer: Any, device: str, *, trust_remote_code: bool = False) -> Any:
    """The model at `path` as LLaMA-Factory loads it for inference: frozen, in evaluation mode, without an adapter."""
    model_args = ModelArguments(model_name_or_path=path, trust_remote_code=trust_remote_code)
    model_args.device_map = {"": device}
    # "full" loads nothing beside the weights; as the model is not trainable, nothing is unfrozen or cast.
    with quiet():
        return load_model(tokenizer, model_args, FinetuningArguments(finetuning_type="full"), is_trainable=False)


def labelled_rows(
    tokenizer: Any,
    model_path: str,
    dataset: str,
    dataset_dir: str,
    template: str,
    cutoff_len: int,
    count: int,
    rules: LabelRules,
) -> list[dict[str, list[int]]]:
    """The first `count` rows of a data set with `input_ids`, `labels`, `cuda_mask` and `sample_ids`, as training gets them.

    Rows that training would leave out (no assistant message, an empty response) are left out here too. The template fixes the
    tokenizer in place, as it does before training.

    Raises:
        ValueError: an unknown template or data set, with the names there are; a file that cannot be read.
    """
    _check_dataset(dataset, dataset_dir)
    if template not in TEMPLATES:
        near = get_close_matches(template, TEMPLATES, n=4)
        hint = f"did you mean {', '.join(near)}?" if near else "its documentation lists them."
        raise ValueError(f"--template {template}: LLaMA-Factory has no such template; {hint}")
    check()  # without the patch of data.loader the rows would lack the CUDA columns
    data_args = DataArguments(
        template=template, dataset=dataset, dataset_dir=dataset_dir, cutoff_len=cutoff_len, max_samples=count
    )
    try:
        with quiet(), labelling(rules):
            module = get_dataset(
                get_template_and_fix_tokenizer(tokenizer, data_args),
                ModelArguments(model_name_or_path=model_path),
                data_args,
                _OneProcess(),
                stage="sft",
                tokenizer=tokenizer,
            )
        rows = list(module["train_dataset"])
    except (DatasetsError, StopIteration, ValueError) as error:
        cause = error.__cause__ or error
        # An empty file: datasets speaks of a split, and LLaMA-Factory asks for the first row.
        is_empty = isinstance(error, StopIteration) or "corresponds to no data" in str(error)
        if isinstance(error, ValueError) and not is_empty:
            raise
        reason = "it has no rows" if is_empty else str(cause).strip().splitlines()[0]
        raise ValueError(
            f"--dataset {dataset}: its file in {dataset_dir} cannot be read ({reason}); it has to be JSON with a list of rows, or "
            "JSON lines."
        ) from error
    if not rows:
        raise ValueError(
            f"--dataset {dataset}: none of its first {count} rows has a prompt and a response. Check the columns in "
            f"{Path(dataset_dir) / 'dataset_info.json'}, or take more rows (--samples)."
        )
    return rows


def _check_dataset(name: str, dataset_dir: str) -> None:
    """Say which data sets there are; LLaMA-Factory only says which one is missing."""
    file = Path(dataset_dir) / "dataset_info.json"
    if not file.is_file():
        raise ValueError(
            f"--dataset-dir {dataset_dir}: there is no dataset_info.json in it; name the folder that has one."
        )
    try:
        known = list(json.loads(file.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{file} is not valid JSON ({error}); correct it.") from None
    if name not in known:
        raise ValueError(f"--dataset {name}: not in {file}, which has {', '.join(known) or 'no data set at all'}.")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep LLaMA-Factory's and datasets' prints and progress bars off the screen; warnings stay."""
    from datasets.utils import logging as datasets_logging

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
