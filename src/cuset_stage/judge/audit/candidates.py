"""Wrong outputs that an oracle should refuse: what a program writes that computes nothing, or not quite the right thing.

Outputs may be larger than the memory: they are made, and references read, in chunks.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ...tasks.base import DTYPE_BYTES, Case, Tensor
from ..oracle import PreparedCase
from .findings import Code, Severity


CHUNK = 1 << 20  # elements
NOISE = (0.1, 0.01)

Chunks = Iterator[np.ndarray]


@dataclass(frozen=True)
class Profile:
    """What a reference file looks like. A complex number is two real ones. mean, std, largest (of |x|): over finite values."""

    elements: int
    minimum: float
    maximum: float
    mean: float
    std: float
    finite: bool
    common: int | float  # the most frequent value of an integer file's first chunk; of a float file the mean

    @property
    def largest(self) -> float:
        return max(abs(self.minimum), abs(self.maximum))

    @property
    def all_zero(self) -> bool:
        return self.finite and self.minimum == self.maximum == 0


@dataclass(frozen=True)
class CaseView:
    """A case, its files, and right outputs of other inputs ("data/x.bin" -> file; of another case, or made again)."""

    case: Case
    prepared: PreparedCase
    other: Mapping[str, Path]
    first: "CaseView | None" = None  # the task's first case, None in that one itself
    alone: bool = False  # the task has no other case

    @cached_property
    def profiles(self) -> dict[str, Profile]:
        """By output file; without those whose reference is unknown or has not the declared size."""
        return {
            tensor.file: profile(tensor, self.prepared.expected[tensor.file])
            for tensor in self.case.outputs
            if self.comparable(tensor)
        }

    def comparable(self, tensor: Tensor) -> bool:
        path = self.prepared.expected.get(tensor.file)
        return path is not None and real_dtype(tensor) is not None and path.stat().st_size == tensor.nbytes


@dataclass(frozen=True)
class Candidate:
    """make: the content of an output, or None where this kind of wrong output makes no sense."""

    code: Code
    severity: Severity
    what: str  # "... pass as C in every case"
    make: Callable[[CaseView, Tensor], Chunks | None]


def real_dtype(tensor: Tensor) -> np.dtype | None:
    """How the file is read here: complex numbers as pairs, a bool as its byte; None for a dtype NumPy lacks."""
    if tensor.dtype not in DTYPE_BYTES:
        return None
    name = {"bool": "uint8", "complex64": "float32", "complex128": "float64"}.get(tensor.dtype, tensor.dtype)
    return np.dtype(name).newbyteorder("<")


def is_float(tensor: Tensor) -> bool:
    dtype = real_dtype(tensor)
    return dtype is not None and dtype.kind == "f"


def read_chunks(tensor: Tensor, path: Path) -> Chunks:
    """The values of a file that has the tensor's size."""
    dtype = real_dtype(tensor)
    values = np.memmap(path, dtype=dtype, mode="r")
    for start in range(0, values.size, CHUNK):
        yield np.asarray(values[start : start + CHUNK])


def profile(tensor: Tensor, path: Path) -> Profile:
    low, high, total, squares, count, elements, finite = math.inf, -math.inf, 0.0, 0.0, 0, 0, True
    common: int | float | None = None
    for chunk in read_chunks(tensor, path):
        elements += chunk.size
        if common is None and chunk.dtype.kind != "f":
            values, counts = np.unique(chunk, return_counts=True)
            common = int(values[counts.argmax()])
        wide = chunk.astype(np.float64)
        wide = wide[np.isfinite(wide)]
        finite &= wide.size == chunk.size
        if wide.size:
            low, high = min(low, float(wide.min())), max(high, float(wide.max()))
            with np.errstate(over="ignore"):  # then there is no deviation
                total, squares, count = total + float(wide.sum()), squares + float((wide**2).sum()), count + wide.size
    mean = total / count if count else 0.0
    std = math.sqrt(max(0.0, squares / count - mean**2)) if count and math.isfinite(squares) else 0.0
    if not count:
        low = high = 0.0
    return Profile(elements, low, high, mean, std, finite, mean if common is None else common)


def write_chunks(path: Path, chunks: Chunks) -> None:
    with path.open("wb") as file:
        for chunk in chunks:
            chunk.tofile(file)
    path.chmod(0o444)


# ------------------------------------------------------------------------------------------------------------- kinds


def filled(tensor: Tensor, value: float) -> Chunks | None:
    """The same value everywhere; None for a dtype of unknown size."""
    dtype = real_dtype(tensor)
    if dtype is None:
        return None
    return _fill(dtype, tensor.nbytes // dtype.itemsize, value)


def _fill(dtype: np.dtype, elements: int, value: float) -> Chunks:
    chunk = np.full(min(CHUNK, elements), value).astype(dtype)
    for start in range(0, elements, CHUNK):
        yield chunk[: elements - start]


def _constant(view: CaseView, tensor: Tensor) -> Chunks | None:
    """One value for all cases, as a program without inputs would write it: from the first case."""
    seen = (view.first or view).profiles.get(tensor.file)
    own = view.profiles.get(tensor.file)
    if seen is None or own is None or (own.elements == 1 and view.alone):
        return None
    return filled(tensor, seen.common)


def _middle(view: CaseView, tensor: Tensor) -> Chunks | None:
    """The middle of the first case's range: the constant whose largest error is the smallest."""
    seen = (view.first or view).profiles.get(tensor.file)
    own = view.profiles.get(tensor.file)
    if seen is None or own is None or seen.minimum == seen.maximum:
        return None
    middle = seen.minimum / 2 + seen.maximum / 2
    return filled(tensor, middle if is_float(tensor) else round(middle))


def _other(view: CaseView, tensor: Tensor) -> Chunks | None:
    """What is right for other inputs, cut or repeated to this size."""
    path, dtype = view.other.get(tensor.file), real_dtype(tensor)
    if path is None or dtype is None or path.stat().st_size < dtype.itemsize:
        return None
    return _repeat(np.memmap(path, dtype=dtype, mode="r"), tensor.nbytes // dtype.itemsize)


def _repeat(values: np.ndarray, elements: int) -> Chunks:
    while elements > 0:
        for start in range(0, min(values.size, elements), CHUNK):
            yield np.asarray(values[start : min(start + CHUNK, elements)])
        elements -= values.size


def _random(view: CaseView, tensor: Tensor) -> Chunks | None:
    seen = view.profiles.get(tensor.file)
    if seen is None or seen.std == 0:
        return None
    return _draw(real_dtype(tensor), seen)


def _draw(dtype: np.dtype, seen: Profile) -> Chunks:
    rng = np.random.default_rng(0)
    for start in range(0, seen.elements, CHUNK):
        values = rng.normal(seen.mean, seen.std, min(CHUNK, seen.elements - start))
        if dtype.kind != "f":
            values = np.rint(values).clip(seen.minimum, seen.maximum)
            limits = np.iinfo(dtype)  # 2^63 - 1 is no float64: stay within
            values = values.clip(
                float(limits.min), np.nextafter(float(limits.max), 0) if limits.bits == 64 else limits.max
            )
        with np.errstate(over="ignore"):
            yield values.astype(dtype)


def _nan(view: CaseView, tensor: Tensor) -> Chunks | None:
    return filled(tensor, math.nan) if is_float(tensor) else None


def noise(relative: float) -> Callable[[CaseView, Tensor], Chunks | None]:
    """Every value off by this part of itself, up or down."""

    def make(view: CaseView, tensor: Tensor) -> Chunks | None:
        seen = view.profiles.get(tensor.file)
        if seen is None or seen.all_zero or not is_float(tensor):
            return None
        return _disturb(tensor, view.prepared.expected[tensor.file], relative)

    return make


def _disturb(tensor: Tensor, path: Path, relative: float) -> Chunks:
    rng = np.random.default_rng(0)
    for chunk in read_chunks(tensor, path):
        signs = rng.integers(0, 2, chunk.size) * 2 - 1
        with np.errstate(over="ignore", invalid="ignore"):
            off = (chunk.astype(np.float64) * (1 + relative * signs)).astype(chunk.dtype)
        yield np.where(np.isfinite(off), off, chunk)


WRONG_OUTPUTS = (
    Candidate(Code.ZEROS_PASS, Severity.ERROR, "zeros", lambda view, tensor: filled(tensor, 0)),
    Candidate(Code.ONES_PASS, Severity.ERROR, "ones", lambda view, tensor: filled(tensor, 1)),
    Candidate(Code.CONSTANT_PASSES, Severity.ERROR, "one constant", _constant),
    Candidate(Code.OTHER_CASE_PASSES, Severity.ERROR, "what is right for other inputs", _other),
    Candidate(Code.RANDOM_PASSES, Severity.ERROR, "random values of the same mean and deviation", _random),
    Candidate(Code.NAN_PASSES, Severity.ERROR, "NaN everywhere", _nan),
)
MIDDLE = Candidate(Code.CONSTANT_PASSES, Severity.ERROR, "the middle of the range everywhere", _middle)
NOISY_OUTPUTS = tuple(
    Candidate(Code.NOISE_PASSES, severity, f"every value {part:.0%} off", noise(part))
    for part, severity in zip(NOISE, (Severity.ERROR, Severity.WARNING), strict=True)
)
