import numpy as np


TOLERANCE = {"log_probabilities": (1e-5, 1e-5)}


def make_inputs(rng, outer, classes, inner, values="normal"):
    logits = rng.normal(0.0, 2.0, (outer, classes, inner)) + rng.uniform(-95.0, 95.0, (outer, 1, inner))
    if values == "dominant":  # ever higher peaks, late peaks, ties of the whole column, and a huge shift
        logits[0] = np.linspace(-300.0, 300.0, classes)[:, None] + rng.normal(0.0, 1.0, (classes, inner))
        logits[1, :, ::2] = 1.0e30
        logits[-1, -1] += 5000.0
    return {
        "sizes": np.array([outer, classes, inner], dtype=np.int32),
        "logits": logits.astype(np.float32),
    }


def reference(inputs):
    logits = inputs["logits"].astype(np.float64)
    shifted = logits - logits.max(axis=1, keepdims=True)
    result = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return {"log_probabilities": result.astype(np.float32)}
