"""Wrong outputs that an oracle should refuse: what a program writes that computes nothing, or not quite the right thing.

Outputs may be larger than the memory: they are made, and references read, in chunks.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

import numpy as np

from ..tasks.base import DTYPE_BYTES, Tensor


CHUNK = 1 << 20  # elements
MAX_COPIES = 16  # of inputs: a task with more of one size is tried with the first ones


class Severity(StrEnum):
    """ERROR: a program that computes nothing passes, or the right outputs do not. WARNING: some wrong programs may pass.
    NOTE: the verdicts hold; for whoever compares numbers with other judges, or looks after the set."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(StrEnum):
    """What was found. Those that end in _pass or _passes: such outputs pass in every case of the task."""

    ORACLE_FAILS = "oracle_fails"
    REFERENCE_REFUSED = "reference_refused"
    REFERENCE_UNPAIRED = "reference_unpaired"
    SIZE_DIFFERS = "size_differs"
    UNKNOWN_DTYPE = "unknown_dtype"
    ZEROS_PASS = "zeros_pass"
    ONES_PASS = "ones_pass"
    CONSTANT_PASSES = "constant_passes"
    INPUT_PASSES = "input_passes"
    OTHER_CASE_PASSES = "other_case_passes"
    RANDOM_PASSES = "random_passes"
    NAN_PASSES = "nan_passes"
    OUTPUT_UNCHECKED = "output_unchecked"
    PART_UNCHECKED = "part_unchecked"
    NOISE_PASSES = "noise_passes"
    NOT_FINITE = "not_finite"
    INPUT_INDEPENDENT = "input_independent"
    UNSEEDED_INPUTS = "unseeded_inputs"
    NOT_REPRODUCIBLE = "not_reproducible"
    ONE_SIZE = "one_size"


@dataclass(frozen=True)
class Profile:
    """What values look like. A complex number is two real ones. minimum, maximum, mean, std: over finite values."""

    elements: int
    finite: bool
    minimum: float = 0.0
    maximum: float = 0.0
    mean: float = 0.0
    std: float = 0.0

    @property
    def largest(self) -> float:
        """Of |x|."""
        return max(abs(self.minimum), abs(self.maximum))


def profile(arrays: Iterable[np.ndarray]) -> Profile:
    """The profile of all values of these real arrays together."""
    low, high, total, squares, count, elements = math.inf, -math.inf, 0.0, 0.0, 0, 0
    for chunk in (array[start : start + CHUNK] for array in arrays for start in range(0, array.size, CHUNK)):
        elements += chunk.size
        wide = chunk.astype(np.float64)
        wide = wide[np.isfinite(wide)]
        if wide.size:
            low, high = min(low, float(wide.min())), max(high, float(wide.max()))
            with np.errstate(over="ignore"):  # then there is no deviation
                total, squares, count = total + float(wide.sum()), squares + float((wide**2).sum()), count + wide.size
    if not count:
        return Profile(elements, elements == 0)
    mean = total / count
    std = math.sqrt(max(0.0, squares / count - mean**2)) if math.isfinite(squares) else 0.0
    return Profile(elements, count == elements, low, high, mean, std)


@dataclass(frozen=True)
class Output:
    """An output of a case, and the files that it may be made from.

    expected: its reference, whatever the size. other: what is right for other inputs. inputs: by name those of its dtype and
    size.
    """

    tensor: Tensor
    expected: Path | None
    other: Path | None
    inputs: Mapping[str, Path] = field(default_factory=dict)

    @cached_property
    def dtype(self) -> np.dtype | None:
        """How the file is read: complex numbers as pairs, a bool as its byte; None for a dtype NumPy lacks."""
        name = self.tensor.dtype
        real = {"bool": "uint8", "complex64": "float32", "complex128": "float64"}.get(name, name)
        return np.dtype(real).newbyteorder("<") if name in DTYPE_BYTES else None

    @property
    def is_float(self) -> bool:
        return self.dtype is not None and self.dtype.kind == "f"

    @cached_property
    def right(self) -> np.ndarray | None:
        """The right values, where they are known and have the declared size."""
        if self.dtype is None or self.expected is None or self.expected.stat().st_size != self.tensor.nbytes:
            return None
        return self.read(self.expected)

    @cached_property
    def seen(self) -> Profile | None:
        return None if self.right is None else profile([self.right])

    def read(self, path: Path) -> np.ndarray:
        size = path.stat().st_size // self.dtype.itemsize
        return np.memmap(path, self.dtype, "r", shape=(size,)) if size else np.empty(0, self.dtype)

    @cached_property
    def other_values(self) -> np.ndarray:
        return self.read(self.other) if self.other and self.dtype else np.empty(0)

    def write(self, path: Path, values: Callable[["Output", slice], np.ndarray | float]) -> None:
        """A file of the declared size; `values` gives those of a slice, or one number for all of it."""
        elements = self.tensor.nbytes // self.dtype.itemsize
        with path.open("wb") as file, np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, elements, CHUNK):
                part = slice(start, min(start + CHUNK, elements))
                made = np.empty(part.stop - start, self.dtype)
                made[:] = values(self, part)
                made.tofile(file)


@dataclass(frozen=True)
class Candidate:
    """A kind of wrong output, and for which outputs it makes sense."""

    code: Code
    what: str  # "... as C in every case"
    values: Callable[[Output, slice], np.ndarray | float]
    fits: Callable[[Output], bool]
    severity: Severity = Severity.ERROR


def _other(output: Output, part: slice) -> np.ndarray:
    """Cut or repeated to this size."""
    return output.other_values.take(np.arange(part.start, part.stop), mode="wrap")


def _random(output: Output, part: slice) -> np.ndarray:
    seen = output.seen
    values = np.random.default_rng(part.start).normal(seen.mean, seen.std, part.stop - part.start)
    return values if output.is_float else np.rint(values).clip(seen.minimum, seen.maximum)


def _noisy(relative: float, severity: Severity) -> Candidate:
    """Every value off by this part of itself, up or down."""

    def disturb(output: Output, part: slice) -> np.ndarray:
        right = output.right[part]
        signs = np.random.default_rng(part.start).integers(0, 2, right.size) * 2 - 1
        off = (right.astype(np.float64) * (1 + relative * signs)).astype(right.dtype)
        return np.where(np.isfinite(off), off, right)

    what = f"every value {relative:.0%} off passes"
    return Candidate(Code.NOISE_PASSES, what, disturb, lambda o: o.is_float and o.seen and o.seen.largest, severity)


WRONG_OUTPUTS = (
    Candidate(Code.ZEROS_PASS, "zeros pass", lambda *_: 0, lambda output: output.dtype is not None),
    Candidate(Code.ONES_PASS, "ones pass", lambda *_: 1, lambda output: output.dtype is not None),
    Candidate(Code.OTHER_CASE_PASSES, "what is right for other inputs passes", _other, lambda o: o.other_values.size),
    Candidate(
        Code.RANDOM_PASSES,
        "random values of the same mean and deviation pass",
        _random,
        lambda output: output.seen is not None and output.seen.std > 0,
    ),
    Candidate(Code.NAN_PASSES, "NaN everywhere passes", lambda *_: math.nan, lambda output: output.is_float),
)
NOISY_OUTPUTS = (_noisy(0.1, Severity.ERROR), _noisy(0.01, Severity.WARNING))


def constants(outputs: Sequence[Output], alone: bool) -> list[Candidate]:
    """One number for each output, from its right values in the task's first case: the middle of their range, whose largest error
    is the smallest, and the commonest, as a program that has memorized one answer would write it.

    alone: the task has no other case, so that a single element is no constant.
    """
    middles, commonest = {}, {}
    for name, output, seen in ((output.tensor.name, output, output.seen) for output in outputs):
        if not seen or (alone and seen.elements == 1):
            continue
        middle = seen.minimum / 2 + seen.maximum / 2
        if output.is_float:
            middles[name], commonest[name] = middle, seen.mean
        else:
            values, counts = np.unique(output.right[:CHUNK], return_counts=True)
            middles[name], commonest[name] = round(middle), values[counts.argmax()]

    def constant(what: str, values: Mapping[str, float]) -> Candidate:
        def fits(output: Output) -> bool:
            return output.tensor.name in values and output.seen is not None

        what = f"one constant, {what}, passes"
        return Candidate(Code.CONSTANT_PASSES, what, lambda output, part: values[output.tensor.name], fits)

    return [constant("the middle of the range", middles), constant("the commonest value", commonest)]


def input_copies(outputs: Sequence[Output]) -> list[Candidate]:
    """Copies of inputs as outputs, of the task's first case: each input that has the dtype and size of an output in turn."""
    fitting = {output.tensor.name: list(output.inputs) for output in outputs if output.inputs and output.dtype}

    def copy_of(chosen: Mapping[str, str]) -> Candidate:
        def source(output: Output) -> Path | None:
            return output.inputs.get(chosen.get(output.tensor.name, ""))

        def values(output: Output, part: slice) -> np.ndarray:
            return output.read(source(output))[part]

        what = f"a copy of the input {' and of '.join(dict.fromkeys(chosen.values()))} passes"
        return Candidate(Code.INPUT_PASSES, what, values, lambda output: bool(source(output)))

    choices = itertools.islice(itertools.product(*fitting.values()), MAX_COPIES)
    return [copy_of(dict(zip(fitting, chosen, strict=True))) for chosen in choices]


def unchecked(name: str, half: bool = False) -> Candidate:
    """In one output, while the others are right, zeros (ones where zeros are right); half: in the second half of it."""

    def values(output: Output, part: slice) -> np.ndarray:
        right = output.right[part]
        if not half:
            return np.full(right.size, output.seen.largest == 0)
        return np.where(np.arange(part.start, part.stop) < output.right.size // 2, right, right == 0)

    def fits(output: Output) -> bool:
        return output.tensor.name == name and output.right is not None and output.right.size > half

    code, what = Code.OUTPUT_UNCHECKED, "zeros, while the other outputs are right, pass"
    if half:
        code = Code.PART_UNCHECKED
        what = "values of which only the first half is right (zeros behind it, ones where zeros are right) pass"
    return Candidate(code, what, values, fits, Severity.WARNING)
