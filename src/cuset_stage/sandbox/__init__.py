"""Compile and run untrusted code: a CUDA program goes in, a verdict and its output files come out.

`run_sandboxed` (process.py) runs one command. It is confined by bubblewrap, or by Landlock and seccomp (isolation.py).
A supervisor process (supervision.py, supervisor/) watches it and enforces the limits (limits.py). `Compiler` and
`run_program` are built on `run_sandboxed`.

The package imports only the standard library, psutil and NVML's bindings.
"""

from .compiler import Compiled, Compiler, Toolkit, compile_library, find_toolkit
from .folders import cache_root, remove_tree, scratch_folder
from .gpus import Gpu, lease_gpu, list_gpus
from .isolation import Isolation, memory_account, python_paths, resolve_isolation
from .limits import COMPILE_LIMITS, Limits, SandboxError, Verdict
from .process import Ran, run_program, run_sandboxed
from .supervision import Finished
