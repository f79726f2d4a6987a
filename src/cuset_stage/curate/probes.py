"""Whether the cases of a task can tell a wrong program from a right one, asked without running any program.

A probe is an output that nobody computed: zeros, ones, the first right value everywhere, one value in all cases, an input handed
back. A task of which every output has a probe that passes in every case teaches and tests nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..judge.comparison import compare_outputs
from ..judge.oracle import PreparedCase
from ..sandbox import scratch_folder
from ..tasks import Case, ProgramTask, Tensor
from ..tasks.base import DTYPE_BYTES


_Pair = tuple[Case, PreparedCase]
_Probe = Callable[[Tensor, PreparedCase], bytes | None]  # None: it says nothing in this case


def passing_probes(task: ProgramTask, prepared: Sequence[PreparedCase]) -> list[str]:
    """For each output the probes that pass every case; empty when the cases see through all of them for one output.

    Outputs are tried one at a time, beside the right values of the others: a program may copy one and leave zeros in another.

    Raises:
        OracleError: the comparison fails.
    """
    # The case with the smallest files first: most probes end there, and are not made of the large ones.
    pairs = sorted(zip(task.cases, prepared, strict=True), key=lambda pair: _size(pair[1]))
    if not pairs or not all(tensor.file in ready.expected for case, ready in pairs for tensor in case.outputs):
        return []  # a script's reference that could not be told
    found = []
    for tensor in pairs[0][0].outputs:
        passing = _passing(task, pairs, tensor.file)
        if not passing:
            return []
        found.append(f"{tensor.name}: {' or '.join(passing)}")
    return found


def _size(ready: PreparedCase) -> int:
    return sum(path.stat().st_size for path in (*ready.inputs.values(), *ready.expected.values()))


def _passing(task: ProgramTask, pairs: Sequence[_Pair], file: str) -> list[str]:
    """The names of the probes of one output that pass every case."""
    left = _probes(pairs, file)
    for case, ready in pairs:
        tensor = _tensor(case, file)
        for name, make in list(left.items()):
            data = make(tensor, ready)
            if data is None:
                continue
            with scratch_folder() as folder:
                (folder / "probe.bin").write_bytes(data)
                if not compare_outputs(task, case, ready, {**ready.expected, file: folder / "probe.bin"}).passed:
                    del left[name]
    return list(left)


def _probes(pairs: Sequence[_Pair], file: str) -> dict[str, _Probe]:
    """The probes that make sense for an output, by name."""
    known = all(_tensor(case, file).dtype in DTYPE_BYTES for case, _ in pairs)
    counts = [_count(_tensor(case, file), ready) for case, ready in pairs] if known else []
    found: dict[str, _Probe] = {"zeros": _zeros}
    if known:
        found["ones"] = _ones
    if known and max(counts) > 1:
        found["the first right value everywhere"] = _first
    if known and max(counts) == 1:
        values = dict.fromkeys(ready.expected[file].read_bytes() for _, ready in pairs)  # a tolerance may span them
        found |= {
            f"one value in all cases, {_shown(_tensor(pairs[0][0], file), each)}": _always(each) for each in values
        }
    for name in pairs[0][1].inputs:
        if all(name in ready.inputs and _same_size(ready.inputs[name], ready.expected[file]) for _, ready in pairs):
            found[f"{Path(name).stem} handed back"] = _echo(name)
    return found


def _tensor(case: Case, file: str) -> Tensor:
    return next(each for each in case.outputs if each.file == file)


def _count(tensor: Tensor, ready: PreparedCase) -> int:
    return ready.expected[tensor.file].stat().st_size // DTYPE_BYTES[tensor.dtype]


def _same_size(first: Path, second: Path) -> bool:
    return first.stat().st_size == second.stat().st_size


def _shown(tensor: Tensor, value: bytes) -> str:
    return str(np.frombuffer(value, tensor.dtype)[0])


def _zeros(tensor: Tensor, ready: PreparedCase) -> bytes:
    return bytes(ready.expected[tensor.file].stat().st_size)


def _ones(tensor: Tensor, ready: PreparedCase) -> bytes:
    return np.ones(_count(tensor, ready), tensor.dtype).tobytes()


def _first(tensor: Tensor, ready: PreparedCase) -> bytes | None:
    count = _count(tensor, ready)
    if count == 1:  # the first is the right answer itself
        return None
    return ready.expected[tensor.file].read_bytes()[: DTYPE_BYTES[tensor.dtype]] * count


def _always(value: bytes) -> _Probe:
    return lambda _tensor, _ready: value


def _echo(name: str) -> _Probe:
    return lambda _tensor, ready: ready.inputs[name].read_bytes()
