import numpy as np


TOLERANCE = {"product": (1e-6, 1e-7)}


def make_inputs(rng):
    return {
        "activations": rng.integers(-128, 128, (300, 260), dtype=np.int8),
        "weights": rng.integers(-127, 128, (203, 260), dtype=np.int8),
        "row_scale": rng.uniform(0.01, 0.1, 300).astype(np.float32),
        "col_scale": rng.uniform(0.001, 0.02, 203).astype(np.float32),
    }


def reference(inputs):
    sums = inputs["activations"].astype(np.float64) @ inputs["weights"].astype(np.float64).T
    scaled = sums * inputs["row_scale"][:, None].astype(np.float64) * inputs["col_scale"].astype(np.float64)
    return {"product": scaled.astype(np.float32)}
