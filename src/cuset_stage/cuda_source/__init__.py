"""Read CUDA and C++ source: its tokens, its functions as ranges of the text, and its syntax tree.

The syntax tree comes from tree-sitter-cuda. Kernels and device functions that it misses are taken from the lexer of
the labels (`cuset_stage.spans`).

This package may import only tree_sitter, tree_sitter_cuda and `cuset_stage.spans`.
"""

from .kernels import excerpts, kernel_features
from .source import Function, Source, answer_code, normalised, tokens
