"""Losses on tensors: CuSeT (arXiv 2606.16231) and the objectives it is compared with.

This package imports only torch, so that the losses can be used in any training loop. To read the code, start at
`cuset.py`, which has the equations in order.
"""

from .cuset import TokenTerms, cuset_loss, objective_loss, token_terms
from .fused import fused_linear_cuset_loss, fused_objective
from .rules import OBJECTIVES, Tokens, rule
from .settings import ObjectiveSettings
from .statistics import ObjectiveMeter


__all__ = [
    "OBJECTIVES",
    "ObjectiveMeter",
    "ObjectiveSettings",
    "TokenTerms",
    "Tokens",
    "cuset_loss",
    "fused_linear_cuset_loss",
    "fused_objective",
    "objective_loss",
    "rule",
    "token_terms",
]
