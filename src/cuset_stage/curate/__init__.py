"""From kernels found anywhere to a verified training set, in stages that read JSONL row by row and write JSONL with each row's source.

Each stage is a function `run_<stage>` in a file of its name (`import` in importing.py), beside files that it alone uses:

| stage | uses |
|---|---|
| import | readers, licences, presets.yaml |
| split, deduplicate | fingerprints, contamination |
| write | questions, replies, proofs |
| adapt | modules |
| answer | |
| prove | |
| select, export | training_rows |

stage.py takes rows (rows.py) through a stage's work, with parallel.py; store.py keeps what is dear. funnel.py counts over all stages,
rounds.py trains and answers again. Of LLaMA-Factory the package knows only the form of the files that `export` leaves for it.
"""
