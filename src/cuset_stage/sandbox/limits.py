"""The limits of a run, the verdicts on it, and the error for a machine that cannot run it. Imports nothing."""

from dataclasses import dataclass
from enum import StrEnum


MIB, GIB = 2**20, 2**30


class SandboxError(RuntimeError):
    """This machine cannot run what was asked: the message says what is missing, with a fix."""


class Verdict(StrEnum):
    """The outcome of one sample. Only INFRA_ERROR says nothing about the sample: it is never charged to a model."""

    NO_CODE = "no_code"  # the answer holds no code
    COMPILE_ERROR = "compile_error"  # the compiler refused it, or was stopped at a limit other than time
    COMPILE_TIMEOUT = "compile_timeout"  # the compiler was stopped at its time limit
    RUNTIME_ERROR = "runtime_error"  # it returned another number than 0, died by a signal, or was stopped at a limit other than time
    TIMEOUT = "timeout"  # the program was stopped at its time limit (wall clock or CPU)
    MISSING_OUTPUT = "missing_output"  # it returned 0, and an output is not there as a regular file
    NO_GPU_WORK = "no_gpu_work"  # every output is right, but not computed by the GPU, which require_gpu asks for
    MISMATCH = "mismatch"  # an output has the wrong size or wrong values
    MEMORY_ERROR = "memory_error"  # `thorough`: right outputs, and compute-sanitizer's memcheck reports an access outside of an allocation
    RACE = "race"  # `thorough`: right outputs, and racecheck reports threads that do not wait for each other
    UNDEFINED = "undefined"  # `thorough`: right outputs from what CUDA leaves undefined (initcheck, synccheck, the adverse form)
    PASSED = "passed"  # every output of every case is right
    COMPILED = "compiled"  # it compiles, and no more was asked
    INFRA_ERROR = "infra_error"  # the judge's own side: no space, no GPU, no sandbox, a reference that cannot be made


@dataclass(frozen=True)
class Limits:
    """What a command and everything it starts may use together; None is unlimited.

    wall_s: seconds from start to end. cpu_s: CPU seconds of all processes. memory_bytes: resident memory of all processes,
    watched (RLIMIT_AS would break CUDA, which reserves far more address space than memory). file_bytes: size of one file.
    folder_bytes, folder_entries: disk space and number of files in the writable folder. output_bytes: how much of stdout, and of
    stderr, is kept (the head and the tail). processes: how many live at a time. gpu_memory_bytes: device memory, watched through
    NVML. address_space_bytes: RLIMIT_AS of each process, only for what never touches CUDA.
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
"""For one run of nvcc. Reference programs take 1 to 7 s and less than 1 GiB."""
