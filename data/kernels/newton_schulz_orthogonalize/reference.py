import numpy as np


TOLERANCE = {"update": (1e-3, 1e-3)}


def make_inputs(rng, matrices, rows, cols, pattern="full"):
    gradient = rng.normal(0.0, 1.0, (matrices, rows, cols)) * rng.choice([0.01, 1.0, 50.0], (matrices, 1, 1))
    if pattern == "lowrank":  # rank two, and a zero matrix
        left, right = rng.normal(0.0, 1.0, (matrices, rows, 2)), rng.normal(0.0, 1.0, (matrices, 2, cols))
        gradient = left @ right
        gradient[4] = 0.0
    return {
        "sizes": np.array([matrices, rows, cols], dtype=np.int32),
        "gradient": gradient.astype(np.float32),
    }


def reference(inputs):
    gradient = inputs["gradient"].astype(np.float64)
    x = gradient / (np.sqrt((gradient**2).sum(axis=(1, 2), keepdims=True)) + 1e-6)
    for _ in range(5):
        a = x @ x.transpose(0, 2, 1)
        x = 3.4375 * x + (-4.75 * a + 2.03125 * a @ a) @ x
    return {"update": x.astype(np.float32)}
