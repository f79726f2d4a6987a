import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-4), "center_grad": (1e-3, 1e-4)}


def make_inputs(rng, vocabulary, width, examples, negatives, pattern="normal"):
    scale = (1.0 if pattern == "normal" else 10.0) / np.sqrt(width)  # saturated: dot products of up to 200
    center_table = rng.normal(0.0, 1.0, (vocabulary, width))
    context_table = rng.normal(0.0, 1.0, (vocabulary, width))
    if pattern == "saturated":
        context_table = 0.8 * center_table * np.where(np.arange(vocabulary) % 2, -1.0, 1.0)[:, None]
    return {
        "sizes": np.array([vocabulary, width, examples, negatives], dtype=np.int32),
        "center_table": (scale * center_table).astype(np.float32),
        "context_table": (2.0 * scale * context_table).astype(np.float32),
        "center": rng.integers(0, vocabulary, examples).astype(np.int32),
        "context": rng.integers(0, vocabulary, examples).astype(np.int32),
        "negative": rng.integers(0, vocabulary, (examples, negatives)).astype(np.int32),
    }


def reference(inputs):
    context_table = inputs["context_table"].astype(np.float64)
    v = inputs["center_table"][inputs["center"]].astype(np.float64)
    words = np.concatenate([inputs["context"][:, None], inputs["negative"]], axis=1)
    loss, grad = np.zeros(v.shape[0]), np.zeros_like(v)
    for k, column in enumerate(words.T):
        other = context_table[column]
        x = (v * other).sum(axis=1) * (-1.0 if k == 0 else 1.0)
        loss += np.logaddexp(0.0, x)
        slope = np.exp(-np.logaddexp(0.0, -x)) * (-1.0 if k == 0 else 1.0)
        grad += slope[:, None] * other
    return {"loss": loss.astype(np.float32), "center_grad": grad.astype(np.float32)}
