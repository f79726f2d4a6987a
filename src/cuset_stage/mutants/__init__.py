"""Mutants: correct CUDA programs with one error put in, of the kinds that language models make.

A reliable judge fails them. `make_mutants` is deterministic and never runs anything.
May import: `cuset_stage.cuda_source` and `cuset_stage.spans`.
"""

from .generate import OPERATORS, Mutant, make_mutants


__all__ = ["OPERATORS", "Mutant", "make_mutants"]
