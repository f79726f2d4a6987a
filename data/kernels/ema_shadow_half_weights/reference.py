import numpy as np


TOLERANCE = {"new_shadow": (1e-5, 1e-6), "export": (1e-3, 1e-4)}


def make_inputs(rng, count, step, pattern="normal"):
    shadow = rng.normal(0.0, 1.0, count)
    weights = shadow + rng.normal(0.0, 1.0, count)
    if pattern == "constant":  # weights far from their average, with the largest decay
        weights = rng.choice([-1000.0, 1000.0], count)
    return {
        "sizes": np.array([count, step], dtype=np.int32),
        "shadow": shadow.astype(np.float32),
        "weights": weights.astype(np.float16),
    }


def reference(inputs):
    step = int(inputs["sizes"][1])
    decay = min(0.999, (1 + step) / (10 + step))
    shadow = decay * inputs["shadow"].astype(np.float64) + (1 - decay) * inputs["weights"].astype(np.float64)
    return {"new_shadow": shadow.astype(np.float32), "export": shadow.astype(np.float16)}
