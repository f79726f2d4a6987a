import numpy as np


# A positive float32 sum of up to 20001 terms, then a cube root; the peak is a copied value.
TOLERANCE = {"norm": (3e-5, 0), "peak": (0, 0)}


def make_inputs(rng, rows, cols):
    x = rng.standard_normal((rows, cols)) * rng.uniform(0.1, 10.0, (rows, 1))
    return {"x": x.astype(np.float32)}


def reference(inputs):
    a = np.abs(inputs["x"]).astype(np.float64)
    return {"norm": np.cbrt((a * a * a).sum(axis=1)).astype(np.float32), "peak": a.max(axis=1).astype(np.float32)}
