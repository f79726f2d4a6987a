"""Rows with the kinds of CUDA span of every token: from a data set as training encodes it, or from files of code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llamafactory.hparams import DataArguments
from numpy.typing import NDArray

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
IGNORED = -100


class KindRow(NamedTuple):
    """A row to read: input_ids, labels and sample_ids as in training, and `kinds`, the `KIND_BITS` of each token's spans; [length] each."""

    name: str
    input_ids: NDArray[np.int32]
    labels: NDArray[np.int64]
    sample_ids: NDArray[np.int32]
    kinds: NDArray[np.int64]


@dataclass
class KindProcessor(LabelledProcessor):
    """Rows as in training, but that `cuda_mask` holds all kinds of a token, as `KIND_BITS`."""

    @staticmethod
    def unpack(tagged_ids: list[int], tagged_labels: list[int], passages: PassageTable) -> tuple[NDArray, ...]:
        ids, labels, _, *others = unpack_labels(tagged_ids, tagged_labels, passages)
        return ids, labels, kinds_of(np.array(tagged_ids, dtype=np.int64)), *others


def data_rows(rows: LabelledRows, name: str) -> Iterator[KindRow]:
    """The usable rows of a data set, encoded a batch at a time; `rows` were opened with rules of all kinds."""
    plain = rows.processor
    processor = KindProcessor(plain.template, plain.tokenizer, plain.processor, plain.data_args, plain.rules)
    for start in range(0, len(rows), BATCH):
        batch = rows.rows[start : start + BATCH]
        numbers = range(start + 1, start + 1 + len(batch["_prompt"]))
        batch = processor.without_unusable_rows({**batch, "_name": [f"{name}, row {number}" for number in numbers]})
        yield from _encoded(processor, batch, batch.pop("_name"))


def code_files(paths: Sequence[Path], most: int | None) -> list[Path]:
    """The files themselves, and of folders the .cu and .cuh files within, sorted by path.

    Raises:
        SettingsError: a path that is not there, or a folder without such a file.
    """
    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise SettingsError(f"code={path}: there is no such file or folder.")
        inside = [path]
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*.cu*") if file.suffix in (".cu", ".cuh") and file.is_file())
        if not inside:
            raise SettingsError(f"code={path}: no file in it ends in .cu or .cuh; name the files themselves.")
        files |= dict.fromkeys(inside)
    return list(files)[:most]


def code_rows(
    files: Sequence[Path], tokenizer: Any, rules: LabelRules, *, template: str, cutoff_len: int, prompt: str | None
) -> Iterator[KindRow]:
    """Files of code, each a sample.

    With a prompt the code is the model's answer to it under the template, end-of-turn token included; without one it stands alone,
    behind the token that the tokenizer begins texts with, if there is one.

    Raises:
        SettingsError: a file that cannot be read.
        ValueError: there is no such template.
    """
    labelling = LabellingTokenizer(tokenizer, rules, Passages(), ("", ""))
    if prompt is not None:
        data_args = DataArguments(template=template, cutoff_len=cutoff_len)
        processor = KindProcessor(open_template(tokenizer, data_args), tokenizer, None, data_args, rules)
    begin = [tokenizer.bos_token_id] if tokenizer("").input_ids[:1] == [tokenizer.bos_token_id] else []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise SettingsError(f"code={file}: cannot be read ({error.strerror}).") from None
        if not text.strip():
            continue
        if prompt is not None:
            row = {"_system": "", "_tools": "", "_images": None, "_videos": None, "_audios": None}
            row["_prompt"] = [{"role": "user", "content": prompt}]
            row["_response"] = [{"role": "assistant", "content": text}]
            yield from _encoded(processor, {key: [value] for key, value in row.items()}, [str(file)])
            continue
        code = ResponseText(text, Response(0, text, GivenResponse()), 0, len(text))
        tagged = np.array([*begin, *labelling.encode(code)][:cutoff_len], dtype=np.int64)
        ids = (tagged & TOKEN_MASK).astype(np.int32)
        labels = np.where(np.arange(len(ids)) < len(begin), IGNORED, ids.astype(np.int64))
        yield KindRow(str(file), ids, labels, (labels != IGNORED).astype(np.int32), kinds_of(tagged))


def _encoded(processor: KindProcessor, examples: dict[str, list[Any]], names: Sequence[str]) -> Iterator[KindRow]:
    """The rows of examples, all of which are usable."""
    with quiet(), fault_named(processor.data_args):
        made = processor.preprocess_dataset(examples)
    yield from map(KindRow, names, *(made[name] for name in ("input_ids", "labels", "sample_ids", "cuda_mask")))
