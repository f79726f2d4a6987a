import numpy as np


TOLERANCE = {"y": (1e-4, 1e-3)}


def make_inputs(rng, rows, cols, entries, pattern="scattered"):
    # Three rows take a tenth of the entries and one row in ten is empty.
    owner = rng.choice(np.flatnonzero(np.arange(rows) % 10 != 3), entries)
    owner[: entries // 10] = rng.choice([0, rows // 2, rows - 1], entries // 10)
    values, x = rng.normal(0.0, 1.0, entries), rng.normal(0.0, 1.0, cols)
    if pattern == "integers":  # exact in float, and cancelling
        values, x = rng.integers(-8, 9, entries), rng.integers(-30, 31, cols)
    return {
        "sizes": np.array([rows, cols, entries], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=rows))]).astype(np.int32),
        "col_index": rng.integers(0, cols, entries, dtype=np.int32),
        "values": values.astype(np.float32),
        "x": x.astype(np.float32),
    }


def reference(inputs):
    rows = inputs["row_ptr"].size - 1
    owner = np.repeat(np.arange(rows), np.diff(inputs["row_ptr"]))
    products = inputs["values"].astype(np.float64) * inputs["x"][inputs["col_index"]]
    return {"y": np.bincount(owner, weights=products, minlength=rows).astype(np.float32)}
