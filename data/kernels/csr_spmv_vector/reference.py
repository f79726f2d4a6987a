import numpy as np


TOLERANCE = {"y": (1e-4, 1e-3)}


def make_inputs(rng):
    # Three rows take a tenth of the entries and one row in ten is empty.
    rows = rng.choice(np.flatnonzero(np.arange(5003) % 10 != 3), 120011)
    rows[:12000] = rng.choice([0, 2500, 5002], 12000)
    row_ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=5003))])
    return {
        "row_ptr": row_ptr.astype(np.int32),
        "col_index": rng.integers(0, 4001, 120011, dtype=np.int32),
        "values": rng.normal(0.0, 1.0, 120011).astype(np.float32),
        "x": rng.normal(0.0, 1.0, 4001).astype(np.float32),
    }


def reference(inputs):
    rows = np.repeat(np.arange(5003), np.diff(inputs["row_ptr"]))
    products = inputs["values"].astype(np.float64) * inputs["x"][inputs["col_index"]]
    return {"y": np.bincount(rows, weights=products, minlength=5003).astype(np.float32)}
