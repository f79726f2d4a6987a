"""From kernels found anywhere to a verified training set, in stages that read JSONL row by row and write JSONL with each row's provenance.

Each stage is a function `run_<stage>` in a file of its name (`import` in importing.py), beside files that it alone uses:

| stage | uses |
|---|---|
| import | readers, columns with presets.yaml, licences |
| split, deduplicate | fingerprints, contamination |
| write | questions, replies, proofs |
| adapt | modules |
| answer | |
| prove | |
| select, export | training_text, task_groups |

stage.py takes rows through a stage's work and says how it is resumed; it stands on parallel.py, stage_rows.py (what a row is) and
folders.py (what a stage left). funnel.py counts over all stages, rounds.py trains and answers again. Of LLaMA-Factory the package knows
only the form of the files that `export` leaves for it.
"""
