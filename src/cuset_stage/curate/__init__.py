"""Turn kernels from any source into a verified training set.

Curation runs in stages. Each stage reads JSONL row by row and writes JSONL, and every row keeps a record of its
source. A stage is a function `run_<stage>` in a file of the same name (`import` is in importing.py). Some files hold
parts of particular stages only:

| stage | uses |
|---|---|
| import | readers, licences, presets.yaml |
| split, deduplicate | fingerprints, contamination |
| write | questions, replies, proofs |
| adapt | modules |
| answer | |
| prove | |
| select, export | training_rows |

All stages share a few files. stage.py runs the work of a stage on every row (rows.py), in parallel with the help of
parallel.py. store.py keeps results that are expensive to make. funnel.py counts rows over all stages, and rounds.py
alternates between training a model and sampling from it.

The package depends on LLaMA-Factory only through the format of the data files that `export` writes.
"""
