"""Right CUDA programs with one error in them: the mistakes that language models make, placed on purpose.

A judge that is worth its verdicts fails such programs. `make_mutants` is deterministic and never runs anything.
May import: `cuset_stage.cuda_source` and `cuset_stage.spans`.
"""

from .generate import OPERATORS, Mutant, make_mutants


__all__ = ["OPERATORS", "Mutant", "make_mutants"]
