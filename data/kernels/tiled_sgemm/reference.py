import numpy as np


TOLERANCE = {"C": (1e-4, 1e-3)}


def make_inputs(rng):
    return {
        "A": rng.normal(0.0, 1.0, (517, 271)).astype(np.float32),
        "B": rng.normal(0.0, 1.0, (271, 389)).astype(np.float32),
    }


def reference(inputs):
    product = inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64)
    return {"C": product.astype(np.float32)}
