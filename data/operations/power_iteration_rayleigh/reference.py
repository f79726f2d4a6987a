import numpy as np


# Ten products with float32 sums of up to 400 terms, normalised each time.
TOLERANCE = {"vector": (1e-4, 1e-5), "lambda_max": (5e-5, 1e-4)}


def make_inputs(rng, batch, n):
    a = rng.normal(0.0, 1.0, (batch, n, n))
    u = rng.normal(0.0, 1.0, (batch, n, 1))
    a = a + a.transpose(0, 2, 1) + 3.0 / np.sqrt(n) * np.matmul(u, u.transpose(0, 2, 1))
    return {"a": a.astype(np.float32), "start": (u[:, :, 0] + rng.normal(0.0, 1.0, (batch, n))).astype(np.float32)}


def reference(inputs):
    a, v = inputs["a"].astype(np.float64), inputs["start"].astype(np.float64)[:, :, None]
    v = v / np.sqrt(np.sum(v * v, axis=1, keepdims=True))
    for _ in range(10):
        v = np.matmul(a, v)
        v = v / np.sqrt(np.sum(v * v, axis=1, keepdims=True))
    value = np.sum(v * np.matmul(a, v), axis=(1, 2))
    return {"vector": v[:, :, 0].astype(np.float32), "lambda_max": value.astype(np.float32)}
