"""Whether the cases of a task can tell a wrong program from a right one, asked without running any program.

A probe is an output that nobody computed: zeros, ones, the first right value everywhere, an input handed back. A task for which one
of them passes in every case teaches and tests nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..evaluation.comparison import compare_outputs
from ..evaluation.oracle import PreparedCase
from ..evaluation.tasks import Case, ProgramTask, Tensor
from ..evaluation.tasks.base import DTYPE_BYTES
from ..sandbox import scratch_folder


def passing_probes(task: ProgramTask, prepared: Sequence[PreparedCase]) -> list[str]:
    """The names of the probes that pass every case; empty when the cases see through all of them.

    Raises:
        OracleError: the comparison fails.
    """
    made: set[str] = set()
    failed: set[str] = set()
    for case, ready in zip(task.cases, prepared, strict=True):
        with scratch_folder() as folder:
            for name, outputs in _probes(case, ready, folder):
                made.add(name)
                if name not in failed and not compare_outputs(task, case, ready, outputs).passed:
                    failed.add(name)
    return sorted(made - failed)


def _probes(case: Case, ready: PreparedCase, folder: Path) -> Iterator[tuple[str, Mapping[str, Path]]]:
    """A probe that makes no sense for one of the outputs is left out."""
    for name, make in (
        ("zeros", _zeros),
        ("the first right value everywhere", _constant),
        ("an input handed back", _echo),
    ):
        outputs: dict[str, Path] = {}
        for tensor in case.outputs:
            expected = ready.expected.get(tensor.file)
            data = None if expected is None else make(expected.read_bytes(), tensor, ready)
            if data is None:
                break
            outputs[tensor.file] = folder / f"{len(outputs)}.bin"
            outputs[tensor.file].write_bytes(data)
        else:
            yield name, outputs


def _zeros(expected: bytes, _tensor: Tensor, _ready: PreparedCase) -> bytes:
    return bytes(len(expected))


def _constant(expected: bytes, tensor: Tensor, _ready: PreparedCase) -> bytes | None:
    item = DTYPE_BYTES.get(tensor.dtype)
    if not item or len(expected) == item:  # of one value, the first is the right answer itself
        return None
    return expected[:item] * (len(expected) // item)


def _echo(expected: bytes, _tensor: Tensor, ready: PreparedCase) -> bytes | None:
    same = [path for path in ready.inputs.values() if path.stat().st_size == len(expected)]
    return same[0].read_bytes() if same else None
