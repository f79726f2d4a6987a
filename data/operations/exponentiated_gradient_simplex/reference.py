import numpy as np


# Exponents up to a few hundred carry a float32 error of about 2e-5 absolute, hence the relative part.
TOLERANCE = {"weight_out": (2e-4, 1e-9)}


def make_inputs(rng, rows, dim):
    w = rng.gamma(0.7, 1.0, (rows, dim)) * (rng.random((rows, dim)) < 0.9)
    grad = rng.standard_normal((rows, dim)) + 30.0 * rng.standard_normal((rows, 1))
    w[np.arange(rows), np.argmin(grad, axis=1)] += 0.5
    rate = rng.choice([0.1, 1.0, 4.0], rows)
    return {
        "weight": (w / w.sum(axis=1, keepdims=True)).astype(np.float32),
        "grad": grad.astype(np.float32),
        "rate": rate.astype(np.float32),
    }


def reference(inputs):
    x = inputs["grad"].astype(np.float64) * inputs["rate"].astype(np.float64)[:, None]
    w = inputs["weight"] * np.exp(x.min(axis=1, keepdims=True) - x)
    return {"weight_out": (w / w.sum(axis=1, keepdims=True)).astype(np.float32)}
