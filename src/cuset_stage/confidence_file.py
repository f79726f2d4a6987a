"""The probabilities that a model gave the tokens of a data set, in a file, found again by the tokens of an example.

An Arrow file of two columns: `key`, BLAKE2s-128 of the example's token ids (`example_key`), and `probability`, the float32 probability
of each supervised token in order. The file is mapped, not read: what is held is 24 bytes an example. May import numpy and pyarrow.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from .text import InputError


KEY_BYTES = 16
ROWS_A_BATCH = 512  # examples that are held until they are written
MOST_ROUNDING = 0.01  # that a probability of a file may lie outside [0, 1], as in bfloat16
ABOUT = b"cuset_confidence"  # what the file says of itself, as JSON in the schema's metadata
_COLUMNS = [pa.field("key", pa.binary(KEY_BYTES)), pa.field("probability", pa.list_(pa.float32()))]


def example_key(input_ids: Sequence[int]) -> bytes:
    """BLAKE2s-128 of the ids as little-endian int32.

    input_ids: [length], the whole example as LLaMA-Factory's processor encodes it: template applied, cut to cutoff_len, not packed.
    """
    return hashlib.blake2s(np.asarray(input_ids, dtype="<i4").tobytes(), digest_size=KEY_BYTES).digest()


def within_range(values: np.ndarray, name: str) -> np.ndarray:
    """Probabilities with what rounding left below 0 or above 1 as 0 or 1; NaN stays.

    Raises:
        InputError: one that is further outside; `name` begins the message.
    """
    result = values.clip(0.0, 1.0)
    if (is_wrong := np.abs(values - result) > MOST_ROUNDING).any():
        raise InputError(
            f"{name} has a probability of {values[is_wrong][0]:g}; expected 0 to 1. Write the file anew with probabilities, the "
            "exponentials of log-probabilities."
        )
    return result


class ConfidenceWriter:
    """Writes examples one by one; the file is there when the `with` ends without an error.

    about: JSON values to find in `ConfidenceFile.about`: which model, adapter, template and cutoff_len.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._schema = pa.schema(_COLUMNS, metadata={ABOUT: json.dumps(dict(about)).encode()})
        self._rows: list[tuple[bytes, np.ndarray]] = []

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pa.ipc.new_file(str(self._part), self._schema)
        return self

    def add(self, input_ids: Sequence[int], probabilities: np.ndarray) -> None:
        """An example. probabilities: [number of labels that are not -100], NaN where nothing predicts the token.

        Raises:
            InputError: numbers that are no probabilities; see `within_range`.
        """
        values = within_range(np.asarray(probabilities, dtype=np.float32), f"{self._path}: an example")
        self._rows.append((example_key(input_ids), values))
        if len(self._rows) == ROWS_A_BATCH:
            self._flush()

    def _flush(self) -> None:
        keys, values = zip(*self._rows, strict=True)
        offsets = np.cumsum([0, *map(len, values)], dtype=np.int32)
        lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate(values)))
        self._writer.write_batch(pa.record_batch([pa.array(keys, _COLUMNS[0].type), lists], schema=self._schema))
        self._rows = []

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._rows:
                self._flush()
        finally:
            self._writer.close()
            if kind is not None:
                self._part.unlink(missing_ok=True)
        if kind is None:
            self._part.replace(self._path)


class ConfidenceFile:
    """A file of `ConfidenceWriter`, to look examples up in. It is opened again where it is unpickled.

    Attributes:
        about: what its writer said of it.

    Raises:
        InputError: the file cannot be read, or is none.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        fix = "Give a file that `cuset analyze save_confidence=FOLDER` wrote."
        try:
            table = pa.ipc.open_file(pa.memory_map(str(self.path))).read_all()
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror or error}). {fix}") from None
        except pa.ArrowInvalid:
            raise InputError(f"{self.path}: is no file of token probabilities. {fix}") from None
        about = (table.schema.metadata or {}).get(ABOUT)
        if about is None or not table.schema.equals(pa.schema(_COLUMNS)):
            raise InputError(f"{self.path}: holds other columns than {', '.join(f.name for f in _COLUMNS)}. {fix}")
        self.about: dict[str, Any] = json.loads(about)
        self._values = table["probability"]
        keys = b"".join(
            key.buffers()[1][key.offset * KEY_BYTES :][: len(key) * KEY_BYTES] for key in table["key"].chunks
        )
        self._keys = np.frombuffer(keys, f"S{KEY_BYTES}")  # which pads with zeros, so that whole keys are compared
        self._order = np.argsort(self._keys, kind="stable")

    def __len__(self) -> int:
        return len(self._keys)

    def __reduce__(self) -> tuple[Any, ...]:
        return ConfidenceFile, (self.path,)

    def find(self, input_ids: Sequence[int], labels: Sequence[int], name: str = "an example") -> np.ndarray:
        """The probabilities of an example's supervised tokens, in order.

        Args:
            input_ids: [length], as for `example_key`.
            labels: [length], -100 where not supervised.
            name: how to call the example in a message.

        Returns:
            [number of labels that are not -100] float32 in [0, 1]; NaN where nothing predicts the token (a row's first).

        Raises:
            InputError: the example is not in the file, other tokens of it are supervised there, or its numbers are no probabilities.
        """
        key = np.frombuffer(example_key(input_ids), dtype=f"S{KEY_BYTES}")[0]
        at = int(np.searchsorted(self._keys, key, sorter=self._order))
        written = ", ".join(f"{name}: {value}" for name, value in self.about.items() if value is not None)
        if at == len(self) or self._keys[self._order[at]] != key:
            raise InputError(
                f"{self.path}: {name} ({len(input_ids)} tokens) is not among its {len(self)} examples, which were read with {written}. "
                "Write the file anew with the data set, template and cutoff_len of the recipe."
            )
        values = self._values[int(self._order[at])].values.to_numpy(zero_copy_only=True)
        supervised = int(np.count_nonzero(np.asarray(labels) != -100))
        if len(values) != supervised:
            raise InputError(
                f"{self.path}: {name} has {supervised} supervised tokens here and {len(values)} there. Write the file anew with the "
                "recipe's train_on_prompt and mask_history."
            )
        return within_range(values, f"{self.path}: {name}")
