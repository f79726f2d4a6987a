"""Wrong outputs that an oracle should refuse. The audit of a task (audit.py) tries whether they pass.

They are what a program would write that computes nothing, or almost the right thing. Outputs may be larger than the
memory. So they are made, and references are read, in chunks.
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
from .closeness import mapped


CHUNK = 1 << 20  # elements
MAX_COPIES = 16  # combinations of inputs that are tried as outputs; of more, the first ones are tried


class Severity(StrEnum):
    """Severity of a finding.

    Attributes:
        ERROR: A program that computes nothing passes, or the right outputs do not pass.
        WARNING: Some wrong programs may pass.
        NOTE: The verdicts hold. The note is for those who compare numbers with other judges or maintain the task set.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(StrEnum):
    """Kinds of findings.

    A code that ends in _pass or _passes means that such outputs pass in every case of the task.
    """

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
    """Statistics of an array. A complex number counts as two real numbers.

    Attributes:
        elements: Number of values.
        finite: Whether all values are finite.
        minimum: Smallest finite value.
        maximum: Largest finite value.
        mean: Mean of the finite values.
        std: Standard deviation of the finite values.
    """

    elements: int
    finite: bool
    minimum: float = 0.0
    maximum: float = 0.0
    mean: float = 0.0
    std: float = 0.0

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return max(abs(self.minimum), abs(self.maximum))


def profile(arrays: Iterable[np.ndarray]) -> Profile:
    """Return the statistics over all values of these real arrays together."""
    low, high, total, squares, count, elements = math.inf, -math.inf, 0.0, 0.0, 0, 0
    for chunk in (array[start : start + CHUNK] for array in arrays for start in range(0, array.size, CHUNK)):
        elements += chunk.size
        wide = chunk.astype(np.float64)
        wide = wide[np.isfinite(wide)]
        if wide.size:
            low, high = min(low, float(wide.min())), max(high, float(wide.max()))
            with np.errstate(over="ignore"):  # if the sum of squares overflows, std is 0
                total, squares, count = total + float(wide.sum()), squares + float((wide**2).sum()), count + wide.size
    if not count:
        return Profile(elements, elements == 0)
    mean = total / count
    std = math.sqrt(max(0.0, squares / count - mean**2)) if math.isfinite(squares) else 0.0
    return Profile(elements, count == elements, low, high, mean, std)


@dataclass(frozen=True)
class Output:
    """An output of a case, with the files from which a wrong output may be made.

    Attributes:
        tensor: The declared output.
        expected: File with its reference, which may have another size than declared. None if there is no reference.
        other: File with the right output for other inputs, or None.
        inputs: Name -> file of the inputs that have its dtype and size.
    """

    tensor: Tensor
    expected: Path | None
    other: Path | None
    inputs: Mapping[str, Path] = field(default_factory=dict)

    @cached_property
    def dtype(self) -> np.dtype | None:
        """The dtype for reading the file: pairs for complex numbers, bytes for bool. None if NumPy lacks the dtype."""
        name = self.tensor.dtype
        real = {"bool": "uint8", "complex64": "float32", "complex128": "float64"}.get(name, name)
        return np.dtype(real).newbyteorder("<") if name in DTYPE_BYTES else None

    @property
    def is_float(self) -> bool:
        return self.dtype is not None and self.dtype.kind == "f"

    @cached_property
    def right(self) -> np.ndarray | None:
        """The right values. None if they are not known or do not have the declared size."""
        if self.dtype is None or self.expected is None or self.expected.stat().st_size != self.tensor.nbytes:
            return None
        return mapped(self.expected, self.dtype)

    @cached_property
    def seen(self) -> Profile | None:
        """Statistics of the right values, or None if there are none."""
        return None if self.right is None else profile([self.right])

    @cached_property
    def other_values(self) -> np.ndarray:
        """The right values for other inputs. Empty if there are none."""
        return mapped(self.other, self.dtype) if self.other and self.dtype else np.empty(0)

    def write(self, path: Path, values: Callable[["Output", slice], np.ndarray | float]) -> None:
        """Write a file of the declared size.

        Args:
            path: The file.
            values: Called with this output and a slice of its elements. It returns the values of the slice, or one
                number for all of them.
        """
        elements = self.tensor.nbytes // self.dtype.itemsize
        with path.open("wb") as file, np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, elements, CHUNK):
                part = slice(start, min(start + CHUNK, elements))
                made = np.empty(part.stop - start, self.dtype)
                made[:] = values(self, part)
                made.tofile(file)


@dataclass(frozen=True)
class Candidate:
    """A kind of wrong output.

    Attributes:
        code: Code of the finding if it passes.
        what: Beginning of the finding's message.
        values: Makes the values of a slice of an output, as in `Output.write`.
        fits: Whether it makes sense for an output.
        severity: Severity of the finding.
    """

    code: Code
    what: str  # the message goes on with "... as C in every case"
    values: Callable[[Output, slice], np.ndarray | float]
    fits: Callable[[Output], bool]
    severity: Severity = Severity.ERROR


def _other(output: Output, part: slice) -> np.ndarray:
    """Return values that are right for other inputs, cut or repeated to the size of this output."""
    return output.other_values.take(np.arange(part.start, part.stop), mode="wrap")


def _random(output: Output, part: slice) -> np.ndarray:
    """Return normal random values with the mean and standard deviation of the right ones."""
    seen = output.seen
    values = np.random.default_rng(part.start).normal(seen.mean, seen.std, part.stop - part.start)
    return values if output.is_float else np.rint(values).clip(seen.minimum, seen.maximum)


def _noisy(relative: float, severity: Severity) -> Candidate:
    """Make the candidate in which every value is off by this fraction of itself, up or down at random."""

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


def candidate_groups(outputs: Sequence[Output], alone: bool) -> list[Sequence[Candidate]]:
    """Return the kinds of wrong outputs to try, in groups of similar ones. Kinds that resemble no other stand alone.

    For the arguments see `constants`.
    """
    groups = [constants(outputs, alone), input_copies(outputs), NOISY_OUTPUTS]
    return [*([candidate] for candidate in WRONG_OUTPUTS), *groups]


def constants(outputs: Sequence[Output], alone: bool) -> list[Candidate]:
    """Return candidates that write one constant number to each output.

    The constants come from the right values in the task's first case. The first candidate writes the middle of their
    range, the constant with the smallest maximum error. The second writes the commonest value (for floats the mean),
    like a program that has memorized one answer.

    Args:
        outputs: The outputs of the first case.
        alone: Whether the task has no other case. An output of a single element is then left out, because its right
            value would be the constant.
    """
    middles, commonest = {}, {}
    for output in outputs:
        name, seen = output.tensor.name, output.seen
        if not seen or (alone and seen.elements == 1):
            continue
        middle = seen.minimum / 2 + seen.maximum / 2
        if output.is_float:
            middles[name], commonest[name] = middle, seen.mean
        else:
            values, counts = np.unique(output.right[:CHUNK], return_counts=True)
            # The profile's float64 may round up past the largest integer.
            middles[name] = min(round(middle), np.iinfo(output.dtype).max)
            commonest[name] = values[counts.argmax()]

    def constant(what: str, values: Mapping[str, float]) -> Candidate:
        def fits(output: Output) -> bool:
            return output.tensor.name in values and output.seen is not None

        what = f"one constant, {what}, passes"
        return Candidate(Code.CONSTANT_PASSES, what, lambda output, part: values[output.tensor.name], fits)

    return [
        constant("the middle of the range", middles),
        constant("the commonest value (of floats the mean)", commonest),
    ]


def input_copies(outputs: Sequence[Output]) -> list[Candidate]:
    """Return candidates that copy inputs to the outputs of the task's first case.

    There is one for each combination of inputs with the dtype and size of the outputs, up to `MAX_COPIES`.
    """
    fitting = {output.tensor.name: list(output.inputs) for output in outputs if output.inputs and output.dtype}

    def copy_of(chosen: Mapping[str, str]) -> Candidate:
        def source(output: Output) -> Path | None:
            return output.inputs.get(chosen.get(output.tensor.name, ""))

        def values(output: Output, part: slice) -> np.ndarray:
            return mapped(source(output), output.dtype)[part]

        what = f"a copy of the input {' and of '.join(dict.fromkeys(chosen.values()))} passes"
        return Candidate(Code.INPUT_PASSES, what, values, lambda output: bool(source(output)))

    choices = itertools.islice(itertools.product(*fitting.values()), MAX_COPIES)
    return [copy_of(dict(zip(fitting, chosen, strict=True))) for chosen in choices]


def unchecked(name: str, half: bool = False) -> Candidate:
    """Return the candidate that writes zeros to one output while the others are right.

    Args:
        name: Name of the output. If all its right values are zero, ones are written to it.
        half: If true, only the second half of the output is wrong. Ones are written where zeros are right.
    """

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
