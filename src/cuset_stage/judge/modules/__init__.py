"""Judge answers to tasks like those of KernelBench: a Python class ModelNew is compared with a reference class Model.

`worker.py` is a script that runs in the sandbox. It imports torch. No module of this package imports it.
"""

from .module_judge import ModuleJudge
