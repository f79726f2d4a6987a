import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-4), "hidden_grad": (1e-3, 1e-4)}


def make_inputs(rng, samples, words, width, pattern="normal"):
    scale = 1.0 / np.sqrt(width) if pattern == "normal" else 10.0 / np.sqrt(width)
    return {
        "sizes": np.array([samples, words, width], dtype=np.int32),
        "hidden": (1.5 * rng.normal(0.0, 1.0, (samples, width))).astype(np.float32),
        "nodes": (scale * rng.normal(0.0, 1.0, (words, width))).astype(np.float32),
        "target": (words * rng.random(samples) ** 2).astype(np.int32),
    }


def reference(inputs):
    hidden, nodes = inputs["hidden"].astype(np.float64), inputs["nodes"].astype(np.float64)
    loss, grad = np.zeros(hidden.shape[0]), np.zeros_like(hidden)
    n = inputs["target"].astype(np.int64) + nodes.shape[0]
    rows = np.arange(n.size)
    while rows.size:
        vector = nodes[n // 2]
        sign = np.where(n % 2 == 1, -1.0, 1.0)
        z = sign * (hidden[rows] * vector).sum(axis=1)
        loss[rows] += np.logaddexp(0.0, z)
        grad[rows] += (sign * np.exp(-np.logaddexp(0.0, -z)))[:, None] * vector
        n = n // 2
        rows, n = rows[n > 1], n[n > 1]
    return {"loss": loss.astype(np.float32), "hidden_grad": grad.astype(np.float32)}
