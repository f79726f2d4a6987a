import numpy as np


TOLERANCE = {"y": (1e-10, 1e-10)}


def make_inputs(rng, rows, cols, width, values="normal"):
    columns = rng.integers(0, cols, (width, rows))
    entries, x = rng.normal(0.0, 1.0, (width, rows)), rng.normal(0.0, 1.0, cols)
    if values == "integers":  # beyond the precision of float, but exact in double
        entries, x = rng.integers(-(2**20), 2**20, (width, rows)), rng.integers(-(2**20), 2**20, cols)
    columns[rng.random((width, rows)) < 0.3] = -1  # anywhere in a row, with values that must not count
    columns[:, 3::10] = -1
    return {
        "sizes": np.array([rows, cols, width], dtype=np.int32),
        "col_index": columns.astype(np.int32),
        "values": entries.astype(np.float64),
        "x": x.astype(np.float64),
    }


def reference(inputs):
    columns = inputs["col_index"]
    products = inputs["values"] * inputs["x"][np.maximum(columns, 0)]
    return {"y": np.where(columns >= 0, products, 0.0).sum(axis=0)}
