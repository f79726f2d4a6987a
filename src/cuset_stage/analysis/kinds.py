"""Make rows in which every token has its kinds of CUDA span, from a data set or from files of code.

The rows of a data set are encoded as for training.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llamafactory.hparams import DataArguments
from numpy.typing import NDArray

from ..objective.cuset import IGNORE_INDEX
from ..settings import SettingsError
from ..stage.dataset import fault_named
from ..stage.given import GivenResponse
from ..stage.loading import LabelledRows, open_template, quiet
from ..stage.processors import LabelledProcessor
from ..stage.token_labels import (
    TOKEN_MASK,
    LabellingTokenizer,
    LabelRules,
    Passages,
    PassageTable,
    Response,
    ResponseText,
    kinds_of,
    unpack_labels,
)


BATCH = 64


class KindRow(NamedTuple):
    """A row to read. All arrays are [length].

    Attributes:
        input_ids: token ids as in training.
        labels: labels as in training, -100 where a token is not supervised.
        sample_ids: number of each token's sample within the row, 0 where a token is not supervised.
        kinds: the `KIND_BITS` of all spans that each token overlaps.
    """

    input_ids: NDArray[np.int32]
    labels: NDArray[np.int64]
    sample_ids: NDArray[np.int32]
    kinds: NDArray[np.int64]


@dataclass
class KindProcessor(LabelledProcessor):
    """Encodes rows as for training, except that `cuda_mask` holds all kinds of a token, as `KIND_BITS`."""

    @staticmethod
    def unpack(tagged_ids: list[int], tagged_labels: list[int], passages: PassageTable) -> tuple[NDArray, ...]:
        """Return the same arrays as `unpack_labels`, with the `KIND_BITS` of each token in place of `cuda_mask`."""
        ids, labels, _, *others = unpack_labels(tagged_ids, tagged_labels, passages)
        return ids, labels, kinds_of(np.array(tagged_ids, dtype=np.int64)), *others


def data_rows(rows: LabelledRows) -> Iterator[KindRow]:
    """Yield the usable rows of a data set, encoded one batch at a time.

    Args:
        rows: the rows, which must have been opened with label rules for all kinds.
    """
    plain = rows.processor
    processor = KindProcessor(plain.template, plain.tokenizer, plain.processor, plain.data_args, plain.rules)
    for start in range(0, len(rows), BATCH):
        yield from _encoded(processor, processor.without_unusable_rows(rows.rows[start : start + BATCH]))


def code_files(paths: Sequence[Path], most: int | None) -> list[Path]:
    """Return the given files, and the .cu and .cuh files inside the given folders, sorted by path within each folder.

    At most `most` files are returned, all if it is None.

    Raises:
        SettingsError: a path does not exist, or a folder has no such file.
    """
    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise SettingsError(f"code={path}: there is no such file or folder.")
        inside = sorted(file for file in path.rglob("*.cu*") if file.suffix in (".cu", ".cuh") and file.is_file())
        if path.is_dir() and not inside:
            raise SettingsError(f"code={path}: no file in it ends in .cu or .cuh; name the files themselves.")
        files |= dict.fromkeys(inside or [path])
    return list(files)[:most]


def code_rows(
    files: Sequence[Path], tokenizer: Any, rules: LabelRules, *, template: str, cutoff_len: int, prompt: str | None
) -> Iterator[KindRow]:
    """Yield one row per file of code. Files without any text are left out.

    With a prompt, the code is the model's answer to it under the template, including the end-of-turn token. Without a
    prompt, the code stands alone, after the token with which the tokenizer begins a text, if it has one.

    Args:
        files: files of code, read as UTF-8 with replacement of invalid bytes.
        tokenizer: the model's tokenizer.
        rules: label rules, with all kinds.
        template: name of LLaMA-Factory's chat template; used only with a prompt.
        cutoff_len: tokens to which a row is cut.
        prompt: the user message, or None.

    Raises:
        SettingsError: a file cannot be read, or is binary or UTF-16.
        ValueError: there is no such template.
    """
    labelling = LabellingTokenizer(tokenizer, rules, Passages(), ("", ""))
    if prompt is not None:
        data_args = DataArguments(template=template, cutoff_len=cutoff_len)
        processor = KindProcessor(open_template(tokenizer, data_args), tokenizer, None, data_args, rules)
    bos_ids = [tokenizer.bos_token_id] if tokenizer("").input_ids[:1] == [tokenizer.bos_token_id] else []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise SettingsError(f"code={file}: cannot be read ({error.strerror}).") from None
        if "\0" in text:
            raise SettingsError(f"code={file}: has NUL bytes, so it is no text in UTF-8; convert it, or leave it out.")
        if not text.strip():
            continue
        if prompt is not None:
            row = {"_system": "", "_tools": "", "_images": None, "_videos": None, "_audios": None}
            row["_prompt"] = [{"role": "user", "content": prompt}]
            row["_response"] = [{"role": "assistant", "content": text}]
            yield from _encoded(processor, {key: [value] for key, value in row.items()})
            continue
        response = ResponseText(text, Response(0, text, GivenResponse()), 0, len(text))
        tagged = np.array([*bos_ids, *labelling.encode(response)][:cutoff_len], dtype=np.int64)
        ids = (tagged & TOKEN_MASK).astype(np.int32)
        labels = np.where(np.arange(len(ids)) < len(bos_ids), IGNORE_INDEX, ids.astype(np.int64))
        yield KindRow(ids, labels, (labels != IGNORE_INDEX).astype(np.int32), kinds_of(tagged))


def _encoded(processor: KindProcessor, examples: dict[str, list[Any]]) -> Iterator[KindRow]:
    """Encode a batch of examples, all of which must be usable."""
    with quiet(), fault_named(processor.data_args):
        columns = processor.preprocess_dataset(examples)
    yield from map(KindRow, *(columns[name] for name in ("input_ids", "labels", "sample_ids", "cuda_mask")))
