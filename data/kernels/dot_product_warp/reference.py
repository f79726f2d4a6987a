import numpy as np


TOLERANCE = {"dot": (1e-9, 1e-7)}


def make_inputs(rng):
    a = rng.normal(0.5, 1.0, 3000001).astype(np.float32)
    b = rng.normal(0.25, 1.0, 3000001).astype(np.float32)
    return {"a": a, "b": b}


def reference(inputs):
    products = inputs["a"].astype(np.float64) * inputs["b"].astype(np.float64)
    return {"dot": np.array([products.sum()])}
