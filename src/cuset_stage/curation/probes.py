"""Whether the cases of a task can tell a wrong program from a right one, asked without running any program.

A probe is an output that nobody computed: zeros, ones, the first right value everywhere, an input handed back. A task for which one
of them passes in every case teaches and tests nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..evaluation.comparison import compare_outputs
from ..evaluation.oracle import PreparedCase
from ..evaluation.tasks import ProgramTask
from ..sandbox import scratch_folder


def passing_probes(task: ProgramTask, prepared: Sequence[PreparedCase]) -> list[str]:
    """The names of the probes that pass every case; empty when the cases see through all of them.

    Raises:
        OracleError: the comparison fails.
    """
    alive: set[str] | None = None
    for case, ready in zip(task.cases, prepared, strict=True):
        passed = set()
        with scratch_folder() as folder:
            for name, outputs in _probes(ready, folder):
                if alive is not None and name not in alive:
                    continue
                if compare_outputs(task, case, ready, outputs).passed:
                    passed.add(name)
        alive = passed if alive is None else alive & passed
        if not alive:
            return []
    return sorted(alive or ())


def _probes(ready: PreparedCase, folder: Path) -> Iterator[tuple[str, Mapping[str, Path]]]:
    for name, make in (("zeros", _zeros), ("the first right value everywhere", _constant), ("an input handed back", _echo)):
        outputs: dict[str, Path] = {}
        for output, expected in ready.expected.items():
            data = make(expected.read_bytes(), output, ready)
            if data is None:
                break
            outputs[output] = folder / f"{len(outputs)}.bin"
            outputs[output].write_bytes(data)
        else:
            yield name, outputs


def _zeros(expected: bytes, _output: str, _ready: PreparedCase) -> bytes:
    return bytes(len(expected))


def _constant(expected: bytes, output: str, ready: PreparedCase) -> bytes | None:
    values = np.frombuffer(expected, dtype=np.uint8)
    item = ready.item_bytes(output) if hasattr(ready, "item_bytes") else 4
    return bytes(values[:item]) * (len(expected) // item) if item and len(expected) % item == 0 else None


def _echo(expected: bytes, _output: str, ready: PreparedCase) -> bytes | None:
    same = [path for path in ready.inputs.values() if path.stat().st_size == len(expected)]
    return same[0].read_bytes() if same else None
