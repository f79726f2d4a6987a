"""The limits of a run, the verdicts on it, and the error for a machine that cannot run it.

The module imports nothing of the package, so that every other module may import it.
"""

from dataclasses import dataclass
from enum import StrEnum


MIB, GIB = 2**20, 2**30


class SandboxError(RuntimeError):
    """This machine cannot run what was asked. The message says what is missing and how to fix it."""


class Verdict(StrEnum):
    """The outcome of one sample.

    INFRA_ERROR is the only verdict that says nothing about the sample. It is never counted against a model.
    """

    NO_CODE = "no_code"  # the answer holds no code
    COMPILE_ERROR = "compile_error"  # the compiler refused it, or was stopped at a limit other than time
    COMPILE_TIMEOUT = "compile_timeout"  # the compiler was stopped at its time limit
    RUNTIME_ERROR = "runtime_error"  # it returned nonzero, died by a signal, or was stopped at a limit other than time
    TIMEOUT = "timeout"  # the program was stopped at its time limit (wall clock or CPU)
    MISSING_OUTPUT = "missing_output"  # it returned 0, but an output does not exist as a regular file
    NO_GPU_WORK = "no_gpu_work"  # every output is right, but the GPU did not compute it, as require_gpu demands
    MISMATCH = "mismatch"  # an output has the wrong size or wrong values
    # Only `thorough` gives the next three: the outputs are right, but compute-sanitizer or the adverse form objects.
    MEMORY_ERROR = "memory_error"  # memcheck reports an access outside of an allocation
    RACE = "race"  # racecheck reports threads that do not wait for each other
    UNDEFINED = "undefined"  # the outputs rely on what CUDA leaves undefined (initcheck, synccheck, the adverse form)
    PASSED = "passed"  # every output of every case is right
    COMPILED = "compiled"  # it compiles, and the judge was asked for no more
    INFRA_ERROR = "infra_error"  # a failure on the judge's side: no space, GPU or sandbox, or a reference that fails


@dataclass(frozen=True)
class Limits:
    """What a command and all the processes it starts may use together. None means unlimited.

    Attributes:
        wall_s: Wall time in seconds, from start to end.
        cpu_s: CPU seconds, summed over all processes.
        memory_bytes: Resident memory of all processes. It is watched, because RLIMIT_AS would break CUDA, which
            reserves far more address space than memory.
        file_bytes: Size of one file.
        folder_bytes: Disk space used in the writable folder.
        folder_entries: Number of files in the writable folder.
        output_bytes: How much of stdout, and of stderr, is kept: the head and the tail.
        processes: Number of processes alive at the same time.
        gpu_memory_bytes: Device memory, watched through NVML.
        address_space_bytes: RLIMIT_AS of each process, only for commands that never touch CUDA.
    """

    wall_s: float = 60.0
    cpu_s: float | None = None
    memory_bytes: int | None = 8 * GIB
    file_bytes: int | None = 4 * GIB
    folder_bytes: int | None = 8 * GIB
    folder_entries: int | None = 100_000
    output_bytes: int = MIB
    processes: int = 64
    gpu_memory_bytes: int | None = None
    address_space_bytes: int | None = None


COMPILE_LIMITS = Limits(
    wall_s=60.0,
    cpu_s=120.0,
    memory_bytes=4 * GIB,
    file_bytes=512 * MIB,
    folder_bytes=GIB,
    output_bytes=MIB // 4,
    address_space_bytes=16 * GIB,
)
"""Limits of one run of nvcc. Reference programs take 1 to 7 s and less than 1 GiB."""
