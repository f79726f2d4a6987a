import numpy as np


# One float32 sum of up to 8194 squares and one root.
TOLERANCE = {"scaled": (2e-5, 1e-6), "level": (2e-5, 1e-8)}


def make_inputs(rng, rows, bins):
    z = rng.normal(0.0, 1.0, (rows, bins, 2)) * rng.uniform(0.01, 5.0, (rows, 1, 1))
    return {"z": z.astype(np.float32), "weight": rng.normal(0.8, 0.6, bins).astype(np.float32)}


def reference(inputs):
    z = inputs["z"].astype(np.float64)
    level = np.sqrt((z * z).sum(2).mean(1) + 1e-8)
    return {
        "scaled": (inputs["weight"][None, :, None] * z / level[:, None, None]).astype(np.float32),
        "level": level.astype(np.float32),
    }
