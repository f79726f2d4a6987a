"""Tensors to loss: CuSeT (arXiv 2606.16231) and the objectives it is compared with.

Imports torch only, so that the losses serve any training loop. Start at `cuset_loss`, which follows the paper's equations in order.
"""

from .fused import fused_linear_cuset_loss, fused_objective
from .loss import cuset_loss, objective_loss
from .settings import OBJECTIVES, ObjectiveSettings
from .statistics import ObjectiveMeter
from .terms import TokenTerms, token_terms


__all__ = [
    "OBJECTIVES",
    "ObjectiveMeter",
    "ObjectiveSettings",
    "TokenTerms",
    "cuset_loss",
    "fused_linear_cuset_loss",
    "fused_objective",
    "objective_loss",
    "token_terms",
]
