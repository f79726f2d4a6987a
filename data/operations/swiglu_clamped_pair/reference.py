import numpy as np


# One exponential and a division in float32: some ulp of relative error, absolute part for tiny gates.
TOLERANCE = {"y": (1e-5, 1e-6)}


def make_inputs(rng, tokens, dim):
    gate = rng.normal(0.5, 4.0, (tokens, dim)).astype(np.float32)
    up = rng.normal(0.0, 5.0, (tokens, dim)).astype(np.float32)
    return {"gate": gate, "up": up}


def reference(inputs):
    g = np.minimum(inputs["gate"].astype(np.float64), 7.0)
    u = np.clip(inputs["up"].astype(np.float64), -7.0, 7.0)
    return {"y": (g / (1.0 + np.exp(-1.702 * g)) * (u + 1.0)).astype(np.float32)}
