import numpy as np


TOLERANCE = {"product": (1e-4, 1e-4)}


def make_inputs(rng):
    rows = rng.choice(np.flatnonzero(np.arange(1203) % 7 != 2), 18013)
    rows[:600] = 1202  # a row of several portions
    row_ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=1203))])
    return {
        "row_ptr": row_ptr.astype(np.int32),
        "col_index": rng.integers(0, 907, 18013, dtype=np.int32),
        "values": rng.normal(0.0, 1.0, 18013).astype(np.float32),
        "dense": rng.normal(0.0, 1.0, (907, 70)).astype(np.float32),
    }


def reference(inputs):
    rows = np.repeat(np.arange(1203), np.diff(inputs["row_ptr"]))
    matrix = np.zeros((1203, 907))
    np.add.at(matrix, (rows, inputs["col_index"]), inputs["values"].astype(np.float64))
    return {"product": (matrix @ inputs["dense"].astype(np.float64)).astype(np.float32)}
