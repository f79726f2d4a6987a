"""Reading CUDA and C++ source: its tokens, its functions as ranges of the text, its syntax tree.

The tree is tree-sitter-cuda's. Kernels and device functions that it misses are taken from the label lexer.
May import: tree_sitter, tree_sitter_cuda and `cuset_stage.spans`.
"""

from .kernels import excerpts, kernel_features
from .source import Function, Source, answer_code, normalised, tokens


__all__ = ["Function", "Source", "answer_code", "excerpts", "kernel_features", "normalised", "tokens"]
