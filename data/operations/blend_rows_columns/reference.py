import numpy as np


# Three float32 operations with values below 200; a - b may cancel against a.
TOLERANCE = {"out": (1e-5, 5e-5)}


def make_inputs(rng, rows, cols):
    row = np.clip(rng.uniform(-0.2, 1.2, rows), 0.0, 1.0)
    return {
        "a": rng.normal(20.0, 40.0, (rows, cols)).astype(np.float32),
        "b": rng.normal(-10.0, 30.0, (rows, cols)).astype(np.float32),
        "row_weight": row.astype(np.float32),
        "col_weight": rng.uniform(0.0, 1.0, cols).astype(np.float32),
    }


def reference(inputs):
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    w = np.outer(inputs["row_weight"].astype(np.float64), inputs["col_weight"].astype(np.float64))
    return {"out": (a + w * (b - a)).astype(np.float32)}
