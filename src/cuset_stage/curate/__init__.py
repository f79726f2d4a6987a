"""From kernels found anywhere to a verified training set, in stages: import, adapt, cases, verify, select, write.

A stage reads JSONL row by row and writes JSONL with the provenance of each row; stage.py says how it is resumed. The room uses
`sandbox` and `evaluation`; it knows nothing of LLaMA-Factory but the form of the files that `write` leaves for it.
"""
