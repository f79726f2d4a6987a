import numpy as np


TOLERANCE = {"probabilities": (1e-4, 1e-7)}


def make_inputs(rng, rows, cols, values="normal"):
    # Rows from nearly flat to nearly one-hot; the shift takes many of them past the range of expf.
    spread = rng.uniform(0.2, 8.0, (rows, 1))
    shift = rng.uniform(-120.0, 120.0, (rows, 1))
    if values == "extremes":  # one column: every probability is 1, however large the logit
        shift *= 1.0e30
    return {
        "sizes": np.array([rows, cols], dtype=np.int32),
        "logits": (rng.normal(0.0, 1.0, (rows, cols)) * spread + shift).astype(np.float32),
    }


def reference(inputs):
    logits = inputs["logits"].astype(np.float64)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return {"probabilities": (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)}
