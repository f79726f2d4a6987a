"""Wrong outputs that an oracle should refuse: what a program writes that computes nothing, or not quite the right thing.

Outputs may be larger than the memory: they are made, and references read, in chunks.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from ...tasks.base import DTYPE_BYTES, Tensor
from .findings import Code, Severity


CHUNK = 1 << 20  # elements
MAX_COPIES = 12  # of inputs: a task with more of one size is tried with the first ones

Values = int | float | Callable[[slice], np.ndarray]
"""What is written: one number everywhere, or what belongs to a slice of the elements."""


@dataclass(frozen=True)
class Profile:
    """What values look like. A complex number is two real ones. minimum, maximum, mean, std: over finite values."""

    elements: int
    minimum: float
    maximum: float
    mean: float
    std: float
    finite: bool
    common: int | float  # the most frequent value of an integer array's first chunk; of floats the mean

    @property
    def largest(self) -> float:
        """Of |x|."""
        return max(abs(self.minimum), abs(self.maximum))


def profile(arrays: Iterable[np.ndarray]) -> Profile:
    """The profile of all values of these real arrays together."""
    low, high, total, squares, count, elements = math.inf, -math.inf, 0.0, 0.0, 0, 0
    common: int | None = None
    for chunk in (array[start : start + CHUNK] for array in arrays for start in range(0, array.size, CHUNK)):
        elements += chunk.size
        if common is None and chunk.dtype.kind != "f":
            values, counts = np.unique(chunk, return_counts=True)
            common = int(values[counts.argmax()])
        wide = chunk.astype(np.float64)
        wide = wide[np.isfinite(wide)]
        if wide.size:
            low, high = min(low, float(wide.min())), max(high, float(wide.max()))
            with np.errstate(over="ignore"):  # then there is no deviation
                total, squares, count = total + float(wide.sum()), squares + float((wide**2).sum()), count + wide.size
    if not count:
        return Profile(elements, 0.0, 0.0, 0.0, 0.0, elements == 0, common or 0)
    mean = total / count
    std = math.sqrt(max(0.0, squares / count - mean**2)) if math.isfinite(squares) else 0.0
    return Profile(elements, low, high, mean, std, count == elements, mean if common is None else common)


@dataclass(frozen=True)
class Output:
    """An output of a case, and the files that it may be made from.

    expected: its reference, whatever the size. other: what is right for other inputs. inputs: by name those of its dtype and
    size. first: the same output of the task's first case, None in that one itself. alone: the task has no other case.
    """

    tensor: Tensor
    expected: Path | None
    other: Path | None
    inputs: Mapping[str, Path] = field(default_factory=dict)
    first: "Output | None" = None
    alone: bool = False

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

    def write(self, path: Path, values: Values) -> None:
        """A file of the declared size."""
        elements = self.tensor.nbytes // self.dtype.itemsize
        with path.open("wb") as file:
            for start in range(0, elements, CHUNK):
                part = slice(start, min(start + CHUNK, elements))
                made = values(part) if callable(values) else np.full(part.stop - part.start, values)
                with np.errstate(over="ignore", invalid="ignore"):
                    made.astype(self.dtype).tofile(file)


@dataclass(frozen=True)
class Candidate:
    """make: the values of an output, or None where this kind of wrong output makes no sense."""

    code: Code
    severity: Severity
    what: str  # "... pass as C in every case"
    make: Callable[[Output], Values | None]


def _constant(output: Output) -> Values | None:
    """One value for all cases, as a program without inputs would write it: from the first case."""
    first = (output.first or output).seen
    if first is None or output.seen is None or (output.alone and output.seen.elements == 1):
        return None
    return first.common


def _middle(output: Output) -> Values | None:
    """The middle of the first case's range: the constant whose largest error is the smallest."""
    first = (output.first or output).seen
    if first is None or output.seen is None or first.minimum == first.maximum:
        return None
    middle = first.minimum / 2 + first.maximum / 2
    return middle if output.is_float else round(middle)


def _other(output: Output) -> Values | None:
    """What is right for other inputs, cut or repeated to this size."""
    values = output.read(output.other) if output.other and output.dtype else np.empty(0)
    return (lambda part: values[np.arange(part.start, part.stop) % values.size]) if values.size else None


def _random(output: Output) -> Values | None:
    seen, rng = output.seen, np.random.default_rng(0)
    if seen is None or seen.std == 0:
        return None

    def draw(part: slice) -> np.ndarray:
        values = rng.normal(seen.mean, seen.std, part.stop - part.start)
        return values if output.is_float else np.rint(values).clip(seen.minimum, seen.maximum)

    return draw


def _noisy(relative: float, severity: Severity) -> Candidate:
    """Every value off by this part of itself, up or down."""

    def make(output: Output) -> Values | None:
        rng = np.random.default_rng(0)
        if output.seen is None or output.seen.largest == 0 or not output.is_float:
            return None

        def disturb(part: slice) -> np.ndarray:
            right = output.right[part]
            signs = rng.integers(0, 2, right.size) * 2 - 1
            with np.errstate(over="ignore", invalid="ignore"):
                off = (right.astype(np.float64) * (1 + relative * signs)).astype(right.dtype)
            return np.where(np.isfinite(off), off, right)

        return disturb

    return Candidate(Code.NOISE_PASSES, severity, f"every value {relative:.0%} off", make)


def _everywhere(value: float) -> Callable[[Output], Values | None]:
    return lambda output: value if output.is_float or (output.dtype and not math.isnan(value)) else None


ERROR, WARNING = Severity.ERROR, Severity.WARNING
NAN = Candidate(Code.NAN_PASSES, ERROR, "NaN everywhere", _everywhere(math.nan))
WRONG_OUTPUTS = (
    Candidate(Code.ZEROS_PASS, ERROR, "zeros", _everywhere(0)),
    Candidate(Code.ONES_PASS, ERROR, "ones", _everywhere(1)),
    Candidate(Code.CONSTANT_PASSES, ERROR, "one constant", _constant),
    Candidate(Code.OTHER_CASE_PASSES, ERROR, "what is right for other inputs", _other),
    Candidate(Code.RANDOM_PASSES, ERROR, "random values of the same mean and deviation", _random),
    NAN,
)
MIDDLE = Candidate(Code.CONSTANT_PASSES, ERROR, "the middle of the range everywhere", _middle)
NOISY_OUTPUTS = (_noisy(0.1, ERROR), _noisy(0.01, WARNING))


def input_copies(outputs: Sequence[Output]) -> list[Candidate]:
    """Copies of inputs as outputs, of the task's first case: each input that has the dtype and size of an output in turn.

    Where there are several outputs, the n-th takes the same of its inputs as the others, or the n-th next one.
    """
    fitting = {output.tensor.name: list(output.inputs) for output in outputs if output.inputs}
    found: dict[tuple[str, ...], Candidate] = {}
    for turn in range(max(map(len, fitting.values()), default=0)):
        for step in (0, 1):
            chosen = {name: names[(turn + step * n) % len(names)] for n, (name, names) in enumerate(fitting.items())}
            found.setdefault(tuple(chosen.values()), _copy_of(chosen))
    return list(found.values())[:MAX_COPIES]


def _copy_of(chosen: Mapping[str, str]) -> Candidate:
    """chosen: output name -> name of the input that is copied into it."""

    def make(output: Output) -> Values | None:
        source = output.inputs.get(chosen.get(output.tensor.name, ""))
        return None if source is None or output.dtype is None else output.read(source).__getitem__

    what = f"a copy of the input {' and of '.join(dict.fromkeys(chosen.values()))}"
    return Candidate(Code.INPUT_PASSES, ERROR, what, make)


def unchecked(name: str) -> Candidate:
    """Zeros (ones where zeros are right) in one output, while the others are right."""

    def make(output: Output) -> Values | None:
        return None if output.tensor.name != name or output.seen is None else int(output.seen.largest == 0)

    return Candidate(Code.OUTPUT_UNCHECKED, WARNING, "zeros, while the other outputs are right,", make)


def half_right(name: str) -> Candidate:
    """One output whose first half is right and whose values behind it are all wrong, while the others are right."""

    def make(output: Output) -> Values | None:
        right = output.right
        if output.tensor.name != name or right is None or right.size < 2:
            return None
        half = right.size // 2
        return lambda part: np.where(np.arange(part.start, part.stop) < half, right[part], right[part] == 0)

    what = "values of which only the first half is right (zeros behind it, ones where zeros are right)"
    return Candidate(Code.PART_UNCHECKED, WARNING, what, make)
