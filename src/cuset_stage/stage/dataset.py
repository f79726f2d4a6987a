"""Build and check the labelled data sets of a run, and explain what is wrong with a data file."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from datasets import Dataset, config, load_dataset
from llamafactory.data import get_dataset
from llamafactory.data.converter import DATASET_CONVERTERS
from llamafactory.extras import logging
from llamafactory.extras.constants import FILEEXT2TYPE
from llamafactory.extras.misc import has_tokenized_data

from .. import bundled
from ..files import full_disk, write_atomically
from ..jsonl import read_rows
from ..text import InputError, nearest, one_line
from .given import GivingAttr, giving_dataset_list, read_given
from .processors import COLUMNS, LabelRules, label_columns, labelling
from .row_forms import check_texts


logger = logging.get_logger(f"llamafactory.{__name__}")  # a child of its logger, for its handlers and verbosity

RULES_FILE = "cuset_labels.json"  # holds the labelling rules of the data set in tokenized_path
ANEW = "Give another tokenized_path, or delete this folder to have it written anew."


def labelled_dataset(
    rules, summaries, template, model_args, data_args, training_args, *args, **kwargs
) -> dict[str, Any]:
    """Return what LLaMA-Factory's `get_dataset` returns, labelled and checked.

    `rules` are the `LabelRules` of the run, and the list `summaries` receives the sentences that `report_labels` logs
    about each data set. The arguments behind them are those of `get_dataset`.

    Raises:
        ValueError: the data set in `tokenized_path` was made by other rules, or its rows are not what is evaluated.
        InputError: data cannot be read, or no row of them can be used. The message names the fault.
    """
    path = data_args.tokenized_path
    was_saved_before = path is not None and has_tokenized_data(path)
    with damage_named(path) if was_saved_before else fault_named(data_args, model_args.cache_dir), labelling(rules):
        module = get_dataset(template, model_args, data_args, training_args, *args, **kwargs)

    edition = bundled.kernels_edition(data_set_names(data_args), str(data_args.dataset_dir))
    if was_saved_before:
        check_saved_rules(Path(path), rules, edition)
    elif path is not None and training_args.should_save:
        written = asdict(rules) | ({bundled.KERNELS: edition} if edition else {})
        write_atomically(Path(path) / RULES_FILE, json.dumps(written, indent=2) + "\n")
    if edition and training_args.should_log:
        summaries.append(f"{bundled.KERNELS}, edition {edition}")
        logger.info_rank0(f"{summaries[-1]}.")

    for name, dataset in _splits(module):
        # predict_with_generate evaluates on prompts, which carry no labels
        is_prompts = name != "training" and training_args.predict_with_generate
        if was_saved_before and name != "training" and is_prompts == (COLUMNS[0] in dataset.column_names):
            if training_args.do_eval or training_args.do_predict:
                raise ValueError(
                    f"tokenized_path: {path} was written {'without' if is_prompts else 'with'} predict_with_generate, so its evaluation rows are "
                    f"{'no ' if is_prompts else ''}prompts. {ANEW}"
                )
            continue
        if training_args.should_log and not is_prompts:
            summaries.extend(report_labels(dataset, name))
    return module


def data_set_names(data_args: Any) -> list[str]:
    """Return the names of a run's data sets, for training and for evaluation."""
    return [*(data_args.dataset or []), *(data_args.eval_dataset or [])]


def _splits(module: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the data sets of a run, each with a name for messages."""
    evaluation = module.get("eval_dataset")
    named = evaluation if isinstance(evaluation, dict) else {"": evaluation}
    splits = {"training": module.get("train_dataset")}
    splits |= {f"evaluation set {name}" if name else "evaluation": dataset for name, dataset in named.items()}
    return [(name, dataset) for name, dataset in splits.items() if dataset is not None]


def check_saved_rules(path: Path, rules: LabelRules, edition: int | None) -> None:
    """Check that the data set in `tokenized_path` fits this run.

    Args:
        path: the folder `tokenized_path`.
        rules: the rules of this run.
        edition: the edition of the bundled data that this run uses, or None if it does not use them.

    Raises:
        ValueError: the data set was labelled by other rules than this run's, was made of another edition, or was not
            written by `stage: cuset`.
    """
    file = path / RULES_FILE
    if not file.exists():
        raise ValueError(
            f"tokenized_path: {path} was not written by stage: cuset ({RULES_FILE} is missing), so it has no CUDA labels. {ANEW}"
        )
    try:
        saved = dict(json.loads(file.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file} is damaged ({error}), so nobody knows how its data were labelled. {ANEW}") from None
    saved_edition = saved.get(bundled.KERNELS, 1)
    if edition and saved_edition != edition:
        raise ValueError(
            f"tokenized_path: {path} was made of edition {saved_edition} of {bundled.KERNELS}, and this is edition {edition}, which has other rows "
            f"(edition 1 is {bundled.KERNELS}_hard now). {ANEW}"
        )
    expected = json.loads(json.dumps(asdict(rules)))
    changed = [key for key in expected if saved.get(key) != expected[key]]
    if changed:
        details = "; ".join(f"{key}: {saved.get(key)} there, {expected[key]} here" for key in changed)
        raise ValueError(f"tokenized_path: {path} was labelled by other rules ({details}). {ANEW}")


def report_labels(dataset: Any, name: str) -> list[str]:
    """Log how much of a data set is CUDA and what the given weights amount to.

    Warns loudly when nothing is CUDA or all weights are 0. A streamed data set is not read ahead; there the training
    log shows the share.

    Returns:
        The sentences that were logged as information. Empty for a streamed data set.
    """
    if not hasattr(dataset, "data"):
        return []
    rows, columns = len(dataset), label_columns(dataset.column_names)
    counts, weights = [], []  # counts of each row: supervised tokens, CUDA tokens among them, samples
    for batch in dataset.with_format("arrow").iter(1000):
        for mask, ids, *token_weights in zip(*(batch[column].to_numpy() for column in columns), strict=True):
            counts.append((np.count_nonzero(ids), np.count_nonzero(mask[ids > 0]), ids.max(initial=0)))
            weights += [row_weights[ids > 0] for row_weights in token_weights]
    supervised, cuda, samples = np.sum(counts, axis=0)
    unsupervised_rows, without_cuda, _ = np.count_nonzero(np.array(counts) == 0, axis=0)

    summaries = [
        f"CUDA labels of the {name} data: {cuda:,} of {supervised:,} supervised tokens "
        f"({100 * cuda / max(supervised, 1):.1f}%) in {samples:,} samples; {without_cuda:,} of {rows:,} rows have none."
    ]
    logger.info_rank0(summaries[0])
    if unsupervised_rows:
        logger.warning_rank0(
            f"{unsupervised_rows:,} of {rows:,} rows of the {name} data have no supervised token left: their prompts fill cutoff_len. "
            "Raise cutoff_len or shorten them."
        )
    if supervised and not cuda:
        logger.warning_rank0(
            f"NOT ONE CUDA TOKEN was found in the {name} data ({rows:,} rows, {supervised:,} supervised tokens), so the CUDA mask does "
            "nothing. Check that the responses hold kernels (a __global__ definition or a <<<...>>> launch, unless cuset_language names "
            "another language than CUDA), that the columns of dataset_info.json map the response to the assistant's side, that cutoff_len "
            "does not cut the code off, and cuset_sensitive_kinds; macros that stand for __global__ go into cuset_kernel_aliases."
        )
    if weights and supervised:
        token_weights = np.concatenate(weights).astype(np.float64)
        summaries.append(
            f"Weights of the {name} data: {token_weights.mean():.4g} a supervised token on average, from {token_weights.min():.4g} to "
            f"{token_weights.max():.4g}; {np.mean(token_weights == 0):.1%} of them weigh 0."
        )
        logger.info_rank0(summaries[1])
        if not token_weights.any():
            logger.warning_rank0(f"EVERY WEIGHT of the {name} data is 0, so nothing is learned from it.")
    return summaries


@contextlib.contextmanager
def damage_named(path: str) -> Iterator[None]:
    """Raise InputError if the block fails to read the data set in `tokenized_path`."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise InputError(
            f"tokenized_path: {path} cannot be read ({one_line(error)}): it was cut off while it was written or copied. Delete this folder to "
            "have it written anew."
        ) from error


@contextlib.contextmanager
def fault_named(data_args: Any, cache_dir: str | None = None) -> Iterator[None]:
    """Raise InputError if the block fails and `find_fault` or `lack_of_room` finds the reason, or no row can be used.

    Other errors pass unchanged. `cache_dir` is the recipe's.
    """
    try:
        yield
    except Exception as error:
        fault = lack_of_room(error, data_args, cache_dir) or find_fault(data_args)
        if isinstance(error, StopIteration):
            fault = fault or (
                "no row of the data was read. With streaming: true, set dataloader_num_workers to 1 or more, since LLaMA-Factory cuts a file "
                "into as many parts; and max_samples to 1 or more."
            )
        if fault is None and "Cannot find valid samples" not in str(error):
            raise
        fault = fault or (
            "no row of the data can be used (the warnings above say why). Check that dataset_info.json maps the response column, and the "
            "roles of messages."
        )
        raise InputError(fault) from error


def lack_of_room(error: Exception, data_args: Any, cache_dir: str | None = None) -> str | None:
    """Describe which folder of prepared data has no room, if that is why data could not be prepared.

    The system names no file, and `datasets` has removed what it could not write, so the disk may have room again.
    """
    if (full := full_disk(error)) is None:
        return None
    path = data_args.tokenized_path
    if path is not None and Path(path).exists():
        return f"tokenized_path: {path}: {full.strerror}. Free disk space and delete this folder, or give another one."
    key = "cache_dir" if cache_dir else "HF_DATASETS_CACHE"
    return f"{cache_dir or config.HF_DATASETS_CACHE}: {full.strerror}. Free disk space, or name a folder on a larger disk with {key}."


def find_fault(data_args: Any) -> str | None:
    """Describe what is wrong with a local file of a run's data sets.

    LLaMA-Factory's own message for a broken file is "An error occurred while generating the dataset", and for a
    missing column a bare KeyError. The files are read once more, and only after it has failed.

    Returns:
        A sentence with the file, the line or row, and the key. None if no fault is found.
    """
    names = data_set_names(data_args)
    for name, attributes in zip(names, giving_dataset_list(names, data_args.dataset_dir), strict=True):
        if attributes.ranking or attributes.kto_tag:
            return (
                f"dataset_info.json: {name} has {'ranking' if attributes.ranking else 'kto_tag'}, so its rows are preferences, for stage: dpo "
                "or kto. Remove that, and name the answers to train on as `response`, or as the last of `messages`; or train on other data."
            )
        if attributes.formatting not in DATASET_CONVERTERS:
            return f"dataset_info.json: {name} has formatting: {attributes.formatting}; {nearest(str(attributes.formatting), DATASET_CONVERTERS)}"
        if attributes.load_from != "file":
            continue
        path = Path(data_args.dataset_dir) / attributes.dataset_name
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        types = {FILEEXT2TYPE.get(file.suffix[1:]) for file in files}
        if path.exists() and (len(types) != 1 or None in types):
            found = ", ".join(file.name for file in files) or "none"
            return f"{path}: expected one or more files of one type ({', '.join(FILEEXT2TYPE)}); found {found}."
        for file in files:
            try:
                if file.suffix[1:] in FILEEXT2TYPE:
                    _check_rows(file, name, attributes)
            except InputError as error:
                return str(error)
            except Exception as error:  # whatever the reader raises
                return (
                    f"{file}: {one_line(error.__cause__ or error)}; expected a whole file, and one type in a column."
                )
    return None


def _check_rows(file: Path, name: str, attributes: GivingAttr) -> None:
    """Check the rows of a data file.

    Raises:
        InputError: the file cannot be read, no row has a column that dataset_info.json names, or texts, messages,
            weights or spans are wrong. Other errors are those of the file's reader.
    """
    form = FILEEXT2TYPE[file.suffix[1:]]
    rows = read_rows(file) if form == "json" else load_dataset(form, data_files=str(file), split="train").to_list()
    known_keys = {key for row in rows for key in row}
    contents = ("prompt", "query", "response") if attributes.formatting == "alpaca" else ("messages",)
    for role in (*contents, "system", "tools", "history", "weight", "spans"):
        column = getattr(attributes, role, None)
        if column and column not in known_keys:
            raise InputError(
                f"{file}: no row has the key {column!r}, which is the {role} column of the data set {name}; the rows have "
                f"{', '.join(sorted(known_keys))}. Name the right key under `columns` in dataset_info.json."
            )
    for number, row in enumerate(rows, start=1):
        try:
            check_texts(row, vars(attributes))
            if attributes.gives:
                read_given(row, attributes)
        except InputError as error:
            raise InputError(f"{file}: row {number}: {error}") from None
    Dataset.from_pandas(pd.DataFrame(rows))  # fails where `datasets` does, and names the column
