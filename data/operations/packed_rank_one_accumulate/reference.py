import numpy as np


# float32 sums of up to 20000 products with both signs: error around 1e-6 times the sum of magnitudes (a few thousand).
TOLERANCE = {"result": (2e-4, 2e-2)}


def make_inputs(rng, samples, n):
    x = rng.normal(0.0, 1.0, (samples, n)) + np.linspace(-0.5, 0.5, n)
    return {
        "packed": rng.normal(0.0, 20.0, n * (n + 1) // 2).astype(np.float32),
        "x": x.astype(np.float32),
        "weight": rng.uniform(-0.3, 1.0, samples).astype(np.float32),
    }


def reference(inputs):
    x, w = inputs["x"].astype(np.float64), inputs["weight"].astype(np.float64)
    full = (x * w[:, None]).T @ x
    i, j = np.triu_indices(x.shape[1])
    return {"result": (inputs["packed"].astype(np.float64) + full[i, j]).astype(np.float32)}
