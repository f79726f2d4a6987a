"""Text -> CUDA-sensitive spans -> token mask.

This subpackage needs neither torch nor LLaMA-Factory, so that any trainer can use it. It needs tree-sitter and
tree-sitter-cuda.
"""

from .kinds import DEFAULT_KINDS, KERNEL_ALIASES, KINDS, LABEL_VERSION, Span
from .spans import find_spans
from .tokenizers import token_mask


__all__ = ["DEFAULT_KINDS", "KERNEL_ALIASES", "KINDS", "LABEL_VERSION", "Span", "find_spans", "token_mask"]
