"""What the judge can say about a sample, and the error for a machine that cannot judge at all. Imports nothing."""

from enum import StrEnum


class Verdict(StrEnum):
    """The outcome of one sample. Only INFRA_ERROR says nothing about the sample: it is never charged to a model."""

    NO_CODE = "no_code"
    """the answer holds no code"""
    COMPILE_ERROR = "compile_error"
    """the compiler refused it, or was stopped at a limit other than time"""
    COMPILE_TIMEOUT = "compile_timeout"
    """the compiler was stopped at its time limit"""
    RUNTIME_ERROR = "runtime_error"
    """the program returned something other than 0, died by a signal, or was stopped at a limit other than time"""
    TIMEOUT = "timeout"
    """the program was stopped at its time limit (wall clock or CPU)"""
    MISSING_OUTPUT = "missing_output"
    """the program returned 0, and an output is not there as a regular file"""
    MISMATCH = "mismatch"
    """an output has the wrong size or wrong values"""
    PASSED = "passed"
    """every output of every case is right"""
    COMPILED = "compiled"
    """it compiles, and no more was asked"""
    INFRA_ERROR = "infra_error"
    """the judge's own side failed: no space, no GPU, no sandbox, a reference that cannot be made"""


class SandboxError(RuntimeError):
    """This machine cannot run what was asked: the message says what is missing and the way out."""
