"""Wrong outputs that are made for one task: copies of its inputs, and right outputs of which a part is wrong."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...tasks.base import Tensor
from .candidates import Candidate, CaseView, Chunks, filled, read_chunks, real_dtype
from .findings import Code, Severity


MAX_COPIES = 12  # of inputs: a task with more of one size is tried with the first ones


def input_copies(view: CaseView) -> list[Candidate]:
    """Copies of inputs as outputs, of the task's first case: each input that has the dtype and size of an output in turn.

    Where there are several outputs, the n-th takes the same of its inputs as the others, or the n-th next one.
    """
    fitting = {
        tensor.name: [given.name for given in view.case.inputs if _fits(given, tensor, view)]
        for tensor in view.case.outputs
    }
    most = max(map(len, fitting.values()))
    found: dict[tuple[str, ...], Candidate] = {}
    for turn in range(most):
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
                return read_chunks(tensor, view.prepared.inputs[given.file])
        return None

    what = f"a copy of the input {' and of '.join(dict.fromkeys(chosen.values()))}"
    return Candidate(Code.INPUT_PASSES, Severity.ERROR, what, make)


def unchecked(name: str) -> Candidate:
    """Zeros (ones where zeros are right) in one output, while the others are right."""

    def make(view: CaseView, tensor: Tensor) -> Chunks | None:
        seen = view.profiles.get(tensor.file)
        if tensor.name != name or seen is None:
            return None
        return filled(tensor, 1 if seen.all_zero else 0)

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
    for chunk in read_chunks(tensor, path):
        behind = np.arange(start, start + chunk.size) >= right
        start += chunk.size
        yield np.where(behind, chunk == 0, chunk).astype(chunk.dtype)
