import numpy as np


TOLERANCE = {"permuted": (0, 0)}


def make_inputs(rng, d0, d1, d2, d3, order, values="normal"):
    tensor = rng.normal(0.0, 1.0, (d0, d1, d2, d3))
    if values == "extremes":  # both zeros, the ends of the normal range
        tensor = rng.choice([0.0, -0.0, 3.0e38, -3.0e38, 1.2e-38, 1.0], tensor.shape)
    return {
        "sizes": np.array([d0, d1, d2, d3], dtype=np.int32),
        "axes": np.array([int(axis) for axis in order], dtype=np.int32),
        "tensor": tensor.astype(np.float32),
    }


def reference(inputs):
    return {"permuted": np.transpose(inputs["tensor"], inputs["axes"]).ravel()}
