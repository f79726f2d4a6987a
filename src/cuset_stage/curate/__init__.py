"""From kernels found anywhere to a verified training set, in stages: import, split, deduplicate, write, adapt, answer, prove, select, export.

A stage reads JSONL row by row and writes JSONL with the provenance of each row; stage.py says how it is resumed. Of LLaMA-Factory it knows
only the form of the files that `export` leaves for it.
"""
