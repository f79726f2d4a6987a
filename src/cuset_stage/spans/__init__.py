"""Find the CUDA-sensitive spans of a text and turn them into a token mask.

This subpackage imports nothing but the standard library, so that any trainer can use it.
"""

from .kinds import DEFAULT_KINDS, KERNEL_ALIASES, KINDS, LABEL_VERSION, Span
from .spans import find_spans
from .tokenizers import token_mask


__all__ = ["DEFAULT_KINDS", "KERNEL_ALIASES", "KINDS", "LABEL_VERSION", "Span", "find_spans", "token_mask"]
