"""Studies of models x methods x seeds, from training to tables. Snakemake runs their jobs."""
