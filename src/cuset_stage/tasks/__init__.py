"""Task sets: what a model is asked, on which inputs, and what a right output is.

`load_tasks` reads three formats: CUDABench's JSONL as it is published, our own ("cuset": JSONL, or a folder such as
data/kernels), and KernelBench's (a folder tree, JSONL or Parquet). Nothing is downloaded: the path is the user's copy.
"""

from .base import Case, ModuleTask, ProgramTask, ReferenceOracle, ScriptOracle, Task, TaskError, TaskSet, Tensor
from .load import load_tasks


__all__ = [
    "Case",
    "ModuleTask",
    "ProgramTask",
    "ReferenceOracle",
    "ScriptOracle",
    "Task",
    "TaskError",
    "TaskSet",
    "Tensor",
    "load_tasks",
]
