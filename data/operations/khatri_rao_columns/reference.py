import numpy as np


# Two float32 products.
TOLERANCE = {"out": (1e-6, 1e-7)}


def make_inputs(rng, left, right, rank):
    return {
        "a": rng.normal(0.0, 1.0, (left, rank)).astype(np.float32),
        "b": rng.normal(0.5, 1.0, (right, rank)).astype(np.float32),
        "lambda_r": rng.uniform(0.1, 3.0, rank).astype(np.float32),
    }


def reference(inputs):
    a, b, w = (inputs[k].astype(np.float64) for k in ("a", "b", "lambda_r"))
    return {"out": (w * a[:, None, :] * b[None, :, :]).reshape(-1, len(w)).astype(np.float32)}
