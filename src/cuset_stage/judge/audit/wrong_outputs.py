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
MAX_COPIES = 12  # of inputs: a task with more of one size is tried with the first ones

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
        found = {}
        for tensor in self.case.outputs:
            path = self.prepared.expected.get(tensor.file)
            if path is not None and real_dtype(tensor) is not None and path.stat().st_size == tensor.nbytes:
                found[tensor.file] = profile(tensor, path)
        return found


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


def profile(tensor: Tensor, path: Path) -> Profile:
    low, high, total, squares, count, elements, finite = math.inf, -math.inf, 0.0, 0.0, 0, 0, True
    common: int | float | None = None
    for chunk in _read(tensor, path):
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


def filled(tensor: Tensor, value: float) -> Chunks | None:
    """The same value everywhere; None for a dtype of unknown size."""
    dtype = real_dtype(tensor)
    return None if dtype is None else _repeat(np.array([value]).astype(dtype), tensor.nbytes // dtype.itemsize)


def _read(tensor: Tensor, path: Path) -> Chunks:
    """The values of a file that has the tensor's size."""
    values = np.memmap(path, dtype=real_dtype(tensor), mode="r")
    return _repeat(values, values.size)


def _repeat(values: np.ndarray, elements: int) -> Chunks:
    """So many elements: the values, cut or repeated."""
    if values.size == 1:
        values = np.full(min(CHUNK, elements), values[0])
    while elements > 0:
        for start in range(0, min(values.size, elements), CHUNK):
            yield np.asarray(values[start : min(start + CHUNK, elements)])
        elements -= values.size


def _constant(view: CaseView, tensor: Tensor) -> Chunks | None:
    """One value for all cases, as a program without inputs would write it: from the first case."""
    seen, own = (one.profiles.get(tensor.file) for one in (view.first or view, view))
    if seen is None or own is None or (own.elements == 1 and view.alone):
        return None
    return filled(tensor, seen.common)


def _middle(view: CaseView, tensor: Tensor) -> Chunks | None:
    """The middle of the first case's range: the constant whose largest error is the smallest."""
    seen, own = (one.profiles.get(tensor.file) for one in (view.first or view, view))
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


def _random(view: CaseView, tensor: Tensor) -> Chunks | None:
    seen = view.profiles.get(tensor.file)
    return None if seen is None or seen.std == 0 else _draw(real_dtype(tensor), seen)


def _draw(dtype: np.dtype, seen: Profile) -> Chunks:
    rng = np.random.default_rng(0)
    for start in range(0, seen.elements, CHUNK):
        values = rng.normal(seen.mean, seen.std, min(CHUNK, seen.elements - start))
        if dtype.kind != "f":
            values = np.rint(values).clip(seen.minimum, seen.maximum)
            limits = np.iinfo(dtype)  # 2^63 - 1 is no float64: stay within
            highest = np.nextafter(float(limits.max), 0) if limits.bits == 64 else limits.max
            values = values.clip(float(limits.min), highest)
        with np.errstate(over="ignore"):
            yield values.astype(dtype)


def _nan(view: CaseView, tensor: Tensor) -> Chunks | None:
    return filled(tensor, math.nan) if is_float(tensor) else None


def _noisy(relative: float, severity: Severity) -> Candidate:
    """Every value off by this part of itself, up or down."""

    def make(view: CaseView, tensor: Tensor) -> Chunks | None:
        seen = view.profiles.get(tensor.file)
        if seen is None or seen.all_zero or not is_float(tensor):
            return None
        return _disturb(tensor, view.prepared.expected[tensor.file], relative)

    return Candidate(Code.NOISE_PASSES, severity, f"every value {relative:.0%} off", make)


def _disturb(tensor: Tensor, path: Path, relative: float) -> Chunks:
    rng = np.random.default_rng(0)
    for chunk in _read(tensor, path):
        signs = rng.integers(0, 2, chunk.size) * 2 - 1
        with np.errstate(over="ignore", invalid="ignore"):
            off = (chunk.astype(np.float64) * (1 + relative * signs)).astype(chunk.dtype)
        yield np.where(np.isfinite(off), off, chunk)


NAN = Candidate(Code.NAN_PASSES, Severity.ERROR, "NaN everywhere", _nan)
WRONG_OUTPUTS = (
    Candidate(Code.ZEROS_PASS, Severity.ERROR, "zeros", lambda view, tensor: filled(tensor, 0)),
    Candidate(Code.ONES_PASS, Severity.ERROR, "ones", lambda view, tensor: filled(tensor, 1)),
    Candidate(Code.CONSTANT_PASSES, Severity.ERROR, "one constant", _constant),
    Candidate(Code.OTHER_CASE_PASSES, Severity.ERROR, "what is right for other inputs", _other),
    Candidate(Code.RANDOM_PASSES, Severity.ERROR, "random values of the same mean and deviation", _random),
    NAN,
)
MIDDLE = Candidate(Code.CONSTANT_PASSES, Severity.ERROR, "the middle of the range everywhere", _middle)
NOISY_OUTPUTS = (_noisy(0.1, Severity.ERROR), _noisy(0.01, Severity.WARNING))


def input_copies(view: CaseView) -> list[Candidate]:
    """Copies of inputs as outputs, of the task's first case: each input that has the dtype and size of an output in turn.

    Where there are several outputs, the n-th takes the same of its inputs as the others, or the n-th next one.
    """
    fitting = {
        tensor.name: [given.name for given in view.case.inputs if _fits(given, tensor, view)]
        for tensor in view.case.outputs
    }
    found: dict[tuple[str, ...], Candidate] = {}
    for turn in range(max(map(len, fitting.values()))):
        for step in (0, 1) if len(fitting) > 1 else (0,):
            chosen = {
                name: names[(turn + step * number) % len(names)]
                for number, (name, names) in enumerate(fitting.items())
                if names
            }
            found.setdefault(tuple(chosen.values()), _copy_of(chosen))
    return list(found.values())[:MAX_COPIES]


def _fits(given: Tensor, tensor: Tensor, view: CaseView) -> bool:
    """The same dtype and size, and the file has that size (what gen.py writes may differ from the row)."""
    same = given.dtype == tensor.dtype and given.nbytes == tensor.nbytes and real_dtype(tensor) is not None
    return same and view.prepared.inputs[given.file].stat().st_size == tensor.nbytes


def _copy_of(chosen: Mapping[str, str]) -> Candidate:
    """chosen: output name -> name of the input that is copied into it."""

    def make(view: CaseView, tensor: Tensor) -> Chunks | None:
        for given in view.case.inputs:
            if given.name == chosen.get(tensor.name) and _fits(given, tensor, view):
                return _read(tensor, view.prepared.inputs[given.file])
        return None

    what = f"a copy of the input {' and of '.join(dict.fromkeys(chosen.values()))}"
    return Candidate(Code.INPUT_PASSES, Severity.ERROR, what, make)


def unchecked(name: str) -> Candidate:
    """Zeros (ones where zeros are right) in one output, while the others are right."""

    def make(view: CaseView, tensor: Tensor) -> Chunks | None:
        seen = view.profiles.get(tensor.file)
        return None if tensor.name != name or seen is None else filled(tensor, 1 if seen.all_zero else 0)

    return Candidate(Code.OUTPUT_UNCHECKED, Severity.WARNING, "zeros, while the other outputs are right,", make)


def half_right(name: str) -> Candidate:
    """One output whose first half is right and whose values behind it are all wrong, while the others are right."""

    def make(view: CaseView, tensor: Tensor) -> Chunks | None:
        seen = view.profiles.get(tensor.file)
        if tensor.name != name or seen is None or seen.elements < 2:
            return None
        return _half(tensor, view.prepared.expected[tensor.file], seen.elements // 2)

    what = "values of which only the first half is right (zeros behind it, ones where zeros are right)"
    return Candidate(Code.PART_UNCHECKED, Severity.WARNING, what, make)


def _half(tensor: Tensor, path: Path, right: int) -> Chunks:
    start = 0
    for chunk in _read(tensor, path):
        behind = np.arange(start, start + chunk.size) >= right
        start += chunk.size
        yield np.where(behind, chunk == 0, chunk).astype(chunk.dtype)
