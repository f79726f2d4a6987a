import numpy as np


# A positive quadratic form with up to 4096 float32 terms, a few times larger in magnitude than the result.
TOLERANCE = {"distance": (1e-4, 1e-3)}


def make_inputs(rng, rows, dim):
    m = rng.normal(0.0, 1.0, (dim, dim)) / np.sqrt(dim)
    mean = rng.normal(0.0, 2.0, dim)
    x = mean + rng.normal(0.0, 1.0, (rows, dim)) * rng.uniform(0.3, 2.5, (rows, 1))
    return {
        "x": x.astype(np.float32),
        "mean": mean.astype(np.float32),
        "precision": (m @ m.T + 0.2 * np.eye(dim)).astype(np.float32),
    }


def reference(inputs):
    d = inputs["x"].astype(np.float64) - inputs["mean"].astype(np.float64)
    return {"distance": np.sum((d @ inputs["precision"].astype(np.float64)) * d, axis=1).astype(np.float32)}
