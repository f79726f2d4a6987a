import numpy as np


TOLERANCE = {"y": (1e-4, 1e-5)}


def make_inputs(rng):
    return {
        "x": rng.normal(0.0, 2.0, (1500, 1028)).astype(np.float32),
        "bias": rng.normal(0.0, 1.0, 1028).astype(np.float32),
    }


def reference(inputs):
    z = inputs["x"].astype(np.float64) + inputs["bias"]
    y = 0.5 * z * (1.0 + np.tanh(0.7978845608 * (z + 0.044715 * z * z * z)))
    return {"y": y.astype(np.float32)}
