import numpy as np


# 1 - beta^2 loses a few digits as beta approaches 0.95; D - 1 cancels for slow sources.
TOLERANCE = {"observed": (1e-5, 1e-4), "redshift": (1e-5, 3e-6)}


def make_inputs(rng, sources, lines):
    return {
        "beta": rng.uniform(0, 0.95, sources).astype(np.float32),
        "cosine": rng.uniform(-1, 1, sources).astype(np.float32),
        "wavelength": np.sort(rng.uniform(300, 900, lines)).astype(np.float32),
    }


def reference(inputs):
    b = inputs["beta"].astype(np.float64)
    d = (1 + b * inputs["cosine"]) / np.sqrt(1 - b * b)
    return {"observed": (d[:, None] * inputs["wavelength"]).astype(np.float32), "redshift": (d - 1).astype(np.float32)}
