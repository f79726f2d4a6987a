import numpy as np


TOLERANCE = {"probabilities": (1e-4, 1e-7)}


def make_inputs(rng):
    # Rows from nearly flat to nearly one-hot; the shift takes many of them past the range of expf.
    spread = rng.uniform(0.2, 8.0, (1009, 1))
    shift = rng.uniform(-120.0, 120.0, (1009, 1))
    return {"logits": (rng.normal(0.0, 1.0, (1009, 3001)) * spread + shift).astype(np.float32)}


def reference(inputs):
    logits = inputs["logits"].astype(np.float64)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return {"probabilities": (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)}
