"""Compile and run code nobody trusts: a CUDA program goes in, a verdict and its output files come out.

Imports the standard library and psutil only.
"""

from .cache import cache_root
from .compiler import Compiled, Compiler
from .folders import remove_tree, scratch_folder
from .gpus import Gpu, lease_gpu, list_gpus
from .isolation import Isolation, IsolationWarning, python_paths, resolve_isolation
from .limits import COMPILE_LIMITS, Limits
from .process import Finished, run_sandboxed
from .program import Ran, Started, run_program, start_program
from .toolkit import Toolkit, find_toolkit
from .verdicts import SandboxError, Verdict


__all__ = [
    "COMPILE_LIMITS",
    "Compiled",
    "Compiler",
    "Finished",
    "Gpu",
    "Isolation",
    "IsolationWarning",
    "Limits",
    "Ran",
    "SandboxError",
    "Started",
    "Toolkit",
    "Verdict",
    "cache_root",
    "find_toolkit",
    "lease_gpu",
    "list_gpus",
    "python_paths",
    "remove_tree",
    "resolve_isolation",
    "run_program",
    "run_sandboxed",
    "scratch_folder",
    "start_program",
]
