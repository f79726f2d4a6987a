"""A folder that trains: what is known of a model and a data file, what fits into a GPU's memory, and the files of `cuset init`."""
