import numpy as np


# Values are copied: exact.
TOLERANCE = {"ell_col": (0, 0), "ell_value": (0, 0), "dropped": (0, 0)}


def make_inputs(rng, rows, nonzeros):
    share = np.cumsum(rng.gamma(2.0, 1.0, rows) * (rng.random(rows) > 0.05))
    start = np.concatenate(([0], np.floor(share / share[-1] * nonzeros)))
    start[-1] = nonzeros
    return {
        "row_start": start.astype(np.int32),
        "col_index": rng.integers(0, 4 * rows, nonzeros).astype(np.int32),
        "value": rng.normal(0, 1, nonzeros).astype(np.float32),
    }


def reference(inputs):
    start = inputs["row_start"].astype(np.int64)
    length = np.diff(start)
    at = start[:-1] + np.arange(12)[:, None]
    used = np.arange(12)[:, None] < length
    at = np.where(used, at, 0)
    return {
        "ell_col": np.where(used, inputs["col_index"][at], -1).astype(np.int32),
        "ell_value": np.where(used, inputs["value"][at], 0).astype(np.float32),
        "dropped": np.maximum(length - 12, 0).astype(np.int32),
    }
