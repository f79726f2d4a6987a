import numpy as np


TOLERANCE = {"product": (1e-4, 1e-3)}


def make_inputs(rng, rows, inner, columns, entries, pattern="scattered"):
    owner = rng.choice(np.flatnonzero(np.arange(rows) % 7 != 2), entries)  # rows 2, 9, 16, ... stay empty
    owner[: entries // 30] = rows - 1  # a row of several portions
    if pattern == "last_row":
        owner[:] = rows - 1
    return {
        "sizes": np.array([rows, inner, columns, entries], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=rows))]).astype(np.int32),
        "col_index": rng.integers(0, inner, entries, dtype=np.int32),
        "values": rng.normal(0.0, 1.0, entries).astype(np.float32),
        "dense": rng.normal(0.0, 1.0, (inner, columns)).astype(np.float32),
    }


def reference(inputs):
    rows, dense = inputs["row_ptr"].size - 1, inputs["dense"].astype(np.float64)
    owner = np.repeat(np.arange(rows), np.diff(inputs["row_ptr"]))
    product = np.zeros((rows, dense.shape[1]))
    for j, column in enumerate(dense.T):
        weights = inputs["values"] * column[inputs["col_index"]]
        product[:, j] = np.bincount(owner, weights=weights, minlength=rows)
    return {"product": product.astype(np.float32)}
