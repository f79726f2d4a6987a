"""Text -> CUDA-sensitive spans -> token mask.

This subpackage needs the standard library alone, so that any trainer can use it.
"""

from .kinds import DEFAULT_KINDS, KERNEL_ALIASES, KINDS, LABEL_VERSION, Span
from .spans import find_spans
from .tokenizers import token_mask


__all__ = ["DEFAULT_KINDS", "KERNEL_ALIASES", "KINDS", "LABEL_VERSION", "Span", "find_spans", "token_mask"]
