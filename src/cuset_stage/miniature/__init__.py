"""The miniature: a controlled experiment without pretrained weights.

A generator of CUDA tasks with right programs in many styles, a pretraining corpus of the same kind, and the pretraining of a small model.
May import: `cuset_stage.mutants`, `cuset_stage.spans`; torch, transformers and tokenizers when used.
"""
