"""Judging answers to KernelBench's kind of task: Python with a class ModelNew, held against a reference Model.

`worker.py` is a script that runs in the sandbox and imports torch; nothing here imports it.
"""

from .module_judge import ModuleJudge


__all__ = ["ModuleJudge"]
