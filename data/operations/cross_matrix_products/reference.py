import numpy as np


# Sums of a few float32 products of size up to 100, with cancellation.
TOLERANCE = {"result": (2e-5, 5e-5)}


def make_inputs(rng, count):
    return {
        "w": rng.normal(0.0, 1.5, (count, 3)).astype(np.float32),
        "m": rng.normal(0.0, 1.0, (count, 3, 3)).astype(np.float32),
    }


def reference(inputs):
    x, y, z = inputs["w"].astype(np.float64).T
    o = np.zeros_like(x)
    big = np.stack([o, -z, y, z, o, -x, -y, x, o], axis=1).reshape(-1, 3, 3)
    out = np.matmul(np.matmul(big, inputs["m"].astype(np.float64)), big.transpose(0, 2, 1))
    return {"result": out.astype(np.float32)}
