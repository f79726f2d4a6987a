"""Studies: models x methods x seeds, from training to tables, as jobs of Snakemake."""
